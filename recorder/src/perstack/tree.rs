//! Where the files of a job tree are, and what they are called.

use std::path::{Path, PathBuf};

use runtape_core::{CheckpointId, JobId, RunId};

/// The directory of all jobs, below the directory that Perstack works in.
pub(super) fn jobs_directory(base: &Path) -> PathBuf {
    base.join("perstack").join("jobs")
}

/// The name of a job's own file.
pub(super) const JOB_FILE: &str = "job.json";
/// The directory of a job's checkpoints.
pub(super) const CHECKPOINTS: &str = "checkpoints";
/// The directory of a job's runs.
pub(super) const RUNS: &str = "runs";
/// The name of a run's settings.
pub(super) const SETTING_FILE: &str = "run-setting.json";

/// The name of the file that says that an export wrote the tree.
pub(super) const MARKER_FILE: &str = ".runtape-export.json";

/// The directory of one job.
///
/// Ids become path names here; their types allow nothing that could lead elsewhere.
#[derive(Clone, Debug)]
pub(super) struct JobTree {
    directory: PathBuf,
}

impl JobTree {
    pub(super) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub(super) fn job_file(&self) -> PathBuf {
        self.directory.join(JOB_FILE)
    }

    pub(super) fn marker_file(&self) -> PathBuf {
        self.directory.join(MARKER_FILE)
    }

    pub(super) fn checkpoints(&self) -> PathBuf {
        self.directory.join(CHECKPOINTS)
    }

    pub(super) fn checkpoint_file(&self, id: &CheckpointId) -> PathBuf {
        self.checkpoints().join(format!("{id}.json"))
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.directory.join(RUNS)
    }

    pub(super) fn run(&self, id: &RunId) -> PathBuf {
        self.runs().join(id.as_str())
    }
}

/// Returns where a job is written until it is whole. The dot keeps it from being a job's id.
pub(super) fn staging_name(job: &JobId, process: u32) -> String {
    format!(".{job}.writing-{process}")
}

/// What an event file's name says: Perstack reads it without opening the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventName {
    /// Milliseconds since 1970; the order of a run's events.
    pub(super) timestamp: i64,
    pub(super) step: u64,
    pub(super) tag: String,
}

impl EventName {
    pub(super) fn to_file_name(&self) -> String {
        format!("event-{}-{}-{}.json", self.timestamp, self.step, self.tag)
    }

    /// Reads a name; `None` if it is not that of an event file.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("event-")?.strip_suffix(".json")?;
        let (timestamp, rest) = rest.split_once('-')?;
        let (step, tag) = rest.split_once('-')?;
        Some(Self {
            timestamp: timestamp.parse().ok()?,
            step: step.parse().ok()?,
            tag: tag.to_owned(),
        })
    }
}

/// Tells whether a file is a checkpoint as it was named before 2025-12-09, in its run's directory:
/// `checkpoint-<timestamp>-<step>-<id>.json`. Returns the time and the id.
pub(super) fn early_checkpoint(name: &str) -> Option<(i64, &str)> {
    let rest = name.strip_prefix("checkpoint-")?.strip_suffix(".json")?;
    let mut pieces = rest.splitn(3, '-');
    let timestamp = pieces.next()?.parse().ok()?;
    pieces.next()?.parse::<u64>().ok()?;
    Some((timestamp, pieces.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_names_survive_being_read() {
        let name = EventName {
            timestamp: 12_345,
            step: 1,
            tag: "startRun".to_owned(),
        };
        assert_eq!(name.to_file_name(), "event-12345-1-startRun.json");
        assert_eq!(EventName::parse(&name.to_file_name()), Some(name));
        for bad in [
            "event-1-startRun.json",
            "event-x-1-startRun.json",
            "event--5-1-startRun.json",
            "run-setting.json",
            "event-1-1-startRun",
        ] {
            assert_eq!(EventName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn early_checkpoints_are_found_by_their_name() {
        let name = "checkpoint-1733600000000-3-abc-def.json";
        assert_eq!(early_checkpoint(name), Some((1_733_600_000_000, "abc-def")));
        assert_eq!(early_checkpoint("checkpoint-abc.json"), None);
    }
}
