//! What the model said last, and what was streamed of it: both come again in other words.

use std::borrow::Cow;

use crate::parser::SignalSink;
use crate::signal::{Scope, Signal};

/// The text of the open message, as far as it is held.
#[derive(Debug)]
pub(super) struct HeldText {
    text: String,
    limit: usize,
    /// The message is longer than what is held.
    is_cut: bool,
    /// Something was said at all.
    is_begun: bool,
}

impl HeldText {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            is_cut: false,
            is_begun: false,
        }
    }

    /// A message begins.
    pub(super) fn begin(&mut self) {
        self.text.clear();
        self.is_cut = false;
    }

    /// The message goes on.
    pub(super) fn push(&mut self, text: &str) {
        self.is_begun = true;
        if self.text.len().saturating_add(text.len()) > self.limit {
            self.is_cut = true;
            self.text = String::new();
        }
        if !self.is_cut {
            self.text.push_str(text);
        }
    }

    /// Returns the answer that a result states, if the last message does not say the same. Where no
    /// message said anything, the answer is one.
    pub(super) fn answer<'a>(
        &mut self,
        stated: Option<&'a str>,
        scope: Scope<'_>,
        out: &mut SignalSink<'_>,
    ) -> Option<&'a str> {
        let stated = stated.filter(|text| !text.is_empty())?;
        if !self.is_begun {
            self.push(stated);
            out.emit_in(scope, Signal::Text(Cow::Borrowed(stated)));
        }
        (self.is_cut || self.text != stated).then_some(stated)
    }

    /// Tells whether nothing was said at all.
    pub(super) fn is_silent(&self) -> bool {
        !self.is_begun
    }
}

/// A part of a message that came in pieces, as far as it is held.
#[derive(Debug)]
pub(super) struct Streamed {
    text: String,
    limit: usize,
    /// It is longer than what is held, and than any line that could repeat it.
    is_cut: bool,
    has_begun: bool,
    is_complete: bool,
}

impl Streamed {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            is_cut: false,
            has_begun: false,
            is_complete: false,
        }
    }

    /// Forgets the part.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Tells whether no piece came.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_begun
    }

    /// Tells whether all of it came, and no message repeated it.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Takes a piece.
    pub(super) fn push(&mut self, delta: &str) {
        if std::mem::take(&mut self.is_complete) {
            self.clear();
        }
        self.has_begun = true;
        if self.text.len().saturating_add(delta.len()) > self.limit {
            self.is_cut = true;
            self.text = String::new();
        }
        if !self.is_cut {
            self.text.push_str(delta);
        }
    }

    /// Takes all of it at once; `false` if its pieces were something else.
    pub(super) fn complete(&mut self, all: &str) -> bool {
        self.is_complete = true;
        let is_same = self.is_cut || self.text == all;
        // A message will repeat the whole, not the pieces.
        if !is_same {
            all.clone_into(&mut self.text);
        }
        is_same
    }

    /// Tells whether a message's part is what was streamed. It is once.
    pub(super) fn take(&mut self, part: &str) -> bool {
        let is_known = self.has_begun && !self.is_cut && self.text == part;
        if is_known {
            self.clear();
        }
        is_known
    }
}
