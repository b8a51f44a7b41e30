//! `runtape renormalize`: old tapes, new parser.

use runtape_core::Runtime;
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_recorder::ReadAs;

use crate::arguments::filter::{AUTO, FilterWords, parse_runtime_or_auto};
use crate::arguments::words::WordParser;
use crate::commands::Invocation;
use crate::commands::scan::roots;
use crate::error::{CliError, with_causes};
use crate::terminal::table::{Cell, Table, plural};
use crate::terminal::times;

/// Make the records of runs anew from their tapes with the current parser
///
/// With --runtime, runs that were stored under another runtime are read as that one's: an agent that a script
/// ran, and whose runtime nobody told. A run keeps its id. Where nothing changes, nothing is written; a replaced run
/// leaves its seal as a tombstone. A run whose tape was dropped, or that came without one, is named and left as it is;
/// the others are read again, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(mut_arg("runtime", |arg| arg
    .help("Read the named runs as this runtime's; `auto` finds it in the output of generic runs, all of them if none are named")
    .help_heading(None)
    .value_parser(WordParser::new(parse_runtime_or_auto, words))))]
pub(crate) struct RenormalizeArgs {
    /// The runs: ids, beginnings of ids, or `last`
    #[arg(value_name = "RUN", conflicts_with = "all")]
    runs: Vec<String>,
    /// Every finished run; with filters, those that they let through, as without --all
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: FilterWords,
}

/// Returns the runtimes that shells complete.
fn words() -> Vec<&'static str> {
    let runtimes = RUNTIMES.iter().map(|entry| entry.runtime.as_str());
    runtimes.chain([AUTO]).collect()
}

impl RenormalizeArgs {
    /// Returns which runs are read again, and as which runtime's.
    fn wanted(&self) -> Result<(FilterWords, ReadAs), CliError> {
        let mut filter = self.filter.clone();
        let usage = |message: &str| {
            let message = message.to_owned();
            Err(CliError::Usage { message })
        };
        match filter.take_runtime() {
            Some(runtime) if runtime.as_str() == AUTO => {
                if self.runs.is_empty() {
                    filter = filter.with_runtime(Runtime::Generic);
                }
                Ok((filter, ReadAs::Detected))
            }
            Some(_) if self.runs.is_empty() => {
                usage("name the runs that are to be read as another runtime's, or --runtime auto")
            }
            Some(runtime) => Ok((filter, ReadAs::Named(runtime))),
            None if self.runs.is_empty() && filter.is_empty() && !self.all => {
                usage("name runs, or filters such as --since 1d, or --all")
            }
            None => Ok((filter, ReadAs::Same)),
        }
    }
}

pub(crate) fn run(args: &RenormalizeArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let (filter, read_as) = args.wanted()?;
    let mut store = invocation.database.open_existing()?;
    let runs = roots(&store, &args.runs, &filter, |run| run.seal.is_some())?;
    let mut table = Table::new(&["run", "runtime", "same", "changed", "added", "removed"]);
    let (mut changed, mut failed) = (0, 0);
    for run in &runs {
        // A run that cannot be read again stays as it is, and the others need not wait for it.
        let report = match runtape_recorder::renormalize_as(&mut store, run, &read_as, times::now())
        {
            Ok(report) => report,
            Err(error) => {
                failed += 1;
                invocation.warn(&format!("run {run}: {}", with_causes(&error)));
                continue;
            }
        };
        changed += usize::from(report.is_changed());
        if invocation.console.json {
            invocation.console.object(&report)?;
        } else if report.is_changed() || !args.runs.is_empty() {
            table.row(vec![
                Cell::id(run),
                Cell::text(report.runtime.as_str()),
                Cell::number(report.same),
                Cell::number(report.changed),
                Cell::number(report.added),
                Cell::number(report.removed),
            ]);
        }
    }
    if !invocation.console.json && table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    invocation.note(&format!(
        "{} read again, {changed} replaced",
        plural(runs.len() - failed, "run")
    ));
    if failed > 0 {
        return Err(CliError::Unread {
            count: failed,
            of: runs.len(),
        });
    }
    Ok(())
}
