//! What must be known of a job before its first file is written: how many steps it has, and what
//! it used.

use std::collections::HashMap;

use runtape_core::record::{Initialize, RunOpened};
use runtape_core::{
    CheckpointId, CheckpointStatus, Job, JobId, JobStatus, RecordKind, RunId, TokenCounts,
};
use runtape_store::{RunFilter, RunInfo, Store};

use super::error::PerstackError;
use super::steps::{RunShape, StepNumbers};

/// The times of the first and the last event of a run or job, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventTimes {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl EventTimes {
    /// Returns times that hold for both.
    pub(super) fn cover(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

/// What must be known of a run before its first file is written.
pub(super) struct RunPlan {
    pub(super) id: RunId,
    pub(super) opened: RunOpened,
    pub(super) started_at: i64,
    pub(super) initialize: Option<Initialize>,
    /// What the run had used at the end of each of its steps.
    used: Vec<TokenCounts>,
    ended: Option<(CheckpointStatus, i64)>,
    /// When its last record was made.
    pub(super) last_at: i64,
    /// How many records it has; a run that is being recorded may get more meanwhile.
    pub(super) records: u64,
}

impl RunPlan {
    fn read(store: &Store, info: &RunInfo) -> Result<Self, PerstackError> {
        let mut plan = Self {
            id: info.run_id.clone(),
            opened: RunOpened {
                job_id: info.job_id.clone(),
                runtime: info.runtime.clone(),
                delegated_by: None,
            },
            started_at: info.started_at,
            initialize: None,
            used: Vec::new(),
            ended: None,
            last_at: info.started_at,
            records: 0,
        };
        store.each_record(&info.run_id, 0, |record| {
            plan.records += 1;
            plan.last_at = plan.last_at.max(record.at);
            match record.kind {
                RecordKind::Run(opened) => plan.opened = opened,
                RecordKind::Initialize(initialize) => plan.initialize = Some(initialize),
                RecordKind::Checkpoint(head) => {
                    if head.status.is_terminal() {
                        plan.ended = Some((head.status, record.at));
                    }
                    plan.used.push(head.usage);
                }
                _ => {}
            }
            true
        })?;
        Ok(plan)
    }

    fn ended_steps(&self) -> u64 {
        u64::try_from(self.used.len()).unwrap_or(u64::MAX)
    }

    /// Counts the steps, the one that is under way included.
    fn steps(&self) -> u64 {
        self.ended_steps() + u64::from(self.ended.is_none())
    }

    fn expert_key(&self) -> &str {
        let given = self.initialize.as_ref();
        given.map_or(self.opened.runtime.as_str(), |given| &given.expert.key)
    }
}

/// What must be known of a job before its first file is written.
pub(super) struct JobPlan {
    pub(super) runs: Vec<RunPlan>,
    pub(super) numbers: StepNumbers,
    /// What the job had used at the end of each of its steps, by number.
    used: Vec<TokenCounts>,
}

impl JobPlan {
    pub(super) fn read(store: &Store, job: &JobId) -> Result<Self, PerstackError> {
        let mut filter = RunFilter::default();
        filter.job = Some(job.clone());
        filter.roots_only = true;
        let mut roots = store.runs(&filter, None, u32::MAX as usize)?.items;
        // The store lists the latest first.
        roots.reverse();
        let mut runs = Vec::new();
        for root in roots {
            for info in store.tree(&root.run_id)? {
                runs.push(RunPlan::read(store, &info)?);
            }
        }
        if runs.is_empty() {
            return Err(PerstackError::UnknownJob { job: job.clone() });
        }
        let numbers = StepNumbers::of(&shapes(&runs));
        let used: Vec<_> = runs.iter().map(|run| run.used.clone()).collect();
        let used = numbers.cumulate(&used);
        Ok(Self {
            runs,
            numbers,
            used,
        })
    }

    /// Returns what the job had used at the end of the step with a number.
    pub(super) fn used_at(&self, number: u64) -> TokenCounts {
        let index = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
        let used = index.and_then(|index| self.used.get(index));
        used.copied().unwrap_or_default()
    }

    /// Makes the job's own file; `times` are those of its first and its last event.
    pub(super) fn to_job(&self, id: &JobId, times: Option<EventTimes>) -> Job {
        let is_root = |run: &&RunPlan| run.opened.delegated_by.is_none();
        let first = self.runs.iter().find(is_root);
        let last = self.runs.iter().rfind(is_root);
        let is_over = self.runs.iter().all(|run| run.ended.is_some());
        let status = last.and_then(|run| run.ended).filter(|_| is_over);
        let finished_at = self.runs.iter().filter_map(|run| Some(run.ended?.1)).max();
        let started_at = self.runs.iter().map(|run| run.started_at).min();
        Job {
            id: id.clone(),
            status: status.map_or(JobStatus::Running, |(status, _)| status.into()),
            coordinator_expert_key: first.map_or("", RunPlan::expert_key).to_owned(),
            total_steps: self.runs.iter().map(RunPlan::ended_steps).sum(),
            max_steps: None,
            usage: self.used_at(self.numbers.last()).to_usage(),
            started_at: times.map_or(started_at.unwrap_or_default(), |times| times.first),
            finished_at: times
                .map(|times| times.last)
                .or(finished_at)
                .filter(|_| is_over),
        }
    }
}

/// Finds out which run called which, and in which step.
fn shapes(runs: &[RunPlan]) -> Vec<RunShape> {
    let mut steps: HashMap<CheckpointId, (usize, u64)> = HashMap::new();
    let mut positions: HashMap<&RunId, usize> = HashMap::new();
    let mut shapes = Vec::new();
    for (position, run) in runs.iter().enumerate() {
        let called_by = run.opened.delegated_by.as_ref().and_then(|by| {
            let parent = || Some((*positions.get(&by.run_id)?, u64::MAX));
            steps.get(&by.checkpoint_id).copied().or_else(parent)
        });
        shapes.push(RunShape {
            steps: run.steps(),
            called_by,
        });
        positions.insert(&run.id, position);
        for step in 1..=run.steps() {
            steps.insert(CheckpointId::derive(&run.id, step), (position, step));
        }
    }
    shapes
}
