//! Whether a database has the schema that our migrations make, and nothing else.
//!
//! A view may stand where a table should, a trigger may write, and an endless query may hide
//! behind a name: so a file that came from elsewhere is compared with what the migrations make in
//! a fresh database, before anything in it is asked.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::migrate;
use crate::error::Result;

/// Most objects that are looked at; our own are far fewer.
const MOST_OBJECTS: i64 = 1000;

/// Longest text of an object that is looked at; ours are far shorter.
const LONGEST: i64 = 1 << 16;

/// Most characters of a name that are told.
const NAME: usize = 60;

/// Most differences that are named: one is enough to refuse a file.
const MOST_NAMED: usize = 20;

/// Names the objects by the one name that no object of the file itself can take.
const OBJECTS: &str = "SELECT substr(type, 1, ?1), substr(name, 1, ?1), substr(tbl_name, 1, ?1),
        CASE WHEN octet_length(sql) <= ?1 THEN sql END,
        coalesce(octet_length(sql), -1), typeof(rootpage) = 'integer' AND rootpage > 0
     FROM main.sqlite_master LIMIT ?2";

/// What a row of the schema says.
#[derive(Debug, PartialEq, Eq)]
struct SchemaObject {
    table: String,
    sql: Option<String>,
    /// Tells a text that is too long to be looked at from none.
    length: i64,
    has_pages: bool,
}

/// Objects by kind and name.
type Objects = BTreeMap<(String, String), SchemaObject>;

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        // No name and no text is a number.
        ValueRef::Integer(_) | ValueRef::Real(_) => Some(String::new()),
    })
}

/// Reads the schema; tells as a difference what is there twice, or more than anybody needs.
fn objects(connection: &Connection, found: &mut Vec<String>) -> Result<Objects> {
    let mut statement = connection.prepare(OBJECTS)?;
    let rows = statement.query_map([LONGEST, MOST_OBJECTS], |row| {
        let key = (
            text(row, 0)?.unwrap_or_default(),
            text(row, 1)?.unwrap_or_default(),
        );
        let object = SchemaObject {
            table: text(row, 2)?.unwrap_or_default(),
            sql: text(row, 3)?,
            length: row.get(4)?,
            has_pages: row.get(5)?,
        };
        Ok((key, object))
    })?;
    let mut objects = Objects::new();
    let mut count = 0_i64;
    for row in rows {
        let (key, object) = row?;
        count += 1;
        let label = label(&key);
        if objects.insert(key, object).is_some() {
            found.push(format!("the schema has {label} twice"));
        }
    }
    if count >= MOST_OBJECTS {
        found.push(format!("the schema has {MOST_OBJECTS} objects or more"));
    }
    Ok(objects)
}

/// Names an object, cut to a length that can be shown.
fn label((kind, name): &(String, String)) -> String {
    let cut = |text: &str| text.chars().take(NAME).collect::<String>();
    match kind.as_str() {
        "table" | "index" | "view" | "trigger" => format!("{kind} {:?}", cut(name)),
        _ => format!("{:?} {:?}", cut(kind), cut(name)),
    }
}

/// Returns what our migrations make up to a version; making it takes longer than comparing.
fn expected(version: i64) -> Result<Arc<Objects>> {
    static NEWEST: OnceLock<Arc<Objects>> = OnceLock::new();
    let is_newest = version == migrate::newest();
    if let Some(known) = NEWEST.get().filter(|_| is_newest) {
        return Ok(Arc::clone(known));
    }
    let fresh = Connection::open_in_memory()?;
    for script in migrate::scripts(version) {
        fresh.execute_batch(script)?;
    }
    let made = Arc::new(objects(&fresh, &mut Vec::new())?);
    if is_newest {
        return Ok(Arc::clone(NEWEST.get_or_init(|| made)));
    }
    Ok(made)
}

