//! stream-json and json: one event a line.

use serde_json::Value;

use super::argv::AskedFormat;
use super::known_calls::KnownCalls;
use super::spoken_segments::SpokenSegments;
use super::wire::{self, tags};
use crate::framing::{LinePart, each_value, pieces};
use crate::json::{DecodeError, Decoded, Str, decode};
use crate::lines::Ending;
use crate::parser::SignalSink;
use crate::session_id::is_word;
use crate::signal::Signal;

/// The events of one run.
pub(super) struct Events {
    pub(super) asked: Option<AskedFormat>,
    pub(super) format: Option<&'static str>,
    session: Option<Box<str>>,
    pub(super) segments: SpokenSegments,
    pub(super) calls: KnownCalls,
    /// A segment of text was printed.
    pub(super) has_text: bool,
    pub(super) has_result: bool,
}

/// Types that are events even without a session id, if events were asked for.
const TYPES: &[&str] = &[
    "system",
    "user",
    "assistant",
    "thinking",
    "tool_call",
    "connection",
    "retry",
    "interaction_query",
    "result",
    "error",
];

/// Removes the name of a stream that some logs put before each line, as in `stdout{"type":…`.
pub(super) fn strip_stream_name(line: &[u8]) -> &[u8] {
    let Some((name, rest)) = line.split_at_checked(6) else {
        return line;
    };
    if !name.eq_ignore_ascii_case(b"stdout") && !name.eq_ignore_ascii_case(b"stderr") {
        return line;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest
        .strip_prefix(b":")
        .or(rest.strip_prefix(b"="))
        .unwrap_or(rest);
    let rest = rest.trim_ascii_start();
    if matches!(rest.first(), Some(b'{' | b'[')) {
        rest
    } else {
        line
    }
}

impl Events {
    pub(super) fn new(asked: Option<AskedFormat>, limit: usize) -> Self {
        Self {
            asked,
            format: None,
            session: None,
            segments: SpokenSegments::new(limit),
            calls: KnownCalls::default(),
            has_text: false,
            has_result: false,
        }
    }

    /// Tells whether there is an event on a line.
    pub(super) fn shows_event(&self, line: &[u8]) -> bool {
        if memchr::memchr(b'{', line).is_none() {
            return false;
        }
        let line = strip_stream_name(line.trim_ascii());
        self.is_event(line).unwrap_or_else(|| {
            pieces(line).any(|piece| match piece {
                LinePart::Json(json) => self.is_event(json.trim_ascii()) == Some(true),
                LinePart::Text(_) => false,
            })
        })
    }

    /// Tells an event from other JSON that an answer may consist of; `None` if this is no object.
    pub(super) fn is_event(&self, json: &[u8]) -> Option<bool> {
        let Decoded { value: head, .. } = decode::<wire::Head<'_>>(json).ok()?;
        let Some(tag) = head.tag else {
            return Some(false);
        };
        Some(
            head.session.is_some_and(|session| !session.is_empty())
                || (head.call && head.tool_call)
                || (self.asked.is_some() && TYPES.contains(&tag.as_str()))
                || (tag == "result" && is_claimed(json)),
        )
    }

    /// Reads a line.
    pub(super) fn on_line(&mut self, line: &[u8], ending: Ending, out: &mut SignalSink<'_>) {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            return;
        }
        if trimmed.first() == Some(&b'{') && self.on_event(trimmed, out).is_ok() {
            return;
        }
        self.on_pieces(line, strip_stream_name(trimmed), ending, out);
    }

    /// Reads a line that is not one event: a notice, a cut event, or several things at once.
    #[cold]
    fn on_pieces(
        &mut self,
        line: &[u8],
        stripped: &[u8],
        ending: Ending,
        out: &mut SignalSink<'_>,
    ) {
        let is_named = stripped.len() < line.trim_ascii().len();
        each_value(if is_named { stripped } else { line }, out, |json, out| {
            let json = json.trim_ascii();
            let Err(error) = self.on_event(json, out) else {
                return;
            };
            let tag = tags(json).0;
            out.unparsed(tag, error.to_string());
            if let Some(tag) = tag.filter(|tag| TYPES.contains(tag)) {
                self.note(tag, None, &[], out);
            }
            if ending == Ending::None {
                // The run went on after what it reported, and was cut.
                out.emit(Signal::TurnOpened);
                self.has_result = false;
            }
        });
    }

    /// Reads an event that was printed over many lines. With a reason it cannot be read.
    pub(super) fn on_document(
        &mut self,
        json: &[u8],
        reason: Option<&'static str>,
        out: &mut SignalSink<'_>,
    ) {
        let reason = match reason {
            Some(reason) => Some(reason.into()),
            None => self
                .on_event(json, out)
                .err()
                .map(|error| error.to_string()),
        };
        if let Some(reason) = reason {
            out.unparsed(tags(json).0, reason);
        }
    }

    /// Ends what no line will end.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        if let (None, Some(asked)) = (self.format, self.asked) {
            self.set_format(asked.format(), out);
        }
        self.segments.finish(out);
    }

    fn on_event(&mut self, event: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let (tag, subtype) = tags(event);
        let head;
        let tag = if let Some(tag) = tag {
            tag
        } else {
            head = decode::<wire::Head<'_>>(event)?.value;
            head.tag.as_deref().unwrap_or_default()
        };
        match tag {
            "thinking" => self.on_thinking(event, out),
            "assistant" => self.on_assistant(event, out),
            "tool_call" => self.on_tool_call(event, subtype, out),
            "user" => self.on_user(event, out),
            "system" => self.on_system(event, out),
            "connection" | "retry" => self.on_connection(tag, event, out),
            "interaction_query" => self.on_interaction(event, out),
            "result" => self.on_result(event, out),
            "error" => self.on_error(event, out),
            _ => self.on_unknown(event, out),
        }
    }

    /// Notes session, format and unknown keys of an event.
    pub(super) fn note(
        &mut self,
        tag: &str,
        session: Option<&Str<'_>>,
        unknown: &[Box<str>],
        out: &mut SignalSink<'_>,
    ) {
        if self.format.is_none() {
            let format = match self.asked {
                Some(asked) => asked.format(),
                None if tag == "result" => "json",
                None => "stream-json",
            };
            self.set_format(format, out);
        } else if self.format == Some("json") && tag != "result" {
            self.set_format("stream-json", out);
        }
        if let Some(session) = session
            && self.session.as_deref() != Some(session.as_str())
            && is_word(session)
        {
            self.session = Some(session.as_str().into());
            out.emit(Signal::Session(session));
        }
        out.unknown_keys(tag, unknown);
    }

    pub(super) fn set_format(&mut self, format: &'static str, out: &mut SignalSink<'_>) {
        self.format = Some(format);
        out.emit(Signal::Format(format));
    }

    fn on_unknown(&mut self, event: &[u8], out: &mut SignalSink<'_>) -> Result<(), DecodeError> {
        let Decoded { value: head, .. } = decode::<wire::Head<'_>>(event)?;
        let tag = head.tag.map(Str::into_cow);
        self.note(
            tag.as_deref().unwrap_or_default(),
            head.session.as_ref(),
            &[],
            out,
        );
        let reason = if tag.is_some() {
            "unknown type"
        } else {
            "an object without a type"
        };
        out.unparsed(tag.as_deref(), reason);
        Ok(())
    }
}

