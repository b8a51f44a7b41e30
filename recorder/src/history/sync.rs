//! Everything that agents left on this machine, into the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtape_core::report::{SyncGroup, SyncSummary, SyncedSource};
use runtape_core::{RunId, Runtime};
use runtape_normalizer::history::{Framing, History};
use runtape_normalizer::redact::RuleSet;
use runtape_store::{Store, StoreError};

use super::content::{Bytes, SourceContent, read_head};
use super::database::{DatabaseSession, RowLines, read_database};
use super::discover::Candidate;
use super::evidence::Evidence;
use super::places::HistoryDirectory;
use super::plan::FoundHistories;
use super::segment_run::SegmentRun;
use super::session_work::{SessionJob, SessionWork, work};
use super::settled::{Settled, Survey};
use super::state::{HistoryState, KnownFile, KnownSession, Memory};
use super::stored_runs::{Account, StoredRuns};
use super::take_in::{SegmentOutcome, take_in};
use crate::capture::pipeline::{usual_threads, work_in_order};
use crate::error::RecordError;

/// How many bytes of sessions may be read and not be written yet.
const AHEAD: usize = 16 << 20;
/// How many sessions are written until what was read is remembered on disk.
const SAVE_EVERY: usize = 200;
/// What is to be read, and how.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// Where to look.
    pub directories: Vec<HistoryDirectory>,
    /// Leave out what was last written before this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only look, write nothing.
    pub is_dry_run: bool,
    /// The file that remembers what was read; without one, everything is read each time.
    pub memory: Option<PathBuf>,
    /// Take in nothing but the history of this recorded run.
    pub only: Option<RunId>,
    /// A directory for a private copy of a CLI's database; beside the store's own if none is given.
    pub scratch: Option<PathBuf>,
    /// Take in nothing but the sessions that these files belong to.
    pub files: Vec<PathBuf>,
    /// What is taken out before anything is kept: by default what shows by itself to be a secret.
    pub rules: Arc<RuleSet>,
}

/// What a caller is told while history is read.
#[derive(Debug)]
pub enum SyncEvent {
    /// So much has changed since the last time, and is read now.
    Begun {
        /// Sessions.
        sessions: u64,
        /// Bytes of their files.
        bytes: u64,
    },
    /// A session was read, or could not be.
    Read {
        /// What became of it.
        source: Box<SyncedSource>,
        /// How many bytes its files have.
        bytes: u64,
    },
}

/// Reads what agent CLIs keep on disk, and stores what is new of it: runs that are not known, more of runs that
/// are, and the history of recorded runs, which are joined with it.
///
/// The sources are never changed. `clock` gives the time in milliseconds since 1970. What cannot be read is
/// told and counted, and the rest is read; a store that cannot be written ends it.
pub fn sync(
    store: &mut Store,
    options: &SyncOptions,
    clock: impl Fn() -> i64,
    each: &mut dyn FnMut(SyncEvent),
) -> Result<SyncSummary, RecordError> {
    let database = store.database_id()?;
    let mut memory = Memory::open(options.memory.as_deref());
    let whole = Some(&options.directories).filter(|_| options.is_whole());
    let survey = whole.and_then(|directories| Survey::of(directories));
    if let Some(survey) = &survey
        && let Some(settled) = memory
            .settled
            .take_if(|settled| settled.is_as_it_was(database.as_deref(), survey))
    {
        each(SyncEvent::Begun {
            sessions: 0,
            bytes: 0,
        });
        return Ok(SyncSummary {
            is_dry_run: options.is_dry_run,
            groups: settled.groups(),
        });
    }
    let mut sync = Sync {
        options,
        state: memory.into_state(database.as_deref()),
        groups: BTreeMap::new(),
        since_saved: 0,
        taken: 0,
    };
    let jobs = sync.plan(FoundHistories::look(&options.directories), each);
    let sessions = jobs.len() as u64;
    let bytes = jobs.iter().map(|job| job.bytes).sum();
    each(SyncEvent::Begun { sessions, bytes });
    let (databases, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.is_database);
    for job in databases {
        sync.take_database(store, &job, &clock, each)?;
    }
    let mut forks = sync.take_files(store, jobs, &clock, each)?;
    // Whatever they copied is stored by now, if it is anywhere.
    forks.sort_by_key(SessionWork::first_own_at);
    for work in forks {
        sync.take(store, work, &clock, each)?;
    }
    if !options.is_dry_run {
        super::join::join_unnamed(store, &mut sync.groups, sync.taken, options, &clock, each)?;
    }
    sync.save(store, survey.as_ref());
    Ok(sync.summary())
}

