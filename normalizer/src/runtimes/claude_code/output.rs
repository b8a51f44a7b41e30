//! Standard output: messages, or the text of an answer.
//!
//! Which of the two is seen from the first line that is not blank. Until a message comes, lines
//! are held: they may be the answer.

use super::answer::Held;
use super::conversation::Conversation;
use super::values::{emit_stdout, is_messages, on_line, on_value};
use crate::exit::Exit;
use crate::json::Document;
use crate::lines::Line;
use crate::parser::SignalSink;
use crate::signal::{Place, Signal};

/// A value printed over many lines.
#[derive(Debug)]
struct Pretty {
    document: Document,
    place: Place,
    /// The bracket it began with.
    opening: u8,
}

/// What standard output was found to be.
#[derive(Debug)]
enum Mode {
    /// No message so far.
    Held(Held),
    /// Messages.
    Messages,
}

/// Standard output, line by line.
#[derive(Debug)]
pub(super) struct Output {
    mode: Mode,
    pretty: Option<Pretty>,
    limit: usize,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            mode: Mode::Held(Held::default()),
            pretty: None,
            limit,
        }
    }

    pub(super) fn push_line(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        if let Mode::Held(held) = &mut self.mode
            && conversation.argv.is_text()
        {
            held.push(line, out.place());
            return held.bound(self.limit, out);
        }
        if self.pretty.is_some() {
            return self.on_pretty(line, conversation, out);
        }
        let trimmed = line.bytes.trim_ascii();
        if let &[opening @ (b'{' | b'[')] = trimmed
            && self.may_begin()
        {
            let mut document = Document::new(self.limit);
            document.push_line(line);
            self.pretty = Some(Pretty {
                document,
                place: out.place(),
                opening,
            });
            return;
        }
        match &mut self.mode {
            Mode::Messages => on_line(line, conversation, out),
            Mode::Held(held) => {
                if !is_messages(
                    line.bytes,
                    held.lines == 0,
                    conversation.argv.is_json(),
                    &mut held.cut,
                ) {
                    held.push(line, out.place());
                    return held.bound(self.limit, out);
                }
                self.begin_messages(out);
                on_line(line, conversation, out);
            }
        }
    }

    /// A document may begin between messages, and as the first thing that is printed.
    fn may_begin(&self) -> bool {
        match &self.mode {
            Mode::Messages => true,
            Mode::Held(held) => held.lines == 0,
        }
    }

    /// Lines before the first message were no answer.
    fn begin_messages(&mut self, out: &mut SignalSink<'_>) {
        if let Mode::Held(held) = std::mem::replace(&mut self.mode, Mode::Messages) {
            held.into_notices(out);
        }
    }

    fn on_pretty(
        &mut self,
        line: &Line<'_>,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let Some(pretty) = &mut self.pretty else {
            return;
        };
        // An object printed over many lines has its further brackets indented; one at the start
        // of a line means that it was cut and another message follows.
        if pretty.opening == b'{'
            && line.bytes.starts_with(b"{")
            && matches!(self.mode, Mode::Messages)
        {
            out.at(pretty.place)
                .unparsed(None, "the value ends before its end");
            self.pretty = None;
            return self.push_line(line, conversation, out);
        }
        let outside = pretty.document.push_line(line);
        pretty.place = pretty.place.through(out.place());
        if pretty.document.is_complete()
            && let Some(pretty) = self.pretty.take()
        {
            self.on_document(&pretty, conversation, out);
            if !outside.after.trim_ascii().is_empty() {
                emit_stdout(&String::from_utf8_lossy(outside.after), out.place(), out);
            }
        }
    }

    fn on_document(
        &mut self,
        pretty: &Pretty,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) {
        let bytes = pretty.document.bytes();
        if pretty.document.is_over_limit() {
            out.at(pretty.place)
                .unparsed(None, "the value is longer than the limit");
            return;
        }
        if let Mode::Held(held) = &mut self.mode {
            if !is_messages(bytes, true, conversation.argv.is_json(), &mut None) {
                held.push_document(bytes, pretty.place);
                return held.bound(self.limit, out);
            }
            self.begin_messages(out);
        }
        on_value(bytes, None, true, conversation, &mut out.at(pretty.place));
    }

    /// Ends the output. Returns whether any of it was a message.
    pub(super) fn finish(
        &mut self,
        exit: &Exit,
        conversation: &mut Conversation,
        out: &mut SignalSink<'_>,
    ) -> bool {
        if let Some(pretty) = self.pretty.take() {
            match &mut self.mode {
                Mode::Held(held) if pretty.document.bytes().contains(&b'\n') => {
                    held.push_document(pretty.document.bytes(), pretty.place);
                }
                _ => {
                    let out = &mut out.at(pretty.place);
                    out.emit(Signal::TurnOpened);
                    out.unparsed(None, "the value ends before its end");
                }
            }
        }
        match std::mem::replace(&mut self.mode, Mode::Messages) {
            Mode::Messages => true,
            Mode::Held(held) => {
                let is_text = conversation.argv.is_text();
                if let Some((json, place)) = held.claimed_result().filter(|_| !is_text) {
                    let out = &mut out.at(place);
                    on_value(json.as_bytes(), None, true, conversation, out);
                    return true;
                }
                held.finish(exit, conversation.argv.asked, out);
                false
            }
        }
    }
}
