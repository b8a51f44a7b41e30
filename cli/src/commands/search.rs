//! `runtape search`: full text over messages, tool inputs and outputs.

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::fit::cut_around;
use crate::terminal::plain;
use crate::terminal::table::short;

/// Search what was said, what tools were given and what they gave back
///
/// Words must all be there; "a phrase", pre*, AND, OR, NOT, ( ), and said:, input: or output: before a
/// word to look only there.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &SearchArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    // A search completes its index first, which takes writing.
    let store = invocation.database.open_for_search()?;
    let query = args.query.join(" ");
    let page = store.search(
        &query,
        &args.filter.to_filter(&store)?,
        None,
        args.filter.limit(),
    )?;
    invocation.found("matches", &page.items)?;
    let console = &mut invocation.console;
    if console.json {
        return page.items.iter().try_for_each(|hit| console.object(hit));
    }
    for hit in &page.items {
        let run = console.paint(Tone::Name, short(&hit.run_id));
        let place = console.paint(
            Tone::Faint,
            &format!("step {}, record {}, {}", hit.step, hit.seq, hit.runtime),
        );
        console.line(&format!("{run}  {place}"))?;
        let pieces = hit.snippet.iter().map(|part| {
            let piece = plain::lines(&part.text).replace(['\n', '\t'], " ");
            (piece, part.is_match)
        });
        let room = console.width.saturating_sub(4);
        let mut text = String::new();
        for (piece, is_match) in cut_around(pieces.collect(), room) {
            let tone = if is_match { Tone::Bad } else { Tone::Plain };
            text.push_str(&console.paint(tone, &piece));
        }
        console.line(format!("    {text}").trim_end())?;
    }
    if page.next.is_some() {
        invocation.more();
    }
    Ok(())
}
