//! The runs that are open, with what each is doing.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use runtape_core::prices::PriceTable;
use runtape_core::report::RunInfo;
use runtape_core::{Outcome, RunId, TranscriptKind};
use runtape_recorder::Estimates;
use runtape_store::{RunFilter, Store};
use serde_json::{Value, json};

use super::event;
use super::open_step;
use super::watcher::Watcher;
use crate::api::resumed_builder;
use crate::cut::beginning;
use crate::problem::Problem;

/// Open runs that are shown, children included.
const RUNS: usize = 500;

/// Records from the end among which the last words or call are looked for.
const LAST_RECORDS: u64 = 8;

/// Bytes of what a run is doing.
const LONGEST_TEXT: usize = 300;

/// A root run and the runs that it started, as far as they are open.
struct OpenTree {
    root: RunInfo,
    children: Vec<RunInfo>,
}

/// What tells whether a card has changed: the runs, their numbers of records, and how long their tape is.
type Fingerprint = (Vec<(RunId, u64)>, u64);

/// A run that was shown.
struct Card {
    fingerprint: Fingerprint,
    event: Bytes,
}

/// The runs that are open, read once, however many watch.
pub(super) struct Cards {
    prices: Arc<PriceTable>,
    shown: BTreeMap<RunId, Card>,
    watchers: Vec<Watcher>,
}

impl Cards {
    /// Creates cards whose costs are estimated by a table of prices.
    pub(super) fn new(prices: Arc<PriceTable>) -> Self {
        Self {
            prices,
            shown: BTreeMap::new(),
            watchers: Vec::new(),
        }
    }

    /// Adds a watcher; returns what it has to be shown first.
    pub(super) fn watch(&mut self, store: &Store, watcher: Watcher) -> Result<Vec<Bytes>, Problem> {
        self.poll(store)?;
        self.watchers.push(watcher);
        let shown = self.shown.values().map(|card| card.event.clone());
        Ok(shown.collect())
    }

    /// Tells whether nobody watches.
    pub(super) fn is_idle(&mut self) -> bool {
        self.watchers.retain(|watcher| !watcher.is_over());
        self.watchers.is_empty()
    }

    fn send(&mut self, event: &Bytes) {
        self.watchers.retain(|watcher| watcher.send(event));
    }

    /// Sends what has changed.
    pub(super) fn poll(&mut self, store: &Store) -> Result<(), Problem> {
        let trees = open_trees(store)?;
        let ended: Vec<RunId> = self
            .shown
            .keys()
            .filter(|run| !trees.contains_key(*run))
            .cloned()
            .collect();
        for run in ended {
            self.shown.remove(&run);
            // A run that is not there any more was deleted: whoever shows it learns so by asking.
            if let Ok(info) = store.run(&run) {
                let tree = OpenTree {
                    root: info,
                    children: Vec::new(),
                };
                let event = card(store, tree, &self.prices)?;
                self.send(&event);
            }
        }
        for (run, tree) in trees {
            let members = std::iter::once(&tree.root).chain(&tree.children);
            let counts = members.map(|member| (member.run_id.clone(), member.records));
            let fingerprint = (counts.collect(), open_step::tape_length(store, &tree.root)?);
            let is_same = |card: &Card| card.fingerprint == fingerprint;
            if self.shown.get(&run).is_some_and(is_same) {
                continue;
            }
            let event = card(store, tree, &self.prices)?;
            self.send(&event);
            self.shown.insert(run, Card { fingerprint, event });
        }
        Ok(())
    }
}

fn open_trees(store: &Store) -> Result<BTreeMap<RunId, OpenTree>, Problem> {
    let mut filter = RunFilter::default();
    filter.outcome = Some(Outcome::Running);
    let mut trees = BTreeMap::new();
    let mut children = Vec::new();
    for run in store.runs(&filter, None, RUNS)?.items {
        if run.root_run_id.is_some() {
            children.push(run);
            continue;
        }
        let tree = OpenTree {
            root: run.clone(),
            children: Vec::new(),
        };
        trees.insert(run.run_id, tree);
    }
    for child in children {
        if let Some(tree) = child
            .root_run_id
            .as_ref()
            .and_then(|root| trees.get_mut(root))
        {
            tree.children.push(child);
        }
    }
    Ok(trees)
}

