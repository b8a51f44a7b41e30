//! What of the files that are there has to be read.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use runtape_core::Runtime;
use runtape_normalizer::history::History;

use super::content::read_head;
use super::discover::{Candidate, discover};
use super::places::{HistoryDirectory, with_history};
use super::session_work::SessionJob;
use super::state::KnownFiles;
use super::sync::{Sync, SyncEvent, group};

/// What was found in all directories.
#[derive(Default)]
pub(super) struct FoundHistories {
    by_runtime: BTreeMap<String, (Runtime, &'static History, Vec<Candidate>)>,
    /// What looked like history and was not read, with the reason.
    refused: Vec<(Runtime, PathBuf, String)>,
}

impl FoundHistories {
    /// Looks at all directories, opening no file.
    pub(super) fn look(directories: &[HistoryDirectory]) -> Self {
        let mut found = Self::default();
        for (directory, history) in with_history(directories) {
            let discovery = discover(&directory.path, history);
            let refused = discovery.refused.into_iter();
            found
                .refused
                .extend(refused.map(|(path, reason)| (directory.runtime.clone(), path, reason)));
            let entry = found
                .by_runtime
                .entry(directory.runtime.as_str().to_owned())
                .or_insert_with(|| (directory.runtime.clone(), history, Vec::new()));
            entry.2.extend(discovery.candidates);
        }
        found
    }
}

impl Sync<'_> {
    /// Finds what has changed since the last time.
    pub(super) fn plan(
        &mut self,
        found: FoundHistories,
        each: &mut dyn FnMut(SyncEvent),
    ) -> Vec<SessionJob> {
        for (runtime, path, reason) in found.refused {
            self.refuse(&runtime, &path, reason, each);
        }
        let mut jobs = Vec::new();
        for (_, (runtime, history, candidates)) in found.by_runtime {
            self.plan_runtime(&runtime, history, candidates, &mut jobs, each);
        }
        jobs
    }

    fn plan_runtime(
        &mut self,
        runtime: &Runtime,
        history: &'static History,
        candidates: Vec<Candidate>,
        jobs: &mut Vec<SessionJob>,
        each: &mut dyn FnMut(SyncEvent),
    ) {
        let mut sessions: BTreeMap<String, (Vec<Candidate>, bool)> = BTreeMap::new();
        for candidate in candidates {
            if self.is_too_old(&candidate) {
                continue;
            }
            let known = self.state.file(runtime.as_str(), &candidate.path);
            let is_same = known.is_some_and(|known| known.stamp == candidate.stamp);
            let session = match known {
                Some(known) if is_same => known.session.clone(),
                _ if candidate.is_database => Some(format!("\u{0}{}", candidate.path.display())),
                _ => match read_head(&candidate.path) {
                    Ok(head) => {
                        (history.source)(&candidate.name, &head).map(|source| source.session)
                    }
                    Err(error) => {
                        self.refuse(runtime, &candidate.path, error.to_string(), each);
                        continue;
                    }
                },
            };
            let Some(session) = session else {
                if !is_same {
                    self.remember(runtime, &candidate, None);
                }
                continue;
            };
            let entry = sessions.entry(session).or_default();
            entry.1 |= !is_same;
            entry.0.push(candidate);
        }
        let wanted = &self.options.files;
        sessions.retain(|_, (files, _)| {
            wanted.is_empty() || files.iter().any(|file| wanted.contains(&file.path))
        });
        // Only what has changed is compared with what was read of it before.
        let read_before = LazyCell::new(|| self.state.files_by_session(runtime.as_str()));
        for (session, (mut files, is_changed)) in sessions {
            files.sort_by(|one, other| one.name.cmp(&other.name));
            let is_database = files.iter().any(|file| file.is_database);
            let group = group(&mut self.groups, runtime);
            if !is_database {
                group.sessions += 1;
            }
            let known = self.state.session(runtime.as_str(), &session);
            if !is_changed && !known.is_some_and(|known| known.is_open) {
                group.unchanged += known.map_or(0, |known| known.runs);
                if is_database {
                    group.sessions += known.and_then(|known| known.sessions).unwrap_or(0);
                }
                continue;
            }
            jobs.push(SessionJob {
                runtime: runtime.clone(),
                history,
                bytes: files.iter().map(|file| file.stamp.size).sum(),
                is_over: self.options.only.is_some(),
                only_grew: only_grew(read_before.get(session.as_str()), &files),
                files,
                is_database,
                session,
            });
        }
        // Parents before what was forked from them, and the same order every time.
        jobs.sort_by(|one, other| one.order().cmp(&other.order()));
    }

    /// Tells whether a file was last written before the time that is asked for.
    fn is_too_old(&self, candidate: &Candidate) -> bool {
        let at = candidate
            .stamp
            .modified
            .max(candidate.stamp.log.map_or(0, |(_, at)| at));
        self.options
            .since
            .is_some_and(|since| at / 1_000_000 < since)
    }
}

/// Tells whether all files of a session that were read before are still there, and none is shorter.
fn only_grew(known: Option<&KnownFiles<'_>>, files: &[Candidate]) -> bool {
    known.is_some_and(|known| {
        known.iter().all(|(path, stamp)| {
            let now = files
                .iter()
                .find(|file| file.path.to_string_lossy() == **path);
            now.is_some_and(|now| now.stamp.inode == stamp.inode && now.stamp.size >= stamp.size)
        })
    })
}
