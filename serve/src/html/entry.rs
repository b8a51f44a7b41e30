//! An entry of a transcript as HTML, of the same elements with the same words as the page's `entries.js`
//! makes. A file that is read without a script cannot run that module, and the page must not take markup from
//! anybody; so there are two, and a test in a real browser holds them to the same elements for every fixture.

use std::fmt::Write;

use runtape_core::TranscriptKind;
use runtape_core::transcript::{RunResult, ToolCall, ToolResult};
use serde_json::Value;

use super::escape::{attribute, prose, text};
use super::format::{bytes, cost, count, duration};
use crate::attachment::Attachment;
use crate::cut::{LONGEST, beginning};

/// Characters of the line that stands for what is folded.
const GIST: usize = 240;

/// Lines of a change of files that have colours; beyond, each line would be an element for little use.
const COLOURED_LINES: usize = 300;

/// Fields of an input that are shown one by one.
const FIELDS: usize = 40;

/// How far a text is looked through for the signs of a change of files, in units of UTF-16.
const DIFF_SIGNS: usize = 2000;

/// What of an input says most about a call.
const ABOUT: [&str; 11] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "url",
    "query",
    "pattern",
    "description",
    "prompt",
];

/// Returns the first line of a text, for a row.
pub(super) fn gist(said: &str) -> String {
    let trimmed = said.trim_start_matches([' ', '\t', '\r', '\n']);
    let line = trimmed.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.char_indices().nth(GIST) {
        None => text(line),
        Some((end, _)) => text(&format!("{}…", line.get(..end).unwrap_or_default())),
    }
}

/// An entry as it is shown.
pub(super) struct ShownEntry {
    /// The classes of its element.
    pub(super) class: String,
    /// What is inside.
    pub(super) html: String,
}

/// Writes entries, their long texts cut.
pub(super) struct EntryWriter<'a> {
    /// Bytes of a text at most.
    pub(super) longest_text: usize,
    /// Bytes of all images at most, from here on.
    pub(super) room_for_images: usize,
    /// The command that shows what was cut.
    pub(super) rest: &'a str,
}

