//! Transactions: begun on the server only when they must be, and ended whatever happens.

use std::collections::HashMap;

use runtape_core::RunId;
use runtape_core::report::SealName;
use tokio_postgres::Row;

use super::connection::{BEGIN_TO_READ, BEGIN_TO_WRITE, Part, Value};
use super::fault::is_away;
use super::pending::{Into, Pending, RunCells};
use super::rows::Cell;
use super::together::Expected;
use super::{Link, Postgres, hold, lease, seals};
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;
use crate::format::seals::SealEntry;

/// How much is held before it is written.
const MOST_PENDING: usize = 8 << 20;

/// What is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Idle,
    Reading,
    Writing,
}

/// A transaction of this store.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    mode: Mode,
    /// It has begun on the server, too.
    is_begun: bool,
    /// Several runs may be sealed in it.
    pub(super) is_batch: bool,
    pub(super) pending: Pending,
    /// Trees whose lease was found to be held in it, with the mark that it left there.
    fenced: HashMap<RunId, i64>,
    /// Ends of the chains that it has locked.
    pub(super) ends: HashMap<i32, (u64, Hash)>,
    /// What it asked beforehand of runs that it is about to write.
    pub(super) expected: Expected,
    /// How many sessions it has locked for itself.
    pub(super) own_sessions: usize,
    /// An entry that it added to a chain, if it has sealed something.
    pub(super) sealed: Option<(SealName, Hash)>,
    /// Entries of chains that are not written yet.
    pub(super) seals: Vec<SealEntry>,
    /// Trees whose leases end with it.
    retired: Vec<RunId>,
    /// The next numbers in trees that are not written yet.
    numbers: HashMap<RunId, i64>,
    /// What was known when a part began that may be undone by itself.
    before: Option<KnownRows>,
}

/// What a transaction knows of rows that it has locked or written.
#[derive(Debug)]
struct KnownRows {
    fenced: HashMap<RunId, i64>,
    ends: HashMap<i32, (u64, Hash)>,
    sealed: Option<(SealName, Hash)>,
}

impl Postgres {
    /// Begins to read from one state, or to write. The server learns of it when it must.
    fn begin(&self, mode: Mode) {
        let mut link = hold(&self.link);
        if link.is_busy {
            // Nobody ended the last one: it is undone.
            link.connection.hang_up();
            link.is_busy = false;
        }
        link.release_leases();
        drop(link);
        *self.transaction.borrow_mut() = Transaction {
            mode,
            ..Transaction::default()
        };
    }

    pub(super) fn begin_to_read(&self) {
        self.begin(Mode::Reading);
    }

    pub(super) fn begin_to_write(&self) {
        self.begin(Mode::Writing);
    }

    pub(super) fn begin_several(&self) {
        self.begin(Mode::Writing);
        self.transaction.borrow_mut().is_batch = true;
    }

    /// Begins the transaction on the server, if it has not begun.
    pub(super) fn begin_now(&self) -> Result<()> {
        let mut transaction = self.transaction.borrow_mut();
        if transaction.is_begun || transaction.mode == Mode::Idle {
            return Ok(());
        }
        let sql = match transaction.mode {
            Mode::Reading => BEGIN_TO_READ,
            _ => BEGIN_TO_WRITE,
        };
        let mut link = hold(&self.link);
        link.connection.reconnect()?;
        match link.connection.batch(sql) {
            // Nothing was begun: it may as well begin in another connection.
            Err(error) if is_away(&error) => {
                link.connection.reconnect()?;
                link.connection.batch(sql)?;
            }
            result => result?,
        }
        link.is_busy = true;
        transaction.is_begun = true;
        Ok(())
    }

    /// Returns the rows that a query gives, without what this transaction has not written yet.
    pub(super) fn rows_beside(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let (mode, is_begun) = {
            let transaction = self.transaction.borrow();
            (transaction.mode, transaction.is_begun)
        };
        if mode == Mode::Reading {
            self.begin_now()?;
            return hold(&self.link).connection.rows(sql, values);
        }
        let mut link = hold(&self.link);
        if is_begun {
            return link.connection.rows_soon(sql, values);
        }
        // No transaction: what was lost is asked again.
        link.connection.reconnect()?;
        match link.connection.rows_soon(sql, values) {
            Err(error) if is_away(&error) => {
                link.connection.reconnect()?;
                link.connection.rows_soon(sql, values)
            }
            result => result,
        }
    }

