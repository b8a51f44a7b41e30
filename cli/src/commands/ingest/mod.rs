//! `runtape ingest`: files or a pipe into the store.

mod pipe;
mod report;
mod short;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

use indicatif::ProgressBar;
use runtape_core::{IdSource, JobId, RandomIds, RunId, Runtime, Stream};
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit};
use runtape_recorder::history::{Joiner, SyncOptions};
use runtape_recorder::{
    RecordError, Recorder, RecorderOptions, StoreHandle, applied_rules, rules_in_force,
};
use runtape_store::{Store, StoreError};

use self::report::{FileOutcome, Report};
use self::source::{CaptureSource, HistorySource, Sources};
use crate::arguments::input::Input;
use crate::arguments::labels::LabelArgs;
use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::{Invocation, search_index, sync};
use crate::error::{CliError, with_causes};
use crate::terminal::progress::bytes_bar;
use crate::terminal::table::plural;
use crate::terminal::times;

/// Store the output of agent CLIs from files, directories or a pipe
///
/// In a directory every X.stdout is one run; X.stderr and X.meta.json (keys `runtime`, `argv`,
/// `cwd`, `exit_code`, `signal`) belong to it. `-` reads standard input, and a pipe may also be named; either is
/// stored as it arrives, and what the database does not take of it goes to a spool file. The same file again is
/// recognised and skipped.
#[derive(Debug, clap::Args)]
pub(crate) struct IngestArgs {
    /// Files, directories, or `-` for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The runtime that printed it; detected if not given, `generic` for what is none
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
    /// The file that holds the standard error, for a single file or a pipe
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// The exit code of the CLI; a negative one is a signal
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// The job that the runs belong to; by default each run is a job of its own
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// Store again what is known already
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    labels: LabelArgs,
    #[command(flatten)]
    redaction: RedactionArgs,
}

pub(crate) fn run(args: &IngestArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut sources = Sources::find(&args.paths)?;
    if sources.found.is_empty() && sources.histories.is_empty() {
        return Err(CliError::NothingToIngest);
    }
    if let (Some(stderr), false) = (&args.stderr, sources.found.is_empty()) {
        let [source] = sources.found.as_mut_slice() else {
            let message = "--stderr belongs to one file: name only one".to_owned();
            return Err(CliError::Usage { message });
        };
        source.stderr = Some(stderr.clone());
    }
    invocation.database.check()?;
    let rules = args.redaction.rules(invocation, NewKey::Make)?;
    let (pipes, files): (Vec<_>, Vec<_>) =
        sources.found.into_iter().partition(CaptureSource::is_pipe);
    let mut ingest = Ingest {
        args,
        rules,
        report: Report::new(sources.ignored),
        stored: Vec::new(),
        store: None,
    };
    // What comes down a pipe comes only once: it is kept before anything else can fail.
    for source in &pipes {
        ingest.pipe(source, invocation)?;
    }
    for history in &sources.histories {
        take_in_history(history, &ingest.rules, invocation)?;
    }
    if !files.is_empty() {
        ingest.files(&files, invocation)?;
    }
    if pipes.is_empty() && files.is_empty() {
        return Ok(());
    }
    ingest.finish(invocation)
}

/// Files and pipes on their way into the database.
struct Ingest<'a> {
    args: &'a IngestArgs,
    rules: Arc<RuleSet>,
    report: Report,
    /// The runs that were stored.
    stored: Vec<RunId>,
    /// The database, once it was needed. A pipe opens its own, so that one that cannot be opened does not hold it up.
    store: Option<StoreHandle>,
}

