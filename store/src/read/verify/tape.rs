//! The chain of a tape's blocks.

use runtape_core::report::FaultPlace;

use super::Verifier;
use crate::backend::RunRow;
use crate::error::Result;
use crate::format::chain::TapeRule;
use crate::format::streams::StreamLengths;
use crate::read::tape;

impl Verifier<'_> {
    /// Follows the chain of a tape's blocks, one at a time.
    pub(super) fn tape(&mut self, root: &RunRow) -> Result<()> {
        let at = |block| FaultPlace::Tape {
            run_id: root.id.clone(),
            block,
        };
        let mut hash = self.rules.tape.first(&root.id);
        let mut starts = StreamLengths::default();
        let mut count = 0;
        loop {
            let next = self.tables.next_tape_number(&root.key, count);
            let Some(next) = self.read(at(count), next)? else {
                return Ok(());
            };
            match next {
                None => break,
                Some(number) if number != count => {
                    self.fault(at(count), "missing");
                    return Ok(());
                }
                Some(_) => {}
            }
            let block = tape::block(self.tables, root, count);
            let Some(block) = self.read(at(count), block)? else {
                return Ok(());
            };
            let Some(raw) = self.read(at(count), block.raw(&root.id))? else {
                return Ok(());
            };
            let before = hash;
            hash = self.rules.tape.next(&before, &starts, block.times, &raw);
            if block.starts != starts || hash != block.hash {
                let earlier = TapeRule::Distances;
                let first = earlier.first(&root.id);
                let is_earlier = earlier.next(&first, &starts, block.times, &raw) == block.hash;
                self.fault(
                    at(count),
                    if count == 0 && self.rules.tape != earlier && is_earlier {
                        "its receive times are not covered: \
                         the run was not intact when all others were sealed anew"
                    } else {
                        "changed: its hash does not fit the one before"
                    },
                );
                return Ok(());
            }
            let taken_apart = block.each_chunk(&root.id, &raw, |stream, start, _, bytes| {
                starts.advance(stream, start + u64::try_from(bytes.len()).unwrap_or(0));
            });
            if self.read(at(count), taken_apart)?.is_none() {
                return Ok(());
            }
            count += 1;
        }
        self.report.tape_bytes += starts.total();
        let is_dropped = starts.total() == 0 && self.dropped.contains(&root.id);
        // While a run is written, its records and their output may come in either order.
        let is_short = starts.is_short_of(&self.reach);
        if root.seal.is_some() && is_short && !is_dropped {
            self.fault(at(count), "missing: records were made from it");
        }
        Ok(())
    }
}
