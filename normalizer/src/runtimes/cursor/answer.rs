//! Text mode: the lines of an answer, and lines that are not yet known to be one.

use std::borrow::Cow;

use crate::exit::Exit;
use crate::json::{Piece, pieces};
use crate::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Place, Signal, Verdict};

/// What a held line costs beside its bytes.
const LINE_WEIGHT: usize = 96;

/// Lines that are held until it is known what they are.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    lines: Vec<HeldLine>,
    /// Once the answer is streamed: how its last line ended, which is printed before the next one.
    streamed: Option<Ending>,
}

#[derive(Clone, Copy, Debug)]
struct HeldLine {
    start: usize,
    end: usize,
    ending: Ending,
    place: Place,
}

impl Held {
    pub(super) fn push(&mut self, line: &Line<'_>, place: Place) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line.bytes);
        let end = self.bytes.len();
        self.lines.push(HeldLine {
            start,
            end,
            ending: line.ending,
            place,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns how many lines are held.
    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    /// Returns how much memory is held.
    pub(super) fn weight(&self) -> usize {
        self.bytes.len() + self.lines.len() * LINE_WEIGHT
    }

    /// Returns the lines with their places and terminators.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&[u8], Place, Ending)> {
        let content = |line: &HeldLine| self.bytes.get(line.start..line.end).unwrap_or_default();
        self.lines
            .iter()
            .map(move |line| (content(line), line.place, line.ending))
    }

    /// Tells whether all that was printed is one line that begins like JSON and does not parse:
    /// the result of json mode, cut short, rather than an answer.
    pub(super) fn is_cut_json(&self) -> bool {
        let mut lines = self
            .lines()
            .filter(|(bytes, ..)| !bytes.trim_ascii().is_empty());
        let (Some((line, ..)), None) = (lines.next(), lines.next()) else {
            return false;
        };
        let mut pieces = pieces(line);
        matches!(
            (pieces.next(), pieces.next()),
            (Some(Piece::Json(json)), None)
                if serde_json::from_slice::<serde::de::IgnoredAny>(json.trim_ascii()).is_err()
        )
    }

    /// Returns the answer: the lines as they were printed, without what ends the last one.
    fn text(&self) -> Cow<'_, str> {
        if let [only] = self.lines.as_slice() {
            let bytes = self.bytes.get(only.start..only.end).unwrap_or_default();
            return String::from_utf8_lossy(bytes);
        }
        let mut joined = Vec::with_capacity(self.bytes.len() + self.lines.len());
        let mut before = "";
        for (bytes, _, ending) in self.lines() {
            joined.extend_from_slice(before.as_bytes());
            joined.extend_from_slice(bytes);
            before = ending.as_str();
        }
        Cow::Owned(String::from_utf8_lossy(&joined).into_owned())
    }

    fn place(&self, out: &SignalSink<'_>) -> Place {
        match (self.lines.first(), self.lines.last()) {
            (Some(first), Some(last)) => first.place.through(last.place),
            _ => out.place(),
        }
    }

    /// Tells whether the answer stands as the run's outcome.
    pub(super) fn has_answer(&self, exit: &Exit) -> bool {
        (exit.is_success() || exit.is_unknown()) && (!self.is_empty() || self.streamed.is_some())
    }

    /// Emits the answer, judged by the exit.
    pub(super) fn finish(&mut self, exit: &Exit, out: &mut SignalSink<'_>) {
        let place = self.place(out);
        let text = self.text();
        let blank = text.trim().is_empty();
        if exit.signal.is_some() || exit.timed_out {
            out.at(place).emit(Signal::TextDelta(text));
        } else if exit.is_success() || !blank {
            out.at(place).emit(Signal::Text(text));
            judge(exit, place, out);
        }
    }

    /// Begins to emit an answer that is too long to be held.
    pub(super) fn begin_stream(&mut self, out: &mut SignalSink<'_>) {
        let place = self.place(out);
        out.at(place).emit(Signal::TextDelta(self.text()));
        self.streamed = self.lines.last().map(|line| line.ending);
        self.bytes = Vec::new();
        self.lines = Vec::new();
    }

    /// Emits a further line of a long answer.
    pub(super) fn stream_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        let before = self.streamed.map_or("", Ending::as_str);
        out.emit(Signal::TextDelta(before.into()));
        out.emit(Signal::TextDelta(line.text()));
        self.streamed = Some(line.ending);
    }

    /// Ends a long answer, judged by the exit.
    pub(super) fn finish_stream(exit: &Exit, out: &mut SignalSink<'_>) {
        if exit.signal.is_none() && !exit.timed_out {
            out.emit(Signal::TextEnd);
            judge(exit, out.place(), out);
        }
    }
}

