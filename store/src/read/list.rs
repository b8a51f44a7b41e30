//! Lists of jobs, runs and steps, a page at a time.

use runtape_core::report::{JobInfo, RunInfo, StepInfo};
use runtape_core::{CheckpointId, JobId, RunId};

use super::runs::get;
use crate::derive::cells::status;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::page::{Page, PageMark};
use crate::store::Store;

impl Store {
    /// Returns the runs that a filter lets through, those that began last first.
    pub fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Page<RunInfo>> {
        let text = self.text_of(filter)?;
        self.read(|tables| {
            let found = tables.runs(text.selection(filter), after, limit.saturating_add(1))?;
            Ok(Page::new(found, limit, |run| {
                PageMark::new(run.started_at, run.run_id.as_str())
            }))
        })
    }

    /// Returns the jobs of the runs that a filter lets through, those that began last first.
    pub fn jobs(
        &self,
        filter: &RunFilter,
        after: Option<&PageMark>,
        limit: usize,
    ) -> Result<Page<JobInfo>> {
        let text = self.text_of(filter)?;
        self.read(|tables| {
            let found = tables.jobs(text.selection(filter), after, limit.saturating_add(1))?;
            Ok(Page::new(found, limit, |job| {
                PageMark::new(job.started_at, job.job_id.as_str())
            }))
        })
    }

    /// Returns a job, made from its runs.
    pub fn job(&self, id: &JobId) -> Result<Option<JobInfo>> {
        self.read(|tables| tables.job(id))
    }

    /// Returns the steps of a run after a step (0 for all), at most `limit`.
    pub fn steps(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<StepInfo>> {
        self.read(|tables| {
            let row = get(tables, run)?;
            let found = tables.steps_after(&row.key, after, limit)?;
            let steps = found.into_iter().map(|step| {
                Ok(StepInfo {
                    step: step.step,
                    checkpoint_id: CheckpointId::parse(step.checkpoint_id)?,
                    seq: step.seq,
                    status: status(Some(&step.status)),
                    started_at: step.started_at,
                    finished_at: step.finished_at,
                    messages: step.messages,
                    tool_calls: step.tool_calls,
                    pending_tool_calls: step.pending,
                    usage: step.usage,
                })
            });
            steps.collect()
        })
    }
}
