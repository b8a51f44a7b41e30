//! What Perstack's readers and its terminal UI need of a job tree, checked on the raw files.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::shape::{CHECKPOINT, EVENT_BASE, EVENTS, JOB, RUN_SETTING, Rule, dropped_keys, faults};

/// A file of a tree.
pub(crate) struct JsonFile {
    pub(crate) path: PathBuf,
    pub(crate) value: Value,
}

impl JsonFile {
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap().to_str().unwrap().to_owned()
    }
}

/// The files of one run.
#[derive(Default)]
pub(crate) struct RunFiles {
    pub(crate) setting: Option<JsonFile>,
    /// As Perstack reads them: by the time in their names.
    pub(crate) events: Vec<JsonFile>,
}

/// The files of one job.
#[derive(Default)]
pub(crate) struct JobFiles {
    pub(crate) job: Option<JsonFile>,
    pub(crate) checkpoints: Vec<JsonFile>,
    pub(crate) runs: BTreeMap<String, RunFiles>,
}

/// Everything that is wrong with a job tree, each with the file's name.
#[derive(Default)]
pub(crate) struct Checker {
    pub(crate) found: Vec<String>,
    pub(crate) files: usize,
    /// Lines that the terminal UI shows, by kind.
    pub(crate) lines: BTreeMap<&'static str, usize>,
}

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(crate) fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or(-1)
}

/// Returns the parts of a type in a list of messages.
pub(crate) fn parts<'v>(
    messages: &'v [Value],
    tag: &'static str,
) -> impl Iterator<Item = &'v Value> {
    let parts = messages
        .iter()
        .flat_map(|message| list(message, "contents"));
    parts.filter(move |part| text(part, "type") == tag)
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Reads an event's name as Perstack does: pieces between hyphens, before the first dot.
fn event_name(name: &str) -> Option<(u64, u64, String)> {
    let mut pieces = name.split('.').next()?.split('-').skip(1);
    let at = pieces.next()?.parse().ok()?;
    let step = pieces.next()?.parse().ok()?;
    Some((at, step, pieces.collect::<Vec<_>>().join("-")))
}

impl Checker {
    /// Checks every job below `perstack/jobs`.
    pub(crate) fn check(base: &Path) -> Self {
        let mut checker = Self::default();
        let jobs = base.join("perstack").join("jobs");
        for job in names(&jobs) {
            checker.job(&job, &jobs.join(&job));
        }
        checker
    }

    pub(crate) fn fault(&mut self, file: &str, fault: impl std::fmt::Display) {
        self.found.push(format!("{file}: {fault}"));
    }

    fn read(&mut self, path: PathBuf, rule: Rule, is_pretty: bool) -> Option<JsonFile> {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let content = fs::read_to_string(&path).unwrap();
        self.files += 1;
        if content.ends_with(char::is_whitespace) {
            self.fault(&name, "it ends in white space");
        }
        if is_pretty != content.contains("\n  \"") || (!is_pretty && content.contains('\n')) {
            self.fault(&name, "it is not indented as it should be");
        }
        let value = match serde_json::from_str(&content) {
            Ok(value) => value,
            Err(error) => {
                self.fault(&name, error);
                return None;
            }
        };
        for fault in faults(&value, rule) {
            self.fault(&name, fault);
        }
        // Events are never written again. `temperature` is what the first version's settings had.
        if !name.starts_with("event-") && name != "run-setting.json" {
            for key in dropped_keys(&value, rule) {
                self.fault(&name, format!("{key}: Perstack would drop it"));
            }
        }
        Some(JsonFile { path, value })
    }

    fn files(&mut self, directory: &Path) -> JobFiles {
        let mut files = JobFiles::default();
        for name in names(directory) {
            match name.as_str() {
                "job.json" => files.job = self.read(directory.join(&name), JOB, true),
                // Says that an export wrote the tree. Perstack opens only what it knows.
                "checkpoints" | "runs" | ".runtape-export.json" => {}
                other => self.fault(other, "no such file is part of a job"),
            }
        }
        for name in names(&directory.join("checkpoints")) {
            let path = directory.join("checkpoints").join(&name);
            files.checkpoints.extend(self.read(path, CHECKPOINT, false));
        }
        for run in names(&directory.join("runs")) {
            let directory = directory.join("runs").join(&run);
            let mut found = RunFiles::default();
            for name in names(&directory) {
                let path = directory.join(&name);
                if name == "run-setting.json" {
                    found.setting = self.read(path, RUN_SETTING, false);
                } else if event_name(&name).is_some() && name.starts_with("event-") {
                    found.events.extend(self.read(path, EVENTS, false));
                } else {
                    self.fault(&name, "no such file is part of a run");
                }
            }
            let time = |file: &JsonFile| event_name(&file.name()).unwrap().0;
            found.events.sort_by_key(time);
            files.runs.insert(run, found);
        }
        files
    }

