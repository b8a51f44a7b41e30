//! `runtape events`: what happened in a run, in order.

use std::collections::HashMap;

use clap::ValueEnum;
use runtape_core::{
    Event, Materializer, Record, RecordKind, RunEventKind, RunId, RuntimeEventKind,
};
use runtape_normalizer::LiveItem;

use crate::commands::Invocation;
use crate::commands::follow::{Early, FollowArgs, SeenOfRun, Target, each_seen};
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::times;

/// Show the events of a run in order
///
/// With --json, full events in Perstack's shape, or records with --as records. With --follow, what is seen of a step
/// before it is over comes as events of types of their own: streamText, streamReasoning, streamToolCall,
/// streamToolResult.
#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// The run: its id, the beginning of it, or `last`, which is the usual one; or a job
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    follow: FollowArgs,
    /// Only events of this type (can be repeated)
    #[arg(long, value_name = "TYPE")]
    kind: Vec<String>,
    /// What --json prints
    #[arg(long = "as", value_name = "SHAPE", value_enum, default_value_t = Shape::Events)]
    shape: Shape,
}

/// What `--json` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Full events in Perstack's shape, checkpoints included
    Events,
    /// What the store keeps
    Records,
}

impl EventsArgs {
    /// Tells whether it goes on while the run does.
    pub(crate) fn is_followed(&self) -> bool {
        self.follow.follow
    }
}

pub(crate) fn run(args: &EventsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let named = args.run.as_deref().unwrap_or("last");
    let target = args.follow.target(&store, named)?;
    let is_one = matches!(target, Target::Run(_));
    let early = match (args.shape, args.follow.follow) {
        (Shape::Events, true) => Early::OpenStep,
        _ => Early::Nothing,
    };
    let mut materializers: HashMap<RunId, Materializer> = HashMap::new();
    let mut last: Option<RunId> = None;
    let wanted = |tag: &str| args.kind.is_empty() || args.kind.iter().any(|kind| kind == tag);
    let how = (args.follow.follow, early);
    each_seen(&store, &target, how, invocation, |console, run, seen| {
        if !is_one && !console.json && last.as_ref() != Some(run) {
            last = Some(run.clone());
            let text = console.paint(Tone::Strong, &format!("run {run}"));
            console.line(&text)?;
        }
        let record = match seen {
            SeenOfRun::Record { record, .. } => record,
            SeenOfRun::Live(LiveItem::Event(event)) if wanted(event.tag()) => {
                return early_event(console, &event);
            }
            SeenOfRun::Live(_) => return Ok(()),
        };
        if console.json && args.shape == Shape::Records {
            if wanted(record.kind.tag()) {
                console.object(&record)?;
            }
            return Ok(());
        }
        let materializer = materializers.entry(run.clone()).or_default();
        for event in materializer.push(&record)? {
            if !wanted(event.tag()) {
                continue;
            }
            if console.json {
                console.object(&event)?;
            } else {
                line(console, &record, &event)?;
            }
        }
        Ok(())
    })
}

/// Writes what is seen of a step that is not over.
fn early_event(console: &mut Console<'_>, event: &Event) -> Result<(), CliError> {
    if console.json {
        return console.object(event);
    }
    let (at, text) = match event {
        Event::Run(event) => match &event.kind {
            RunEventKind::StreamReasoning(piece) => (event.timestamp, piece.delta.clone()),
            _ => return Ok(()),
        },
        Event::Runtime(event) => match &event.kind {
            RuntimeEventKind::StreamText(piece) => (event.timestamp, piece.delta.clone()),
            RuntimeEventKind::StreamToolCall(call) => {
                let text = format!("{}({})", call.tool_name, call.args);
                (event.timestamp, text)
            }
            RuntimeEventKind::StreamToolResult(result) => {
                let word = match result.is_error {
                    Some(true) => "failed",
                    Some(false) => "done",
                    None => "ended",
                };
                (event.timestamp, format!("{} {word}", result.tool_name))
            }
            _ => return Ok(()),
        },
    };
    write_line(console, "", at, event, &text)
}

/// With fewer columns than this, a line has no room for dates.
const NARROW: usize = 80;

fn line(console: &mut Console<'_>, record: &Record, event: &Event) -> Result<(), CliError> {
    write_line(
        console,
        &record.seq.to_string(),
        record.at,
        event,
        &gist(record),
    )
}

fn write_line(
    console: &mut Console<'_>,
    number: &str,
    at: i64,
    event: &Event,
    text: &str,
) -> Result<(), CliError> {
    let time = times::local(at);
    // Where there is little room, the date has to go.
    let time = match time.split_once(' ') {
        Some((_, clock)) if console.width < NARROW => clock,
        _ => &time,
    };
    // Number and type take 5 and 28 columns, and there are two between each.
    let taken = 5 + 2 + time.len() + 2 + 28 + 2;
    let time = console.paint(Tone::Faint, time);
    let seq = console.paint(Tone::Faint, &format!("{number:>5}"));
    let tone = if event.is_terminal() {
        Tone::Strong
    } else {
        Tone::Name
    };
    let tag = console.paint(tone, &format!("{:<28}", plain::one_line(event.tag())));
    let room = console.width.saturating_sub(taken).max(8);
    let text = cut(&plain::one_line(text), room);
    console.line(format!("{seq}  {time}  {tag}  {text}").trim_end())
}

/// Returns what a record is about.
fn gist(record: &Record) -> String {
    match &record.kind {
        RecordKind::Run(opened) => opened.runtime.to_string(),
        RecordKind::Initialize(initialize) => initialize.model.clone().unwrap_or_default(),
        RecordKind::Message(message) => {
            use runtape_core::{ExpertPart, Message};
            match &message.message {
                Message::ExpertMessage(expert) => {
                    let parts = expert.contents.iter().map(|part| match part {
                        ExpertPart::TextPart(part) => part.text.clone(),
                        ExpertPart::ThinkingPart(part) => part.thinking.clone(),
                        ExpertPart::ToolCallPart(part) if part.args.is_null() => {
                            format!("{}()", part.tool_name)
                        }
                        ExpertPart::ToolCallPart(part) => {
                            format!("{}({})", part.tool_name, part.args)
                        }
                    });
                    parts.collect::<Vec<_>>().join(" ")
                }
                Message::ToolMessage(tool) => {
                    let texts = tool
                        .results()
                        .map(|result| result.text().unwrap_or_default());
                    texts.collect::<Vec<_>>().join(" ")
                }
                Message::UserMessage(user) => user.text(),
                Message::InstructionMessage(_) => String::new(),
            }
        }
        RecordKind::Checkpoint(head) => {
            let error = head
                .error
                .as_ref()
                .map(|error| format!(": {}", error.message));
            format!(
                "step {} {}{}",
                head.step,
                head.status.as_str(),
                error.unwrap_or_default()
            )
        }
        RecordKind::Event(event) => event.event.notice_text(),
        _ => String::new(),
    }
}
