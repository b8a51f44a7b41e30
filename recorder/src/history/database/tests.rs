//! Databases that were made to do harm, and such that are in use.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_normalizer::history::{Database, SessionTable, Table};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{DatabaseError, DatabaseSession, RowLines, read_database};

const DATABASE: Database = Database {
    files: &["state.db"],
    sessions: Some(SessionTable {
        name: "sessions",
        id: "id",
        parent: "parent",
        named_by: "id",
        without: &["secret"],
    }),
    tables: &[Table {
        name: "messages",
        session: "session",
        order: "id",
        packed: None,
        without: &[],
    }],
};

const TABLES: &str = "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent TEXT, secret TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, body);";

struct Made {
    directory: TempDir,
    path: PathBuf,
}

fn made(sql: &str) -> Made {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    Made { directory, path }
}

fn read(made: &Made) -> Result<Vec<DatabaseSession>, DatabaseError> {
    read_path(&made.path, made.directory.path())
}

fn read_path(path: &Path, scratch: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    let names = |directory: &Path| {
        let mut names: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = names(scratch);
    let mut sessions = Vec::new();
    let result = read_database(path, &DATABASE, scratch, &mut |session| {
        sessions.push(session);
    });
    assert_eq!(names(scratch), before, "nothing is left behind");
    result.map(|()| sessions)
}

fn refusal(made: &Made) -> String {
    let error = read(made).expect_err("it is refused").to_string();
    assert!(error.starts_with(made.path.to_str().unwrap()), "{error}");
    error
}

fn lines(session: &mut DatabaseSession) -> Vec<(String, String)> {
    let sources = session.sources.drain(..);
    sources
        .map(|source| {
            (
                source.name,
                String::from_utf8(source.lines.read().unwrap()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn rows_are_lines_in_the_order_of_their_tables_root_first() {
    let sql = format!(
        "{TABLES} INSERT INTO sessions VALUES ('child', 'root', 'x'), ('root', NULL, 'x'), ('other', 'gone', NULL);
        INSERT INTO messages VALUES (2, 'root', 'é\"'), (1, 'root', 1.5), (3, 'child', x'00ff'), (4, 'nobody', 1), (5, 'root', NULL);"
    );
    let made = made(&sql);
    let mut sessions = read(&made).unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(
        (sessions[0].id.as_str(), sessions[1].id.as_str()),
        ("root", "other")
    );
    let expected = [
        (
            "root".to_owned(),
            "{\"table\":\"sessions\",\"row\":{\"id\":\"root\"}}\n\
             {\"table\":\"messages\",\"row\":{\"id\":1,\"session\":\"root\",\"body\":1.5}}\n\
             {\"table\":\"messages\",\"row\":{\"id\":2,\"session\":\"root\",\"body\":\"é\\\"\"}}\n\
             {\"table\":\"messages\",\"row\":{\"id\":5,\"session\":\"root\"}}\n"
                .to_owned(),
        ),
        (
            "child".to_owned(),
            "{\"table\":\"sessions\",\"row\":{\"id\":\"child\",\"parent\":\"root\"}}\n\
             {\"table\":\"messages\",\"row\":{\"id\":3,\"session\":\"child\",\"body\":{\"hex\":\"00ff\"}}}\n"
                .to_owned(),
        ),
    ];
    let again = read(&made).unwrap();
    assert_eq!(sessions[0].digest, again[0].digest);
    assert_ne!(sessions[0].digest, sessions[1].digest);
    assert_eq!(lines(&mut sessions[0]), expected);
}

#[test]
fn sessions_that_started_each_other_are_read_once_each() {
    let sql = format!(
        "{TABLES} INSERT INTO sessions VALUES ('a', 'b', ''), ('b', 'a', ''), ('c', 'c', '');"
    );
    let mut sessions = read(&made(&sql)).unwrap();
    let names: Vec<Vec<String>> = sessions
        .iter_mut()
        .map(|session| lines(session).into_iter().map(|(name, _)| name).collect())
        .collect();
    assert_eq!(names, [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn a_view_or_a_virtual_table_is_no_table_and_what_is_made_on_reading_is_not_read() {
    let view = "CREATE TABLE sessions (id, parent);
        CREATE VIEW messages AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)
        SELECT a AS id, 's' AS session FROM n;";
    assert!(refusal(&made(view)).contains("messages is a view"));
    let table = "CREATE TABLE sessions (id, parent);
        CREATE VIRTUAL TABLE messages USING fts5(id, session);";
    assert!(refusal(&made(table)).contains("virtual table"));
    let generated =
        "CREATE TABLE sessions (id TEXT, parent TEXT, bomb AS (hex(zeroblob(length(id) * 400000000))));
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT);
        CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM sessions; END;
        INSERT INTO sessions (id) VALUES ('s');";
    let mut sessions = read(&made(generated)).unwrap();
    assert_eq!(
        lines(&mut sessions[0])[0].1,
        "{\"table\":\"sessions\",\"row\":{\"id\":\"s\"}}\n"
    );
}

#[test]
fn a_schema_without_what_is_needed_is_refused_and_a_table_may_be_missing() {
    assert!(refusal(&made("CREATE TABLE x (y)")).contains("no table sessions"));
    assert!(refusal(&made("CREATE TABLE sessions (id)")).contains("no column parent"));
    let without =
        "CREATE TABLE sessions (id, parent); CREATE TABLE messages (id INTEGER PRIMARY KEY);";
    assert!(refusal(&made(without)).contains("no column session"));
    let older = "CREATE TABLE sessions (id, parent); INSERT INTO sessions VALUES ('s', NULL);";
    assert_eq!(read(&made(older)).unwrap().len(), 1);
}

#[test]
fn a_row_that_is_too_large_is_left_out_and_named() {
    let sql = format!(
        "{TABLES} INSERT INTO sessions VALUES ('s', NULL, '');
        INSERT INTO messages VALUES (1, 's', 'small'), (2, 's', zeroblob(30000000)), (3, 's', 'after');"
    );
    let mut sessions = read(&made(&sql)).unwrap();
    assert_eq!(sessions[0].left_out.len(), 1);
    assert!(
        sessions[0].left_out[0].contains("row 2 of messages"),
        "{:?}",
        sessions[0].left_out
    );
    let text = &lines(&mut sessions[0])[0].1;
    assert!(text.contains("small") && text.contains("after") && text.len() < 1000);
}

#[test]
fn many_rows_of_a_session_are_in_a_file_without_a_name() {
    let sql = format!(
        "{TABLES} INSERT INTO sessions VALUES ('s', NULL, '');
        INSERT INTO messages
            WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 4000)
            SELECT a, 's', hex(zeroblob(1000)) FROM n;"
    );
    let mut sessions = read(&made(&sql)).unwrap();
    let source = sessions[0].sources.remove(0);
    assert!(matches!(source.lines, RowLines::File(_, length) if length > 8_000_000));
    let bytes = source.lines.read().unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap().lines().count(), 4001);
}

#[test]
fn what_is_no_database_is_refused_whatever_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let refused = |what: &str| {
        let error = read_path(&path, directory.path())
            .expect_err(what)
            .to_string();
        assert!(error.starts_with(path.to_str().unwrap()), "{what}: {error}");
        error
    };
    refused("nothing");
    fs::create_dir(&path).unwrap();
    assert!(refused("a directory").contains("no regular file"));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, b"not a database, but long enough to be taken for the head of one .................................................................................").unwrap();
    refused("text");
    fs::write(&path, b"").unwrap();
    assert!(refused("an empty file").contains("no table sessions"));
    fs::remove_file(&path).unwrap();
    let sound = made(&format!(
        "{TABLES} INSERT INTO sessions VALUES ('s', NULL, '');"
    ));
    let bytes = fs::read(&sound.path).unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let _ = read_path(&path, directory.path());
        fs::write(&path, &bytes[..at]).unwrap();
        let _ = read_path(&path, directory.path());
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_links_are_refused_without_waiting() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&path, mode).unwrap();
    let error = read_path(&path, directory.path()).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
    fs::remove_file(&path).unwrap();
    let elsewhere = made(TABLES);
    symlink(&elsewhere.path, &path).unwrap();
    let error = read_path(&path, directory.path()).unwrap_err().to_string();
    assert!(error.contains("it is a link"), "{error}");
    fs::remove_file(&path).unwrap();
    fs::copy(&elsewhere.path, &path).unwrap();
    nix::unistd::mkfifo(&directory.path().join("state.db-wal"), mode).unwrap();
    let error = read_path(&path, directory.path()).unwrap_err().to_string();
    assert!(error.contains("state.db-wal"), "{error}");
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute_batch(TABLES).unwrap();
    writer
        .execute_batch("INSERT INTO sessions VALUES ('s', NULL, '')")
        .unwrap();
    // Nothing of it is in the file itself, and a transaction is open.
    writer
        .execute_batch("BEGIN; INSERT INTO sessions VALUES ('t', NULL, '')")
        .unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let sessions = read_path(&path, scratch.path()).unwrap();
    assert_eq!(sessions.len(), 1);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(read_path(&path, scratch.path()).unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn the_copy_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let made = made(&format!(
        "{TABLES} INSERT INTO sessions VALUES ('s', NULL, '');"
    ));
    let scratch = tempfile::tempdir().unwrap();
    let mut modes = Vec::new();
    read_database(&made.path, &DATABASE, scratch.path(), &mut |_| {
        let mut entries = fs::read_dir(scratch.path()).unwrap();
        let directory = entries.next().unwrap().unwrap().path();
        modes.push(directory.metadata().unwrap().permissions().mode() & 0o777);
        for entry in fs::read_dir(&directory).unwrap() {
            modes.push(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077);
        }
    })
    .unwrap();
    assert_eq!(modes.remove(0), 0o700);
    assert!(!modes.is_empty());
}

#[test]
fn sessions_may_be_named_by_another_column_and_texts_may_be_compressed() {
    const NAMED: Database = Database {
        files: &["state.db"],
        sessions: Some(SessionTable {
            name: "sessions",
            id: "id",
            parent: "parent",
            named_by: "name",
            without: &[],
        }),
        tables: &[Table {
            name: "messages",
            session: "session",
            order: "id",
            packed: Some(("body", "packed")),
            without: &[],
        }],
    };
    let made = made(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, parent TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, body TEXT, packed BLOB);
        INSERT INTO sessions VALUES ('1', 'a', NULL), ('2', 'a', NULL), ('3', 'b', 'a'), ('4', 'a', NULL), ('5', 'c', 'gone');
        INSERT INTO messages VALUES (1, '3', 'plain', NULL);",
    );
    let text = "word ".repeat(2000);
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let connection = Connection::open(&made.path).unwrap();
    let row = "INSERT INTO messages (id, session, packed) VALUES (?1, '3', ?2)";
    connection.execute(row, (2, packed)).unwrap();
    connection.execute(row, (3, b"no zstd".as_slice())).unwrap();
    drop(connection);
    let mut sessions = Vec::new();
    read_database(&made.path, &NAMED, made.directory.path(), &mut |session| {
        sessions.push(session);
    })
    .unwrap();
    let names: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| session.sources.iter().map(|it| it.name.clone()).collect())
        .collect();
    // The session of that name which began last before it started the other one.
    assert_eq!(names, [vec!["1"], vec!["2", "3"], vec!["4"], vec!["5"]]);
    let child = sessions.remove(1).sources.remove(1).lines.read().unwrap();
    let child = String::from_utf8(child).unwrap();
    assert!(child.contains(r#""body":"plain""#));
    assert!(child.contains(&format!(r#""body":"{text}""#)));
    assert!(child.contains(r#""packed":{"hex":"#));
}
