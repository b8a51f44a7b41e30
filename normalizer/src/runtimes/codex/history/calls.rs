//! Calls of a thread, held until it shows what became of them.
//!
//! A call stands in the rollout when the model makes it, under the name that the model has for it. The
//! item that tells how it ended, under the name that the output has for it, follows before the next
//! response; a call that could not be routed has none, and one whose command goes on gets it later.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use runtape_core::runtime_event::PermissionDenied;
use runtape_core::{ToolCallId, ToolClass};
use serde_json::{Value, json};

use super::wire::{CompletedItem, Content, tool_of};
use crate::parser::SignalSink;
use crate::patch_text::patched_files;
use crate::runtimes::codex::results::EndedCall;
use crate::runtimes::codex::shell;
use crate::runtimes::codex::tools::{self, Tool};
use crate::runtimes::codex::wire::Item;
use crate::signal::{Block, CallDetail, CallRef, Scope, Signal, TapePlace};

/// What the router of the CLI says of a call that it could not hand on.
const UNROUTED: &[&str] = &[
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments",
];

/// How the CLI begins to tell the model that a call was refused before it ran.
const REFUSED: &[&str] = &[
    "approval policy is ",
    "patch rejected",
    "exec command rejected",
    "command rejected",
    "rejected by user",
    "Command blocked by ",
];

/// What the model called, in its own words.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelCall {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// JSON text, or for some tools any text.
    pub(super) arguments: String,
    /// What a call without arguments does, such as a search.
    pub(super) action: Value,
}

/// A result in the words that the model was given.
#[derive(Debug)]
struct ToldResult {
    content: Content<'static>,
    place: TapePlace,
}

/// How a call ended, by its item.
#[derive(Debug)]
struct ItemEnd {
    tool: Tool,
    item: Item<'static>,
    /// What a tool printed that the output does not show.
    printed: Option<String>,
    duration_ms: Option<u64>,
    place: TapePlace,
}

#[derive(Debug)]
struct HeldCall {
    id: Box<str>,
    call: ModelCall,
    place: TapePlace,
    told: Option<ToldResult>,
    ended: Option<ItemEnd>,
}

/// The calls of one thread.
#[derive(Debug, Default)]
pub(super) struct ThreadCalls {
    held: VecDeque<HeldCall>,
    /// How many calls are no longer held.
    passed: usize,
    /// Which call an id is, counted from the first of the thread, by the id's hash.
    places: HashMap<u64, usize>,
    /// Bytes that are held.
    weight: usize,
    /// Hashes of the ids of calls that were given out.
    given: HashSet<u64>,
    /// What was said of commands that went on, until they have ended.
    going_on: HashMap<Box<str>, ToldResult>,
    hasher: FixedState,
}

/// Which threads a call started.
pub(super) type Spawned = Vec<(String, String)>;

impl ThreadCalls {
    /// Tells whether a call was seen before.
    fn is_given(&self, id: &str) -> bool {
        self.given.contains(&self.hasher.hash_one(id))
    }

    /// Tells whether a call has not shown what became of it.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Returns how many bytes are held.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    /// Returns a call that is held.
    fn held(&mut self, id: &str) -> Option<&mut HeldCall> {
        let place = self.places.get(&self.hasher.hash_one(id))?;
        let held = self.held.get_mut(place.checked_sub(self.passed)?)?;
        (&*held.id == id).then_some(held)
    }

    /// Takes a call that the model makes. Returns whether it is a new one.
    pub(super) fn begin(&mut self, id: &str, call: ModelCall, place: TapePlace) -> bool {
        if self.is_given(id) || self.held(id).is_some() {
            return false;
        }
        let number = self.passed + self.held.len();
        self.places.insert(self.hasher.hash_one(id), number);
        self.weight += call.arguments.len() + call.name.len();
        self.held.push_back(HeldCall {
            id: id.into(),
            call,
            place,
            told: None,
            ended: None,
        });
        true
    }

    /// Takes what the model was told of a call.
    pub(super) fn tell(
        &mut self,
        id: &str,
        content: Content<'static>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) {
        let place = out.place();
        let told = ToldResult { content, place };
        let weight = told.content.weight();
        if let Some(held) = self.held(id) {
            held.told.get_or_insert(told);
            self.weight += weight;
        } else if self.going_on.contains_key(id) {
            // Said already, when the command went on.
        } else {
            let ended = ended(scope, Tool::Command, id, "", None);
            ended.emit_answer(told.content.into_blocks(), None, out);
        }
    }

