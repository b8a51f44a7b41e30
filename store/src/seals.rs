//! The `seal` table: the chain that proves that nothing was changed.
//!
//! A seal covers a root run and its children: the last hash and count of each, the hashes of the
//! tape's blocks, what the writer knew before, and how the process ended. Entries form one chain
//! per database; its last hash is the head. Removing a run adds an entry that says so, and the
//! seal stays behind as a tombstone.

use runtape_core::report::{Removal, RemovalReason, SealHead};
use runtape_core::{JobId, RunId, Runtime};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{self, Hash};
use crate::error::{Result, StoreError};
use crate::place::{signed, unsigned};
use crate::records;
use crate::runs::{self, RunRow};
use crate::tape;

/// An entry as it is stored.
#[derive(Debug)]
pub(crate) struct SealRow {
    pub(crate) number: u64,
    pub(crate) at: i64,
    pub(crate) digest: Hash,
    pub(crate) hash: Hash,
    pub(crate) run_id: Option<String>,
    pub(crate) removes: Option<u64>,
    pub(crate) reason: Option<String>,
}

const COLUMNS: &str = "number, at, digest, hash, run_id, removes, reason";

/// Returns a query for entries.
pub(crate) fn select(which: &str) -> String {
    format!("SELECT {COLUMNS} FROM seal {which}")
}

pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<SealRow> {
    Ok(SealRow {
        number: row.get(0).map(unsigned)?,
        at: row.get(1)?,
        digest: chain::from_row(row, 2)?,
        hash: chain::from_row(row, 3)?,
        run_id: row.get(4)?,
        removes: row.get::<_, Option<i64>>(5)?.map(unsigned),
        reason: row.get(6)?,
    })
}

impl SealRow {
    /// Returns the hash that the entry should have.
    pub(crate) fn expected_hash(&self, before: &Hash, run_id: &str) -> Hash {
        let reason = self.reason.as_deref().unwrap_or_default();
        chain::keyed(
            "runtape seal chain",
            &[
                before,
                &self.number.to_le_bytes(),
                &self.at.to_le_bytes(),
                run_id.as_bytes(),
                &self.digest,
                &self.removes.unwrap_or_default().to_le_bytes(),
                reason.as_bytes(),
            ],
        )
    }

    /// Returns what the entry says was removed.
    pub(crate) fn removal(&self) -> Option<Removal> {
        Some(Removal {
            run_id: RunId::parse(self.run_id.as_deref()?).ok()?,
            seal: self.removes?,
            reason: RemovalReason::from_name(self.reason.as_deref()?),
            at: self.at,
        })
    }
}

/// Returns an entry.
pub(crate) fn one(connection: &Connection, number: u64) -> Result<Option<SealRow>> {
    Ok(connection
        .prepare_cached(&select("WHERE number = ?1"))?
        .query_row([signed(number)], from_row)
        .optional()?)
}

/// Returns what the chain says of a run besides the seal that covers it: seals that were removed,
/// and the entries that say so.
pub(crate) fn of_run(connection: &Connection, run: &RunId) -> Result<Vec<SealRow>> {
    let mut statement = connection.prepare_cached(&select("WHERE run_id = ?1 ORDER BY number"))?;
    let rows = statement.query_map([run.as_str()], from_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn last(connection: &Connection) -> Result<Option<SealRow>> {
    Ok(connection
        .prepare_cached(&select("ORDER BY number DESC LIMIT 1"))?
        .query_row([], from_row)
        .optional()?)
}

/// Returns the head of the chain, if there is any entry.
pub(crate) fn head(connection: &Connection) -> Result<Option<SealHead>> {
    Ok(last(connection)?.map(|last| SealHead {
        number: last.number,
        hash: chain::hex(&last.hash),
    }))
}

/// The hash before the first entry.
pub(crate) const BEFORE_ALL: Hash = [0; 32];

fn append(connection: &Connection, mut entry: SealRow, run_id: &RunId) -> Result<u64> {
    let last: Option<(i64, Hash)> = connection
        .prepare_cached("SELECT number, hash FROM seal ORDER BY number DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, chain::from_row(row, 1)?)))
        .optional()?;
    let (number, before) = last.map_or((0, BEFORE_ALL), |(number, hash)| (unsigned(number), hash));
    entry.number = number + 1;
    entry.hash = entry.expected_hash(&before, run_id.as_str());
    insert(connection, &entry)?;
    Ok(entry.number)
}

/// Adds an entry as it is.
pub(crate) fn insert(connection: &Connection, entry: &SealRow) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO seal (number, at, digest, hash, run_id, removes, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            signed(entry.number),
            entry.at,
            entry.digest,
            entry.hash,
            entry.run_id,
            entry.removes.map(signed),
            entry.reason
        ])?;
    Ok(())
}

/// What a seal covers.
pub(crate) struct Sealed<'a> {
    pub(crate) job: &'a JobId,
    pub(crate) runtime: &'a Runtime,
    pub(crate) context: &'a [u8],
    pub(crate) exit: &'a [u8],
    /// The runs of a tree, the root first: how many records each has, and the last one's hash.
    pub(crate) runs: Vec<(&'a RunId, u64, Hash)>,
    /// The hashes of the tape's blocks.
    pub(crate) tape: Vec<Hash>,
}

impl Sealed<'_> {
    /// Returns the hash over all of it.
    pub(crate) fn digest(&self) -> Hash {
        let counts: Vec<[u8; 8]> = self
            .runs
            .iter()
            .map(|(_, records, _)| records.to_le_bytes())
            .collect();
        let mut pieces: Vec<&[u8]> = vec![
            self.job.as_str().as_bytes(),
            self.runtime.as_str().as_bytes(),
            self.context,
            self.exit,
        ];
        for ((id, _, hash), count) in self.runs.iter().zip(&counts) {
            pieces.extend([id.as_str().as_bytes(), count, hash]);
        }
        pieces.extend(self.tape.iter().map(Hash::as_slice));
        chain::keyed("runtape seal", &pieces)
    }
}

