//! `runtape export`: runs for elsewhere.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use runtape::perstack::{Existing, export_job};
use runtape_core::report::ExportedFile;
use runtape_core::{JobId, Materializer, RunId};
use runtape_store::{Options, RunFilter, Store};

use crate::commands::Session;
use crate::database::resolve_run;
use crate::error::CliError;
use crate::table::{bytes, plural};
use crate::times;

/// Write runs as JSON lines or as a bundle that can be verified elsewhere, or jobs for Perstack
///
/// A bundle is one file that holds the run's records, its tape and the chain of seals: `runtape
/// verify --bundle FILE` checks it on any machine. For Perstack, name jobs and a directory:
/// `--format perstack --job JOB DIR` writes DIR/perstack/jobs/JOB, as if Perstack had run there.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The runs: ids, beginnings of ids, or `last`; children belong to their run. For Perstack
    /// the directory to write below
    #[arg(value_name = "RUN|DIR", required = true)]
    what: Vec<String>,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// What JSON lines hold; records say more than events when they are imported
    #[arg(long = "as", value_name = "SHAPE", value_enum, default_value_t = Shape::Records)]
    shape: Shape,
    /// The file to write, which must not be there; JSON lines go to standard output without it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A job to write for Perstack (can be repeated)
    #[arg(long, value_name = "JOB")]
    job: Vec<JobId>,
    /// Put the tree in the place of one that is there, which is removed
    #[arg(long)]
    replace: bool,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
    /// One file that can be verified
    Bundle,
    /// Directories that Perstack reads
    Perstack,
}

/// What JSON lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// What the store keeps
    Records,
    /// Full events in Perstack's shape, checkpoints included
    Events,
}

pub(crate) fn run(args: &ExportArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let store = session.database.read()?;
    if args.format != Format::Perstack && (!args.job.is_empty() || args.replace) {
        let message = "--job and --replace belong to --format perstack".to_owned();
        return Err(CliError::Usage { message });
    }
    let runs = || -> Result<Vec<RunId>, CliError> {
        let runs = args.what.iter().map(|run| resolve_run(&store, run));
        runs.collect()
    };
    match (args.format, &args.output) {
        (Format::Perstack, _) => perstack(args, &store, session),
        (Format::Bundle, None) => {
            let message = "a bundle needs a file: --output FILE".to_owned();
            Err(CliError::Usage { message })
        }
        (Format::Bundle, Some(path)) => {
            let runs = runs()?;
            bundle(&store, &runs, path)?;
            written(session, runs, path)
        }
        (Format::Jsonl, None) => lines(args, &store, &runs()?, &mut *session.console.out),
        (Format::Jsonl, Some(path)) => {
            let runs = runs()?;
            let failed = |error| CliError::WriteFile {
                path: path.clone(),
                error,
            };
            let mut file = BufWriter::new(File::create_new(path).map_err(failed)?);
            lines(args, &store, &runs, &mut file)?;
            file.flush().map_err(failed)?;
            written(session, runs, path)
        }
    }
}

/// Writes jobs as Perstack keeps them.
fn perstack(args: &ExportArgs, store: &Store, session: &mut Session<'_>) -> Result<(), CliError> {
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
        let written = export_job(store, job, Path::new(directory), existing)?;
        if session.console.json {
            session.console.object(&written)?;
            continue;
        }
        session.note(&format!(
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

/// Tells that a file was written.
fn written(session: &mut Session<'_>, runs: Vec<RunId>, path: &Path) -> Result<(), CliError> {
    let size = path.metadata().map_or(0, |meta| meta.len());
    let file = path.display().to_string();
    if session.console.json {
        return session.console.object(&ExportedFile {
            file,
            bytes: size,
            runs,
        });
    }
    session.note(&format!("{file}: {}", bytes(size)));
    Ok(())
}

fn lines(
    args: &ExportArgs,
    store: &Store,
    runs: &[RunId],
    out: &mut dyn Write,
) -> Result<(), CliError> {
    for root in runs {
        for run in store.tree(root)? {
            let mut materializer = Materializer::new();
            let mut result = Ok(());
            store.each_record(&run.run_id, 0, |record| {
                result = match args.shape {
                    Shape::Records => line(out, &record),
                    Shape::Events => materializer
                        .push(&record)
                        .map_err(CliError::from)
                        .and_then(|events| events.iter().try_for_each(|event| line(out, event))),
                };
                result.is_ok()
            })?;
            result?;
        }
    }
    Ok(())
}

/// Writes one value as a line of JSON.
fn line(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), CliError> {
    serde_json::to_writer(&mut *out, value)?;
    Ok(out.write_all(b"\n")?)
}

/// Copies the database and deletes every other run: their seals stay as tombstones, so the chain
/// is the same, and a head that was kept elsewhere proves the bundle too.
fn bundle(store: &Store, runs: &[RunId], path: &Path) -> Result<(), CliError> {
    let mut wanted = Vec::new();
    for run in runs {
        let tree = store.tree(run)?;
        wanted.extend(tree.first().map(|root| root.run_id.clone()));
    }
    store.backup(path)?;
    let mut copy = Store::open(path, &Options::default())?;
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    for run in copy.runs(&filter, None, u32::MAX as usize)?.items {
        if !wanted.contains(&run.run_id) {
            copy.delete_run(&run.run_id, times::now())?;
        }
    }
    let _ = copy.compact()?;
    Ok(())
}
