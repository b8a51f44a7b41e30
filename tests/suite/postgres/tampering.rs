//! Every column of every table on a server: whatever is changed, `verify` finds it.
//!
//! What there is to change is read from the server's catalogue, so that a table or column of a later migration is tried,
//! too. `cargo test -p runtape-tests --test postgres tampering -- --nocapture` prints what was tried; `RUNTAPE_ONLY=run,seal`
//! tries these tables only.

use std::collections::BTreeMap;

use runtape_core::RecordKind;
use runtape_store::{Options, Store};
use runtape_tests::postgres::{Database, Layout, Sql};
use runtape_tests::runs::{Made, Plan, child, run_id};
use serde_json::json;

use crate::writers::open;

/// Changes that change no answer, and why. A place or a kind that ends in `*` stands for all that begin so.
const HARMLESS: &[(&str, &str)] = &[
    // Who writes a tree just now, until when: nothing of what was recorded. A wrong one lets two write at once, whom the
    // numbers of records keep apart.
    ("lease*", "*"),
    // A record without a text that was not looked at yet: indexing may stop before any record.
    ("run.searched", "-1"),
    // The next number of a run in its tree is ahead: so it is when a child was given up.
    ("root.next_no", "+1"),
    ("root.next_no", "other row's"),
    // Sums are kept in shares, and only what they come to counts: a share may be that of any writer.
    ("usage_sum.share", "*"),
];

fn is_harmless(place: &str, kind: &str) -> bool {
    let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => pattern == text,
    };
    HARMLESS
        .iter()
        .any(|(a_place, a_kind)| fits(a_place, place) && fits(a_kind, kind))
}

