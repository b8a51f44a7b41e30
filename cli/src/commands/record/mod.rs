//! `runtape record`: run an agent CLI, keep what it prints.

mod advice;
mod emit;
mod history;
mod input;
mod leash;
mod prompt;
mod report;
mod screen;
mod signals;

use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use clap::ValueEnum;
use runtape_core::report::Cost;
use runtape_core::{Expert, IdSource, JobId, RandomIds, RunId, RunSummary, Runtime};
use runtape_normalizer::paperclip::ExecutionResult;
use runtape_normalizer::redact::RuleSet;
use runtape_normalizer::{Context, Exit, runtimes};
use runtape_recorder::process::{Leash, Watch};
use runtape_recorder::{KeepingEnd, RecordError, Recorded, Recording, RecordingOptions, git_head};

use self::input::CommandInput;
pub(crate) use self::leash::run_mode;
use self::screen::{Screen, View};
use self::signals::Signals;
use crate::arguments::labels::LabelArgs;
use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::{Invocation, search_index, unkept};
use crate::error::{CliError, with_causes};
use crate::spool_directory;
use crate::terminal::times;

/// Run an agent CLI and record what it prints
///
/// What the command prints is stored as it comes, and so is what it is given on standard input, unless that
/// is a terminal: where the runtime reads its prompt there, it is what was asked. The command may be a script, make or ssh
/// that runs the agent. Exits as the command did. If the recorder is killed, the command and what it started are ended, too.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct RecordArgs {
    /// The runtime; guessed from the command's name, and for any other program by its first lines: of 64 lines, 64 KiB
    /// or 2 seconds, whatever is over first. `generic` if they tell none
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
    /// Say nothing about the run on standard error, unless something is wrong
    #[arg(long)]
    quiet: bool,
    /// Take standard input for the prompt, whatever the command is known to read there
    #[arg(long, conflicts_with = "no_stdin")]
    prompt_on_stdin: bool,
    /// Do not keep what the command is given on standard input
    #[arg(long)]
    no_stdin: bool,
    /// Write the command's process id, which is that of its process group, to this file
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Do not look for the session file that the command leaves, which holds what it does not print
    #[arg(long)]
    no_history: bool,
    #[command(flatten)]
    labels: LabelArgs,
    #[command(flatten)]
    redaction: RedactionArgs,
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
    /// What the command prints, untouched: passed through as if nobody recorded it, with its secrets
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

/// What decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExitStatus {
    /// The command's own exit code, 128 and the number for a signal
    Child,
    /// 0 if the run completed, else 1
    Run,
}

