//! Proving that nothing was changed, or naming what was.
//!
//! What is checked may be made to harm the one who checks it: nothing here takes more stack than a
//! record may nest, holds more than a block and a few bytes for each run, or takes more than
//! linear time.

mod rows;
mod run;
mod seals;
mod tape;
mod times;
mod usage;

use std::collections::{HashMap, HashSet};

use runtape_core::report::{
    FaultPlace, RemovalReason, SealHead, SealName, Unseen, VerifyFault, VerifyReport,
};
use runtape_core::{Record, RunId};

use crate::backend::{Rules, RunKey, RunRow, SearchCheck, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::{self, Hash, TapeRule};
use crate::format::links::Links;
use crate::format::streams::StreamLengths;
use crate::read::runs::get_root;
use crate::store::Store;

use self::times::TreeTimes;

/// What cannot be seen in a chain without a head of it that was kept elsewhere.
const UNSEEN_WITHOUT_HEAD: [Unseen; 2] = [Unseen::CutOffTail, Unseen::NewHashes];

/// Gathers faults.
struct Verifier<'a> {
    tables: &'a dyn Tables,
    report: VerifyReport,
    rules: Rules,
    /// How far into each stream the records of the tree reach.
    reach: StreamLengths,
    tree_times: TreeTimes,
    /// Runs whose tape was dropped, and said to be.
    dropped: HashSet<RunId>,
    /// Root runs by their seals.
    sealed: HashMap<SealName, RunKey>,
    /// Ends of chains that epochs name, and were not come by yet.
    ends: HashMap<SealName, Hash>,
    /// Whether entries of the chains may have been left out.
    may_be_bundle: bool,
    search: Box<dyn SearchCheck + 'a>,
}

/// Verifies a database up to the head of the seals, or against one that was kept elsewhere. The caller
/// sees to it that the database stays as it is meanwhile.
fn verify(tables: &dyn Tables, head: Option<&Hash>) -> Result<VerifyReport> {
    let mut verifier = Verifier::new(tables)?;
    verifier.verify(head)?;
    Ok(verifier.report)
}

/// Verifies a bundle, which has only some entries of the chains, or a whole database.
pub(crate) fn bundle(tables: &dyn Tables, head: Option<&Hash>) -> Result<VerifyReport> {
    let mut verifier = Verifier::new(tables)?;
    verifier.may_be_bundle = true;
    verifier.verify(None)?;
    if verifier.report.bundle.is_some() {
        // That there are more runs than these is what a bundle says of itself.
        verifier.report.unseen = vec![Unseen::NewHashes];
    }
    if let Some(head) = head {
        verifier.report.unseen.clear();
        let uncovered = uncovered(tables, head)?;
        verifier.report.faults.extend(uncovered);
    }
    Ok(verifier.report)
}

/// Returns a fault for each run of a bundle that a hash kept elsewhere does not cover: a seal
/// covers what comes before it, as far as nothing in between was left out.
fn uncovered(tables: &dyn Tables, head: &Hash) -> Result<Vec<VerifyFault>> {
    let links = Links::new(tables.left_out()?);
    let fault = |place, fault: &str| VerifyFault {
        place,
        fault: format!("{fault} {}", chain::hex(head)),
    };
    let Some(last) = tables.seal_with_hash(head)? else {
        return Ok(vec![fault(FaultPlace::File, "no seal has the hash")]);
    };
    let covered = links.covered_from(last)..=last;
    let runs = seals::seals_of_runs(tables)?;
    let outside = runs
        .into_iter()
        .filter(|run| links.is_bundle() && !covered.contains(&run.name));
    let faults = outside.map(|run| {
        let run_id = run.run_id;
        fault(FaultPlace::Run { run_id }, "its seal is not covered by")
    });
    Ok(faults.collect())
}

