//! The chains of seals, and what each entry covers.

use runtape_core::report::{FaultPlace, RunSeal, SealName};

use super::{UNSEEN_WITHOUT_HEAD, Verifier};
use crate::backend::{RunKey, RunRow, Tables};
use crate::error::Result;
use crate::format::chain::{self, Hash};
use crate::format::epochs::Epoch;
use crate::format::links::{HashBefore, Links};
use crate::format::seals::SealEntry;
use crate::read::sealed;

/// Returns the seals of the runs of a bundle in order.
pub(super) fn seals_of_runs(tables: &dyn Tables) -> Result<Vec<RunSeal>> {
    let mut found = Vec::new();
    for run in tables.sealed_roots()? {
        if let Some(name) = run.seal {
            let seal = tables.seal(name)?;
            found.extend(seal.map(|seal| seal.of_run(&run.id)));
        }
    }
    Ok(found)
}

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
        if self.sealed.insert(seal, root.key.clone()).is_some() {
            let fault = format!("seal {seal} is not its own");
            self.fault(FaultPlace::Run { run_id }, fault);
        }
    }

    /// Follows each chain of seals as far as it can be followed, and compares each seal with what it
    /// covers. Returns how far that was.
    pub(super) fn seals(&mut self) -> Result<Links> {
        let tables = self.tables;
        let mut links = Links::new(tables.left_out()?);
        if links.is_bundle() {
            if !self.may_be_bundle {
                let fault = "it is a bundle and no whole database: verify it with --bundle";
                self.fault(FaultPlace::File, fault);
            }
            self.report.bundle = Some(seals_of_runs(tables)?);
        }
        tables.each_seal(&mut |seal| {
            let chain = seal.name.chain;
            if !links.is_broken(chain) && !self.follow(&mut links, &seal)? {
                links.give_up(chain);
            }
            Ok(true)
        })?;
        self.unmet_ends(&links);
        for name in links.unused() {
            self.fault(FaultPlace::Seal(name), "missing");
        }
        self.unfounded(&links)?;
        Ok(links)
    }

    /// Takes the next entry of its chain; tells whether those after it can be verified.
    fn follow(&mut self, links: &mut Links, seal: &SealEntry) -> Result<bool> {
        let before = match links.before(seal.name) {
            HashBefore::Hash(before) => before,
            HashBefore::Missing(name) => {
                self.fault(FaultPlace::Seal(name), "missing");
                return Ok(false);
            }
            HashBefore::Torn => {
                let fault = "changed: two hashes stand before it";
                self.fault(FaultPlace::Seal(seal.name), fault);
                return Ok(false);
            }
        };
        let is_right = self.seal(seal, &before)?;
        if is_right
            && self
                .ends
                .remove(&seal.name)
                .is_some_and(|hash| hash != seal.hash)
        {
            let fault = "changed: an epoch has another hash of it";
            self.fault(FaultPlace::Seal(seal.name), fault);
            return Ok(false);
        }
        if is_right {
            links.pass(seal);
        }
        Ok(is_right)
    }

    /// Verifies an entry; tells whether those after it can be.
    fn seal(&mut self, seal: &SealEntry, before: &Hash) -> Result<bool> {
        let at = FaultPlace::Seal(seal.name);
        let covered = match (seal.removes, self.sealed.remove(&seal.name)) {
            (None, Some(key)) => self.tables.run_at(&key)?,
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
            let tree = self.tables.tree(&root.key)?;
            self.seal_covers(&root, &tree)?;
        } else if let Some(removed) = seal.removes {
            let removed = SealName {
                number: removed,
                ..seal.name
            };
            if !self.is_tombstone(seal.name, removed, &run_id)? {
                self.fault(at, format!("seal {removed} is not one of run {run_id}"));
            }
        } else if !self.tables.is_removed(seal.name)? {
            self.fault(at, format!("run {run_id} was removed without a word"));
        }
        Ok(true)
    }

    /// Tells whether the seal that an entry says was removed came before it and is a tombstone of
    /// the same run.
    fn is_tombstone(&self, seal: SealName, removed: SealName, run_id: &str) -> Result<bool> {
        let removed = self.tables.seal(removed)?;
        Ok(removed.is_some_and(|removed| {
            removed.name < seal
                && removed.run_id.as_deref() == Some(run_id)
                && removed.removes.is_none()
        }))
    }

    /// Compares the seal of a tree with what it covers, if there is one.
    pub(super) fn seal_covers(&mut self, root: &RunRow, tree: &[RunRow]) -> Result<()> {
        let Some(name) = root.seal else {
            return Ok(());
        };
        let digest = sealed::digest(self.tables, tree);
        let Some(digest) = self.read(FaultPlace::Seal(name), digest)? else {
            return Ok(());
        };
        if !sealed::has_digest(self.tables, name, &digest)? {
            let fault = format!("run {} is not as it was sealed", root.id);
            self.fault(FaultPlace::Seal(name), fault);
        }
        Ok(())
    }

    /// Names runs whose seal is not in its chain, as far as chains could be followed to their end.
    fn unfounded(&mut self, links: &Links) -> Result<()> {
        let mut left: Vec<(SealName, RunKey)> = self.sealed.drain().collect();
        left.sort_unstable_by_key(|(seal, key)| (*seal, key.number));
        left.retain(|(seal, _)| !links.is_broken(seal.chain));
        for (seal, key) in left {
            let Some(row) = self.tables.run_at(&key)? else {
                continue;
            };
            let fault = if links.is_passed(seal) {
                format!("seal {seal} is not its own")
            } else {
                format!("its seal {seal} is missing")
            };
            self.fault(FaultPlace::Run { run_id: row.id }, fault);
        }
        for (run_id, seal) in self.tables.children_with_seals()? {
            let fault = format!("seal {seal} is not its own");
            self.fault(FaultPlace::Run { run_id }, fault);
        }
        Ok(())
    }

    /// Follows the epochs, and notes which entries they say there are.
    pub(super) fn epochs(&mut self) -> Result<()> {
        let tables = self.tables;
        let mut last: Option<Epoch> = None;
        let mut is_broken = false;
        tables.each_epoch(&mut |epoch| {
            if is_broken {
                return Ok(());
            }
            if let Some(fault) = epoch.fault_after(last.as_ref()) {
                let fault = format!("epoch {}: {fault}", epoch.number);
                self.fault(FaultPlace::File, fault);
                is_broken = true;
                return Ok(());
            }
            let known = last.as_ref().map_or(&[][..], |last| &last.ends);
            for (chain, end) in (0_u32..).zip(&epoch.ends) {
                let at = usize::try_from(chain).unwrap_or(usize::MAX);
                if end.number > 0 && known.get(at) != Some(end) {
                    let name = SealName {
                        chain,
                        number: end.number,
                    };
                    self.ends.insert(name, end.hash);
                }
            }
            last = Some(epoch);
            Ok(())
        })
    }

    /// Names entries that epochs say there are, in chains that were followed to their end.
    fn unmet_ends(&mut self, links: &Links) {
        let mut unmet: Vec<SealName> = self.ends.drain().map(|(name, _)| name).collect();
        unmet.retain(|name| !links.is_broken(name.chain));
        unmet.sort_unstable();
        for name in unmet {
            self.fault(FaultPlace::Seal(name), "missing: an epoch names it");
        }
    }

    /// Looks for a head that was kept elsewhere. A seal says nothing of chains other than its own.
    pub(super) fn head(&mut self, head: &Hash, links: &Links) -> Result<()> {
        if self.tables.epoch_with_hash(head)?.is_some() {
            // Every epoch was followed, and each end that one names was found.
            return Ok(());
        }
        if let Some(name) = self.tables.seal_with_hash(head)? {
            if links.has_others_than(name.chain) {
                self.report.unseen = UNSEEN_WITHOUT_HEAD.to_vec();
            }
        } else {
            let head = chain::hex(head);
            let fault = format!("no seal has the hash {head}: what it covered was changed");
            self.fault(FaultPlace::File, fault);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use runtape_core::report::RemovalReason;
    use runtape_core::{JobId, RunId, Runtime};

    use super::*;
    use crate::store::Store;
    use crate::write::sealing;

    /// Returns how long it takes to verify a chain in which as many seals were removed.
    fn time(removals: usize) -> Duration {
        let mut store = Store::open_in_memory().unwrap();
        store
            .write(|tables| {
                for number in 0..removals {
                    let id = RunId::parse(format!("run-{number}")).unwrap();
                    let seal = sealing::append_seal(tables, [7; 32], &id, 1)?;
                    let root = RunRow {
                        key: RunKey {
                            root: id.clone(),
                            number: -1,
                        },
                        id,
                        root: None,
                        job: JobId::parse("job").unwrap(),
                        runtime: Runtime::Hermes,
                        records: 0,
                        seal: Some(seal),
                        context: None,
                        exit: None,
                        started_at: 0,
                    };
                    sealing::remove(tables, &root, RemovalReason::Deleted, 2)?;
                }
                Ok(())
            })
            .unwrap();
        let begin = Instant::now();
        let report = store.verify().unwrap();
        assert_eq!((report.faults.len(), report.removals.len()), (0, removals));
        begin.elapsed()
    }

    #[test]
    fn verifying_takes_twice_as_long_for_twice_the_removals() {
        let best = |removals| (0..3).map(|_| time(removals)).min().unwrap();
        let (once, twice) = (best(2000), best(4000));
        assert!(twice < once * 3, "{once:?}, then {twice:?}");
    }
}
