//! The step that is open in a run: what the model said so far, and what its tools gave back.

use runtape_core::record::{CallNote, ResultNote};
use runtape_core::{
    ExpertPart, PartId, Span, TextPart, ThinkingPart, TokenCounts, ToolName, ToolResultPart,
};

use super::step_index::ResultPlace;
use crate::signal::TapePlace;

/// Roughly how many bytes of memory a part takes beside its text: its ids, its place, its note.
pub(super) const PART: usize = 256;

/// However low the limit is, so many parts are held together.
const FEWEST_PARTS: usize = 64;

/// What may still be appended to the last part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenPart {
    /// None: the next text opens a new part.
    None,
    /// The last part is text and goes on.
    Text,
    /// The last part is thinking and goes on.
    Thinking,
}

/// Tokens of one response, until the step ends.
#[derive(Debug)]
pub(super) struct ResponseUsage {
    pub(super) key: Box<str>,
    pub(super) counts: TokenCounts,
    pub(super) model: Option<String>,
    pub(super) place: TapePlace,
}

/// What the model said in a step and was not yet turned into a record.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) parts: Vec<ExpertPart>,
    pub(super) offsets: Vec<u64>,
    pub(super) notes: Vec<CallNote>,
    pub(super) span: Option<Span>,
    pub(super) at: Option<i64>,
    pub(super) until: i64,
}

/// What the tools gave back in a step and was not yet turned into a record.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) parts: Vec<ToolResultPart>,
    pub(super) offsets: Vec<u64>,
    pub(super) notes: Vec<ResultNote>,
    pub(super) span: Option<Span>,
    pub(super) at: Option<i64>,
    /// A result was tied to a call that came after it, so that its note may say nothing now.
    pub(super) tied: bool,
}

impl Answered {
    /// Returns what is known of the results, without notes that say nothing.
    pub(super) fn take_notes(&mut self) -> Vec<ResultNote> {
        let mut notes = std::mem::take(&mut self.notes);
        if self.tied {
            notes.retain(|note| {
                note.unmatched || note.duration_ms.is_some() || note.call_step.is_some()
            });
        }
        notes
    }
}

/// The step that is open in a run.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) key: Option<Box<str>>,
    pub(super) started_at: i64,
    pub(super) spoken: Spoken,
    pub(super) answered: Answered,
    /// The last part goes on. Which it is, the part itself says: see [`OpenStep::open_part`].
    goes_on: bool,
    pub(super) usage: Vec<ResponseUsage>,
    /// Bytes held for records of this step.
    pub(super) held: usize,
    /// A message of this step was already turned into a record because it grew too long.
    pub(super) continued: bool,
    /// The message was cut off.
    pub(super) cut: bool,
    /// Where the message began, if nothing of it was turned into a record so far.
    pub(super) printed: Option<TapePlace>,
}

impl Spoken {
    /// Returns the message without a part that was printed, where nothing was said.
    pub(super) fn or_printed(self, printed: Option<TapePlace>) -> Self {
        match printed {
            Some(place) if self.parts.is_empty() => Self {
                span: place.span,
                at: Some(place.at),
                until: place.at,
                ..Self::default()
            },
            _ => self,
        }
    }
}

fn widen(span: &mut Option<Span>, place: TapePlace) {
    *span = match (*span, place.span) {
        (Some(span), Some(other)) => Some(span.cover(other)),
        (span, other) => span.or(other),
    };
}

impl OpenStep {
    pub(super) fn new(key: Option<&str>, at: i64) -> Self {
        Self {
            key: key.map(Into::into),
            started_at: at,
            spoken: Spoken::default(),
            answered: Answered::default(),
            goes_on: false,
            usage: Vec::new(),
            held: 0,
            continued: false,
            cut: false,
            printed: None,
        }
    }

