//! Derived rows, compared as they follow from one record after the other.

use std::collections::{BTreeMap, VecDeque};

use runtape_core::TokenCounts;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::error::Result;
use crate::facts::{CallFact, Fact, NoticeFact, ResultFact, StepFact, UnparsedFact, UsageFact};
use crate::migrate;
use crate::place::{signed, unsigned};
use crate::stream_lengths;

use super::KnownWords;
use super::run::maybe;

/// Stored rows that are held at once.
const PAGE: usize = 256;

/// A row as it stands in a table, its place in front.
type Stored = Vec<Value>;

/// Where a row stands within its run, and the record that it follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(i64, i64);

/// A derived table.
struct Table {
    name: &'static str,
    /// The columns of its key beside the run, in order.
    key: &'static [&'static str],
    /// All other columns, in the order in which they are expected.
    columns: &'static str,
}

const CALLS: Table = Table {
    name: "tool_call",
    key: &["seq", "part"],
    columns: "step, at, tool, command, paths, url, result_seq, is_error, duration_ms",
};

const NOTICES: Table = Table {
    name: "notice",
    key: &["seq"],
    columns: "step, at, kind, text",
};

const UNPARSED: Table = Table {
    name: "unparsed",
    key: &["seq"],
    columns: "at, stream, line, tag, reason, excerpt",
};

const USAGE: Table = Table {
    name: "usage",
    key: &["seq"],
    columns: "at, key, source, step, model, input_tokens, output_tokens, reasoning_tokens, \
              cached_input_tokens, session_key, of_session",
};

/// The ledger of a schema that did not know totals of sessions.
const EARLIER_USAGE: Table = Table {
    name: "usage",
    key: &["seq"],
    columns: "at, key, source, step, model, input_tokens, output_tokens, reasoning_tokens, \
              cached_input_tokens, session_key",
};

/// How many columns of a call are about its result.
const RESULT: usize = 3;

/// Rows of a table in the order of their records.
struct Cursor {
    table: Table,
    sql: String,
    page: VecDeque<Stored>,
    /// The last row that was read; at first there is none.
    after: Option<Place>,
    is_done: bool,
    /// The first row that is wrong, and how.
    fault: Option<(u64, &'static str)>,
}

impl Cursor {
    fn new(table: Table) -> Self {
        let key = table.key.join(", ");
        let sql = format!(
            "SELECT {key}, {} FROM {} WHERE run = ?1 AND ({key}) > ({}) ORDER BY {key} LIMIT {PAGE}",
            table.columns,
            table.name,
            if table.key.len() == 1 { "?2" } else { "?2, ?3" },
        );
        Self {
            table,
            sql,
            page: VecDeque::new(),
            after: None,
            is_done: false,
            fault: None,
        }
    }

    fn place(&self, row: &[Value]) -> Place {
        let number = |column: usize| match row.get(column) {
            Some(Value::Integer(number)) => *number,
            _ => i64::MIN,
        };
        let second = if self.table.key.len() > 1 {
            number(1)
        } else {
            0
        };
        Place(number(0), second)
    }

    /// Returns the next stored row.
    fn next(&mut self, connection: &Connection, run: i64) -> Result<Option<Stored>> {
        if self.page.is_empty() && !self.is_done {
            let mut statement = connection.prepare_cached(&self.sql)?;
            let count = statement.column_count();
            let read = |row: &rusqlite::Row<'_>| {
                (0..count)
                    .map(|column| row.get(column))
                    .collect::<rusqlite::Result<Stored>>()
            };
            // Whatever number somebody put there, it comes after this one.
            let before_all = (Value::Real(f64::NEG_INFINITY), Value::Null);
            let after = self
                .after
                .map(|Place(first, second)| (first.into(), second.into()));
            let (first, second) = after.unwrap_or(before_all);
            let mut values = vec![Value::from(run), first, second];
            values.truncate(1 + self.table.key.len());
            let rows = statement.query_map(params_from_iter(values), read)?;
            self.page = rows.collect::<rusqlite::Result<_>>()?;
            self.is_done = self.page.len() < PAGE;
            if let Some(last) = self.page.back() {
                self.after = Some(self.place(last));
            }
        }
        Ok(self.page.pop_front())
    }

    /// Compares the next stored row with what follows from a record; returns it if it is right.
    fn take(
        &mut self,
        connection: &Connection,
        run: i64,
        expected: &[Value],
    ) -> Result<Option<Stored>> {
        if self.fault.is_some() {
            return Ok(None);
        }
        let wanted = self.place(expected);
        let Some(stored) = self.next(connection, run)? else {
            self.fault = Some((unsigned(wanted.0), "missing"));
            return Ok(None);
        };
        let there = self.place(&stored);
        self.fault = match wanted.cmp(&there) {
            std::cmp::Ordering::Less => Some((unsigned(wanted.0), "missing")),
            std::cmp::Ordering::Greater => Some((unsigned(there.0), "inserted")),
            std::cmp::Ordering::Equal if stored.get(..expected.len()) == Some(expected) => None,
            std::cmp::Ordering::Equal => Some((unsigned(wanted.0), "changed")),
        };
        Ok(Some(stored).filter(|_| self.fault.is_none()))
    }

