//! Who may change which sums of usage.
//!
//! What counts of a run follows from the runs of its session that began before it. So whoever adds up a tree must see all
//! of those, and whoever gives a run entries must take out trees with later runs of its session first. In a file one
//! writer comes after the other. Here many write at once, and these locks make it so, until a transaction ends:
//!
//! - Who gives entries to a run that others cannot see yet shares the *lock of its session*. Who adds up has the locks of
//!   all sessions of the trees for itself, or leaves those trees for later: nobody waits for whoever adds up, or long.
//! - A run that others see, and whose tree is open, needs none: later trees of its session are not added up before it is
//!   sealed. So an append is one statement.
//! - A tree goes in or out under the lock of its row in `root`.
//! - Who makes all sums anew has the *lock of the sums* for itself, which all others share.
//!
//! The locks of sessions and sums are advisory ones, which nothing else here uses but `db migrate`. A session has no row that
//! could be locked, and one for each would be written by every run. They are always those of a *transaction* and never those
//! of a connection, so they are held as row locks are:
//!
//! - They end with the transaction, in the same moment as its row locks, and after what it committed can be seen. A lock is
//!   had in one statement and what it guards is read in the next, which in a transaction that is `READ COMMITTED` sees all
//!   that was committed before.
//! - A holder that was killed is rolled back, when its server notices: at once where it was idle, at the end of its
//!   statement otherwise. Until then others wait or leave the trees for later, as they do for a row that it has
//!   changed. Nobody takes a lock away from a living transaction, so there is no moment at which two have it.
//! - Behind a standby they are not: after a failover there are none, and no transaction that had one is there, either.
//! - Two sessions may have one number. They wait for each other then, and no more than that.
//! - Citus has them on the node that is asked: all who write must come through the same coordinator, which lets go of its
//!   locks after it told the workers to commit. If a worker is lost between the two halves of a commit, who has the lock
//!   next may not see what that worker has, and add up without it. This was read and not tried.
//!
//! Where they are stubs that say yes to everybody (`CockroachDB`), sums may become wrong when several write runs of one
//! session at once. Records, tapes and seals do not depend on them. `verify` finds wrong sums, `rebuild --all` mends them.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::RunId;

use super::columns::{get, kept, maybe_run_id, run_id, text};
use super::{Postgres, Value, hold, sessions};
use crate::backend::RunKey;
use crate::error::Result;

/// The lock of the sums, in the words of the functions that take it.
const SUMS: &str = "7245070, 0";

/// The lock of who puts waiting trees into the sums: one takes all of them, and others need not look.
const SETTLER: &str = "7245070, 1";

/// How many sessions a transaction has for itself at most. A server has room for some thousand locks.
const MOST_SESSIONS: usize = 256;

