//! Databases of CLIs, read without touching them.
//!
//! The file is somebody else's, may be in use, and may have been made to do harm. It is copied with
//! its log into a private directory, and only the copy is opened: with nothing in its schema trusted,
//! for reading, with bounds on the work and on what is read. The rows of each session become lines in
//! the order that [`Database`] describes, and the sessions are given out one by one.

mod copy;
mod error;
mod lines;
mod rows;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;

use runtape_normalizer::history::Database;

use self::copy::PrivateDirectory;
use self::lines::LineWriter;
use self::rows::{DatabaseCopy, ReadTable};
use self::tree::SessionTrees;

pub use self::error::DatabaseError;
pub use self::lines::RowLines;

/// A session of a database, with those of its sub-agents.
#[derive(Debug)]
pub struct DatabaseSession {
    /// The session's id.
    pub id: String,
    /// Its rows, and those of its sub-agents' sessions, root first.
    pub sources: Vec<DatabaseSource>,
    /// A digest of all lines, which tells whether anything has changed.
    pub digest: String,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// The rows of one session.
#[derive(Debug)]
pub struct DatabaseSource {
    /// The session's id.
    pub name: String,
    /// Its rows as lines.
    pub lines: RowLines,
}

/// Reads a database that a CLI keeps, session by session. `scratch` is a directory in which a private
/// one can be made for the copy.
pub fn read_database(
    path: &Path,
    database: &Database,
    scratch: &Path,
    each: &mut dyn FnMut(DatabaseSession),
) -> Result<(), DatabaseError> {
    let directory = PrivateDirectory::make(scratch)?;
    let (copy, length) = copy::copy(path, directory.path())?;
    let rows = DatabaseCopy::open(&copy, length, path)?;
    let Some(sessions) = database.sessions else {
        let holder = path.parent().and_then(Path::file_name);
        let id = holder.map(|name| name.to_string_lossy().into_owned());
        let trees = SessionTrees::whole_file(&rows, database, id.unwrap_or_default())?;
        return trees.each(|tree| read_tree(&rows, &trees, tree, &directory, each));
    };
    let table = rows.table(
        sessions.name,
        &[sessions.id, sessions.parent, sessions.named_by],
        sessions.without,
    )?;
    let Some(table) = table else {
        return Err(DatabaseError::Schema {
            path: path.to_owned(),
            fault: format!("it has no table {}", sessions.name),
        });
    };
    let trees = SessionTrees::read(&rows, database, table, &sessions)?;
    trees.each(|tree| read_tree(&rows, &trees, tree, &directory, each))
}

/// Reads the sessions of one tree and gives them out.
fn read_tree(
    rows: &DatabaseCopy<'_>,
    trees: &SessionTrees,
    tree: &[usize],
    directory: &PrivateDirectory,
    each: &mut dyn FnMut(DatabaseSession),
) -> Result<(), DatabaseError> {
    let mut sources = Vec::with_capacity(tree.len());
    let mut left_out = Vec::new();
    let mut digest = blake3::Hasher::new();
    let mut held = 0;
    for number in tree {
        let mut writer = LineWriter::new(directory.path(), held, &mut digest);
        trees.each_row(*number, |table: &ReadTable, row| {
            left_out.extend(rows.write_row(table, row, &mut writer)?);
            Ok(())
        })?;
        let lines = writer
            .finish()
            .map_err(|error| copy::failed(directory.path(), "write its rows", error))?;
        held += lines.held();
        sources.push(DatabaseSource {
            name: trees.id(*number).to_owned(),
            lines,
        });
    }
    let Some(root) = tree.first() else {
        return Ok(());
    };
    each(DatabaseSession {
        id: trees.id(*root).to_owned(),
        sources,
        digest: digest.finalize().to_hex().to_string(),
        left_out,
    });
    Ok(())
}