    fn job(&mut self, id: &str, directory: &Path) {
        let files = self.files(directory);
        let Some(job) = &files.job else {
            return self.fault(id, "without job.json nobody sees the job");
        };
        if text(&job.value, "id") != id {
            self.fault("job.json", "/id: it is another job's");
        }
        let mut ids = HashSet::new();
        for file in &files.checkpoints {
            self.checkpoint(id, file, &files);
            if !ids.insert(text(&file.value, "id").to_owned()) {
                self.fault(&file.name(), "/id: it is not the only one");
            }
        }
        let mut event_ids = HashSet::new();
        for (run, found) in &files.runs {
            self.setting(id, run, found);
            self.run(id, run, found, &files);
            for file in &found.events {
                if !event_ids.insert(text(&file.value, "id").to_owned()) {
                    self.fault(&file.name(), "/id: it is not the only one");
                }
            }
        }
        self.numbers(&job.value, &files);
    }

    /// Steps are numbered over the whole job, and the last one of the root run is what
    /// `--continue` takes.
    fn numbers(&mut self, job: &Value, files: &JobFiles) {
        let mut steps: Vec<&JsonFile> = files.checkpoints.iter().collect();
        steps.sort_by_key(|file| number(&file.value, "stepNumber"));
        for (expected, file) in (1..).zip(&steps) {
            if number(&file.value, "stepNumber") != expected {
                self.fault(
                    &file.name(),
                    format!("/stepNumber: {expected} is missing or twice"),
                );
            }
        }
        if usize::try_from(number(job, "totalSteps")) != Ok(steps.len()) {
            self.fault("job.json", "/totalSteps: not the number of checkpoints");
        }
        let Some(last) = steps.last() else {
            return self.fault("job.json", "no checkpoint");
        };
        let status = text(&last.value, "status");
        let words = match text(job, "status") {
            "stoppedByMaxSteps" => vec!["stoppedByExceededMaxSteps"],
            "running" => vec!["init", "proceeding", "stoppedByDelegate"],
            same => vec![same],
        };
        if !words.contains(&status) {
            self.fault(
                "job.json",
                format!("/status: the last checkpoint says {status}"),
            );
        }
        if last.value.get("delegatedBy").is_some() {
            self.fault(
                &last.name(),
                "/stepNumber: the highest is not the root run's",
            );
        }
        if last.value["usage"] != job["usage"] {
            self.fault("job.json", "/usage: not that of the last checkpoint");
        }
        if (text(job, "status") == "running") == job.get("finishedAt").is_some() {
            self.fault("job.json", "/finishedAt: does not go with the status");
        }
        self.times(job, files);
    }

    /// A job lasts from its first event to its last, and so does a run.
    fn times(&mut self, job: &Value, files: &JobFiles) {
        let of_run = |run: &RunFiles| {
            let mut times = run
                .events
                .iter()
                .map(|file| number(&file.value, "timestamp"));
            let first = times.next()?;
            Some((first, times.next_back().unwrap_or(first)))
        };
        let times: Vec<(i64, i64)> = files.runs.values().filter_map(of_run).collect();
        let first = times.iter().map(|(first, _)| *first).min();
        let last = times.iter().map(|(_, last)| *last).max();
        if first.is_some_and(|first| number(job, "startedAt") != first) {
            self.fault("job.json", "/startedAt: not the time of the first event");
        }
        let finished = job.get("finishedAt").and_then(Value::as_i64);
        if finished.is_some() && finished != last {
            self.fault("job.json", "/finishedAt: not the time of the last event");
        }
        for run in files.runs.values() {
            let (Some(setting), Some((first, last))) = (&run.setting, of_run(run)) else {
                continue;
            };
            for (key, expected) in [("startedAt", first), ("updatedAt", last)] {
                if number(&setting.value, key) != expected {
                    let fault = format!("/{key}: not that of the run's events");
                    self.fault(&setting.name(), fault);
                }
            }
        }
    }

    fn setting(&mut self, job: &str, run: &str, found: &RunFiles) {
        let Some(file) = &found.setting else {
            return self.fault(run, "no run-setting.json");
        };
        for (key, expected) in [("jobId", job), ("runId", run)] {
            if text(&file.value, key) != expected {
                self.fault(&file.name(), format!("/{key}: it is another's"));
            }
        }
        if !is_expert_key(text(&file.value, "expertKey")) {
            self.fault(&file.name(), "/expertKey: not a key");
        }
        for (key, least) in [("maxRetries", 0), ("timeout", 0), ("maxSteps", 1)] {
            let number = file.value.get(key).and_then(Value::as_i64);
            if number.is_some_and(|number| number < least) {
                self.fault(&file.name(), format!("/{key}: too small"));
            }
        }
        let asked = file.value.pointer("/input/text").and_then(Value::as_str);
        // A run that continues another may have been asked there.
        let given = found.events.first().into_iter().flat_map(|start| {
            let inherited = list(&start.value["initialCheckpoint"], "messages");
            inherited.iter().chain(list(&start.value, "inputMessages"))
        });
        let mut given = given.filter(|message| text(message, "type") == "userMessage");
        let is_given = |asked: &str| {
            given.any(|user| {
                let mut said = parts(std::slice::from_ref(user), "textPart");
                said.any(|part| text(part, "text") == asked)
            })
        };
        if !asked.is_none_or(is_given) {
            self.fault(&file.name(), "/input/text: no query line shows it");
        }
    }