/// Returns the number of a session's lock.
pub(super) fn lock_of(session: &str) -> i64 {
    let hash = blake3::hash(session.as_bytes());
    let first = hash.as_bytes().first_chunk::<8>();
    first.map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// Says yes where a lock was had.
fn is_had(pg: &Postgres, sql: &str, values: &[Value<'_>]) -> Result<bool> {
    let row = pg.rows_beside(sql, values)?;
    row.first().map_or(Ok(false), |row| get(row, 0))
}

/// Shares the lock of the sums: nobody makes all of them anew meanwhile.
fn share_sums(pg: &Postgres) -> Result<()> {
    pg.begin_now()?;
    pg.rows_beside(&format!("SELECT pg_advisory_xact_lock_shared({SUMS})"), &[])?;
    Ok(())
}

/// Waits until nobody else changes sums, and lets nobody else.
pub(super) fn take_sums(pg: &Postgres) -> Result<()> {
    pg.begin_now()?;
    pg.rows_beside(&format!("SELECT pg_advisory_xact_lock({SUMS})"), &[])?;
    // A tree that is put there with its sums, and has no session, asks for no lock.
    pg.execute("LOCK TABLE usage_sum IN EXCLUSIVE MODE", &[])?;
    Ok(())
}

/// Tells whether there is a run of a session, or may be one: somebody is about to write one.
pub(super) fn has_session(pg: &Postgres, session: &str) -> Result<bool> {
    if pg.is_pending_session(session) {
        return Ok(true);
    }
    if pg.transaction.borrow().expected.is_free(session) {
        return Ok(false);
    }
    if pg.transaction.borrow().own_sessions >= MOST_SESSIONS {
        return Ok(true);
    }
    pg.begin_now()?;
    let lock = lock_of(session);
    let sql = format!(
        "SELECT pg_try_advisory_xact_lock_shared({SUMS}) AND pg_try_advisory_xact_lock($1)"
    );
    if !is_had(pg, &sql, &[&lock])? {
        return Ok(true);
    }
    pg.transaction.borrow_mut().own_sessions += 1;
    sessions::is_known(pg, session)
}

/// Takes locks of sessions for this transaction, with a share of that of the sums, as many as can be had and there is
/// room for; returns those.
pub(super) fn take_sessions(pg: &Postgres, locks: &[i64]) -> Result<Vec<i64>> {
    let own = pg.transaction.borrow().own_sessions;
    let locks: Vec<i64> = locks
        .iter()
        .copied()
        .take(MOST_SESSIONS.saturating_sub(own))
        .collect();
    if locks.is_empty() {
        return Ok(locks);
    }
    pg.begin_now()?;
    pg.transaction.borrow_mut().own_sessions += locks.len();
    let sql = format!(
        "SELECT lock FROM unnest($1::bigint[]) AS lock
         WHERE pg_try_advisory_xact_lock_shared({SUMS}) AND pg_try_advisory_xact_lock(lock)"
    );
    let rows = pg.rows_beside(&sql, &[&locks])?;
    rows.iter().map(|row| get(row, 0)).collect()
}

/// Tells whether a tree is among the sums, and lets nobody else change that.
pub(super) fn is_settled(pg: &Postgres, root: &RunKey) -> Result<bool> {
    share_sums(pg)?;
    let sql = "SELECT summed = 1 FROM root WHERE root_id = $1 FOR UPDATE";
    let row = pg.row(sql, &[&root.root.as_str()])?;
    row.map_or(Ok(false), |row| get(&row, 0))
}

/// Notes that trees are among the sums.
pub(super) fn set_all_settled(pg: &Postgres, roots: &[RunKey]) -> Result<()> {
    let roots: Vec<&str> = roots.iter().map(|key| key.root.as_str()).collect();
    pg.execute(
        "UPDATE root SET summed = 1 WHERE root_id = ANY($1)",
        &[&roots],
    )?;
    Ok(())
}

/// Sealed trees that are to be among the sums, in the words of the index that has them.
const WAITING: &str = "FROM root WHERE summed <> 1 AND summed = 0 AND seal_number IS NOT NULL";

/// Counts the sealed trees that are not among the sums and may be, as far as that many.
pub(super) fn waiting(pg: &Postgres, most: u32) -> Result<u32> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 {WAITING} LIMIT $1) AS waiting");
    let row = pg.row(&sql, &[&i64::from(most)])?;
    let count: i64 = row.map_or(Ok(0), |row| get(&row, 0))?;
    Ok(u32::try_from(count).unwrap_or(most))
}

/// Returns the roots of sealed trees that are not among the sums and may be, and that nobody is about to change.
pub(super) fn to_settle(pg: &Postgres) -> Result<Vec<RunKey>> {
    pg.begin_now()?;
    let sql = format!(
        "SELECT pg_try_advisory_xact_lock_shared({SUMS}) AND pg_try_advisory_xact_lock({SETTLER})"
    );
    if !is_had(pg, &sql, &[])? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT root_id {WAITING} ORDER BY root_id FOR UPDATE SKIP LOCKED");
    let mut roots = BTreeSet::new();
    for row in pg.rows(&sql, &[])? {
        roots.extend(maybe_run_id(&row, 0)?);
    }
    if roots.is_empty() {
        return Ok(Vec::new());
    }
    for root in disputed(pg, &roots)? {
        roots.remove(&root);
    }
    for root in after_open_ones(pg, &roots)? {
        roots.remove(&root);
    }
    let keys = roots.into_iter().map(|root| RunKey { root, number: 0 });
    Ok(keys.collect())
}

fn names(roots: &BTreeSet<RunId>) -> Vec<&str> {
    roots.iter().map(RunId::as_str).collect()
}

/// Returns the trees with a session whose lock cannot be had.
fn disputed(pg: &Postgres, roots: &BTreeSet<RunId>) -> Result<BTreeSet<RunId>> {
    let sql = "SELECT DISTINCT root_id, session FROM run
               WHERE root_id = ANY($1) AND session IS NOT NULL";
    let mut trees: BTreeMap<i64, Vec<RunId>> = BTreeMap::new();
    for row in pg.rows(sql, &[&names(roots)])? {
        let session = text(&row, 1)?;
        let of_session = trees.entry(lock_of(&session)).or_default();
        of_session.extend(maybe_run_id(&row, 0)?);
    }
    let own = pg.transaction.borrow().own_sessions;
    let room = MOST_SESSIONS.saturating_sub(own);
    let all = format!("SELECT pg_try_advisory_xact_lock({SUMS})");
    if trees.len() > room && is_had(pg, &all, &[])? {
        return Ok(BTreeSet::new());
    }
    let locks: Vec<i64> = trees.keys().copied().take(room).collect();
    pg.transaction.borrow_mut().own_sessions += locks.len();
    let sql = "SELECT lock FROM unnest($1::bigint[]) AS lock WHERE pg_try_advisory_xact_lock(lock)";
    for row in pg.rows_beside(sql, &[&locks])? {
        trees.remove(&get(&row, 0)?);
    }
    Ok(trees.into_values().flatten().collect())
}

