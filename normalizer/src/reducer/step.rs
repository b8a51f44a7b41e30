//! The step that is open in a run: what the model said so far, and what its tools gave back.

use runtape_core::record::{CallNote, ResultNote};
use runtape_core::{
    ExpertPart, PartId, Span, TextPart, ThinkingPart, TokenCounts, ToolCallId, ToolName,
    ToolResultPart,
};

use crate::signal::Place;

/// A part that text is still being appended to.
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
    pub(super) place: Place,
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
}

/// The step that is open in a run.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) key: Option<Box<str>>,
    pub(super) started_at: i64,
    pub(super) spoken: Spoken,
    pub(super) answered: Answered,
    pub(super) open: OpenPart,
    pub(super) usage: Vec<ResponseUsage>,
    /// Bytes held for records of this step.
    pub(super) held: usize,
    /// A message of this step was already turned into a record because it grew too long.
    pub(super) continued: bool,
    /// The message was cut off.
    pub(super) cut: bool,
    /// Where the message began, if nothing of it was turned into a record so far.
    pub(super) printed: Option<Place>,
}

impl Spoken {
    /// Returns the message without a part that was printed, where nothing was said.
    pub(super) fn or_printed(self, printed: Option<Place>) -> Self {
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

fn widen(span: &mut Option<Span>, place: Place) {
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
            open: OpenPart::None,
            usage: Vec::new(),
            held: 0,
            continued: false,
            cut: false,
            printed: None,
        }
    }

    /// Notes that the model said something here.
    fn spoke(&mut self, place: Place, bytes: usize) {
        widen(&mut self.spoken.span, place);
        self.spoken.at.get_or_insert(place.at);
        self.spoken.until = place.at;
        self.held += bytes;
    }

    pub(super) fn push_part(&mut self, part: ExpertPart, place: Place, bytes: usize) {
        self.spoke(place, bytes);
        self.spoken.parts.push(part);
        self.spoken
            .offsets
            .push(place.span.map_or(0, |span| span.start));
    }

    /// Appends to the open text part; `false` if none is open.
    pub(super) fn append_text(&mut self, text: &str, place: Place) -> bool {
        if self.open != OpenPart::Text {
            return false;
        }
        self.spoke(place, text.len());
        if let Some(ExpertPart::TextPart(part)) = self.spoken.parts.last_mut() {
            part.text.push_str(text);
        }
        true
    }

    /// Appends to the open thinking part; `false` if none is open.
    pub(super) fn append_thinking(&mut self, text: &str, place: Place) -> bool {
        if self.open != OpenPart::Thinking {
            return false;
        }
        self.spoke(place, text.len());
        if let Some(ExpertPart::ThinkingPart(part)) = self.spoken.parts.last_mut() {
            part.thinking.push_str(text);
        }
        true
    }

    pub(super) fn open_text(&mut self, id: PartId, text: &str, place: Place) {
        self.push_part(
            TextPart {
                id,
                text: text.to_owned(),
            }
            .into(),
            place,
            text.len(),
        );
        self.open = OpenPart::Text;
    }

    pub(super) fn open_thinking(&mut self, id: PartId, text: &str, place: Place) {
        let part = ThinkingPart {
            id,
            thinking: text.to_owned(),
            signature: None,
        };
        self.push_part(part.into(), place, text.len());
        self.open = OpenPart::Thinking;
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
        self.open = OpenPart::None;
        self.cut = false;
        if self.spoken.parts.is_empty() {
            self.spoken.at = None;
        }
        Some(text)
    }

    /// Ends the open thinking part.
    pub(super) fn sign_thinking(&mut self, signature: Option<String>) {
        if self.open != OpenPart::Thinking {
            return;
        }
        self.open = OpenPart::None;
        if let (Some(ExpertPart::ThinkingPart(part)), Some(signature)) =
            (self.spoken.parts.last_mut(), signature)
        {
            self.held += signature.len();
            part.signature = Some(signature);
        }
    }

    pub(super) fn push_result(
        &mut self,
        part: ToolResultPart,
        note: Option<ResultNote>,
        place: Place,
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
    /// what was said first. Tells whether there is one.
    pub(super) fn tie_result(&mut self, id: &ToolCallId, name: &ToolName) -> bool {
        let Answered { parts, notes, .. } = &mut self.answered;
        let untied = notes
            .iter()
            .position(|note| note.unmatched && note.tool_call_id == *id);
        let Some(note) = untied.and_then(|at| notes.get_mut(at)) else {
            return false;
        };
        note.unmatched = false;
        notes.retain(|note| {
            note.unmatched || note.duration_ms.is_some() || note.call_step.is_some()
        });
        for part in parts.iter_mut().filter(|part| part.tool_call_id == *id) {
            part.tool_name = name.clone();
        }
        true
    }

    /// Sets what one response used; the same response again replaces it.
    pub(super) fn set_usage(&mut self, usage: ResponseUsage) {
        match self.usage.iter_mut().find(|known| known.key == usage.key) {
            Some(known) => {
                known.counts = usage.counts.or(known.counts);
                known.model = usage.model.or(known.model.take());
            }
            None => self.usage.push(usage),
        }
    }

    /// Returns what the step used so far.
    pub(super) fn used(&self) -> TokenCounts {
        self.usage
            .iter()
            .fold(TokenCounts::default(), |sum, usage| sum.plus(usage.counts))
    }
}
