//! `runtape tools`: which tools were called.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};
use crate::terminal::times;

/// Show which tools were called, how often, and how often they failed
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    /// Show each call
    #[arg(long)]
    calls: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &ToolsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let filter = args.filter.to_filter(&store)?;
    if args.calls {
        let calls = store.tool_calls(&filter, args.filter.limit())?;
        invocation.found("tool calls", &calls)?;
        let console = &mut invocation.console;
        if console.json {
            return calls.iter().try_for_each(|call| console.object(call));
        }
        let mut table = Table::new(&["at", "run", "step", "tool", "result", "took", "about"]);
        for call in &calls {
            let (result, tone) = match (call.is_error, call.result_seq) {
                (Some(true), _) => ("failed", Tone::Bad),
                (_, None) => ("none", Tone::Warning),
                _ => ("done", Tone::Good),
            };
            let about = call
                .command
                .as_deref()
                .or(call.path.as_deref())
                .or(call.url.as_deref());
            table.row(vec![
                Cell::time(call.at),
                Cell::run(&call.run_id),
                Cell::number(call.step),
                Cell::text(&call.tool),
                Cell::text(result).toned(tone),
                Cell::number(call.duration_ms.map(times::duration).unwrap_or_default()),
                Cell::maybe(about),
            ]);
        }
        return table.print(console);
    }
    let tools = store.tools(&filter, args.filter.limit())?;
    invocation.found("tool calls", &tools)?;
    let console = &mut invocation.console;
    if console.json {
        return tools.iter().try_for_each(|tool| console.object(tool));
    }
    let mut table = Table::new(&[
        "runtime",
        "tool",
        "calls",
        "failed",
        "no result",
        "runs",
        "mean",
        "last",
    ]);
    for tool in &tools {
        let tone = if tool.errors > 0 {
            Tone::Bad
        } else {
            Tone::Plain
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a mean of milliseconds, for people"
        )]
        let mean = tool.mean_ms.map(|mean| times::duration(mean as i64));
        table.row(vec![
            Cell::text(tool.runtime.as_str()),
            Cell::text(&tool.tool).toned(Tone::Name),
            Cell::number(tool.calls),
            Cell::number(tool.errors).toned(tone),
            Cell::number(tool.unanswered),
            Cell::number(tool.runs),
            Cell::number(mean.unwrap_or_default()),
            Cell::time(tool.last_at),
        ]);
    }
    table.print(console)
}
