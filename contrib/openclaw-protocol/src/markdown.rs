//! Transcript lines for thinking and tools, and the way back from them.

use serde::Serialize;
use serde_json::Value;

use super::javascript::{number_text, skip_utf16, split_lines, trim, trim_start};
use super::json_text::stringify_pretty;
use super::tools::{ToolCallRecord, ToolResultRecord};

const TRACE_PREFIX: &str = "[[trace]]";
const TOOL_PREFIX: &str = "[[tool]]";
const TOOL_RESULT_PREFIX: &str = "[[tool-result]]";

/// What a call or result is labelled when nothing names the tool.
pub(crate) const UNNAMED_TOOL: &str = "tool";

/// Whether a tool line states a call or its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolMarkdownKind {
    /// The tool was asked.
    Call,
    /// The tool answered.
    Result,
}

/// A tool line taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParsedToolMarkdown {
    /// Whether the line states a call or a result.
    pub kind: ToolMarkdownKind,
    /// The tool's name and the call's id, as one text.
    pub label: String,
    /// Everything below the label, fences included.
    pub body: String,
}

/// Returns whether a line holds thinking.
#[must_use]
pub fn is_trace_markdown(line: &str) -> bool {
    line.starts_with(TRACE_PREFIX)
}

/// Returns whether a line holds a tool call or a tool result.
#[must_use]
pub fn is_tool_markdown(line: &str) -> bool {
    line.starts_with(TOOL_PREFIX) || line.starts_with(TOOL_RESULT_PREFIX)
}

/// Returns the transcript line of a thought, or an empty text for a blank one.
#[must_use]
pub fn format_thinking_markdown(text: &str) -> String {
    let lines: Vec<_> = split_lines(text)
        .map(trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("_{line}_"))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("{TRACE_PREFIX}\n{}", lines.join("\n\n"))
}

/// Returns a thinking line without its prefix, and any other line as it is.
///
/// The underscores around each line stay.
#[must_use]
pub fn strip_trace_markdown(line: &str) -> &str {
    line.strip_prefix(TRACE_PREFIX).map_or(line, trim_start)
}

/// Returns the transcript line of a tool call, its arguments in a fence.
#[must_use]
pub fn format_tool_call_markdown(call: &ToolCallRecord) -> String {
    let header = tool_header(TOOL_PREFIX, call.name.as_deref(), call.id.as_deref());
    let arguments = arguments_text(call.arguments.as_ref());
    let arguments = trim(&arguments);
    if arguments.is_empty() {
        return header;
    }
    format!("{header}\n```json\n{arguments}\n```")
}

/// Returns the transcript line of a tool result, its status on one line and its text in a fence.
#[must_use]
pub fn format_tool_result_markdown(result: &ToolResultRecord) -> String {
    let name = result.tool_name.as_deref();
    let id = result.tool_call_id.as_deref();
    let mut line = tool_header(TOOL_RESULT_PREFIX, name, id);
    let status = status_parts(result);
    if !status.is_empty() {
        line.push('\n');
        line.push_str(&status.join(" \u{b7} "));
    }
    let text = trim(result.text.as_deref().unwrap_or_default());
    if !text.is_empty() {
        line.push_str("\n```text\n");
        line.push_str(text);
        line.push_str("\n```");
    }
    line
}

/// Takes a tool line apart.
///
/// A line without a tool prefix counts as a call and loses as many UTF-16 units as the call prefix
/// has; whoever is unsure asks [`is_tool_markdown`] first.
#[must_use]
pub fn parse_tool_markdown(line: &str) -> ParsedToolMarkdown {
    let (kind, prefix, unnamed) = if line.starts_with(TOOL_RESULT_PREFIX) {
        (ToolMarkdownKind::Result, TOOL_RESULT_PREFIX, "Tool result")
    } else {
        (ToolMarkdownKind::Call, TOOL_PREFIX, "Tool call")
    };
    let content = skip_utf16(line, prefix.len());
    let mut lines = split_lines(trim_start(&content));
    let label = trim(lines.next().unwrap_or_default());
    let rest: Vec<_> = lines.collect();
    ParsedToolMarkdown {
        kind,
        label: if label.is_empty() { unnamed } else { label }.to_owned(),
        body: trim(&rest.join("\n")).to_owned(),
    }
}

fn tool_header(prefix: &str, name: Option<&str>, id: Option<&str>) -> String {
    let name = match name.map(trim) {
        None | Some("") => UNNAMED_TOOL,
        Some(name) => name,
    };
    match id {
        None | Some("") => format!("{prefix} {name}"),
        Some(id) => format!("{prefix} {name} ({id})"),
    }
}

fn arguments_text(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => stringify_pretty(other),
    }
}

