//! The lines that the library prints of sub-agents: a tree under the call that started them.

use std::borrow::Cow;
use std::collections::VecDeque;

use runtape_core::{RunId, ToolCallId};
use serde_json::{Value, json};

use super::tools;
use crate::parser::SignalSink;
use crate::signal::{CHILD_LABEL, CallDetail, CallRef, Scope, Signal, TapePlace};

/// A line of the tree: ` [1] ├─ 💻 terminal  "ls"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch<'a> {
    /// Which of several sub-agents, as printed.
    label: Option<&'a str>,
    kind: ChildLineKind<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildLineKind<'a> {
    /// It starts on this goal.
    Start(&'a str),
    /// It said this.
    Said(&'a str),
    /// It waits for the model.
    Spinner,
    /// It calls a tool.
    Call {
        name: &'a str,
        preview: Option<&'a str>,
    },
    /// It failed.
    Failed(&'a str),
}

impl<'a> Branch<'a> {
    /// Reads a line without its indentation.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (label, rest) = match line.strip_prefix('[') {
            Some(rest) => {
                let (label, rest) = rest.split_once("] ")?;
                (Some(label), rest)
            }
            None => (None, line),
        };
        let rest = rest.strip_prefix("├─ ")?;
        let (mark, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let kind = match mark {
            "🔀" => ChildLineKind::Start(text),
            "💭" => {
                let said = text.strip_prefix('"').unwrap_or(text);
                let said = said.strip_suffix('"').unwrap_or(said);
                if is_spinner(said) {
                    ChildLineKind::Spinner
                } else {
                    ChildLineKind::Said(said)
                }
            }
            "✗" | "❌" | "⚠️" => ChildLineKind::Failed(text),
            _ => {
                let text = text.trim_start();
                match text.split_once("  \"") {
                    // The preview may go on in the next line (0.16).
                    Some((name, rest)) => ChildLineKind::Call {
                        name,
                        preview: Some(rest.strip_suffix('"').unwrap_or(rest)),
                    },
                    None => ChildLineKind::Call {
                        name: text,
                        preview: None,
                    },
                }
            }
        };
        Some(Self { label, kind })
    }
}

/// Tells whether a text is only a face and what it does: `(◔_◔) synthesizing...`.
fn is_spinner(text: &str) -> bool {
    let Some((face, verb)) = text
        .strip_suffix("...")
        .and_then(|text| text.rsplit_once(' '))
    else {
        return false;
    };
    let verb_only = !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_lowercase());
    verb_only && !face.is_empty() && !face.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// How far a sub-agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// The call that started it waits for it.
    Awaited,
    /// It went on after that call was over.
    InBackground,
    /// It was said that it has ended.
    Ended,
}

/// One sub-agent.
#[derive(Debug)]
struct Subagent {
    label: Box<str>,
    key: String,
    calls: u64,
    called: bool,
    failed: bool,
    life: Life,
}

/// A call that starts sub-agents.
#[derive(Debug)]
struct Delegation {
    ordinal: u64,
    /// How many it starts, where its completion line told.
    expected: Option<usize>,
    /// Where it was over.
    over: Option<TapePlace>,
    children: Vec<Subagent>,
}

impl Delegation {
    fn new(ordinal: u64) -> Self {
        Self {
            ordinal,
            expected: None,
            over: None,
            children: Vec::new(),
        }
    }

    fn child(&mut self, label: &str) -> Option<&mut Subagent> {
        self.children
            .iter_mut()
            .find(|child| &*child.label == label)
    }

    /// Tells whether a further sub-agent with this label may be one of its own.
    fn has_room(&self, label: &str) -> bool {
        let is_new = self.children.iter().all(|child| &*child.label != label);
        let most = self
            .expected
            .unwrap_or(if label.is_empty() { 1 } else { MOST });
        is_new && self.children.len() < most
    }

    /// One call may start several: each is a child of its own under the same call.
    fn add(&mut self, run: &RunId, label: &str) {
        let call = ToolCallId::derive(run, self.ordinal);
        let call = call.as_str();
        let key = if label.is_empty() {
            call.to_owned()
        } else {
            format!("{call}{CHILD_LABEL}{label}")
        };
        self.children.push(Subagent {
            label: label.into(),
            key,
            calls: 0,
            called: false,
            failed: false,
            life: Life::Awaited,
        });
    }

    /// Ends those that were not heard of after the call was over: it had waited for them.
    fn end(&mut self, out: &mut SignalSink<'_>) {
        let Some(place) = self.over else { return };
        for child in &mut self.children {
            if child.life == Life::Awaited {
                child.end(place, child.failed, None, out);
            }
        }
    }
}

impl Subagent {
    fn end(
        &mut self,
        place: TapePlace,
        is_error: bool,
        text: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        self.life = Life::Ended;
        let signal = Signal::ChildEnd {
            call: Cow::Borrowed(&self.key),
            is_error,
            text: text.map(Cow::Borrowed),
        };
        out.at(place).emit(signal);
    }
}

/// The sub-agents of a run.
#[derive(Debug)]
pub(super) struct Subagents {
    run: RunId,
    /// The calls that started them, oldest first.
    delegations: VecDeque<Delegation>,
}

/// The most sub-agents that one call starts, and the most calls whose sub-agents are told apart;
/// hermes allows far fewer.
const MOST: usize = 64;

