//! `runtape events`: what happened in a run, in order.

use clap::ValueEnum;
use runtape_core::{Event, Materializer, Record, RecordKind};

use crate::commands::Invocation;
use crate::commands::follow::each_record;
use crate::database::resolve_run;
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::times;

/// Show the events of a run in order
///
/// With --json, full events in Perstack's shape, or records with --as records.
#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", default_value = "last", hide_default_value = true)]
    run: String,
    /// Go on while the run goes on
    #[arg(long)]
    follow: bool,
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

pub(crate) fn run(args: &EventsArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let run_id = resolve_run(&store, &args.run)?;
    let mut materializer = Materializer::new();
    let console = &mut invocation.console;
    let wanted = |tag: &str| args.kind.is_empty() || args.kind.iter().any(|kind| kind == tag);
    each_record(&store, &run_id, args.follow, |record| {
        if console.json && args.shape == Shape::Records {
            if wanted(record.kind.tag()) {
                console.object(&record)?;
            }
        } else {
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
        }
        if args.follow {
            console.out.flush()?;
        }
        Ok(())
    })
}

/// With fewer columns than this, a line has no room for dates.
const NARROW: usize = 80;

fn line(console: &mut Console<'_>, record: &Record, event: &Event) -> Result<(), CliError> {
    let time = times::local(record.at);
    // Where there is little room, the date has to go.
    let time = match time.split_once(' ') {
        Some((_, clock)) if console.width < NARROW => clock,
        _ => &time,
    };
    // Number and type take 5 and 28 columns, and there are two between each.
    let taken = 5 + 2 + time.len() + 2 + 28 + 2;
    let time = console.paint(Tone::Faint, time);
    let seq = console.paint(Tone::Faint, &format!("{:>5}", record.seq));
    let tone = if event.is_terminal() {
        Tone::Strong
    } else {
        Tone::Name
    };
    let tag = console.paint(tone, &format!("{:<28}", plain::one_line(event.tag())));
    let room = console.width.saturating_sub(taken).max(8);
    let text = cut(&plain::one_line(&gist(record)), room);
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
