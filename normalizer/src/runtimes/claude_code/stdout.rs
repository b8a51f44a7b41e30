//! Standard output: messages, or the text of an answer.
//!
//! Which of the two is seen from the first line that is not blank. Until a message comes, lines
//! are held: they may be the answer. In the text format nothing but the exit code tells an answer
//! from an error.

use std::borrow::Cow;

use runtape_core::Stream;

use super::argv::AskedFormat;
use super::conversation::Conversation;
use super::failure::error_of_text;
use super::line_values::{emit_stdout, is_claimed_result, is_messages, on_line, on_value};
use crate::exit::Exit;
use crate::framing::Document;
use crate::framing::answer::{AnswerLines, answer_stands};
use crate::framing::lines::{Ending, Line};
use crate::parser::SignalSink;
use crate::signal::{Outcome, Signal, Verdict};

/// Standard output, line by line.
#[derive(Debug)]
pub(super) struct Stdout {
    limit: usize,
    /// A message came: all lines are messages.
    has_messages: bool,
    /// Lines before the first message.
    answer: AnswerLines,
    /// How many of these are not blank.
    filled: u64,
    /// Why the only one of these that is not blank begins like JSON and does not parse.
    cut: Option<String>,
    /// A value that is printed over many lines.
    document: Option<Document>,
}

impl Stdout {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            has_messages: false,
            answer: AnswerLines::new(limit),
            filled: 0,
            cut: None,
            document: None,
        }
    }

    /// Tells whether the next line is expected to be one message.
    pub(super) fn expects_message(&self) -> bool {
        self.has_messages && self.document.is_none()
    }

    pub(super) fn push_line(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if self.has_messages || !conversation.argv.is_text() {
            if self.document.is_some() {
                return self.push_document_line(line, conversation, out);
            }
            // A document may begin between messages, and as the first thing that is printed.
            let may_begin = self.has_messages || self.filled == 0;
            if may_begin && matches!(line.bytes.trim_ascii(), b"{" | b"[") {
                let mut document = Document::new(self.limit);
                document.push_line(line);
                self.document = Some(document);
                return;
            }
            let json_asked = conversation.argv.is_json();
            let is_first = self.filled == 0;
            if self.has_messages || is_messages(line.bytes, is_first, json_asked, &mut self.cut) {
                self.begin_messages(out);
                return on_line(line, conversation, out);
            }
        }
        self.filled += u64::from(!line.bytes.trim_ascii().is_empty());
        self.answer.push(line.bytes, line.ending, out);
    }

    /// Reports the lines before the first message, which were no answer.
    fn begin_messages(&mut self, out: &mut SignalSink<'_>) {
        if !std::mem::replace(&mut self.has_messages, true) {
            self.report_held(out);
        }
    }

    /// Reports what was held as lines that are no messages.
    fn report_held(&mut self, out: &mut SignalSink<'_>) {
        let out = &mut out.at(self.answer.place(out));
        match self.cut.as_deref().filter(|_| self.filled == 1) {
            Some(reason) => out.unparsed(None, reason),
            None => emit_stdout(&self.answer.held.take().text(), out),
        }
    }

    fn push_document_line(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let Some(document) = &mut self.document else {
            return;
        };
        // An object printed over many lines has its further brackets indented; one at the start
        // of a line means that it was cut and another message follows.
        let is_object = document.bytes().first() == Some(&b'{');
        if is_object && line.bytes.starts_with(b"{") && self.has_messages {
            let place = document.place(Stream::Stdout).unwrap_or(out.place());
            out.at(place).unparsed(None, CUT);
            self.document = None;
            return self.push_line(line, conversation, out);
        }
        let outside = document.push_line(line);
        if document.is_complete()
            && let Some(document) = self.document.take()
        {
            let place = document.place(Stream::Stdout).unwrap_or(out.place());
            self.on_document(&document, conversation, &mut out.at(place));
            emit_stdout(&String::from_utf8_lossy(outside.after), out);
        }
    }

    fn on_document(
        &mut self,
        document: &Document,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if document.is_over_limit() {
            return out.unparsed(None, "the value is longer than the limit");
        }
        let bytes = document.bytes();
        if !self.has_messages {
            if !is_messages(bytes, true, conversation.argv.is_json(), &mut None) {
                return self.hold_document(bytes, out);
            }
            self.begin_messages(out);
        }
        on_value(bytes, None, true, conversation, out);
    }

    /// Takes the lines of a value that turned out to be no message.
    fn hold_document(&mut self, bytes: &[u8], out: &mut SignalSink<'_>) {
        self.filled += 1;
        for line in bytes.split(|byte| *byte == b'\n') {
            self.answer.push(line, Ending::Lf, out);
        }
    }

    /// Ends the output. Returns whether any of it was a message.
    pub(super) fn finish(
        &mut self,
        exit: &Exit,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(document) = self.document.take() {
            let place = document.place(Stream::Stdout).unwrap_or(out.place());
            let out = &mut out.at(place);
            if !self.has_messages && document.bytes().contains(&b'\n') {
                self.hold_document(document.bytes(), out);
            } else {
                out.emit(Signal::TurnOpened);
                out.unparsed(None, CUT);
            }
        }
        if self.has_messages {
            return true;
        }
        let is_whole = self.filled == 1 && !self.answer.is_streamed();
        if is_whole && !conversation.argv.is_text() {
            let printed = self.answer.held.printed_from(0);
            if is_claimed_result(&printed) {
                let out = &mut out.at(self.answer.place(out));
                on_value(&printed, None, true, conversation, out);
                return true;
            }
        }
        let is_heard = conversation.heard.is_some() && conversation.spoken;
        self.judge(exit, conversation.argv.asked, is_heard, out);
        false
    }

    /// Judges an output without a message: an answer, an error, or nothing. An answer that the
    /// session's history has is not reported again.
    fn judge(
        &mut self,
        exit: &Exit,
        asked: Option<AskedFormat>,
        is_heard: bool,
        out: &mut SignalSink<'_>,
    ) {
        let is_cut = self.cut.is_some() && self.filled == 1;
        let is_text = asked.is_none_or(|asked| asked == AskedFormat::Text);
        if self.answer.is_empty() || is_cut || !is_text {
            if let Some(asked) = asked {
                out.emit(Signal::Format(asked.name()));
            }
            if !self.answer.is_empty() {
                self.report_held(out);
            }
            return;
        }
        out.emit(Signal::Format("text"));
        if self.answer.is_streamed() {
            if exit.is_failure() {
                return;
            }
            out.emit(Signal::TextEnd);
        } else {
            let place = self.answer.place(out);
            let text = self.text();
            if exit.is_output_cut() {
                // It is the beginning of an answer rather than the message of an error.
                if !is_heard {
                    out.at(place).emit(Signal::TextDelta(text));
                }
                return;
            }
            if exit.is_failure() {
                let error = error_of_text(text.into_owned(), exit);
                return out.emit(Signal::Result(Outcome::of(Verdict::Error(error))));
            }
            if !is_heard {
                out.at(place).emit(Signal::Text(text));
            }
        }
        answer_stands(exit, Outcome::of(Verdict::Success), out);
    }

    /// Returns the text that is held.
    ///
    /// If its last newline was turned into CR LF on its way through a terminal, so were all others.
    fn text(&self) -> Cow<'_, str> {
        let text = self.answer.held.text();
        match self.answer.last_ending() {
            Some(Ending::CrLf) => Cow::Owned(text.replace("\r\n", "\n")),
            _ => text,
        }
    }
}

/// Why a value over many lines is not read.
const CUT: &str = "the value ends before its end";
