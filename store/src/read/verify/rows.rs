//! Derived rows, compared as they follow from one record after the other.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use crate::backend::{FactPlace, FactTable, Rules, RunKey, Tables};
use crate::derive::facts::{Fact, ResultFact, StepFact};
use crate::error::Result;

/// Stored rows that are held at once.
const PAGE: usize = 256;

/// What is wrong with a table: the record that a row follows from, and how.
type RowFault = (u64, &'static str);

fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn place(seq: u64, part: u64) -> FactPlace {
    let signed = |value| i64::try_from(value).unwrap_or(i64::MAX);
    FactPlace(signed(seq), signed(part))
}

/// Rows of a table in the order of their records.
struct StoredFacts {
    table: FactTable,
    page: VecDeque<(FactPlace, Fact)>,
    /// The last row that was read; at first there is none.
    after: Option<FactPlace>,
    is_done: bool,
    /// The first row that is wrong, and how.
    fault: Option<RowFault>,
}

impl StoredFacts {
    fn new(table: FactTable) -> Self {
        Self {
            table,
            page: VecDeque::new(),
            after: None,
            is_done: false,
            fault: None,
        }
    }

    fn name(&self) -> &'static str {
        match self.table {
            FactTable::Calls => "tool_call",
            FactTable::Notices => "notice",
            FactTable::Unparsed => "unparsed",
            FactTable::Usage => "usage",
        }
    }

    /// Returns the next stored row.
    fn next(&mut self, tables: &dyn Tables, run: &RunKey) -> Result<Option<(FactPlace, Fact)>> {
        if self.page.is_empty() && !self.is_done {
            self.page = tables
                .stored_facts(run, self.table, self.after, PAGE)?
                .into();
            self.is_done = self.page.len() < PAGE;
            if let Some((last, _)) = self.page.back() {
                self.after = Some(*last);
            }
        }
        Ok(self.page.pop_front())
    }

    /// Compares the next stored row with what follows from a record.
    fn take(
        &mut self,
        tables: &dyn Tables,
        run: &RunKey,
        wanted: FactPlace,
        is_same: impl FnOnce(&Fact) -> bool,
    ) -> Result<Option<Fact>> {
        if self.fault.is_some() {
            return Ok(None);
        }
        let Some((there, stored)) = self.next(tables, run)? else {
            self.fault = Some((number(wanted.0), "missing"));
            return Ok(None);
        };
        self.fault = match wanted.cmp(&there) {
            Ordering::Less => Some((number(wanted.0), "missing")),
            Ordering::Greater => Some((number(there.0), "inserted")),
            Ordering::Equal if is_same(&stored) => None,
            Ordering::Equal => Some((number(wanted.0), "changed")),
        };
        Ok(Some(stored).filter(|_| self.fault.is_none()))
    }

    /// Says what is wrong with the table, once all that was expected came.
    fn finish(&mut self, tables: &dyn Tables, run: &RunKey) -> Result<Option<RowFault>> {
        if self.fault.is_none()
            && let Some((more, _)) = self.next(tables, run)?
        {
            self.fault = Some((number(more.0), "inserted"));
        }
        Ok(self.fault)
    }
}

/// The derived rows of one run.
pub(super) struct DerivedRows<'a> {
    run: &'a RunKey,
    rules: Rules,
    calls: StoredFacts,
    notices: StoredFacts,
    unparsed: StoredFacts,
    usage: StoredFacts,
    steps: StepsByNumber,
    /// What the rows of calls say about results that did not come yet.
    results: BTreeMap<(u64, u64), ResultFact>,
}

impl<'a> DerivedRows<'a> {
    pub(super) fn new(run: &'a RunKey, rules: Rules) -> Self {
        Self {
            run,
            rules,
            calls: StoredFacts::new(FactTable::Calls),
            notices: StoredFacts::new(FactTable::Notices),
            unparsed: StoredFacts::new(FactTable::Unparsed),
            usage: StoredFacts::new(FactTable::Usage),
            steps: StepsByNumber::default(),
            results: BTreeMap::new(),
        }
    }