    /// Says what is wrong with the table, once all that was expected came.
    fn finish(&mut self, connection: &Connection, run: i64) -> Result<Option<(u64, &'static str)>> {
        if self.fault.is_none()
            && let Some(more) = self.next(connection, run)?
        {
            self.fault = Some((unsigned(self.place(&more).0), "inserted"));
        }
        Ok(self.fault)
    }
}

/// The derived rows of one run.
pub(super) struct Rows {
    run: i64,
    calls: Cursor,
    notices: Cursor,
    unparsed: Cursor,
    usage: Cursor,
    knows_totals: bool,
    steps: Steps,
    /// What the rows of calls say about results that did not come yet.
    results: BTreeMap<(u64, u64), Stored>,
}

impl Rows {
    /// Prepares the rows of a run in a schema of a version. What a version before ids were specified
    /// derived cannot be derived again.
    pub(super) fn new(run: i64, version: i64) -> Self {
        let knows_totals = version >= migrate::LEDGER_KNOWS_TOTALS;
        Self {
            run,
            calls: Cursor::new(CALLS),
            notices: Cursor::new(NOTICES),
            unparsed: Cursor::new(UNPARSED),
            usage: Cursor::new(if knows_totals { USAGE } else { EARLIER_USAGE }),
            knows_totals,
            steps: Steps::new(version >= migrate::IDS_ARE_SPECIFIED),
            results: BTreeMap::new(),
        }
    }

    /// Compares what follows from a record with the rows there are.
    pub(super) fn compare(
        &mut self,
        connection: &Connection,
        words: &mut KnownWords,
        facts: &mut Vec<Fact>,
    ) -> Result<()> {
        let mut word = |text: Option<&str>| -> Result<Value> {
            let Some(text) = text else {
                return Ok(Value::Null);
            };
            // A word that is not there is in no row.
            Ok(words.key(connection, text)?.unwrap_or(-1).into())
        };
        for fact in facts.drain(..) {
            match fact {
                Fact::Step(step) => {
                    let status = word(Some(&step.status))?;
                    self.steps.take(connection, self.run, &step, status)?;
                }
                Fact::Call(call) => {
                    let tool = word(Some(&call.tool))?;
                    let row = call_row(call, tool);
                    if let Some(mut stored) = self.calls.take(connection, self.run, &row)? {
                        self.note_result(&row, stored.split_off(row.len()));
                    }
                }
                Fact::Result(result) => self.result(&result),
                Fact::Notice(notice) => {
                    let kind = word(Some(&notice.kind))?;
                    let row = notice_row(notice, kind);
                    self.notices.take(connection, self.run, &row)?;
                }
                Fact::Unparsed(output) => {
                    let tag = word(output.tag.as_deref())?;
                    let row = unparsed_row(output, tag);
                    self.unparsed.take(connection, self.run, &row)?;
                }
                Fact::Usage(usage) => {
                    let (source, model) =
                        (word(Some(&usage.source))?, word(usage.model.as_deref())?);
                    let of_session = usage.of_session;
                    let mut row = usage_row(usage, source, model);
                    row.extend(self.knows_totals.then_some(of_session.into()));
                    self.usage.take(connection, self.run, &row)?;
                }
            }
        }
        Ok(())
    }

    fn note_result(&mut self, call: &[Value], result: Stored) {
        if result.iter().any(|value| *value != Value::Null)
            && let [Value::Integer(seq), Value::Integer(part), ..] = call
        {
            self.results
                .insert((unsigned(*seq), unsigned(*part)), result);
        }
    }

    fn result(&mut self, result: &ResultFact) {
        let expected: [Value; RESULT] = [
            signed(result.seq).into(),
            maybe(result.is_error),
            maybe(result.duration_ms.map(signed)),
        ];
        let stored = self.results.remove(&result.call);
        if stored.as_deref() != Some(&expected[..]) && self.calls.fault.is_none() {
            self.calls.fault = Some((result.call.0, "changed"));
        }
    }

