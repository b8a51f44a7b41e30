//! The `seal` and `chain_head` tables: the chains, and where each one ends.

use std::collections::BTreeMap;

use runtape_core::RunId;
use runtape_core::report::{Removal, SealName};
use tokio_postgres::Row;

use super::columns::{chain, count, get, hash, kept, maybe_text, signed, unsigned};
use super::connection::Part;
use super::{Postgres, Value, hold};
use crate::error::Result;
use crate::format::chain::Hash;
use crate::format::seals::SealEntry;

fn select(which: &str) -> String {
    format!("SELECT chain, number, at, digest, hash, run_id, removes, reason FROM seal {which}")
}

fn name(row: &Row, first: usize) -> Result<SealName> {
    let chain: i32 = get(row, first)?;
    Ok(SealName {
        chain: u32::try_from(chain).unwrap_or(u32::MAX),
        number: count(row, first + 1)?,
    })
}

fn from_row(row: &Row) -> Result<SealEntry> {
    Ok(SealEntry {
        name: name(row, 0)?,
        at: get(row, 2)?,
        digest: hash(row, 3)?,
        hash: hash(row, 4)?,
        run_id: maybe_text(row, 5)?,
        removes: get::<Option<i64>>(row, 6)?.map(unsigned),
        reason: maybe_text(row, 7)?,
    })
}

/// Returns the chain that a root run belongs to: whoever asks, and whenever, it is the same.
pub(super) fn chain_of(run: &RunId, chains: u32) -> u32 {
    let hash = blake3::hash(run.as_str().as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d]) % chains.max(1)
}

/// Returns the end of the chain that a root run belongs to, and keeps others from adding to it until the transaction
/// ends. A transaction that may seal several runs locks all chains, in their order: two that lock some of them in
/// different orders would wait for each other.
pub(super) fn end(pg: &Postgres, run: &RunId) -> Result<(u32, Option<(u64, Hash)>)> {
    let wanted = chain_of(run, pg.chains);
    let wanted_number = i32::try_from(wanted).unwrap_or(0);
    if !pg.transaction.borrow().ends.contains_key(&wanted_number) {
        pg.begin_now()?;
        let is_batch = pg.transaction.borrow().is_batch;
        let mut link = hold(&pg.link);
        let rows = if is_batch {
            let sql = "SELECT chain, number, hash FROM chain_head ORDER BY chain FOR UPDATE";
            link.connection.rows_soon(sql, &[])?
        } else {
            let sql = "SELECT chain, number, hash FROM chain_head WHERE chain = $1 FOR UPDATE";
            link.connection.rows_soon(sql, &[&wanted_number])?
        };
        drop(link);
        let mut transaction = pg.transaction.borrow_mut();
        for row in &rows {
            let end = (count(row, 1)?, hash(row, 2)?);
            transaction.ends.entry(get(row, 0)?).or_insert(end);
        }
    }
    let transaction = pg.transaction.borrow();
    let end = transaction.ends.get(&wanted_number);
    Ok((wanted, end.copied().filter(|(number, _)| *number > 0)))
}

/// Adds an entry to its chain, whose end is known and locked.
pub(super) fn insert(pg: &Postgres, entry: &SealEntry) {
    let mut transaction = pg.transaction.borrow_mut();
    let end = (entry.name.number, entry.hash);
    transaction.ends.insert(chain(entry.name), end);
    transaction.seals.push(entry.clone());
    transaction.sealed = Some((entry.name, entry.hash));
}

/// Entries to be written, a column at a time, and where their chains end then.
pub(super) struct Entries<'a> {
    chains: Vec<i32>,
    numbers: Vec<i64>,
    times: Vec<i64>,
    digests: Vec<&'a [u8]>,
    hashes: Vec<&'a [u8]>,
    runs: Vec<Option<&'a str>>,
    removes: Vec<Option<i64>>,
    reasons: Vec<Option<String>>,
    heads: Vec<i32>,
    head_numbers: Vec<i64>,
    head_hashes: Vec<&'a [u8]>,
}

impl<'a> Entries<'a> {
    /// Gets entries ready to be written, if there are any.
    pub(super) fn of(entries: &'a [SealEntry]) -> Option<Self> {
        if entries.is_empty() {
            return None;
        }
        let each = entries.iter();
        let reason = |entry: &SealEntry| {
            let reason = entry.reason.as_deref();
            reason.map(|reason| kept(reason).into_owned())
        };
        let ends: BTreeMap<i32, &SealEntry> = each
            .clone()
            .map(|entry| (chain(entry.name), entry))
            .collect();
        let last = ends.values();
        Some(Self {
            chains: each.clone().map(|entry| chain(entry.name)).collect(),
            numbers: each
                .clone()
                .map(|entry| signed(entry.name.number))
                .collect(),
            times: each.clone().map(|entry| entry.at).collect(),
            digests: each.clone().map(|entry| entry.digest.as_slice()).collect(),
            hashes: each.clone().map(|entry| entry.hash.as_slice()).collect(),
            runs: each.clone().map(|entry| entry.run_id.as_deref()).collect(),
            removes: each
                .clone()
                .map(|entry| entry.removes.map(signed))
                .collect(),
            reasons: each.map(reason).collect(),
            heads: ends.keys().copied().collect(),
            head_numbers: last
                .clone()
                .map(|entry| signed(entry.name.number))
                .collect(),
            head_hashes: last.map(|entry| entry.hash.as_slice()).collect(),
        })
    }

