//! `runtape record`: run an agent CLI, keep what it prints.

mod child;
mod emit;
mod keeper;
mod leash;
mod piece;
mod report;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nix::sys::signal::Signal;
use runtape::{Detached, RunContext};
use runtape_core::{
    Expert, IdSource, JobId, RandomIds, Record, RunId, RunSummary, Runtime, Stream,
};
use runtape_normalizer::paperclip::ExecutionResult;
use runtape_normalizer::{Exit, LiveItem, runtimes};
use runtape_store::TapeChunk;

use self::child::{Child, Happening};
use self::keeper::{Keeper, Kept};
pub(crate) use self::leash::run_mode;
use self::piece::{Piece, Room};
use crate::commands::Session;
use crate::error::{CliError, with_causes};
use crate::times;
use crate::transcript::TranscriptPrinter;

/// Run an agent CLI and record what it prints
///
/// Standard input is passed through; what the command prints is stored as it comes. Exits as the
/// command did. If the recorder is killed, the command and what it started are ended, too.
#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// The runtime; guessed from the command's name
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
    /// The job that the run belongs to; by default the run is a job of its own
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
    /// The id of the run; by default a new one
    #[arg(long, value_name = "ID")]
    run_id: Option<RunId>,
    /// The expert that the run is given to, as KEY or KEY@VERSION
    #[arg(long, value_name = "KEY")]
    expert: Option<String>,
    /// End the command after this long: 90s, 5m, 2h
    #[arg(long, value_name = "DURATION", value_parser = times::parse_duration)]
    timeout: Option<Duration>,
    /// How long the command has to end after being asked to, and what it started to let go of its
    /// output
    #[arg(long, value_name = "DURATION", value_parser = times::parse_duration, default_value = "5s")]
    grace: Duration,
    /// What to show while it runs
    #[arg(long, value_enum, default_value_t = Show::Transcript)]
    show: Show,
    /// Print what programs can read while it runs, one JSON object a line, and nothing else
    #[arg(long, value_enum, conflicts_with = "show")]
    emit: Option<Emit>,
    /// Exit as the command did, or by the run's verdict: some CLIs exit 0 on failure
    #[arg(long, value_enum, default_value_t = ExitStatus::Child)]
    exit_status: ExitStatus,
    /// Write one JSON object about the run to this file at the end
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// What that object is
    #[arg(long, value_name = "SHAPE", value_enum, default_value_t = ReportShape::Run)]
    report_as: ReportShape,
    /// The command and its arguments
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<String>,
}

/// What to show while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Show {
    /// The conversation, readably
    Transcript,
    /// What the command prints, untouched
    Raw,
    /// Nothing
    None,
}

/// What the report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportShape {
    /// The run: ids, status, tokens, cost, and whether it is stored
    Run,
    /// What Paperclip's host takes for the result of an adapter's execution
    Paperclip,
}

/// What to print for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// Entries of the transcript in Paperclip's shape, as they become known
    Transcript,
}

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// The conversation, for people.
    Conversation,
    /// The conversation, for programs.
    Entries,
    /// What the command prints.
    Raw,
    Nothing,
}

impl View {
    fn new(args: &RecordArgs, json: bool) -> Self {
        match (args.emit, args.show) {
            (Some(Emit::Transcript), _) => Self::Entries,
            (None, Show::Transcript) if json => Self::Entries,
            (None, Show::Transcript) => Self::Conversation,
            (None, Show::Raw) => Self::Raw,
            (None, Show::None) => Self::Nothing,
        }
    }
}

/// What decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExitStatus {
    /// The command's own exit code, 128 and the number for a signal
    Child,
    /// 0 if the run completed, else 1
    Run,
}

