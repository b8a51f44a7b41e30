//! Secrets that are cut over lines: pieces of a text, the lines of a private key, and words that are broken over lines.

use std::ops::Range;

use super::edit::Edit;
use super::leaf::WrittenPlaces;
use super::line::{FoundSecret, LineReader, Piece};
use super::matchers::{ends_cookie, open_cookie};
use super::needles::ends_run;
use super::piecewise::{PieceState, Piecewise};
use super::scan::{Scanned, Secret, blot};
use super::text::Text;

/// The most text of one group that is held for its rest.
pub(super) const MOST_TEXT: usize = 64 * 1024;
/// How much of what was let go is kept, for names and keywords before a secret.
const CONTEXT: usize = 96;

/// How much of the text before a piece may be of a needle that the piece ends, or of a run that is too short without it.
const SEAM: usize = 32;

/// A text that comes in pieces: what was let go last of it, and what is held.
#[derive(Debug)]
pub(super) struct Group {
    /// Names it among those of its stream.
    pub(super) key: u64,
    /// Which of the runtime's shapes its pieces have; `None` for lines of text.
    pub(super) shape: Option<usize>,
    text: Vec<u8>,
    /// Up to where the text is decided.
    decided: usize,
    parts: Vec<Part>,
    tails: Vec<Tail>,
    /// The end of the text may be the beginning of a secret: from where on.
    open: Option<usize>,
    /// The end of the text is in the values of cookies: up to which length it is, if nothing ends them before.
    cookie: Option<usize>,
    /// How long the text was when it was last looked through.
    scanned: usize,
    /// For how many bytes more a needle is near, so that what comes after it may be a secret.
    near: usize,
    /// Which needles the end of the text may be the beginning of, if that was found out.
    state: Option<PieceState>,
}

/// A piece in a line that is held.
#[derive(Debug)]
struct Part {
    line: u64,
    /// Where it is in the group's text.
    place: Range<usize>,
    /// Where a secret in it ends at the latest: a line of text keeps its end.
    last: usize,
    written: WrittenPlaces,
}

/// The end of a text so far, in a line that is held.
#[derive(Debug)]
struct Tail {
    line: u64,
    written: Range<usize>,
    text: Vec<u8>,
}

/// What became of a piece that was added to its group.
#[derive(Debug)]
pub(super) enum AddedPiece {
    /// Nothing in it has to be changed or held.
    Passes,
    /// It goes on with what is waited for, and decides nothing.
    Waits,
    /// The text was looked through.
    Scanned(Scanned),
}

/// What follows from what is known of a group by now.
#[derive(Debug, Default)]
pub(super) struct GroupVerdict {
    /// Changes to lines that are held.
    pub(super) edits: Vec<(u64, Edit)>,
    /// Lines that the group does not hold any more, once for each hold.
    pub(super) released: Vec<u64>,
    pub(super) found: Vec<FoundSecret>,
    /// How often a part of what may be a secret was let go.
    pub(super) unfinished: u64,
}

impl Group {
    pub(super) fn new(key: u64, shape: Option<usize>) -> Self {
        Self {
            key,
            shape,
            text: Vec::new(),
            decided: 0,
            parts: Vec::new(),
            tails: Vec::new(),
            open: None,
            cookie: None,
            scanned: 0,
            near: 0,
            state: None,
        }
    }

    /// Tells whether a line is held for the group.
    pub(super) fn holds(&self) -> bool {
        !self.parts.is_empty() || !self.tails.is_empty()
    }

