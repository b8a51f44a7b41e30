//! `runtape checkpoint`: the state at the end of a step.

use runtape_core::{Checkpoint, ExpertPart, Message, Metadata, Outcome};
use runtape_store::Store;
use serde_json::Value;

use crate::commands::Invocation;
use crate::database::{CheckpointName, resolve_checkpoint, resolve_run};
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::table::thousands;

/// Show the state at the end of a step: messages so far, status, usage
///
/// With --json, the checkpoint in Perstack's shape.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// RUN for its last checkpoint, RUN:STEP, or a checkpoint's id or the beginning of it
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: String,
}

/// Finds a checkpoint by `RUN`, `RUN:STEP` or its own id, each of which may be shortened.
pub(crate) fn find(store: &Store, text: &str) -> Result<Checkpoint, CliError> {
    let not_found = || CliError::NotFound {
        what: format!("checkpoint {text:?}"),
    };
    if let Some((run, step)) = text.split_once(':') {
        let run = resolve_run(store, run)?;
        let step = step.parse().map_err(|_| CliError::Usage {
            message: format!("{step:?} is no step: write RUN:3"),
        })?;
        return store.checkpoint_of(&run, Some(step))?.ok_or_else(not_found);
    }
    let found = match resolve_checkpoint(store, text)? {
        CheckpointName::Id(id) => store.checkpoint(&id)?,
        CheckpointName::LastOf(run) => store.checkpoint_of(&run, None)?,
    };
    found.ok_or_else(not_found)
}

pub(crate) fn run(args: &CheckpointArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let checkpoint = find(&store, &args.checkpoint)?;
    let console = &mut invocation.console;
    if console.json {
        return console.object(&checkpoint);
    }
    let status = if checkpoint.status.is_terminal() {
        let nothing = Metadata::default();
        let (error, metadata) = (checkpoint.error.as_ref(), checkpoint.metadata.as_ref());
        let outcome = Outcome::of(checkpoint.status, error, metadata.unwrap_or(&nothing));
        let label = outcome.label(error.map(|error| error.name.as_str()));
        console.paint(Tone::of_outcome(outcome), &plain::one_line(&label))
    } else {
        checkpoint.status.as_str().to_owned()
    };
    console.line(&format!(
        "checkpoint {} of run {}, step {}: {status}",
        checkpoint.id, checkpoint.run_id, checkpoint.step_number
    ))?;
    let used = used(&checkpoint);
    console.line(&used)?;
    for call in checkpoint.pending_tool_calls.iter().flatten() {
        let text = format!("call without a result: {}", call.tool_name);
        let text = console.paint(Tone::Warning, &plain::one_line(&text));
        console.line(&text)?;
    }
    console.line("")?;
    checkpoint
        .messages
        .iter()
        .try_for_each(|text| message(console, "", text))
}

/// Returns what was used so far; what nobody reported is not called zero.
fn used(checkpoint: &Checkpoint) -> String {
    let usage = &checkpoint.usage;
    let unknown = checkpoint.metadata.as_ref().map(Metadata::usage_unknown);
    let unknown = unknown.unwrap_or_default();
    let parts = [
        ("inputTokens", usage.input_tokens, "input"),
        ("cachedInputTokens", usage.cached_input_tokens, "cached"),
        ("outputTokens", usage.output_tokens, "output"),
    ];
    let known = parts
        .into_iter()
        .filter(|(key, _, _)| !unknown.contains(key));
    let known = known.map(|(_, count, name)| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        format!("{} {name}", thousands(count))
    });
    let known: Vec<String> = known.collect();
    if known.is_empty() {
        "tokens so far: not known".to_owned()
    } else {
        format!("tokens so far: {}", known.join(", "))
    }
}

/// Writes a message: its parts, one line each.
pub(super) fn message(
    console: &mut Console<'_>,
    mark: &str,
    message: &Message,
) -> Result<(), CliError> {
    let mut parts: Vec<(&str, Tone, String)> = Vec::new();
    match message {
        Message::UserMessage(user) => parts.push(("user", Tone::Strong, user.text())),
        Message::InstructionMessage(_) => parts.push(("instruction", Tone::Faint, String::new())),
        Message::ExpertMessage(expert) => {
            for part in &expert.contents {
                parts.push(match part {
                    ExpertPart::TextPart(part) => ("expert", Tone::Plain, part.text.clone()),
                    ExpertPart::ThinkingPart(part) => {
                        ("thinking", Tone::Faint, part.thinking.clone())
                    }
                    ExpertPart::ToolCallPart(part) => (
                        "call",
                        Tone::Name,
                        match &part.args {
                            Value::Null => part.tool_name.to_string(),
                            args => format!("{} {args}", part.tool_name),
                        },
                    ),
                });
            }
        }
        Message::ToolMessage(tool) => {
            for result in tool.results() {
                let tone = if result.is_error == Some(true) {
                    Tone::Bad
                } else {
                    Tone::Faint
                };
                parts.push(("result", tone, result.text().unwrap_or_default()));
            }
        }
    }
    for (role, tone, text) in parts {
        let taken = 13 + mark.len();
        let text = cut(&plain::one_line(&text), console.width.saturating_sub(taken));
        let role = console.paint(Tone::Faint, &format!("{role:>11}"));
        let text = console.paint(tone, &text);
        console.line(format!("{mark}{role}  {text}").trim_end())?;
    }
    Ok(())
}