    /// Takes the item that tells how a call ended.
    pub(super) fn end(
        &mut self,
        tool: Tool,
        item: CompletedItem<'_>,
        took_ms: Option<u64>,
        scope: Scope<'_>,
        spawned: &mut Spawned,
        out: &mut SignalSink<'_>,
    ) {
        let Some(id) = item.id.as_deref().filter(|id| !id.is_empty()) else {
            return out.unparsed(item.kind.as_deref(), "id: missing");
        };
        let id = id.to_owned();
        let mut ended = ItemEnd {
            tool,
            printed: item.printed(),
            duration_ms: item.duration_ms().or(took_ms),
            item: item.into_item().into_owned(),
            place: out.place(),
        };
        if tool == Tool::Collab {
            let name = ended.item.tool.as_deref().map(printed_name);
            ended.item.tool = name.map(|name| name.to_owned().into());
        }
        if let Some(held) = self.held(&id) {
            let weight = ended.item.output.as_ref().map_or(0, |output| output.len());
            held.ended.get_or_insert(ended);
            self.weight += weight;
            while self.held.front().is_some_and(|held| held.ended.is_some()) {
                self.give_first(scope, spawned, out);
            }
            return;
        }
        let is_given = self.is_given(&id);
        self.going_on.remove(id.as_str());
        self.give_ended(&id, ended, !is_given, out.place(), scope, spawned, out);
    }

    /// Gives out all calls that are held, as far as it shows what became of them.
    pub(super) fn flush(
        &mut self,
        scope: Scope<'_>,
        spawned: &mut Spawned,
        out: &mut SignalSink<'_>,
    ) {
        while !self.held.is_empty() {
            self.give_first(scope, spawned, out);
        }
    }

    /// Gives out everything: no item will come any more.
    pub(super) fn finish(
        &mut self,
        scope: Scope<'_>,
        spawned: &mut Spawned,
        out: &mut SignalSink<'_>,
    ) {
        self.flush(scope, spawned, out);
        let mut left: Vec<(Box<str>, ToldResult)> = self.going_on.drain().collect();
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (id, told) in left {
            let mut out = out.at(told.place);
            let ended = ended(scope, Tool::Command, &id, "command_execution", None);
            ended.emit_answer(told.content.into_blocks(), None, &mut out);
        }
    }

