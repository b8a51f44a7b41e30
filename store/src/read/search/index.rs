//! Putting records into the search index, a stretch at a time.

use std::time::{Duration, Instant};

use runtape_core::Record;

use crate::backend::{RunKey, Tables};
use crate::derive::text::{TextLength, each_piece};
use crate::derive::words::Words;
use crate::error::Result;
use crate::read::records;

/// Text of a stretch. What the index finds is read from there on, in blocks of about that length.
const STRETCH: usize = 64 << 10;

/// Text indexed in one transaction at most.
const BATCH: usize = 16 << 20;

/// How long such a transaction takes, and a record more. Of a file it is the only writer meanwhile, and a recorder that
/// waits for too long goes to a spool file: text alone would say nothing about that on a slow or busy machine.
const PIECE_TIME: Duration = Duration::from_millis(250);

/// Most runs that are looked up for one transaction.
const RUNS: usize = 4096;

/// Of how many runs the first records are read at once. Most runs have one block of them.
const READ_AT_ONCE: usize = 64;

/// Puts the records of one run into the index.
pub(crate) struct Indexer<'a> {
    tables: &'a dyn Tables,
    run: &'a RunKey,
    words: &'a mut Words,
    first: Option<u64>,
    bytes: usize,
}

impl<'a> Indexer<'a> {
    pub(crate) fn new(tables: &'a dyn Tables, run: &'a RunKey, words: &'a mut Words) -> Self {
        Self {
            tables,
            run,
            words,
            first: None,
            bytes: 0,
        }
    }

    /// Adds the next record; returns how much text there is in it.
    pub(crate) fn push(&mut self, record: &Record) -> Result<usize> {
        // The words are read where the texts are: long ones are not copied.
        let mut length = TextLength::default();
        each_piece(record, &mut |field, piece| {
            length.add(field, piece);
            self.words.add(piece);
        });
        if length.bytes == 0 {
            return Ok(0);
        }
        self.first.get_or_insert(record.seq);
        self.bytes += length.bytes;
        if self.bytes >= STRETCH {
            self.close()?;
        }
        Ok(length.bytes)
    }

    fn close(&mut self) -> Result<()> {
        if let Some(first) = self.first.take().filter(|_| !self.words.is_empty()) {
            self.tables.insert_words(self.run, first, self.words)?;
        }
        self.words.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Ends with the record before this one.
    pub(crate) fn finish(mut self, next: u64) -> Result<()> {
        self.close()?;
        self.tables.set_searched(self.run, next)
    }
}

/// Indexes some of what is not indexed; returns of how many records, and whether there may be more.
pub(super) fn index_some(tables: &dyn Tables) -> Result<(u64, bool)> {
    let begun = Instant::now();
    let mut room = BATCH;
    let mut count = 0;
    let mut words = Words::default();
    let runs = tables.partly_searched(RUNS)?;
    for some in runs.chunks(READ_AT_ONCE) {
        let new = some.iter().filter(|run| run.searched == 0);
        let new: Vec<&RunKey> = new.map(|run| &run.key).collect();
        let mut blocks = tables.first_record_blocks(&new)?;
        for run in some {
            let known = blocks.iter().position(|(key, _)| *key == run.key);
            let first = match known.filter(|_| run.searched == 0) {
                Some(known) => Some(blocks.swap_remove(known).1),
                None => tables.record_block_of(&run.key, run.searched)?,
            };
            let mut next = run.searched;
            let mut indexer = Indexer::new(tables, &run.key, &mut words);
            let range = run.searched..run.records;
            let mut push = |record: Record| {
                let length = indexer.push(&record)?;
                next = record.seq + 1;
                room = room.saturating_sub(length + 64);
                if begun.elapsed() > PIECE_TIME {
                    room = 0;
                }
                Ok(room > 0)
            };
            records::each_from_block(tables, &run.key, &run.id, first, range, &mut push)?;
            indexer.finish(next)?;
            count += next - run.searched;
            if room == 0 {
                return Ok((count, true));
            }
        }
    }
    Ok((count, runs.len() == RUNS))
}