pub(super) fn unknown_subtype(tag: &str, subtype: Option<&str>, out: &mut SignalSink<'_>) {
    match subtype {
        Some(subtype) => out.unparsed(Some(tag), format!("unknown subtype `{subtype}`")),
        None => out.unparsed(Some(tag), "no subtype"),
    }
}

/// Tells whether an object claims to be a result though it has no session.
///
/// An answer may be such an object as well. So it is taken for a result only where that hides no
/// answer and no failure: if it is nothing but its type, or if its words are those of no result, so
/// that it is more likely a format that has changed.
fn is_claimed(json: &[u8]) -> bool {
    const KNOWN: &[&str] = &["type", "subtype", "is_error", "result", "duration_ms"];
    let Ok(Decoded {
        value: Value::Object(fields),
        ..
    }) = decode::<Value>(json)
    else {
        return false;
    };
    if fields.keys().any(|key| !KNOWN.contains(&key.as_str())) {
        return false;
    }
    let has_sense = match (fields.get("is_error"), fields.get("subtype")) {
        (None, None) => return fields.len() == 1,
        (None | Some(Value::Bool(false)), Some(Value::String(word))) => word == "success",
        (Some(Value::Bool(true)), Some(Value::String(word))) => word != "success",
        (Some(Value::Bool(_)), None) => true,
        _ => false,
    };
    !has_sense
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::tests::line::{completed, init, last, result, started, user};
    use super::super::tests::{Told, parse};
    use super::*;
    use crate::exit::Exit;

    fn run(printed: &str) -> Told {
        parse(printed, "", &Exit::with_code(0))
    }

    #[test]
    fn the_name_of_a_stream_before_a_line_is_removed() {
        let table = [
            ("stdout{\"a\":1}", "{\"a\":1}"),
            ("STDERR: [1]", "[1]"),
            ("stdout= {\"a\":1}", "{\"a\":1}"),
            ("stdout hello", "stdout hello"),
            ("stdoutstdout{", "stdoutstdout{"),
            ("stdou", "stdou"),
            ("{}", "{}"),
        ];
        for (line, expected) in table {
            assert_eq!(
                strip_stream_name(line.as_bytes()),
                expected.as_bytes(),
                "{line}"
            );
        }
        let lines = [init(), last("hello"), result("hello")];
        let printed = format!("stdout{}", lines.join("stdout"));
        let told = run(&printed);
        assert_eq!(
            (told.texts.as_slice(), told.verdict()),
            (["hello".to_owned()].as_slice(), "success")
        );
        assert!(told.unparsed.is_empty() && told.notices.is_empty());
    }

    #[test]
    fn other_lines_are_notices_before_and_among_events() {
        let printed = [
            "[host] starting\n",
            &init(),
            "\n",
            "a warning\n",
            &result("x"),
            "bye\n",
        ]
        .concat();
        let told = run(&printed);
        assert_eq!(
            told.notices,
            [
                "stdout: [host] starting",
                "stdout: a warning",
                "stdout: bye"
            ]
        );
        assert_eq!((told.verdict(), told.unparsed.len()), ("success", 0));
        assert_eq!(told.places[0].span.unwrap().start, 0);
    }

    #[test]
    fn events_glued_to_a_banner_escapes_or_each_other_are_read() {
        let printed = format!("Ready.\x1b[2K{}{}", init().trim_end(), last("x").trim_end());
        let told = run(&format!("{printed}\x1b[0m\r\n{}", result("x")));
        assert_eq!(told.notices, ["stdout: Ready.\u{1b}[2K"]);
        assert_eq!(
            (told.texts.as_slice(), told.verdict()),
            (["x".to_owned()].as_slice(), "success")
        );
        assert!(told.unparsed.is_empty());
    }

    #[test]
    fn a_line_that_begins_like_json_and_does_not_parse_is_kept_as_such() {
        let printed = [
            &init(),
            "{\"type\":\"assistant\",\"message\":{\"con\n",
            &last("x"),
            &result("x"),
        ]
        .concat();
        let told = run(&printed);
        assert_eq!(
            (told.texts.as_slice(), told.verdict()),
            (["x".to_owned()].as_slice(), "success")
        );
        assert_eq!(told.unparsed[0].0.as_deref(), Some("assistant"));
    }

    #[test]
    fn pretty_printed_events_are_read_and_a_stray_bracket_swallows_nothing() {
        let pretty =
            |line: String| format!("{:#}\n", serde_json::from_str::<Value>(&line).unwrap());
        let printed = [
            pretty(init()),
            pretty(user("go")),
            pretty(last("x")),
            pretty(result("x")),
        ]
        .concat();
        let told = run(&printed);
        assert_eq!(
            (told.texts.as_slice(), told.verdict()),
            (["x".to_owned()].as_slice(), "success")
        );
        assert_eq!(
            (told.unparsed.len(), told.users.len(), told.format),
            (0, 1, Some("stream-json"))
        );

        let printed = [&init(), "{\n", &last("x"), &result("x")].concat();
        let told = run(&printed);
        assert_eq!((told.verdict(), told.unparsed.len()), ("success", 1));
        let printed = ["{\n", &init(), &last("x"), &result("x")].concat();
        assert_eq!(run(&printed).verdict(), "success");
    }

    #[test]
    fn separators_of_unicode_do_not_split_a_line() {
        let told = run(&[init(), last("a\u{2028}b\u{85}c"), result("x")].concat());
        assert_eq!(told.texts, ["a\u{2028}b\u{85}c"]);
        let raw = last("SEP").replace("SEP", "a\u{2028}b\u{2029}c\u{85}d");
        assert_eq!(
            run(&[init(), raw].concat()).texts,
            ["a\u{2028}b\u{2029}c\u{85}d"]
        );
    }

    #[test]
    fn text_is_exact_and_odd_characters_cost_only_themselves() {
        let told = run(&[init(), last("  x\n\n  y  \n"), result("…")].concat());
        assert_eq!(told.texts, ["  x\n\n  y  \n"]);
        let lone = last("SEP").replace("SEP", "cut \\ud83d here");
        let told = run(&[init(), lone].concat());
        assert_eq!(
            (told.texts[0].as_str(), told.unparsed.len()),
            ("cut \u{fffd} here", 0)
        );
    }

    #[test]
    fn keys_may_come_in_any_order() {
        let reversed = |line: String| {
            let fields: serde_json::Map<String, Value> = serde_json::from_str(&line).unwrap();
            let fields: serde_json::Map<String, Value> = fields.into_iter().rev().collect();
            format!("{}\n", Value::Object(fields))
        };
        let lines = [
            init(),
            user("go"),
            started("c1", "k"),
            completed("c1", "k"),
            last("x"),
            result("x"),
        ];
        let told = run(&lines.map(reversed).concat());
        assert_eq!(
            (told.texts.as_slice(), told.verdict()),
            (["x".to_owned()].as_slice(), "success")
        );
        assert_eq!((told.calls[0].is_error, told.steps), (Some(false), 2));
        assert!(told.unparsed.is_empty());
    }
}
