//! Whether a transaction was committed whose answer was lost.

use std::collections::HashMap;

use runtape_core::RunId;
use runtape_core::report::SealName;

use super::Link;
use super::columns::{chain, signed};
use super::connection::Value;
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;

/// Something that a transaction wrote and nobody else ever writes: where it is, the transaction was committed.
///
/// The number of the transaction is no such thing. A server that breaks down gives numbers again whose transactions it had
/// not written to its log, and then tells that one was committed which another writer had.
#[derive(Debug)]
pub(super) enum CommitTrace {
    Lease { root: RunId, epoch: i64, mark: i64 },
    Seal(SealName, Hash),
}

impl Link {
    /// Returns what tells that a transaction was committed.
    pub(super) fn trace(
        &self,
        fenced: &HashMap<RunId, i64>,
        sealed: Option<(SealName, Hash)>,
    ) -> Option<CommitTrace> {
        // All of it is there or nothing, so any of them will do. A lease may have ended with the seal.
        if let Some((name, hash)) = sealed {
            return Some(CommitTrace::Seal(name, hash));
        }
        fenced.iter().min().and_then(|(root, mark)| {
            let epoch = self.leases.of(root)?.epoch;
            let (root, mark) = (root.clone(), *mark);
            Some(CommitTrace::Lease { root, epoch, mark })
        })
    }

    /// Finds out whether a transaction was committed whose connection was lost at that moment. Of one that left no trace
    /// nobody can tell: whoever does it again finds what it did.
    pub(super) fn was_committed(
        &mut self,
        trace: Option<&CommitTrace>,
        lost: StoreError,
    ) -> Result<()> {
        self.connection.reconnect()?;
        let is_there = match trace {
            Some(CommitTrace::Lease { root, epoch, mark }) => {
                // If it is being committed just now, this waits for it.
                let sql = "SELECT writes FROM lease WHERE root_id = $1 AND epoch = $2 FOR UPDATE";
                let rows = self.connection.rows_soon(sql, &[&root.as_str(), epoch])?;
                let writes: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
                writes == Some(*mark)
            }
            Some(CommitTrace::Seal(seal, hash)) => {
                let wait = "SELECT 1 FROM chain_head WHERE chain = $1 FOR UPDATE";
                self.connection.rows_soon(wait, &[&chain(*seal)])?;
                let sql = "SELECT 1 FROM seal WHERE chain = $1 AND number = $2 AND hash = $3";
                let (number, hash) = (signed(seal.number), hash.as_slice());
                let values: [Value<'_>; 3] = [&chain(*seal), &number, &hash];
                !self.connection.rows_soon(sql, &values)?.is_empty()
            }
            None => false,
        };
        if is_there { Ok(()) } else { Err(lost) }
    }
}
