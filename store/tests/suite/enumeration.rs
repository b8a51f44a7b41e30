//! Every table, every column, every object of the schema: whatever is changed, `verify` finds it.
//!
//! What there is to change is read from the schema, so that a table or column of a later
//! migration is tried, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use runtape_core::RecordKind;
use runtape_store::{Options, Store};
use rusqlite::Connection;

use runtape_tests::runs::{Made, Plan, child, run_id};

/// Changes that change no answer, and why nobody can tell them from what we do ourselves.
const HARMLESS: &[(&str, &str)] = &[
    // A word that no row refers to: a run that changes its mind about its model leaves one.
    ("word", "row added"),
    // A record without a text that was not looked at yet: indexing may stop before any record.
    ("run.searched", "-1"),
    // A counter that is ahead of the highest key: so it is when the newest row was deleted.
    ("key_counter.last", "+1"),
    ("key_counter.last", "other row's"),
];

/// A run with so many words that the index takes several pages for them.
fn wordy() -> Made {
    let mut made = Plan::new("wordy", 1).make();
    let words = (0..4000_u32).map(|number| format!("w{}", number.wrapping_mul(2_654_435_761)));
    let words: Vec<String> = words.collect();
    for record in &mut made.records {
        let RecordKind::Message(message) = &mut record.kind else {
            continue;
        };
        let mut value = serde_json::to_value(&message.message).unwrap();
        if let Some(text) = value.pointer_mut("/contents/0/text") {
            *text = words.join(" ").into();
            message.message = serde_json::from_value(value).unwrap();
            break;
        }
    }
    made
}

/// A database with rows in every table: runs that ended well and badly, a child, a run that was
/// deleted, one whose tape was dropped, and an index that has seen them.
fn fill(path: &Path) {
    let mut store = Store::open(path, &Options::default()).unwrap();
    Plan::new("mute", 1).make().store(&mut store);
    assert_eq!(store.drop_tapes_before(i64::MAX, 6).unwrap().tapes, 1);
    Plan::new("gone", 1).make().store(&mut store);
    store.complete_search().unwrap();
    store.delete_run(&run_id("gone"), 5).unwrap();
    Plan::new("one", 3).make().store(&mut store);
    wordy().store(&mut store);
    let two = Plan::new("two", 4).make();
    store.begin_run(&two.begin).unwrap();
    store.append(two.id(), &two.records, &two.chunks).unwrap();
    store.append(two.id(), &child(&two, "child"), &[]).unwrap();
    store
        .finish_run(two.id(), &serde_json::json!({"code": 0}), 1)
        .unwrap();
    let three = Plan {
        fails: true,
        ..Plan::new("three", 2)
    };
    three.make().store(&mut store);
    // So that the runs are among the sums of usage, which otherwise wait for more.
    store
        .rebuild_all(|_, rebuilt| drop(rebuilt.unwrap()))
        .unwrap();
    store.complete_search().unwrap();
    assert_eq!(store.verify().unwrap().faults, []);
}

/// Where files are in memory, if there is such a place: a thousand databases are written.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Returns all that the index can answer: where every word is, and what begins like it.
fn answers(path: &Path) -> rusqlite::Result<Vec<i64>> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE temp.terms USING fts5vocab ('main', 'search', 'row')",
    )?;
    let mut statement = connection.prepare("SELECT term FROM temp.terms")?;
    let terms: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut search =
        connection.prepare("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid")?;
    let mut found = Vec::new();
    for term in terms {
        let start: String = term.chars().take(2).collect();
        for query in [format!("\"{term}\""), format!("\"{start}\"*")] {
            let rows = search.query_map([query], |row| row.get::<_, i64>(0))?;
            found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
    }
    Ok(found)
}

