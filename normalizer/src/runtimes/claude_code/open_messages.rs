//! The messages that are being written, and which of their blocks were printed whole.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use runtape_core::TokenCounts;
use runtape_core::runtime_event::ApiRetry;
use serde_json::Value;

use super::content::ContentBlock;
use super::stream_events::BlockKind;
use super::tools;
use super::usage::of_response;
use super::wire::ApiMessage;
use crate::json::decode;
use crate::parser::SignalSink;
use crate::signal::{CallRef, Scope, Signal, TapePlace};

/// A block that pieces still arrive for, or that was never printed whole.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) kind: BlockKind,
    /// Where it began.
    pub(super) place: TapePlace,
    /// A piece was reported.
    pub(super) begun: bool,
    pub(super) signature: String,
    /// The call without an id that it is.
    pub(super) unnamed: Option<CallRef<'static>>,
    /// The call, and its input as far as it was written.
    pub(super) call: String,
    pub(super) name: String,
    pub(super) input: String,
    /// The whole block was printed.
    pub(super) confirmed: bool,
    /// Its end came before the whole block was printed.
    pub(super) ended: bool,
}

/// A message that is being written, or was written last, in one run.
#[derive(Debug)]
pub(super) struct MessageStream {
    /// The call that started the run; empty for the main run.
    pub(super) run: Box<str>,
    pub(super) id: String,
    pub(super) model: Option<String>,
    pub(super) usage: TokenCounts,
    /// Its numbers are final, which is said at its end.
    pub(super) is_final: bool,
    pub(super) stopped: bool,
    /// Nothing more is expected of it: its turn has ended.
    pub(super) settled: bool,
    pub(super) open: Option<OpenBlock>,
    /// How many blocks of each kind were reported and not printed whole yet.
    pub(super) unconfirmed: HashMap<BlockKind, usize>,
    /// Its calls without an id that were not printed whole yet.
    pub(super) unnamed: VecDeque<CallRef<'static>>,
}

/// The messages being written, one a run. Only the main run's were ever seen (2.1.325).
#[derive(Debug, Default)]
pub(super) struct OpenMessages {
    main: Option<MessageStream>,
    /// The children's, in the order they appeared.
    children: Vec<MessageStream>,
    places: HashMap<Box<str>, usize>,
    /// A retry that was reported while a message was being written: if that message is begun
    /// anew, it is the one that was given up, and the notice holds what it said.
    retry: Option<(ApiRetry, TapePlace)>,
}

/// A retry that the CLI says nothing of.
const UNTOLD: ApiRetry = ApiRetry {
    attempt: None,
    max_attempts: None,
    delay_ms: None,
    status_code: None,
    reason: None,
};

fn run_of(scope: Scope<'_>) -> &str {
    match scope {
        Scope::Main => "",
        Scope::Child(call) => call,
    }
}

impl OpenMessages {
    pub(super) fn of(&mut self, scope: Scope<'_>) -> Option<&mut MessageStream> {
        match scope {
            Scope::Main => self.main.as_mut(),
            Scope::Child(call) => self.children.get_mut(*self.places.get(call)?),
        }
    }

    /// Begins a message; one before it that was not stopped is cut off.
    pub(super) fn begin(
        &mut self,
        scope: Scope<'_>,
        message: &ApiMessage<'_>,
        out: &mut SignalSink<'_>,
    ) {
        self.give_up(scope, out);
        let usage = message
            .usage
            .as_ref()
            .map(|usage| of_response(usage, false));
        let run = run_of(scope);
        let stream = MessageStream {
            run: run.into(),
            id: message.id.as_deref().unwrap_or_default().to_owned(),
            model: message
                .model
                .as_ref()
                .map(|model| model.as_str().to_owned()),
            usage: usage.unwrap_or_default(),
            is_final: false,
            stopped: false,
            settled: false,
            open: None,
            unconfirmed: HashMap::new(),
            unnamed: VecDeque::new(),
        };
        match self.of(scope) {
            Some(last) => {
                if !last.stopped && !last.settled && last.id != stream.id {
                    out.emit_in(scope, Signal::MessageCut);
                }
                *last = stream;
            }
            None if scope == Scope::Main => self.main = Some(stream),
            None => {
                self.places.insert(run.into(), self.children.len());
                self.children.push(stream);
            }
        }
    }