/// Tells whether a tree of runs is as its records say, with all that follows from them. The chains of
/// seals are not read: the caller knows from them whether the tape was dropped (`tapeless`).
pub(crate) fn is_tree_intact(tables: &dyn Tables, root: &RunRow, tapeless: bool) -> Result<bool> {
    let mut verifier = Verifier::new(tables)?;
    verifier.dropped.extend(tapeless.then(|| root.id.clone()));
    verifier.tree(&root.key, root.id.as_str())?;
    Ok(verifier.report.is_intact())
}

/// Tells whether the records, the tape and the seal of a tree, the root first, are as they were
/// written by a rule.
pub(crate) fn is_intact(tables: &dyn Tables, tree: &[RunRow], rule: TapeRule) -> Result<bool> {
    let mut verifier = Verifier::new(tables)?;
    verifier.rules.tape = rule;
    verifier.covered(tree)?;
    Ok(verifier.report.is_intact())
}

impl Store {
    /// Computes everything anew from the tape and the records up to the head of the seals, and
    /// compares.
    ///
    /// Someone who computes all hashes anew, or cuts off the last seals with their runs, is found
    /// only against a head that was kept elsewhere: see [`verify_head`](Self::verify_head).
    pub fn verify(&self) -> Result<VerifyReport> {
        self.make_epoch()?;
        self.read(|tables| verify(tables, None))
    }

    /// Does what [`verify`](Self::verify) does for some root runs with their children: their records, their tapes, what
    /// follows from them, and whether each is what its seal covers. The chains of seals are not followed.
    pub fn verify_runs(&self, roots: &[RunId]) -> Result<VerifyReport> {
        self.read(|tables| {
            let mut verifier = Verifier::new(tables)?;
            verifier.report.unseen = UNSEEN_WITHOUT_HEAD.to_vec();
            for removal in tables.removals()? {
                if removal.reason == RemovalReason::TapeDropped {
                    verifier.dropped.insert(removal.run_id);
                }
            }
            for root in roots {
                let row = get_root(tables, root)?;
                verifier.tree(&row.key, row.id.as_str())?;
                let tree = tables.tree(&row.key)?;
                if row.seal.is_some() {
                    verifier.seal_covers(&row, &tree)?;
                }
            }
            Ok(verifier.report)
        })
    }

    /// Does what [`verify`](Self::verify) does, and proves that nothing sealed before `head` was
    /// changed since: `head`, 64 hexadecimal digits, must be the hash of a seal, or of an epoch. A seal
    /// stands for its chain; where there are others, the report says what is unseen in them. An epoch stands for all
    /// chains, as far as they went then.
    pub fn verify_head(&self, head: &str) -> Result<VerifyReport> {
        let head = hash(head)?;
        self.make_epoch()?;
        self.read(|tables| verify(tables, Some(&head)))
    }
}

impl Store {
    /// Does what [`verify`](Self::verify) does for a bundle, which has only some entries of the
    /// chains of seals. It proves that each run is as its seal says; whether the seal is the one
    /// that was made is known only by a hash that was kept elsewhere: with `head`, each run must
    /// be covered by it.
    pub fn verify_bundle(&self, head: Option<&str>) -> Result<VerifyReport> {
        let head = head.map(hash).transpose()?;
        self.read(|tables| bundle(tables, head.as_ref()))
    }
}

/// Reads a hash that was kept elsewhere.
fn hash(head: &str) -> Result<Hash> {
    let hash = blake3::Hash::from_hex(head.trim()).map_err(|_| StoreError::BadHead {
        head: head.to_owned(),
    })?;
    Ok(*hash.as_bytes())
}

/// Returns the end of the chain of seals, or the last epoch over several; if there is any.
pub(crate) fn head(tables: &dyn Tables) -> Result<Option<SealHead>> {
    if tables.has_epochs() {
        return Ok(tables.last_epoch()?.map(|last| last.head()));
    }
    Ok(tables.last_seal()?.map(|last| last.head()))
}