pub(crate) fn run(args: &RecordArgs, session: &mut Session<'_>) -> Result<ExitCode, CliError> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        let message = "name a command after --".to_owned();
        return Err(CliError::Usage { message });
    };
    let guessed = || runtimes::by_command(program);
    let runtime =
        args.runtime
            .clone()
            .or_else(guessed)
            .ok_or_else(|| CliError::UnknownProgram {
                program: program.clone(),
            })?;
    session.database.check()?;
    let context = context(args, session)?;
    let started_at = times::now();
    let view = View::new(args, session.console.json);
    let start = match view {
        View::Conversation | View::Entries => Detached::start_live,
        View::Raw | View::Nothing => Detached::start,
    };
    let mut watcher = Watcher {
        run: start(runtime.clone(), &context, started_at)?,
        screen: Screen::new(view),
    };
    let child = Child::start(program, arguments)?;
    let database = session.database.clone();
    let keeper = Keeper::start(database, runtime, context.clone(), started_at);
    let exit = attend(args, session, &child, &mut watcher, &keeper);
    child.finish();
    let ended = watcher.finish(session, &exit);
    let kept = keeper.finish(exit.clone(), ended.records);
    let summary = ended.summary.as_ref();
    report::say(session, &context, summary, &kept);
    if let Some(unshown) = &ended.unshown {
        report::say_unshown(session, &context, unshown, &kept);
    }
    // The command has ended as it did, whatever became of the report about it.
    if let Err(error) = write_report(args, &context, summary, &kept, &exit) {
        session.warn(&with_causes(&error));
    }
    Ok(match args.exit_status {
        ExitStatus::Child => ExitCode::from(report::exit_code(&exit)),
        ExitStatus::Run => {
            let completed = summary
                .is_some_and(|summary| summary.status == runtape_core::CheckpointStatus::Completed);
            ExitCode::from(u8::from(!completed))
        }
    })
}

/// Writes the object about the run to the file that was named.
fn write_report(
    args: &RecordArgs,
    context: &RunContext,
    summary: Option<&RunSummary>,
    kept: &Kept,
    exit: &Exit,
) -> Result<(), CliError> {
    let Some(path) = args.report.as_deref() else {
        return Ok(());
    };
    let summary = summary.ok_or_else(|| CliError::NotFound {
        what: format!("the end of run {}", context.run_id),
    })?;
    let mut text = match args.report_as {
        ReportShape::Run => serde_json::to_vec(&report::report(context, summary, kept, exit))?,
        ReportShape::Paperclip => serde_json::to_vec(&ExecutionResult::new(summary, exit))?,
    };
    text.push(b'\n');
    runtape::write_private(path, &text).map_err(|error| CliError::WriteFile {
        path: path.into(),
        error,
    })
}

fn context(args: &RecordArgs, session: &Session<'_>) -> Result<RunContext, CliError> {
    let run_id = args.run_id.clone().unwrap_or_else(|| RandomIds.run_id());
    // A database that cannot be read does not keep the command from running: what it prints goes
    // to a spool file then.
    if args.run_id.is_some()
        && let Ok(store) = session.database.read()
        && store.run(&run_id).is_ok()
    {
        let message = format!("there is a run {run_id} already");
        return Err(CliError::Usage { message });
    }
    // A run without a job is its own.
    let job_id = match &args.job {
        Some(job) => job.clone(),
        None => JobId::parse(run_id.as_str())?,
    };
    let mut context = RunContext::new(job_id, run_id);
    context.argv = Some(args.command.clone());
    context.expert = args.expert.as_deref().map(|key| {
        let (name, version) = key.split_once('@').unwrap_or((key, "0.0.0"));
        Expert {
            key: key.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
        }
    });
    if let Ok(cwd) = std::env::current_dir() {
        context.metadata.set("cwd", cwd.to_string_lossy());
    }
    if let Ok(host) = nix::unistd::gethostname() {
        context.metadata.set("host", host.to_string_lossy());
    }
    if let Ok(user) = std::env::var("USER") {
        context.metadata.set("user", user);
    }
    Ok(context)
}

/// Shows a run while it goes on.
struct Watcher {
    run: Detached,
    screen: Screen,
}

impl Watcher {
    /// Shows a piece of output, and returns what is to be kept of it.
    fn push(&mut self, session: &mut Session<'_>, piece: Piece) -> (TapeChunk, Vec<Record>, Room) {
        let printed = self.run.push(piece.stream, piece.bytes, piece.received_at);
        let chunk = printed.chunk;
        let shown = if self.screen.view == View::Raw {
            raw(session, chunk.stream, &chunk.bytes)
        } else {
            self.screen.show(session, printed.live)
        };
        self.screen.saw(session, shown);
        self.screen.count(chunk.bytes.len());
        (chunk, printed.records, piece.room)
    }

    /// Shows the end, and returns the run in one object, what is to be kept of its end, and what
    /// could not be shown.
    fn finish(self, session: &mut Session<'_>, exit: &Exit) -> Finished {
        let Self { run, mut screen } = self;
        let ended = run.finish(exit);
        let shown = screen.show(session, ended.live);
        screen.saw(session, shown);
        let closed = screen.close(session);
        screen.saw(session, closed);
        Finished {
            summary: ended.summary,
            records: ended.records,
            unshown: screen.unshown,
        }
    }
}

