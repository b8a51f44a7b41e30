//! The state of a run between two messages, and the way from a message to its handler.

use std::borrow::Cow;
use std::collections::HashMap;

use super::argv::{Argv, AskedFormat};
use super::failure::ApiFailure;
use super::history::Heard;
use super::open_messages::OpenMessages;
use super::result::RawUsages;
use super::usage::Totals;
use super::wire::Head;
use crate::json::{DecodeError, Str, decode};
use crate::parser::SignalSink;
use crate::session_id::is_uuid;
use crate::signal::{Scope, Signal};
use crate::unnamed_calls::UnnamedCalls;

/// What is known of a sub-agent, by the call that started it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are independent of each other"
)]
pub(super) struct ChildFacts {
    /// It printed something, so that it is a run of its own.
    pub(super) seen: bool,
    /// It goes on after its call's result.
    pub(super) background: bool,
    /// Its end was reported.
    pub(super) ended: bool,
    /// Its last message so far was text, its answer if nothing follows.
    pub(super) answered: bool,
}

/// The state of a run between two messages.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are independent of each other"
)]
pub(super) struct Conversation {
    pub(super) argv: Argv,
    /// The most bytes held for one record.
    pub(super) limit: usize,
    session: String,
    /// Which shapes of output were met, for the name of the format.
    pub(super) shapes: MetShapes,
    format: Option<&'static str>,
    /// The model's name is known.
    pub(super) model_known: bool,
    /// A message of the model was printed in the main run.
    pub(super) spoken: bool,
    /// The model was seen thinking.
    pub(super) thought: bool,
    /// The CLI nudged the model, and nothing was printed since.
    pub(super) nudged: bool,
    /// The last thing in the main run was text or thinking, which may go on.
    pub(super) unfinished: bool,
    /// The CLI said that the turn was interrupted.
    pub(super) interrupted: bool,
    /// A compaction was reported; the next thing that the CLI says is its summary.
    pub(super) compacted: bool,
    /// The last response whose usage was reported, so that its further lines need not.
    pub(super) counted: String,
    pub(super) children: HashMap<Box<str>, ChildFacts>,
    pub(super) open_messages: OpenMessages,
    pub(super) unnamed: UnnamedCalls,
    pub(super) totals: Totals,
    pub(super) raw_usage: RawUsages,
    /// The last API error that the CLI put into the model's place.
    pub(super) api_failure: Option<ApiFailure>,
    /// When the limit that rejected a request ends.
    pub(super) limit_resets_at: Option<i64>,
    /// What the session's history says, where it is read beside the output.
    pub(super) heard: Option<Heard>,
}

/// Which shapes of output were met.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are independent of each other"
)]
pub(super) struct MetShapes {
    /// Messages so far, as far as 2.
    messages: u8,
    /// An array of messages.
    pub(super) array: bool,
    /// The first message was a result.
    result_first: bool,
    /// Only the stream formats have what was read.
    pub(super) stream: bool,
    /// Only the stream with partial messages has what was read.
    pub(super) partial: bool,
    /// The runtime was set up, which the json format does not print.
    pub(super) init: bool,
    /// The CLI's version, where it was printed: the oldest do not.
    pub(super) version: Option<[u32; 3]>,
}

/// The last version of which a resumed run was seen to have totals of its own.
const OWN_TOTALS: [u32; 3] = [2, 1, 179];
/// The first version that was seen to take up a resumed session's totals.
const RESTORED_TOTALS: [u32; 3] = [2, 1, 325];

impl Conversation {
    pub(super) fn new(argv: Argv, limit: usize) -> Self {
        Self {
            argv,
            limit,
            session: String::new(),
            shapes: MetShapes::default(),
            format: None,
            model_known: false,
            spoken: false,
            thought: false,
            nudged: false,
            unfinished: false,
            interrupted: false,
            compacted: false,
            counted: String::new(),
            children: HashMap::new(),
            open_messages: OpenMessages::default(),
            unnamed: UnnamedCalls::default(),
            totals: Totals::default(),
            raw_usage: RawUsages::default(),
            api_failure: None,
            limit_resets_at: None,
            heard: None,
        }
    }

    /// Reads one message; refuses what is no JSON, without a word about it.
    pub(super) fn on_message(
        &mut self,
        json: &[u8],
        out: &mut SignalSink<'_>,
    ) -> Result<(), DecodeError> {
        let Some(tag) = tag_of(json)? else {
            out.unparsed(None, "an object without a type");
            return Ok(());
        };
        if let Some(heard) = &mut self.heard
            && heard.knows(tag.as_ref(), json)
        {
            return Ok(());
        }
        match tag.as_ref() {
            "assistant" => self.on_assistant(json, out)?,
            "user" => self.on_user(json, out)?,
            "stream_event" => self.on_stream_event(json, out)?,
            "system" => self.on_system(json, out)?,
            "result" => self.on_result(json, out)?,
            "rate_limit_event" => self.on_rate_limit(json, out)?,
            kind if super::system::is_aside(kind) => self.on_aside(kind, json, out)?,
            kind => out.unparsed(Some(kind), "unknown type"),
        }
        self.shapes.result_first |= self.shapes.messages == 0 && tag == "result";
        self.shapes.messages = self.shapes.messages.saturating_add(1).min(2);
        self.name_format(out);
        Ok(())
    }

