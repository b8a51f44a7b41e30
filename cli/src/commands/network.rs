//! `runtape network`: what had to do with the network.

use runtape_core::report::{KnownBy, NetworkCall};
use runtape_store::NamePattern;

use crate::arguments::calls::{CallArgs, errors_cell, result_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table, plural};

/// Show which hosts tools fetched from, and which ones shell commands name
///
/// Of a fetch the host is known. Of a shell command it is known by its words: the host of a program such
/// as curl, ssh or git (`shell`), or of an address anywhere in it (`guess`). A command may name a host that
/// it never reaches, and reach one that it never names, as `npm install` does. Searches name no host, nor
/// does what is published. How many commands do not tell their host is said on standard error.
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
    let untold = store.untold_commands(&filter)?.hosts;
    if untold > 0 {
        let commands = plural(untold, "command");
        invocation.note(&format!(
            "{commands} could not be read for all hosts (variables, remotes, scripts): runtape commands"
        ));
    }
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
            known_by_cell(host.host.as_deref(), host.known_by),
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
        known_by,
        call,
        ..
    } in calls
    {
        table.row(vec![
            Cell::time(call.at),
            Cell::run(&call.run_id),
            Cell::number(call.step),
            Cell::maybe(host.as_deref()).toned(Tone::Name),
            known_by_cell(host.as_deref(), *known_by),
            Cell::text(&call.tool),
            result_cell(call),
            Cell::maybe(call.url.as_deref().or(call.command.as_deref())),
        ]);
    }
    table.print(console)
}

/// Says how a use is known: by an address, by the words of a command, or by the call alone, such as a
/// search.
fn known_by_cell(host: Option<&str>, known_by: Option<KnownBy>) -> Cell {
    match (host, known_by) {
        (_, Some(known_by)) => Cell::word(known_by.as_str()).toned(Tone::Warning),
        (Some(_), None) => Cell::word("fetch"),
        (None, None) => Cell::word("call"),
    }
}