/// A run with many words.
fn wordy() -> Made {
    let mut made = Plan::new("wordy", 1).make();
    let words = (0..400_u32).map(|number| format!("w{}", number.wrapping_mul(2_654_435_761)));
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

/// Puts rows into every table: runs that ended well and badly, a child, a run that was deleted, one whose tape was
/// dropped, one that is open and has a note, several epochs, and an index that has seen them.
fn fill(address: &str) {
    let mut store = open(address);
    Plan::new("mute", 1).make().store(&mut store);
    assert_eq!(store.drop_tapes_before(i64::MAX, 6).unwrap().tapes, 1);
    Plan::new("gone", 1).make().store(&mut store);
    store.complete_search().unwrap();
    store.delete_run(&run_id("gone"), 5).unwrap();
    assert_eq!(store.verify().unwrap().faults, []);
    Plan::new("one", 3).make().store(&mut store);
    wordy().store(&mut store);
    let two = Plan::new("two", 4).make();
    store.begin_run(&two.begin).unwrap();
    store.append(two.id(), &two.records, &two.chunks).unwrap();
    store.append(two.id(), &child(&two, "child"), &[]).unwrap();
    store.finish_run(two.id(), &json!({"code": 0}), 1).unwrap();
    assert!(store.head().unwrap().is_some());
    let three = Plan {
        fails: true,
        ..Plan::new("three", 2)
    };
    three.make().store(&mut store);
    // So that the runs are among the sums of usage, which otherwise wait for more.
    store
        .rebuild_all(|_, rebuilt| drop(rebuilt.unwrap()))
        .unwrap();
    let open = Plan::new("open", 4).make();
    store.begin_run(&open.begin).unwrap();
    store
        .append(open.id(), &open.records[..9], &open.chunks[..3])
        .unwrap();
    store
        .leave_note(open.id(), &json!({"why": "full"}))
        .unwrap();
    store.complete_search().unwrap();
    assert_eq!(store.verify().unwrap().faults, []);
}

struct Column {
    name: String,
    kind: String,
    is_key: bool,
}

/// Returns the tables and their columns; parts of tables go with them.
fn tables(sql: &Sql) -> Vec<(String, Vec<Column>)> {
    let answer = sql.run(
        "SELECT c.relname, quote_ident(a.attname), format_type(a.atttypid, NULL),
            coalesce((SELECT a.attnum = ANY(i.indkey) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), false)
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
         ORDER BY c.relname, a.attnum",
    );
    let mut tables: Vec<(String, Vec<Column>)> = Vec::new();
    for row in answer.rows {
        let [table, name, kind, is_key] = <[Option<String>; 4]>::try_from(row)
            .unwrap()
            .map(Option::unwrap);
        if tables.last().is_none_or(|(last, _)| *last != table) {
            tables.push((table, Vec::new()));
        }
        let columns = &mut tables.last_mut().unwrap().1;
        columns.push(Column {
            name,
            kind,
            is_key: is_key == "t",
        });
    }
    tables
}

/// Kinds of change of a column of a type: name, which rows, and the new value. `{c}` is the column, `{t}` the table.
fn changes(kind: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let set = "{c} IS NOT NULL";
    let other = "{c} IS NOT NULL AND EXISTS (SELECT 1 FROM {t} AS o WHERE o.{c} <> x.{c})";
    let another = "(SELECT o.{c} FROM {t} AS o WHERE o.{c} <> x.{c} ORDER BY o.{c} LIMIT 1)";
    let none = "{c} IS NULL";
    let mut changes = vec![
        ("null", set, "NULL"),
        ("other row's", other, another),
        (
            "null to other",
            "{c} IS NULL AND EXISTS (SELECT 1 FROM {t} AS o WHERE o.{c} IS NOT NULL)",
            "(SELECT o.{c} FROM {t} AS o WHERE o.{c} IS NOT NULL ORDER BY o.{c} LIMIT 1)",
        ),
    ];
    changes.extend(match kind {
        "text" => vec![
            ("+1", set, "{c} || 'x'"),
            ("-1", "{c} <> ''", "substr({c}, 2)"),
            ("zero", "{c} <> ''", "''"),
            ("null to zero", none, "''"),
        ],
        "bytea" => vec![
            ("+1", set, "{c} || '\\x00'::bytea"),
            (
                "-1",
                "length({c}) > 0",
                "substring({c} FROM 1 FOR length({c}) - 1)",
            ),
            ("zero", "length({c}) > 0", "''::bytea"),
            ("null to zero", none, "''::bytea"),
            (
                "bit",
                "length({c}) > 0",
                "set_bit({c}, 8 * (length({c}) / 2), 1 - get_bit({c}, 8 * (length({c}) / 2)))",
            ),
        ],
        "bigint" | "integer" | "smallint" | "double precision" => vec![
            ("+1", set, "{c} + 1"),
            ("-1", set, "{c} - 1"),
            ("zero", "{c} <> 0", "0"),
            ("null to zero", none, "0"),
        ],
        "boolean" => vec![("+1", set, "NOT {c}"), ("null to zero", none, "false")],
        "timestamp with time zone" => vec![("+1", set, "'infinity'"), ("zero", set, "'-infinity'")],
        "tsvector" => vec![
            ("+1", set, "{c} || 'forged'::tsvector"),
            (
                "-1",
                "length({c}) > 0",
                "ts_delete({c}, (tsvector_to_array({c}))[1])",
            ),
            ("zero", "length({c}) > 0", "''::tsvector"),
            ("null to zero", none, "''::tsvector"),
        ],
        other => panic!("no change is known for a column of type {other}"),
    });
    changes
}

/// A database that is spoiled, judged and mended, again and again.
struct Bench {
    database: Database,
    sql: Sql,
    /// Where the tables are kept as they were.
    kept: String,
    /// Found and all, by place and kind of change.
    table: BTreeMap<(String, String), (u32, u32)>,
    missed: Vec<String>,
}

impl Bench {
    fn new(layout: Layout) -> Option<Self> {
        let database = Database::fresh(layout)?;
        fill(database.address());
        let sql = database.sql();
        // Whoever tampers with a table changes nothing of what is kept of it here.
        let kept = sql.value("SELECT current_schema() || '_kept'");
        sql.run(&format!("CREATE SCHEMA {kept}"));
        for (table, _) in tables(&sql) {
            sql.run(&format!(
                "CREATE TABLE {kept}.{table} AS SELECT * FROM {table}"
            ));
        }
        Some(Self {
            database,
            sql,
            kept,
            table: BTreeMap::new(),
            missed: Vec::new(),
        })
    }

    /// Makes a change, unless the server refuses it or there is nothing to change, verifies, and undoes it.
    fn try_change(&mut self, table: &str, place: &str, kind: &str, change: &str) -> bool {
        if is_harmless(place, kind) {
            self.table
                .entry((place.to_owned(), kind.to_owned()))
                .or_default();
            return false;
        }
        match self.sql.ask(change) {
            Ok(answer) if answer.changed > 0 => {}
            Ok(_) => return false,
            // A key that is taken, a value that may not be: class 23.
            Err(refusal) if refusal.code.starts_with("23") => return false,
            // A number that is out of the type's range.
            Err(refusal) if refusal.code.starts_with("22") => return false,
            Err(refusal) => panic!("{change}: {}", refusal.text),
        }
        let found = self.judge();
        let entry = self
            .table
            .entry((place.to_owned(), kind.to_owned()))
            .or_default();
        entry.0 += u32::from(found.is_some());
        entry.1 += 1;
        if found.is_none() {
            println!("not found: {place}: {kind}");
            self.missed.push(format!("{place}: {kind}: {change}"));
        }
        self.sql.run(&format!(
            "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {}.{table}",
            self.kept
        ));
        true
    }

    /// Returns what is found, if anything is. What cannot even be opened is found, too.
    fn judge(&self) -> Option<String> {
        let report = Store::open(self.database.address(), &Options::read_only())
            .and_then(|store| store.verify());
        match report {
            Ok(report) => report.faults.first().map(ToString::to_string),
            Err(error) => Some(error.to_string()),
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
                let cell = match self.table.get(&(place.clone(), (*kind).clone())) {
                    None => "-".to_owned(),
                    Some((0, 0)) => "harmless".to_owned(),
                    Some((found, all)) => format!("{found}/{all}"),
                };
                print!("  {cell:>width$}", width = kind.len());
            }
            println!();
        }
        let found: u32 = self.table.values().map(|(found, _)| found).sum();
        let all: u32 = self.table.values().map(|(_, all)| all).sum();
        println!("found {found} of {all}");
        // Nothing was left of all that, or what was found later need not have been there.
        assert_eq!(self.judge(), None);
        assert!(self.missed.is_empty(), "{:#?}", self.missed);
    }
}

