//! `runtape export`: runs for elsewhere.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use runtape_core::report::{AppliedRules, ExportedFile, RunSeal};
use runtape_core::{JobId, Materializer, RunId};
use runtape_recorder::perstack::{Existing, export_job};
use runtape_recorder::{NewFile, WrittenFile, rules_applied_to};
use runtape_store::Store;

use crate::arguments::filter::TraitWords;
use crate::commands::Invocation;
use crate::database::{resolve_job, resolve_run};
use crate::error::CliError;
use crate::terminal::table::{bytes, plural};

/// Write runs as JSON lines, as a bundle that can be verified elsewhere or for a browser, or jobs for Perstack
///
/// A bundle is one file that holds the runs, their tapes and seals, and nothing of others: `runtape
/// verify --bundle FILE` checks it on any machine. Keep the digest and the seals that this prints:
/// they prove that it is the one that was written. For Perstack, name jobs and a directory:
/// `--format perstack --job JOB DIR` writes DIR/perstack/jobs/JOB, as if Perstack had run there.
/// What is written can be read by its owner only.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The runs: ids, beginnings of ids, or `last`; children belong to their run. Without any, the finished ones that
    /// the filters let through. For Perstack the directory to write below
    #[arg(value_name = "RUN|DIR")]
    what: Vec<String>,
    /// The format
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// What JSON lines hold; records say more than events when they are imported
    #[arg(long = "as", value_name = "SHAPE", value_enum, default_value_t = Shape::Records)]
    shape: Shape,
    /// The file to write, which must not be there; JSON lines go to standard output without it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Put the tree in the place of one that an export wrote and nobody changed since
    #[arg(long)]
    replace: bool,
    /// Every finished run
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// Only runs of this job: its id, or the beginning of it. For Perstack the jobs to write (can be repeated)
    #[arg(long, value_name = "JOB", help_heading = "Filters")]
    job: Vec<String>,
    #[command(flatten)]
    filter: TraitWords,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One JSON object a line
    Jsonl,
    /// One file that can be verified
    Bundle,
    /// Directories that Perstack reads
    Perstack,
    /// One run as a file for a browser, without a script
    #[cfg(feature = "serve")]
    Html,
}

/// What JSON lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// What the store keeps
    Records,
    /// Full events in Perstack's shape, checkpoints included
    Events,
}

pub(crate) fn run(args: &ExportArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    if args.format != ExportFormat::Perstack && args.replace {
        let message = "--replace belongs to --format perstack".to_owned();
        return Err(CliError::Usage { message });
    }
    let runs = || chosen(args, &store);
    match (args.format, &args.output) {
        (ExportFormat::Perstack, _) => perstack(args, &store, invocation),
        #[cfg(feature = "serve")]
        (ExportFormat::Html, output) => html(&store, &runs()?, output.as_deref(), invocation),
        (ExportFormat::Bundle, None) => {
            let message = "a bundle needs a file: --output FILE".to_owned();
            Err(CliError::Usage { message })
        }
        (ExportFormat::Bundle, Some(path)) => {
            let runs = runs()?;
            let file = NewFile::begin(path).map_err(failed(path))?;
            let seals = store.write_bundle(&runs, file.staging())?;
            let done = file.finish().map_err(failed(path))?;
            let redaction = rules_applied_to(&store, &runs)?;
            written(invocation, path, done, (runs, seals, redaction))
        }
        (ExportFormat::Jsonl, None) => lines(args, &store, &runs()?, |text| {
            invocation.console.json_text(text)
        }),
        (ExportFormat::Jsonl, Some(path)) => {
            let runs = runs()?;
            let mut file = BufWriter::new(NewFile::begin(path).map_err(failed(path))?);
            lines(args, &store, &runs, |text| Ok(writeln!(file, "{text}")?))?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error);
            let done = file.and_then(NewFile::finish).map_err(failed(path))?;
            let redaction = rules_applied_to(&store, &runs)?;
            written(invocation, path, done, (runs, Vec::new(), redaction))
        }
    }
}

