//! Opening a file that somebody else made.
//!
//! Such a file is a bundle, a damaged bundle, or something that was made to do harm: a view in
//! the place of a table, an endless query, a block that unfolds to gigabytes, a log beside it that
//! says something else. Its schema is compared with ours before anything is asked of it, and what
//! is asked is bounded by its size.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{Sqlite, schema, weigh};
use crate::error::{Result, StoreError};

/// How every database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// How often the work is counted, in steps of `SQLite`'s machine.
const COUNTED: i32 = 1000;

/// Steps that any file may take.
const STEPS: u64 = 50_000_000;

/// Steps that each byte of a file may take: each row is read a few times, and takes several bytes.
const STEPS_A_BYTE: u64 = 500;

/// Longest text or blob.
const LONGEST: i32 = 512 << 20;

/// Most differences that are named.
const NAMED: usize = 3;

/// Opens a file that may have been made to do harm, for reading.
pub(super) fn open(path: &Path) -> Result<Sqlite> {
    open_bounded(path).map_err(|error| error.in_file(path))
}

fn refused(fault: impl Into<String>) -> StoreError {
    StoreError::Refused {
        path: PathBuf::new(),
        fault: fault.into(),
    }
}

fn open_bounded(path: &Path) -> Result<Sqlite> {
    let length = look(path)?;
    let connection = connect(path, length)?;
    // What is no schema at all is an error of SQLite's, which says so.
    let differences = schema::differences(&connection)?;
    if !differences.is_empty() {
        let more = differences.len().saturating_sub(NAMED);
        let mut fault = differences
            .into_iter()
            .take(NAMED)
            .collect::<Vec<_>>()
            .join("; ");
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = write!(fault, "; and {more} more");
        }
        return Err(refused(fault));
    }
    let size = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let expected = size("page_count")?.saturating_mul(size("page_size")?);
    if u64::try_from(expected).ok() != Some(length) {
        return Err(refused(format!(
            "it has {length} bytes, and its pages take {expected}"
        )));
    }
    weigh::weigh(&connection)?;
    Ok(Sqlite::reading(connection, path))
}

/// Looks at a file without reading it as a database; returns its length.
fn look(path: &Path) -> Result<u64> {
    let failed = |source| StoreError::File {
        path: path.into(),
        doing: "read the bundle",
        source,
    };
    let is_file = |path: &Path| path.metadata().map(|meta| meta.is_file());
    if !is_file(path).map_err(failed)? {
        return Err(refused("it is no regular file"));
    }
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut begin = Vec::new();
    let magic = u64::try_from(MAGIC.len()).unwrap_or(u64::MAX);
    let read = (&mut file).take(magic).read_to_end(&mut begin);
    read.map_err(failed)?;
    if begin != MAGIC {
        return Err(refused("it is no bundle: it does not begin as a database"));
    }
    // A log beside it belongs to a database in use; in a bundle's place it says who knows what.
    for ending in ["-wal", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        if Path::new(&beside).metadata().is_ok_and(|log| log.len() > 0) {
            return Err(refused(format!(
                "a log lies beside it ({ending}): it is a database in use, which --db names"
            )));
        }
    }
    Ok(length)
}

/// Opens a file as it is: no log is looked for, nothing is locked or written.
fn connect(path: &Path, length: u64) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(uri(path), flags)?;
    let most = STEPS.saturating_add(length.saturating_mul(STEPS_A_BYTE));
    bound(&mut connection, most)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(connection)
}

/// Ends whatever takes more than some steps in all.
fn bound(connection: &mut Connection, most: u64) -> Result<()> {
    let mut left = most / u64::from(COUNTED.unsigned_abs());
    let count = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(COUNTED, Some(count))?;
    Ok(())
}

/// Names a file so that nothing in its name is taken for an option.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    // A path that begins with two slashes would name a host.
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                uri.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    let uri = match uri.strip_prefix("file://") {
        Some(rest) => format!("file:///{}", rest.trim_start_matches('/')),
        None => uri,
    };
    format!("{uri}?mode=ro&immutable=1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_taken_for_options() {
        let of = |path: &str| uri(Path::new(path));
        assert_eq!(of("/a/b.db"), "file:/a/b.db?mode=ro&immutable=1");
        assert_eq!(of("//a/b"), "file:///a/b?mode=ro&immutable=1");
        assert_eq!(
            of("a?mode=rw#x%20"),
            "file:a%3Fmode%3Drw%23x%2520?mode=ro&immutable=1"
        );
    }

    #[test]
    fn work_without_end_is_ended() {
        let mut connection = Connection::open_in_memory().unwrap();
        bound(&mut connection, 1_000_000).unwrap();
        let endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)
                       SELECT count(*) FROM n";
        let asked: rusqlite::Result<i64> = connection.query_row(endless, [], |row| row.get(0));
        let error = StoreError::from(asked.unwrap_err());
        assert!(error.to_string().contains("more work"), "{error}");
    }
}