#[test]
fn every_change_of_every_column_is_found() {
    let Some(mut bench) = Bench::new(Layout::Whole) else {
        return;
    };
    assert_eq!(bench.judge(), None);
    let mut tables = tables(&bench.sql);
    if let Ok(only) = std::env::var("RUNTAPE_ONLY") {
        tables.retain(|(table, _)| only.split(',').any(|name| name == table));
    }
    for (table, columns) in &tables {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let key: Vec<&str> = columns
            .iter()
            .filter(|column| column.is_key)
            .map(|column| column.name.as_str())
            .collect();
        let key = if key.is_empty() { names.clone() } else { key };
        let by = |direction: &str| {
            let key: Vec<String> = key
                .iter()
                .map(|name| format!("{name} {direction}"))
                .collect();
            key.join(", ")
        };
        for (number, column) in columns.iter().enumerate() {
            let place = format!("{table}.{}", column.name.trim_matches('"'));
            for (turn, (kind, which, value)) in changes(&column.kind).into_iter().enumerate() {
                let fill = |text: &str| text.replace("{c}", &column.name).replace("{t}", table);
                // The first row or the last one, and the other if that cannot be changed so.
                let mut directions = ["ASC", "DESC"];
                directions.rotate_left((number + turn) % 2);
                for direction in directions {
                    let change = format!(
                        "UPDATE {table} AS x SET {} = {} WHERE (tableoid, ctid) = (SELECT tableoid, ctid FROM {table} AS x WHERE {} ORDER BY {} LIMIT 1)",
                        column.name,
                        fill(value),
                        fill(which),
                        by(direction)
                    );
                    if bench.try_change(table, &place, kind, &change) {
                        break;
                    }
                }
            }
        }
        for direction in ["ASC", "DESC"] {
            let row = format!(
                "(SELECT tableoid, ctid FROM {table} ORDER BY {} LIMIT 1)",
                by(direction)
            );
            let change = format!("DELETE FROM {table} WHERE (tableoid, ctid) = {row}");
            // Without the last epoch all is as if it had not been made yet: only who kept its head elsewhere can tell.
            if (table.as_str(), direction) != ("epoch", "DESC") {
                bench.try_change(table, table, "row deleted", &change);
            }
            // The last column of the key goes past the last one.
            let last = columns.iter().rfind(|column| column.is_key);
            let values: Vec<String> = columns
                .iter()
                .map(|column| match (&column.kind, last) {
                    (kind, Some(last)) if last.name == column.name => match kind.as_str() {
                        "text" => format!("{} || 'x'", column.name),
                        _ => format!("(SELECT max(o.{0}) + 1 FROM {table} AS o)", column.name),
                    },
                    (kind, None) if column.name == "start" && kind == "bigint" => {
                        "start + 900000".to_owned()
                    }
                    _ => column.name.clone(),
                })
                .collect();
            let change = format!(
                "INSERT INTO {table} ({}) SELECT {} FROM {table} WHERE (tableoid, ctid) = {row}",
                names.join(", "),
                values.join(", ")
            );
            bench.try_change(table, table, "row added", &change);
        }
        let is_tried = |place: &str| {
            let mut tried = bench.table.iter();
            tried.any(|((tried, _), _)| tried == place)
        };
        for column in columns {
            let place = format!("{table}.{}", column.name.trim_matches('"'));
            assert!(is_tried(&place), "nothing was tried with {place}");
        }
    }
    let columns: usize = tables.iter().map(|(_, columns)| columns.len()).sum();
    bench.finish(&format!("{} tables, {columns} columns", tables.len()));
}

