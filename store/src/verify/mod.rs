//! Proving that nothing was changed, or naming what was.
//!
//! What is checked may be made to harm the one who checks it: nothing here takes more stack than a
//! record may nest, holds more than a block and a few bytes for each run, or takes more than
//! linear time.

mod file;
mod index;
mod rows;
mod run;
mod seals;
mod tape;
mod terms;

use std::collections::{HashMap, HashSet};

use runtape_core::report::{FaultPlace, RemovalReason, Unseen, VerifyFault, VerifyReport};
use runtape_core::{Record, RunId};
use rusqlite::Connection;

use crate::chain::{Hash, TapeRule};
use crate::error::{Result, StoreError};
use crate::links;
use crate::migrate;
use crate::runs::{self, RunRow};
use crate::store::Store;
use crate::stream_lengths::StreamLengths;
use crate::words::{self, Words};

use self::terms::Terms;

/// Gathers faults.
pub(crate) struct Verifier<'a> {
    connection: &'a Connection,
    report: VerifyReport,
    /// The schema.
    version: i64,
    /// What the hashes of tape blocks cover.
    rule: TapeRule,
    /// How far into each stream the records of the tree reach.
    reach: StreamLengths,
    /// Runs whose tape was dropped, and said to be.
    dropped: HashSet<RunId>,
    /// Root runs by their seals.
    sealed: HashMap<u64, i64>,
    /// Whether entries of the chain may have been left out.
    may_be_bundle: bool,
    words: KnownWords,
    terms: Terms,
}

/// Keys of words that were looked up before.
#[derive(Debug, Default)]
struct KnownWords(HashMap<Box<str>, Option<i64>>);

impl KnownWords {
    /// Returns the key of a word, if it is there.
    fn key(&mut self, connection: &Connection, text: &str) -> Result<Option<i64>> {
        if let Some(key) = self.0.get(text) {
            return Ok(*key);
        }
        let key = words::find(connection, text)?;
        if self.0.len() >= Words::MOST {
            self.0.clear();
        }
        self.0.insert(text.into(), key);
        Ok(key)
    }
}

/// What the rows of the schema's version cover with hashes.
fn rule_of(version: i64) -> TapeRule {
    if version < migrate::TIMES_IN_CHAIN {
        TapeRule::Distances
    } else {
        TapeRule::Times
    }
}

/// Verifies a database through any connection to it, up to the head of the seals, or against one
/// that was kept elsewhere. The caller sees to it that the database stays as it is meanwhile.
pub(crate) fn verify(connection: &Connection, head: Option<&Hash>) -> Result<VerifyReport> {
    let mut verifier = Verifier::new(connection)?;
    verifier.verify(head)?;
    Ok(verifier.report)
}

/// Verifies a bundle, which has only some entries of the chain, or a whole database.
pub(crate) fn bundle(connection: &Connection, head: Option<&Hash>) -> Result<VerifyReport> {
    let mut verifier = Verifier::new(connection)?;
    verifier.may_be_bundle = true;
    verifier.verify(None)?;
    if verifier.report.bundle.is_some() {
        // That there are more runs than these is what a bundle says of itself.
        verifier.report.unseen = vec![Unseen::NewHashes];
    }
    if let Some(head) = head {
        verifier.report.unseen.clear();
        let uncovered = links::uncovered(connection, head)?;
        verifier.report.faults.extend(uncovered);
    }
    Ok(verifier.report)
}

/// Tells whether a tree of runs is as its records say, with all that follows from them; the chain
/// is left aside, but for that a tape was dropped.
pub(crate) fn is_tree_intact(
    connection: &Connection,
    root: &RunRow,
    tapeless: bool,
) -> Result<bool> {
    let mut verifier = Verifier::new(connection)?;
    verifier.dropped.extend(tapeless.then(|| root.id.clone()));
    verifier.tree(root.key, root.id.as_str())?;
    Ok(verifier.report.is_intact())
}

/// Tells whether the records, the tape and the seal of a tree, the root first, are as they were
/// written by a rule.
pub(crate) fn is_intact(connection: &Connection, tree: &[RunRow], rule: TapeRule) -> Result<bool> {
    let mut verifier = Verifier::new(connection)?;
    verifier.rule = rule;
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
        self.read(|connection| verify(connection, None))
    }

    /// Does what [`verify`](Self::verify) does, and proves that nothing sealed before `head` was
    /// changed since: `head`, 64 hexadecimal digits, must be in the chain.
    pub fn verify_head(&self, head: &str) -> Result<VerifyReport> {
        let head = hash(head)?;
        self.read(|connection| verify(connection, Some(&head)))
    }
}

impl Store {
    /// Does what [`verify`](Self::verify) does for a bundle, which has only some entries of the
    /// chain of seals. It proves that each run is as its seal says; whether the seal is the one
    /// that was made is known only by a hash that was kept elsewhere: with `head`, each run must
    /// be covered by it.
    pub fn verify_bundle(&self, head: Option<&str>) -> Result<VerifyReport> {
        let head = head.map(hash).transpose()?;
        self.read(|connection| bundle(connection, head.as_ref()))
    }
}

/// Reads a hash that was kept elsewhere.
fn hash(head: &str) -> Result<Hash> {
    let hash = blake3::Hash::from_hex(head.trim()).map_err(|_| StoreError::BadHead {
        head: head.to_owned(),
    })?;
    Ok(*hash.as_bytes())
}

impl<'a> Verifier<'a> {
    fn new(connection: &'a Connection) -> Result<Self> {
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(Self {
            connection,
            report: VerifyReport::default(),
            version,
            rule: rule_of(version),
            reach: StreamLengths::default(),
            dropped: HashSet::new(),
            sealed: HashMap::new(),
            may_be_bundle: false,
            words: KnownWords::default(),
            terms: Terms::default(),
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
            self.report.unseen = vec![Unseen::CutOffTail, Unseen::NewHashes];
        }
        if !self.file()? {
            return Ok(());
        }
        self.report.removals = crate::seals::removals(self.connection)?;
        let removals = self.report.removals.iter();
        let dropped = removals.filter(|removal| removal.reason == RemovalReason::TapeDropped);
        self.dropped = dropped.map(|removal| removal.run_id.clone()).collect();
        self.strays()?;
        self.keys()?;
        let mut statement = self
            .connection
            .prepare("SELECT key, id FROM run WHERE root IS NULL ORDER BY key")?;
        let mut roots = statement.query([])?;
        while let Some(row) = roots.next()? {
            self.tree(row.get(0)?, &row.get::<_, String>(1)?)?;
        }
        self.index()?;
        self.seals()?;
        self.report.head = crate::seals::head(self.connection)?;
        if let Some(head) = head {
            self.head(head)?;
        }
        Ok(())
    }

    /// Verifies a root run with its children and its tape.
    fn tree(&mut self, root: i64, id: &str) -> Result<()> {
        let Ok(run_id) = RunId::parse(id) else {
            self.fault(FaultPlace::File, format!("a run has the id {id:?}"));
            return Ok(());
        };
        let tree = runs::tree(self.connection, root);
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
