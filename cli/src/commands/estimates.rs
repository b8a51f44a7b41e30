//! The prices behind the costs that lists show, and the note about them.

use runtape_core::RunId;
use runtape_core::prices::PriceTable;
use runtape_core::report::{
    Cost, CostEstimate, IngestGroup, JobInfo, RunInfo, SessionInfo, SyncGroup, UsageGroup,
};
use runtape_recorder as recorder;
use runtape_store::Store;

use crate::arguments::prices::usual_table;
use crate::commands::{Invocation, prices};
use crate::error::{CliError, with_causes};

/// Something that costs something.
pub(crate) trait Costly {
    fn cost(&self) -> &Cost;
}

macro_rules! costly {
    ($($type:ty),*) => {$(
        impl Costly for $type {
            fn cost(&self) -> &Cost {
                &self.cost
            }
        }
    )*};
}

costly!(
    RunInfo,
    JobInfo,
    SessionInfo,
    IngestGroup,
    SyncGroup,
    UsageGroup
);

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

    /// Completes the cost of runs by themselves, without their children.
    pub(crate) fn of_runs(&self, store: &Store, runs: &mut [RunInfo]) -> Result<(), CliError> {
        Ok(self.by().of_runs(store, runs)?)
    }

    /// Returns what root runs and their children cost, all in all, given what they reported.
    pub(crate) fn of_trees(
        &self,
        store: &Store,
        roots: &[RunId],
        reported: Option<f64>,
    ) -> Result<Cost, CliError> {
        Ok(self.by().of_trees(store, roots, reported)?)
    }

    /// Completes the cost of jobs.
    pub(crate) fn of_jobs(&self, store: &Store, jobs: &mut [JobInfo]) -> Result<(), CliError> {
        Ok(self.by().of_jobs(store, jobs)?)
    }

    /// Completes the cost of sessions.
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
        let is_any = shown.iter().any(|one| one.cost().is_estimated());
        is_any.then(|| self.about())
    }

    /// Says how estimates were made.
    pub(crate) fn about(&self) -> String {
        about(&self.table, &self.digest)
    }
}

fn about(table: &PriceTable, digest: &str) -> String {
    format!("~ estimated, {}", prices::about(table, digest))
}

/// Returns what several came to.
pub(crate) fn total<'a, T: Costly + 'a>(all: impl IntoIterator<Item = &'a T>) -> Cost {
    let all = all.into_iter();
    all.fold(Cost::default(), |sum, one| sum.plus(one.cost()))
}

/// Says how estimates were made, and what has none.
pub(crate) fn tell_of(
    estimate: &CostEstimate,
    table: &PriceTable,
    digest: &str,
    invocation: &mut Invocation<'_>,
) {
    if estimate.estimated_cost_usd.is_some() {
        invocation.note(&about(table, digest));
    }
    let unpriced = estimate.unpriced_models.iter().map(String::as_str);
    let mut unpriced: Vec<&str> = unpriced.collect();
    if estimate.has_unnamed_model {
        unpriced.push("models that are not named");
    }
    if !unpriced.is_empty() {
        invocation.note(&format!("? no price is known of {}", unpriced.join(", ")));
    }
}
