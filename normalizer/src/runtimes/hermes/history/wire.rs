//! What the rows look like.

use serde_json::Value;

use crate::json::{Str, number, wire_struct};
use crate::verdict::VerdictWord as Verdict;

wire_struct! {
    pub(super) struct SessionLine<'a> {
        "row" => row: SessionRow<'a>,
        ; rest skipped
    }

    /// A session. Columns are only ever added, and most say nothing about a run.
    pub(super) struct SessionRow<'a> {
        "id" => id: Option<Str<'a>>,
        "parent_session_id" => parent: Option<Str<'a>>,
        "source" => source: Option<Str<'a>>,
        "model" => model: Option<Str<'a>>,
        "model_config" => config: Option<Str<'a>>,
        "started_at" => started: Option<f64> as number::opt_f64,
        "ended_at" => ended: Option<f64> as number::opt_f64,
        "end_reason" => end_reason: Option<Str<'a>>,
        "input_tokens" => input: Option<u64> as number::opt_u64,
        "output_tokens" => output: Option<u64> as number::opt_u64,
        "cache_read_tokens" => cache_read: Option<u64> as number::opt_u64,
        "cache_write_tokens" => cache_write: Option<u64> as number::opt_u64,
        "reasoning_tokens" => reasoning: Option<u64> as number::opt_u64,
        "estimated_cost_usd" => estimated_cost: Option<f64> as number::opt_f64,
        "actual_cost_usd" => actual_cost: Option<f64> as number::opt_f64,
        "cost_status" => cost_status: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "title" => title: Option<Str<'a>>,
        ; rest skipped
    }
}

impl SessionRow<'_> {
    fn configured(&self) -> Value {
        let config = self.config.as_deref().unwrap_or_default();
        serde_json::from_str(config).unwrap_or_default()
    }

    /// Returns the directory, which acp keeps with the model.
    pub(super) fn cwd(&self) -> Option<String> {
        let own = self.cwd.as_deref().filter(|cwd| !cwd.is_empty());
        let own = own.map(str::to_owned);
        own.or_else(|| self.configured().get("cwd")?.as_str().map(str::to_owned))
    }

    /// Tells whether the session says itself that it is a sub-agent's.
    pub(super) fn is_delegate(&self) -> bool {
        self.configured().get("_delegate_from").is_some()
    }
}

wire_struct! {
    pub(super) struct HeadLine<'a> {
        "row" => row: MessageHead<'a>,
        ; rest skipped
    }

    /// What tells rows of messages apart.
    pub(super) struct MessageHead<'a> {
        "id" => id: Option<i64>,
        "session_id" => session: Option<Str<'a>>,
        "role" => role: Option<Str<'a>>,
        "timestamp" => at: Option<f64> as number::opt_f64,
        ; rest skipped
    }

    pub(super) struct MessageLine<'a> {
        "row" => row: Message<'a>,
        ; rest skipped
    }

    /// A message, or a result.
    pub(super) struct Message<'a> {
        "id" => id: Option<i64>,
        "session_id" => session: Option<Str<'a>>,
        "role" => role: Option<Str<'a>>,
        "timestamp" => at: Option<f64> as number::opt_f64,
        "content" => content: Option<Str<'a>>,
        "tool_calls" => calls: Option<Str<'a>>,
        "tool_call_id" => call: Option<Str<'a>>,
        "tool_name" => tool: Option<Str<'a>>,
        "reasoning" => reasoning: Option<Str<'a>>,
        "reasoning_content" => reasoning_content: Option<Str<'a>>,
        ; known "finish_reason", "token_count", "effect_disposition", "observed", "active", "compacted", "display_kind",
            "display_metadata"
    }

    /// A call of the list that a row has as text.
    pub(super) struct Call<'a> {
        "id" => id: Option<Str<'a>>,
        "call_id" => other_id: Option<Str<'a>>,
        "function" => function: Function<'a>,
        ; rest skipped
    }
}

impl Call<'_> {
    /// Returns the id by which its result is tied to it.
    pub(super) fn id(&self) -> Option<&str> {
        let id = self.id.as_deref().or(self.other_id.as_deref());
        id.filter(|id| !id.is_empty())
    }

    /// Returns what was asked for.
    pub(super) fn arguments(&self) -> Value {
        let text = self.function.arguments.as_deref().unwrap_or_default();
        match serde_json::from_str(text) {
            Ok(arguments) => arguments,
            Err(_) if text.is_empty() => Value::Null,
            Err(_) => Value::from(text),
        }
    }
}

wire_struct! {
    pub(super) struct Function<'a> {
        "name" => name: Option<Str<'a>>,
        "arguments" => arguments: Option<Str<'a>>,
        ; rest skipped
    }

    /// What a result says of how its call went.
    pub(super) struct ToolOutcome<'a> {
        "exit_code" => exit_code: Verdict<'a>,
        "error" => error: Verdict<'a>,
        "success" => success: Verdict<'a>,
        "status" => status: Verdict<'a>,
        ; rest skipped
    }
}

/// Reads the list of calls.
pub(super) fn calls(text: &str) -> Option<Vec<Call<'_>>> {
    crate::json::decode::<Vec<Call<'_>>>(text.as_bytes())
        .ok()
        .map(|decoded| decoded.value)
}

/// Returns the goals of the sub-agents that a call starts.
pub(super) fn goals(arguments: &Value) -> Vec<String> {
    let tasks = arguments.get("tasks").and_then(Value::as_array);
    let tasks = tasks.into_iter().flatten();
    let all = std::iter::once(arguments).chain(tasks);
    let goals = all.filter_map(|task| task.get("goal").and_then(Value::as_str));
    goals.map(str::to_owned).collect()
}

wire_struct! {
    pub(super) struct NoteLine<'a> {
        "row" => row: Note<'a>,
        ; rest skipped
    }

    /// What the reader tells the parser.
    pub(super) struct Note<'a> {
        // The run begins with the session.
        "first" => is_first: Option<bool>,
        // A session of a sub-agent, and the call that started it.
        "child" => child: Option<Str<'a>>,
        "call" => call: Option<Str<'a>>,
        // A session that goes on with the conversation of the one before.
        "continues" => continues: Option<Str<'a>>,
    }
}