    /// Reports what only the end of the output tells.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        // A message that came in pieces and has no end was cut off with the process.
        let is_cut = self.open_messages.is_unfinished() == Some(true);
        self.open_messages.settle(out);
        if is_cut {
            out.emit(Signal::MessageCut);
        }
        if let (None, Some(asked)) = (self.format, self.argv.asked) {
            out.emit(Signal::Format(asked.name()));
        }
        self.raw_usage.finish(out);
        let restored = self.holds_earlier_runs();
        let total = self.totals.counts_with_later(restored, self.thought);
        if let Some(total) = total {
            out.emit(Signal::Total(total));
        }
        if let Some(cost) = self.totals.cost(restored) {
            out.emit(Signal::Cost(cost));
        }
    }

    /// Tells whether a session's totals, where nothing else is printed, may hold earlier runs.
    ///
    /// Versions that take up a resumed session's totals print what came since the last result
    /// beside them, in streams. A stream without that has the totals of the process alone.
    pub(super) fn holds_earlier_runs(&self) -> bool {
        let MetShapes { array, version, .. } = self.shapes;
        let is_stream = self.shapes.stream
            || self.shapes.init
            || self.spoken
            || matches!(self.argv.asked, Some(AskedFormat::Stream { .. }));
        self.argv.resumed
            && match (array, is_stream) {
                (true, _) => version.is_some_and(|version| version > OWN_TOTALS),
                (false, true) => {
                    self.totals.has_since_last()
                        || version.is_some_and(|version| version >= RESTORED_TOTALS)
                }
                (false, false) => true,
            }
    }

    /// The user or a signal cut off what the main run was doing.
    pub(super) fn cut_off(&mut self, out: &mut SignalSink<'_>) {
        if self
            .open_messages
            .is_unfinished()
            .unwrap_or(self.unfinished)
        {
            out.emit(Signal::MessageCut);
        }
        self.open_messages.settle(out);
        self.unfinished = false;
    }

    /// Names the format as exactly as it is known by now.
    pub(super) fn name_format(&mut self, out: &mut SignalSink<'_>) {
        let shapes = self.shapes;
        let is_stream = shapes.messages >= 2
            || !shapes.result_first
            || shapes.stream
            || matches!(self.argv.asked, Some(AskedFormat::Stream { .. }));
        // Partial messages that were asked for and never came make no other format.
        let format = if shapes.array {
            "json-verbose"
        } else if shapes.partial {
            "stream-json-partial"
        } else if is_stream {
            "stream-json"
        } else {
            "json"
        };
        if self.format != Some(format) {
            self.format = Some(format);
            out.emit(Signal::Format(format));
        }
    }

    /// Reports the session where it is another one than before.
    pub(super) fn on_session(&mut self, session: Option<&Str<'_>>, out: &mut SignalSink<'_>) {
        if let Some(session) = session
            && *session != self.session.as_str()
            && is_uuid(session)
        {
            self.session.clear();
            self.session.push_str(session);
            out.emit(Signal::Session(session));
        }
    }

    /// Returns the run that a message belongs to.
    pub(super) fn scope<'p>(&mut self, parent: Option<&'p Str<'_>>) -> Scope<'p> {
        let Some(call) = parent.map(Str::as_str).filter(|call| !call.is_empty()) else {
            return Scope::Main;
        };
        // Looked up first: only a new child needs a copy of the id.
        if let Some(child) = self.children.get_mut(call) {
            child.seen = true;
        } else {
            let child = ChildFacts {
                seen: true,
                ..ChildFacts::default()
            };
            self.children.insert(call.into(), child);
        }
        Scope::Child(call)
    }
}

/// Finds the type of a message, in no time where it comes first.
///
/// It need not: 2.1.325 puts it in the middle of a `result`.
pub(super) fn tag_of(json: &[u8]) -> Result<Option<Cow<'_, str>>, DecodeError> {
    const TAGS: &[&str] = &["stream_event", "assistant", "user", "system", "result"];
    if let Some(rest) = json.strip_prefix(br#"{"type":""#) {
        for tag in TAGS {
            if rest
                .strip_prefix(tag.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"\","))
            {
                return Ok(Some(Cow::Borrowed(tag)));
            }
        }
    }
    let head = decode::<Head<'_>>(json)?;
    Ok(head.value.kind.map(Str::into_cow))
}

/// Returns a time span as it is stored: the CLI measures some of them in fractions.
pub(super) fn whole_millis(time: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, by the guard; what is too large saturates"
    )]
    (time >= 0.0).then(|| time.round() as u64)
}

/// Reads `2.1.325`.
pub(super) fn version_of(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        let table = [
            (r#"{"type":"assistant","a":1}"#, Some("assistant")),
            (r#"{"type":"user_new","a":1}"#, Some("user_new")),
            (
                r#"{"text":"{\"type\":\"user\",","type":"result"}"#,
                Some("result"),
            ),
            (r#"{ "type" : "system" }"#, Some("system")),
            (r#"{"a":1}"#, None),
        ];
        for (json, expected) in table {
            assert_eq!(
                tag_of(json.as_bytes()).unwrap().as_deref(),
                expected,
                "{json}"
            );
        }
        assert!(tag_of(br#"{"type":"res"#).is_err());
    }
}
