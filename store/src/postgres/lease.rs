//! Who is writing a tree of runs: a lease by the server's clock, and a number that rises with each holder.
//!
//! A lease lasts a minute and is renewed every quarter of one, also while there is nothing to write. When its holder is
//! gone, it ends by itself, and somebody else may take it, which raises the epoch. A holder that was only asleep finds
//! that its epoch is over, and writes nothing: every statement that writes a tree is fenced by the lease.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use runtape_core::RunId;

use super::columns::kept;
use super::connection::{Part, Value};
use super::{Link, Postgres, hold};
use crate::backend;
use crate::error::{Result, StoreError};

/// Finds the lease held, for as long as the transaction lasts, and renews it. Its values are the tree, the epoch, the
/// mark of the last write, and that of this one: a mark is never given twice, so that it tells whether exactly this write
/// was done when the answer to it was lost.
pub(super) const FENCE: &str =
    "UPDATE lease SET until = clock_timestamp() + interval '60 s', writes = $4
     WHERE root_id = $1 AND epoch = $2 AND writes = $3 RETURNING root_id, writes";

/// Returns a mark for a write.
pub(super) fn mark() -> i64 {
    use std::hash::{BuildHasher, RandomState};
    // What each of them gives differs from all others, in this process and elsewhere.
    let number = RandomState::new().hash_one(std::time::SystemTime::now());
    i64::try_from(number >> 1).unwrap_or(i64::MAX).max(1)
}

/// Takes a lease that nobody holds, or that this store was given without hearing of it. An epoch is the time at which it
/// began, or comes after the one before: one of a lease that is gone is never given again.
const TAKE: &str = "INSERT INTO lease AS held (root_id, epoch, owner, until, writes)
     VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1e6)::bigint, $2,
        clock_timestamp() + interval '60 s', 0)
     ON CONFLICT (root_id) DO UPDATE SET epoch = greatest(held.epoch + 1, excluded.epoch),
        owner = excluded.owner, until = excluded.until, writes = 0
     WHERE held.until < clock_timestamp() OR held.owner = excluded.owner RETURNING epoch";

/// Gives a lease back; a note about the run stays for whoever takes it next.
const RELEASE: &str = "UPDATE lease SET until = '-infinity' WHERE root_id = $1 AND epoch = $2";

/// Gives a lease back that nobody will ask for again.
const RETIRE: &str = "DELETE FROM lease WHERE root_id = $1 AND epoch = $2";

const RENEW: &str = "UPDATE lease SET until = clock_timestamp() + interval '60 s'
     FROM unnest($1::text[], $2::bigint[]) AS mine (root_id, epoch)
     WHERE lease.root_id = mine.root_id AND lease.epoch = mine.epoch";

/// How often leases are renewed.
const PAUSE: Duration = Duration::from_secs(15);

/// A lease that this store holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub(super) epoch: i64,
    /// The mark of the last write that is known here; 0 before the first.
    pub(super) writes: i64,
}

/// A run of a held tree that others see at its place in its session, and after which no tree is among the sums. None
/// goes there before this tree is sealed, which nobody else does: so it need not be asked again with each append.
#[derive(Debug)]
struct Way {
    root: RunId,
    session: String,
    at: i64,
}

/// The leases of a store.
#[derive(Debug, Default)]
pub(super) struct Leases {
    held: HashMap<RunId, Lease>,
    /// What is known of runs in held trees, by their ids.
    ways: HashMap<RunId, Way>,
    /// Those that are to be given back as soon as the connection is free, and with which statement.
    returned: Vec<(RunId, i64, &'static str)>,
    /// Somebody renews them.
    are_renewed: bool,
}

impl Leases {
    pub(super) fn of(&self, root: &RunId) -> Option<Lease> {
        self.held.get(root).copied()
    }

    /// Notes the mark of the last write to a tree.
    pub(super) fn wrote(&mut self, root: &RunId, mark: i64) {
        if let Some(lease) = self.held.get_mut(root) {
            lease.writes = mark;
        }
    }