    fn checkpoint(&mut self, job: &str, file: &JsonFile, files: &JobFiles) {
        let (name, value) = (file.name(), &file.value);
        if name != format!("{}.json", text(value, "id")) {
            self.fault(&name, "/id: not the file's name");
        }
        if text(value, "jobId") != job {
            self.fault(&name, "/jobId: it is another job's");
        }
        if !files.runs.contains_key(text(value, "runId")) {
            self.fault(&name, "/runId: there is no such run");
        }
        let is_failure = text(value, "status") == "stoppedByError";
        if is_failure && value.get("error").is_none() {
            self.fault(&name, "/error: missing");
        }
        if let Some(by) = value.get("delegatedBy") {
            let parent = files.checkpoints.iter().find(|parent| {
                text(&parent.value, "id") == text(by, "checkpointId")
                    && text(&parent.value, "runId") == text(by, "runId")
            });
            let called = parent.is_some_and(|parent| {
                parts(list(&parent.value, "messages"), "toolCallPart")
                    .any(|part| text(part, "toolCallId") == text(by, "toolCallId"))
            });
            if !called {
                self.fault(&name, "/delegatedBy: that checkpoint has no such call");
            }
        }
        let own = files.checkpoints.iter().map(|file| &file.value);
        let own = own.filter(|other| other["runId"] == value["runId"]);
        self.conversation(&name, value, &own.collect::<Vec<_>>());
    }

    /// A conversation that a provider accepts: every result answers a call, none twice.
    fn conversation(&mut self, name: &str, checkpoint: &Value, of_run: &[&Value]) {
        let messages = list(checkpoint, "messages");
        let mut ids = HashSet::new();
        let (mut called, mut answered) = (HashSet::new(), HashSet::new());
        for message in messages {
            let own = std::iter::once(message).chain(list(message, "contents"));
            for id in own.map(|object| text(object, "id")) {
                if id.is_empty() || !ids.insert(id) {
                    self.fault(name, format!("/messages: id {id:?} is not the only one"));
                }
            }
            let message = std::slice::from_ref(message);
            called.extend(parts(message, "toolCallPart").map(|part| text(part, "toolCallId")));
            for result in parts(message, "toolResultPart") {
                let id = text(result, "toolCallId");
                if !answered.insert(id) {
                    self.fault(name, format!("/messages: call {id:?} is answered twice"));
                }
                let is_orphan = of_run.iter().any(|one| is_orphan(one, id));
                if !called.contains(id) && !is_orphan {
                    self.fault(name, format!("/messages: result {id:?} answers no call"));
                }
            }
        }
        for pending in list(checkpoint, "pendingToolCalls") {
            let id = text(pending, "id");
            if !called.contains(id) || answered.contains(id) {
                self.fault(
                    name,
                    format!("/pendingToolCalls: call {id:?} is not pending"),
                );
            }
        }
        if text(checkpoint, "status") == "completed" {
            let last = messages
                .last()
                .filter(|last| text(last, "type") == "expertMessage");
            let spoken = last.map(|last| parts(std::slice::from_ref(last), "textPart").count());
            if spoken.unwrap_or(0) == 0 {
                self.fault(name, "/messages: the answer is no text of the last message");
            }
        }
    }

    fn run(&mut self, job: &str, run: &str, found: &RunFiles, files: &JobFiles) {
        let mut seen = HashSet::new();
        for file in &found.events {
            let (name, value) = (file.name(), &file.value);
            for fault in faults(value, EVENT_BASE) {
                self.fault(&name, fault);
            }
            let expected = format!(
                "event-{}-{}-{}.json",
                number(value, "timestamp"),
                number(value, "stepNumber"),
                text(value, "type")
            );
            if name != expected {
                self.fault(&name, format!("it should be called {expected}"));
            }
            if !seen.insert(event_name(&name).unwrap().0) {
                self.fault(&name, "an event of this run has the same time: no order");
            }
            if (text(value, "jobId"), text(value, "runId")) != (job, run) {
                self.fault(&name, "/runId: it is another run's");
            }
        }
        self.order(run, found, files);
        self.screen(found);
    }
}

/// Tells whether a checkpoint notes a result as one whose call was never printed.
pub(crate) fn is_orphan(checkpoint: &Value, id: &str) -> bool {
    let notes = list(&checkpoint["metadata"]["runtape"], "results");
    let mut notes = notes.iter().filter(|note| text(note, "toolCallId") == id);
    notes.any(|note| note["unmatched"] == true)
}

/// Perstack's rule for keys of experts: `[@scope/]name[@version or @tag]`.
fn is_expert_key(key: &str) -> bool {
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || "_.-".contains(c))
    };
    let rest = key.strip_prefix('@').map_or(Some(key), |scoped| {
        let (scope, rest) = scoped.split_once('/')?;
        is_name(scope).then_some(rest)
    });
    rest.is_some_and(|rest| rest.split('@').count() <= 2 && rest.split('@').all(is_name))
}