/// Returns the hash over all that a seal of these runs covers: those of a tree, the root first.
pub(crate) fn digest(connection: &Connection, runs: &[RunRow]) -> Result<Hash> {
    let Some(root) = runs.first() else {
        return Err(StoreError::damaged("a seal", "it covers no run"));
    };
    let mut sealed = Sealed {
        job: &root.job,
        runtime: &root.runtime,
        context: root.context.as_deref().unwrap_or_default(),
        exit: root.exit.as_deref().unwrap_or_default(),
        runs: Vec::with_capacity(runs.len()),
        tape: tape::hashes(connection, root.key)?,
    };
    for run in runs {
        let hash = records::last_hash(connection, run.key, &run.id)?;
        sealed.runs.push((&run.id, run.records, hash));
    }
    Ok(sealed.digest())
}

/// Seals a tree of runs.
pub(crate) fn seal(connection: &Connection, root: i64, at: i64) -> Result<u64> {
    let runs = runs::tree(connection, root)?;
    let Some(row) = runs.first() else {
        return Err(StoreError::damaged("a seal", "it covers no run"));
    };
    let number = append_seal(connection, digest(connection, &runs)?, &row.id, at)?;
    connection
        .prepare_cached("UPDATE run SET seal = ?2 WHERE key = ?1")?
        .execute(params![root, signed(number)])?;
    Ok(number)
}

/// Adds a seal over a root run to the chain.
pub(crate) fn append_seal(
    connection: &Connection,
    digest: Hash,
    run: &RunId,
    at: i64,
) -> Result<u64> {
    let entry = SealRow {
        number: 0,
        at,
        digest,
        hash: BEFORE_ALL,
        run_id: None,
        removes: None,
        reason: None,
    };
    append(connection, entry, run)
}

/// Tells whether a seal covers what a hash was made of.
pub(crate) fn has_digest(connection: &Connection, number: i64, digest: &Hash) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT digest = ?2 FROM seal WHERE number = ?1")?
        .query_row(params![number, digest], |row| row.get(0))
        .optional()?
        .unwrap_or(false))
}

/// Makes a tombstone of the seal of a root run, and says in the chain that it was removed.
pub(crate) fn remove(
    connection: &Connection,
    root: &RunRow,
    reason: RemovalReason,
    at: i64,
) -> Result<Option<u64>> {
    let Some(seal) = root.seal else {
        return Ok(None);
    };
    connection
        .prepare_cached("UPDATE seal SET run_id = ?2 WHERE number = ?1")?
        .execute(params![seal, root.id.as_str()])?;
    connection
        .prepare_cached("UPDATE run SET seal = NULL WHERE key = ?1")?
        .execute([root.key])?;
    let entry = SealRow {
        number: 0,
        at,
        digest: chain::keyed("runtape removal", &[root.job.as_str().as_bytes()]),
        hash: BEFORE_ALL,
        run_id: Some(root.id.to_string()),
        removes: Some(unsigned(seal)),
        reason: Some(match reason {
            RemovalReason::Other(name) => name.into(),
            known => known.as_str().to_owned(),
        }),
    };
    append(connection, entry, &root.id).map(Some)
}

/// Tells whether a run that is there had a tape that was dropped.
pub(crate) fn was_tape_dropped(connection: &Connection, run: &RunId) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT reason FROM seal WHERE removes IS NOT NULL AND run_id = ?1 ORDER BY number DESC",
    )?;
    let reasons = statement.query_map([run.as_str()], |row| row.get::<_, Option<String>>(0))?;
    for reason in reasons {
        let reason = reason?.unwrap_or_default();
        if reason == RemovalReason::TapeDropped.as_str() {
            return Ok(true);
        }
        // What comes before was said of an earlier run with the same id.
        if reason == RemovalReason::Deleted.as_str() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Returns what was removed, in order.
pub(crate) fn removals(connection: &Connection) -> Result<Vec<Removal>> {
    let mut statement =
        connection.prepare_cached(&select("WHERE removes IS NOT NULL ORDER BY number"))?;
    let mut rows = statement.query([])?;
    let mut removals = Vec::new();
    while let Some(row) = rows.next()? {
        removals.extend(from_row(row)?.removal());
    }
    Ok(removals)
}
