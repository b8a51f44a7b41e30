//! Many runs at once: a round trip for all of them, where asking for each would be one for each.

use std::collections::{BTreeMap, HashSet};

use runtape_core::RunId;
use runtape_core::report::RunInfo;

use super::columns::{get, kept, run_id, text};
use super::{Postgres, runs, seals, settling};
use crate::error::Result;

/// What a transaction that holds all chains knows of runs that it is about to write.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Runs that are not there.
    absent: HashSet<RunId>,
    /// Sessions that no run is of. Their locks are this transaction's.
    free: HashSet<String>,
}

impl Expected {
    pub(super) fn is_absent(&self, run: &RunId) -> bool {
        self.absent.contains(run)
    }

    pub(super) fn is_free(&self, session: &str) -> bool {
        self.free.contains(session)
    }

    /// Notes that a run is about to be written.
    pub(super) fn note_run(&mut self, run: &RunId) {
        self.absent.remove(run);
    }

    /// Notes that a run of a session is about to be written.
    pub(super) fn note_session(&mut self, session: &str) {
        self.free.remove(session);
    }
}

/// Asks which of these runs and sessions there are, before the runs are written. Nobody else seals a run of these ids, or
/// writes one of the sessions that are free, until the transaction ends.
pub(super) fn expect(pg: &Postgres, runs: &[&RunId], sessions: &[&str]) -> Result<()> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    seals::end(pg, first)?;
    let names: Vec<&str> = runs.iter().map(|run| run.as_str()).collect();
    let sql = "SELECT run_id FROM run_place WHERE run_id = ANY($1)";
    let mut absent: HashSet<RunId> = runs.iter().map(|run| (*run).clone()).collect();
    for row in pg.rows_beside(sql, &[&names])? {
        absent.remove(&run_id(&row, 0)?);
    }
    absent.retain(|run| !pg.is_pending_run(run));
    let free = free_sessions(pg, sessions)?;
    pg.transaction.borrow_mut().expected = Expected { absent, free };
    Ok(())
}

/// Locks sessions, as far as they can be had and there is room, and returns those of them that no run is of.
fn free_sessions(pg: &Postgres, sessions: &[&str]) -> Result<HashSet<String>> {
    let mut of_lock: BTreeMap<i64, HashSet<&str>> = BTreeMap::new();
    for session in sessions {
        if !pg.is_pending_session(session) {
            let lock = settling::lock_of(session);
            of_lock.entry(lock).or_default().insert(session);
        }
    }
    let locks: Vec<i64> = of_lock.keys().copied().collect();
    let mut free: BTreeMap<String, &str> = BTreeMap::new();
    for lock in settling::take_sessions(pg, &locks)? {
        let sessions = of_lock.get(&lock).into_iter().flatten();
        free.extend(sessions.map(|session| (kept(session).into_owned(), *session)));
    }
    if free.is_empty() {
        return Ok(HashSet::new());
    }
    let names: Vec<&str> = free.keys().map(String::as_str).collect();
    let sql = "SELECT DISTINCT run.session FROM unnest($1::text[]) AS wanted
               JOIN run ON md5(run.session) = md5(wanted) AND run.session = wanted";
    for row in pg.rows_beside(sql, &[&names])? {
        free.remove(get::<&str>(&row, 0)?);
    }
    Ok(free.into_values().map(str::to_owned).collect())
}

/// Returns what is known of root runs and their children.
pub(super) fn trees_info(pg: &Postgres, roots: &[RunId]) -> Result<Vec<RunInfo>> {
    let roots: Vec<&str> = roots.iter().map(RunId::as_str).collect();
    let sql = format!(
        "SELECT {} WHERE run.root_id = ANY($1) ORDER BY run.root_id, run.run_no",
        &*runs::INFO
    );
    pg.rows(&sql, &[&roots])?.iter().map(runs::info).collect()
}

/// Returns the root runs of sessions, each with its session.
pub(super) fn roots_of_sessions(pg: &Postgres, sessions: &[&str]) -> Result<Vec<(String, RunId)>> {
    let kept: Vec<_> = sessions.iter().map(|session| kept(session)).collect();
    let names: Vec<&str> = kept.iter().map(AsRef::as_ref).collect();
    let sql = "SELECT run.session, run.run_id FROM unnest($1::text[]) AS wanted
               JOIN run ON md5(run.session) = md5(wanted) AND run.session = wanted
               WHERE run.run_no = 0";
    let rows = pg.rows(sql, &[&names])?;
    let rows = rows.iter().map(|row| Ok((text(row, 0)?, run_id(row, 1)?)));
    rows.collect()
}
