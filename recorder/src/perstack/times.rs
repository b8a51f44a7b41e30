//! When the steps of a tree ended, where no event of theirs tells.

use runtape_core::{Checkpoint, Message};

/// What `job.json` says of a job's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JobTimes {
    pub(super) started_at: Option<i64>,
    pub(super) finished_at: Option<i64>,
}

/// What the file of a checkpoint tells of its time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileTimes {
    /// The time in its name, which checkpoints had until 2025-12-09.
    pub(super) named: Option<i64>,
    /// When it was written here: copying a tree changes it.
    pub(super) modified: i64,
}

/// A time, and whether nothing but a file's own date tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepTime {
    pub(super) at: i64,
    pub(super) is_of_file: bool,
}

impl StepTime {
    fn told(at: i64) -> Self {
        Self {
            at,
            is_of_file: false,
        }
    }

    /// Returns when a run began of which neither settings nor events tell.
    pub(super) fn of_beginning(first: &Checkpoint, file: FileTimes, job: JobTimes) -> Self {
        let said = first.messages.iter().find_map(Message::timestamp);
        let told = said.or(file.named).or(job.started_at);
        told.map_or(
            Self {
                at: file.modified,
                is_of_file: true,
            },
            Self::told,
        )
    }

    /// Returns when a step ended that no event tells of, and that did not end before `earliest`.
    pub(super) fn of_end(
        checkpoint: &Checkpoint,
        file: FileTimes,
        job: JobTimes,
        earliest: i64,
    ) -> Self {
        let messages = checkpoint.messages.iter().rev();
        let mut said = messages.map(Message::timestamp);
        if let Some(at) = said.find_map(|at| at).or(file.named) {
            return Self::told(at);
        }
        // A copy has the date of the copying: then the end of the job is nearer.
        let latest = job.finished_at.unwrap_or(i64::MAX);
        let at = file.modified.min(latest).max(earliest);
        Self {
            at,
            is_of_file: at == file.modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::{JobId, MessageId, RunId, UserMessage};

    use super::*;
    use crate::perstack::checkpoint::nothing;

    fn checkpoint(timestamp: Option<i64>) -> Checkpoint {
        let (job, run) = (JobId::parse("j").unwrap(), RunId::parse("r").unwrap());
        let mut checkpoint = nothing(&job, &run);
        let mut message =
            Message::from(UserMessage::new(MessageId::parse("m").unwrap(), Vec::new()));
        if let Some(at) = timestamp {
            message.set_timestamp(at);
        }
        checkpoint.messages.push(message);
        checkpoint
    }

    #[test]
    fn a_files_date_counts_only_where_nothing_better_is_known() {
        let job = JobTimes {
            started_at: Some(10),
            finished_at: Some(50),
        };
        let unnamed = FileTimes {
            named: None,
            modified: 99,
        };
        let named = FileTimes {
            named: Some(20),
            ..unnamed
        };
        let none = JobTimes::default();
        let of_file = |at| StepTime {
            at,
            is_of_file: true,
        };
        for (said, file, job, begun, ended) in [
            (Some(30), named, job, StepTime::told(30), StepTime::told(30)),
            (None, named, job, StepTime::told(20), StepTime::told(20)),
            (None, unnamed, job, StepTime::told(10), StepTime::told(50)),
            (None, unnamed, none, of_file(99), of_file(99)),
        ] {
            let checkpoint = checkpoint(said);
            assert_eq!(StepTime::of_beginning(&checkpoint, file, job), begun);
            assert_eq!(StepTime::of_end(&checkpoint, file, job, 15), ended);
        }
        let early = FileTimes {
            named: None,
            modified: 5,
        };
        let ended = StepTime::of_end(&checkpoint(None), early, none, 15);
        assert_eq!(ended, StepTime::told(15));
    }
}
