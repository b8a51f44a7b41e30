//! The lines that the library prints of sub-agents: a tree under the call that started them.

use std::borrow::Cow;

use runtape_core::{RunId, ToolCallId};
use serde_json::{Value, json};

use super::notices::task;
use crate::parser::SignalSink;
use crate::signal::{CHILD_LABEL, CallDetail, CallRef, Scope, Signal};

/// A line of the tree: ` [1] ├─ 💻 terminal  "ls"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch<'a> {
    /// Which of several sub-agents, as printed.
    label: Option<&'a str>,
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
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
            "🔀" => Kind::Start(text),
            "💭" => {
                let said = text.strip_prefix('"').unwrap_or(text);
                let said = said.strip_suffix('"').unwrap_or(said);
                if is_spinner(said) {
                    Kind::Spinner
                } else {
                    Kind::Said(said)
                }
            }
            "✗" | "❌" | "⚠️" => Kind::Failed(text),
            _ => {
                let text = text.trim_start();
                let (name, preview) = text.split_once("  \"").unwrap_or((text, ""));
                let preview = preview.strip_suffix('"');
                Kind::Call { name, preview }
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

/// One sub-agent.
#[derive(Debug)]
struct Child {
    label: String,
    key: String,
    calls: u64,
    called: bool,
    failed: bool,
}

/// The sub-agents of the last call that started some.
#[derive(Debug)]
pub(super) struct Subagents {
    run: RunId,
    /// The call, as its derived id.
    call: Option<String>,
    children: Vec<Child>,
    ended: bool,
}

/// The most sub-agents that one call starts; hermes allows far fewer.
const MOST: usize = 64;

impl Subagents {
    /// Creates the sub-agents of a run that has none.
    pub(super) fn new(run: RunId) -> Self {
        Self {
            run,
            call: None,
            children: Vec::new(),
            ended: false,
        }
    }

    /// Tells whether a line is of a sub-agent that no known call started.
    pub(super) fn needs_call(&self, branch: &Branch<'_>) -> bool {
        self.call.is_none() || (self.ended && matches!(branch.kind, Kind::Start(_)))
    }

    /// A call starts sub-agents.
    pub(super) fn open(&mut self, ordinal: u64) {
        self.call = Some(ToolCallId::derive(&self.run, ordinal).as_str().to_owned());
        self.children.clear();
        self.ended = false;
    }

    fn child(&mut self, label: Option<&str>) -> Option<&mut Child> {
        let label = label.unwrap_or_default();
        if let Some(at) = self.children.iter().position(|child| child.label == label) {
            return self.children.get_mut(at);
        }
        if self.children.len() >= MOST {
            return self.children.last_mut();
        }
        let call = self.call.as_deref()?;
        // One call may start several: each is a child of its own under the same call.
        let key = if label.is_empty() {
            call.to_owned()
        } else {
            format!("{call}{CHILD_LABEL}{label}")
        };
        let label = label.to_owned();
        self.children.push(Child {
            label,
            key,
            calls: 0,
            called: false,
            failed: false,
        });
        self.children.last_mut()
    }

    /// Reads a line.
    pub(super) fn take(&mut self, branch: &Branch<'_>, out: &mut SignalSink<'_>) {
        let ended = self.ended;
        let Some(child) = self.child(branch.label) else {
            return;
        };
        if ended {
            if let Kind::Call { name: text, .. } | Kind::Said(text) = branch.kind {
                let id = branch.label.map(str::to_owned);
                task(id, "progress", text, out);
            }
            return;
        }
        let scope = Scope::Child(&child.key);
        match branch.kind {
            Kind::Start(goal) => {
                out.emit_in(scope, Signal::User(Cow::Borrowed(goal)));
            }
            Kind::Said(text) => {
                if std::mem::take(&mut child.called) {
                    out.emit_in(scope, Signal::Step(None));
                }
                out.emit_in(scope, Signal::Text(Cow::Borrowed(text)));
            }
            Kind::Spinner => {}
            Kind::Call { name, preview } => {
                let ordinal = child.calls;
                child.calls += 1;
                child.called = true;
                let input = preview.map_or(Value::Null, |text| json!({ "summary": text }));
                let signal = Signal::ToolCall {
                    call: CallRef::Local(ordinal),
                    name: Cow::Borrowed(name),
                    input,
                    detail: CallDetail::default(),
                };
                out.emit_in(scope, signal);
            }
            Kind::Failed(_) => child.failed = true,
        }
    }

    /// The call that started them is over.
    pub(super) fn end(&mut self, failure: Option<&str>, out: &mut SignalSink<'_>) {
        if self.call.is_none() || self.ended {
            return;
        }
        self.ended = true;
        for child in &self.children {
            let is_error = failure.is_some() || child.failed;
            let text = failure.map(Cow::Borrowed);
            out.emit(Signal::ChildEnd {
                call: Cow::Borrowed(&child.key),
                is_error,
                text,
            });
        }
    }
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
                Kind::Start("count the files"),
            ),
            (
                "[1] ├─ 💭 \"Counting.\"",
                Some("1"),
                Kind::Said("Counting."),
            ),
            ("├─ 💭 \"(◔_◔) synthesizing...\"", None, Kind::Spinner),
            ("├─ 💭 \"ಠ_ಠ musing...\"", None, Kind::Spinner),
            (
                "├─ 💭 \"Let me look...\"",
                None,
                Kind::Said("Let me look..."),
            ),
            (
                "├─ 💻 terminal  \"ls | wc -l\"",
                None,
                Kind::Call {
                    name: "terminal",
                    preview: Some("ls | wc -l"),
                },
            ),
            (
                "[2] ├─ 📋 todo",
                Some("2"),
                Kind::Call {
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