impl<'a> Verifier<'a> {
    fn new(tables: &'a dyn Tables) -> Result<Self> {
        Ok(Self {
            tables,
            report: VerifyReport::default(),
            rules: tables.rules()?,
            reach: StreamLengths::default(),
            tree_times: TreeTimes::default(),
            dropped: HashSet::new(),
            sealed: HashMap::new(),
            ends: HashMap::new(),
            may_be_bundle: false,
            search: tables.search_check()?,
        })
    }

    fn fault(&mut self, place: FaultPlace, fault: impl Into<String>) {
        let fault = fault.into();
        self.report.faults.push(VerifyFault { place, fault });
    }

    /// Turns what cannot be read into a fault; passes on what has nothing to do with the data.
    fn read<T>(&mut self, place: FaultPlace, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Damaged { fault, .. }) => {
                self.fault(place, fault);
                Ok(None)
            }
            Err(StoreError::Database { source, .. }) => {
                self.fault(place, format!("cannot be read: {source}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn verify(&mut self, head: Option<&Hash>) -> Result<()> {
        if head.is_none() {
            self.report.unseen = UNSEEN_WITHOUT_HEAD.to_vec();
        }
        if !self.structure()? {
            return Ok(());
        }
        self.report.removals = self.tables.removals()?;
        let removals = self.report.removals.iter();
        let dropped = removals.filter(|removal| removal.reason == RemovalReason::TapeDropped);
        self.dropped = dropped.map(|removal| removal.run_id.clone()).collect();
        for fault in self.tables.stray_rows()? {
            self.fault(FaultPlace::File, fault);
        }
        let tables = self.tables;
        tables.each_root(&mut |root, id| self.tree(root, id))?;
        self.kept_usage()?;
        self.index()?;
        self.epochs()?;
        let links = self.seals()?;
        self.report.head = self::head(self.tables)?;
        if let Some(head) = head {
            self.head(head, &links)?;
        }
        Ok(())
    }

    /// Checks the database's own structure: on a broken one nothing further can be said.
    fn structure(&mut self) -> Result<bool> {
        let faults = self.tables.structure_faults();
        let Some(faults) = self.read(FaultPlace::File, faults)? else {
            return Ok(false);
        };
        for fault in faults {
            self.fault(FaultPlace::File, fault);
        }
        Ok(self.report.is_intact())
    }

    /// Compares the search index with what the records say, if all of them could be read.
    fn index(&mut self) -> Result<()> {
        if !self.report.is_intact() {
            return Ok(());
        }
        let compared = self.search.finish();
        let Some(wrong) = self.read(FaultPlace::File, compared)? else {
            return Ok(());
        };
        for (run, fault) in wrong {
            let place = run.map_or(FaultPlace::File, |run_id| FaultPlace::Run { run_id });
            self.fault(place, fault);
        }
        Ok(())
    }

    /// Verifies a root run with its children and its tape.
    fn tree(&mut self, root: &RunKey, id: &str) -> Result<()> {
        let Ok(run_id) = RunId::parse(id) else {
            self.fault(FaultPlace::File, format!("a run has the id {id:?}"));
            return Ok(());
        };
        let tree = self.tables.tree(root);
        let Some(tree) = self.read(FaultPlace::Run { run_id }, tree)? else {
            return Ok(());
        };
        self.reach = StreamLengths::default();
        for run in &tree {
            self.run(run, &tree)?;
        }
        if let Some(root) = tree.first() {
            self.tape(root)?;
            self.seal_of(root);
        }
        Ok(())
    }

    /// Verifies what a seal covers, and no row that follows from it.
    fn covered(&mut self, tree: &[RunRow]) -> Result<()> {
        for run in tree {
            self.chain(run, |_: &mut Self, _: &Record| Ok(()))?;
        }
        if let Some(root) = tree.first() {
            self.tape(root)?;
            self.seal_covers(root, tree)?;
        }
        Ok(())
    }
}
