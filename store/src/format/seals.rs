//! Seals: the entries of the chains that prove that nothing was changed.
//!
//! A seal covers a root run and its children: the last hash and count of each, the hashes of the
//! tape's blocks, what the writer knew before, and how the process ended. Entries form chains; removing
//! a run adds an entry that says so, and the seal stays behind as a tombstone.

use runtape_core::report::{Removal, RemovalReason, RunSeal, SealHead, SealName};
use runtape_core::{JobId, RunId, Runtime};

use super::chain::{self, Hash};

/// An entry of a chain.
#[derive(Clone, Debug)]
pub(crate) struct SealEntry {
    pub(crate) name: SealName,
    pub(crate) at: i64,
    /// What the entry covers, as a hash.
    pub(crate) digest: Hash,
    /// Covers the digest and the entry before.
    pub(crate) hash: Hash,
    /// The run: kept here only once it is no longer found by its seal.
    pub(crate) run_id: Option<String>,
    /// For an entry that says so: the seal of the same chain that was removed, and why.
    pub(crate) removes: Option<u64>,
    pub(crate) reason: Option<String>,
}

/// The hash before the first entry of a chain.
pub(crate) const BEFORE_ALL: Hash = [0; 32];

impl SealEntry {
    /// Returns the hash that the entry should have.
    pub(crate) fn expected_hash(&self, before: &Hash, run_id: &str) -> Hash {
        let reason = self.reason.as_deref().unwrap_or_default();
        let SealName { chain, number } = self.name;
        let (chain, number) = (chain.to_le_bytes(), number.to_le_bytes());
        let at = self.at.to_le_bytes();
        let removes = self.removes.unwrap_or_default().to_le_bytes();
        let mut pieces: Vec<&[u8]> = vec![
            before,
            &number,
            &at,
            run_id.as_bytes(),
            &self.digest,
            &removes,
            reason.as_bytes(),
        ];
        // An entry of one chain is none of another. The first was the only one for a long time, and
        // its hashes do not say so.
        if self.name.chain > 0 {
            pieces.push(&chain);
        }
        chain::keyed("runtape seal chain", &pieces)
    }

    /// Makes the seal of a root run; its name and hash are those of its place in a chain.
    pub(crate) fn seal(digest: Hash, at: i64) -> Self {
        Self {
            name: SealName::in_first_chain(0),
            at,
            digest,
            hash: BEFORE_ALL,
            run_id: None,
            removes: None,
            reason: None,
        }
    }

    /// Makes the entry that says that the seal of a root run was removed.
    pub(crate) fn removal_of(
        run: &RunId,
        job: &JobId,
        seal: SealName,
        reason: RemovalReason,
        at: i64,
    ) -> Self {
        Self {
            name: seal,
            at,
            digest: chain::keyed("runtape removal", &[job.as_str().as_bytes()]),
            hash: BEFORE_ALL,
            run_id: Some(run.to_string()),
            removes: Some(seal.number),
            reason: Some(match reason {
                RemovalReason::Other(name) => name.into(),
                known => known.as_str().to_owned(),
            }),
        }
    }

    /// Gives the entry its place after the end of a chain.
    pub(crate) fn follow(&mut self, chain: u32, end: Option<(u64, Hash)>, run: &RunId) {
        let (last, before) = end.unwrap_or((0, BEFORE_ALL));
        self.name = SealName {
            chain,
            number: last + 1,
        };
        self.hash = self.expected_hash(&before, run.as_str());
    }

    /// Tells a seal as it is compared elsewhere.
    pub(crate) fn of_run(&self, run: &RunId) -> RunSeal {
        RunSeal {
            run_id: run.clone(),
            name: self.name,
            hash: chain::hex(&self.hash),
            at: self.at,
        }
    }

    /// Tells an entry without what it covers.
    pub(crate) fn head(&self) -> SealHead {
        SealHead {
            name: self.name,
            hash: chain::hex(&self.hash),
            is_epoch: false,
        }
    }

    /// Returns what the entry says was removed.
    pub(crate) fn removal(&self) -> Option<Removal> {
        Some(Removal {
            run_id: RunId::parse(self.run_id.as_deref()?).ok()?,
            seal: self.removes?,
            seal_chain: self.name.chain,
            reason: RemovalReason::from_name(self.reason.as_deref()?),
            at: self.at,
        })
    }
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