/// What is there when a run has ended.
struct Finished {
    summary: Option<RunSummary>,
    records: Vec<Record>,
    unshown: Option<Unshown>,
}

/// What could not be shown, and why.
struct Unshown {
    reason: String,
    /// Bytes of output.
    bytes: u64,
}

/// Where the conversation appears.
struct Screen {
    printer: TranscriptPrinter,
    view: View,
    unshown: Option<Unshown>,
}

impl Screen {
    fn new(view: View) -> Self {
        Self {
            printer: TranscriptPrinter::default(),
            view,
            unshown: None,
        }
    }

    /// Takes note of how showing went. After a first failure nothing more is shown: the run goes on
    /// and is recorded all the same.
    fn saw(&mut self, session: &mut Session<'_>, shown: Result<(), CliError>) {
        let Err(error) = shown else {
            return;
        };
        self.view = View::Nothing;
        // What the failed writer still holds is not tried again.
        session.console.out = Box::leak(Box::new(io::sink()));
        // Whoever watched through a pipe may go away.
        if self.unshown.is_none() && !error.is_closed_pipe() {
            let reason = with_causes(&error);
            self.unshown = Some(Unshown { reason, bytes: 0 });
        }
    }

    /// Counts output that came when nothing could be shown any more.
    fn count(&mut self, bytes: usize) {
        if let Some(unshown) = &mut self.unshown {
            unshown.bytes += bytes as u64;
        }
    }

    fn close(&mut self, session: &mut Session<'_>) -> Result<(), CliError> {
        if self.view == View::Conversation {
            self.printer.close(&mut session.console)?;
        }
        Ok(session.console.out.flush()?)
    }

    fn show(&mut self, session: &mut Session<'_>, live: Vec<LiveItem>) -> Result<(), CliError> {
        let console = &mut session.console;
        let entries = live.into_iter().filter_map(|item| match item {
            LiveItem::Transcript { entry, .. } => Some(entry),
            LiveItem::Event(_) => None,
        });
        match self.view {
            View::Raw | View::Nothing => return Ok(()),
            View::Conversation => {
                for entry in entries {
                    self.printer.print(console, &entry)?;
                }
            }
            View::Entries => {
                for entry in entries.flat_map(emit::fit) {
                    console.object(&entry)?;
                }
            }
        }
        Ok(console.out.flush()?)
    }
}

fn raw(session: &mut Session<'_>, stream: Stream, bytes: &[u8]) -> Result<(), CliError> {
    if stream == Stream::Stderr {
        // Where nothing can be written, nobody can be told.
        let _ = io::stderr().write_all(bytes);
        return Ok(());
    }
    session.console.out.write_all(bytes)?;
    Ok(session.console.out.flush()?)
}

/// Listens until the process has ended and its output is closed, or nobody should wait longer.
fn attend(
    args: &RecordArgs,
    session: &mut Session<'_>,
    child: &Child,
    watcher: &mut Watcher,
    keeper: &Keeper,
) -> Exit {
    let mut deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut exit: Option<Exit> = None;
    let mut timed_out = false;
    let mut open_streams = 2;
    loop {
        if exit.is_some() && open_streams == 0 {
            break;
        }
        let happening = match deadline {
            Some(at) => child
                .happenings
                .recv_timeout(at.saturating_duration_since(Instant::now())),
            None => child
                .happenings
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match happening {
            Ok(Happening::Output(piece)) => {
                let (chunk, records, room) = watcher.push(session, piece);
                keeper.push(chunk, records, room);
            }
            Ok(Happening::Closed) => open_streams -= 1,
            Ok(Happening::Signal(number)) => child.signal(number),
            Ok(Happening::Ended(ended)) => {
                exit = Some(ended);
                // What it started may keep its output open; it is not waited for without end.
                deadline = Some(Instant::now() + args.grace);
            }
            Err(RecvTimeoutError::Timeout) if exit.is_some() => {
                if timed_out {
                    child.signal(Signal::SIGKILL as i32);
                }
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                let signal = if timed_out {
                    Signal::SIGKILL
                } else {
                    Signal::SIGTERM
                };
                child.signal(signal as i32);
                // Nobody survives the second one, so there is no third.
                deadline = (!timed_out).then(|| Instant::now() + args.grace);
                timed_out = true;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Exit {
        timed_out,
        ..exit.unwrap_or_default()
    }
}
