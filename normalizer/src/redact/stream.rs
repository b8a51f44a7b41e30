//! One stream on its way through the filter.

use std::collections::VecDeque;

use memchr::{memchr, memchr2, memrchr};
use runtape_core::Stream;

use super::counts::RedactionCounts;
use super::edit::{Edit, apply, apply_to_line_into};
use super::form::Forms;
use super::groups::{Group, Verdict};
use super::kept::Kept;
use super::line::{FoundSecret, LineFinds, LineReader, Piece, group_of};
use super::needles::{Look, Owner, Search, Seen};
use super::redactor::Found;
use super::rule_set::{ESCAPE, RuleSet};
use super::shape::Outcome;
use super::text::Text;
use super::walk::{StringState, is_of_number, may_be_json};
use crate::lines::{RETAINED, make_room};

/// How long what is held waits for its rest, in milliseconds.
pub(super) const SILENCE: i64 = 2_000;
/// The most bytes of lines that are held because one of them waits for its rest.
const MOST_HELD: usize = 4 * 1024 * 1024;
/// The most texts that come in pieces at the same time.
const MOST_GROUPS: usize = 64;
/// How much of an over-long line is kept back, so that no secret is cut between two parts of it.
const OVERLAP: usize = 8 * 1024;
/// How much of an over-long line is filtered at a time.
const PART: usize = RETAINED;

/// What is done with what may be kept.
pub(super) type Each<'e> = &'e mut dyn FnMut(Stream, Kept<'_>, i64);

/// What a filter reports.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: RedactionCounts,
    /// What each rule found since it was counted last, by its number.
    fresh: Vec<u64>,
    /// What was found, if anybody wants to know.
    pub(super) finds: Option<Vec<Found>>,
}

impl Report {
    /// Takes note of what a rule found.
    fn found(&mut self, rule: u16) {
        let rule = usize::from(rule);
        if rule >= self.fresh.len() {
            self.fresh.resize(rule + 1, 0);
        }
        if let Some(count) = self.fresh.get_mut(rule) {
            *count += 1;
        }
    }

    /// Counts what was found by the names of the rules.
    pub(super) fn count(&mut self, rules: &RuleSet) {
        for (rule, count) in (0_u16..).zip(self.fresh.drain(..)) {
            if count > 0 {
                self.counts.count(rules.name(rule), count);
            }
        }
    }
}

/// One stream on its way through the filter.
#[derive(Debug)]
pub(super) struct StreamFilter {
    stream: Stream,
    limit: usize,
    /// What has come of the current line.
    carry: Vec<u8>,
    last_at: i64,
    /// Where the current line begins in the stream as it was given.
    start: u64,
    over_long: Option<OverLong>,
    queue: VecDeque<HeldLine>,
    queued: usize,
    /// The number of the first line that is held.
    first: u64,
    groups: Vec<Group>,
    forms: Forms,
    ready: Ready,
}

/// A line that is over the limit.
#[derive(Clone, Copy, Debug)]
struct OverLong {
    is_raw: bool,
    /// What has come of it ends within a string, if it is JSON.
    strings: StringState,
}

/// A line that is held, since it or one before it waits for its rest.
#[derive(Debug)]
struct HeldLine {
    bytes: Vec<u8>,
    edits: Vec<Edit>,
    at: i64,
    start: u64,
    holds: usize,
}

impl StreamFilter {
    pub(super) fn new(stream: Stream, limit: usize) -> Self {
        Self {
            stream,
            limit,
            carry: Vec::new(),
            last_at: 0,
            start: 0,
            over_long: None,
            queue: VecDeque::new(),
            queued: 0,
            first: 0,
            groups: Vec::new(),
            forms: Forms::default(),
            ready: Ready::default(),
        }
    }

    /// Returns how many bytes are held.
    pub(super) fn held(&self) -> usize {
        self.carry.capacity() + self.queued
    }

    /// Returns when what is held has waited long enough.
    pub(super) fn expires_at(&self) -> Option<i64> {
        (!self.queue.is_empty()).then(|| self.last_at.saturating_add(SILENCE))
    }

