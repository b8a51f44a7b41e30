//! An entry of a transcript as HTML.

use runtape_core::TranscriptKind;
use serde_json::Value;

use super::escape::{prose, text};
use crate::cut::beginning;

/// Bytes of the line that stands for what is folded.
const GIST: usize = 200;

/// Returns the first line of a text.
pub(super) fn gist(said: &str) -> String {
    let line = said.trim_start().lines().next().unwrap_or_default();
    let shown = beginning(line, GIST);
    let more = if shown.len() < line.len() { "…" } else { "" };
    text(&format!("{shown}{more}"))
}

/// Writes entries, their long texts cut.
pub(super) struct EntryWriter<'a> {
    /// Bytes of a text at most.
    pub(super) longest_text: usize,
    /// The command that shows what was cut.
    pub(super) rest: &'a str,
}

impl EntryWriter<'_> {
    fn cut<'t>(&self, said: &'t str) -> (&'t str, String) {
        let shown = beginning(said, self.longest_text);
        if shown.len() == said.len() {
            return (shown, String::new());
        }
        let left = said.len() - shown.len();
        let note = format!(
            "<p class=\"faint\">{left} bytes more: <code>{}</code></p>",
            text(self.rest)
        );
        (shown, note)
    }

    fn pre(&self, said: &str) -> String {
        let (shown, note) = self.cut(said);
        let is_diff =
            shown.contains("\n@@ ") || shown.starts_with("@@ ") || shown.starts_with("diff --git");
        if !is_diff {
            return format!("<pre>{}</pre>{note}", text(shown));
        }
        let lines = shown.split_inclusive('\n').map(|line| {
            let tone = match line.as_bytes() {
                [b'@', b'@', ..] => "hunk",
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file_header",
                [b'+', ..] => "add",
                [b'-', ..] => "remove",
                _ => "context",
            };
            format!("<span class=\"diff-line {tone}\">{}</span>", text(line))
        });
        format!("<pre>{}</pre>{note}", lines.collect::<String>())
    }

    fn words(&self, said: &str) -> String {
        let (shown, note) = self.cut(said);
        format!("<div class=\"prose\">{}</div>{note}", prose(shown))
    }

    fn folded(sign: &str, head: &str, body: &str) -> String {
        format!(
            "<details><summary><span class=\"sign\">{sign}</span> {head}</summary>{body}</details>"
        )
    }

    fn input(&self, input: &Value) -> String {
        let Value::Object(fields) = input else {
            return self.pre(&written(input));
        };
        let fields = fields.iter().map(|(name, value)| {
            let value = self.pre(&written(value));
            format!("<div><dt>{}</dt><dd>{value}</dd></div>", text(name))
        });
        format!("<dl class=\"input\">{}</dl>", fields.collect::<String>())
    }

    /// Writes the inside of an entry; nothing for what this version does not know.
    pub(super) fn entry(&self, kind: &TranscriptKind) -> Option<(&'static str, String)> {
        Some(match kind {
            TranscriptKind::User(entry) => (
                "user",
                format!("<span class=\"sign\">you</span>{}", self.words(&entry.text)),
            ),
            TranscriptKind::Assistant(entry) => ("assistant", self.words(&entry.text)),
            TranscriptKind::Thinking(entry) => {
                let head = format!("<span class=\"gist faint\">{}</span>", gist(&entry.text));
                (
                    "thinking",
                    Self::folded("thinks", &head, &self.words(&entry.text)),
                )
            }
            TranscriptKind::ToolCall(entry) => {
                let about = format!(
                    "<strong>{}</strong> <code class=\"gist\">{}</code>",
                    text(&entry.name),
                    gist(&about(&entry.input))
                );
                (
                    "tool_call",
                    Self::folded("call", &about, &self.input(&entry.input)),
                )
            }
            TranscriptKind::ToolResult(entry) => {
                let failed = if entry.is_error {
                    "<span class=\"badge bad\">failed</span> "
                } else {
                    ""
                };
                let head = format!(
                    "{failed}<code class=\"gist\">{}</code>",
                    gist(&entry.content)
                );
                (
                    "tool_result",
                    Self::folded("result", &head, &self.pre(&entry.content)),
                )
            }
            TranscriptKind::Init(entry) => (
                "init",
                format!("<p class=\"faint\">begin: {}</p>", text(&entry.model)),
            ),
            TranscriptKind::Result(entry) => {
                let errors = entry.errors.iter().map(|error| {
                    format!(
                        "<p class=\"bad-text\">{}</p>",
                        text(beginning(error, self.longest_text))
                    )
                });
                let facts = format!(
                    "<p class=\"faint\">end: {}, {} input, {} cached, {} output</p>",
                    text(&entry.subtype),
                    entry.input_tokens,
                    entry.cached_tokens,
                    entry.output_tokens
                );
                ("result", format!("{facts}{}", errors.collect::<String>()))
            }
            TranscriptKind::Stderr(entry) => ("stderr", self.pre(&entry.text)),
            TranscriptKind::Stdout(entry) => ("stdout", self.pre(&entry.text)),
            TranscriptKind::System(entry) => ("system", self.pre(&entry.text)),
            TranscriptKind::Diff(entry) => ("diff", self.pre(&entry.text)),
            _ => return None,
        })
    }
}

/// Writes a value for people: a text as it is, else JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Returns what a call is about, in a line.
fn about(input: &Value) -> String {
    let keys = [
        "command",
        "file_path",
        "path",
        "url",
        "query",
        "pattern",
        "description",
        "prompt",
    ];
    let found = keys.iter().find_map(|key| input.get(key)?.as_str());
    found.map_or_else(|| input.to_string(), str::to_owned)
}