    /// Names what is wrong: table, record and how, the first of each table.
    pub(super) fn finish(
        mut self,
        connection: &Connection,
    ) -> Result<Vec<(&'static str, u64, &'static str)>> {
        if let Some(((seq, _), _)) = self.results.first_key_value()
            && self.calls.fault.is_none()
        {
            self.calls.fault = Some((*seq, "changed"));
        }
        let mut faults = Vec::new();
        let fault = self.steps.finish(connection, self.run)?;
        faults.extend(fault.map(|(seq, fault)| ("step", seq, fault)));
        for cursor in [
            &mut self.calls,
            &mut self.notices,
            &mut self.unparsed,
            &mut self.usage,
        ] {
            let fault = cursor.finish(connection, self.run)?;
            faults.extend(fault.map(|(seq, fault)| (cursor.table.name, seq, fault)));
        }
        Ok(faults)
    }
}

/// The steps of a run. Their numbers need not follow the order of records, so each is looked up.
struct Steps {
    specified_ids: bool,
    seen: Vec<i64>,
    fault: Option<(u64, &'static str)>,
}

impl Steps {
    fn new(specified_ids: bool) -> Self {
        Self {
            specified_ids,
            seen: Vec::new(),
            fault: None,
        }
    }

    fn take(
        &mut self,
        connection: &Connection,
        run: i64,
        step: &StepFact,
        status: Value,
    ) -> Result<()> {
        if self.fault.is_some() {
            return Ok(());
        }
        let number = signed(step.step);
        self.seen.push(number);
        let mut expected: Vec<Value> = vec![
            signed(step.seq).into(),
            status,
            step.started_at.into(),
            step.finished_at.into(),
            signed(step.messages).into(),
            signed(step.tool_calls).into(),
            signed(step.pending).into(),
        ];
        expected.extend(counts(step.usage));
        if self.specified_ids {
            expected.push(step.checkpoint_id.clone().into());
        }
        let mut statement = connection.prepare_cached(
            "SELECT seq, status, started_at, finished_at, messages, tool_calls, pending,
                input_tokens, output_tokens, reasoning_tokens, cached_input_tokens, checkpoint_id
             FROM step WHERE run = ?1 AND step = ?2",
        )?;
        let mut rows = statement.query([run, number])?;
        self.fault = match rows.next()? {
            None => Some((step.seq, "missing")),
            Some(row) => {
                let mut is_right = true;
                for (column, expected) in expected.iter().enumerate() {
                    is_right &= row.get_ref(column)? == expected.into();
                }
                (!is_right).then_some((step.seq, "changed"))
            }
        };
        Ok(())
    }

    fn finish(mut self, connection: &Connection, run: i64) -> Result<Option<(u64, &'static str)>> {
        if self.fault.is_some() {
            return Ok(self.fault);
        }
        let count: i64 = connection
            .prepare_cached("SELECT count(*) FROM step WHERE run = ?1")?
            .query_row([run], |row| row.get(0))?;
        if usize::try_from(count).is_ok_and(|count| count == self.seen.len()) {
            return Ok(None);
        }
        self.seen.sort_unstable();
        let mut statement =
            connection.prepare_cached("SELECT step, seq FROM step WHERE run = ?1 ORDER BY step")?;
        let mut rows = statement.query([run])?;
        while let Some(row) = rows.next()? {
            if self.seen.binary_search(&row.get(0)?).is_err() {
                return Ok(Some((unsigned(row.get(1)?), "inserted")));
            }
        }
        Ok(Some((0, "missing")))
    }
}

fn counts(counts: TokenCounts) -> [Value; 4] {
    [
        maybe(counts.input_tokens),
        maybe(counts.output_tokens),
        maybe(counts.reasoning_tokens),
        maybe(counts.cached_input_tokens),
    ]
}

/// Returns what is known of a call before its result comes.
fn call_row(call: CallFact, tool: Value) -> Stored {
    vec![
        signed(call.seq).into(),
        signed(call.part).into(),
        signed(call.step).into(),
        call.at.into(),
        tool,
        maybe(call.command),
        maybe(call.paths),
        maybe(call.url),
    ]
}

fn notice_row(notice: NoticeFact, kind: Value) -> Stored {
    vec![
        signed(notice.seq).into(),
        signed(notice.step).into(),
        notice.at.into(),
        kind,
        notice.text.into(),
    ]
}

fn unparsed_row(output: UnparsedFact, tag: Value) -> Stored {
    vec![
        signed(output.seq).into(),
        output.at.into(),
        i64::from(stream_lengths::number(output.stream)).into(),
        signed(output.line).into(),
        tag,
        output.reason.into(),
        maybe(output.excerpt),
    ]
}

fn usage_row(usage: UsageFact, source: Value, model: Value) -> Stored {
    let mut row = vec![
        signed(usage.seq).into(),
        usage.at.into(),
        usage.key.into(),
        source,
        maybe(usage.step.map(signed)),
        model,
    ];
    row.extend(counts(usage.counts));
    row.push(maybe(usage.session_key));
    row
}
