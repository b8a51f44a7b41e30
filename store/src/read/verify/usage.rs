//! The sums of what was used, compared with what the ledger says.

use std::collections::BTreeMap;

use runtape_core::report::FaultPlace;

use super::Verifier;
use crate::backend::UsageScope;
use crate::derive::usage_cell::{KEPT_DIMENSIONS, UsageAmounts, UsageCell, UsageKind, UsageSpan};
use crate::error::Result;

/// Where a sum stands.
type SumPlace = (i64, Vec<Option<String>>, UsageKind);

fn place(cell: &UsageCell, span: UsageSpan) -> SumPlace {
    (span.start(cell.quarter), cell.names.clone(), cell.kind)
}

impl Verifier<'_> {
    /// Compares the sums that are kept with those that the entries of their runs come to. The entries
    /// were compared with the records before.
    pub(super) fn kept_usage(&mut self) -> Result<()> {
        if !self.rules.keeps_usage || !self.report.is_intact() {
            return Ok(());
        }
        let cells = self
            .tables
            .usage_cells(UsageScope::Settled, &KEPT_DIMENSIONS);
        let Some(cells) = self.read(FaultPlace::File, cells)? else {
            return Ok(());
        };
        for span in UsageSpan::ALL {
            let mut expected: BTreeMap<SumPlace, UsageAmounts> = BTreeMap::new();
            for cell in &cells {
                let sum = expected.entry(place(cell, span)).or_default();
                sum.add(&cell.amounts);
            }
            // Entries that know nothing, and sums that come to nothing, leave no row.
            expected.retain(|_, sum| !sum.is_empty());
            let kept = self.tables.kept_usage(span);
            let Some(kept) = self.read(FaultPlace::File, kept)? else {
                return Ok(());
            };
            let kept = kept.into_iter().map(|cell| {
                let place = (cell.quarter, cell.names, cell.kind);
                (place, cell.amounts)
            });
            let kept: BTreeMap<SumPlace, UsageAmounts> = kept.collect();
            if kept != expected {
                let what = match span {
                    UsageSpan::Quarter => "quarter of an hour",
                    UsageSpan::Day => "day",
                };
                let fault = format!("the sums of usage by {what} are not what the runs used");
                self.fault(FaultPlace::File, fault);
            }
        }
        Ok(())
    }
}