impl Subagents {
    /// Creates the sub-agents of a run that has none.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            run,
            delegations: VecDeque::new(),
        }
    }

    /// Tells whether a line is of a sub-agent that no known call started.
    pub(super) fn needs_call(&self, branch: &Branch<'_>) -> bool {
        let label = branch.label.unwrap_or_default();
        match branch.kind {
            ChildLineKind::Start(_) => !self.delegations.iter().any(|call| call.has_room(label)),
            _ => self.delegations.is_empty(),
        }
    }

    /// A call starts sub-agents.
    pub(super) fn open(&mut self, ordinal: u64, out: &mut SignalSink<'_>) {
        if self.delegations.len() >= MOST
            && let Some(mut oldest) = self.delegations.pop_front()
        {
            oldest.end(out);
        }
        self.delegations.push_back(Delegation::new(ordinal));
    }

    /// Returns the sub-agent that a line is of.
    fn find(&mut self, branch: &Branch<'_>) -> Option<(&mut Subagent, bool)> {
        let label = branch.label.unwrap_or_default();
        let is_start = matches!(branch.kind, ChildLineKind::Start(_));
        let known = |call: &Delegation| call.children.iter().any(|child| &*child.label == label);
        let at = if is_start {
            self.delegations
                .iter()
                .position(|call| call.has_room(label))
        } else {
            // The newest call has the newest sub-agents.
            let newest = self.delegations.iter().rposition(known);
            newest.or(self.delegations.len().checked_sub(1))
        };
        let call = self.delegations.get_mut(at?)?;
        if call.child(label).is_none() {
            if call.children.len() >= MOST {
                let is_over = call.over.is_some();
                return call.children.last_mut().map(|child| (child, is_over));
            }
            call.add(&self.run, label);
        }
        let is_over = call.over.is_some();
        call.child(label).map(|child| (child, is_over))
    }

    /// Reads a line.
    pub(super) fn take(&mut self, branch: &Branch<'_>, out: &mut SignalSink<'_>) {
        let Some((child, is_over)) = self.find(branch) else {
            return;
        };
        if is_over && child.life == Life::Awaited {
            child.life = Life::InBackground;
        }
        let scope = Scope::Child(&child.key);
        match branch.kind {
            ChildLineKind::Start(goal) => {
                out.emit_in(scope, Signal::User(Cow::Borrowed(goal)));
            }
            ChildLineKind::Said(text) => {
                if std::mem::take(&mut child.called) {
                    out.emit_in(scope, Signal::Step(None));
                }
                out.emit_in(scope, Signal::Text(Cow::Borrowed(text)));
            }
            ChildLineKind::Spinner => {}
            ChildLineKind::Call { name, preview } => {
                let ordinal = child.calls;
                child.calls += 1;
                child.called = true;
                let input = preview.map_or(Value::Null, |text| json!({ "summary": text }));
                let signal = Signal::ToolCall {
                    call: CallRef::Local(ordinal),
                    name: Cow::Borrowed(name),
                    input,
                    detail: CallDetail::of(tools::class(name)),
                };
                out.emit_in(scope, signal);
            }
            ChildLineKind::Failed(_) => child.failed = true,
        }
    }

    /// One of several has ended.
    pub(super) fn end_one(&mut self, label: &str, is_error: bool, out: &mut SignalSink<'_>) {
        let mut children = self
            .delegations
            .iter_mut()
            .filter_map(|call| call.child(label));
        if let Some(child) = children.find(|child| child.life != Life::Ended) {
            child.end(out.place(), is_error || child.failed, None, out);
        }
    }

    /// A call that starts sub-agents is over. Those in the background go on, and may begin only now.
    pub(super) fn call_over(
        &mut self,
        ordinal: u64,
        detail: &str,
        failure: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        if !self.delegations.iter().any(|call| call.ordinal == ordinal) {
            self.open(ordinal, out);
        }
        let place = out.place();
        let mut calls = self.delegations.iter_mut();
        let Some(call) = calls.find(|call| call.ordinal == ordinal) else {
            return;
        };
        call.over = Some(place);
        call.expected = Some(goals(detail).max(call.children.len()));
        if failure.is_some() {
            for child in call
                .children
                .iter_mut()
                .filter(|child| child.life != Life::Ended)
            {
                child.end(place, true, failure, out);
            }
        }
    }

    /// Nothing more will be heard of any.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        for call in &mut self.delegations {
            call.end(out);
        }
    }
}

/// Reads how many goals a completion line names: `2x: <goal> | <goal>`, or one.
fn goals(detail: &str) -> usize {
    let count = detail
        .split_once("x: ")
        .and_then(|(count, _)| count.parse().ok());
    count.unwrap_or(1).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_read() {
        let table = [
            (
                "├─ 🔀 count the files",
                None,
                ChildLineKind::Start("count the files"),
            ),
            (
                "[1] ├─ 💭 \"Counting.\"",
                Some("1"),
                ChildLineKind::Said("Counting."),
            ),
            (
                "├─ 💭 \"(◔_◔) synthesizing...\"",
                None,
                ChildLineKind::Spinner,
            ),
            ("├─ 💭 \"ಠ_ಠ musing...\"", None, ChildLineKind::Spinner),
            (
                "├─ 💭 \"Let me look...\"",
                None,
                ChildLineKind::Said("Let me look..."),
            ),
            (
                "├─ 💻 terminal  \"ls | wc -l\"",
                None,
                ChildLineKind::Call {
                    name: "terminal",
                    preview: Some("ls | wc -l"),
                },
            ),
            (
                "[2] ├─ 📋 todo",
                Some("2"),
                ChildLineKind::Call {
                    name: "todo",
                    preview: None,
                },
            ),
        ];
        for (line, label, kind) in table {
            assert_eq!(Branch::parse(line), Some(Branch { label, kind }), "{line}");
        }
        assert_eq!(Branch::parse("[tool] x"), None);
        assert_eq!(Branch::parse("├ x"), None);
    }
}
