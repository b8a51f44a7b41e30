//! `runtape search`: full text over messages, tool inputs and outputs, errors and notices.

use runtape_core::report::{SearchHit, SearchedRun};
use runtape_store::{Search, SearchMode, StoreError};

use crate::arguments::filter::FilterArgs;
use crate::commands::{Invocation, search_index};
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::{cut, cut_around};
use crate::terminal::plain;
use crate::terminal::table::{plural, short};
use crate::terminal::times;

/// Search what was said, what tools were given and gave back, errors and notices
///
/// Words must all be there, in any case, with or without accents. "a phrase", pre*, AND, OR, NOT and ( ) do what
/// they say; said:, input:, output: or notice: before a word looks only there. Anything else, such as a path, an
/// option or half a line of code, is found as it stands.
///
/// A word is a whole word. If none is found, or with --scan, parts of words are: then, as with --regex, all records are
/// read, on all cores. The latest run comes first. Give what stands before the role to show or transcript.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Find parts of words, too
    #[arg(long, conflicts_with = "regex")]
    scan: bool,
    /// The query is a regular expression, as the Rust crate `regex` has them; (?i) ignores case
    #[arg(long)]
    regex: bool,
    /// Show each run once, with the number of its records
    #[arg(long)]
    runs: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn run(args: &SearchArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mode = match (args.scan, args.regex) {
        (_, true) => SearchMode::Pattern,
        (true, _) => SearchMode::Parts,
        _ => SearchMode::Words,
    };
    let refused = |message: String| CliError::Usage { message };
    let search = Search::new(&args.query.join(" "), mode).map_err(|error| match error {
        StoreError::BadPattern { fault } => refused(format!("--regex: {fault}")),
        other => other.into(),
    })?;
    if search.is_empty() {
        return Err(refused("there is nothing to look for in that".to_owned()));
    }
    // A search completes its index first, which takes writing.
    let store = invocation.database.open_for_search()?;
    search_index::complete(&store, invocation);
    let filter = args.filter.to_filter(&store)?;
    let limit = args.filter.limit(&invocation.console);
    let mut printer = Printer {
        console: &mut invocation.console,
        run: None,
        limit,
        by_run: args.runs,
        printed: 0,
        is_more: false,
    };
    let mut failed = None;
    let end = store.each_hit(&search, &filter, |hit| {
        printer.take(hit).unwrap_or_else(|error| {
            failed = Some(error);
            false
        })
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    printer.close()?;
    let is_more = printer.is_more;
    if !end.is_found {
        return Err(CliError::NothingFound { what: "matches" });
    }
    if end.are_parts {
        invocation.note("no whole word was found: these are parts of words");
    }
    if is_more {
        invocation.more();
    }
    Ok(())
}

/// Prints hits as they come.
struct Printer<'a, 'b> {
    console: &'a mut Console<'b>,
    /// The run whose hits come, if each is printed once.
    run: Option<SearchedRun>,
    limit: usize,
    by_run: bool,
    printed: usize,
    is_more: bool,
}

impl Printer<'_, '_> {
    /// Takes the next hit; returns whether another one is wanted.
    fn take(&mut self, hit: SearchHit) -> Result<bool, CliError> {
        if let Some(run) = &mut self.run {
            if run.run_id == hit.run_id {
                run.hits += 1;
                return Ok(true);
            }
            self.close()?;
        }
        if self.printed == self.limit {
            self.is_more = true;
            return Ok(false);
        }
        if self.by_run {
            self.run = Some(SearchedRun {
                job_id: hit.job_id.clone(),
                run_id: hit.run_id.clone(),
                runtime: hit.runtime.clone(),
                hits: 1,
                latest: hit,
            });
            return Ok(true);
        }
        self.printed += 1;
        if self.console.json {
            self.console.object(&hit)?;
        } else {
            let reference = format!("{}#{}", short(&hit.run_id), hit.seq);
            let about = format!("{}, step {}, {}", hit.role.as_str(), hit.step, hit.runtime);
            self.line(&hit, &reference, &about)?;
        }
        self.console.out.flush()?;
        Ok(true)
    }

    /// Prints the run whose hits came.
    fn close(&mut self) -> Result<(), CliError> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        self.printed += 1;
        if self.console.json {
            self.console.object(&run)?;
        } else {
            let about = format!("{}, {}", plural(run.hits, "record"), run.runtime);
            self.line(&run.latest, short(&run.run_id), &about)?;
        }
        Ok(self.console.out.flush()?)
    }

    fn line(&mut self, hit: &SearchHit, reference: &str, about: &str) -> Result<(), CliError> {
        let console = &mut *self.console;
        let time = times::minute(hit.at);
        let taken = time.len() + 2 + reference.chars().count() + 2;
        let about = cut(&plain::one_line(about), console.width.saturating_sub(taken));
        let time = console.paint(Tone::Faint, &time);
        let reference = console.paint(Tone::Name, reference);
        let about = console.paint(Tone::Faint, &about);
        console.line(format!("{time}  {reference}  {about}").trim_end())?;
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
        console.line(format!("    {text}").trim_end())
    }
}
