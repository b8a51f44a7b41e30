//! The schema: whether there is what the migrations make, and nothing that changes what rows or queries say.
//!
//! The server does not keep what was written to make a table, it writes that anew when it is asked. So everything is
//! described in lines and compared with those of a fresh database, which are in `structure.txt`. A view that versions of
//! the server write differently (from 16 on, columns are written without their table where there is only one) has a line
//! there for each way. What stands beside our tables in the same schema is not looked at.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::postgres::Postgres;
use crate::postgres::columns::{get, text};
use crate::postgres::schema::TREE_TABLES;

/// What a fresh database is like.
const EXPECTED: &str = include_str!("structure.txt");

/// Tables that are not of trees.
const OTHERS: [&str; 6] = [
    "run_place",
    "usage_sum",
    "seal",
    "chain_head",
    "epoch",
    "runtape",
];

/// Versions of the server whose ways to write views and functions are in [`EXPECTED`].
const KNOWN_WAYS: std::ops::RangeInclusive<i32> = 15..=18;

/// Most differences that are named.
const MOST_NAMED: usize = 20;

/// Returns our tables.
pub(in crate::postgres) fn tables() -> Vec<&'static str> {
    TREE_TABLES.into_iter().chain(OTHERS).collect()
}

/// Columns of tables and views.
const COLUMNS: &str =
    "SELECT concat_ws(' ', CASE WHEN class.relkind = 'v' THEN 'view' ELSE 'table' END,
        class.relname || '.' || attribute.attname,
        format_type(attribute.atttypid, attribute.atttypmod),
        CASE WHEN letters.collname <> 'default' THEN 'COLLATE ' || letters.collname END,
        CASE WHEN attribute.attnotnull THEN 'NOT NULL' END,
        'DEFAULT ' || pg_get_expr(initial.adbin, initial.adrelid))
     FROM pg_class AS class
     JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid
        AND attribute.attnum > 0 AND NOT attribute.attisdropped
     LEFT JOIN pg_collation AS letters ON letters.oid = attribute.attcollation
     LEFT JOIN pg_attrdef AS initial
        ON initial.adrelid = class.oid AND initial.adnum = attribute.attnum
     WHERE class.relnamespace = $1 AND (
        class.relname = ANY($2) AND class.relkind IN ('r', 'p') OR
        class.relname LIKE ANY($3) AND class.relkind = 'v')";

/// Indexes of our tables; those of their parts go with them.
const INDEXES: &str =
    "SELECT concat_ws(' ', CASE WHEN index.indisprimary THEN 'key' ELSE 'index' END,
        replace(replace(pg_get_indexdef(index.indexrelid), ' ON ONLY ', ' ON '),
            quote_ident($4) || '.', ''),
        CASE WHEN NOT index.indisvalid OR NOT index.indisready THEN 'BROKEN' END)
     FROM pg_index AS index JOIN pg_class AS class ON class.oid = index.indrelid
     WHERE class.relnamespace = $1 AND class.relname = ANY($2)";

/// What changes rows as they are written, or hides them: there is none of it. Parts of tables are looked at, too.
const ADDED: &str = "WITH RECURSIVE ours AS (
        SELECT oid, relname::text AS name FROM pg_class
        WHERE relnamespace = $1 AND (relname = ANY($2) OR relname LIKE ANY($3) AND relkind = 'v')
        UNION ALL
        SELECT inhrelid, ours.name FROM pg_inherits JOIN ours ON ours.oid = inhparent
     )
     SELECT 'trigger ' || tgname || ' on ' || name FROM pg_trigger JOIN ours ON ours.oid = tgrelid
        WHERE NOT tgisinternal
     UNION ALL
     SELECT 'rule ' || rulename || ' on ' || name FROM pg_rewrite JOIN ours ON ours.oid = ev_class
        WHERE rulename <> '_RETURN'
     UNION ALL
     SELECT 'policy ' || polname || ' on ' || name FROM pg_policy JOIN ours ON ours.oid = polrelid
     UNION ALL
     SELECT 'row security on ' || name FROM pg_class JOIN ours USING (oid) WHERE relrowsecurity
     UNION ALL
     SELECT 'constraint ' || conname || ' on ' || name FROM pg_constraint
        JOIN ours ON ours.oid = conrelid WHERE contype NOT IN ('p', 'u', 'n')
     UNION ALL
     SELECT 'table ' || relname || ' inherits from ' || name FROM pg_class JOIN ours USING (oid)
        WHERE relname <> name AND NOT relispartition AND relkind IN ('r', 'f')";

/// Views and functions, as the server writes them.
const TEXTS: &str = "SELECT 'view ' || relname, pg_get_viewdef(oid) FROM pg_class
        WHERE relnamespace = $1 AND relname LIKE ANY($3) AND relkind = 'v'
     UNION ALL
     SELECT 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ')',
        concat_ws(' ', provolatile, proparallel, prosecdef, array_to_string(proconfig, ' '),
            pg_get_function_result(oid), coalesce(pg_get_function_sqlbody(oid), prosrc))
     FROM pg_proc WHERE pronamespace = $1 AND proname LIKE 'runtape\\_%'";

