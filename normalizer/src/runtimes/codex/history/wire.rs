//! What the lines of a rollout look like.

use serde_json::Value;

use crate::json::{RareValue, Raw, Str, number, wire_shapes, wire_struct};
use crate::runtimes::codex::shell;
use crate::runtimes::codex::tools::Tool;
use crate::runtimes::codex::wire::Item;
use crate::verdict::VerdictWord;

wire_struct! {
    /// What cutting a thread into turns takes, and no more.
    pub(super) struct LineHead<'a> {
        "timestamp" => timestamp: Option<Str<'a>>,
        "ordinal" => ordinal: Option<u64> as number::opt_u64,
        "type" => tag: Option<Str<'a>>,
        "payload" => payload: Option<Payload<'a>>,
        ; rest skipped
    }

    pub(super) struct Payload<'a> {
        "type" => tag: Option<Str<'a>>,
        "turn_id" => turn: Option<Str<'a>>,
        "internal_chat_message_metadata_passthrough" => passthrough: Passthrough<'a>,
        // session_meta
        "id" => id: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "parent_thread_id" => parent: Option<Str<'a>>,
        "forked_from_id" => forked_from: Option<Str<'a>>,
        "timestamp" => created: Option<Str<'a>>,
        "originator" => originator: Option<Str<'a>>,
        "source" => source: Value,
        "subagent_history_start_ordinal" => own_from: Option<u64> as number::opt_u64,
        // session_meta, turn_context
        "cwd" => cwd: Option<Str<'a>>,
        // task_started
        "root_turn_id" => root_turn: Option<Str<'a>>,
        "turn_attribution" => attribution: Attribution<'a>,
        // task_complete
        "last_agent_message" => answer: Option<Str<'a>>,
        // item_completed, token_usage_record
        "thread_id" => thread: Option<Str<'a>>,
        "item" => item: CompletedHead<'a>,
        "response_id" => response: Option<Str<'a>>,
        // token_count
        "info" => info: TokenInfo<'a>,
        // calls and what they gave back
        "call_id" => call: Option<Str<'a>>,
        // user_message, agent_message
        "message" => message: Option<Str<'a>>,
        ; rest skipped
    }
}

/// Tells whether the first line of a thread says that a review began it.
pub(super) fn is_review(source: &Value) -> bool {
    source.get("subagent").and_then(Value::as_str) == Some("review")
}

impl Payload<'_> {
    /// Returns the turn that the line names.
    pub(super) fn turn(&self) -> Option<&str> {
        let turn = self.turn.as_deref().or(self.passthrough.turn.as_deref());
        turn.filter(|turn| !turn.is_empty())
    }
}

wire_struct! {
    pub(super) struct Passthrough<'a> {
        "turn_id" => turn: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct Attribution<'a> {
        "turn_trigger" => trigger: Option<Str<'a>>,
        "parent_turn_id" => parent: Option<Str<'a>>,
        ; rest skipped
    }

    /// What the reader needs of an item that was completed.
    pub(super) struct CompletedHead<'a> {
        "type" => kind: Option<Str<'a>>,
        "id" => id: Option<Str<'a>>,
        "content" => content: Content<'a>,
        "receiver_thread_ids" => receivers: Vec<Str<'a>>,
        ; rest skipped
    }

    /// What an older version says of tokens: the thread's total, and the last response's.
    pub(super) struct TokenInfo<'a> {
        "total_token_usage" => total: Total,
        "last_token_usage" => last: Raw<'a>,
        ; rest skipped
    }

    pub(super) struct Total {
        "total_tokens" => tokens: Option<u64> as number::opt_u64,
        ; rest skipped
    }
}

/// What a message or a result holds: a text, or a list of pieces.
#[derive(Clone, Debug, Default)]
pub(super) enum Content<'a> {
    #[default]
    None,
    Text(Str<'a>),
    Pieces(Vec<ContentPiece<'a>>),
    Other(Value),
}

wire_shapes! {
    Content: "a text or a list";
    string text => Content::Text(text);
    null => Content::None;
    flag flag => Content::Other(flag.into());
    number number => Content::Other(number);
    list list => crate::json::items(list, size_of::<ContentPiece<'de>>()).map(Content::Pieces);
    object_value object => Content::Other(object);
}

impl Content<'_> {
    /// Returns the same, borrowed from no line.
    pub(super) fn into_owned(self) -> Content<'static> {
        let text = |text: Option<Str<'_>>| text.map(|text| text.into_owned().into());
        match self {
            Self::None => Content::None,
            Self::Text(text) => Content::Text(text.into_owned().into()),
            Self::Other(value) => Content::Other(value),
            Self::Pieces(pieces) => {
                let pieces = pieces.into_iter().map(|piece| ContentPiece {
                    kind: text(piece.kind),
                    text: text(piece.text),
                    image: text(piece.image),
                    unknown: Vec::new(),
                });
                Content::Pieces(pieces.collect())
            }
        }
    }

    /// Returns the text, pieces joined.
    pub(super) fn text(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Text(text) => text.as_str().to_owned(),
            Self::Pieces(pieces) => {
                let texts = pieces.iter().filter_map(|piece| piece.text.as_deref());
                texts.collect()
            }
            Self::Other(value) => value.to_string(),
        }
    }
}

