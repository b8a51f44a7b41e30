//! `runtape stats`: how much there is, and what it takes.

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, bytes, thousands};

/// Tables and indexes shown to people.
const TABLES: usize = 12;

/// Count what there is, and what it takes on disk
#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {}

pub(crate) fn run(_: &StatsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let stats = store.stats()?;
    let path = invocation.database.name();
    let console = &mut invocation.console;
    if console.json {
        return console.object(&stats);
    }
    let count = |count: u64| thousands(i64::try_from(count).unwrap_or(i64::MAX));
    let rows = [
        ("database", path),
        ("jobs", count(stats.jobs)),
        ("runs", count(stats.runs)),
        ("open runs", count(stats.open_runs)),
        ("records", count(stats.records)),
        ("output on tapes", bytes(stats.tape_bytes)),
        ("size", bytes(stats.database_bytes)),
        ("of it search", bytes(stats.search_bytes)),
        ("of it unused", bytes(stats.free_bytes)),
    ];
    for (name, value) in rows {
        let name = console.paint(Tone::Faint, &format!("{name:>16}"));
        console.line(&format!(
            "{name}  {}",
            crate::terminal::plain::one_line(&value)
        ))?;
    }
    console.line("")?;
    let mut table = Table::new(&["table", "size"]);
    for entry in stats.tables.iter().take(TABLES) {
        table.row(vec![
            Cell::text(&entry.name),
            Cell::number(bytes(entry.bytes)),
        ]);
    }
    table.print(console)
}
