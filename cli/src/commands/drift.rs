//! `runtape drift`: how a change in a CLI's format is seen.

use runtape_core::report::DriftKind;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, short};

/// Show output that was not understood, by kind: lines of unknown types, and unknown keys
///
/// `runtape raw RUN:RECORD` shows the line of an example.
#[derive(Debug, clap::Args)]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &DriftArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let limit = args.filter.limit(&invocation.console);
    let mut found = store.drift(&args.filter.to_filter(&store)?, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut found, limit);
    invocation.found("output that was not understood", &found)?;
    let console = &mut invocation.console;
    if console.json {
        return found.iter().try_for_each(|drift| console.object(drift));
    }
    let mut table = Table::new(&[
        "runtime", "version", "what", "type", "times", "runs", "example", "reason", "excerpt",
    ]);
    for drift in &found {
        table.row(vec![
            Cell::text(drift.runtime.as_str()),
            Cell::maybe(drift.cli_version.as_deref()),
            Cell::text(match drift.kind {
                DriftKind::Line => "line",
                DriftKind::Key => "key",
            }),
            Cell::maybe(drift.tag.as_deref()).toned(Tone::Warning),
            Cell::number(drift.lines),
            Cell::number(drift.runs),
            Cell::id(match drift.kind {
                DriftKind::Line => format!("{}:{}", short(&drift.run_id), drift.seq),
                DriftKind::Key => short(&drift.run_id).to_owned(),
            }),
            Cell::text(match drift.kind {
                DriftKind::Line => &drift.reason,
                DriftKind::Key => "",
            }),
            Cell::maybe(drift.excerpt.as_deref()),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}