    /// Notes the marks of the last writes to trees.
    pub(super) fn wrote_all(&mut self, marks: &HashMap<RunId, i64>) {
        #[expect(clippy::iter_over_hash_type, reason = "each is by itself")]
        for (root, lease) in &mut self.held {
            if let Some(mark) = marks.get(root) {
                lease.writes = *mark;
            }
        }
    }

    /// Forgets leases that have ended.
    pub(super) fn forget(&mut self, roots: &[RunId]) {
        for root in roots {
            self.held.remove(root);
            self.forget_ways(root);
        }
    }

    /// Keeps a lease that somebody else has now, so that its holder is refused whatever it writes.
    pub(super) fn lose(&mut self, root: &RunId) {
        if let Some(lease) = self.held.get_mut(root) {
            lease.epoch = -1;
        }
        self.forget_ways(root);
    }

    /// Tells whether a run is known to be at a place in a session after which no tree is among the sums.
    pub(super) fn has_way(&self, run: &RunId, session: &str, at: i64) -> bool {
        let way = self.ways.get(run);
        way.is_some_and(|way| way.session == session && way.at == at)
    }

    /// Notes that a run is at such a place.
    pub(super) fn note_way(&mut self, root: RunId, run: &RunId, session: &str, at: i64) {
        if self.held.contains_key(&root) {
            let session = session.to_owned();
            self.ways.insert(run.clone(), Way { root, session, at });
        }
    }

    /// Forgets what is known of a tree, of which a run is of another session now.
    pub(super) fn keep_ways_of(&mut self, root: &RunId, session: Option<&str>) {
        self.ways
            .retain(|_, way| way.root != *root || Some(way.session.as_str()) == session);
    }

    /// Forgets what is known of all trees: it may have been seen in a transaction that was undone.
    pub(super) fn forget_all_ways(&mut self) {
        self.ways.clear();
    }

    /// Forgets what is known of a tree.
    pub(super) fn forget_ways(&mut self, root: &RunId) {
        self.ways.retain(|_, way| way.root != *root);
    }
}

impl Link {
    /// Gives leases back, if nothing else is going on.
    pub(super) fn release_leases(&mut self) {
        if self.is_busy || self.leases.returned.is_empty() {
            return;
        }
        for (root, epoch, sql) in std::mem::take(&mut self.leases.returned) {
            if !self.connection.is_open() {
                continue;
            }
            // If it cannot be given back, it ends by itself. So nobody waits until that is lasting, either.
            let bare = |sql: &'static str| Part {
                sql: sql.into(),
                values: Vec::new(),
            };
            let _ = self.connection.rows_of_all(&[
                bare("BEGIN"),
                bare("SET LOCAL synchronous_commit = off"),
                Part {
                    sql: sql.into(),
                    values: vec![&root.as_str(), &epoch],
                },
                bare("COMMIT"),
            ]);
        }
    }

    fn renew_leases(&mut self) -> Result<()> {
        let held = self
            .leases
            .held
            .iter()
            .filter(|(_, lease)| lease.epoch >= 0);
        let (roots, epochs): (Vec<String>, Vec<i64>) = held
            .map(|(root, lease)| (root.to_string(), lease.epoch))
            .unzip();
        if roots.is_empty() {
            return Ok(());
        }
        self.connection.reconnect()?;
        self.connection.execute(RENEW, &[&roots, &epochs])?;
        Ok(())
    }
}

/// Renews the leases of a store until it is gone.
fn keep_renewing(link: &Weak<Mutex<Link>>) {
    loop {
        let begin = Instant::now();
        while begin.elapsed() < PAUSE {
            std::thread::sleep(Duration::from_millis(500));
            if link.strong_count() == 0 {
                return;
            }
        }
        let Some(link) = link.upgrade() else {
            return;
        };
        let mut held = hold(&link);
        if held.leases.held.is_empty() {
            held.leases.are_renewed = false;
            return;
        }
        // Whoever is writing renews the lease on what it writes; a transaction is short. What cannot be renewed now is
        // tried again before the lease ends.
        if !held.is_busy {
            let _ = held.renew_leases();
        }
    }
}

/// The lease on one tree, held until dropped.
#[derive(Debug)]
pub(super) struct RunLock {
    link: Arc<Mutex<Link>>,
    run: RunId,
    epoch: i64,
}