impl Ingest<'_> {
    fn store(&mut self, invocation: &Invocation<'_>) -> Result<StoreHandle, CliError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => invocation.database.open()?.into(),
        };
        Ok(self.store.insert(store).clone())
    }

    /// Keeps what comes down a pipe.
    fn pipe(
        &mut self,
        source: &CaptureSource,
        invocation: &mut Invocation<'_>,
    ) -> Result<(), CliError> {
        let is_new = invocation.database.is_new();
        let kept = pipe::keep(self.args, &self.rules, invocation, source);
        if is_new && !invocation.database.is_new() {
            invocation.tell_of_new_database();
        }
        match kept {
            Ok(Some(run_id)) => {
                let store = self.store(invocation)?;
                let outcome = stored(&store.lock(), source, &run_id)?;
                self.done(invocation, outcome)
            }
            Ok(None) => {
                self.report.add_unstored();
                Ok(())
            }
            Err(error) => {
                let outcome = unusable(source, error)?;
                self.done(invocation, outcome)
            }
        }
    }

    /// Stores files, short ones many at a time.
    fn files(
        &mut self,
        files: &[CaptureSource],
        invocation: &mut Invocation<'_>,
    ) -> Result<(), CliError> {
        if invocation.database.is_new() {
            invocation.tell_of_new_database();
        }
        let store = self.store(invocation)?;
        let (args, rules) = (self.args, Arc::clone(&self.rules));
        let bar = match files.len() {
            1 => ProgressBar::hidden(),
            _ => bytes_bar(files.iter().map(CaptureSource::bytes).sum()),
        };
        let mut rest = files;
        while let Some((first, others)) = rest.split_first() {
            let together = rest.iter().take_while(|source| source.is_short()).count();
            let (short, after) = rest.split_at(together);
            let mut done = |invocation: &mut Invocation<'_>, source: &CaptureSource, outcome| {
                bar.inc(source.bytes());
                bar.suspend(|| self.done(invocation, outcome))
            };
            if short.is_empty() {
                let outcome = ingest_long(args, &rules, &store, first)?;
                done(invocation, first, outcome)?;
                rest = others;
            } else {
                let known = invocation.database.read()?;
                let mut writing = store.lock();
                let unfinished = short::ingest(
                    args,
                    &rules,
                    &mut writing,
                    known,
                    short,
                    |source, outcome| done(invocation, source, outcome),
                )?;
                drop(writing);
                for source in unfinished {
                    let outcome = ingest_long(args, &rules, &store, source)?;
                    done(invocation, source, outcome)?;
                }
                rest = after;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Notes what became of a source.
    fn done(
        &mut self,
        invocation: &mut Invocation<'_>,
        outcome: FileOutcome,
    ) -> Result<(), CliError> {
        if let FileOutcome::Stored { tree, .. } = &outcome {
            self.stored
                .extend(tree.first().map(|run| run.run_id.clone()));
        }
        self.report.add(invocation, outcome)
    }

    /// Joins what was stored with what was there before, and says what was done.
    fn finish(mut self, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
        if let Some(store) = &self.store {
            // Joins runs that were just stored with histories that were there before.
            let joined = Joiner::default().join_all(&mut store.lock(), &self.stored, times::now)?;
            if joined > 0 {
                let runs = plural(joined, "run");
                invocation.note(&format!(
                    "{runs} joined with the history of the same execution"
                ));
            }
            search_index::complete(&store.lock(), invocation);
            self.report.estimate(&store.lock(), invocation)?;
        }
        self.report.finish(invocation)
    }
}

/// Takes in what an agent CLI keeps on disk, which somebody took for output.
fn take_in_history(
    history: &HistorySource,
    rules: &Arc<RuleSet>,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let mut names: Vec<&str> = history
        .directories
        .iter()
        .map(|directory| directory.runtime.as_str())
        .collect();
    names.dedup();
    let (path, names) = (history.path.display(), names.join(", "));
    invocation.note(&format!(
        "{path}: the history of {names}, taken in as sync does"
    ));
    let options = SyncOptions {
        directories: history.directories.clone(),
        memory: Some(sync::memory(invocation)),
        scratch: invocation.database.own_directory(),
        files: history.file.iter().cloned().collect(),
        rules: Arc::clone(rules),
        ..SyncOptions::default()
    };
    if invocation.database.is_new() {
        invocation.tell_of_new_database();
    }
    let mut store = invocation.database.open()?;
    sync::sync_once(&mut store, &options, invocation)
}

/// Tells what is wrong with a file, if another one may still be stored.
fn unusable(source: &CaptureSource, error: CliError) -> Result<FileOutcome, CliError> {
    if !is_about_the_file(&error) {
        return Err(error);
    }
    Ok(FileOutcome::Unusable {
        path: source.name(),
        reason: describe(&error),
    })
}

/// Tells whether another file may still be stored.
fn is_about_the_file(error: &CliError) -> bool {
    matches!(
        error,
        CliError::Read { .. }
            | CliError::NotFound { .. }
            | CliError::Record(
                RecordError::Normalize(_)
                    | RecordError::Store(StoreError::Locked { .. } | StoreError::Conflict { .. })
            )
    )
}

/// Says what is wrong with a file whose name is said already.
fn describe(error: &CliError) -> String {
    match error {
        CliError::Read { error, .. } => format!("cannot be read: {error}"),
        other => with_causes(other),
    }
}

/// A run that is about to be stored.
struct Begun {
    runtime: Runtime,
    context: Context,
    exit: Exit,
    input: Input,
    /// What was read of the input already.
    first: Vec<u8>,
}

/// Finds out what a file is, unless it is unusable.
fn begin(
    args: &IngestArgs,
    source: &CaptureSource,
) -> Result<Result<Begun, FileOutcome>, CliError> {
    let path = source.name();
    if let Some(reason) = &source.fault {
        let reason = reason.clone();
        return Ok(Err(FileOutcome::Unusable { path, reason }));
    }
    let exit = source.exit(args.exit_code);
    let mut input = Input::open(&source.stdout)?;
    let first = input.first_chunk()?;
    let has_stderr = source
        .stderr
        .as_deref()
        .is_some_and(|path| path.metadata().is_ok_and(|m| m.len() > 0));
    if first.is_empty() && exit.is_unknown() && !has_stderr {
        let reason = "it is empty, and nothing else is known of the run".to_owned();
        return Ok(Err(FileOutcome::Unusable { path, reason }));
    }
    let runtime = source.runtime(args.runtime.as_ref(), &first);
    let run_id = if args.again {
        RandomIds.run_id()
    } else {
        source.run_id(&runtime, &exit)?
    };
    Ok(Ok(Begun {
        runtime,
        context: context(args, source, &run_id)?,
        exit,
        input,
        first,
    }))
}

/// Stores a file of any length as it is read.
fn ingest_long(
    args: &IngestArgs,
    rules: &Arc<RuleSet>,
    store: &StoreHandle,
    source: &CaptureSource,
) -> Result<FileOutcome, CliError> {
    record(args, rules, store, source).or_else(|error| unusable(source, error))
}

fn record(
    args: &IngestArgs,
    rules: &Arc<RuleSet>,
    store: &StoreHandle,
    source: &CaptureSource,
) -> Result<FileOutcome, CliError> {
    let begun = match begin(args, source)? {
        Ok(begun) => begun,
        Err(outcome) => return Ok(outcome),
    };
    let run_id = &begun.context.run_id;
    // One that an ingest left open is taken up again.
    if !store
        .lock()
        .sealed_among(std::slice::from_ref(run_id))?
        .is_empty()
    {
        let (path, run_id) = (source.name(), run_id.clone());
        return Ok(FileOutcome::Skipped { path, run_id });
    }
    discard_of_other_rules(&mut store.lock(), run_id, rules)?;
    let mut input = begun.input;
    let now = input.received_at();
    let options = RecorderOptions {
        started_at: Some(now),
        is_read_later: true,
        rules: Arc::clone(rules),
        ..RecorderOptions::default()
    };
    let recorder = Recorder::start_with(store.clone(), begun.runtime, &begun.context, &options)?;
    let mut recorder = recorder.without_summary();
    recorder.push_received(Stream::Stdout, &begun.first, now)?;
    input.read_all(|bytes, at| {
        Ok(recorder
            .push_received(Stream::Stdout, bytes, at)
            .map(drop)?)
    })?;
    if let Some(stderr) = &source.stderr {
        let mut stderr = Input::open(stderr)?;
        stderr.read_all(|bytes, at| {
            Ok(recorder
                .push_received(Stream::Stderr, bytes, at)
                .map(drop)?)
        })?;
    }
    recorder.close(&begun.exit)?;
    stored(&store.lock(), source, &begun.context.run_id)
}

/// Gives up what an ingest left unfinished that took out something else: what comes now would not fit behind it. All
/// of it is read again from the source.
fn discard_of_other_rules(
    store: &mut Store,
    run_id: &RunId,
    rules: &RuleSet,
) -> Result<(), CliError> {
    if !store.has_run(run_id)? {
        return Ok(());
    }
    let applied = applied_rules(&store.begin_of(run_id)?.context);
    if applied.as_ref() != Some(&rules_in_force(rules)) {
        store.delete_run(run_id, times::now())?;
    }
    Ok(())
}

fn stored(store: &Store, source: &CaptureSource, run_id: &RunId) -> Result<FileOutcome, CliError> {
    Ok(FileOutcome::Stored {
        path: source.name(),
        tree: store.tree(run_id)?,
    })
}

fn context(args: &IngestArgs, source: &CaptureSource, run_id: &RunId) -> Result<Context, CliError> {
    // A run without a job is its own.
    let job_id = match &args.job {
        Some(job) => job.clone(),
        None => JobId::parse(run_id.as_str())?,
    };
    let mut context = Context::new(job_id, run_id.clone());
    context.argv.clone_from(&source.meta.argv);
    if let Some(cwd) = &source.meta.cwd {
        context.metadata.set("cwd", cwd.as_str());
    }
    if !source.is_pipe() {
        context.metadata.set("timeSource", "file");
    }
    args.labels.note(&mut context);
    Ok(context)
}
