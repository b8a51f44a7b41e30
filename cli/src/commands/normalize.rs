//! `runtape normalize`: from output to events, without a database.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ValueEnum;
use runtape_core::{
    IdSource, JobId, Materializer, RandomIds, Record, RunId, Runtime, Stream, Summarizer,
    TranscriptBuilder,
};
use runtape_normalizer::{Context, Exit, Normalizer, Output, detect, runtimes};
use runtape_recorder::begin_redaction;

use crate::arguments::input::Input;
use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Console;

/// Normalize the output of an agent CLI and print the result as JSON lines
///
/// Nothing is stored. Without --runtime the runtime is detected from the output itself, or from
/// the command in --argv; any other output is read as that of a `generic` program.
#[derive(Debug, clap::Args)]
pub(crate) struct NormalizeArgs {
    /// The file that holds the standard output of the CLI; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The runtime that printed it
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<Runtime>,
    /// The file that holds the standard error of the CLI
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// The exit code of the CLI; a negative one is a signal
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// The signal that ended the CLI, by name or number
    #[arg(long, value_name = "SIGNAL")]
    signal: Option<String>,
    /// The command line of the CLI, as a JSON list of strings
    #[arg(long, value_name = "JSON")]
    argv: Option<String>,
    /// What the CLI was asked for
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// The id of the run; with the same id the output repeats byte for byte
    #[arg(long, value_name = "ID")]
    run_id: Option<RunId>,
    /// What to print
    #[arg(long = "as", value_name = "SHAPE", value_enum, default_value_t = Shape::Events)]
    shape: Shape,
    #[command(flatten)]
    redaction: RedactionArgs,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Full events in Perstack's shape, checkpoints included
    Events,
    /// What the store would keep
    Records,
    /// Entries to display, in Paperclip's shape
    Transcript,
    /// The whole run in one object
    Summary,
}

pub(crate) fn run(args: NormalizeArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let mut input = Input::open(&args.file)?;
    let first = input.first_chunk()?;
    let command_line = args
        .argv
        .as_deref()
        .map(serde_json::from_str::<Vec<String>>)
        .transpose()
        .map_err(CliError::Argv)?;
    let known = args
        .runtime
        .or_else(|| detect(&first))
        .or_else(|| runtimes::by_command_line(command_line.as_deref()?));
    if known.is_none() {
        let what = input.name();
        invocation.note(&format!(
            "no runtime that is known printed {what}: read as generic, see --runtime"
        ));
    }
    let runtime = known.unwrap_or(Runtime::Generic);

    let mut ids = RandomIds;
    let run_id = args.run_id.unwrap_or_else(|| ids.run_id());
    // A run without a job is its own, so that nothing but the run id decides the output.
    let mut context = Context::new(JobId::parse(run_id.as_str())?, run_id);
    context.query = args.query;
    context.argv = command_line;
    if input.is_file() {
        context.metadata.set("timeSource", "file");
    }
    let exit = exit(args.exit_code, args.signal.as_deref());

    let rules = args.redaction.rules(invocation, NewKey::Never)?;
    let (mut redactor, context) = begin_redaction(&rules, &runtime, &context);
    let mut printer = Printer::new(args.shape, &mut invocation.console);
    let mut normalizer = Normalizer::new(runtime, context)?;
    let mut read = |stream, bytes: &[u8], at| {
        let mut output = Output::default();
        redactor.push(stream, bytes, at, |stream, kept, at| {
            normalizer.push_into(stream, kept, at, &mut output);
        });
        printer.print(&output)
    };
    read(Stream::Stdout, &first, input.received_at())?;
    input.read_all(|bytes, at| read(Stream::Stdout, bytes, at))?;
    if let Some(path) = &args.stderr {
        let mut stderr = Input::open(path)?;
        stderr.read_all(|bytes, at| read(Stream::Stderr, bytes, at))?;
    }
    let mut output = Output::default();
    redactor.finish(|stream, kept, at| normalizer.push_into(stream, kept, at, &mut output));
    normalizer.finish_into(&exit, &mut output);
    printer.print(&output)?;
    printer.finish()
}

/// Returns how a process ended: a negative code is a signal, and a signal that is named wins.
pub(crate) fn exit(code: Option<i32>, signal: Option<&str>) -> Exit {
    let mut exit = code.map_or_else(Exit::unknown, Exit::with_code);
    if let Some(signal) = signal {
        exit.signal = Some(signal_by_name(signal));
    }
    exit
}

/// Takes a signal by number, by name, or by name without `SIG`.
fn signal_by_name(text: &str) -> String {
    if let Ok(number) = text.parse() {
        return runtape_normalizer::signal_name(number);
    }
    let upper = text.to_ascii_uppercase();
    if upper.starts_with("SIG") {
        upper
    } else {
        format!("SIG{upper}")
    }
}

/// Prints records in the shape that was asked for, as they come.
struct Printer<'a, 'b> {
    shape: Shape,
    console: &'a mut Console<'b>,
    materializers: HashMap<RunId, Materializer>,
    transcripts: HashMap<RunId, TranscriptBuilder>,
    summarizer: Summarizer,
}

impl<'a, 'b> Printer<'a, 'b> {
    fn new(shape: Shape, console: &'a mut Console<'b>) -> Self {
        Self {
            shape,
            console,
            materializers: HashMap::new(),
            transcripts: HashMap::new(),
            summarizer: Summarizer::new(),
        }
    }

    fn print(&mut self, output: &Output) -> Result<(), CliError> {
        output
            .records
            .iter()
            .try_for_each(|record| self.record(record))
    }

    fn record(&mut self, record: &Record) -> Result<(), CliError> {
        match self.shape {
            Shape::Records => self.console.object(record),
            Shape::Events => {
                let materializer = self.materializers.entry(record.run_id.clone()).or_default();
                let events = materializer.push(record)?;
                events
                    .iter()
                    .try_for_each(|event| self.console.object(event))
            }
            Shape::Transcript => {
                let builder = self.transcripts.entry(record.run_id.clone()).or_default();
                let entries = builder.push(record);
                entries
                    .iter()
                    .try_for_each(|entry| self.console.object(entry))
            }
            Shape::Summary => {
                self.summarizer.push(record);
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<(), CliError> {
        if self.shape == Shape::Summary {
            let summary = std::mem::take(&mut self.summarizer).finish();
            self.console.object(&summary)?;
        }
        Ok(())
    }
}
