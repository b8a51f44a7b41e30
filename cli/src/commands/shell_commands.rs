//! `runtape commands`: which shell commands ran.

use runtape_core::report::ShellEffects;
use runtape_store::CallSubject;

use crate::arguments::calls::{CallArgs, result_cell, took_cell};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table, plural};
use crate::terminal::times;

/// Show which shell commands ran, of all runtimes
///
/// Beside each stands what its words tell of it: files that it reads (r), writes (w) or deletes (d), hosts
/// that it reaches (h), and ? where its words do not tell (variables, patterns, scripts).
///
/// Some runtimes print no more than a summary of some commands: how many such calls there are is said
/// on standard error, and `runtape tools --class shell --calls` lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct CommandsArgs {
    #[command(flatten)]
    selection: CallArgs,
}

pub(crate) fn run(args: &CommandsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut filter = args.selection.to_filter(&store)?;
    filter.subject = Some(CallSubject::Command);
    let limit = args.selection.limit(&invocation.console);
    let mut calls = CallArgs::calls(&store, &filter, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut calls, limit);
    filter.subject = Some(CallSubject::UntoldCommand);
    let untold = store.tools(&filter, usize::MAX)?;
    let untold: u64 = untold.iter().map(|tool| tool.calls).sum();
    if untold > 0 {
        let calls = plural(untold, "call");
        invocation.note(&format!(
            "{calls} of a shell do not tell their command: runtape tools --class shell --calls"
        ));
    }
    invocation.found("shell commands", &calls)?;
    let console = &mut invocation.console;
    if console.json {
        return calls.iter().try_for_each(|call| console.object(call));
    }
    let mut table = Table::new(&[
        "at",
        "run",
        "command",
        "result",
        "took",
        "runtime",
        "step",
        "by its words",
        "directory",
    ])
    .keep("command", 30);
    let now = times::now();
    for call in &calls {
        table.row(vec![
            Cell::time(call.at),
            Cell::run(&call.run_id),
            Cell::maybe(call.command.as_deref()),
            result_cell(call),
            took_cell(call, now),
            Cell::text(call.runtime.as_str()),
            Cell::number(call.step),
            Cell::maybe(call.shell.as_ref().map(words_of).as_deref()),
            Cell::maybe(call.cwd.as_deref()),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}

/// Writes what a command does in few words, what matters most first.
fn words_of(effects: &ShellEffects) -> String {
    let lists = [
        ("d", &effects.deleted),
        ("w", &effects.written),
        ("h", &effects.hosts),
        ("r", &effects.read),
    ];
    let mut words: Vec<String> = Vec::new();
    for (word, list) in lists {
        words.extend(list.iter().map(|name| format!("{word} {name}")));
    }
    if effects.untold_files + effects.untold_hosts > 0 {
        words.insert(0, "?".to_owned());
    }
    words.join(", ")
}