    /// Returns the statement that writes them. One entry is written by its values: lists of one cost more than the rest.
    pub(super) fn statement(&self) -> Part<'_> {
        if let ([chain], [number], [at], [digest], [hash], [run], [removes], [reason]) = (
            self.chains.as_slice(),
            self.numbers.as_slice(),
            self.times.as_slice(),
            self.digests.as_slice(),
            self.hashes.as_slice(),
            self.runs.as_slice(),
            self.removes.as_slice(),
            self.reasons.as_slice(),
        ) {
            let sql = "WITH added AS (
                    INSERT INTO seal (chain, number, at, digest, hash, run_id, removes, reason)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                 )
                 UPDATE chain_head SET number = $2, hash = $5 WHERE chain = $1";
            return Part {
                sql: sql.into(),
                values: vec![chain, number, at, digest, hash, run, removes, reason],
            };
        }
        let sql = "WITH added AS (
                INSERT INTO seal (chain, number, at, digest, hash, run_id, removes, reason)
                SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[],
                    $6::text[], $7::bigint[], $8::text[])
             )
             UPDATE chain_head SET number = x.number, hash = x.hash
             FROM unnest($9::integer[], $10::bigint[], $11::bytea[]) AS x (chain, number, hash)
             WHERE chain_head.chain = x.chain";
        Part {
            sql: sql.into(),
            values: vec![
                &self.chains,
                &self.numbers,
                &self.times,
                &self.digests,
                &self.hashes,
                &self.runs,
                &self.removes,
                &self.reasons,
                &self.heads,
                &self.head_numbers,
                &self.head_hashes,
            ],
        }
    }
}

/// Returns an entry.
pub(super) fn one(pg: &Postgres, seal: SealName) -> Result<Option<SealEntry>> {
    let sql = select("WHERE chain = $1 AND number = $2");
    let row = pg.row(&sql, &[&chain(seal), &signed(seal.number)])?;
    row.as_ref().map(from_row).transpose()
}

/// How many entries are read at once.
const PAGE: i64 = 4096;

/// Calls `each` with all entries in order, chain by chain, until it returns `false`.
pub(super) fn each(pg: &Postgres, each: &mut dyn FnMut(SealEntry) -> Result<bool>) -> Result<()> {
    let sql = select(&format!(
        "WHERE (chain, number) > ($1, $2) ORDER BY chain, number LIMIT {PAGE}"
    ));
    let mut last = (-1_i32, -1_i64);
    loop {
        let rows = pg.rows(&sql, &[&last.0, &last.1])?;
        for row in &rows {
            if !each(from_row(row)?)? {
                return Ok(());
            }
        }
        match rows.last() {
            Some(row) => last = (get(row, 0)?, get(row, 1)?),
            None => return Ok(()),
        }
    }
}

fn entries(pg: &Postgres, which: &str, values: &[Value<'_>]) -> Result<Vec<SealEntry>> {
    pg.rows(&select(which), values)?
        .iter()
        .map(from_row)
        .collect()
}

/// Returns the entries that name a run.
pub(super) fn of_run(pg: &Postgres, run: &RunId) -> Result<Vec<SealEntry>> {
    entries(
        pg,
        "WHERE run_id = $1 ORDER BY chain, number",
        &[&run.as_str()],
    )
}

/// Returns the entry with a hash.
pub(super) fn with_hash(pg: &Postgres, hash: &Hash) -> Result<Option<SealName>> {
    let sql =
        "SELECT chain, number FROM seal WHERE hash = $1 ORDER BY chain DESC, number DESC LIMIT 1";
    let row = pg.row(sql, &[&hash.as_slice()])?;
    row.map(|row| name(&row, 0)).transpose()
}

/// Writes the id of a run beside its seal.
pub(super) fn make_tombstone(pg: &Postgres, seal: SealName, run: &RunId) -> Result<()> {
    let sql = "UPDATE seal SET run_id = $3 WHERE chain = $1 AND number = $2";
    pg.execute(sql, &[&chain(seal), &signed(seal.number), &run.as_str()])?;
    Ok(())
}

/// Tells whether a later entry says that a seal was removed.
pub(super) fn is_removed(pg: &Postgres, seal: SealName) -> Result<bool> {
    let sql = "SELECT 1 FROM seal WHERE chain = $1 AND removes = $2 AND number > $2 LIMIT 1";
    Ok(pg
        .row(sql, &[&chain(seal), &signed(seal.number)])?
        .is_some())
}

/// Returns what was removed, in order.
pub(super) fn removals(pg: &Postgres) -> Result<Vec<Removal>> {
    let found = entries(
        pg,
        "WHERE removes IS NOT NULL ORDER BY at, chain, number",
        &[],
    )?;
    Ok(found.iter().filter_map(SealEntry::removal).collect())
}
