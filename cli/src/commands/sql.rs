//! `runtape sql`: any question, read-only.

use std::io::{IsTerminal, Read, Write};

use runtape_core::report::SqlRow;
use runtape_store::Store;
use serde_json::{Map, Value};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// Rows that a table for people is laid out from; more are left to --json, --csv and --tsv.
const ROWS: usize = 10_000;

/// The longest query that is read from standard input.
const LONGEST_QUERY: u64 = 16 << 20;

/// Ask the database a question in SQL; nothing can be changed
///
/// The views `v_runs`, `v_jobs`, `v_steps`, `v_checkpoints`, `v_tool_calls`, `v_files`, `v_errors`,
/// `v_usage_daily`, `v_notices` and `v_unparsed` have stable columns. In a pipe nothing is cut. Of columns with the same
/// name, the second is called `name:2`.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// The query; without one, or with -, it is read from standard input
    #[arg(value_name = "QUERY")]
    query: Option<String>,
    /// Print comma-separated values with a head, as in RFC 4180
    #[arg(long, conflicts_with = "tsv")]
    csv: bool,
    /// Print tab-separated values with a head; tabs, line breaks and backslashes are \\t, \\n, \\r and \\\\
    #[arg(long)]
    tsv: bool,
}

pub(crate) fn run(args: &SqlArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let query = match args.query.as_deref() {
        Some(query) if query != "-" => query.to_owned(),
        named => read_query(named.is_some())?,
    };
    let store = invocation.database.read()?;
    let console = &mut invocation.console;
    if args.csv || args.tsv {
        let quote = if args.csv { csv_field } else { tsv_field };
        let separator = if args.csv { "," } else { "\t" };
        let ending = if args.csv { "\r\n" } else { "\n" };
        return separated(&store, &query, console.out, |fields| {
            let fields: Vec<String> = fields.iter().map(|field| quote(field)).collect();
            format!("{}{ending}", fields.join(separator))
        });
    }
    if console.json {
        let mut result = Ok(());
        store.query(&query, |row| {
            result = console.object(&SqlRow(row));
            result.is_ok()
        })?;
        return result;
    }
    let mut rows = Vec::new();
    store.query(&query, |row| {
        rows.push(row);
        rows.len() <= ROWS
    })?;
    let more = rows.len() > ROWS;
    rows.truncate(ROWS);
    table(&rows).print(console)?;
    if more {
        invocation.note("there are more: --json, --csv and --tsv print all");
    }
    Ok(())
}

/// Reads a query from standard input; from a terminal only where somebody asked for that.
fn read_query(is_asked: bool) -> Result<String, CliError> {
    let stdin = std::io::stdin();
    let mut query = String::new();
    if is_asked || !stdin.is_terminal() {
        stdin
            .lock()
            .take(LONGEST_QUERY)
            .read_to_string(&mut query)?;
    }
    if query.trim().is_empty() {
        let message = "write a query, or give one on standard input".to_owned();
        return Err(CliError::Usage { message });
    }
    Ok(query)
}

/// Writes rows as lines of fields, the names of the columns first.
fn separated(
    store: &Store,
    query: &str,
    out: &mut dyn Write,
    line: impl Fn(&[String]) -> String,
) -> Result<(), CliError> {
    let mut result = Ok(());
    let mut is_first = true;
    store.query(query, |row| {
        if std::mem::take(&mut is_first) {
            let names: Vec<String> = row.keys().cloned().collect();
            result = out.write_all(line(&names).as_bytes());
        }
        if result.is_ok() {
            let values: Vec<String> = row.values().map(text).collect();
            result = out.write_all(line(&values).as_bytes());
        }
        result.is_ok()
    })?;
    Ok(result?)
}

/// Writes a value as text; null is empty.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Quotes a field as RFC 4180 has it.
fn csv_field(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

fn tsv_field(field: &str) -> String {
    let field = field.replace('\\', "\\\\").replace('\t', "\\t");
    field.replace('\n', "\\n").replace('\r', "\\r")
}

fn table(rows: &[Map<String, Value>]) -> Table {
    let head: Option<Vec<String>> = rows.first().map(|row| row.keys().cloned().collect());
    let mut table = Table::with_head(&head.unwrap_or_default()).with_all_columns();
    for row in rows {
        let cells = row.values().map(|value| match value {
            Value::Null => Cell::text(""),
            Value::String(text) => Cell::text(text),
            other => Cell::number(other),
        });
        table.row(cells.collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (field, csv, tsv) in [
            ("plain", "plain", "plain"),
            ("a,b", "\"a,b\"", "a,b"),
            ("say \"hi\"", "\"say \"\"hi\"\"\"", "say \"hi\""),
            ("two\nlines", "\"two\nlines\"", "two\\nlines"),
            ("a\tb\\", "a\tb\\", "a\\tb\\\\"),
            ("", "", ""),
        ] {
            assert_eq!(csv_field(field), csv);
            assert_eq!(tsv_field(field), tsv);
        }
    }
}
