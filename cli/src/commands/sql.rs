//! `runtape sql`: any question, read-only.

use runtape_core::report::SqlRow;
use serde_json::{Map, Value};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// Rows that a table for people is laid out from; more are left to --json.
const ROWS: usize = 10_000;

/// Ask the database a question in SQL; nothing can be changed
///
/// The views `v_runs`, `v_jobs`, `v_steps`, `v_checkpoints`, `v_tool_calls`, `v_files`, `v_errors`,
/// `v_usage_daily`, `v_notices` and `v_unparsed` have stable columns.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// The query
    #[arg(value_name = "QUERY")]
    query: String,
}

pub(crate) fn run(args: &SqlArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let console = &mut invocation.console;
    if console.json {
        let mut result = Ok(());
        store.query(&args.query, |row| {
            result = console.object(&SqlRow(row));
            result.is_ok()
        })?;
        return result;
    }
    let mut rows = Vec::new();
    store.query(&args.query, |row| {
        rows.push(row);
        rows.len() <= ROWS
    })?;
    let more = rows.len() > ROWS;
    rows.truncate(ROWS);
    table(&rows).print(console)?;
    if more {
        invocation.note("there are more: --json prints all");
    }
    Ok(())
}

fn table(rows: &[Map<String, Value>]) -> Table {
    let head: Option<Vec<String>> = rows.first().map(|row| row.keys().cloned().collect());
    let mut table = Table::with_head(&head.unwrap_or_default());
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
