//! One session read: what can be done beside the store, on any thread.

use std::path::PathBuf;

use runtape_core::Runtime;
use runtape_normalizer::history::{History, Session};
use runtape_normalizer::redact::RuleSet;

use super::content::{self, SourceContent};
use super::discover::Candidate;
use super::segment_run::{SegmentOrigin, SegmentRun, may_go_on, prepare};
use super::sync::framing_of;
use crate::redaction::rules_in_force;

/// The most bytes of a session whose runs are made beside the store; of larger ones this takes too much memory.
const MOST_PREPARED: u64 = 8 << 20;

/// The files of one session, or a database with any number of them.
#[derive(Clone)]
pub(super) struct SessionJob {
    pub(super) runtime: Runtime,
    pub(super) history: &'static History,
    pub(super) session: String,
    pub(super) files: Vec<Candidate>,
    pub(super) bytes: u64,
    pub(super) is_database: bool,
    /// They were all read before, and have only grown since.
    pub(super) only_grew: bool,
    /// The process that wrote last is known to have ended.
    pub(super) is_over: bool,
}

/// A session that was read.
#[derive(Debug)]
pub(super) struct SessionWork {
    pub(super) runtime: Runtime,
    /// The name under which its files are remembered.
    pub(super) group: String,
    pub(super) session: Session,
    pub(super) contents: Vec<SourceContent>,
    pub(super) runs: Vec<SegmentRun>,
    pub(super) paths: Vec<String>,
    pub(super) files: Vec<Candidate>,
    pub(super) bytes: u64,
    /// What could not be read, and why.
    pub(super) fault: Option<String>,
}

impl SessionWork {
    /// Tells whether parts of it are copies of another session's.
    pub(super) fn has_copies(&self) -> bool {
        self.runs.iter().any(|run| run.segment.is_copy)
    }

    /// Returns when its first own line was written.
    pub(super) fn first_own_at(&self) -> Option<i64> {
        let own = self.runs.iter().filter(|run| !run.segment.is_copy);
        own.filter_map(|run| run.segment.started_at).min()
    }
}

impl SessionJob {
    /// Returns what jobs are sorted by.
    pub(super) fn order(&self) -> (&str, &str) {
        (self.runtime.as_str(), &self.session)
    }

    pub(super) fn failed(self, fault: String) -> SessionWork {
        SessionWork {
            paths: self
                .files
                .iter()
                .map(|file| file.path.display().to_string())
                .collect(),
            runtime: self.runtime,
            group: self.session,
            session: Session::default(),
            contents: Vec::new(),
            runs: Vec::new(),
            files: self.files,
            bytes: self.bytes,
            fault: Some(fault),
        }
    }

    /// Reads the files, cuts the session into runs, and makes their records.
    pub(super) fn read(self, rules: &RuleSet, now: i64) -> SessionWork {
        let mut files: Vec<(String, PathBuf, _)> = Vec::with_capacity(self.files.len());
        for file in &self.files {
            match framing_of(self.history, &file.name, &file.path) {
                Ok(framing) => files.push((file.name.clone(), file.path.clone(), framing)),
                Err(error) => {
                    let fault = format!("{}: {error}", file.path.display());
                    return self.failed(fault);
                }
            }
        }
        let contents = match content::open(&files) {
            Ok(contents) => contents,
            Err((path, error)) => {
                let fault = format!("{}: {error}", path.display());
                return self.failed(fault);
            }
        };
        work(self, contents, rules, now)
    }
}

/// Cuts a session whose sources are open into runs, and makes the records of those that are small.
pub(super) fn work(
    job: SessionJob,
    mut contents: Vec<SourceContent>,
    rules: &RuleSet,
    now: i64,
) -> SessionWork {
    let mut reader = (job.history.reader)();
    let left_out = match content::read_lines(&mut contents, reader.as_mut(), rules) {
        Ok(left_out) => left_out,
        Err(error) => return job.failed(error.to_string()),
    };
    let mut session = reader.finish();
    if session.id.is_empty() {
        session.id.clone_from(&job.session);
    }
    let segments = std::mem::take(&mut session.segments);
    let last_own = segments.iter().rposition(|segment| !segment.is_copy);
    let has_copies = segments.iter().any(|segment| segment.is_copy);
    let origin = SegmentOrigin {
        runtime: &job.runtime,
        session: &session,
        rules: &rules_in_force(rules),
    };
    let mut fault = (left_out.long_lines > 0).then(|| {
        let (lines, most) = (left_out.long_lines, content::LONGEST);
        format!("{lines} lines are longer than {most} bytes and were left out")
    });
    let mut runs = Vec::with_capacity(segments.len());
    for (at, segment) in segments.into_iter().enumerate() {
        let (context, begin) = origin.begin(&segment);
        let is_open = !job.is_over && may_go_on(&segment, Some(at) == last_own, now);
        let mut prepared = None;
        if !is_open && !has_copies && job.bytes <= MOST_PREPARED {
            match prepare(&begin, context, &segment, &contents, rules) {
                Ok(run) => prepared = Some(run),
                Err(error) => fault = Some(error.to_string()),
            }
        }
        runs.push(SegmentRun {
            run_id: begin.run_id.clone(),
            segment,
            is_open,
            only_grew: job.only_grew,
            prepared,
            begin,
        });
    }
    SessionWork {
        paths: job
            .files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect(),
        runtime: job.runtime,
        group: job.session,
        session,
        contents,
        runs,
        files: job.files,
        bytes: job.bytes,
        fault,
    }
}
