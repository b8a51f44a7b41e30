//! The cost of runs, jobs, sessions and groups of usage, with an estimate where their runtime reported nothing.
//!
//! Whoever shows a cost takes it from here: the command line, the API and the page agree because of that.

use runtape_core::prices::{Estimate, ModelTokens, PriceTable};
use runtape_core::report::{Cost, CostEstimate, JobInfo, RunInfo, SessionInfo};
use runtape_core::{JobId, RunId, Runtime};
use runtape_store::{CostBasis, Store, StoreError, UsageOf, UsageSum};

/// The prices that estimates are made with.
#[derive(Clone, Debug)]
pub struct Estimates<'a> {
    table: &'a PriceTable,
    digest: String,
}

/// Adds an estimate to a reported cost, and what was counted before.
fn completed(estimates: &Estimates<'_>, reported: Option<f64>, basis: &CostBasis) -> Cost {
    // Responses that an earlier run counted are among these with no token: their cost is not zero, it is elsewhere.
    let tokens = basis.unreported.iter();
    let tokens = tokens.filter(|tokens| basis.counted_before.is_unknown() || !tokens.is_nothing());
    Cost::new(reported, estimates.told(&estimates.table.estimate(tokens)))
        .with_cache_writes(basis.cache_write_tokens)
        .with_counted_before(basis.counted_before)
}

impl<'a> Estimates<'a> {
    /// Estimates by a table of prices.
    #[must_use]
    pub fn by(table: &'a PriceTable) -> Self {
        Self {
            table,
            digest: table.digest(),
        }
    }

    /// Returns what tells the table from others.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Estimates what tokens cost.
    #[must_use]
    pub fn of_tokens(&self, tokens: &[ModelTokens]) -> CostEstimate {
        self.told(&self.table.estimate(tokens))
    }

    /// Returns an estimate that was made with the table as reports have it.
    #[must_use]
    pub fn told(&self, estimate: &Estimate) -> CostEstimate {
        CostEstimate::new(estimate, &self.digest)
    }

    /// Returns the cost of a group of usage.
    #[must_use]
    pub fn of_sum(&self, sum: &UsageSum) -> Cost {
        Cost::new(sum.cost_usd(), self.of_tokens(&sum.unreported))
            .with_cache_writes(sum.cache_write_tokens)
    }

    /// Completes the cost of runs by themselves, without their children.
    pub fn of_runs(&self, store: &Store, runs: &mut [RunInfo]) -> Result<(), StoreError> {
        // Most runs without tokens have nothing to estimate.
        let runs = runs.iter_mut().filter(|run| !run.usage.is_unknown());
        let mut runs: Vec<&mut RunInfo> = runs.collect();
        let ids: Vec<RunId> = runs.iter().map(|run| run.run_id.clone()).collect();
        let bases = store.cost_bases(UsageOf::Runs(&ids))?;
        for (run, basis) in runs.iter_mut().zip(&bases) {
            run.cost = completed(self, run.cost.reported(), basis);
        }
        Ok(())
    }

    /// Returns what root runs and their children cost, all in all, given what they reported.
    pub fn of_trees(
        &self,
        store: &Store,
        roots: &[RunId],
        reported: Option<f64>,
    ) -> Result<Cost, StoreError> {
        let bases = store.cost_bases(UsageOf::Trees(roots))?;
        let trees = bases.iter().map(|basis| completed(self, None, basis));
        let sum = trees.fold(Cost::of_reported(reported), |sum, tree| sum.plus(&tree));
        Ok(sum)
    }

    /// Completes the cost of jobs.
    pub fn of_jobs(&self, store: &Store, jobs: &mut [JobInfo]) -> Result<(), StoreError> {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.job_id.clone()).collect();
        let bases = store.cost_bases(UsageOf::Jobs(&ids))?;
        for (job, basis) in jobs.iter_mut().zip(&bases) {
            job.cost = completed(self, job.cost.reported(), basis);
        }
        Ok(())
    }

    /// Completes the cost of sessions.
    pub fn of_sessions(
        &self,
        store: &Store,
        sessions: &mut [SessionInfo],
    ) -> Result<(), StoreError> {
        let names = sessions.iter();
        let names = names.map(|session| (session.runtime.clone(), session.session_id.clone()));
        let names: Vec<(Runtime, String)> = names.collect();
        let bases = store.cost_bases(UsageOf::Sessions(&names))?;
        for (session, basis) in sessions.iter_mut().zip(&bases) {
            session.cost = completed(self, session.cost.reported(), basis);
        }
        Ok(())
    }
}
