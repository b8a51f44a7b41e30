//! One stream on its way through the filter.

use memchr::{memchr, memmem, memrchr};
use runtape_core::Stream;

use super::edit::Edit;
use super::form::Forms;
use super::groups::{AddedPiece, Group, GroupVerdict};
use super::held_lines::{HeldLine, HeldLines};
use super::kept::Kept;
use super::line::{FoundSecret, LineFinds, LineReader, Piece, TextKind, group_of};
use super::look::take_hits;
use super::over_long::{OVERLAP, OverLong};
use super::ready::Ready;
use super::report::FilterReport;
use super::seen::Seen;
use super::walk::may_be_json;
use super::wrapped::may_go_on;
use crate::lines::{RETAINED, make_room};

/// How long what is held waits for its rest, in milliseconds.
pub(super) const SILENCE: i64 = 2_000;
/// The most bytes of lines that are held because one of them waits for its rest.
const MOST_HELD: usize = 4 * 1024 * 1024;
/// The most texts that come in pieces at the same time.
const MOST_GROUPS: usize = 64;
/// How much of an over-long line is filtered at a time.
const PART: usize = RETAINED;

/// What is done with what may be kept.
pub(super) type Each<'e> = &'e mut dyn FnMut(Stream, Kept<'_>, i64);

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
    held: HeldLines,
    groups: Vec<Group>,
    forms: Forms,
    ready: Ready,
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
            held: HeldLines::default(),
            groups: Vec::new(),
            forms: Forms::default(),
            ready: Ready::default(),
        }
    }

    /// Returns how many bytes are held.
    pub(super) fn held(&self) -> usize {
        self.carry.capacity() + self.held.bytes()
    }

    /// Returns when what is held has waited long enough.
    pub(super) fn expires_at(&self) -> Option<i64> {
        (!self.held.is_empty()).then(|| self.last_at.saturating_add(SILENCE))
    }

    /// Takes the next bytes.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        at: i64,
        reader: LineReader<'_>,
        report: &mut FilterReport,
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
    pub(super) fn finish(
        &mut self,
        reader: LineReader<'_>,
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
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
        report: &mut FilterReport,
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
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        let mut search = reader.needles.search(bytes);
        let mut seen = Seen::default();
        // Up to `passed` everything is given out; up to `from` it is known that there is nothing. At `next` a line begins, before
        // which all is known.
        let (mut passed, mut from, mut next) = (0, 0, 0);
        while passed < bytes.len() {
            if from == next && self.held.is_empty() {
                next = self.pass_pieces(bytes, next, reader);
                from = next;
            }
            // A line behind one that is held is taken for itself, whatever is in it.
            let (start, end) = if self.held.is_empty() {
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
            (from, next) = (end, end);
            // What stays as it is goes with what is around it: many short calls would cost more than the filter.
            if self.held.is_empty()
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
        if self.ready.is_empty() && !rest.is_empty() {
            // Nothing else comes with it: a copy would save no call.
            self.start += rest.len() as u64;
            each(self.stream, Kept::filtered(rest), at);
        } else {
            self.pass(rest, at, each);
        }
    }

    /// Passes lines that have nothing but a piece each, as the line before, and in which nothing is; returns where the first
    /// other line begins.
    fn pass_pieces(&mut self, bytes: &[u8], start: usize, reader: LineReader<'_>) -> usize {
        let mut from = start;
        while let Some(line) = self.forms.next_line(bytes, from, reader) {
            let piece = bytes.get(line.piece).unwrap_or_default();
            let group = self.known_group(line.group, Some(line.shape));
            let piecewise = reader.needles.piecewise();
            if !group
                .zip(piecewise)
                .is_some_and(|(group, piecewise)| group.add_passing(piece, piecewise))
            {
                break;
            }
            from = line.end;
        }
        from
    }

    /// Returns how lines of text belong together that are held.
    fn text_kind(&self) -> Option<TextKind> {
        let mut groups = self.groups.iter();
        let text = groups.find(|group| group.shape.is_none())?;
        let is_wrapped = text.key == TextKind::Wrapped.group();
        Some(if is_wrapped {
            TextKind::Wrapped
        } else {
            TextKind::Key
        })
    }

    /// Ends lines of text that are held.
    fn end_text(&mut self, reader: LineReader<'_>, report: &mut FilterReport, each: Each<'_>) {
        let text = self.groups.iter().position(|group| group.shape.is_none());
        if let Some(index) = text {
            self.close(index, false, reader, report);
            self.groups.swap_remove(index);
            self.give_out(each);
        }
    }

    /// Returns a group of which a piece has come before.
    fn known_group(&mut self, key: u64, shape: Option<usize>) -> Option<&mut Group> {
        let mut groups = self.groups.iter_mut();
        groups.find(|group| group.key == key && group.shape == shape)
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
        match self.text_kind() {
            Some(TextKind::Key) if !may_be_json(content) => return None,
            Some(TextKind::Wrapped) if !may_be_json(content) => {
                // What has a secret of its own is no rest of one.
                let finds = reader.read(content, seen);
                let is_rest = finds.edits.is_empty() && finds.goes_on.is_none();
                return (!is_rest).then_some(finds);
            }
            _ => {}
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
        if finds.goes_on.is_some() || !finds.edits.is_empty() {
            return false;
        }
        let Some(piece) = &finds.piece else {
            return self.groups.is_empty();
        };
        if let Some(group) = self.known_group(piece.group, piece.shape) {
            return group.add_quiet(piece, reader);
        }
        // Where there is no room for another group, one has to be closed first.
        let mut group = Group::new(piece.group, piece.shape);
        let is_quiet = self.groups.len() < MOST_GROUPS && group.add_quiet(piece, reader);
        if is_quiet {
            self.groups.push(group);
        }
        is_quiet
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
        report: &mut FilterReport,
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
            self.over_long = Some(OverLong::new(&self.carry));
        }
        self.part_of_line(false, reader, report, each);
    }

    /// Filters what has come of an over-long line, but for its end.
    fn part_of_line(
        &mut self,
        is_last: bool,
        reader: LineReader<'_>,
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        let Some(line) = &mut self.over_long else {
            return;
        };
        let part = line.part(&mut self.carry, is_last, reader);
        report.counts.unfinished += part.unfinished;
        report.note(&part.found, self.stream, self.start, reader.rules);
        self.start += part.length as u64;
        if !part.bytes.is_empty() {
            self.ready
                .add(self.stream, &part.bytes, &[], self.last_at, each);
        }
    }

    /// Filters the line that was carried, which is whole now, or the last one.
    fn end_line(
        &mut self,
        at: i64,
        reader: LineReader<'_>,
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        if self.over_long.is_some() {
            self.part_of_line(true, reader, report, each);
            self.over_long = None;
            self.carry.clear();
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
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        let start = self.start;
        self.start += line.len() as u64;
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(index) = self.groups.iter().position(|group| group.shape.is_none()) {
            if finds.is_none() {
                let kind = self.text_kind().unwrap_or(TextKind::Key);
                let piece = Piece::of_text(line, kind);
                self.piece(
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
                if kind == TextKind::Wrapped && !may_go_on(line) {
                    self.end_text(reader, report, each);
                }
                return;
            }
            self.end_text(reader, report, each);
        }
        let finds = finds.unwrap_or_else(|| reader.read(content, None));
        report.note(&finds.found, self.stream, start, reader.rules);
        if let Some(kind) = finds.goes_on {
            let piece = Piece::of_text(line, kind);
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
        mut edits: Vec<Edit>,
        found: &[FoundSecret],
        piece: Piece<'_>,
        reader: LineReader<'_>,
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        let Some(group) = self.groups.get_mut(index) else {
            return;
        };
        let number = self.held.next_number();
        let (holds, verdict) = match group.add(&piece, found, reader) {
            AddedPiece::Passes => return self.give(line, edits, at, start, 0, each),
            AddedPiece::Waits => (group.hold(number, piece), group.wait(found, reader)),
            AddedPiece::Scanned(scanned) => {
                let holds = group.hold(number, piece);
                (holds, group.decide(&scanned, found, reader))
            }
        };
        let is_full = group.is_full();
        let is_over = group.shape.is_none() && !group.holds();
        if self.held.is_empty() && verdict.released.len() == holds {
            // All of it is decided at once: the line need not be held, nor copied.
            edits.extend(verdict.edits.into_iter().map(|(_, edit)| edit));
            report.counts.unfinished += verdict.unfinished;
            report.note(&verdict.found, self.stream, start, reader.rules);
            self.give(line, edits, at, start, 0, each);
        } else {
            self.keep(line, edits, at, start, holds);
            self.follow(verdict, start, reader, report);
        }
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
        if self.held.bytes() > MOST_HELD {
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
        report: &mut FilterReport,
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
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        let mut index = 0;
        while let Some(group) = self.groups.get(index) {
            let shape = group.shape.and_then(|shape| reader.deltas.get(shape));
            let is_end = shape.is_none_or(|shape| match shape.ends {
                // What other threads of a CLI print as text falls anywhere.
                None => may_be_json(line),
                Some(end) => {
                    memmem::find(line, end.as_bytes()).is_some()
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
    fn close(
        &mut self,
        index: usize,
        is_cut: bool,
        reader: LineReader<'_>,
        report: &mut FilterReport,
    ) {
        if let Some(group) = self.groups.get_mut(index) {
            let verdict = group.close(is_cut, reader);
            self.follow(verdict, self.start, reader, report);
        }
    }

    fn close_all(
        &mut self,
        is_cut: bool,
        reader: LineReader<'_>,
        report: &mut FilterReport,
        each: Each<'_>,
    ) {
        for index in 0..self.groups.len() {
            self.close(index, is_cut, reader, report);
        }
        self.groups.retain(|group| group.shape.is_some());
        self.give_out(each);
        debug_assert!(self.held.is_empty(), "nobody holds a line any more");
    }

    /// Does what follows from what is known of a group.
    fn follow(
        &mut self,
        verdict: GroupVerdict,
        start: u64,
        reader: LineReader<'_>,
        report: &mut FilterReport,
    ) {
        let mut starts = Vec::new();
        for (line, edit) in verdict.edits {
            if let Some(held) = self.held.get(line) {
                if !edit.text.is_empty() {
                    starts.push(held.start);
                }
                held.edits.push(edit);
            }
        }
        for line in verdict.released {
            if let Some(held) = self.held.get(line) {
                held.holds = held.holds.saturating_sub(1);
            }
        }
        report.counts.unfinished += verdict.unfinished;
        let start = starts.into_iter().min().unwrap_or(start);
        report.note(&verdict.found, self.stream, start, reader.rules);
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
        if !self.held.is_empty() || holds > 0 {
            return self.keep(line, edits, at, start, holds);
        }
        self.ready.add(self.stream, line, &edits, at, each);
    }

    fn keep(&mut self, line: &[u8], edits: Vec<Edit>, at: i64, start: u64, holds: usize) {
        self.held.push(HeldLine {
            bytes: line.to_vec(),
            edits,
            at,
            start,
            holds,
        });
    }

    /// Gives out the lines that nobody holds, up to the first one that is held.
    fn give_out(&mut self, each: Each<'_>) {
        while let Some(line) = self.held.pop_free() {
            self.ready
                .add(self.stream, &line.bytes, &line.edits, line.at, each);
        }
    }
}

/// Returns where the line ends that a place is in.
fn line_end(bytes: &[u8], place: usize) -> usize {
    let rest = bytes.get(place..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |newline| place + newline + 1)
}