    /// Tells whether more text is held than may be.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() - self.decided > MOST_TEXT
    }

    /// Adds a piece that is written as it is meant, if no needle ends in it, and none begins at its end: `true` if so.
    pub(super) fn add_passing(&mut self, piece: &[u8], piecewise: &Piecewise) -> bool {
        if self.holds() || self.open.is_some() || self.near > 0 {
            return false;
        }
        let known = self.state.or_else(|| piecewise.state_of(&self.text));
        let Some(state) = known.and_then(|state| piecewise.after(state, piece)) else {
            return false;
        };
        let before = self.text.len();
        self.text.extend_from_slice(piece);
        if piecewise.may_go_on(state, &self.text) {
            self.text.truncate(before);
            return false;
        }
        self.state = Some(state);
        self.pass();
        true
    }

    /// Takes all of the text for decided.
    fn pass(&mut self) {
        self.scanned = self.text.len();
        self.decided = self.text.len();
        self.forget();
    }

    /// Adds a piece if a short look tells that nothing in it can be of a secret: `true` if so.
    ///
    /// Where no needle was for a while, only one that the piece ends, has or begins can matter.
    pub(super) fn add_quiet(&mut self, piece: &Piece<'_>, reader: LineReader<'_>) -> bool {
        let Some(leaf) = &piece.leaf else {
            return false;
        };
        if self.holds() || self.open.is_some() || self.near > 0 || !piece.tails.is_empty() {
            return false;
        }
        let before = self.text.len();
        self.text.extend_from_slice(&leaf.text);
        let first = before.saturating_sub(SEAM);
        let seam = self.text.get(first..).unwrap_or_default();
        let is_quiet = if piece.is_clean {
            reader.scanner().is_quiet_around(seam, before - first)
        } else {
            reader.scanner().is_quiet(seam)
        };
        if !is_quiet {
            self.text.truncate(before);
            return false;
        }
        self.state = None;
        self.pass();
        true
    }

    /// Adds the text of a piece.
    pub(super) fn add(
        &mut self,
        piece: &Piece<'_>,
        found: &[FoundSecret],
        reader: LineReader<'_>,
    ) -> AddedPiece {
        let is_quiet = !self.holds() && piece.tails.is_empty() && found.is_empty();
        let Some(leaf) = &piece.leaf else {
            return if is_quiet {
                AddedPiece::Passes
            } else {
                AddedPiece::Waits
            };
        };
        let before = self.text.len();
        self.state = None;
        self.text.extend_from_slice(&leaf.text);
        if let Some(open) = self.open
            && self.still_waits(open, before)
        {
            return AddedPiece::Waits;
        }
        self.scanned = self.text.len();
        let scanned = reader.scanner().scan(&Text::new(&self.text).open(true));
        // What was only the beginning of a needle, and went on as something else, is none.
        let is_needle_near = |place: usize| self.open.is_some() || place + SEAM >= before;
        if scanned.last_needle.is_some_and(is_needle_near) {
            self.near = 2 * CONTEXT;
        } else {
            self.near = self.near.saturating_sub(leaf.text.len());
        }
        let is_old = |secret: &Secret| secret.place.end <= self.decided;
        if is_quiet && scanned.undecided.is_none() && scanned.secrets.iter().all(is_old) {
            self.pass();
            return AddedPiece::Passes;
        }
        AddedPiece::Scanned(scanned)
    }

    /// Tells whether a piece decides nothing, so that the text need not be looked through again: it goes on with a run, and
    /// is not much longer by now, or with cookies or a private key that it does not end.
    fn still_waits(&self, open: usize, before: usize) -> bool {
        let piece = self.text.get(before..).unwrap_or_default();
        let (length, known) = (self.text.len() - open, self.scanned - open);
        if !piece.iter().any(|byte| ends_run(*byte)) && length < known + known / 8 + 32 {
            return true;
        }
        if let Some(longest) = self.cookie
            && self.text.len() <= longest
            && !piece.iter().copied().any(ends_cookie)
        {
            return true;
        }
        let text = self.text.get(open..).unwrap_or_default();
        let end = self
            .text
            .get(before.saturating_sub(8)..)
            .unwrap_or_default();
        known > 1024
            && !self.is_full()
            && text.starts_with(b"-----BEGIN")
            && memchr::memmem::find(end, b"-----E").is_none()
    }

    /// Adds the piece of a line that is held from now on, whose text was added before. The line is held once for
    /// each entry in `Verdict::released` to come.
    pub(super) fn hold(&mut self, line: u64, piece: Piece<'_>) -> usize {
        let mut holds = piece.tails.len();
        for (written, text) in piece.tails {
            self.tails.push(Tail {
                line,
                written,
                text,
            });
        }
        if let Some(leaf) = piece.leaf {
            let end = self.text.len();
            let place = end - leaf.text.len()..end;
            let last = match self.shape {
                Some(_) => end,
                None => place.start + leaf.text.trim_ascii_end().len(),
            };
            self.parts.push(Part {
                line,
                place,
                last,
                written: leaf.places,
            });
            holds += 1;
        }
        holds
    }

    /// Marks the ends of texts so far that what was found in a line begins with.
    fn take_found(&mut self, found: &[FoundSecret], reader: LineReader<'_>) -> GroupVerdict {
        let mut verdict = GroupVerdict::default();
        for secret in found {
            self.mark_tails(secret.rule, &secret.secret, reader, &mut verdict);
        }
        verdict
    }

    /// Takes what was found in the line of a piece that decides nothing of the text.
    pub(super) fn wait(&mut self, found: &[FoundSecret], reader: LineReader<'_>) -> GroupVerdict {
        let mut verdict = self.take_found(found, reader);
        self.release_tails(&mut verdict);
        verdict
    }

    /// Decides what can be decided, when a piece was added and the text looked through.
    pub(super) fn decide(
        &mut self,
        scanned: &Scanned,
        found: &[FoundSecret],
        reader: LineReader<'_>,
    ) -> GroupVerdict {
        let mut verdict = self.take_found(found, reader);
        let open = scanned.undecided.unwrap_or(self.text.len());
        self.open = Some(open.max(self.decided)).filter(|open| *open < self.text.len());
        self.cookie = self.open.and_then(|open| open_cookie(&self.text, open));
        self.settle(
            scanned,
            self.open.unwrap_or(self.text.len()),
            reader,
            &mut verdict,
        );
        verdict
    }

    /// Decides everything: nothing more comes, or too much has.
    pub(super) fn close(&mut self, is_cut: bool, reader: LineReader<'_>) -> GroupVerdict {
        let mut verdict = GroupVerdict::default();
        let was_undecided = self.open.is_some() || !self.tails.is_empty();
        self.open = None;
        self.cookie = None;
        // Without a line that is held, everything is decided.
        if self.holds() {
            let scanned = reader.scanner().scan(&Text::new(&self.text));
            self.settle(&scanned, self.text.len(), reader, &mut verdict);
            let rest = self.tails.drain(..).map(|tail| tail.line);
            verdict.released.extend(rest);
        }
        if is_cut && was_undecided {
            verdict.unfinished += 1;
        }
        verdict
    }

    fn settle(
        &mut self,
        scanned: &Scanned,
        open: usize,
        reader: LineReader<'_>,
        verdict: &mut GroupVerdict,
    ) {
        let decided = self.whole_parts(scanned, open);
        for secret in &scanned.secrets {
            if secret.place.end > self.decided && secret.place.end <= decided {
                self.replace(secret, reader, verdict);
                // In what is kept it is a marker, and not to be found again before what comes next.
                blot(&mut self.text, &secret.place);
            }
        }
        self.decided = decided;
        // Parts are in order.
        let free = self.parts.partition_point(|part| part.place.end <= decided);
        let free = self.parts.drain(..free).map(|part| part.line);
        verdict.released.extend(free);
        self.release_tails(verdict);
        self.forget();
    }

    /// Lets go what ends the text so far: it is decided with the text.
    fn release_tails(&mut self, verdict: &mut GroupVerdict) {
        if self.open.is_none() && !self.text.is_empty() {
            let free = self.tails.drain(..).map(|tail| tail.line);
            verdict.released.extend(free);
        }
    }

    /// Returns up to where the text can be decided, if it is open from a place on: what is in a line that stays held is decided
    /// with the rest of it, and a secret as a whole.
    fn whole_parts(&self, scanned: &Scanned, open: usize) -> usize {
        let mut until = open;
        if until < self.text.len() {
            loop {
                let is_cut = |place: &Range<usize>| place.start < until && until < place.end;
                // Both are in order.
                let part = self.parts.partition_point(|part| part.place.end <= until);
                let part = self.parts.get(part).map(|part| &part.place);
                let of_secrets = &scanned.secrets;
                let secret = of_secrets.partition_point(|secret| secret.place.end <= until);
                let secret = of_secrets.get(secret).map(|secret| &secret.place);
                let cut = [part, secret]
                    .into_iter()
                    .flatten()
                    .find(|place| is_cut(place));
                match cut {
                    Some(place) => until = place.start,
                    None => break,
                }
            }
        }
        until.max(self.decided)
    }

    /// Puts a marker into the first piece of a secret, and takes its part from the others.
    fn replace(&mut self, secret: &Secret, reader: LineReader<'_>, verdict: &mut GroupVerdict) {
        let bytes = self
            .text
            .get(secret.place.clone())
            .unwrap_or_default()
            .to_vec();
        let mut text = reader.markers.marker(reader.rules, secret.rule, &bytes);
        let start = secret.place.start.max(self.decided);
        for part in &self.parts {
            let from = start.max(part.place.start) - part.place.start;
            let to = secret.place.end.min(part.last);
            let to = to.saturating_sub(part.place.start);
            if from < to {
                let place = part.written.written(from..to);
                let text = std::mem::take(&mut text);
                verdict.edits.push((part.line, Edit { place, text }));
            }
        }
        if self.decided > secret.place.start + 3 {
            verdict.unfinished += 1;
        }
        self.mark_tails(secret.rule, &bytes, reader, verdict);
        verdict.found.push(FoundSecret {
            rule: secret.rule,
            secret: bytes,
        });
    }

    /// Replaces the ends of texts so far that were the beginning of a secret.
    fn mark_tails(
        &mut self,
        rule: u16,
        secret: &[u8],
        reader: LineReader<'_>,
        verdict: &mut GroupVerdict,
    ) {
        self.tails.retain_mut(|tail| {
            let is_beginning = secret.starts_with(&tail.text);
            if is_beginning {
                let text = reader.markers.marker(reader.rules, rule, secret);
                let place = tail.written.clone();
                verdict.edits.push((tail.line, Edit { place, text }));
                verdict.released.push(tail.line);
            }
            !is_beginning
        });
    }

    /// Forgets what is not needed any more of what was decided.
    fn forget(&mut self) {
        let first = self.parts.first().map(|part| part.place.start);
        let cut = self.decided.saturating_sub(CONTEXT);
        let cut = cut.min(first.unwrap_or(cut));
        // Not for a few bytes each time.
        if cut < CONTEXT {
            return;
        }
        self.text.drain(..cut);
        self.decided -= cut;
        self.scanned = self.scanned.saturating_sub(cut);
        self.open = self.open.map(|open| open.saturating_sub(cut));
        self.cookie = self.cookie.map(|longest| longest.saturating_sub(cut));
        for part in &mut self.parts {
            part.place = part.place.start - cut..part.place.end - cut;
            part.last -= cut;
        }
    }
}