wire_struct! {
    /// A piece of a message, of a summary or of a result.
    pub(super) struct ContentPiece<'a> {
        "type" => kind: Option<Str<'a>>,
        "text" => text: Option<Str<'a>>,
        "image_url" => image: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct MetaLine<'a> {
        "payload" => payload: ThreadMeta<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    /// The first line of a rollout.
    pub(super) struct ThreadMeta<'a> {
        "id" => id: Option<Str<'a>>,
        "session_id" => session: Option<Str<'a>>,
        "forked_from_id" => forked_from: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        "cli_version" => version: Option<Str<'a>>,
        "source" => source: Value,
        ; known "parent_thread_id", "timestamp", "runtime_workspace_roots", "originator",
            "thread_source", "model_provider", "base_instructions", "instructions", "history_mode",
            "context_window", "git", "agent_nickname", "agent_role", "agent_path", "dynamic_tools",
            "memory_mode", "forked_from_ordinal_exclusive", "history_base", "multi_agent_version",
            "subagent_history_start_ordinal"
    }

    pub(super) struct ContextLine<'a> {
        "payload" => payload: TurnContext<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    /// What a turn works with. Each version adds to it.
    pub(super) struct TurnContext<'a> {
        "model" => model: Option<Str<'a>>,
        "cwd" => cwd: Option<Str<'a>>,
        ; rest skipped
    }

    pub(super) struct UsageLine<'a> {
        "payload" => payload: UsageRecord<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    /// What one response used.
    pub(super) struct UsageRecord<'a> {
        "response_id" => response: Option<Str<'a>>,
        "usage" => usage: Raw<'a>,
        ; known "thread_id", "turn_id", "session_id", "root_turn_id", "turn_token_usage",
            "thread_token_usage"
    }

    pub(super) struct TokenCountLine<'a> {
        "payload" => payload: TokenCount<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    pub(super) struct TokenCount<'a> {
        "info" => info: TokenInfo<'a>,
        ; known "type", "rate_limits"
    }

    pub(super) struct ResponseLine<'a> {
        "payload" => payload: ResponseItem<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    /// What went to the model, or came from it: each type has some of these.
    pub(super) struct ResponseItem<'a> {
        "id" => id: Option<Str<'a>>,
        // message
        "role" => role: Option<Str<'a>>,
        // message, reasoning
        "content" => content: Content<'a>,
        // reasoning
        "summary" => summary: Content<'a>,
        "encrypted_content" => encrypted: Option<Str<'a>>,
        // calls
        "call_id" => call: Option<Str<'a>>,
        "name" => name: Option<Str<'a>>,
        "namespace" => namespace: Option<Str<'a>>,
        "arguments" => arguments: Option<Str<'a>>,
        "input" => input: Option<Str<'a>>,
        "action" => action: Value,
        // what calls gave back
        "output" => output: Content<'a>,
        ; known "type", "status", "phase", "internal_chat_message_metadata_passthrough",
            "timestamp", "ordinal", "metadata", "execution", "end_turn", "author", "recipient"
    }

    pub(super) struct EventLine<'a> {
        "payload" => payload: EventPayload<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    /// Something that happened around the conversation. Most types have keys of their own that say
    /// nothing about it.
    pub(super) struct EventPayload<'a> {
        "message" => message: Option<Str<'a>>,
        "reason" => reason: Option<Str<'a>>,
        "last_agent_message" => answer: Option<Str<'a>>,
        "error" => error: Value,
        "duration_ms" => duration_ms: Option<u64> as number::opt_u64,
        ; rest skipped
    }

    pub(super) struct CompletedLine<'a> {
        "payload" => payload: Completed<'a>,
        ; known "timestamp", "ordinal", "type", "metadata"
    }

    pub(super) struct Completed<'a> {
        "item" => item: CompletedItem<'a>,
        "started_at_ms" => started: Option<u64> as number::opt_u64,
        "completed_at_ms" => ended: Option<u64> as number::opt_u64,
        ; known "type", "thread_id", "turn_id"
    }
}

impl Completed<'_> {
    /// Returns how long it took, by the clock.
    pub(super) fn took_ms(&self) -> Option<u64> {
        self.ended?.checked_sub(self.started?)
    }
}