    fn give_first(&mut self, scope: Scope<'_>, spawned: &mut Spawned, out: &mut SignalSink<'_>) {
        let Some(held) = self.held.pop_front() else {
            return;
        };
        self.passed += 1;
        self.places.remove(&self.hasher.hash_one(&*held.id));
        if self.held.is_empty() {
            self.weight = 0;
        }
        if let Some(ended) = held.ended {
            return self.give_ended(&held.id, ended, true, held.place, scope, spawned, out);
        }
        self.given.insert(self.hasher.hash_one(&*held.id));
        let described = Described::of(held.call);
        let call = CallRef::Printed(&held.id);
        let signal = Signal::ToolCall {
            call,
            name: described.name.as_str().into(),
            input: described.input,
            detail: described.detail,
        };
        out.emit_at(held.place, scope, signal);
        if described.can_delegate {
            out.emit_at(held.place, scope, Signal::Delegates(&held.id));
        }
        let Some(told) = held.told else { return };
        let text = told.content.text();
        if described.can_delegate
            && let Ok(Value::Object(answer)) = serde_json::from_str(&text)
            && let Some(thread) = answer.get("agent_id").and_then(Value::as_str)
        {
            spawned.push((thread.to_owned(), (*held.id).to_owned()));
        }
        let is_refused = is_refused(&text);
        let verdict = match described.kind {
            CallKind::Command => match exit_in(&text) {
                ResultHead::GoesOn => {
                    self.going_on.insert(held.id, told);
                    return;
                }
                ResultHead::Code(code) => Some(code != 0),
                ResultHead::None => Some(true),
            },
            // These leave an item if they are run at all.
            CallKind::WithItem => Some(true),
            CallKind::Other => {
                let is_unrouted = UNROUTED.iter().any(|start| text.starts_with(start));
                (is_unrouted || is_refused).then_some(true)
            }
        };
        let mut out = out.at(told.place);
        if is_refused {
            let denied = PermissionDenied {
                tool_name: described.name.clone(),
                tool_call_id: ToolCallId::from_printed(&held.id),
                message: Some(text),
            };
            out.emit_in(scope, Signal::Event(denied.into()));
        }
        let ended = ended(scope, Tool::Command, &held.id, &described.name, None);
        ended.emit_answer(told.content.into_blocks(), verdict, &mut out);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "where a call is, and what became of it"
    )]
    fn give_ended(
        &mut self,
        id: &str,
        mut end: ItemEnd,
        is_new: bool,
        called: TapePlace,
        scope: Scope<'_>,
        spawned: &mut Spawned,
        out: &mut SignalSink<'_>,
    ) {
        let name = end.tool.name(&end.item);
        let receivers = end.item.receivers.as_array().cloned().unwrap_or_default();
        if is_new {
            self.given.insert(self.hasher.hash_one(id));
            let detail = end.tool.detail(&end.item);
            let input = end.tool.input(&mut end.item, true);
            let call = CallRef::Printed(id);
            let signal = Signal::ToolCall {
                call,
                name: name.clone(),
                input,
                detail,
            };
            out.emit_at(called, scope, signal);
        }
        if end.tool == Tool::Collab && is_spawn(&name) {
            out.emit_at(called, scope, Signal::Delegates(id));
            for thread in receivers.iter().filter_map(Value::as_str) {
                spawned.push((thread.to_owned(), id.to_owned()));
            }
        }
        let mut out = out.at(end.place);
        let ended = ended(scope, end.tool, id, &name, end.duration_ms);
        let printed = end.printed.filter(|_| end.tool == Tool::FileChange);
        let printed = printed.map(|text| vec![Block::Text(text.into())]);
        ended.emit(&mut end.item, printed, &mut out);
    }
}

fn ended<'c>(
    scope: Scope<'c>,
    tool: Tool,
    id: &'c str,
    name: &'c str,
    duration_ms: Option<u64>,
) -> EndedCall<'c> {
    EndedCall {
        scope,
        tool,
        call: CallRef::Printed(id),
        id: Some(id),
        name,
        duration_ms,
    }
}

/// Tells whether a tool starts a sub-agent.
fn is_spawn(name: &str) -> bool {
    matches!(name, "spawn_agent" | "spawnAgent")
}

/// Returns the name that the output has for a tool around sub-agents.
fn printed_name(name: &str) -> &str {
    match name {
        "spawnAgent" => "spawn_agent",
        "sendInput" => "send_input",
        "resumeAgent" => "resume_agent",
        "closeAgent" => "close_agent",
        name => name,
    }
}

/// Tells whether a call was refused before it ran, by what the CLI told the model of it.
fn is_refused(told: &str) -> bool {
    let failed = told.split_once(" failed: ");
    let is_rejected = failed.is_some_and(|(tool, why)| {
        !tool.contains(char::is_whitespace)
            && why.starts_with("CreateProcess { message: \"Rejected(")
    });
    is_rejected || REFUSED.iter().any(|start| told.starts_with(start))
}

/// What a call without an item is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    /// A command, which says how it went in its result.
    Command,
    /// Something that has an item when it is run.
    WithItem,
    Other,
}

/// A call without an item, described as the output would have it.
struct Described {
    name: String,
    input: Value,
    detail: CallDetail,
    kind: CallKind,
    can_delegate: bool,
}

impl Described {
    fn of(call: ModelCall) -> Self {
        let ModelCall {
            name,
            namespace,
            arguments,
            action,
        } = call;
        let mut described = Self {
            can_delegate: is_spawn(&name),
            detail: CallDetail::of(tools::class(&name)),
            name,
            input: Value::Null,
            kind: CallKind::Other,
        };
        if !action.is_null() {
            return described.with_action(&action);
        }
        let input: Value = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
        match described.name.as_str() {
            "exec_command" | "shell_command" | "shell" => {
                let command = input.get("cmd").or(input.get("command"));
                if let Some((command, script)) = command.and_then(command_of) {
                    "command_execution".clone_into(&mut described.name);
                    described.detail.command = Some(script);
                    described.input = json!({ "command": command });
                    described.kind = CallKind::Command;
                    return described;
                }
                described.kind = CallKind::WithItem;
            }
            "apply_patch" => {
                described.kind = CallKind::WithItem;
                let patch = input
                    .as_str()
                    .or(input.get("input").and_then(Value::as_str));
                let files = patch.into_iter().flat_map(patched_files);
                described.detail.paths.extend(files);
                if input.is_string() {
                    described.input = json!({ "input": input });
                    return described;
                }
            }
            _ => {
                if let Some(namespace) = namespace.filter(|space| space.starts_with("mcp__")) {
                    described.name = format!("{namespace}__{}", described.name);
                    described.kind = CallKind::WithItem;
                }
                described.detail = tools::detail(&described.name, &input);
            }
        }
        described.input = input;
        described
    }

