//! `runtape tools`: which tools were called.

use runtape_core::ToolClass;
use runtape_core::report::ToolCallInfo;

use crate::arguments::calls::{CallArgs, about, errors_cell, parse_class, result_cell, took_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};
use crate::terminal::times;

/// Show which tools were called, how often, and how often they failed
///
/// A tool's class says what it is for, whatever its runtime calls it. Runs that were recorded before
/// there were classes have none, until `runtape renormalize` makes their records anew.
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    /// Show each call
    #[arg(long)]
    calls: bool,
    /// Only tools of this class: shell, read, write, search, network, delegate, publish, schedule, mcp or
    /// other
    #[arg(long, value_name = "CLASS", value_parser = parse_class)]
    class: Option<ToolClass>,
    #[command(flatten)]
    selection: CallArgs,
}

pub(crate) fn run(args: &ToolsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut filter = args.selection.to_filter(&store)?;
    filter.class = args.class;
    let limit = args.selection.limit(&invocation.console);
    if args.calls {
        let mut calls = CallArgs::calls(&store, &filter, limit.saturating_add(1))?;
        let has_more = invocation.cut(&mut calls, limit);
        print_calls(&calls, invocation)?;
        if has_more {
            invocation.more();
        }
        return Ok(());
    }
    let mut tools = store.tools(&filter, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut tools, limit);
    invocation.found("tool calls", &tools)?;
    let console = &mut invocation.console;
    if console.json {
        return tools.iter().try_for_each(|tool| console.object(tool));
    }
    let mut table = Table::new(&[
        "runtime",
        "tool",
        "class",
        "calls",
        "failed",
        "no result",
        "runs",
        "mean",
        "last",
    ]);
    for tool in &tools {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a mean of milliseconds, for people"
        )]
        let mean = tool.mean_ms.map(|mean| times::duration(mean as i64));
        table.row(vec![
            Cell::text(tool.runtime.as_str()),
            Cell::text(&tool.tool).toned(Tone::Name),
            Cell::maybe(tool.class.map(ToolClass::as_str)),
            Cell::number(tool.calls),
            errors_cell(tool.errors),
            Cell::number(tool.unanswered),
            Cell::number(tool.runs),
            Cell::number(mean.unwrap_or_default()),
            Cell::time(tool.last_at),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

fn print_calls(calls: &[ToolCallInfo], invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    invocation.found("tool calls", calls)?;
    let console = &mut invocation.console;
    if console.json {
        return calls.iter().try_for_each(|call| console.object(call));
    }
    let mut table = Table::new(&[
        "at", "run", "step", "tool", "class", "result", "took", "about",
    ]);
    let now = times::now();
    for call in calls {
        table.row(vec![
            Cell::time(call.at),
            Cell::run(&call.run_id),
            Cell::number(call.step),
            Cell::text(&call.tool),
            Cell::maybe(call.class.map(ToolClass::as_str)),
            result_cell(call),
            took_cell(call, now),
            Cell::maybe(about(call)),
        ]);
    }
    table.print(console)
}