    /// Writes what this transaction has not written yet.
    pub(super) fn flush(&self) -> Result<()> {
        if !self.has_unwritten() {
            return Ok(());
        }
        self.flush_and_ask(None).map(drop)
    }

    /// Writes what this transaction has not written yet, and asks something after it, all at once; returns what that
    /// gives.
    fn flush_and_ask(&self, question: Option<Part<'_>>) -> Result<Vec<Row>> {
        let is_asked = question.is_some();
        let mut answers = self.flush_with(question, None)?;
        let answer = if is_asked { answers.pop() } else { None };
        Ok(answer.unwrap_or_default())
    }

    /// Writes what this transaction has not written yet, with a question after it, and a last statement that ends it.
    fn flush_with(&self, question: Option<Part<'_>>, last: Option<&str>) -> Result<Vec<Vec<Row>>> {
        self.begin_now()?;
        let (mut pending, seals, numbers) = {
            let mut transaction = self.transaction.borrow_mut();
            (
                std::mem::take(&mut transaction.pending),
                std::mem::take(&mut transaction.seals),
                std::mem::take(&mut transaction.numbers),
            )
        };
        for root in &pending.roots {
            self.fence(root)?;
        }
        let (roots, numbers): (Vec<String>, Vec<i64>) = numbers
            .into_iter()
            .filter(|(_, number)| *number > 1)
            .map(|(root, number)| (root.to_string(), number))
            .unzip();
        let entries = seals::Entries::of(&seals);
        let mut parts = pending.statements();
        if !roots.is_empty() {
            parts.push(Part {
                sql: SET_NUMBERS.into(),
                values: vec![&roots, &numbers],
            });
        }
        parts.extend(entries.as_ref().map(seals::Entries::statement));
        parts.extend(question);
        let mut link = hold(&self.link);
        link.connection.rows_between(None, &parts, last)
    }

    /// Returns the rows that a question about a tree gives, which has `$1` for its root, and makes sure that this store may
    /// write the tree until the transaction ends. Where it has a lease, `fenced` is asked, which has rows only where a
    /// `fence` has one: transaction, fence and question are begun, passed and answered at once. What the statement sees was
    /// there before the fence was passed, and stands: it has no rows if anybody wrote the tree since this store last did.
    pub(super) fn rows_to_write(
        &self,
        root: &RunId,
        question: &str,
        fenced: &str,
    ) -> Result<Vec<Row>> {
        let lease = hold(&self.link).leases.of(root);
        let is_fenced = self.transaction.borrow().fenced.contains_key(root);
        let Some(lease) = lease.filter(|_| !is_fenced && !self.has_unwritten()) else {
            self.begin_now()?;
            self.fence(root)?;
            return self.rows(question, &[&root.as_str()]);
        };
        let mark = lease::mark();
        let name = root.as_str();
        let part = Part {
            sql: format!("WITH fence AS ({}) {fenced}", lease::FENCE).into(),
            values: vec![&name, &lease.epoch, &lease.writes, &mark],
        };
        let parts = [part];
        let mut transaction = self.transaction.borrow_mut();
        let begin = (!transaction.is_begun).then_some(BEGIN_TO_WRITE);
        let mut link = hold(&self.link);
        if begin.is_some() {
            link.connection.reconnect()?;
        }
        let asked = match link.connection.rows_between(begin, &parts, None) {
            // Nothing was begun that is still there: it may as well begin in another connection.
            Err(error) if is_away(&error) && begin.is_some() => {
                link.connection.reconnect()?;
                link.connection.rows_between(begin, &parts, None)
            }
            result => result,
        };
        if begin.is_some() {
            // Also one that has failed is open until it is undone.
            link.is_busy = link.connection.is_open();
            transaction.is_begun = link.is_busy;
        }
        let rows = asked?.pop().unwrap_or_default();
        if rows.is_empty() {
            return Err(link.refused(root, lease));
        }
        transaction.fenced.insert(root.clone(), mark);
        Ok(rows)
    }

