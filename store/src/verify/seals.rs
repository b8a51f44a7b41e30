//! The chain of seals, and what each of them covers.

use runtape_core::RunId;
use runtape_core::report::FaultPlace;

use crate::chain::{self, Hash};
use crate::error::Result;
use crate::place::{signed, unsigned};
use crate::runs::{self, RunRow};
use crate::seals::{self, SealRow};

use super::Verifier;

impl Verifier<'_> {
    /// Notes the seal of a root run.
    pub(super) fn seal_of(&mut self, root: &RunRow) {
        let run_id = root.id.clone();
        let Some(seal) = root.seal else {
            self.report.open_runs += 1;
            if root.exit.is_some() {
                let fault = "it has ended, but no seal covers it";
                self.fault(FaultPlace::Run { run_id }, fault);
            }
            return;
        };
        if self.sealed.insert(unsigned(seal), root.key).is_some() {
            let fault = format!("seal {seal} is not its own");
            self.fault(FaultPlace::Run { run_id }, fault);
        }
    }

    /// Follows the chain of seals, and compares each with what it covers.
    pub(super) fn seals(&mut self) -> Result<()> {
        let connection = self.connection;
        let mut statement = connection.prepare(&seals::select("ORDER BY number"))?;
        let mut rows = statement.query([])?;
        let mut before = seals::BEFORE_ALL;
        let mut expected = 1;
        while let Some(row) = rows.next()? {
            let seal = seals::from_row(row)?;
            if seal.number != expected {
                self.fault(FaultPlace::Seal { number: expected }, "missing");
                return Ok(());
            }
            if !self.seal(&seal, &before)? {
                return Ok(());
            }
            before = seal.hash;
            expected += 1;
        }
        self.unfounded(expected)
    }

    /// Verifies an entry; tells whether those after it can be.
    fn seal(&mut self, seal: &SealRow, before: &Hash) -> Result<bool> {
        let at = FaultPlace::Seal {
            number: seal.number,
        };
        let covered = match (seal.removes, self.sealed.remove(&seal.number)) {
            (None, Some(key)) => runs::by_key(self.connection, key)?,
            (Some(_), Some(_)) => {
                self.fault(at, "a run has it, but it says that one was removed");
                return Ok(false);
            }
            (_, None) => None,
        };
        let run_id = match (&covered, &seal.run_id) {
            (Some(root), None) => root.id.to_string(),
            (None, Some(run_id)) => run_id.clone(),
            (Some(root), Some(_)) => {
                self.fault(at, format!("removed, but run {} still has it", root.id));
                return Ok(false);
            }
            (None, None) => {
                self.fault(at, "the run it covers is missing");
                return Ok(false);
            }
        };
        // The hash cannot tell nothing from zero, or from an empty text.
        let is_told = match (seal.removes, seal.reason.as_deref()) {
            (None, None) => true,
            (Some(removed), Some(reason)) => removed > 0 && !reason.is_empty(),
            _ => false,
        };
        if !is_told || seal.hash != seal.expected_hash(before, &run_id) {
            self.fault(at, "changed: its hash does not fit the one before");
            return Ok(false);
        }
        if let Some(root) = covered {
            let tree = runs::tree(self.connection, root.key)?;
            self.seal_covers(&root, &tree)?;
        } else if let Some(removed) = seal.removes {
            if !self.is_tombstone(seal.number, removed, &run_id)? {
                self.fault(at, format!("seal {removed} is not one of run {run_id}"));
            }
        } else if !self.is_removed(seal.number)? {
            self.fault(at, format!("run {run_id} was removed without a word"));
        }
        Ok(true)
    }

    /// Tells whether a later entry says that a seal was removed.
    fn is_removed(&self, number: u64) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM seal WHERE removes = ?1 AND number > ?1")?
            .exists([signed(number)])?)
    }

    /// Tells whether the seal that an entry says was removed came before it and is a tombstone of
    /// the same run.
    fn is_tombstone(&self, number: u64, removed: u64, run_id: &str) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM seal
                 WHERE number = ?1 AND number < ?2 AND run_id = ?3 AND removes IS NULL",
            )?
            .exists(rusqlite::params![signed(removed), signed(number), run_id])?)
    }

    /// Compares the seal of a tree with what it covers, if there is one.
    pub(super) fn seal_covers(&mut self, root: &RunRow, tree: &[RunRow]) -> Result<()> {
        let Some(number) = root.seal else {
            return Ok(());
        };
        let at = FaultPlace::Seal {
            number: unsigned(number),
        };
        let digest = seals::digest(self.connection, tree);
        let Some(digest) = self.read(at.clone(), digest)? else {
            return Ok(());
        };
        if !seals::has_digest(self.connection, number, &digest)? {
            self.fault(at, format!("run {} is not as it was sealed", root.id));
        }
        Ok(())
    }

    /// Names runs whose seal is not in the chain, which ends before a number.
    fn unfounded(&mut self, end: u64) -> Result<()> {
        let mut left: Vec<(u64, i64)> = self.sealed.drain().collect();
        left.sort_unstable();
        for (number, key) in left {
            let Some(row) = runs::by_key(self.connection, key)? else {
                continue;
            };
            let fault = if number < end {
                format!("seal {number} is not its own")
            } else {
                format!("its seal {number} is missing")
            };
            self.fault(FaultPlace::Run { run_id: row.id }, fault);
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT id, seal FROM run WHERE root IS NOT NULL AND seal IS NOT NULL ORDER BY key",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok(run_id) = RunId::parse(row.get::<_, String>(0)?) {
                let fault = format!("seal {} is not its own", row.get::<_, i64>(1)?);
                self.fault(FaultPlace::Run { run_id }, fault);
            }
        }
        Ok(())
    }

    /// Looks for a head that was kept elsewhere.
    pub(super) fn head(&mut self, head: &Hash) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT 1 FROM seal WHERE hash = ?1")?;
        if !statement.exists([head])? {
            let head = chain::hex(head);
            let fault = format!("no seal has the hash {head}: what it covered was changed");
            self.fault(FaultPlace::File, fault);
        }
        Ok(())
    }
}