    /// Takes back what was written of a block that was never printed whole, because the message
    /// is begun anew: the CLI gave that attempt up, after a connection that dropped for instance.
    fn give_up(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        let given_up = self.of(scope).and_then(MessageStream::take_unconfirmed);
        let held = self.retry.take_if(|_| scope == Scope::Main);
        if given_up.is_none_or(|open| !open.begun) {
            return emit_retry(held, out);
        }
        let (retry, place) = held.unwrap_or_else(|| (UNTOLD, out.place()));
        out.emit_at(place, scope, Signal::PartGivenUp(retry));
    }

    /// Takes note of a message that comes whole. If another one was being written, it was given up.
    pub(super) fn on_whole_message(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        out: &mut SignalSink<'_>,
    ) {
        let other = self
            .of(scope)
            .is_some_and(|stream| stream.is_open() && Some(stream.id.as_str()) != key);
        if other {
            self.give_up(scope, out);
        }
    }

    /// Reports a retry, unless it may turn out to be about the message that is being written.
    pub(super) fn on_retry(&mut self, retry: ApiRetry, out: &mut SignalSink<'_>) {
        self.report_retry(out);
        if self.of(Scope::Main).is_some_and(|stream| stream.is_open()) {
            self.retry = Some((retry, out.place()));
        } else {
            out.event(retry);
        }
    }

    /// Reports a retry that was about something else: the message goes on.
    pub(super) fn report_retry(&mut self, out: &mut SignalSink<'_>) {
        if self.retry.is_some() {
            emit_retry(self.retry.take(), out);
        }
    }

    /// Returns the message that an interrupted one is, where it was being written: its last line
    /// need not have its id.
    pub(super) fn interrupted(&mut self, scope: Scope<'_>) -> Option<String> {
        let stream = self.of(scope).filter(|stream| stream.open.is_some())?;
        Some(stream.id.clone())
    }

    /// Tells whether the last message of the main run lacks its end; `None` if it did not come in
    /// pieces.
    pub(super) fn is_unfinished(&mut self) -> Option<bool> {
        let stream = self.of(Scope::Main).filter(|stream| !stream.settled)?;
        Some(!stream.is_final)
    }

    /// Ends what is being written: the turn is over, and nothing of it is begun anew.
    pub(super) fn settle(&mut self, out: &mut SignalSink<'_>) {
        self.report_retry(out);
        for stream in self.main.iter_mut().chain(&mut self.children) {
            stream.settled = true;
            let scope = match &*stream.run {
                "" => Scope::Main,
                call => Scope::Child(call),
            };
            let Some(open) = stream.open.take().filter(|open| !open.confirmed) else {
                continue;
            };
            if open.kind == BlockKind::Call {
                // Nobody knows the input of a call that was cut off.
                open.emit_call(scope, Value::Null, out);
            }
        }
    }

    /// Takes a block that was printed whole. Returns whether its pieces were reported already.
    pub(super) fn confirm(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
        kind: BlockKind,
        block: &ContentBlock<'_>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        let Some(stream) = self
            .of(scope)
            .filter(|stream| Some(stream.id.as_str()) == key)
        else {
            return false;
        };
        match &mut stream.open {
            Some(open) if open.kind == kind && !open.confirmed => {
                open.confirmed = true;
                let reported = open.close(scope, Some(block), out);
                if open.ended {
                    stream.open = None;
                }
                reported
            }
            _ => match stream.unconfirmed.get_mut(&kind) {
                Some(count @ 1..) => {
                    *count -= 1;
                    kind != BlockKind::Call
                }
                _ => false,
            },
        }
    }

    /// Returns the call without an id that a block is which was printed whole: calls are printed
    /// in the order in which they begin.
    pub(super) fn unnamed_call(
        &mut self,
        scope: Scope<'_>,
        key: Option<&str>,
    ) -> Option<CallRef<'static>> {
        let stream = self.of(scope)?;
        if Some(stream.id.as_str()) == key {
            stream.unnamed.pop_front()
        } else {
            None
        }
    }
}