/// Writes a card: the run as in lists, and what was seen of it last.
fn card(store: &Store, mut tree: OpenTree, prices: &PriceTable) -> Result<Bytes, Problem> {
    let root = std::slice::from_mut(&mut tree.root);
    Estimates::by(prices).of_runs(store, root)?;
    let mut now: Option<(i64, Value)> = None;
    for run in std::iter::once(&tree.root).chain(&tree.children) {
        let seen = match going_on(store, run)? {
            Some(seen) => Some(seen),
            None => last_seen(store, run)?,
        };
        if seen.as_ref().map(|(at, _)| *at) > now.as_ref().map(|(at, _)| *at) {
            now = seen;
        }
    }
    // By the recorder's clock: the agent's may be another one.
    let received_at = store.last_received_at(&tree.root.run_id)?;
    let received_at = received_at.map(runtape_core::iso_time);
    let mut data = serde_json::to_value(tree.root)?;
    if let Value::Object(fields) = &mut data {
        fields.insert("now".to_owned(), now.map(|(_, now)| now).into());
        fields.insert("receivedAt".to_owned(), received_at.into());
        fields.insert("openChildren".to_owned(), tree.children.len().into());
    }
    Ok(event::event("run", None, &data))
}

/// Returns what a run does in the step that it is in, and since when.
fn going_on(store: &Store, run: &RunInfo) -> Result<Option<(i64, Value)>, Problem> {
    let tape = open_step::tape_length(store, run)?;
    let Some(step) = open_step::of(store, run, tape)? else {
        return Ok(None);
    };
    let (at, kind, text) = match (step.calls.last(), step.text) {
        (Some(call), _) => {
            let about = call
                .command
                .as_ref()
                .or(call.path.as_ref())
                .or(call.url.as_ref());
            let about = about.map(String::as_str).unwrap_or_default();
            let kind = if call.is_running {
                "tool_call"
            } else {
                "tool_result"
            };
            (call.at, kind, format!("{} {about}", call.tool))
        }
        (None, Some(text)) => (step.started_at, "assistant", text),
        (None, None) => return Ok(None),
    };
    let text = beginning(text.trim(), LONGEST_TEXT);
    let now = json!({
        "runId": run.run_id, "at": runtape_core::iso_time(at), "kind": kind, "text": text,
    });
    Ok(Some((at, now)))
}

/// Returns the last words, call or result of a run, and when that was.
fn last_seen(store: &Store, run: &RunInfo) -> Result<Option<(i64, Value)>, Problem> {
    let start = run.records.saturating_sub(LAST_RECORDS);
    let mut builder = resumed_builder(store, run, 0)?;
    let mut seen = None;
    for record in store.records(&run.run_id, start, usize::MAX)? {
        for entry in builder.push(&record) {
            let Some((kind, text)) = gist(&entry.kind) else {
                continue;
            };
            let text = beginning(text.trim(), LONGEST_TEXT);
            let now = json!({
                "runId": record.run_id, "seq": record.seq, "at": entry.ts, "kind": kind, "text": text,
            });
            seen = Some((record.at, now));
        }
    }
    Ok(seen)
}

/// Returns what an entry is about, in one text.
fn gist(kind: &TranscriptKind) -> Option<(&'static str, String)> {
    Some(match kind {
        TranscriptKind::Assistant(entry) => ("assistant", entry.text.clone()),
        TranscriptKind::Thinking(entry) => ("thinking", entry.text.clone()),
        TranscriptKind::User(entry) => ("user", entry.text.clone()),
        TranscriptKind::ToolCall(entry) => ("tool_call", format!("{} {}", entry.name, entry.input)),
        TranscriptKind::ToolResult(entry) => {
            let name = entry.tool_name.as_deref().unwrap_or("tool");
            ("tool_result", format!("{name}: {}", entry.content))
        }
        TranscriptKind::System(entry) => ("system", entry.text.clone()),
        TranscriptKind::Stderr(entry) => ("stderr", entry.text.clone()),
        TranscriptKind::Stdout(entry) => ("stdout", entry.text.clone()),
        _ => return None,
    })
}