/// Copies of one database, each to be spoiled once.
struct Bench {
    directory: tempfile::TempDir,
    original: PathBuf,
    answers: Vec<i64>,
    /// Found and all, by place and kind of change.
    table: BTreeMap<(String, String), (u32, u32)>,
    /// Changes of how the index is laid out that change nothing that it answers.
    harmless: u32,
    missed: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        let directory = directory();
        let original = directory.path().join("db");
        fill(&original);
        let answers = answers(&original).unwrap();
        assert!(answers.len() > 1000);
        Self {
            directory,
            original,
            answers,
            table: BTreeMap::new(),
            harmless: 0,
            missed: Vec::new(),
        }
    }

    fn copy(&self) -> (PathBuf, Connection) {
        let copy = self.directory.path().join("copy");
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(self.directory.path().join(format!("copy{end}")));
        }
        std::fs::copy(&self.original, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA writable_schema = OFF",
            )
            .unwrap();
        (copy, connection)
    }

    /// Makes a change, unless `SQLite` refuses it or there is nothing to change, and verifies.
    fn try_change(&mut self, place: &str, kind: &str, sql: &str) -> bool {
        if HARMLESS.contains(&(place, kind)) {
            return false;
        }
        let (copy, connection) = self.copy();
        let before = connection.total_changes();
        if connection.execute_batch(sql).is_err() || connection.total_changes() == before {
            return false;
        }
        drop(connection);
        self.judge(place, kind, &copy, sql);
        true
    }

    fn judge(&mut self, place: &str, kind: &str, copy: &Path, sql: &str) {
        // What cannot even be opened is found, too.
        let is_found = Store::open(copy, &Options::default())
            .and_then(|store| store.verify())
            .map_or(true, |report| !report.is_intact());
        let is_layout = place.starts_with("search_");
        if !is_found && is_layout && answers(copy).is_ok_and(|answers| answers == self.answers) {
            self.harmless += 1;
            return;
        }
        let entry = self
            .table
            .entry((place.to_owned(), kind.to_owned()))
            .or_default();
        entry.0 += u32::from(is_found);
        entry.1 += 1;
        if !is_found {
            self.missed.push(format!("{place}: {kind}: {sql}"));
        }
    }

    /// Prints found / all, and fails unless they are the same.
    fn finish(self, title: &str) {
        let mut kinds: Vec<&String> = self.table.keys().map(|(_, kind)| kind).collect();
        kinds.sort();
        kinds.dedup();
        let mut places: Vec<&String> = self.table.keys().map(|(place, _)| place).collect();
        places.dedup();
        let widest = places.iter().map(|place| place.len()).max().unwrap_or(0);
        print!("{title:widest$}");
        for kind in &kinds {
            print!("  {kind}");
        }
        println!();
        for place in places {
            print!("{place:widest$}");
            for kind in &kinds {
                let cell = self.table.get(&(place.clone(), (*kind).clone()));
                let cell =
                    cell.map_or_else(|| "-".to_owned(), |(found, all)| format!("{found}/{all}"));
                print!("  {cell:>width$}", width = kind.len());
            }
            println!();
        }
        let found: u32 = self.table.values().map(|(found, _)| found).sum();
        let all: u32 = self.table.values().map(|(_, all)| all).sum();
        println!(
            "found {found} of {all}, {} changed no answer",
            self.harmless
        );
        assert!(self.missed.is_empty(), "{:#?}", self.missed);
    }
}

struct Column {
    name: String,
    /// Place in the primary key, from 1; 0 if it is in none.
    key: i64,
}

