//! What runs are estimated to cost, where their runtime reported nothing: for lists of whoever shows them.

use runtape_core::prices::{ModelTokens, PriceTable};
use runtape_core::report::{CostEstimate, JobInfo, RunInfo, SessionInfo};
use runtape_core::{JobId, RunId, Runtime};
use runtape_store::{Store, StoreError, UsageOf};

/// The prices that estimates are made with.
#[derive(Clone, Debug)]
pub struct Estimates<'a> {
    table: &'a PriceTable,
    digest: String,
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
        CostEstimate::new(&self.table.estimate(tokens), &self.digest)
    }

    /// Estimates what runs cost by themselves, without their children.
    pub fn of_runs(&self, store: &Store, runs: &mut [RunInfo]) -> Result<(), StoreError> {
        // Of most runs it is known that there is nothing to estimate.
        let wanted = |run: &&mut RunInfo| run.cost_usd.is_none() && !run.usage.is_unknown();
        let mut runs: Vec<&mut RunInfo> = runs.iter_mut().filter(wanted).collect();
        let ids: Vec<RunId> = runs.iter().map(|run| run.run_id.clone()).collect();
        let tokens = store.unreported_tokens(UsageOf::Runs(&ids))?;
        for (run, tokens) in runs.iter_mut().zip(&tokens) {
            run.estimate = self.of_tokens(tokens);
        }
        Ok(())
    }

    /// Estimates what root runs and their children cost, all in all.
    pub fn of_trees(&self, store: &Store, roots: &[RunId]) -> Result<CostEstimate, StoreError> {
        let tokens = store.unreported_tokens(UsageOf::Trees(roots))?;
        Ok(self.of_tokens(&tokens.concat()))
    }

    /// Estimates what jobs cost.
    pub fn of_jobs(&self, store: &Store, jobs: &mut [JobInfo]) -> Result<(), StoreError> {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.job_id.clone()).collect();
        let tokens = store.unreported_tokens(UsageOf::Jobs(&ids))?;
        for (job, tokens) in jobs.iter_mut().zip(&tokens) {
            job.estimate = self.of_tokens(tokens);
        }
        Ok(())
    }

    /// Estimates what sessions cost.
    pub fn of_sessions(
        &self,
        store: &Store,
        sessions: &mut [SessionInfo],
    ) -> Result<(), StoreError> {
        let names = sessions.iter();
        let names = names.map(|session| (session.runtime.clone(), session.session_id.clone()));
        let names: Vec<(Runtime, String)> = names.collect();
        let tokens = store.unreported_tokens(UsageOf::Sessions(&names))?;
        for (session, tokens) in sessions.iter_mut().zip(&tokens) {
            session.estimate = self.of_tokens(tokens);
        }
        Ok(())
    }
}