impl SyncOptions {
    /// Tells whether all that is found is wanted, so that a sync can leave nothing to do.
    fn is_whole(&self) -> bool {
        self.since.is_none() && self.only.is_none() && self.files.is_empty()
    }
}

pub(super) struct Sync<'o> {
    pub(super) options: &'o SyncOptions,
    pub(super) state: HistoryState,
    pub(super) groups: BTreeMap<String, SyncGroup>,
    since_saved: usize,
    /// How many runs are new.
    taken: u64,
}

/// What is told of a session whose runs are taken in.
struct ToldSession<'a> {
    runtime: &'a Runtime,
    /// The name under which it is remembered.
    group: &'a str,
    id: &'a str,
    contents: &'a [SourceContent],
}

/// Returns what is counted of a runtime.
pub(super) fn group<'a>(
    groups: &'a mut BTreeMap<String, SyncGroup>,
    runtime: &Runtime,
) -> &'a mut SyncGroup {
    let name = runtime.as_str().to_owned();
    groups
        .entry(name)
        .or_insert_with(|| SyncGroup::new(runtime.clone()))
}

impl Sync<'_> {
    pub(super) fn refuse(
        &mut self,
        runtime: &Runtime,
        path: &Path,
        reason: String,
        each: &mut dyn FnMut(SyncEvent),
    ) {
        group(&mut self.groups, runtime).unreadable += 1;
        let source = Box::new(SyncedSource {
            runtime: runtime.clone(),
            session_id: None,
            paths: vec![path.display().to_string()],
            new: Vec::new(),
            grown: Vec::new(),
            joined: Vec::new(),
            unchanged: 0,
            reason: Some(reason),
        });
        each(SyncEvent::Read { source, bytes: 0 });
    }

    pub(super) fn remember(&mut self, runtime: &Runtime, file: &Candidate, session: Option<&str>) {
        let known = KnownFile {
            session: session.map(str::to_owned),
            stamp: file.stamp.clone(),
        };
        self.state.set_file(runtime.as_str(), &file.path, known);
    }

    /// Stores what sessions in files have that is new; returns those that hold copies of others.
    fn take_files(
        &mut self,
        store: &mut Store,
        jobs: Vec<SessionJob>,
        clock: &impl Fn() -> i64,
        each: &mut dyn FnMut(SyncEvent),
    ) -> Result<Vec<SessionWork>, RecordError> {
        let mut forks = Vec::new();
        if jobs.is_empty() {
            // Threads that find nothing to do take longer than all the rest of a sync without a change.
            return Ok(forks);
        }
        let now = clock();
        let rules = Arc::clone(&self.options.rules);
        let weighed = jobs.into_iter().map(|job| {
            let weight = usize::try_from(job.bytes)
                .unwrap_or(usize::MAX)
                .clamp(1, AHEAD);
            (job, weight)
        });
        work_in_order(
            usual_threads(),
            AHEAD,
            weighed,
            |job| job.read(&rules, now),
            |results| {
                for work in results {
                    if work.has_copies() {
                        forks.push(work);
                    } else {
                        self.take(store, work, clock, each)?;
                    }
                }
                Ok::<(), RecordError>(())
            },
        )?;
        Ok(forks)
    }

    /// Stores what the sessions of a database have that is new, one after the other.
    fn take_database(
        &mut self,
        store: &mut Store,
        job: &SessionJob,
        clock: &impl Fn() -> i64,
        each: &mut dyn FnMut(SyncEvent),
    ) -> Result<(), RecordError> {
        let (Some(database), Some(file)) = (job.history.database, job.files.first()) else {
            return Ok(());
        };
        let beside = || Some(store.path()?.parent()?.to_path_buf());
        let scratch = self.options.scratch.clone().or_else(beside);
        let scratch = scratch
            .filter(|path| !path.as_os_str().is_empty())
            .unwrap_or_else(std::env::temp_dir);
        let runtime = job.runtime.clone();
        let mut total = KnownSession::default();
        let mut failed = None;
        let read = read_database(&file.path, database, &scratch, &mut |session| {
            if failed.is_some() {
                return;
            }
            total.sessions = Some(total.sessions.unwrap_or(0) + 1);
            group(&mut self.groups, &runtime).sessions += 1;
            let known = self.state.session(runtime.as_str(), &session.id);
            if let Some(known) = known
                && known.digest.as_ref() == Some(&session.digest)
                && !known.is_open
            {
                total.runs += known.runs;
                group(&mut self.groups, &runtime).unchanged += known.runs;
                return;
            }
            let (digest, id) = (session.digest.clone(), session.id.clone());
            let work = session_of_database(job, session, &self.options.rules, clock());
            let taken = self.take(store, work, clock, each);
            if let Some(known) = self.state.session(runtime.as_str(), &id) {
                total.runs += known.runs;
                total.is_open |= known.is_open;
                let known = KnownSession {
                    digest: Some(digest),
                    ..known.clone()
                };
                self.state.set_session(runtime.as_str(), &id, known);
            }
            failed = taken.err();
        });
        if let Some(error) = failed {
            return Err(error);
        }
        match read {
            Err(error) => self.refuse(&runtime, &file.path, error.to_string(), each),
            Ok(()) if self.options.is_dry_run || self.options.only.is_some() => {}
            Ok(()) => {
                self.remember(&runtime, file, Some(&job.session));
                self.state
                    .set_session(runtime.as_str(), &job.session, total);
            }
        }
        Ok(())
    }

    /// Stores what a session's files have that is new.
    fn take(
        &mut self,
        store: &mut Store,
        work: SessionWork,
        clock: &impl Fn() -> i64,
        each: &mut dyn FnMut(SyncEvent),
    ) -> Result<(), RecordError> {
        let SessionWork {
            runtime,
            group: group_id,
            session,
            contents,
            runs,
            paths,
            files,
            bytes,
            fault,
        } = work;
        let mut source = SyncedSource {
            runtime: runtime.clone(),
            session_id: Some(session.id.clone()).filter(|id| !id.is_empty()),
            paths,
            new: Vec::new(),
            grown: Vec::new(),
            joined: Vec::new(),
            unchanged: 0,
            reason: fault,
        };
        let told = ToldSession {
            runtime: &runtime,
            group: &group_id,
            id: &session.id,
            contents: &contents,
        };
        let known = self.take_runs(store, &told, runs, &mut source, clock)?;
        self.count(store, &runtime, &source)?;
        if !self.options.is_dry_run && self.options.only.is_none() {
            if source.reason.is_none() {
                for file in &files {
                    self.remember(&runtime, file, Some(&group_id));
                }
            }
            self.state.set_session(runtime.as_str(), &group_id, known);
            self.since_saved += 1;
            if self.since_saved >= SAVE_EVERY {
                self.save(store, None);
            }
        }
        each(SyncEvent::Read {
            source: Box::new(source),
            bytes,
        });
        Ok(())
    }

    /// Stores what the runs of a session have that is new; returns what is to be remembered of it.
    fn take_runs(
        &self,
        store: &mut Store,
        told: &ToldSession<'_>,
        runs: Vec<SegmentRun>,
        source: &mut SyncedSource,
        clock: &impl Fn() -> i64,
    ) -> Result<KnownSession, RecordError> {
        let owner_of = |first: &str| self.state.owner_of(told.runtime.as_str(), first);
        let mut known = KnownSession::default();
        let mut stored = StoredRuns::of_session(store, told.runtime, told.id)?;
        let evidence: Vec<Evidence> = runs
            .iter()
            .map(|run| Evidence::of_segment(told.id, &run.segment))
            .collect();
        let copies = runs.iter().filter(|run| run.segment.is_copy);
        let forked_from = copies
            .filter_map(|run| run.segment.responses.first())
            .find_map(|first| owner_of(first))
            .filter(|owner| *owner != told.id);
        for (at, mut run) in runs.into_iter().enumerate() {
            let first = run.segment.responses.first().cloned();
            if run.segment.is_copy {
                let owner = first.as_deref().and_then(owner_of);
                if first.is_none() || owner.is_some_and(|owner| owner != told.group) {
                    continue;
                }
            } else if let Some(parent) = forked_from {
                run.set_forked_from(parent);
            }
            let last_at = run.segment.last_at;
            let is_old = |since: i64| last_at.is_some_and(|at| at < since);
            if self.options.since.is_some_and(is_old) {
                continue;
            }
            known.runs += 1;
            known.is_open |= run.is_open;
            known.firsts.extend(first);
            if self.options.is_dry_run {
                if stored.is_known(store, &run)? {
                    source.unchanged += 1;
                } else {
                    source.new.push(run.run_id);
                }
                continue;
            }
            let account = Account { all: &evidence, at };
            if let Some(only) = &self.options.only
                && !stored.is_of(store, only, account)?
            {
                continue;
            }
            let rules = &self.options.rules;
            let taken = take_in(
                store,
                &mut stored,
                run,
                told.contents,
                account,
                rules,
                clock(),
            );
            match taken {
                Ok(SegmentOutcome::New(run)) => source.new.push(run),
                Ok(SegmentOutcome::Grown(run)) => source.grown.push(run),
                Ok(SegmentOutcome::Joined(run)) => source.joined.push(run),
                Ok(SegmentOutcome::Unchanged) => source.unchanged += 1,
                Ok(SegmentOutcome::Left(reason)) => source.reason = Some(reason),
                Err(error @ RecordError::Store(StoreError::Invalid { .. })) => {
                    source.reason = Some(error.to_string());
                }
                Err(RecordError::History { source: error }) => {
                    source.reason = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }

    fn count(
        &mut self,
        store: &Store,
        runtime: &Runtime,
        source: &SyncedSource,
    ) -> Result<(), StoreError> {
        self.taken += source.new.len() as u64;
        let group = group(&mut self.groups, runtime);
        group.new += source.new.len() as u64;
        group.grown += source.grown.len() as u64;
        group.joined += source.joined.len() as u64;
        group.unchanged += source.unchanged;
        group.unreadable += u64::from(source.reason.is_some());
        if self.options.is_dry_run {
            return Ok(());
        }
        let runs = source.new.iter().chain(&source.grown).chain(&source.joined);
        for root in runs {
            for run in store.tree(root)? {
                group.usage = group.usage.plus(run.usage);
                group.cost = group.cost.plus(&run.cost);
            }
        }
        Ok(())
    }

    /// Remembers on disk what was read; `survey` if all that was found was. It is a memory only: if it cannot be kept, more is
    /// read the next time.
    fn save(&mut self, store: &Store, survey: Option<&Survey>) {
        self.since_saved = 0;
        if self.options.is_dry_run || self.options.only.is_some() {
            return;
        }
        let Ok(database) = store.database_id() else {
            return;
        };
        let settled = survey
            .filter(|_| !self.state.has_open())
            .zip(database.clone())
            .and_then(|(survey, database)| Settled::after(database, survey, &self.groups));
        let _ = self
            .state
            .save(self.options.memory.as_deref(), database, settled);
    }

    fn summary(self) -> SyncSummary {
        SyncSummary {
            is_dry_run: self.options.is_dry_run,
            groups: self.groups.into_values().collect(),
        }
    }
}

/// Returns the framing of a file, which its runtime tells from its name and first bytes.
pub(super) fn framing_of(history: &History, name: &str, path: &Path) -> std::io::Result<Framing> {
    let source = (history.source)(name, &read_head(path)?);
    Ok(source.map_or(Framing::Lines, |source| source.framing))
}

/// Cuts a session of a database into runs.
fn session_of_database(
    job: &SessionJob,
    session: DatabaseSession,
    rules: &RuleSet,
    now: i64,
) -> SessionWork {
    let contents: Vec<SourceContent> = session
        .sources
        .into_iter()
        .map(|source| {
            let bytes = match source.lines {
                RowLines::Held(bytes) => Bytes::Held(bytes),
                RowLines::File(file, length) => Bytes::File(file, length),
            };
            SourceContent::new(source.name, Framing::Lines, bytes)
        })
        .collect();
    let job = SessionJob {
        session: session.id,
        bytes: contents.iter().map(SourceContent::length).sum(),
        files: Vec::new(),
        ..job.clone()
    };
    let mut work = work(job, contents, rules, now);
    if let Some(reason) = session.left_out.first() {
        work.fault = Some(reason.clone());
    }
    work
}