    /// Tells whether the step holds anything that could become a record.
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0 && self.count() == 0
    }

    /// Tells whether so many more bytes are too many, or one more part is one too many.
    pub(super) fn is_full(&self, bytes: usize, limit: usize) -> bool {
        self.held.saturating_add(bytes) > limit || self.count() >= (limit / PART).max(FEWEST_PARTS)
    }

    fn count(&self) -> usize {
        self.spoken.parts.len() + self.answered.parts.len()
    }

    /// Notes that the model said something here.
    fn spoke(&mut self, place: TapePlace, bytes: usize) {
        widen(&mut self.spoken.span, place);
        self.spoken.at.get_or_insert(place.at);
        self.spoken.until = place.at;
        self.held += bytes;
    }

    /// Returns what may still be appended to the last part.
    pub(super) fn open_part(&self) -> OpenPart {
        match self.spoken.parts.last() {
            Some(ExpertPart::TextPart(_)) if self.goes_on => OpenPart::Text,
            Some(ExpertPart::ThinkingPart(_)) if self.goes_on => OpenPart::Thinking,
            _ => OpenPart::None,
        }
    }

    /// Ends the last part: what comes next opens another one.
    pub(super) fn close_part(&mut self) {
        self.goes_on = false;
    }

    pub(super) fn push_part(&mut self, part: ExpertPart, place: TapePlace, bytes: usize) {
        self.close_part();
        self.spoke(place, bytes);
        self.spoken.parts.push(part);
        self.spoken
            .offsets
            .push(place.span.map_or(0, |span| span.start));
    }

    /// Appends to the open text part; `false` if none is open.
    pub(super) fn append_text(&mut self, text: &str, place: TapePlace) -> bool {
        let last = self.spoken.parts.last_mut();
        let Some(ExpertPart::TextPart(part)) = last.filter(|_| self.goes_on) else {
            return false;
        };
        part.text.push_str(text);
        self.spoke(place, text.len());
        true
    }

    /// Appends to the open thinking part; `false` if none is open.
    pub(super) fn append_thinking(&mut self, text: &str, place: TapePlace) -> bool {
        let last = self.spoken.parts.last_mut();
        let Some(ExpertPart::ThinkingPart(part)) = last.filter(|_| self.goes_on) else {
            return false;
        };
        part.thinking.push_str(text);
        self.spoke(place, text.len());
        true
    }

    pub(super) fn open_text(&mut self, id: PartId, text: &str, place: TapePlace) {
        self.push_part(
            TextPart {
                id,
                text: text.to_owned(),
            }
            .into(),
            place,
            text.len(),
        );
        self.goes_on = true;
    }

    pub(super) fn open_thinking(&mut self, id: PartId, text: &str, place: TapePlace) {
        let part = ThinkingPart {
            id,
            thinking: text.to_owned(),
            signature: None,
        };
        self.push_part(part.into(), place, text.len());
        self.goes_on = true;
    }

    /// Takes back the last part, if it is text or reasoning, and returns what it said.
    pub(super) fn take_back(&mut self) -> Option<String> {
        let is_said = |part: &mut ExpertPart| !matches!(part, ExpertPart::ToolCallPart(_));
        let text = match self.spoken.parts.pop_if(is_said)? {
            ExpertPart::TextPart(part) => part.text,
            ExpertPart::ThinkingPart(part) => part.thinking,
            ExpertPart::ToolCallPart(_) => return None,
        };
        self.spoken.offsets.pop();
        self.held = self.held.saturating_sub(text.len());
        self.close_part();
        self.cut = false;
        if self.spoken.parts.is_empty() {
            self.spoken.at = None;
        }
        Some(text)
    }

    /// Ends the open thinking part.
    pub(super) fn sign_thinking(&mut self, signature: Option<String>) {
        let last = self.spoken.parts.last_mut();
        let Some(ExpertPart::ThinkingPart(part)) = last.filter(|_| self.goes_on) else {
            return;
        };
        self.goes_on = false;
        if let Some(signature) = signature {
            self.held += signature.len();
            part.signature = Some(signature);
        }
    }

    pub(super) fn push_result(
        &mut self,
        part: ToolResultPart,
        note: Option<ResultNote>,
        place: TapePlace,
        bytes: usize,
    ) {
        widen(&mut self.answered.span, place);
        self.answered.at.get_or_insert(place.at);
        self.held += bytes;
        self.answered.parts.push(part);
        self.answered.notes.extend(note);
        self.answered
            .offsets
            .push(place.span.map_or(0, |span| span.start));
    }

    /// Ties a result to its call, which came only now: the step's messages are written together,
    /// what was said first.
    pub(super) fn tie_result(&mut self, place: ResultPlace, name: &ToolName) {
        let Answered {
            parts, notes, tied, ..
        } = &mut self.answered;
        if let Some(note) = notes.get_mut(place.note) {
            note.unmatched = false;
            *tied = true;
        }
        if let Some(part) = parts.get_mut(place.part) {
            part.tool_name = name.clone();
        }
    }

    /// Returns the latest time of what it holds.
    pub(super) fn latest(&self) -> i64 {
        let used = self.usage.iter().map(|usage| usage.place.at);
        let spoken = self.spoken.at.map(|at| at.max(self.spoken.until));
        let held = [spoken, self.answered.at, self.printed.map(|place| place.at)];
        let times = used.chain(held.into_iter().flatten());
        times.fold(self.started_at, i64::max)
    }

    /// Returns what the step used so far.
    pub(super) fn used(&self) -> TokenCounts {
        self.usage
            .iter()
            .fold(TokenCounts::default(), |sum, usage| sum.plus(usage.counts))
    }
}