impl RunLock {
    fn give_back(&self, sql: &'static str) {
        let mut link = hold(&self.link);
        // Of a lease that was given back already there is nothing to give back.
        let is_ours = link
            .leases
            .held
            .get(&self.run)
            .is_some_and(|lease| lease.epoch == self.epoch);
        link.leases.forget_ways(&self.run);
        if link.leases.held.remove(&self.run).is_some() && is_ours {
            link.leases
                .returned
                .push((self.run.clone(), self.epoch, sql));
        }
        link.release_leases();
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        self.give_back(RELEASE);
    }
}

impl backend::RunLock for RunLock {
    fn leave_note(&self, note: &str) -> io::Result<()> {
        let sql = "UPDATE lease SET note = $3 WHERE root_id = $1 AND epoch = $2";
        let mut link = hold(&self.link);
        let note = kept(note);
        let values: [Value<'_>; 3] = [&self.run.as_str(), &self.epoch, &note.as_ref()];
        let left = link
            .connection
            .execute(sql, &values)
            .map_err(io::Error::other)?;
        if left == 0 {
            return Err(io::Error::other("somebody else writes the run now"));
        }
        Ok(())
    }

    fn note(&self) -> io::Result<Option<String>> {
        let sql = "SELECT note FROM lease WHERE root_id = $1";
        let mut link = hold(&self.link);
        let rows = link
            .connection
            .rows_soon(sql, &[&self.run.as_str()])
            .map_err(io::Error::other)?;
        let note = rows.first().map(|row| row.try_get::<_, Option<String>>(0));
        Ok(note
            .transpose()
            .map_err(io::Error::other)?
            .flatten()
            .map(super::columns::told))
    }

    fn retire(self: Box<Self>) {
        self.give_back(RETIRE);
    }
}

/// Names a store to those who look who writes what: its process, and what tells it from all other stores.
pub(super) fn owner() -> String {
    let host = host().unwrap_or_else(|| "?".to_owned());
    format!("{} on {host} ({:x})", std::process::id(), mark())
}

/// Returns the name of this machine.
#[cfg(unix)]
fn host() -> Option<String> {
    nix::unistd::gethostname().ok()?.into_string().ok()
}

/// Returns the name of this machine, which nobody tells elsewhere without asking the environment.
#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}

/// Returns a number that differs between stores, and is none of a chain: whose rows of sums are whose.
pub(super) fn share(chains: u32) -> i32 {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(std::process::id()) % 64;
    i32::try_from(u64::from(chains) + random).unwrap_or(0)
}

impl Postgres {
    /// Takes the lease on a tree.
    pub(super) fn take_lease(&self, run: &RunId) -> Result<RunLock> {
        let mut link = hold(&self.link);
        if link.leases.held.contains_key(run) {
            return Err(StoreError::Locked { run: run.clone() });
        }
        link.release_leases();
        if !link.is_busy {
            link.connection.reconnect()?;
        }
        let rows = link
            .connection
            .rows_soon(TAKE, &[&run.as_str(), &self.owner])?;
        let Some(row) = rows.first() else {
            return Err(StoreError::Locked { run: run.clone() });
        };
        let epoch: i64 = row.try_get(0)?;
        link.leases
            .held
            .insert(run.clone(), Lease { epoch, writes: 0 });
        if !link.leases.are_renewed {
            link.leases.are_renewed = true;
            let weak = Arc::downgrade(&self.link);
            let renewing = std::thread::Builder::new().name("runtape-leases".to_owned());
            let started = renewing.spawn(move || keep_renewing(&weak));
            link.leases.are_renewed = started.is_ok();
        }
        Ok(RunLock {
            link: Arc::clone(&self.link),
            run: run.clone(),
            epoch,
        })
    }

    /// Tells whether nobody holds the lease on a tree.
    pub(super) fn is_free(&self, run: &RunId) -> Result<bool> {
        let sql = "SELECT 1 FROM lease WHERE root_id = $1 AND until > clock_timestamp()";
        Ok(self.rows_beside(sql, &[&run.as_str()])?.is_empty())
    }
}
