//! One run's records on their way into the database: checked, hashed, compressed.
//!
//! Nothing here needs the database, so it can be done beside it.

use runtape_core::{JobId, Record, RecordKind, RunId};

use super::facts::{Fact, FactFolder};
use crate::error::{Result, StoreError};
use crate::format::chain::{self, Hash};
use crate::format::records::{PendingBlock, PlainBlock, RecordBlock};

/// How far a run has been written, and what is about to be.
#[derive(Debug)]
pub(crate) struct RunWriter {
    pub(crate) folder: FactFolder,
    hash: Hash,
    pending: PendingBlock,
    blocks: Vec<PlainBlock>,
    facts: Vec<Fact>,
}

/// What is to be written of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    plain: Vec<PlainBlock>,
    blocks: Vec<RecordBlock>,
    pub(crate) facts: Vec<Fact>,
}

impl Rows {
    /// Compresses the records, unless that was done.
    pub(crate) fn compress(&mut self) {
        let plain = self.plain.drain(..);
        self.blocks.extend(plain.map(PlainBlock::compress));
    }

    /// Returns the records, and the rows that follow from them.
    pub(crate) fn finish(mut self) -> (Vec<RecordBlock>, Vec<Fact>) {
        self.compress();
        (self.blocks, self.facts)
    }
}

impl RunWriter {
    /// Begins a run that has no records yet.
    pub(crate) fn new(id: &RunId) -> Self {
        Self::after(chain::first_record(id), FactFolder::default())
    }

    /// Goes on after records that are there.
    pub(crate) fn after(hash: Hash, folder: FactFolder) -> Self {
        Self {
            folder,
            hash,
            pending: PendingBlock::default(),
            blocks: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Returns the chain's hash after the last record.
    pub(crate) fn hash(&self) -> Hash {
        self.hash
    }

    /// Returns the number of the next record.
    pub(crate) fn next_seq(&self) -> u64 {
        self.folder.run.records
    }

    /// Tells whether the last record of the run came.
    pub(crate) fn has_ended(&self) -> bool {
        self.folder.run.status.is_some()
    }

    /// Takes the next record.
    pub(crate) fn push(&mut self, record: &Record, job: &JobId) -> Result<()> {
        let run = || record.run_id.clone();
        let (seq, expected) = (record.seq, self.next_seq());
        if seq != expected {
            return Err(StoreError::Gap {
                run: run(),
                seq,
                expected,
            });
        }
        if self.has_ended() {
            return Err(StoreError::Ended { run: run(), seq });
        }
        let fault = match (&record.kind, seq) {
            (RecordKind::Run(opened), 0) if opened.job_id != *job => {
                Some(format!("it belongs to job {job}"))
            }
            (RecordKind::Run(_), 0) => None,
            (RecordKind::Run(_), _) => Some("it is open already".to_owned()),
            (_, 0) => Some("its first record must open it".to_owned()),
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(StoreError::invalid(&record.run_id, fault));
        }
        self.hash = self.pending.push(record, &self.hash)?;
        self.folder.push(record, &mut self.facts);
        if self.pending.is_full() {
            self.close_block();
        }
        Ok(())
    }

    /// Closes the block that records are added to, so that all of them are among [`Self::rows`].
    fn close_block(&mut self) {
        self.blocks.extend(self.pending.take(&self.hash));
    }

    /// Returns what is to be written since the last time.
    pub(crate) fn rows(&mut self) -> Rows {
        self.close_block();
        Rows {
            plain: std::mem::take(&mut self.blocks),
            blocks: Vec::new(),
            facts: std::mem::take(&mut self.facts),
        }
    }
}