    /// Compares what follows from a record with the rows there are.
    pub(super) fn compare(&mut self, tables: &dyn Tables, facts: &mut Vec<Fact>) -> Result<()> {
        let run = self.run;
        for mut fact in facts.drain(..) {
            match &mut fact {
                Fact::Step(step) => self.steps.take(tables, run, step, self.rules)?,
                Fact::Call(call) => {
                    let wanted = place(call.seq, call.part);
                    // Whether the call has a result is known only when the result comes.
                    let stored = self
                        .calls
                        .take(tables, run, wanted, |stored| match stored {
                            Fact::Call(stored) => {
                                call.result.clone_from(&stored.result);
                                stored == call
                            }
                            _ => false,
                        })?;
                    if let Some(Fact::Call(stored)) = stored
                        && let Some(result) = stored.result
                    {
                        self.results.insert(result.call, result);
                    }
                }
                Fact::Result(result) => self.result(result),
                Fact::Notice(notice) => {
                    let wanted = place(notice.seq, 0);
                    self.notices
                        .take(tables, run, wanted, |stored| *stored == fact)?;
                }
                Fact::Unparsed(output) => {
                    let wanted = place(output.seq, 0);
                    self.unparsed
                        .take(tables, run, wanted, |stored| *stored == fact)?;
                }
                Fact::Usage(usage) => {
                    usage.of_session &= self.rules.marks_totals;
                    let wanted = place(usage.seq, 0);
                    self.usage
                        .take(tables, run, wanted, |stored| *stored == fact)?;
                }
            }
        }
        Ok(())
    }

    fn result(&mut self, result: &ResultFact) {
        let stored = self.results.remove(&result.call);
        if stored.as_ref() != Some(result) && self.calls.fault.is_none() {
            self.calls.fault = Some((result.call.0, "changed"));
        }
    }

    /// Names what is wrong: table, record and how, the first of each table.
    pub(super) fn finish(
        mut self,
        tables: &dyn Tables,
    ) -> Result<Vec<(&'static str, u64, &'static str)>> {
        if let Some(((seq, _), _)) = self.results.first_key_value()
            && self.calls.fault.is_none()
        {
            self.calls.fault = Some((*seq, "changed"));
        }
        let mut faults = Vec::new();
        let fault = self.steps.finish(tables, self.run)?;
        faults.extend(fault.map(|(seq, fault)| ("step", seq, fault)));
        for stored in [
            &mut self.calls,
            &mut self.notices,
            &mut self.unparsed,
            &mut self.usage,
        ] {
            let fault = stored.finish(tables, self.run)?;
            faults.extend(fault.map(|(seq, fault)| (stored.name(), seq, fault)));
        }
        Ok(faults)
    }
}

/// The steps of a run. Their numbers need not follow the order of records, so each is looked up.
#[derive(Default)]
struct StepsByNumber {
    seen: Vec<i64>,
    fault: Option<RowFault>,
}

impl StepsByNumber {
    fn take(
        &mut self,
        tables: &dyn Tables,
        run: &RunKey,
        step: &StepFact,
        rules: Rules,
    ) -> Result<()> {
        if self.fault.is_some() {
            return Ok(());
        }
        self.seen.push(place(step.step, 0).0);
        self.fault = match tables.stored_step(run, step.step)? {
            None => Some((step.seq, "missing")),
            Some(mut stored) => {
                // What was derived before the hash was specified cannot be derived again.
                if !rules.specifies_ids {
                    stored.checkpoint_id.clone_from(&step.checkpoint_id);
                }
                (stored != *step).then_some((step.seq, "changed"))
            }
        };
        Ok(())
    }

    fn finish(mut self, tables: &dyn Tables, run: &RunKey) -> Result<Option<RowFault>> {
        if self.fault.is_some() {
            return Ok(self.fault);
        }
        self.seen.sort_unstable();
        let stored = tables.stored_step_numbers(run)?;
        let extra = stored
            .iter()
            .find(|(step, _)| self.seen.binary_search(step).is_err());
        Ok(match extra {
            Some((_, seq)) => Some((number(*seq), "inserted")),
            None => (stored.len() != self.seen.len()).then_some((0, "missing")),
        })
    }
}
