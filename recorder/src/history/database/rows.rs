//! Rows of a database that is not trusted, as lines.

use std::io::{self, Read, Write};
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};

use super::error::DatabaseError;

/// Largest row that is read; a larger one is left out and named.
pub(super) const LARGEST_ROW: i64 = 24 << 20;

/// Longest value that may be looked at: one row's, and room for what is made of it.
const LONGEST: i32 = 64 << 20;

/// How often the work is counted, in steps of `SQLite`'s machine.
const COUNTED: i32 = 1000;

/// Steps that any file may take, and steps for each byte of it: each row is read a few times.
const STEPS: u64 = 50_000_000;
const STEPS_A_BYTE: u64 = 500;

/// Most columns of a table.
const MOST_COLUMNS: usize = 500;

/// An open copy of a database.
pub(super) struct DatabaseCopy<'p> {
    connection: Connection,
    /// The file that it is a copy of, for what is said about it.
    path: &'p Path,
}

/// A table that can be read.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub(super) name: &'static str,
    columns: Vec<String>,
    query: String,
    /// The name under which the compressed text of a column is given.
    packed: Option<(&'static str, &'static str)>,
}

impl ReadTable {
    /// Gives the text of a compressed column under another column's name.
    pub(super) fn unpacking(self, packed: Option<(&'static str, &'static str)>) -> Self {
        Self { packed, ..self }
    }
}

impl<'p> DatabaseCopy<'p> {
    /// Opens a copy of a file so that nothing in it is run.
    pub(super) fn open(copy: &Path, length: u64, path: &'p Path) -> Result<Self, DatabaseError> {
        let connect = || -> rusqlite::Result<Connection> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let mut connection = Connection::open_with_flags(copy, flags)?;
            let most = STEPS.saturating_add(length.saturating_mul(STEPS_A_BYTE));
            let mut left = most / u64::from(COUNTED.unsigned_abs());
            let count = move || {
                left = left.saturating_sub(1);
                left == 0
            };
            connection.progress_handler(COUNTED, Some(count))?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            connection.pragma_update(None, "trusted_schema", false)?;
            connection.pragma_update(None, "cell_size_check", true)?;
            connection.pragma_update(None, "mmap_size", 0)?;
            connection.pragma_update(None, "query_only", true)?;
            // All that is read is of one state.
            connection.execute_batch("BEGIN")?;
            Ok(connection)
        };
        let connection = connect().map_err(|source| sqlite(path, source))?;
        Ok(Self { connection, path })
    }

    fn schema(&self, fault: String) -> DatabaseError {
        DatabaseError::Schema {
            path: self.path.to_owned(),
            fault,
        }
    }

    /// Names what `SQLite` refused.
    pub(super) fn refused(&self, source: rusqlite::Error) -> DatabaseError {
        sqlite(self.path, source)
    }

    /// Returns a table as it is found; none if there is none of that name.
    pub(super) fn table(
        &self,
        name: &'static str,
        needed: &[&str],
        without: &[&str],
    ) -> Result<Option<ReadTable>, DatabaseError> {
        let found = self.connection.query_row(
            "SELECT type, coalesce(sql, '') FROM sqlite_master WHERE lower(name) = lower(?1) AND type IN ('table', 'view')",
            [name],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        );
        let found = found.optional().map_err(|error| self.refused(error))?;
        let Some((kind, sql)) = found else {
            return Ok(None);
        };
        let is_virtual = sql
            .get(..14)
            .is_some_and(|start| start.eq_ignore_ascii_case("create virtual"));
        if kind != "table" || is_virtual {
            let kind = if is_virtual { "virtual table" } else { &kind };
            return Err(self.schema(format!("{name} is a {kind}, not a table")));
        }
        let columns = self.columns(name)?;
        for column in needed.iter().filter(|column| !column.is_empty()) {
            if !columns.iter().any(|known| known == column) {
                return Err(self.schema(format!("{name} has no column {column}")));
            }
        }
        let columns: Vec<String> = columns
            .into_iter()
            .filter(|column| !without.contains(&column.as_str()))
            .collect();
        let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let weights = list
            .iter()
            .map(|column| format!("coalesce(octet_length({column}), 0)"));
        let weights = weights.collect::<Vec<_>>().join(" + ");
        let weight = if weights.is_empty() { "0" } else { &weights };
        // A value that is too large is not even looked at.
        let values = list
            .iter()
            .map(|column| format!("CASE WHEN weight <= {LARGEST_ROW} THEN {column} END"));
        let values = values.fold(String::new(), |all, value| all + ", " + &value);
        let names = list
            .iter()
            .fold(String::new(), |all, column| all + ", " + column);
        let query = format!(
            "SELECT weight{values} FROM (SELECT {weight} AS weight{names} FROM {} WHERE rowid = ?1 LIMIT 1)",
            quoted(name)
        );
        Ok(Some(ReadTable {
            name,
            columns,
            query,
            packed: None,
        }))
    }

    /// Returns the columns of a table that hold something: those that are made on reading are left out.
    fn columns(&self, name: &str) -> Result<Vec<String>, DatabaseError> {
        let asked = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self
                .connection
                .prepare("SELECT name FROM pragma_table_info(?1)")?;
            let names = statement.query_map([name], |row| row.get(0))?;
            names.take(MOST_COLUMNS).collect()
        };
        // The table-valued form is refused under the same rules as a virtual table of the file's own.
        let names = asked().or_else(|_| {
            let mut names = Vec::new();
            self.connection
                .pragma(None, "table_info", name, |row| {
                    names.push(row.get::<_, String>("name")?);
                    Ok(())
                })
                .map(|()| names)
        });
        names.map_err(|error| self.refused(error))
    }

    /// Gives the number and two texts of each row, in the order of a column.
    pub(super) fn each_key(
        &self,
        table: &str,
        columns: [&str; 2],
        order: &str,
        mut each: impl FnMut(i64, Option<String>, Option<String>),
    ) -> Result<(), DatabaseError> {
        let column = |name: &str| {
            if name.is_empty() {
                "NULL".to_owned()
            } else {
                format!(
                    "CASE WHEN octet_length({0}) <= 4096 THEN {0} END",
                    quoted(name)
                )
            }
        };
        let [one, other] = columns.map(column);
        let order = if order.is_empty() {
            "rowid".to_owned()
        } else {
            quoted(order)
        };
        let query = format!(
            "SELECT rowid, {one}, {other} FROM {} ORDER BY {order}, rowid",
            quoted(table)
        );
        let mut ask = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(&query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(row.get(0)?, text(row, 1)?, text(row, 2)?);
            }
            Ok(())
        };
        ask().map_err(|error| self.refused(error))
    }

    /// Writes a row as a line; returns what is to be said of it if it is left out.
    pub(super) fn write_row(
        &self,
        table: &ReadTable,
        number: i64,
        lines: &mut dyn Write,
    ) -> Result<Option<String>, DatabaseError> {
        let mut ask = || -> rusqlite::Result<Result<Option<String>, io::Error>> {
            let mut statement = self.connection.prepare_cached(&table.query)?;
            let mut rows = statement.query([number])?;
            let Some(row) = rows.next()? else {
                return Ok(Ok(None));
            };
            let weight: i64 = row.get(0)?;
            if weight > LARGEST_ROW {
                let name = table.name;
                return Ok(Ok(Some(format!(
                    "row {number} of {name} has {weight} bytes and was left out"
                ))));
            }
            Ok(write_values(table, row, lines)?.map(|()| None))
        };
        let written = ask().map_err(|error| self.refused(error))?;
        written.map_err(|error| super::copy::failed(self.path, "write its rows", error))
    }
}