fn emit_retry(held: Option<(ApiRetry, TapePlace)>, out: &mut SignalSink<'_>) {
    if let Some((retry, place)) = held {
        out.at(place).emit(Signal::Event(retry.into()));
    }
}

impl MessageStream {
    /// Tells whether there is a block that was not printed whole so far.
    pub(super) fn is_open(&self) -> bool {
        !self.is_final && self.open.as_ref().is_some_and(|open| !open.confirmed)
    }

    /// Gives out the block that was not printed whole, unless the message has its end.
    fn take_unconfirmed(&mut self) -> Option<OpenBlock> {
        if self.is_open() {
            self.open.take()
        } else {
            None
        }
    }

    /// Ends a block that will not be printed whole, because the message goes on without it.
    pub(super) fn close_ended(&mut self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        if let Some(mut open) = self.open.take_if(|open| open.ended && !open.confirmed) {
            open.close(scope, None, out);
            *self.unconfirmed.entry(open.kind).or_default() += 1;
        }
    }

    pub(super) fn report_usage(&self, scope: Scope<'_>, out: &mut SignalSink<'_>) {
        if self.usage.is_unknown() || self.id.is_empty() {
            return;
        }
        let model = self.model.as_deref().map(Cow::Borrowed);
        let key = Cow::Borrowed(self.id.as_str());
        out.emit_in(
            scope,
            Signal::Usage {
                key,
                counts: self.usage,
                model,
            },
        );
    }
}

impl OpenBlock {
    pub(super) fn new(kind: BlockKind, place: TapePlace) -> Self {
        Self {
            kind,
            place,
            begun: false,
            signature: String::new(),
            unnamed: None,
            call: String::new(),
            name: String::new(),
            input: String::new(),
            confirmed: false,
            ended: false,
        }
    }

    /// Reports the call, which was held back until its input was known.
    fn emit_call(&self, scope: Scope<'_>, input: Value, out: &mut SignalSink<'_>) {
        let detail = tools::detail(&self.name, &input);
        let call = Signal::ToolCall {
            call: self.unnamed.unwrap_or(CallRef::Printed(&self.call)),
            name: Cow::Borrowed(&self.name),
            input,
            detail,
        };
        out.emit_at(self.place, scope, call);
    }

    /// Ends the part; `whole` is the block as it was printed whole. Returns whether it was reported.
    pub(super) fn close(
        &mut self,
        scope: Scope<'_>,
        whole: Option<&ContentBlock<'_>>,
        out: &mut SignalSink<'_>,
    ) -> bool {
        match self.kind {
            BlockKind::Text if self.begun => out.emit_in(scope, Signal::TextEnd),
            BlockKind::Thinking if self.begun => {
                let written = (!self.signature.is_empty()).then_some(self.signature.as_str());
                let signature = whole
                    .and_then(|block| block.signature.as_deref())
                    .or(written);
                let signature = signature.map(Cow::Borrowed);
                out.emit_in(scope, Signal::ThinkingEnd { signature });
            }
            // No piece came: the whole block, if there is one, is reported as it is.
            // So is a call: only then its input is known for certain.
            BlockKind::Text | BlockKind::Thinking | BlockKind::Call if whole.is_some() => {
                return false;
            }
            BlockKind::Text => out.emit_in(scope, Signal::Text(Cow::Borrowed(""))),
            BlockKind::Thinking => {
                let signature =
                    (!self.signature.is_empty()).then_some(Cow::Borrowed(self.signature.as_str()));
                out.emit_in(
                    scope,
                    Signal::Thinking {
                        text: Cow::Borrowed(""),
                        signature,
                    },
                );
            }
            BlockKind::Call => {
                let written = if self.input.is_empty() {
                    "{}"
                } else {
                    &self.input
                };
                let input = decode::<Value>(written.as_bytes());
                let input = input.map_or(Value::Null, |input| input.value);
                self.emit_call(scope, input, out);
            }
            BlockKind::Redacted | BlockKind::Answer | BlockKind::Upload | BlockKind::Unknown => {}
        }
        true
    }
}
