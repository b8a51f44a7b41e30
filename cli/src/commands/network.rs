//! `runtape network`: what had to do with the network.

use runtape_core::report::NetworkCall;
use runtape_store::NamePattern;

use crate::arguments::calls::{CallArgs, errors_cell, result_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Show which hosts tools fetched from, and which ones shell commands name
///
/// Of a fetch the host is known. Of a shell command it is guessed: it may name a host that it never
/// reaches, and reach one that it never names (as `npm install` does). Searches name no host.
#[derive(Debug, clap::Args)]
pub(crate) struct NetworkArgs {
    /// Only this host; * and ? stand for any characters and any one
    #[arg(value_name = "HOST|GLOB")]
    host: Option<String>,
    /// Show each call
    #[arg(long)]
    calls: bool,
    #[command(flatten)]
    selection: CallArgs,
}

pub(crate) fn run(args: &NetworkArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let filter = args.selection.to_filter(&store)?;
    let host = args.host.as_deref().map(NamePattern::new);
    let limit = args.selection.limit(&invocation.console);
    if args.calls {
        let mut calls = Vec::new();
        store.each_network_call(&filter, host.as_ref(), |call| {
            calls.push(call);
            calls.len() <= limit
        })?;
        let has_more = invocation.cut(&mut calls, limit);
        print_calls(&calls, invocation)?;
        if has_more {
            invocation.more();
        }
        return Ok(());
    }
    let mut hosts = store.hosts(&filter, host.as_ref(), limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut hosts, limit);
    invocation.found("uses of the network", &hosts)?;
    let console = &mut invocation.console;
    if console.json {
        return hosts.iter().try_for_each(|host| console.object(host));
    }
    let mut table = Table::new(&[
        "host", "known by", "calls", "failed", "runs", "tools", "last", "last run",
    ]);
    for host in &hosts {
        table.row(vec![
            Cell::maybe(host.host.as_deref()).toned(Tone::Name),
            known_by(host.host.as_deref(), host.is_guessed),
            Cell::number(host.calls),
            errors_cell(host.errors),
            Cell::number(host.runs),
            Cell::text(&host.tools.join(", ")),
            Cell::time(host.last_at),
            Cell::run(&host.run_id),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

fn print_calls(calls: &[NetworkCall], invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    invocation.found("uses of the network", calls)?;
    let console = &mut invocation.console;
    if console.json {
        return calls.iter().try_for_each(|call| console.object(call));
    }
    let mut table = Table::new(&[
        "at", "run", "step", "host", "known by", "tool", "result", "about",
    ]);
    for NetworkCall {
        host,
        is_guessed,
        call,
    } in calls
    {
        table.row(vec![
            Cell::time(call.at),
            Cell::run(&call.run_id),
            Cell::number(call.step),
            Cell::maybe(host.as_deref()).toned(Tone::Name),
            known_by(host.as_deref(), *is_guessed),
            Cell::text(&call.tool),
            result_cell(call),
            Cell::maybe(call.url.as_deref().or(call.command.as_deref())),
        ]);
    }
    table.print(console)
}

/// Says how a use is known: by an address, by the words of a command, or by the call alone, such as a
/// search.
fn known_by(host: Option<&str>, is_guessed: bool) -> Cell {
    match (host, is_guessed) {
        (_, true) => Cell::word("guess").toned(Tone::Warning),
        (Some(_), false) => Cell::word("fetch"),
        (None, false) => Cell::word("call"),
    }
}