/// Text says nothing of how it went: the exit does.
fn judge(exit: &Exit, place: Place, out: &mut SignalSink<'_>) {
    if exit.is_unknown() {
        out.at(place)
            .emit(Signal::Metadata("exitUnknown", true.into()));
    }
    if exit.is_unknown() || exit.is_success() {
        out.at(place)
            .emit(Signal::Result(Outcome::of(Verdict::Success)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Told, parse, parse_as};
    use super::*;

    fn texts(told: &Told) -> Vec<&str> {
        told.texts.iter().map(String::as_str).collect()
    }

    #[test]
    fn an_answer_is_kept_to_the_byte_but_for_its_newline() {
        let table = [
            ("pong\n", "pong"),
            ("no newline", "no newline"),
            ("  indented\n\n\tmore \n\n", "  indented\n\n\tmore \n"),
            ("\nfirst line empty\n", "\nfirst line empty"),
            ("a\r\nb\r\n", "a\r\nb"),
            ("a\r\nb\nc\n", "a\r\nb\nc"),
            (
                "{\"type\":\"result\",\"content\":\"mine\"}\n",
                "{\"type\":\"result\",\"content\":\"mine\"}",
            ),
            ("{\n  \"type\": \"x\"\n}\n", "{\n  \"type\": \"x\"\n}"),
            (
                "{ not json }\nbut an answer\n",
                "{ not json }\nbut an answer",
            ),
        ];
        for (printed, expected) in table {
            let told = parse(printed, "", &Exit::with_code(0));
            assert_eq!(texts(&told), [expected]);
            assert_eq!(told.format, Some("text"));
            assert_eq!(told.verdict(), "success");
            assert!(told.unparsed.is_empty());
        }
    }

    #[test]
    fn a_lone_newline_is_an_empty_answer_and_nothing_is_none() {
        let told = parse("\n", "", &Exit::with_code(0));
        assert_eq!((texts(&told), told.verdict()), (vec![""], "success"));
        let told = parse("", "", &Exit::with_code(0));
        assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
        let told = parse("\n", "", &Exit::unknown());
        assert_eq!(told.verdict(), "none");
    }

    #[test]
    fn without_an_exit_the_answer_stands_and_says_so() {
        let told = parse("pong\n", "", &Exit::unknown());
        assert_eq!((texts(&told), told.verdict()), (vec!["pong"], "success"));
        assert_eq!(told.metadata["exitUnknown"], true);
    }

    #[test]
    fn a_failed_or_killed_run_keeps_its_text_without_success() {
        let told = parse("half of it\n", "", &Exit::with_code(1));
        assert_eq!(
            (texts(&told), told.verdict(), told.cut),
            (vec!["half of it"], "none", false)
        );
        let told = parse("half of", "", &Exit::with_signal("SIGKILL"));
        assert_eq!(
            (texts(&told), told.verdict(), told.cut),
            (vec!["half of"], "none", true)
        );
    }

    #[test]
    fn one_line_of_cut_json_is_no_answer() {
        let cut = "{\"type\":\"result\",\"subtype\":\"succ";
        let told = parse(cut, "", &Exit::with_code(0));
        assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
        assert_eq!(told.unparsed.len(), 1);
        assert_eq!(told.unparsed[0].0.as_deref(), Some("result"));
        assert_eq!(told.format, Some("json"));
        let told = parse_as(
            "cursor-agent -p --output-format text",
            cut,
            "",
            &Exit::with_code(0),
        );
        assert_eq!((texts(&told), told.verdict()), (vec![cut], "success"));
    }

    #[test]
    fn text_is_an_answer_only_where_no_events_were_asked_for() {
        for format in ["json", "stream-json"] {
            let argv = format!("cursor-agent -p --output-format {format}");
            let told = parse_as(&argv, "Oops\n", "", &Exit::with_code(0));
            assert_eq!((texts(&told), told.verdict()), (vec![], "none"));
            assert_eq!(told.notices, ["stdout: Oops"]);
        }
    }

    #[test]
    fn an_answer_that_quotes_an_event_stays_an_answer_if_text_was_asked_for() {
        let line = "{\"type\":\"user\",\"session_id\":\"s1\",\"message\":{\"content\":\"x\"}}\n";
        let argv = "cursor-agent -p --output-format text";
        let told = parse_as(argv, line, "", &Exit::with_code(0));
        assert_eq!(texts(&told), [line.trim_end()]);
        assert_eq!(
            parse(line, "", &Exit::with_code(0)).format,
            Some("stream-json")
        );
    }

    #[test]
    fn a_very_long_answer_is_streamed() {
        let line = "x".repeat(1000);
        let printed = format!("{line}\n").repeat(100);
        let told = super::super::testing::parse_with_limit(10_000, &printed, &Exit::with_code(0));
        assert_eq!(told.texts, [printed.trim_end()]);
        assert_eq!(told.verdict(), "success");
    }
}