impl EntryWriter<'_> {
    /// Writes a text that may be cut, by a function.
    fn long(&self, said: &str, show: impl FnOnce(&str) -> String) -> String {
        let shown = beginning(said, self.longest_text);
        let mut html = format!("<div class=\"long\">{}", show(shown));
        if shown.len() < said.len() {
            let (left, rest) = (bytes(said.len() - shown.len()), text(self.rest));
            // Writing to a string cannot fail.
            let _ = write!(
                html,
                "<p class=\"faint rest\">{left} more: <code>{rest}</code></p>"
            );
        }
        html + "</div>"
    }

    fn words(&self, said: &str) -> String {
        self.long(said, |said| {
            format!("<div class=\"prose\">{}</div>", prose(said))
        })
    }

    /// Writes a text of a tool; changes of files have colours.
    fn output(&self, said: &str) -> String {
        self.long(said, |said| {
            let lines: Vec<&str> = said.split_inclusive('\n').collect();
            if !looks_like_diff(said) || lines.len() > COLOURED_LINES {
                return pre(&text(said));
            }
            let lines = lines.iter().map(|line| {
                let tone = diff_tone(line);
                format!("<span class=\"diff-line {tone}\">{}</span>", text(line))
            });
            pre(&lines.collect::<String>())
        })
    }

    fn plain(&self, said: &str) -> String {
        self.long(said, |said| pre(&text(said)))
    }

    fn input(&self, input: &Value) -> String {
        let fields = match input {
            Value::Object(fields) if fields.len() <= FIELDS => fields,
            _ => return self.plain(&written(input)),
        };
        let fields = fields.iter().map(|(name, value)| {
            let value = self.plain(&written(value));
            format!("<div><dt>{}</dt><dd>{value}</dd></div>", text(name))
        });
        format!("<dl class=\"input\">{}</dl>", fields.collect::<String>())
    }

    fn attachments(&mut self, attachments: &[Attachment<'_>]) -> String {
        let written = attachments.iter().map(|attachment| {
            let name = text(attachment.mime_type);
            let size = bytes(attachment.bytes);
            match &attachment.image {
                Ok(image) if image.base64.len() <= self.room_for_images => {
                    self.room_for_images -= image.base64.len();
                    let (mime_type, width, height) = (image.mime_type, image.width, image.height);
                    let caption = format!("{mime_type}, {width} × {height}, {size}");
                    // It was decoded, so it is nothing but base64.
                    let data = attribute(image.base64);
                    format!("<figure class=\"attachment\"><img src=\"data:{mime_type};base64,{data}\" alt=\"{caption}\" width=\"{width}\" height=\"{height}\"><figcaption>{caption}</figcaption></figure>")
                }
                Ok(_) => {
                    let rest = text(self.rest);
                    format!("<p class=\"attachment faint rest\">{name}, {size}, is not in this file: <code>{rest}</code></p>")
                }
                Err(reason) => {
                    let reason = text(reason);
                    format!("<p class=\"attachment faint\">{name}, {size}, is not shown: {reason}</p>")
                }
            }
        });
        written.collect()
    }

    fn call(&self, entry: &ToolCall) -> (String, String) {
        let about = gist(&about(&entry.input));
        let head = format!(
            "<strong>{}</strong><code class=\"gist\">{about}</code>",
            text(&entry.name)
        );
        (head, self.input(&entry.input))
    }

    fn result(&self, entry: &ToolResult, attachments: &[Attachment<'_>]) -> (String, String) {
        let mut head = if entry.is_error {
            "<span class=\"badge bad\">failed</span>".to_owned()
        } else {
            format!(
                "<span class=\"faint\">{}</span>",
                extent(&entry.content, attachments)
            )
        };
        if let Some(took) = entry.duration_ms {
            let _ = write!(head, "<span class=\"faint\">{}</span>", duration(took));
        }
        let _ = write!(head, "<code class=\"gist\">{}</code>", gist(&entry.content));
        let body = if entry.content.is_empty() && !attachments.is_empty() {
            String::new()
        } else {
            self.output(&entry.content)
        };
        (head, body)
    }

    fn end(&self, entry: &RunResult) -> String {
        // The shape has zeros where nobody reported anything.
        let counters = [
            (entry.input_tokens, "input"),
            (entry.cached_tokens, "cached"),
            (entry.output_tokens, "output"),
        ];
        let counters = counters.iter().filter(|(number, _)| *number > 0);
        let mut parts: Vec<String> = counters
            .map(|(number, name)| format!("{} {name}", count(*number)))
            .collect();
        if entry.cost_usd > 0.0 {
            parts.push(cost(entry.cost_usd));
        }
        // How the run went is the run's to say: the entry has no more than its error.
        let word = Some(entry.subtype.clone()).filter(|_| entry.errors.is_empty());
        let facts = word.into_iter().chain([parts.join(", ")]);
        let facts: Vec<String> = facts.filter(|fact| !fact.is_empty()).collect();
        let facts = text(&facts.join(": "));
        let errors = entry.errors.iter().map(|error| {
            let error = beginning(error, self.longest_text);
            format!("<p class=\"bad-text\">{}</p>", text(error))
        });
        let errors: String = errors.collect();
        let answer = self.words(&entry.text);
        format!("<p class=\"faint\">{facts}</p>{errors}{answer}")
    }

    /// Writes an entry, with what came with it.
    pub(super) fn entry(
        &mut self,
        kind: &TranscriptKind,
        attachments: &[Attachment<'_>],
    ) -> ShownEntry {
        let mut tone = "";
        let (name, sign, head, body) = match kind {
            TranscriptKind::User(entry) => ("user", "you", None, self.words(&entry.text)),
            TranscriptKind::Assistant(entry) => {
                ("assistant", "says", None, self.words(&entry.text))
            }
            TranscriptKind::Thinking(entry) => {
                let head = format!("<span class=\"gist faint\">{}</span>", gist(&entry.text));
                ("thinking", "thinks", Some(head), self.output(&entry.text))
            }
            TranscriptKind::ToolCall(entry) => {
                let (head, body) = self.call(entry);
                ("tool_call", "call", Some(head), body)
            }
            TranscriptKind::ToolResult(entry) => {
                tone = if entry.is_error { " failed" } else { "" };
                let (head, body) = self.result(entry, attachments);
                ("tool_result", "result", Some(head), body)
            }
            TranscriptKind::Init(entry) => {
                let session = match entry.session_id.as_str() {
                    "" => String::new(),
                    session => format!(", session {session}"),
                };
                let said = text(&format!("{}{session}", entry.model));
                let body = format!("<p class=\"faint\">{said}</p>");
                ("init", "begin", None, body)
            }
            TranscriptKind::Result(entry) => {
                tone = if entry.is_error { " failed" } else { " done" };
                ("result", "end", None, self.end(entry))
            }
            TranscriptKind::Stderr(entry) => ("stderr", "stderr", None, self.output(&entry.text)),
            TranscriptKind::Stdout(entry) => ("stdout", "stdout", None, self.output(&entry.text)),
            TranscriptKind::System(entry) => ("system", "notice", None, self.output(&entry.text)),
            TranscriptKind::Diff(entry) => {
                let change = match entry.change_type.as_str() {
                    known @ ("add" | "remove" | "context" | "hunk" | "file_header"
                    | "truncation") => known,
                    _ => "",
                };
                let said = text(&entry.text);
                let body = format!("<pre class=\"diff-line {change}\">\n{said}</pre>");
                ("diff", "diff", None, body)
            }
            // Of a newer version: better as it is than not at all.
            other => {
                let said = serde_json::to_string(other).unwrap_or_default();
                ("unknown", "entry", None, self.output(&said))
            }
        };
        let attachments = self.attachments(attachments);
        let sign = format!("<span class=\"sign\">{sign}</span>");
        let html = match head {
            Some(head) => format!(
                "<details><summary class=\"fold\">{sign}{head}</summary>{body}{attachments}</details>"
            ),
            None => format!("<div class=\"entry-head\">{sign}</div>{body}{attachments}"),
        };
        ShownEntry {
            class: format!("entry {name}{tone}"),
            html,
        }
    }
}

/// Writes a text with its line breaks. HTML takes a first one away, so there is one to be taken.
fn pre(html: &str) -> String {
    format!("<pre>\n{html}</pre>")
}

/// Says how much a tool gave back.
fn extent(content: &str, attachments: &[Attachment<'_>]) -> String {
    let lines = content.split('\n').count();
    let mut parts = Vec::new();
    // Of a text that is cut, the page knows the bytes and not the lines.
    if content.len() > LONGEST {
        parts.push(bytes(content.len()));
    } else if !content.is_empty() || attachments.is_empty() {
        let noun = if lines == 1 { "line" } else { "lines" };
        parts.push(format!("{lines} {noun}"));
    }
    let attached = attachments.len();
    if attached > 0 {
        let noun = if attached == 1 {
            "attachment"
        } else {
            "attachments"
        };
        parts.push(format!("{attached} {noun}"));
    }
    parts.join(", ")
}

/// Tells whether a text changes files, by its beginning.
fn looks_like_diff(said: &str) -> bool {
    let mut units = 0;
    let end = said.char_indices().find_map(|(at, character)| {
        units += character.len_utf16();
        (units > DIFF_SIGNS).then_some(at)
    });
    let start = said.get(..end.unwrap_or(said.len())).unwrap_or_default();
    let lines: Vec<&str> = start.split('\n').collect();
    lines.iter().enumerate().any(|(at, line)| {
        let is_hunk = line
            .strip_prefix("@@ -")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        let is_head = line.starts_with("--- ")
            && lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("+++ "));
        is_hunk || is_head || line.starts_with("diff --git ")
    })
}

fn diff_tone(line: &str) -> &'static str {
    let is = |sign| line.starts_with(sign);
    if is("@@") {
        "hunk"
    } else if is("+++") || is("---") || is("diff ") {
        "file_header"
    } else if is("+") {
        "add"
    } else if is("-") {
        "remove"
    } else {
        "context"
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
    let found = ABOUT.iter().find_map(|key| match input.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    });
    found.unwrap_or_else(|| input.to_string())
}