fn tables(connection: &Connection) -> Vec<(String, Vec<Column>)> {
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
        .unwrap();
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let columns = |table: &String| {
        let mut statement = connection
            .prepare(&format!("PRAGMA table_info(\"{table}\")"))
            .unwrap();
        let columns = statement.query_map([], |row| {
            Ok(Column {
                name: row.get(1)?,
                key: row.get(5)?,
            })
        });
        columns.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    names
        .iter()
        .map(|table| (table.clone(), columns(table)))
        .collect()
}

/// Kinds of change: name, which rows, and the new value.
const CHANGES: &[(&str, &str, &str)] = &[
    (
        "+1",
        "{c} IS NOT NULL",
        "CASE typeof({c}) WHEN 'text' THEN {c} || 'x' WHEN 'blob' THEN CAST({c} || x'00' AS BLOB) ELSE {c} + 1 END",
    ),
    (
        "-1",
        "{c} IS NOT NULL AND length({c}) > 0",
        "CASE typeof({c}) WHEN 'text' THEN substr({c}, 2) WHEN 'blob' THEN CAST(substr({c}, 1, length({c}) - 1) AS BLOB) ELSE {c} - 1 END",
    ),
    ("null", "{c} IS NOT NULL", "NULL"),
    (
        "zero",
        "{c} IS NOT NULL AND {c} NOT IN (0, '', x'')",
        "CASE typeof({c}) WHEN 'text' THEN '' WHEN 'blob' THEN x'' ELSE 0 END",
    ),
    ("null to 0", "{c} IS NULL", "0"),
    ("null to ''", "{c} IS NULL", "''"),
    ("null to x''", "{c} IS NULL", "x''"),
    (
        "null to other",
        "{c} IS NULL AND EXISTS (SELECT 1 FROM {t} AS o WHERE o.{c} IS NOT NULL)",
        "(SELECT {c} FROM {t} WHERE {c} IS NOT NULL LIMIT 1)",
    ),
    (
        "other row's",
        "{c} IS NOT NULL AND EXISTS (SELECT 1 FROM {t} AS o WHERE o.{c} <> {t}.{c})",
        "(SELECT o.{c} FROM {t} AS o WHERE o.{c} <> {t}.{c} ORDER BY o.{c} LIMIT 1)",
    ),
];

#[test]
fn every_change_of_every_column_is_found() {
    let mut bench = Bench::new();
    let tables = tables(&Connection::open(&bench.original).unwrap());
    for (table, columns) in &tables {
        let quoted: Vec<String> = columns
            .iter()
            .map(|column| format!("\"{}\"", column.name))
            .collect();
        let mut key: Vec<&Column> = columns.iter().filter(|column| column.key > 0).collect();
        key.sort_by_key(|column| column.key);
        let key: Vec<String> = key
            .iter()
            .map(|column| format!("\"{}\"", column.name))
            .collect();
        assert!(!key.is_empty(), "{table} has no key to name rows by");
        let key_list = key.join(", ");
        for (number, column) in quoted.iter().enumerate() {
            for (turn, (kind, which, value)) in CHANGES.iter().enumerate() {
                let fill = |text: &str| text.replace("{c}", column).replace("{t}", table);
                // The first row or the last one, and the other if that cannot be changed so.
                let mut orders = ["ASC", "DESC"];
                orders.rotate_left((number + turn) % 2);
                for order in orders {
                    let order: Vec<String> =
                        key.iter().map(|key| format!("{key} {order}")).collect();
                    let sql = format!(
                        "UPDATE {table} SET {column} = {} WHERE ({key_list}) = (SELECT {key_list} FROM {table} WHERE {} ORDER BY {} LIMIT 1)",
                        fill(value),
                        fill(which),
                        order.join(", ")
                    );
                    let place = format!("{table}.{}", column.trim_matches('"'));
                    if bench.try_change(&place, kind, &sql) {
                        break;
                    }
                }
            }
        }
        for order in ["ASC", "DESC"] {
            let order: Vec<String> = key.iter().map(|key| format!("{key} {order}")).collect();
            let row = format!(
                "(SELECT {key_list} FROM {table} ORDER BY {} LIMIT 1)",
                order.join(", ")
            );
            let sql = format!("DELETE FROM {table} WHERE ({key_list}) = {row}");
            bench.try_change(table, "row deleted", &sql);
            // Texts that must be unique are made so; numbers of a key go past the last one.
            let values: Vec<String> = columns
                .iter()
                .map(|column| {
                    let name = format!("\"{}\"", column.name);
                    match column.key {
                        0 if column.name == "id" || (table == "word" && column.name == "text") => format!("{name} || 'x'"),
                        1 if key.len() > 1 => name,
                        0 => name,
                        _ => format!("CASE typeof({name}) WHEN 'integer' THEN (SELECT max({name}) + 1 FROM {table}) WHEN 'text' THEN {name} || 'x' ELSE CAST({name} || x'00' AS BLOB) END"),
                    }
                })
                .collect();
            let sql = format!(
                "INSERT INTO {table} ({}) SELECT {} FROM {table} WHERE ({key_list}) = {row}",
                quoted.join(", "),
                values.join(", ")
            );
            bench.try_change(table, "row added", &sql);
        }
    }
    // A whole database knows every entry of its chain: any row here is one too many.
    bench.try_change(
        "seal_before.number",
        "row added",
        "INSERT INTO seal_before (number, hash) SELECT max(number), zeroblob(32) FROM seal",
    );
    bench.try_change(
        "seal_before.hash",
        "row added",
        "INSERT INTO seal_before (number, hash) SELECT 2, hash FROM seal WHERE number = 1",
    );
    // The index of words has no rows of its own that could be changed one column at a time.
    let first = "(SELECT min(id) FROM search_docsize)";
    bench.try_change("search.words", "row added", "INSERT INTO search (rowid, words) VALUES ((SELECT max(id) + 1 FROM search_docsize), 'forged')");
    bench.try_change(
        "search.words",
        "+1",
        &format!("INSERT OR REPLACE INTO search (rowid, words) VALUES ({first}, 'forged')"),
    );
    bench.try_change(
        "search",
        "row deleted",
        &format!("DELETE FROM search WHERE rowid = {first}"),
    );
    bench.try_change(
        "search",
        "row added",
        "INSERT INTO search (rowid, words) VALUES (99 << 32, 'a run that is not there')",
    );
    bench.try_change(
        "search",
        "-1",
        "INSERT INTO search (search, rank) VALUES ('rank', 'bm25(10.0, 1.0, 0.1)')",
    );
    let columns: usize = tables.iter().map(|(_, columns)| columns.len()).sum();
    let tried = |table: &String, column: &Column| {
        let place = format!("{table}.{}", column.name);
        bench.table.keys().any(|(tried, _)| *tried == place)
    };
    for (table, columns) in &tables {
        for column in columns {
            assert!(
                tried(table, column),
                "nothing was tried with {table}.{}",
                column.name
            );
        }
    }
    bench.finish(&format!("{} tables, {columns} columns", tables.len()));
}

#[test]
fn every_object_of_the_schema_that_is_extra_missing_or_changed_is_found() {
    let mut bench = Bench::new();
    let connection = Connection::open(&bench.original).unwrap();
    let mut statement = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'search_%' ORDER BY type, name")
        .unwrap();
    let objects: Vec<(String, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert!(objects.len() > 25);
    for (kind, name, sql) in &objects {
        let place = format!("{kind} {name}");
        let direct = |sql: &str| format!("PRAGMA writable_schema = ON; {sql}");
        bench.try_change(
            &place,
            "missing",
            &direct(&format!("DELETE FROM sqlite_schema WHERE name = '{name}'")),
        );
        bench.try_change(
            &place,
            "changed",
            &direct(&format!(
                "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = '{name}'"
            )),
        );
        if kind == "index" {
            // Entries are taken out of the index behind the table's back.
            let (copy, connection) = bench.copy();
            let emptied = format!("{} WHERE 0", sql.split(" WHERE ").next().unwrap());
            let set = |connection: &Connection, sql: &str| {
                connection
                    .execute_batch("PRAGMA writable_schema = ON")
                    .unwrap();
                connection
                    .execute(
                        "UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2",
                        [sql, name],
                    )
                    .unwrap();
            };
            set(&connection, &emptied);
            drop(connection);
            let connection = Connection::open(&copy).unwrap();
            connection
                .execute_batch(&format!("REINDEX {name}"))
                .unwrap();
            set(&connection, sql);
            drop(connection);
            let rows: bool = Connection::open(&copy)
                .unwrap()
                .query_row(
                    &format!(
                        "SELECT EXISTS (SELECT 1 FROM {} {})",
                        sql.split(" ON ")
                            .nth(1)
                            .unwrap()
                            .split_whitespace()
                            .next()
                            .unwrap(),
                        sql.split_once(" WHERE ")
                            .map_or(String::new(), |(_, which)| format!(
                                "NOT INDEXED WHERE {which}"
                            ))
                    ),
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            if rows {
                bench.judge(&place, "emptied", &copy, "REINDEX");
            }
        }
    }
    for (kind, sql) in [
        (
            "table",
            "CREATE TABLE more (a); INSERT INTO more VALUES (1)",
        ),
        (
            "view",
            "CREATE VIEW more AS SELECT 1; INSERT INTO word (text) VALUES ('more')",
        ),
        (
            "index",
            "CREATE INDEX more ON run (steps); INSERT INTO word (text) VALUES ('more')",
        ),
        (
            "trigger",
            "CREATE TRIGGER more AFTER INSERT ON run BEGIN DELETE FROM notice; END; INSERT INTO word (text) VALUES ('more')",
        ),
    ] {
        bench.try_change(kind, "extra", sql);
    }
    bench.finish(&format!("{} objects", objects.len()));
}