    /// Ends the lease on a tree with this transaction. Where a part of it may be undone by itself, that is left to who
    /// holds the lease.
    pub(super) fn retire(&self, root: &RunId) {
        let lease = hold(&self.link).leases.of(root);
        let mut transaction = self.transaction.borrow_mut();
        if let Some(lease) = lease.filter(|_| !transaction.is_batch) {
            transaction.pending.end_lease(root, lease.epoch);
            transaction.retired.push(root.clone());
        }
    }

    /// Returns the rows that a query gives, with all that this transaction has written.
    pub(super) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        if !self.has_unwritten() {
            return self.rows_beside(sql, values);
        }
        self.flush_and_ask(Some(Part {
            sql: sql.into(),
            values: values.to_vec(),
        }))
    }

    /// Tells whether there is something that this transaction has not written yet.
    fn has_unwritten(&self) -> bool {
        let transaction = self.transaction.borrow();
        !transaction.pending.is_empty() || !transaction.seals.is_empty()
    }

    /// Adds a row to a table; `bytes` is about how large it is.
    pub(super) fn add<'a>(
        &self,
        table: Into,
        root: &RunId,
        cells: impl IntoIterator<Item = Cell<'a>>,
        bytes: usize,
    ) -> Result<()> {
        self.transaction
            .borrow_mut()
            .pending
            .add(table, root, cells);
        self.flush_much(bytes)
    }

    /// Adds the row of a tree, which has no other runs yet.
    pub(super) fn add_root<'a>(
        &self,
        root: &RunId,
        cells: impl IntoIterator<Item = Cell<'a>>,
    ) -> Result<()> {
        self.transaction
            .borrow_mut()
            .numbers
            .insert(root.clone(), 1);
        self.add(Into::Root, root, cells, 200)
    }

    /// Returns the next number in a tree, which nobody else gets.
    pub(super) fn next_number(&self, root: &RunId) -> Result<i64> {
        if let Some(next) = self.transaction.borrow_mut().numbers.get_mut(root) {
            *next += 1;
            return Ok(*next - 1);
        }
        self.begin_now()?;
        self.fence(root)?;
        let sql = "UPDATE root SET next_no = next_no + 1 WHERE root_id = $1 RETURNING next_no - 1";
        let row = self.row(sql, &[&root.as_str()])?;
        let damaged = || StoreError::damaged(format!("run {root}"), "its tree has no row");
        Ok(row.ok_or_else(damaged)?.try_get(0)?)
    }

    /// Notes what came of a call that is written.
    pub(super) fn answer_call<'a>(&self, root: &RunId, cells: impl IntoIterator<Item = Cell<'a>>) {
        self.transaction
            .borrow_mut()
            .pending
            .answer_call(root, cells);
    }

    /// Notes that a run is about to be written, and of which session it is.
    pub(super) fn note_run(&self, run: &RunId, session: Option<&str>) {
        let mut transaction = self.transaction.borrow_mut();
        transaction.expected.note_run(run);
        transaction.pending.runs.insert(run.clone());
        drop(transaction);
        self.note_session(session);
    }

    /// Notes that a run of a session is about to be written.
    pub(super) fn note_session(&self, session: Option<&str>) {
        if let Some(session) = session {
            let mut transaction = self.transaction.borrow_mut();
            transaction.expected.note_session(session);
            let pending = &mut transaction.pending;
            if !pending.sessions.contains(session) {
                pending.sessions.insert(session.to_owned());
            }
        }
    }

    /// Tells whether a run is about to be written.
    pub(super) fn is_pending_run(&self, run: &RunId) -> bool {
        self.transaction.borrow().pending.runs.contains(run)
    }

    /// Tells whether something of a tree is about to be written.
    pub(super) fn is_pending_tree(&self, root: &RunId) -> bool {
        self.transaction.borrow().pending.roots.contains(root)
    }

    /// Tells whether a run of a session is about to be written.
    pub(super) fn is_pending_session(&self, session: &str) -> bool {
        self.transaction.borrow().pending.sessions.contains(session)
    }

    /// Changes rows of a tree, if this store may.
    pub(super) fn change_tree(&self, root: &RunId, sql: &str, values: &[Value<'_>]) -> Result<()> {
        self.fence(root)?;
        self.execute(sql, values)?;
        Ok(())
    }

    /// Writes what is held, if that is much.
    pub(super) fn flush_much(&self, bytes: usize) -> Result<()> {
        let is_much = {
            let pending = &mut self.transaction.borrow_mut().pending;
            pending.bytes += bytes;
            pending.bytes > MOST_PENDING
        };
        if is_much { self.flush() } else { Ok(()) }
    }

    /// Notes what stands in a run's columns now.
    pub(super) fn change_run(&self, run: &crate::backend::RunKey, cells: RunCells) {
        self.transaction.borrow_mut().pending.change_run(run, cells);
    }

    /// Refuses to write a tree that this store has a lease on, and lost. Nobody can take it over until the transaction ends.
    pub(super) fn fence(&self, root: &RunId) -> Result<()> {
        if self.transaction.borrow().fenced.contains_key(root) {
            return Ok(());
        }
        let mut link = hold(&self.link);
        let Some(lease) = link.leases.of(root) else {
            return Ok(());
        };
        drop(link);
        self.begin_now()?;
        link = hold(&self.link);
        let mark = lease::mark();
        let values: [Value<'_>; 4] = [&root.as_str(), &lease.epoch, &lease.writes, &mark];
        let rows = link.connection.rows_soon(lease::FENCE, &values)?;
        if rows.is_empty() {
            return Err(link.refused(root, lease));
        }
        self.transaction
            .borrow_mut()
            .fenced
            .insert(root.clone(), mark);
        Ok(())
    }

    /// Makes the transaction visible and lasting.
    pub(super) fn commit_all(&self) -> Result<()> {
        let committed = self.try_to_commit();
        if committed.is_err() {
            hold(&self.link).leases.forget_all_ways();
        }
        committed
    }

    fn try_to_commit(&self) -> Result<()> {
        if !self.transaction.borrow().is_begun && self.commit_at_once()? {
            self.end();
            return Ok(());
        }
        if !self.has_unwritten() && !self.transaction.borrow().is_begun {
            self.end();
            return Ok(());
        }
        // What is written last is written and committed at once. If it fails, nothing is committed, and it is told first.
        let asked = if self.has_unwritten() {
            self.flush_with(None, Some(COMMIT)).map(drop)
        } else {
            hold(&self.link).connection.batch(COMMIT_IF_WELL)
        };
        let (fenced, sealed, retired) = {
            let mut transaction = self.transaction.borrow_mut();
            (
                std::mem::take(&mut transaction.fenced),
                transaction.sealed,
                std::mem::take(&mut transaction.retired),
            )
        };
        let mut link = hold(&self.link);
        match asked {
            Err(error) if is_away(&error) => {
                let trace = link.trace(&fenced, sealed);
                link.was_committed(trace.as_ref(), error)?;
            }
            // Whoever undoes it finds it open, or over already.
            result => result?,
        }
        link.is_busy = false;
        link.leases.wrote_all(&fenced);
        link.leases.forget(&retired);
        drop(link);
        self.end();
        if sealed.is_some() {
            self.make_epoch_by_the_way();
        }
        Ok(())
    }

    /// Writes all there is to write in one statement, if that is possible; returns whether it was.
    fn commit_at_once(&self) -> Result<bool> {
        let mut transaction = self.transaction.borrow_mut();
        let has_children = transaction.numbers.values().any(|next| *next > 1);
        if has_children || !transaction.seals.is_empty() {
            return Ok(false);
        }
        let mut roots = transaction.pending.roots.iter();
        let (Some(root), None) = (roots.next().cloned(), roots.next()) else {
            return Ok(false);
        };
        let mut link = hold(&self.link);
        let Some(lease) = link.leases.of(&root) else {
            return Ok(false);
        };
        let name = root.as_str();
        let mark = lease::mark();
        let values: Vec<Value<'_>> = vec![&name, &lease.epoch, &lease.writes, &mark];
        let Some(part) = transaction.pending.fenced(lease::FENCE, values) else {
            return Ok(false);
        };
        link.connection.reconnect()?;
        let rows = match link.connection.rows_soon(&part.sql, &part.values) {
            Err(error) if is_away(&error) => {
                // Whether it was done is written down with it. If it is being done just now, this waits for it.
                link.connection.reconnect()?;
                link.connection.rows_soon(&part.sql, &part.values)?
            }
            result => result?,
        };
        if rows.is_empty() && link.writes_of(&root, lease.epoch)? != Some(mark) {
            return Err(link.refused(&root, lease));
        }
        link.leases.wrote(&root, mark);
        Ok(true)
    }

    /// Undoes the transaction, unless a failure did.
    pub(super) fn undo(&self) {
        let is_begun = self.transaction.borrow().is_begun;
        if is_begun {
            let mut link = hold(&self.link);
            if link.connection.is_open() && link.connection.batch("ROLLBACK").is_err() {
                link.connection.hang_up();
            }
            link.is_busy = false;
        }
        hold(&self.link).leases.forget_all_ways();
        self.end();
    }

    /// Forgets the transaction, which is over.
    fn end(&self) {
        *self.transaction.borrow_mut() = Transaction::default();
        hold(&self.link).release_leases();
    }

    /// Begins a part of the transaction that may be undone by itself.
    pub(super) fn begin_part(&self) -> Result<()> {
        self.begin_now()?;
        self.flush()?;
        let mut transaction = self.transaction.borrow_mut();
        transaction.before = Some(KnownRows {
            fenced: transaction.fenced.clone(),
            ends: transaction.ends.clone(),
            sealed: transaction.sealed,
        });
        hold(&self.link).connection.batch("SAVEPOINT part")
    }

    pub(super) fn keep_part(&self) -> Result<()> {
        self.flush()?;
        hold(&self.link).connection.batch("RELEASE SAVEPOINT part")
    }

    pub(super) fn undo_part(&self) {
        let mut transaction = self.transaction.borrow_mut();
        transaction.pending = Pending::default();
        transaction.expected = Expected::default();
        transaction.seals.clear();
        transaction.numbers.clear();
        // What was locked in the part is not any more.
        if let Some(before) = transaction.before.take() {
            transaction.fenced = before.fenced;
            transaction.ends = before.ends;
            transaction.sealed = before.sealed;
        }
        drop(transaction);
        let mut link = hold(&self.link);
        let undone = link
            .connection
            .batch("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part");
        if undone.is_err() {
            link.connection.hang_up();
        }
    }
}

/// Commits. A transaction that has failed would be undone without a word: so something comes before that fails then.
const COMMIT: &str = "COMMIT";
const COMMIT_IF_WELL: &str = "SELECT 1; COMMIT";

/// Notes which numbers come next in trees that were just written.
const SET_NUMBERS: &str = "UPDATE root SET next_no = x.next_no
     FROM unnest($1::text[], $2::bigint[]) AS x (root_id, next_no) WHERE root.root_id = x.root_id";

impl Link {
    /// Returns how often a tree was written under a lease, if it is still held.
    fn writes_of(&mut self, root: &RunId, epoch: i64) -> Result<Option<i64>> {
        let sql = "SELECT writes FROM lease WHERE root_id = $1 AND epoch = $2";
        let rows = self.connection.rows_soon(sql, &[&root.as_str(), &epoch])?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// Finds out why a fence let nothing through. If the lease is still held, an earlier write was done whose answer was
    /// lost: what is known of the tree must be read again, and then it may be tried again.
    fn refused(&mut self, root: &RunId, lease: lease::Lease) -> StoreError {
        match self.writes_of(root, lease.epoch) {
            Ok(Some(writes)) => {
                self.leases.wrote(root, writes);
                super::fault::busy("an earlier write was done without an answer")
            }
            Ok(None) => {
                self.leases.lose(root);
                StoreError::TakenOver { run: root.clone() }
            }
            Err(error) => error,
        }
    }
}
