//! What runs are estimated to cost, where their runtime reported nothing: in lists, as in `usage`.

use runtape_core::RunId;
use runtape_core::prices::PriceTable;
use runtape_core::report::{CostEstimate, IngestGroup, JobInfo, RunInfo, SessionInfo, SyncGroup};
use runtape_recorder as recorder;
use runtape_store::Store;

use crate::arguments::prices::usual_table;
use crate::commands::{Invocation, prices};
use crate::error::{CliError, with_causes};

/// Something of which is told what it cost.
pub(crate) trait Costly {
    fn reported(&self) -> Option<f64>;
    fn estimate(&self) -> &CostEstimate;
}

macro_rules! costly {
    ($($type:ty),*) => {$(
        impl Costly for $type {
            fn reported(&self) -> Option<f64> {
                self.cost_usd
            }

            fn estimate(&self) -> &CostEstimate {
                &self.estimate
            }
        }
    )*};
}

costly!(RunInfo, JobInfo, SessionInfo, IngestGroup, SyncGroup);

/// The prices that estimates in lists are made with.
pub(crate) struct ListEstimates {
    table: std::borrow::Cow<'static, PriceTable>,
    digest: String,
}

impl ListEstimates {
    /// Finds the prices. Without them lists are lists: whoever has a faulty file of them is told so, once.
    pub(crate) fn find(invocation: &mut Invocation<'_>) -> Option<Self> {
        match usual_table() {
            Ok(table) => {
                let digest = table.digest();
                Some(Self { table, digest })
            }
            Err(error) => {
                let error = with_causes(&error);
                invocation.warn(&format!("costs are not estimated: {error}"));
                None
            }
        }
    }

    fn by(&self) -> recorder::Estimates<'_> {
        recorder::Estimates::by(&self.table)
    }

    /// Estimates what runs cost by themselves, without their children.
    pub(crate) fn of_runs(&self, store: &Store, runs: &mut [RunInfo]) -> Result<(), CliError> {
        Ok(self.by().of_runs(store, runs)?)
    }

    /// Estimates what root runs and their children cost, all in all.
    pub(crate) fn of_trees(
        &self,
        store: &Store,
        roots: &[RunId],
    ) -> Result<CostEstimate, CliError> {
        Ok(self.by().of_trees(store, roots)?)
    }

    /// Estimates what jobs cost.
    pub(crate) fn of_jobs(&self, store: &Store, jobs: &mut [JobInfo]) -> Result<(), CliError> {
        Ok(self.by().of_jobs(store, jobs)?)
    }

    /// Estimates what sessions cost.
    pub(crate) fn of_sessions(
        &self,
        store: &Store,
        sessions: &mut [SessionInfo],
    ) -> Result<(), CliError> {
        Ok(self.by().of_sessions(store, sessions)?)
    }

    /// Says how estimates were made, if any was shown.
    pub(crate) fn tell<T: Costly>(&self, shown: &[T], invocation: &mut Invocation<'_>) {
        if let Some(about) = self.about_any(shown) {
            invocation.note(&about);
        }
    }

    /// Returns how estimates were made, if any was.
    pub(crate) fn about_any<T: Costly>(&self, shown: &[T]) -> Option<String> {
        let mut shown = shown.iter();
        let is_any = shown.any(|one| one.estimate().estimated_cost_usd.is_some());
        is_any.then(|| self.about())
    }

    /// Says how estimates were made.
    pub(crate) fn about(&self) -> String {
        format!("~ estimated, {}", prices::about(&self.table, &self.digest))
    }
}

/// Writes what was reported, and after it what is estimated, so that nobody takes one for the other. A question mark stands for
/// tokens that have no price.
pub(crate) fn cost_text(reported: Option<f64>, estimate: &CostEstimate) -> String {
    let estimated = estimate.estimated_cost_usd.map(|dollars| {
        let rest = if estimate.is_partial() { "+?" } else { "" };
        format!("~{dollars:.4}{rest}")
    });
    let reported = reported.map(|dollars| format!("{dollars:.4}"));
    let parts: Vec<String> = reported.into_iter().chain(estimated).collect();
    parts.join("+")
}

/// Writes what several came to: one number, marked if some of it is estimated, since a row of totals has little room.
pub(crate) fn total_text(reported: Option<f64>, estimate: &CostEstimate) -> String {
    let both = estimate.estimated_cost_usd.map(|estimated| CostEstimate {
        estimated_cost_usd: Some(estimated + reported.unwrap_or(0.0)),
        ..estimate.clone()
    });
    match both {
        Some(both) => cost_text(None, &both),
        None => cost_text(reported, estimate),
    }
}

/// Returns what several came to.
pub(crate) fn total<'a, T: Costly + 'a>(
    all: impl Iterator<Item = &'a T>,
) -> (Option<f64>, CostEstimate) {
    let (mut reported, mut estimate) = (None, CostEstimate::default());
    for one in all {
        let add = |sum: &mut Option<f64>, more: Option<f64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0.0) + more);
            }
        };
        add(&mut reported, one.reported());
        add(
            &mut estimate.estimated_cost_usd,
            one.estimate().estimated_cost_usd,
        );
        estimate.has_unnamed_model |= one.estimate().is_partial();
    }
    (reported, estimate)
}

/// Returns what something cost, reported or estimated, for an order.
pub(crate) fn known_cost<T: Costly>(one: &T) -> Option<f64> {
    let parts = [one.reported(), one.estimate().estimated_cost_usd];
    parts.into_iter().flatten().reduce(|one, other| one + other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_never_taken_for_what_was_reported() {
        let estimate = |dollars, is_partial| CostEstimate {
            estimated_cost_usd: dollars,
            has_unnamed_model: is_partial,
            ..CostEstimate::default()
        };
        let table = [
            (None, estimate(None, false), ""),
            (None, estimate(None, true), ""),
            (Some(0.5), estimate(None, true), "0.5000"),
            (None, estimate(Some(0.25), false), "~0.2500"),
            (None, estimate(Some(0.25), true), "~0.2500+?"),
            (Some(0.5), estimate(Some(0.25), false), "0.5000+~0.2500"),
        ];
        for (reported, estimate, expected) in table {
            assert_eq!(cost_text(reported, &estimate), expected);
        }
        assert_eq!(total_text(Some(0.5), &estimate(None, true)), "0.5000");
        assert_eq!(
            total_text(Some(0.5), &estimate(Some(0.25), true)),
            "~0.7500+?"
        );
    }
}