pub(crate) fn run(
    args: &RecordArgs,
    invocation: &mut Invocation<'_>,
) -> Result<ExitCode, CliError> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        let message = "name a command after --".to_owned();
        return Err(CliError::Usage { message });
    };
    let guessed = || runtimes::by_command_line(&args.command);
    // A script, make, ssh: the first lines tell which agent it runs.
    let runtime = args.runtime.clone().or_else(guessed);
    refuse_option(program)?;
    invocation.database.check()?;
    let is_new = invocation.database.is_new();
    let mut context = context(args, invocation)?;
    let rules = args.redaction.rules(invocation, NewKey::Make)?;
    leash::check(program).map_err(|error| CliError::Spawn {
        program: program.clone(),
        error,
    })?;
    if let Some(advice) = advice::advice(runtime.as_ref(), &args.command)
        && View::new(args, invocation.console.json) == View::Conversation
    {
        invocation.note(&advice);
    }
    let input = CommandInput::find(args);
    context.query = input.query();
    // Before the process is there, so that no signal gets lost in between.
    let signals = Signals::listen()?;
    let options = options(args, invocation, &rules);
    let program = (program.as_str(), arguments);
    let stdin = input.stdio();
    let mut recording = spawn(invocation, options, runtime, &context, program, stdin)?;
    let interrupts = recording.take_interrupts();
    let answering = signals.pass_on(recording.control(), interrupts);
    input.pass_on(&mut recording);
    write_pid(args, invocation, recording.control().process_id());
    let view = View::new(args, invocation.console.json);
    let mut screen = Screen::new(view, !args.quiet);
    for shown in recording.shown() {
        screen.show(invocation, shown);
    }
    let unshown = screen.close(invocation);
    let Recorded {
        exit,
        summary,
        kept,
    } = recording.wait();
    // What is said about an interrupt is said before the summary.
    let _ = answering.map(JoinHandle::join);
    // What the session file adds is a gift: without it the run is what was printed.
    let joined = history::join(args, invocation, &context, &kept, &rules);
    let summary = joined.or(summary);
    let summary = summary.as_ref();
    let cost = if args.quiet && args.report.is_none() {
        Cost::default()
    } else {
        report::cost(invocation, &context, summary, &kept)
    };
    if !args.quiet {
        report::say(invocation, &context, summary, &cost);
        // Said at the end: what the command prints is not to be mixed with it.
        if is_new && !invocation.database.is_new() {
            invocation.tell_of_new_database();
        }
    }
    unkept::say(invocation, &kept);
    if let Some(unshown) = &unshown {
        report::say_unshown(invocation, &context, unshown, &kept);
    }
    // The command has ended as it did, whatever became of the report about it.
    if let Err(error) = write_report(args, &context, summary, cost, &kept, &exit) {
        invocation.warn(&with_causes(&error));
    }
    if kept.fault.is_none() {
        search_index::complete_some(invocation);
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

/// Refuses what is no program's name but an option that is not known: all that comes after the options is taken for the
/// command.
fn refuse_option(program: &str) -> Result<(), CliError> {
    if !program.starts_with('-') {
        return Ok(());
    }
    let option = program.split('=').next().unwrap_or(program);
    let message = format!(
        "record has no option {option}: `runtape record --help` lists them, the command comes after --"
    );
    Err(CliError::Usage { message })
}

/// Says how the command is recorded.
fn options(
    args: &RecordArgs,
    invocation: &Invocation<'_>,
    rules: &Arc<RuleSet>,
) -> RecordingOptions {
    RecordingOptions {
        watch: match View::new(args, invocation.console.json) {
            View::Conversation | View::Entries => Watch::Items,
            View::Raw => Watch::Bytes,
            View::Nothing => Watch::Nothing,
        },
        timeout: args.timeout,
        grace: args.grace,
        spool: spool_directory::directories(&invocation.database),
        foreground: true,
        leash: leash::this_binary(),
        rules: Arc::clone(rules),
        ..RecordingOptions::default()
    }
}

/// Starts the command, and records it.
fn spawn(
    invocation: &Invocation<'_>,
    options: RecordingOptions,
    runtime: Option<Runtime>,
    context: &Context,
    (program, arguments): (&str, &[String]),
    stdin: Option<Stdio>,
) -> Result<Recording, CliError> {
    let mut command = if let Some(binary) = &options.leash {
        Leash::new(binary).command(program, arguments)
    } else {
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        command
    };
    if let Some(stdin) = stdin {
        command.stdin(stdin);
    }
    let destination = invocation.database.destination();
    let started = Recording::spawn(command, destination, runtime, context.clone(), options);
    started.map_err(|error| match error {
        RecordError::Spawn { source, .. } => CliError::Spawn {
            program: program.to_owned(),
            error: source,
        },
        other => other.into(),
    })
}

/// Tells whoever started the recorder which process it records.
fn write_pid(args: &RecordArgs, invocation: &mut Invocation<'_>, pid: i32) {
    let Some(path) = args.pid_file.as_deref() else {
        return;
    };
    let text = format!("{pid}\n");
    if let Err(error) = runtape_recorder::write_private(path, text.as_bytes()) {
        let error = CliError::WriteFile {
            path: path.into(),
            error,
        };
        invocation.warn(&with_causes(&error));
    }
}

/// Writes the object about the run to the file that was named.
fn write_report(
    args: &RecordArgs,
    context: &Context,
    summary: Option<&RunSummary>,
    cost: Cost,
    kept: &KeepingEnd,
    exit: &Exit,
) -> Result<(), CliError> {
    let Some(path) = args.report.as_deref() else {
        return Ok(());
    };
    let summary = summary.ok_or_else(|| CliError::NotFound {
        what: format!("the end of run {}", context.run_id),
    })?;
    let mut text = match args.report_as {
        ReportShape::Run => {
            let report = report::report(context, summary, cost, kept, exit);
            serde_json::to_vec(&report)?
        }
        ReportShape::Paperclip => serde_json::to_vec(&ExecutionResult::new(summary, exit))?,
    };
    text.push(b'\n');
    runtape_recorder::write_private(path, &text).map_err(|error| CliError::WriteFile {
        path: path.into(),
        error,
    })
}

fn context(args: &RecordArgs, invocation: &Invocation<'_>) -> Result<Context, CliError> {
    let run_id = args.run_id.clone().unwrap_or_else(|| RandomIds.run_id());
    // A database that cannot be read does not keep the command from running: what it prints goes
    // to a spool file then.
    if args.run_id.is_some()
        && let Ok(store) = invocation.database.read()
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
    let mut context = Context::new(job_id, run_id);
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
        let head = git_head(&cwd).unwrap_or_default();
        let known = [("gitCommit", head.commit), ("gitBranch", head.branch)];
        for (key, value) in known {
            if let Some(value) = value {
                context.metadata.set(key, value);
            }
        }
    }
    args.labels.note(&mut context);
    if let Ok(host) = nix::unistd::gethostname() {
        context.metadata.set("host", host.to_string_lossy());
    }
    if let Some(user) = user() {
        context.metadata.set("user", user);
    }
    Ok(context)
}

/// Returns who runs the command: as the environment says, else as the system knows, since cron and containers set nothing.
fn user() -> Option<String> {
    let named = std::env::var("USER").ok().filter(|name| !name.is_empty());
    named.or_else(|| {
        let found = nix::unistd::User::from_uid(nix::unistd::getuid());
        found.ok().flatten().map(|user| user.name)
    })
}