    /// Takes the next bytes.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        at: i64,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        self.last_at = at;
        let mut rest = bytes;
        if !self.carry.is_empty() || self.over_long.is_some() {
            let Some(newline) = memchr(b'\n', rest) else {
                self.carry(rest, at, reader, report, each);
                report.count(reader.rules);
                return self.ready.give(self.stream, each);
            };
            let (line, after) = rest.split_at(newline + 1);
            rest = after;
            self.carry(line, at, reader, report, each);
            self.end_line(at, reader, report, each);
        }
        let whole = memrchr(b'\n', rest).map_or(0, |last| last + 1);
        let (lines, tail) = rest.split_at(whole);
        self.lines(lines, at, reader, report, each);
        if !tail.is_empty() {
            self.carry(tail, at, reader, report, each);
        }
        report.count(reader.rules);
        self.ready.give(self.stream, each);
    }

    /// Ends the stream.
    pub(super) fn finish(&mut self, reader: LineReader<'_>, report: &mut Report, each: Each<'_>) {
        if !self.carry.is_empty() || self.over_long.is_some() {
            self.end_line(self.last_at, reader, report, each);
        }
        self.close_all(false, reader, report, each);
        self.groups.clear();
        report.count(reader.rules);
        self.ready.give(self.stream, each);
    }

    /// Lets go what has waited too long.
    pub(super) fn expire(
        &mut self,
        now: i64,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        if self.expires_at().is_some_and(|at| at <= now) {
            self.close_all(true, reader, report, each);
            report.count(reader.rules);
            self.ready.give(self.stream, each);
        }
    }

    /// Filters whole lines.
    fn lines(
        &mut self,
        bytes: &[u8],
        at: i64,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        let mut search = reader.needles.search(bytes);
        let mut seen = Seen::default();
        // Up to `passed` everything is given out; up to `from` it is known that there is nothing.
        let (mut passed, mut from) = (0, 0);
        while passed < bytes.len() {
            // A line behind one that is held is taken for itself, whatever is in it.
            let (start, end) = if self.queue.is_empty() {
                let Some(place) = search.next(from) else {
                    break;
                };
                from = place + 1;
                if !take_hits(&search, place, reader, &mut seen) {
                    continue;
                }
                let before = bytes.get(passed..place).unwrap_or_default();
                let start = memrchr(b'\n', before).map_or(passed, |newline| passed + newline + 1);
                (start, line_end(bytes, place))
            } else {
                (passed, line_end(bytes, passed))
            };
            while let Some(place) = search.next(from).filter(|place| *place < end) {
                take_hits(&search, place, reader, &mut seen);
                from = place + 1;
            }
            seen.count_from(start);
            let line = bytes.get(start..end).unwrap_or_default();
            let finds = self.read(line, Some(&seen), reader);
            seen.clear();
            from = end;
            // What stays as it is goes with what is around it: many short calls would cost more than the filter.
            if self.queue.is_empty()
                && finds
                    .as_ref()
                    .is_some_and(|finds| self.stays(finds, reader))
            {
                continue;
            }
            self.pass(bytes.get(passed..start).unwrap_or_default(), at, each);
            self.line(line, finds, at, reader, report, each);
            passed = end;
        }
        let rest = bytes.get(passed..).unwrap_or_default();
        if self.ready.bytes.is_empty() && !rest.is_empty() {
            // Nothing else comes with it: a copy would save no call.
            self.start += rest.len() as u64;
            each(self.stream, Kept::filtered(rest), at);
        } else {
            self.pass(rest, at, each);
        }
    }

    /// Reads a line, unless it goes on with the lines of text before it.
    fn read<'a>(
        &mut self,
        line: &'a [u8],
        seen: Option<&Seen>,
        reader: LineReader<'_>,
    ) -> Option<LineFinds<'a>> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(seen) = seen
            && let Some(piece) = self.forms.piece(content, seen, reader)
        {
            return Some(LineFinds {
                piece: Some(piece),
                ..LineFinds::default()
            });
        }
        let is_text = self.groups.iter().any(|group| group.shape.is_none());
        if is_text && !may_be_json(content) {
            return None;
        }
        if seen.is_some_and(Seen::is_empty) {
            return Some(LineFinds::default());
        }
        let finds = reader.read(content, seen);
        let shape = finds.piece.as_ref().and_then(|piece| piece.shape);
        if let Some(shape) = shape.filter(|_| seen.is_some()) {
            self.forms.learn(content, shape, reader);
        }
        Some(finds)
    }

    /// Tells whether a line stays as it is, where none is held: without a find, and with a piece at most that is added to its
    /// group then.
    fn stays(&mut self, finds: &LineFinds<'_>, reader: LineReader<'_>) -> bool {
        if finds.goes_on || !finds.edits.is_empty() {
            return false;
        }
        let Some(piece) = &finds.piece else {
            return self.groups.is_empty();
        };
        let known = |group: &&mut Group| group.key == piece.group && group.shape == piece.shape;
        let group = self.groups.iter_mut().find(known);
        group.is_some_and(|group| group.add_quiet(piece, reader))
    }

    /// Gives out lines in which nothing is.
    fn pass(&mut self, lines: &[u8], at: i64, each: Each<'_>) {
        if !lines.is_empty() {
            self.start += lines.len() as u64;
            self.ready.add(self.stream, lines, &[], at, each);
        }
    }

    /// Takes more of a line whose end has not come yet.
    fn carry(
        &mut self,
        bytes: &[u8],
        _at: i64,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        make_room(&mut self.carry, bytes.len(), usize::MAX);
        self.carry.extend_from_slice(bytes);
        let most = if self.over_long.is_some() {
            PART
        } else {
            self.limit.max(2 * OVERLAP)
        };
        if self.carry.len() <= most
            || self.carry.ends_with(b"\n")
                && self.over_long.is_none()
                && self.carry.len() <= most + 1
        {
            return;
        }
        if self.over_long.is_none() {
            // Nothing is held behind a line that is not held itself.
            self.close_all(true, reader, report, each);
            let is_raw = may_be_json(&self.carry);
            let strings = StringState::default();
            self.over_long = Some(OverLong { is_raw, strings });
        }
        self.part_of_line(false, reader, report, each);
    }

    /// Filters what has come of an over-long line, but for its end.
    fn part_of_line(
        &mut self,
        is_last: bool,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        let is_raw = self.over_long.is_some_and(|line| line.is_raw);
        let strings = self.over_long.map(|line| line.strings).unwrap_or_default();
        let carry = std::mem::take(&mut self.carry);
        let text = || Text::new(&carry).raw(is_raw);
        let mut scanned = reader.scanner().scan(&text().open(!is_last));
        // No secret is that long: what there is of it goes, and the rest does not.
        if scanned
            .undecided
            .is_some_and(|open| carry.len() - open > 2 * super::groups::MOST_TEXT)
        {
            report.counts.unfinished += 1;
            scanned = reader.scanner().scan(&text());
        }
        let mut cut = if is_last {
            carry.len()
        } else {
            carry.len().saturating_sub(OVERLAP)
        };
        cut = cut.min(scanned.undecided.unwrap_or(cut));
        let mut edits = Vec::new();
        let mut found = Vec::new();
        for secret in &scanned.secrets {
            if secret.place.start < cut {
                let bytes = carry.get(secret.place.clone()).unwrap_or_default();
                // In a line of JSON numbers are not looked at.
                let before = carry.get(..secret.place.start).unwrap_or_default();
                if is_raw
                    && bytes.iter().copied().all(is_of_number)
                    && !strings.after(before).is_within
                {
                    continue;
                }
                cut = cut.max(secret.place.end);
                edits.push(reader.edit(secret, secret.place.clone(), bytes));
                found.push(FoundSecret {
                    rule: secret.rule,
                    secret: bytes.to_vec(),
                });
            }
        }
        self.note(&found, self.start, reader, report);
        let (done, rest) = carry.split_at(cut);
        if let Some(line) = &mut self.over_long {
            line.strings = strings.after(done);
        }
        if !done.is_empty() {
            let done = apply(done, &edits);
            self.ready.add(self.stream, &done, &[], self.last_at, each);
        }
        self.start += done.len() as u64;
        self.carry = rest.to_vec();
    }

    /// Filters the line that was carried, which is whole now, or the last one.
    fn end_line(&mut self, at: i64, reader: LineReader<'_>, report: &mut Report, each: Each<'_>) {
        if self.over_long.is_some() {
            self.part_of_line(true, reader, report, each);
            self.over_long = None;
            return;
        }
        let mut line = std::mem::take(&mut self.carry);
        if line.ends_with(b"\n") {
            self.lines(&line, at, reader, report, each);
        } else {
            let finds = self.read(&line, None, reader);
            self.line(&line, finds, at, reader, report, each);
        }
        // The room is used again, unless the line was a large one.
        if line.capacity() <= PART {
            line.clear();
            self.carry = line;
        }
    }

    /// Filters one line that was [read](Self::read).
    fn line(
        &mut self,
        line: &[u8],
        finds: Option<LineFinds<'_>>,
        at: i64,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        let start = self.start;
        self.start += line.len() as u64;
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(index) = self.groups.iter().position(|group| group.shape.is_none()) {
            if finds.is_none() {
                let piece = Piece::of_text(line);
                return self.piece(
                    index,
                    line,
                    at,
                    start,
                    Vec::new(),
                    &[],
                    piece,
                    reader,
                    report,
                    each,
                );
            }
            self.close(index, false, reader, report);
            self.groups.swap_remove(index);
            self.give_out(each);
        }
        let finds = finds.unwrap_or_else(|| reader.read(content, None));
        self.note(&finds.found, start, reader, report);
        if finds.goes_on {
            let piece = Piece::of_text(line);
            let index = self.group(piece.group, piece.shape, reader, report, each);
            return self.piece(
                index,
                line,
                at,
                start,
                Vec::new(),
                &[],
                piece,
                reader,
                report,
                each,
            );
        }
        if let Some(piece) = finds.piece {
            let index = self.group(piece.group, piece.shape, reader, report, each);
            return self.piece(
                index,
                line,
                at,
                start,
                finds.edits,
                &finds.found,
                piece,
                reader,
                report,
                each,
            );
        }
        self.end_groups(content, reader, report, each);
        self.give(line, finds.edits, at, start, 0, each);
    }

    /// Adds the piece that a line holds to its group.
    #[expect(
        clippy::too_many_arguments,
        reason = "a line, what was found in it, and where it goes"
    )]
    fn piece(
        &mut self,
        index: usize,
        line: &[u8],
        at: i64,
        start: u64,
        edits: Vec<Edit>,
        found: &[FoundSecret],
        piece: Piece<'_>,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        let Some(group) = self.groups.get_mut(index) else {
            return;
        };
        let Some(scanned) = group.add_plain(&piece, found, reader) else {
            return self.give(line, edits, at, start, 0, each);
        };
        let number = self.first + self.queue.len() as u64;
        let holds = group.hold(number, piece);
        let verdict = group.decide(&scanned, found, reader);
        let is_full = group.is_full();
        let is_over = group.shape.is_none() && !group.holds();
        self.keep(line, edits, at, start, holds);
        self.follow(verdict, start, reader, report);
        if is_full {
            self.close(index, true, reader, report);
        }
        if is_over
            || (is_full
                && self
                    .groups
                    .get(index)
                    .is_some_and(|group| group.shape.is_none()))
        {
            self.groups.swap_remove(index);
        }
        if self.queued > MOST_HELD {
            self.close_all(true, reader, report, each);
        }
        self.give_out(each);
    }

    /// Returns the place of a group, which is a new one if there is none.
    fn group(
        &mut self,
        key: u64,
        shape: Option<usize>,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) -> usize {
        let known = |group: &Group| group.key == key && group.shape == shape;
        if let Some(index) = self.groups.iter().position(known) {
            return index;
        }
        if self.groups.len() >= MOST_GROUPS {
            self.close(0, true, reader, report);
            self.groups.remove(0);
            self.give_out(each);
        }
        self.groups.push(Group::new(key, shape));
        self.groups.len() - 1
    }

    /// Ends the groups that a line without a piece ends.
    fn end_groups(
        &mut self,
        line: &[u8],
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        let mut index = 0;
        while let Some(group) = self.groups.get(index) {
            let shape = group.shape.and_then(|shape| reader.deltas.get(shape));
            let is_end = shape.is_none_or(|shape| match shape.ends {
                None => true,
                Some(end) => {
                    memchr::memmem::find(line, end.as_bytes()).is_some()
                        && group
                            .shape
                            .and_then(|shape| reader.needles.fields(shape))
                            .and_then(|fields| group_of(fields, line))
                            == Some(group.key)
                }
            });
            if is_end {
                self.close(index, false, reader, report);
                self.groups.remove(index);
            } else {
                index += 1;
            }
        }
        self.give_out(each);
    }

    /// Decides everything in a group.
    fn close(&mut self, index: usize, is_cut: bool, reader: LineReader<'_>, report: &mut Report) {
        if let Some(group) = self.groups.get_mut(index) {
            let verdict = group.close(is_cut, reader);
            self.follow(verdict, self.start, reader, report);
        }
    }

    fn close_all(
        &mut self,
        is_cut: bool,
        reader: LineReader<'_>,
        report: &mut Report,
        each: Each<'_>,
    ) {
        for index in 0..self.groups.len() {
            self.close(index, is_cut, reader, report);
        }
        self.groups.retain(|group| group.shape.is_some());
        self.give_out(each);
        debug_assert!(self.queue.is_empty(), "nobody holds a line any more");
    }

    /// Does what follows from what is known of a group.
    fn follow(
        &mut self,
        verdict: Verdict,
        start: u64,
        reader: LineReader<'_>,
        report: &mut Report,
    ) {
        let mut starts = Vec::new();
        for (line, edit) in verdict.edits {
            if let Some(held) = self.held_line(line) {
                if !edit.text.is_empty() {
                    starts.push(held.start);
                }
                held.edits.push(edit);
            }
        }
        for line in verdict.released {
            if let Some(held) = self.held_line(line) {
                held.holds = held.holds.saturating_sub(1);
            }
        }
        report.counts.unfinished += verdict.unfinished;
        let start = starts.into_iter().min().unwrap_or(start);
        self.note(&verdict.found, start, reader, report);
    }

    fn held_line(&mut self, number: u64) -> Option<&mut HeldLine> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.queue.get_mut(index)
    }

    /// Gives out a line, or keeps it behind those that are held.
    fn give(
        &mut self,
        line: &[u8],
        edits: Vec<Edit>,
        at: i64,
        start: u64,
        holds: usize,
        each: Each<'_>,
    ) {
        if !self.queue.is_empty() || holds > 0 {
            return self.keep(line, edits, at, start, holds);
        }
        self.ready.add(self.stream, line, &edits, at, each);
    }

    fn keep(&mut self, line: &[u8], edits: Vec<Edit>, at: i64, start: u64, holds: usize) {
        self.queued += line.len();
        self.queue.push_back(HeldLine {
            bytes: line.to_vec(),
            edits,
            at,
            start,
            holds,
        });
    }

    /// Gives out the lines that nobody holds, up to the first one that is held.
    fn give_out(&mut self, each: Each<'_>) {
        while self.queue.front().is_some_and(|line| line.holds == 0) {
            let Some(line) = self.queue.pop_front() else {
                break;
            };
            self.first += 1;
            self.queued -= line.bytes.len();
            self.ready
                .add(self.stream, &line.bytes, &line.edits, line.at, each);
        }
    }

    /// Counts what was found.
    fn note(&self, found: &[FoundSecret], start: u64, reader: LineReader<'_>, report: &mut Report) {
        for FoundSecret { rule, secret } in found {
            report.found(*rule);
            if let Some(finds) = &mut report.finds {
                let rule = reader.rules.name(*rule);
                finds.push(Found {
                    stream: self.stream,
                    line_start: start,
                    rule: rule.to_owned(),
                    masked: masked(secret),
                    commitment: reader.rules.key().map(|key| key.commitment(secret)),
                });
            }
        }
    }
}

