//! `runtape diff`: what changed between two checkpoints.

use runtape_core::report::{CheckpointDiff, FieldChange};
use runtape_core::{Checkpoint, Message};
use serde_json::{Map, Value};

use super::checkpoint;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::table::plural;

/// Show what changed between two checkpoints, of one run or of two
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// RUN:STEP, RUN for its last checkpoint, or a checkpoint's id or the beginning of it
    #[arg(value_name = "FROM")]
    from: String,
    /// RUN:STEP, RUN for its last checkpoint, or a checkpoint's id or the beginning of it
    #[arg(value_name = "TO")]
    to: String,
}

/// Returns a message without ids, which differ between runs that say the same.
fn content(message: &Message) -> Result<Map<String, Value>, CliError> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.shift_remove("id");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(message)?;
    strip(&mut value);
    Ok(match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([("message".to_owned(), other)]),
    })
}

/// Adds the fields that differ.
fn compare(path: &str, from: &Value, to: &Value, changes: &mut Vec<FieldChange>) {
    if let (Value::Object(old), Value::Object(new)) = (from, to) {
        let keys = old
            .keys()
            .chain(new.keys().filter(|key| !old.contains_key(*key)));
        for key in keys {
            let at = |fields: &Map<String, Value>| fields.get(key).cloned().unwrap_or(Value::Null);
            compare(&format!("{path}/{key}"), &at(old), &at(new), changes);
        }
    } else if from != to {
        changes.push(FieldChange {
            path: path.to_owned(),
            from: from.clone(),
            to: to.clone(),
        });
    }
}

fn difference(from: &Checkpoint, to: &Checkpoint) -> Result<CheckpointDiff, CliError> {
    let messages = |checkpoint: &Checkpoint| -> Result<Vec<Map<String, Value>>, CliError> {
        checkpoint.messages.iter().map(content).collect()
    };
    let (mut old, mut new) = (messages(from)?, messages(to)?);
    let same = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let head = |checkpoint: &Checkpoint| -> Result<Value, CliError> {
        let mut value = serde_json::to_value(checkpoint)?;
        if let Value::Object(fields) = &mut value {
            for key in ["id", "messages"] {
                fields.shift_remove(key);
            }
        }
        Ok(value)
    };
    let mut changes = Vec::new();
    compare("", &head(from)?, &head(to)?, &mut changes);
    Ok(CheckpointDiff {
        from: from.id.clone(),
        to: to.id.clone(),
        changes,
        same_messages: same as u64,
        removed_messages: old.split_off(same),
        added_messages: new.split_off(same),
    })
}

pub(crate) fn run(args: &DiffArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let from = checkpoint::find(&store, &args.from)?;
    let to = checkpoint::find(&store, &args.to)?;
    let difference = difference(&from, &to)?;
    let console = &mut invocation.console;
    if console.json {
        return console.object(&difference);
    }
    let room = console.width.saturating_sub(2);
    for change in &difference.changes {
        let text = plain::one_line(&format!(
            "{}: {} -> {}",
            change.path, change.from, change.to
        ));
        console.line(&format!("  {}", cut(&text, room)))?;
    }
    let same = plural(difference.same_messages, "message");
    let same = console.paint(Tone::Faint, &format!("  {same} alike"));
    console.line(&same)?;
    let same = usize::try_from(difference.same_messages).unwrap_or(usize::MAX);
    for (mark, checkpoint) in [("- ", &from), ("+ ", &to)] {
        for message in checkpoint.messages.iter().skip(same) {
            checkpoint::message(console, mark, message)?;
        }
    }
    Ok(())
}