/// Someone cuts off the end of the history, where everything that is left agrees.
#[test]
fn an_end_that_was_cut_off_is_told_by_the_epochs_and_by_a_head_kept_elsewhere() {
    let Some(bench) = Bench::new(Layout::Whole) else {
        return;
    };
    let store = open(bench.database.address());
    let kept = store.head().unwrap().unwrap();
    assert!(store.verify_head(&kept.hash).unwrap().is_intact());
    drop(store);
    // A whole run, with its seal, from the end of its chain.
    let cut = "DELETE FROM seal USING root WHERE root_id = 'three' AND chain = seal_chain AND number = seal_number;
        UPDATE chain_head SET number = chain_head.number - 1,
            hash = coalesce((SELECT s.hash FROM seal s WHERE s.chain = chain_head.chain AND s.number = chain_head.number - 1), decode(repeat('00', 32), 'hex'))
            FROM root WHERE root_id = 'three' AND chain = seal_chain;
        DELETE FROM usage_sum;
        UPDATE root SET summed = 0;";
    let tables =
        "root run record_block tape_block step tool_call notice unparsed usage search run_place";
    let delete = |name: &str| format!("DELETE FROM {name} WHERE root_id = 'three';");
    let delete: String = tables.split(' ').map(delete).collect();
    bench.sql.run(&format!("{cut}{delete}"));
    let found = bench.judge().expect("a cut chain is not found");
    println!("with the epochs: {found}");
    // The epochs that had it are cut off, too: then only who kept a head elsewhere can tell.
    bench.sql.run("DELETE FROM epoch WHERE number > 1");
    let found = bench.judge();
    println!("without them: {found:?}");
    let report = open(bench.database.address())
        .verify_head(&kept.hash)
        .unwrap();
    assert!(!report.is_intact());
}