/// What may be kept and is given out soon, together: each call of the receiver costs as much as a line.
#[derive(Debug, Default)]
struct Ready {
    bytes: Vec<u8>,
    at: i64,
}

impl Ready {
    /// As much is worth a call of its own, rather than a copy.
    const LARGE: usize = 8 * 1024;
    /// As much is given out at the latest.
    const MOST: usize = 64 * 1024;

    /// Adds bytes with their edits, received at a time.
    fn add(&mut self, stream: Stream, bytes: &[u8], edits: &[Edit], at: i64, each: Each<'_>) {
        let is_other = at != self.at || self.bytes.len() > Self::MOST;
        if !self.bytes.is_empty() && (is_other || bytes.len() > Self::LARGE) {
            self.give(stream, each);
        }
        self.at = at;
        if !edits.is_empty() {
            apply_to_line_into(bytes, edits, &mut self.bytes);
        } else if bytes.len() > Self::LARGE {
            each(stream, Kept::filtered(bytes), at);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Gives everything out. The room for it is kept, unless it is large.
    fn give(&mut self, stream: Stream, each: Each<'_>) {
        if !self.bytes.is_empty() {
            each(stream, Kept::filtered(&self.bytes), self.at);
            self.bytes.clear();
            self.bytes.shrink_to(2 * Self::MOST);
        }
    }
}

/// Returns where the line ends that a place is in.
fn line_end(bytes: &[u8], place: usize) -> usize {
    let rest = bytes.get(place..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |newline| place + newline + 1)
}

/// Takes note of the needles at a place; `false` if no line has to be read for them.
pub(super) fn take_hits(
    search: &Search<'_, '_>,
    place: usize,
    reader: LineReader<'_>,
    seen: &mut Seen,
) -> bool {
    let mut is_worth = false;
    search.owners(place, |owner| {
        let look = look(search.bytes, place, owner, reader);
        is_worth |= look != Look::Nothing;
        seen.add(place, owner, look);
    });
    is_worth
}

/// Tells whether the owner of a needle may find something where it is, by a look at the bytes as they are
/// written. A backslash may begin an escape, and then it is not known.
fn look(bytes: &[u8], place: usize, owner: Owner, reader: LineReader<'_>) -> Look {
    const MOST: usize = 600;
    let begin = place - owner.distance.min(place);
    let rest = bytes.get(begin..).unwrap_or_default();
    let maybe = |is_possible: bool| {
        if is_possible {
            Look::Maybe
        } else {
            Look::Nothing
        }
    };
    if let Some(shape) = owner.delta {
        let delta = reader.deltas.get(usize::from(shape));
        return maybe(delta.is_some_and(|delta| rest.starts_with(delta.needle.as_bytes())));
    }
    let Some(rule) = owner.rule.and_then(|rule| reader.rules.rule(rule)) else {
        let is_printable = matches!(rest.get(ESCAPE.len()), Some(b'2'..=b'7'));
        return maybe(rest.starts_with(ESCAPE) && is_printable);
    };
    let rest = rest.get(..MOST).unwrap_or(rest);
    // The slashes of a URL may be escaped.
    let known = slashes(rest);
    let after = rest.get(known..).unwrap_or_default();
    let length = known + memchr2(b'\\', b'\n', after).unwrap_or(after.len());
    let first = begin.saturating_sub(128);
    // A shape does not go on in the next line, but a private key does.
    let is_whole = rule.is_shape() && matches!(bytes.get(begin + length), None | Some(b'\n'));
    let text = Text::new(bytes.get(first..begin + length).unwrap_or_default()).open(!is_whole);
    match rule.shape_at(&text, place - first, owner.distance) {
        // An escape of another character may stand right before it, or within it before the needle; or between a name and its value.
        Outcome::No => maybe(
            rest.first().is_some_and(u8::is_ascii_alphanumeric) && follows_escape(bytes, begin)
                || memchr(b'\\', bytes.get(begin..place).unwrap_or_default()).is_some()
                || owner.distance > 0 && follows_escape(bytes, place)
                || bytes.get(begin + length) == Some(&b'\\') && rule.is_named(),
        ),
        Outcome::Found { start, end } if rule.is_shape() => Look::Shape(first + start, first + end),
        Outcome::Found { .. } | Outcome::Undecided { .. } => Look::Maybe,
    }
}

/// Returns the length of a colon with the slashes after it and the backslashes among them, if there is one.
fn slashes(rest: &[u8]) -> usize {
    let Some(after) = rest.strip_prefix(b":") else {
        return 0;
    };
    let is_slash = |byte: &&u8| matches!(byte, b'\\' | b'/');
    1 + after.iter().take(32).take_while(is_slash).count()
}

/// Tells whether a `\uXXXX` escape ends at a place.
fn follows_escape(bytes: &[u8], place: usize) -> bool {
    let before = place.checked_sub(6).and_then(|from| bytes.get(from..place));
    before.is_some_and(|before| before.starts_with(b"\\u"))
}

/// Shows the beginning of a secret, and how long it is.
fn masked(secret: &[u8]) -> String {
    let text = String::from_utf8_lossy(secret);
    let count = text.chars().count();
    let shown: String = text.chars().take((count / 4).min(6)).collect();
    let shown: String = shown
        .chars()
        .map(|character| {
            if character.is_control() {
                '?'
            } else {
                character
            }
        })
        .collect();
    format!("{shown}… ({count} characters)")
}