wire_struct! {
    /// An item that was completed: each type has some of these.
    pub(super) struct CompletedItem<'a> {
        "type" => kind: Option<Str<'a>>,
        "id" => id: Option<Str<'a>>,
        "status" => status: VerdictWord<'a>,
        // UserMessage, AgentMessage
        "content" => content: Content<'a>,
        // Reasoning
        "summary_text" => summary: Vec<Str<'a>>,
        // CommandExecution
        "command" => command: ShellCommand<'a>,
        "aggregated_output" => output: Option<Str<'a>>,
        "exit_code" => exit_code: Option<i64>,
        "duration" => duration: Duration,
        // FileChange
        "changes" => changes: Value,
        "stdout" => stdout: Option<Str<'a>>,
        "stderr" => stderr: Option<Str<'a>>,
        // McpToolCall, CollabAgentToolCall
        "server" => server: Option<Str<'a>>,
        "tool" => tool: Option<Str<'a>>,
        "arguments" => arguments: RareValue,
        "result" => result: RareValue,
        "error" => error: RareValue,
        "prompt" => prompt: RareValue,
        "sender_thread_id" => sender: RareValue,
        "receiver_thread_ids" => receivers: RareValue,
        "agents_states" => agents: RareValue,
        // WebSearch
        "query" => query: Option<Str<'a>>,
        "action" => action: RareValue,
        // SubAgentActivity
        "agent_thread_id" => agent_thread: Option<Str<'a>>,
        ; known "cwd", "process_id", "parsed_cmd", "source", "raw_content", "phase", "model",
            "reasoning_effort", "memory_citation", "receiver_agents",
            "kind", "agent_path", "target", "user_facing_hint", "review_output"
    }

    pub(super) struct Duration {
        "secs" => seconds: Option<u64> as number::opt_u64,
        "nanos" => nanos: Option<u64> as number::opt_u64,
        ; rest skipped
    }
}

/// A command: its words, or the text that they were joined to.
#[derive(Clone, Debug, Default)]
pub(super) enum ShellCommand<'a> {
    #[default]
    None,
    Text(Str<'a>),
    Words(Vec<Str<'a>>),
}

wire_shapes! {
    ShellCommand: "a command";
    string text => ShellCommand::Text(text);
    null => ShellCommand::None;
    list list => crate::json::items(list, size_of::<Str<'de>>()).map(ShellCommand::Words);
}

impl<'a> ShellCommand<'a> {
    /// Returns the command as the output has it.
    fn printed(self) -> Option<Str<'a>> {
        match self {
            Self::None => None,
            Self::Text(text) => Some(text),
            Self::Words(words) => {
                let words: Vec<&str> = words.iter().map(Str::as_str).collect();
                Some(shell::joined(&words).into())
            }
        }
    }
}

/// Returns the tool that a type of item stands for, if it is a call.
pub(super) fn tool_of(kind: &str) -> Option<Tool> {
    Some(match kind {
        "CommandExecution" => Tool::Command,
        "FileChange" => Tool::FileChange,
        "McpToolCall" => Tool::Mcp,
        "WebSearch" => Tool::WebSearch,
        "CollabAgentToolCall" => Tool::Collab,
        _ => return None,
    })
}

impl<'a> CompletedItem<'a> {
    /// Returns how long it took.
    pub(super) fn duration_ms(&self) -> Option<u64> {
        let Duration { seconds, nanos, .. } = &self.duration;
        let millis = seconds.map(|seconds| seconds.saturating_mul(1000));
        millis.map(|millis| millis.saturating_add(nanos.unwrap_or(0) / 1_000_000))
    }

    /// Returns what a change of files printed.
    pub(super) fn printed(&self) -> Option<String> {
        let (out, err) = (self.stdout.as_deref(), self.stderr.as_deref());
        let text = [out, err].into_iter().flatten().collect::<String>();
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns the item as the output has it.
    pub(super) fn into_item(self) -> Item<'a> {
        Item {
            status: self.status,
            command: self.command.printed(),
            output: self.output,
            exit_code: self.exit_code,
            changes: changes(self.changes).into(),
            server: self.server,
            tool: self.tool,
            arguments: self.arguments,
            result: self.result,
            error: self.error,
            query: self.query,
            action: self.action,
            prompt: self.prompt,
            sender: self.sender,
            receivers: self.receivers,
            agents: self.agents,
            ..Item::default()
        }
    }
}

/// Lists changes of files as the output does, by path; a rollout has an object without an order.
fn changes(changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        return changes;
    };
    let mut list: Vec<(String, Value)> = changes.into_iter().collect();
    list.sort_by(|(one, _), (other, _)| one.cmp(other));
    let list = list.into_iter().map(|(path, mut change)| {
        let kind = change.get_mut("type").map(Value::take).unwrap_or_default();
        let fields = [("path".to_owned(), path.into()), ("kind".to_owned(), kind)];
        Value::Object(fields.into_iter().collect())
    });
    list.collect()
}