/// Names what is extra, missing or changed in the schema of a database, compared with what our
/// migrations make up to the same version. Reads nothing but the schema, so it may be asked of a
/// file by anybody, and must be before anything else is read from one that was made elsewhere.
pub(crate) fn differences(connection: &Connection) -> Result<Vec<String>> {
    // What the schema itself holds, such as expressions of indexes, must not run anything.
    connection.pragma_update(None, "trusted_schema", false)?;
    let mut found = Vec::new();
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id")?;
    if application != i64::from(migrate::APPLICATION_ID) {
        found.push(format!("the file's application id is {application}"));
    }
    let version = number("user_version")?;
    let newest = migrate::newest();
    if !(1..=newest).contains(&version) {
        found.push(format!(
            "the file has schema {version}, there are 1 to {newest}"
        ));
        return Ok(found);
    }
    let expected = expected(version)?;
    let mut stored = objects(connection, &mut found)?;
    for (key, expected) in expected.iter() {
        match stored.remove(key) {
            None => found.push(format!("the schema has no {}", label(key))),
            Some(object) if object != *expected => {
                found.push(format!("the schema's {} was changed", label(key)));
            }
            Some(_) => {}
        }
    }
    let extra = stored.keys().map(label);
    found.extend(extra.map(|label| format!("the schema has an extra {label}")));
    if found.len() > MOST_NAMED {
        let more = found.split_off(MOST_NAMED).len();
        found.push(format!("the schema has {more} more differences"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::sqlite::Sqlite;

    fn changed(sql: &str) -> Vec<String> {
        let sqlite = Sqlite::open_in_memory().unwrap();
        sqlite.connection.execute_batch(sql).unwrap();
        differences(&sqlite.connection).unwrap()
    }

    /// Edits the schema as text, as someone with another tool can.
    fn edited(sql: &str) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        drop(Store::open(&path, &crate::Options::default()).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!("PRAGMA writable_schema = ON; {sql}"))
            .unwrap();
        drop(connection);
        differences(&Connection::open(&path).unwrap())
            .unwrap_or_else(|error| vec![error.to_string()])
    }

    #[test]
    fn each_difference_of_a_schema_is_named() {
        assert_eq!(changed("SELECT 1"), Vec::<String>::new());
        assert_eq!(changed("VACUUM"), Vec::<String>::new());
        let cases = [
            ("CREATE TABLE t (a)", "an extra table \"t\""),
            ("CREATE VIEW w AS SELECT 1", "an extra view \"w\""),
            ("CREATE INDEX i ON run (steps)", "an extra index \"i\""),
            (
                "CREATE TRIGGER g AFTER INSERT ON run BEGIN DELETE FROM step; END",
                "an extra trigger \"g\"",
            ),
            ("ANALYZE", "an extra table \"sqlite_stat1\""),
            ("DROP VIEW v_errors", "no view \"v_errors\""),
            ("DROP INDEX run_by_job", "no index \"run_by_job\""),
            ("DROP TABLE search", "no table \"search\""),
            (
                "DROP VIEW v_errors; CREATE VIEW v_errors AS SELECT 1",
                "view \"v_errors\" was changed",
            ),
            (
                "DROP INDEX run_by_job; CREATE INDEX run_by_job ON run (job) WHERE job > 1",
                "index \"run_by_job\" was changed",
            ),
            (
                "ALTER TABLE notice ADD COLUMN more TEXT",
                "table \"notice\" was changed",
            ),
            (
                "DROP TABLE notice; CREATE VIEW notice AS SELECT 1 AS run",
                "no table \"notice\"",
            ),
            ("PRAGMA application_id = 7", "application id is 7"),
            ("PRAGMA user_version = 1", "an extra view"),
            ("PRAGMA user_version = 0", "the file has schema 0"),
            ("PRAGMA user_version = 99", "the file has schema 99"),
        ];
        for (sql, expected) in cases {
            let found = changed(sql);
            assert!(
                found.iter().any(|found| found.contains(expected)),
                "{sql}: {found:?}"
            );
        }
    }

    #[test]
    fn a_schema_edited_as_text_is_found_and_asks_for_nothing() {
        let endless = "CREATE VIEW sqlite_schema AS WITH RECURSIVE n(a) AS \
                       (SELECT 1 UNION ALL SELECT a FROM n) SELECT a FROM n";
        let cases = [
            // What a name hides is never asked, whatever it is called.
            format!("INSERT INTO sqlite_master VALUES ('view', 'sqlite_schema', 'sqlite_schema', 0, '{endless}')"),
            "UPDATE sqlite_master SET sql = sql || ' ' WHERE name = 'run'".to_owned(),
            "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'run'".to_owned(),
            "UPDATE sqlite_master SET rootpage = 0 WHERE name = 'run_open'".to_owned(),
            "UPDATE sqlite_master SET sql = 'CREATE VIEW v_errors AS SELECT ''' || hex(zeroblob(99999)) || ''' AS a' WHERE name = 'v_errors'".to_owned(),
            "DELETE FROM sqlite_master WHERE name = 'run_open'".to_owned(),
            "DELETE FROM sqlite_master WHERE name = 'search_docsize'".to_owned(),
        ];
        for sql in cases {
            let found = edited(&sql);
            assert!(!found.is_empty(), "{sql}");
            assert!(found.iter().all(|found| found.len() < 500), "{found:?}");
        }
        let many: Vec<String> = (0..2000)
            .map(|n| format!("CREATE VIEW w{n} AS SELECT 1"))
            .collect();
        assert_eq!(changed(&many.join(";")).len(), MOST_NAMED + 1);
    }
}