/// Returns the trees with a run of a session in which an open tree has an earlier one. Both sides are read once, whatever
/// the server thinks of them: many trees may be open, and many may wait.
fn after_open_ones(pg: &Postgres, roots: &BTreeSet<RunId>) -> Result<Vec<RunId>> {
    let sql = "WITH open AS MATERIALIZED (
                   SELECT run.root_id, run.session, run.started_at, run.run_id
                   FROM root JOIN run ON run.root_id = root.root_id
                   WHERE root.summed <> 1 AND root.summed = 0 AND root.seal_number IS NULL
                       AND run.session IS NOT NULL
               ), waiting AS MATERIALIZED (
                   SELECT root_id, session, started_at, run_id
                   FROM run WHERE root_id = ANY($1) AND session IS NOT NULL
               )
               SELECT DISTINCT waiting.root_id FROM waiting JOIN open
                   ON open.session = waiting.session AND open.root_id <> waiting.root_id
                   AND (open.started_at, open.run_id) < (waiting.started_at, waiting.run_id)";
    let rows = pg.rows(sql, &[&names(roots)])?;
    let rows = rows.iter().map(|row| run_id(row, 0));
    rows.collect()
}

/// Returns the roots of trees among the sums that have a run of a session after a time and id.
pub(super) fn settled_after(
    pg: &Postgres,
    session: &str,
    at: i64,
    run: &RunId,
) -> Result<Vec<RunKey>> {
    let is_batch = pg.transaction.borrow().is_batch;
    if pg.transaction.borrow().pending.changes_roots() {
        // Whether a tree is sealed is looked for there.
        pg.flush()?;
    }
    if !is_batch {
        if hold(&pg.link).leases.has_way(run, session, at) {
            return Ok(Vec::new());
        }
        let (own, settled) = look_after(pg, session, at, run)?;
        if let Some((root, is_in_place)) = own {
            if is_in_place && settled.is_empty() {
                hold(&pg.link).leases.note_way(root, run, session, at);
            }
            return Ok(settled);
        }
    }
    pg.begin_now()?;
    let lock = lock_of(session);
    let sql =
        format!("SELECT pg_advisory_xact_lock_shared({SUMS}), pg_advisory_xact_lock_shared($1)");
    pg.rows_beside(&sql, &[&lock])?;
    if is_batch && pg.is_pending_session(session) {
        // A tree that is about to be written may be among them.
        pg.flush()?;
    }
    Ok(look_after(pg, session, at, run)?.1)
}

/// The tree of a run that others see in its session, if it is open, and whether they see the run at its time.
type OwnTree = Option<(RunId, bool)>;

/// Looks for such trees, and whether others see that this run is of the session and its tree is open.
fn look_after(
    pg: &Postgres,
    session: &str,
    at: i64,
    run: &RunId,
) -> Result<(OwnTree, Vec<RunKey>)> {
    let of_session = "md5(run.session) = md5($1::text) AND run.session = $1::text";
    let sql = format!(
        "SELECT run.root_id, run.started_at = $2 FROM run JOIN root ON root.root_id = run.root_id
         WHERE run.run_id = $3 AND {of_session} AND root.seal_number IS NULL
         UNION ALL
         SELECT DISTINCT root.root_id, NULL::boolean FROM run JOIN root ON root.root_id = run.root_id
         WHERE {of_session} AND (run.started_at, run.run_id) > ($2, $3) AND root.summed = 1"
    );
    let values: [Value<'_>; 3] = [&kept(session), &at, &run.as_str()];
    let mut own = None;
    let mut settled = Vec::new();
    for row in pg.rows_beside(&sql, &values)? {
        let root = run_id(&row, 0)?;
        match get::<Option<bool>>(&row, 1)? {
            Some(is_in_place) => own = Some((root, is_in_place)),
            None => settled.push(RunKey { root, number: 0 }),
        }
    }
    Ok((own, settled))
}
