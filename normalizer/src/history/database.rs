//! How the rows of a CLI's own database become lines.
//!
//! Every row is one line of canonical JSON, `{"table":NAME,"row":{COLUMN:VALUE,…}}`, with the columns in
//! the order of the table as it is found; NULL is left out, a BLOB is `{"hex":"…"}`. The lines of a
//! session: its own row in the session table, then the rows of each other table in the order given there. A
//! sub-agent's session is a source of its own in the session of its root.

/// What is read of a database, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Database {
    /// The names a file may have: `state.db`, `opencode.db`.
    pub files: &'static [&'static str],
    /// The table that has one row a session; none where the whole file is one session, which is
    /// then named by the directory that holds it.
    pub sessions: Option<SessionTable>,
    /// The other tables that are read; what else there is, is never looked at.
    pub tables: &'static [Table],
}

/// The table that has one row a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTable {
    /// Its name.
    pub name: &'static str,
    /// The column with the session's id.
    pub id: &'static str,
    /// The column that names the session that started this one.
    pub parent: &'static str,
    /// The column by which `parent` names a session: the id, for most. Where several sessions have the
    /// same name, the last one before the started one is meant.
    pub named_by: &'static str,
    /// Columns that are not read: long, or nobody's business.
    pub without: &'static [&'static str],
}

/// A table whose rows belong to sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The column with the session's id; empty where the whole file is one session.
    pub session: &'static str,
    /// The column by which rows are ordered.
    pub order: &'static str,
    /// The column with a text, and the column with the same text compressed (zstd) in rows where the
    /// first one is NULL. The line of such a row has the text under the first name.
    pub packed: Option<(&'static str, &'static str)>,
    /// Columns that are not read.
    pub without: &'static [&'static str],
}
