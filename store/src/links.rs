//! How the entries of the chain of seals follow each other.
//!
//! In a whole database each entry follows the one before. A bundle has only those that are about
//! its runs; where the one before is left out, its hash stands in the `seal_before` table. So the
//! hash of each entry can be computed, and compared with one that was kept elsewhere.

use std::collections::BTreeMap;

use runtape_core::report::{FaultPlace, VerifyFault};
use rusqlite::{Connection, params};

use crate::chain::{self, Hash};
use crate::error::Result;
use crate::place::{signed, unsigned};
use crate::seals::{BEFORE_ALL, SealRow};

/// Follows the chain from entry to entry.
#[derive(Debug)]
pub(crate) struct Links {
    /// The hashes that stand for entries that were left out, by the number of the next one.
    left_out: BTreeMap<u64, Hash>,
    is_bundle: bool,
    /// The entry that was passed last.
    last: (u64, Hash),
}

/// What comes before an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// This hash.
    Hash(Hash),
    /// Nothing that is known: an entry is missing, the one with this number.
    Missing(u64),
    /// Two hashes, of which one is wrong.
    Torn,
}

impl Links {
    /// Reads what was left out.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let mut left_out = BTreeMap::new();
        // A database of an older schema has no place for it.
        let sql = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = 'seal_before'";
        if connection.prepare_cached(sql)?.exists([])? {
            let mut statement = connection.prepare("SELECT number, hash FROM seal_before")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                left_out.insert(row.get(0).map(unsigned)?, chain::from_row(row, 1)?);
            }
        }
        Ok(Self {
            is_bundle: !left_out.is_empty(),
            left_out,
            last: (0, BEFORE_ALL),
        })
    }

    /// Tells whether entries were left out, which only a bundle does.
    pub(crate) fn is_bundle(&self) -> bool {
        self.is_bundle
    }

    /// Returns the hash before an entry, which must come after those that were passed.
    pub(crate) fn before(&mut self, number: u64) -> Before {
        let (last, hash) = self.last;
        let is_next = last.checked_add(1) == Some(number);
        match self.left_out.remove(&number) {
            // One that is here needs no stand-in, unless it says the same.
            Some(stand_in) if is_next && stand_in != hash => Before::Torn,
            Some(stand_in) => Before::Hash(stand_in),
            None if is_next => Before::Hash(hash),
            None => Before::Missing(last.saturating_add(1)),
        }
    }

    /// Takes note of an entry that is as it should be.
    pub(crate) fn pass(&mut self, entry: &SealRow) {
        self.last = (entry.number, entry.hash);
    }

    /// Returns the number after the entry that was passed last.
    pub(crate) fn end(&self) -> u64 {
        self.last.0.saturating_add(1)
    }

    /// Returns the number of an entry that should be here, since what came before it is.
    pub(crate) fn unused(&self) -> Option<u64> {
        self.left_out.keys().next().copied()
    }
}

/// Returns a fault for each run of a bundle that a hash kept elsewhere does not cover: a seal
/// covers what comes before it, as far as nothing in between was left out.
pub(crate) fn uncovered(connection: &Connection, head: &Hash) -> Result<Vec<VerifyFault>> {
    let links = Links::read(connection)?;
    let fault = |place, fault: &str| VerifyFault {
        place,
        fault: format!("{fault} {}", chain::hex(head)),
    };
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(number) FROM seal WHERE hash = ?1")?
        .query_row([head], |row| row.get(0))?;
    let Some(last) = last.map(unsigned) else {
        return Ok(vec![fault(FaultPlace::File, "no seal has the hash")]);
    };
    let gap = links.left_out.range(..=last).next_back();
    let first = gap.map_or(0, |(number, _)| *number);
    let runs = crate::bundle::seals_of_runs(connection)?;
    let outside = runs
        .into_iter()
        .filter(|run| links.is_bundle && !(first..=last).contains(&run.number));
    let faults = outside.map(|run| {
        let run_id = run.run_id;
        fault(FaultPlace::Run { run_id }, "its seal is not covered by")
    });
    Ok(faults.collect())
}

/// Writes some entries of a chain, in order, with the hashes that stand for those left out.
pub(crate) fn write(
    source: &Connection,
    target: &Connection,
    entries: &BTreeMap<u64, SealRow>,
) -> Result<()> {
    let mut last = None;
    for (number, entry) in entries {
        if last.is_none() || last != number.checked_sub(1) {
            let before = number.checked_sub(1).filter(|before| *before > 0);
            let before = match before {
                Some(before) => stand_in(source, *number, before)?,
                None => BEFORE_ALL,
            };
            target
                .prepare_cached("INSERT INTO seal_before (number, hash) VALUES (?1, ?2)")?
                .execute(params![signed(*number), before])?;
        }
        crate::seals::insert(target, entry)?;
        last = Some(*number);
    }
    Ok(())
}

/// Returns the hash of the entry before another, which itself may have been left out.
fn stand_in(source: &Connection, number: u64, before: u64) -> Result<Hash> {
    if let Some(entry) = crate::seals::one(source, before)? {
        return Ok(entry.hash);
    }
    let mut statement = source.prepare_cached("SELECT hash FROM seal_before WHERE number = ?1")?;
    Ok(statement.query_row([signed(number)], |row| chain::from_row(row, 0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(left_out: &[(u64, u8)]) -> Links {
        Links {
            left_out: left_out.iter().map(|(n, byte)| (*n, [*byte; 32])).collect(),
            is_bundle: !left_out.is_empty(),
            last: (0, BEFORE_ALL),
        }
    }

    fn entry(number: u64, byte: u8) -> SealRow {
        SealRow {
            number,
            at: 0,
            digest: [0; 32],
            hash: [byte; 32],
            run_id: None,
            removes: None,
            reason: None,
        }
    }

    #[test]
    fn an_entry_follows_another_or_what_stands_for_it() {
        let mut whole = links(&[]);
        assert_eq!(whole.before(1), Before::Hash(BEFORE_ALL));
        whole.pass(&entry(1, 1));
        assert_eq!(whole.before(2), Before::Hash([1; 32]));
        assert_eq!(whole.before(3), Before::Missing(2));
        assert_eq!(whole.before(1), Before::Missing(2));

        let mut bundle = links(&[(5, 4), (9, 8), (10, 9)]);
        assert_eq!(bundle.before(4), Before::Missing(1));
        assert_eq!(bundle.before(5), Before::Hash([4; 32]));
        bundle.pass(&entry(5, 5));
        assert_eq!(bundle.before(6), Before::Hash([5; 32]));
        assert_eq!(bundle.before(9), Before::Hash([8; 32]));
        bundle.pass(&entry(9, 99));
        assert_eq!(bundle.unused(), Some(10));
        assert_eq!(bundle.before(10), Before::Torn);
        assert_eq!(bundle.unused(), None);

        let mut forged = links(&[(1, 7)]);
        assert_eq!(forged.before(1), Before::Torn);
    }
}