/// Returns the runs that were named, or those finished ones that the filters let through, those that began first first.
fn chosen(args: &ExportArgs, store: &Store) -> Result<Vec<RunId>, CliError> {
    let is_filtered = !args.filter.is_empty() || !args.job.is_empty();
    let refused = |message: &str| {
        let message = message.to_owned();
        Err(CliError::Usage { message })
    };
    match (args.what.is_empty(), is_filtered || args.all) {
        (false, false) => {
            let runs = args.what.iter().map(|run| resolve_run(store, run));
            return runs.collect();
        }
        (false, true) => return refused("name either runs, or filters"),
        (true, false) => return refused("name runs, or filters such as --since 1d, or --all"),
        (true, true) => {}
    }
    let mut filters = Vec::new();
    for job in &args.job {
        let mut filter = args.filter.to_filter(store)?;
        filter.job = Some(resolve_job(store, job)?);
        filters.push(filter);
    }
    if filters.is_empty() {
        filters.push(args.filter.to_filter(store)?);
    }
    let mut runs = Vec::new();
    for mut filter in filters {
        filter.roots_only = true;
        let found = store.runs(&filter, None, u32::MAX as usize)?.items;
        let sealed = found.into_iter().rev().filter(|run| run.seal.is_some());
        runs.extend(sealed.map(|run| run.run_id));
    }
    if runs.is_empty() {
        return Err(CliError::NothingFound {
            what: "finished runs",
        });
    }
    Ok(runs)
}

/// Makes an error of a failure to write a file.
fn failed(path: &Path) -> impl Fn(io::Error) -> CliError {
    move |error| CliError::WriteFile {
        path: path.to_owned(),
        error,
    }
}

/// Writes a run for a browser.
#[cfg(feature = "serve")]
fn html(
    store: &Store,
    runs: &[RunId],
    output: Option<&Path>,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    use crate::arguments::prices::usual_table;
    use runtape_serve::{HtmlBounds, write_html};
    let ([run], Some(path)) = (runs, output) else {
        let message = "name one run and a file: --format html RUN --output FILE".to_owned();
        return Err(CliError::Usage { message });
    };
    let mut file = BufWriter::new(NewFile::begin(path).map_err(failed(path))?);
    let prices = usual_table()?;
    write_html(store, run, &prices, HtmlBounds::default(), &mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error);
    let done = file.and_then(NewFile::finish).map_err(failed(path))?;
    let redaction = rules_applied_to(store, runs)?;
    written(
        invocation,
        path,
        done,
        (runs.to_vec(), Vec::new(), redaction),
    )
}

/// Writes jobs as Perstack keeps them.
fn perstack(
    args: &ExportArgs,
    store: &Store,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let ([directory], false, None) = (args.what.as_slice(), args.job.is_empty(), &args.output)
    else {
        let message = "name jobs and one directory: --format perstack --job JOB DIR".to_owned();
        return Err(CliError::Usage { message });
    };
    let existing = if args.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    for job in &args.job {
        let job = JobId::parse(job.as_str()).map_err(|error| CliError::Usage {
            message: format!("--job {job:?}: {error}"),
        })?;
        let written = export_job(store, &job, Path::new(directory), existing)?;
        if invocation.console.json {
            invocation.console.object(&written)?;
            continue;
        }
        invocation.note(&format!(
            "{}: {}, {}, {}, {}",
            written.path,
            plural(written.runs, "run"),
            plural(written.checkpoints, "checkpoint"),
            plural(written.events, "event"),
            bytes(written.bytes),
        ));
    }
    Ok(())
}

/// Tells that a file was written, and what proves later that it is the same.
fn written(
    invocation: &mut Invocation<'_>,
    path: &Path,
    done: WrittenFile,
    (runs, seals, redaction): (Vec<RunId>, Vec<RunSeal>, Vec<AppliedRules>),
) -> Result<(), CliError> {
    let file = path.display().to_string();
    if invocation.console.json {
        return invocation.console.object(&ExportedFile {
            file,
            bytes: done.bytes,
            runs,
            digest: Some(done.digest),
            seals,
            redaction,
        });
    }
    invocation.note(&format!("{file}: {}", bytes(done.bytes)));
    invocation.note(&format!("blake3 {}", done.digest));
    for seal in seals {
        invocation.note(&format!("seal {} {}", seal.name, seal.hash));
    }
    Ok(())
}

/// Hands out one line of JSON after the other.
fn lines(
    args: &ExportArgs,
    store: &Store,
    runs: &[RunId],
    mut each: impl FnMut(&str) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for root in runs {
        for run in store.tree(root)? {
            let mut materializer = Materializer::new();
            let mut result = Ok(());
            store.each_record(&run.run_id, 0, |record| {
                result =
                    match args.shape {
                        Shape::Records => {
                            let text = serde_json::to_string(&record);
                            text.map_err(CliError::from).and_then(|text| each(&text))
                        }
                        Shape::Events => materializer
                            .push(&record)
                            .map_err(CliError::from)
                            .and_then(|events| {
                                events
                                    .iter()
                                    .try_for_each(|event| each(&serde_json::to_string(event)?))
                            }),
                    };
                result.is_ok()
            })?;
            result?;
        }
    }
    Ok(())
}