fn status_parts(result: &ToolResultRecord) -> Vec<String> {
    let detail = |name: &str| {
        result
            .details
            .as_ref()
            .and_then(|details| details.get(name))
    };
    let text = |name: &str| {
        let text = trim(detail(name)?.as_str()?);
        (!text.is_empty()).then(|| text.to_owned())
    };
    let number = |name: &str| detail(name)?.as_f64().map(number_text);
    let failed = result.is_error.unwrap_or_default();
    [
        text("status"),
        number("exitCode").map(|code| format!("exit {code}")),
        number("durationMs").map(|duration| format!("{duration}ms")),
        text("cwd"),
        failed.then(|| "error".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn guards_look_at_the_very_start() {
        let cases = [
            ("[[trace]]", true, false),
            ("[[trace]]\nx", true, false),
            ("[[tool]]x", false, true),
            ("[[tool-result]] x", false, true),
            ("[[tools]]", false, false),
            ("[[Tool]]", false, false),
            (" [[tool]]", false, false),
            (" [[trace]]", false, false),
            ("", false, false),
        ];
        for (line, is_trace, is_tool) in cases {
            assert_eq!(is_trace_markdown(line), is_trace, "{line}");
            assert_eq!(is_tool_markdown(line), is_tool, "{line}");
        }
    }

    #[test]
    fn thinking_lines_are_wrapped_one_by_one() {
        let cases = [
            ("", ""),
            (" \n\u{feff}\r\n", ""),
            (" a_b \r\n\n\t\n c", "[[trace]]\n_a_b_\n\n_c_"),
            ("a\rb", "[[trace]]\n_a\rb_"),
            ("a\u{2028}b", "[[trace]]\n_a\u{2028}b_"),
        ];
        for (text, expected) in cases {
            assert_eq!(format_thinking_markdown(text), expected, "{text:?}");
        }
        assert_eq!(strip_trace_markdown("[[trace]]\n _a_ "), "_a_ ");
        assert_eq!(strip_trace_markdown(" [[trace]]a"), " [[trace]]a");
    }

    #[test]
    fn calls_print_their_arguments() {
        let cases = [
            ("none", None, "[[tool]] n (c)"),
            ("null", Some(json!(null)), "[[tool]] n (c)"),
            ("blank text", Some(json!(" \n")), "[[tool]] n (c)"),
            (
                "text",
                Some(json!(" raw ")),
                "[[tool]] n (c)\n```json\nraw\n```",
            ),
            (
                "false",
                Some(json!(false)),
                "[[tool]] n (c)\n```json\nfalse\n```",
            ),
            (
                "number",
                Some(json!(1e21)),
                "[[tool]] n (c)\n```json\n1e+21\n```",
            ),
            (
                "empty array",
                Some(json!([])),
                "[[tool]] n (c)\n```json\n[]\n```",
            ),
            (
                "index keys",
                Some(json!({"b": "```", "1": 2})),
                "[[tool]] n (c)\n```json\n{\n  \"1\": 2,\n  \"b\": \"```\"\n}\n```",
            ),
        ];
        for (name, arguments, expected) in cases {
            let call = ToolCallRecord {
                id: Some("c".to_owned()),
                name: Some("\u{feff}n ".to_owned()),
                arguments,
            };
            assert_eq!(format_tool_call_markdown(&call), expected, "{name}");
        }
        let unnamed = ToolCallRecord {
            id: Some(" ".to_owned()),
            name: Some(" ".to_owned()),
            arguments: None,
        };
        assert_eq!(format_tool_call_markdown(&unnamed), "[[tool]] tool ( )");
    }

    #[test]
    fn results_print_status_then_text() {
        let cases = [
            ("nothing", json!(null), None, "", "[[tool-result]] tool"),
            (
                "array details",
                json!([1]),
                Some(false),
                " \n",
                "[[tool-result]] tool",
            ),
            (
                "error only",
                json!(null),
                Some(true),
                "",
                "[[tool-result]] tool\nerror",
            ),
            (
                "all in order",
                json!({"cwd": " /w ", "durationMs": 1.0, "exitCode": -0.0, "status": " s "}),
                Some(true),
                " out ",
                "[[tool-result]] tool\ns · exit 0 · 1ms · /w · error\n```text\nout\n```",
            ),
            (
                "wrong types and blanks",
                json!({"cwd": 1, "durationMs": "1", "exitCode": null, "status": " "}),
                None,
                "",
                "[[tool-result]] tool",
            ),
        ];
        for (name, details, is_error, text, expected) in cases {
            let result = ToolResultRecord {
                details: Some(details),
                is_error,
                text: Some(text.to_owned()),
                ..ToolResultRecord::default()
            };
            assert_eq!(format_tool_result_markdown(&result), expected, "{name}");
        }
    }

    #[test]
    fn tool_lines_come_apart_again() {
        use ToolMarkdownKind::{Call, Result};
        let cases = [
            (
                "[[tool]] a (1)\r\n```json\r\n{}\n```",
                Call,
                "a (1)",
                "```json\n{}\n```",
            ),
            ("[[tool-result]] a\nout\n", Result, "a", "out"),
            ("[[tool]]\n\n later \n\nbody", Call, "later", "body"),
            ("[[tool]]", Call, "Tool call", ""),
            ("[[tool-result]] \n ", Result, "Tool result", ""),
            ("[[trace]]\nx", Call, "]", "x"),
            ("short", Call, "Tool call", ""),
            ("1234567😀x", Call, "\u{fffd}x", ""),
            ("[[tool]] a\rb", Call, "a\rb", ""),
        ];
        for (line, kind, label, body) in cases {
            let expected = ParsedToolMarkdown {
                kind,
                label: label.to_owned(),
                body: body.to_owned(),
            };
            assert_eq!(parse_tool_markdown(line), expected, "{line:?}");
        }
    }
}