fn sqlite(path: &Path, source: rusqlite::Error) -> DatabaseError {
    DatabaseError::Sqlite {
        path: path.to_owned(),
        source,
    }
}

/// Quotes a name so that nothing in it is taken for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a value as text, whatever its type.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
    })
}

/// Writes `{"table":…,"row":{…}}` and a line feed.
fn write_values(
    table: &ReadTable,
    row: &Row<'_>,
    lines: &mut dyn Write,
) -> rusqlite::Result<io::Result<()>> {
    let mut line = Vec::new();
    line.extend_from_slice(b"{\"table\":");
    json(&mut line, table.name);
    line.extend_from_slice(b",\"row\":{");
    let mut is_first = true;
    for (at, column) in table.columns.iter().enumerate() {
        let value = row.get_ref(at + 1)?;
        let is_left_out = match value {
            ValueRef::Null => true,
            // JSON has no word for what is no number.
            ValueRef::Real(number) => !number.is_finite(),
            _ => false,
        };
        if is_left_out {
            continue;
        }
        if !std::mem::replace(&mut is_first, false) {
            line.push(b',');
        }
        let packed = table.packed.filter(|(_, packed)| packed == column);
        if let (Some((name, _)), ValueRef::Blob(bytes)) = (packed, value)
            && let Some(text) = unpacked(bytes)
        {
            json(&mut line, name);
            line.push(b':');
            json(&mut line, &text);
            continue;
        }
        json(&mut line, column);
        line.push(b':');
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => json(&mut line, &number),
            ValueRef::Real(number) => json(&mut line, &number),
            ValueRef::Text(text) => json(&mut line, &String::from_utf8_lossy(text)),
            ValueRef::Blob(bytes) => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                line.extend_from_slice(b"{\"hex\":\"");
                for byte in bytes {
                    let digits = [byte >> 4, byte & 15];
                    line.extend(
                        digits
                            .iter()
                            .filter_map(|digit| DIGITS.get(usize::from(*digit))),
                    );
                }
                line.extend_from_slice(b"\"}");
            }
        }
    }
    line.extend_from_slice(b"}}\n");
    Ok(lines.write_all(&line))
}

/// Returns a text that was compressed with zstd; `None` for what is none, or larger than a row may be.
fn unpacked(bytes: &[u8]) -> Option<String> {
    let most = LARGEST_ROW.unsigned_abs();
    let mut text = String::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes).ok()?;
    let read = decoder.take(most + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= most).then_some(text)
}

fn json(line: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    // Neither texts nor numbers can be refused, and nor can memory.
    let _ = serde_json::to_writer(line, value);
}