    /// Describes a search, or a command of the model maker's own tool.
    fn with_action(mut self, action: &Value) -> Self {
        if let Some((command, script)) = action.get("command").and_then(command_of) {
            "command_execution".clone_into(&mut self.name);
            self.detail.class = ToolClass::Shell;
            self.input = json!({ "command": command });
            self.detail.command = Some(script);
            self.kind = CallKind::Command;
            return self;
        }
        let query = action.get("query").and_then(Value::as_str);
        let url = action.get("url").and_then(Value::as_str);
        self.detail.url = url.map(str::to_owned);
        self.input = json!({ "query": query.unwrap_or_default(), "action": action });
        self
    }
}

/// Returns a command as it is given, and the script in it.
fn command_of(command: &Value) -> Option<(String, String)> {
    let command = match command {
        Value::String(command) => command.clone(),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            shell::joined(&words?)
        }
        _ => return None,
    };
    let script = shell::script(&command);
    Some((command, script))
}

/// What the head of a command's result says.
enum ResultHead {
    None,
    Code(i64),
    GoesOn,
}

/// Reads the lines before `Output:`.
fn exit_in(text: &str) -> ResultHead {
    for line in text.lines().take_while(|line| *line != "Output:") {
        let code = line.strip_prefix("Process exited with code ");
        let code = code.or(line.strip_prefix("Exit code: "));
        if let Some(code) = code.and_then(|code| code.trim().parse().ok()) {
            return ResultHead::Code(code);
        }
        if line.starts_with("Process running with session ID") {
            return ResultHead::GoesOn;
        }
    }
    ResultHead::None
}

impl Content<'_> {
    fn weight(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Text(text) => text.len(),
            Self::Pieces(pieces) => {
                let lengths = pieces.iter().map(|piece| {
                    let text = piece.text.as_ref().map_or(0, |text| text.len());
                    let image = piece.image.as_ref().map_or(0, |image| image.len());
                    text + image
                });
                lengths.sum()
            }
            Self::Other(value) => runtape_core::weight(value),
        }
    }
}

impl Content<'static> {
    /// Returns the blocks of a result.
    fn into_blocks(self) -> Vec<Block<'static>> {
        match self {
            Self::None => Vec::new(),
            Self::Text(text) => vec![Block::Text(text.into_cow())],
            Self::Other(Value::Object(object)) => {
                let content = object.get("content").and_then(Value::as_str);
                let text = content
                    .map_or_else(|| Value::Object(object.clone()).to_string(), str::to_owned);
                vec![Block::Text(text.into())]
            }
            Self::Other(value) => vec![Block::Text(value.to_string().into())],
            Self::Pieces(pieces) => {
                let blocks =
                    pieces
                        .into_iter()
                        .filter_map(|piece| match (piece.text, piece.image) {
                            (Some(text), _) => Some(Block::Text(text.into_cow())),
                            (None, Some(url)) => Some(image(&url)),
                            (None, None) => None,
                        });
                blocks.collect()
            }
        }
    }
}

/// An image, nearly always as a `data:` URL.
fn image(url: &str) -> Block<'static> {
    let encoded = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    match encoded {
        Some((kind, data)) => Block::Image {
            mime_type: Cow::Owned(kind.to_owned()),
            data: Cow::Owned(data.to_owned()),
        },
        None => Block::Text(Cow::Owned(url.to_owned())),
    }
}

/// Returns the tool of an item that is a call.
pub(super) fn tool(item: &CompletedItem<'_>) -> Option<Tool> {
    tool_of(item.kind.as_deref().unwrap_or_default())
}