/// Names of views that are ours.
fn views() -> Vec<&'static str> {
    vec!["v\\_%", "counted\\_%"]
}

/// Describes the schema in lines.
fn describe(pg: &Postgres, with_texts: bool) -> Result<BTreeSet<String>> {
    let sql = "SELECT oid, nspname::text FROM pg_namespace WHERE oid = (
                   SELECT relnamespace FROM pg_class WHERE oid = 'runtape'::regclass)";
    let mut lines = BTreeSet::new();
    let Some(row) = pg.row(sql, &[])? else {
        return Ok(lines);
    };
    let schema: u32 = get(&row, 0)?;
    let name = text(&row, 1)?;
    let (tables, views) = (tables(), views());
    for (sql, with_name) in [(COLUMNS, false), (INDEXES, true), (ADDED, false)] {
        let rows = if with_name {
            pg.rows(&sql.replace("$4", "$3::text"), &[&schema, &tables, &name])?
        } else {
            pg.rows(sql, &[&schema, &tables, &views])?
        };
        for row in &rows {
            lines.insert(text(row, 0)?);
        }
    }
    for row in pg.rows(&TEXTS.replace("$3", "$2"), &[&schema, &views])? {
        let (what, definition) = (text(&row, 0)?, text(&row, 1)?);
        let definition = definition.replace(&format!("{name}."), "");
        let hash = blake3::hash(definition.as_bytes()).to_hex();
        lines.insert(if with_texts {
            format!("{what} is {hash}")
        } else {
            what
        });
    }
    Ok(lines)
}

/// Returns how a line differs without what a definition is: what of it was compared.
fn without_text(line: &str) -> &str {
    line.split_once(" is ").map_or(line, |(what, _)| what)
}

/// Returns the view that a line is about, if it is about one.
fn view_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("view ")?;
    rest.split(['.', ' ']).next()
}

/// Names what is extra, missing or changed in the schema, compared with what the migrations make.
pub(in crate::postgres) fn structure(pg: &Postgres) -> Result<Vec<String>> {
    let row = pg.row(
        "SELECT current_setting('server_version_num')::integer / 10000",
        &[],
    )?;
    let version: i32 = row.map_or(Ok(0), |row| get(&row, 0))?;
    let with_texts = KNOWN_WAYS.contains(&version);
    let found = describe(pg, with_texts)?;
    let expected = EXPECTED.lines().filter(|line| !line.is_empty());
    let expected: BTreeSet<String> = expected
        .map(|line| if with_texts { line } else { without_text(line) })
        .map(str::to_owned)
        .collect();
    // What is there in another way than all that are known is not missing, it was changed.
    let there: BTreeSet<&str> = found.iter().map(|line| without_text(line)).collect();
    let missing: BTreeSet<&str> = expected
        .difference(&found)
        .map(|line| without_text(line))
        .filter(|what| !there.contains(what))
        .collect();
    let mut faults: Vec<String> = missing
        .into_iter()
        .map(|what| format!("the schema has no {what}"))
        .collect();
    let views: BTreeSet<&str> = expected.iter().filter_map(|line| view_of(line)).collect();
    // A view of somebody's own is nobody's business.
    let is_ours = |line: &&String| view_of(line).is_none_or(|view| views.contains(view));
    let extra = found.difference(&expected).filter(is_ours);
    faults.extend(extra.map(|line| {
        let line = without_text(line);
        let is_changed = expected
            .iter()
            .any(|expected| without_text(expected) == line);
        if is_changed {
            format!("the schema's {line} was changed")
        } else {
            format!("the schema has an extra {line}")
        }
    }));
    if faults.len() > MOST_NAMED {
        let more = faults.split_off(MOST_NAMED).len();
        faults.push(format!("the schema has {more} more differences"));
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a fresh database is like, as it is written in the file. `RUNTAPE_DESCRIBE=1` writes the file, and
    /// `RUNTAPE_DESCRIBE=add` adds to it how another version of the server writes views and functions.
    #[cfg(unix)]
    #[test]
    fn a_fresh_database_is_as_described() {
        use runtape_tests::postgres::{Database, Layout};
        for layout in [Layout::Whole, Layout::Partitioned] {
            let Some(database) = Database::fresh(layout) else {
                return;
            };
            let pg = Postgres::open(database.address(), &crate::Options::default()).unwrap();
            if let (Layout::Whole, Some(how)) = (layout, std::env::var_os("RUNTAPE_DESCRIBE")) {
                let path = concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/src/postgres/check/structure.txt"
                );
                let mut lines = describe(&pg, true).unwrap();
                if how == "add" {
                    let known = std::fs::read_to_string(path).unwrap();
                    lines.extend(known.lines().map(str::to_owned));
                }
                let lines: Vec<String> = lines.into_iter().collect();
                std::fs::write(path, lines.join("\n") + "\n").unwrap();
                return;
            }
            assert_eq!(structure(&pg).unwrap(), Vec::<String>::new(), "{layout:?}");
        }
    }
}
