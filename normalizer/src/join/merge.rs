//! Two halves into one sequence of signals.

use std::collections::{HashMap, HashSet, VecDeque};

use runtape_core::runtime_event::HistoryMismatch;

use super::align::{StepRange, align};
use super::backbone::{Backbone, backbones};
use super::half::{Half, HalfItem, push_loose};
use super::notices::{PrintedTasks, SameCalls, rename_call};
use super::owned::{OwnedCall, OwnedSignal};
use crate::framing::lines::{Ending, Line};
use crate::reducer::Reducer;
use crate::signal::{Emitted, Scope, Signal, TapePlace};

/// What the output says of a call that the history tells of, too.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    is_error: Option<bool>,
    duration_ms: Option<u64>,
}

/// How a step of the output stands to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InStep {
    /// There is none.
    No,
    /// Only the output has it.
    Own,
    /// It is this step of the history, or the last of those that it is; whose text is taken.
    Shared {
        first: usize,
        last: usize,
        takes_printed_text: bool,
    },
}

/// Gives out both halves.
pub(super) struct Merge {
    backbones: Vec<Backbone>,
    calls: Vec<String>,
    printed: Half,
    /// Which run of the history each run of the output is.
    scopes: Vec<Option<usize>>,
    matches: Vec<Vec<Option<StepRange>>>,
    in_step: Vec<InStep>,
    /// The calls of the history that calls of the output are, by run.
    same_calls: Vec<SameCalls>,
    printed_tasks: PrintedTasks,
    measured: HashMap<(usize, OwnedCall), Measured>,
    /// What was asked, without marks.
    asked: HashSet<String>,
    usage_keys: HashSet<String>,
    is_timeless: bool,
    pub(super) prefers_printed_text: bool,
    last_at: i64,
}

impl Merge {
    /// `began_at` is when the run began, as far as is known without the history.
    pub(super) fn new(history: Half, printed: Half, is_timeless: bool, began_at: i64) -> Self {
        let scopes = map_scopes(&history, &printed);
        let matches: Vec<_> = scopes
            .iter()
            .zip(&printed.scopes)
            .map(
                |(there, scope)| match there.and_then(|there| history.scopes.get(there)) {
                    Some(there) => align(&scope.steps, &there.steps),
                    None => vec![None; scope.steps.len()],
                },
            )
            .collect();
        let (asked, usage_keys) = said(&history);
        let first_at = history
            .items
            .iter()
            .map(|item| item.place.at)
            .find(|at| *at > 0);
        let mut merge = Self {
            calls: history
                .scopes
                .iter()
                .map(|scope| scope.call.clone())
                .collect(),
            backbones: Vec::new(),
            in_step: vec![InStep::No; printed.scopes.len()],
            same_calls: Vec::new(),
            printed_tasks: PrintedTasks::default(),
            measured: HashMap::new(),
            scopes,
            matches,
            printed,
            asked,
            usage_keys,
            is_timeless,
            prefers_printed_text: false,
            last_at: first_at.unwrap_or(began_at),
        };
        merge.backbones = backbones(history);
        merge.same_calls = merge.map_calls();
        merge.printed_tasks = PrintedTasks::of(&merge.printed.items, &merge.same_calls);
        merge.measure();
        merge
    }

    /// Gives everything out, in the order of the output.
    pub(super) fn run(mut self, reducer: &mut Reducer) {
        let items = std::mem::take(&mut self.printed.items);
        let is_result =
            |item: &HalfItem| matches!(item.signal, OwnedSignal::Other(Signal::Result(_)));
        let last_result = items.iter().rposition(is_result);
        self.advance(0, None, reducer);
        for (at, item) in items.into_iter().enumerate() {
            if Some(at) == last_result {
                self.advance_all(reducer);
            }
            self.on_printed(item, reducer);
        }
        self.advance_all(reducer);
    }

    fn on_printed(&mut self, item: HalfItem, reducer: &mut Reducer) {
        let there = self.scopes.get(item.scope).copied().flatten();
        let state = self.in_step.get(item.scope).copied().unwrap_or(InStep::No);
        // The step of a part shows even where no signal opened it.
        let matched = item.step.and_then(|step| {
            let matches = self.matches.get(item.scope)?;
            matches.get(step).cloned().flatten()
        });
        let state = match (item.step, matched, there, state) {
            (None, ..) => InStep::No,
            (_, Some(found), _, InStep::Shared { last, .. }) if *found.end() == last => state,
            (Some(step), Some(found), Some(there), _) => {
                self.enter(item.scope, step, there, &found, reducer)
            }
            _ => InStep::Own,
        };
        if let Some(slot) = self.in_step.get_mut(item.scope) {
            *slot = state;
        }
        match state {
            InStep::Shared {
                first,
                last,
                takes_printed_text,
            } => {
                let there = there.unwrap_or_default();
                self.on_shared(item, there, first..=last, takes_printed_text, reducer);
            }
            InStep::Own | InStep::No => self.on_own(item, reducer),
        }
    }

    /// Goes on to a step that both have: what the history has before it comes first.
    fn enter(
        &mut self,
        scope: usize,
        step: usize,
        there: usize,
        found: &StepRange,
        reducer: &mut Reducer,
    ) -> InStep {
        let (first, last) = (*found.start(), *found.end());
        let printed = self
            .printed
            .scopes
            .get(scope)
            .and_then(|scope| scope.steps.get(step));
        let facts = self
            .backbones
            .get(there)
            .and_then(|backbone| backbone.facts.get(first))
            .filter(|_| first == last);
        let takes_printed_text = match (printed, facts) {
            (Some(printed), Some(facts)) => {
                let (one, other) = (printed.loose.as_str(), facts.loose.as_str());
                !one.is_empty()
                    && (other.is_empty()
                        || (one.len() > other.len() && one.starts_with(other))
                        || (self.prefers_printed_text && one == other))
            }
            _ => false,
        };
        self.advance(there, Some(first), reducer);
        if takes_printed_text {
            self.open(there, first, reducer);
        } else {
            self.advance(there, Some(last + 1), reducer);
        }
        InStep::Shared {
            first,
            last,
            takes_printed_text,
        }
    }

    /// Gives out a step of the history but for its text, its calls and what follows them: they come as
    /// the output has them.
    fn open(&mut self, there: usize, at: usize, reducer: &mut Reducer) {
        let group = self.backbones.get_mut(there).and_then(|backbone| {
            let is_it = backbone
                .groups
                .front()
                .is_some_and(|(step, _)| *step == Some(at));
            is_it.then(|| backbone.groups.pop_front()).flatten()
        });
        let mut later = VecDeque::new();
        for item in group.map(|(_, items)| items).into_iter().flatten() {
            match &item.signal {
                OwnedSignal::Other(Signal::Text(_) | Signal::TextDelta(_) | Signal::TextEnd) => {}
                OwnedSignal::ToolCall { .. }
                | OwnedSignal::ToolResult { .. }
                | OwnedSignal::ToolInput { .. }
                | OwnedSignal::Other(Signal::User(_)) => later.push_back(item),
                _ if later.is_empty() => self.give(there, item, reducer),
                _ => later.push_back(item),
            }
        }
        if let Some(backbone) = self.backbones.get_mut(there) {
            backbone.open = later;
        }
    }

    /// Gives out the history of a run up to a step; `None` is what comes before the first.
    fn advance(&mut self, there: usize, end: Option<usize>, reducer: &mut Reducer) {
        let Some(backbone) = self.backbones.get_mut(there) else {
            return;
        };
        let open = std::mem::take(&mut backbone.open);
        for item in open {
            self.give(there, item, reducer);
        }
        loop {
            let Some(backbone) = self.backbones.get_mut(there) else {
                return;
            };
            let is_due = match (backbone.groups.front(), end) {
                (Some((None, _)), _) => true,
                (Some((Some(step), _)), Some(end)) => *step < end,
                _ => false,
            };
            if !is_due {
                return;
            }
            let Some((_, items)) = backbone.groups.pop_front() else {
                return;
            };
            for item in items {
                self.give(there, item, reducer);
            }
        }
    }

    /// Gives out what is left of the history.
    fn advance_all(&mut self, reducer: &mut Reducer) {
        for there in 0..self.backbones.len() {
            self.advance(there, Some(usize::MAX), reducer);
        }
    }

    /// Gives out what only the output says.
    fn on_own(&mut self, item: HalfItem, reducer: &mut Reducer) {
        match &item.signal {
            OwnedSignal::Other(Signal::User(text)) => {
                let mut loose = String::new();
                push_loose(&mut loose, text);
                if self.asked.contains(&loose) {
                    return;
                }
            }
            OwnedSignal::Other(Signal::Usage { key, .. })
                if self.usage_keys.contains(key.as_ref()) =>
            {
                return;
            }
            // The history has the responses: a total of the session would count them again.
            OwnedSignal::Other(Signal::SessionTotal(_)) if !self.usage_keys.is_empty() => return,
            OwnedSignal::Other(Signal::ChildEnd { call, .. }) => {
                let scope = self.printed.scope_of(call);
                let there = scope.and_then(|scope| self.scopes.get(scope).copied().flatten());
                if let Some(there) = there {
                    self.advance(there, Some(usize::MAX), reducer);
                }
            }
            _ => {}
        }
        self.emit_printed(item, reducer);
    }

    /// Gives out what the output says of a step that the history has, too, where the history does not
    /// say it.
    fn on_shared(
        &mut self,
        mut item: HalfItem,
        there: usize,
        steps: StepRange,
        takes_printed_text: bool,
        reducer: &mut Reducer,
    ) {
        let Some(facts) = self
            .backbones
            .get(there)
            .and_then(|backbone| backbone.facts.get(steps))
        else {
            return self.on_own(item, reducer);
        };
        let has_usage = facts.iter().any(|step| step.has_usage);
        let is_given_up = facts.iter().any(|step| step.is_given_up);
        let has_thinking = facts.iter().any(|step| step.has_thinking);
        let same = |call: &OwnedCall| {
            let calls = self.same_calls.get(item.scope)?;
            calls.get(call).cloned()
        };
        let is_kept = match &mut item.signal {
            OwnedSignal::Step(_) => false,
            OwnedSignal::Other(signal) => match signal {
                Signal::Remark
                | Signal::Text(_)
                | Signal::TextDelta(_)
                | Signal::TextEnd
                | Signal::MessageCut => takes_printed_text,
                Signal::Thinking { .. } | Signal::ThinkingDelta(_) | Signal::ThinkingEnd { .. } => {
                    !has_thinking
                }
                Signal::Usage { .. } if has_usage => false,
                Signal::MessagePrinted => false,
                _ => return self.on_own(item, reducer),
            },
            OwnedSignal::MessageGivenUp(_) if is_given_up => false,
            // What was given up is not in the history: the notice stays.
            OwnedSignal::MessageGivenUp(retry) | OwnedSignal::PartGivenUp(retry) => {
                let notice = Signal::Event(retry.clone().into());
                item.signal = OwnedSignal::Other(notice);
                true
            }
            OwnedSignal::ToolCall { call, .. } | OwnedSignal::ToolInput { call, .. } => {
                match same(call) {
                    Some(known) => {
                        self.give_open(there, &known, reducer);
                        false
                    }
                    None => true,
                }
            }
            OwnedSignal::ToolResult { call, .. } => match same(call) {
                Some(known) => {
                    let backbone = self.backbones.get(there);
                    let is_told = backbone.is_some_and(|there| there.results.contains(&known));
                    *call = known.clone();
                    if is_told {
                        self.give_open(there, &known, reducer);
                    }
                    !is_told
                }
                None => true,
            },
            _ => return self.on_own(item, reducer),
        };
        if is_kept {
            self.emit_printed(item, reducer);
        }
    }

    /// Gives out the next thing that the history says of a call of the open step.
    fn give_open(&mut self, there: usize, call: &OwnedCall, reducer: &mut Reducer) {
        let open = self
            .backbones
            .get_mut(there)
            .map(|backbone| &mut backbone.open);
        let found = open.and_then(|open| {
            let at = open.iter().position(|item| match &item.signal {
                OwnedSignal::ToolCall { call: known, .. }
                | OwnedSignal::ToolResult { call: known, .. }
                | OwnedSignal::ToolInput { call: known, .. } => known == call,
                _ => false,
            });
            at.and_then(|at| open.remove(at))
        });
        if let Some(item) = found {
            self.give(there, item, reducer);
        }
    }

    /// Gives out something of the history.
    fn give(&mut self, there: usize, mut item: HalfItem, reducer: &mut Reducer) {
        match &mut item.signal {
            // The process itself has the better word on how it went.
            OwnedSignal::Other(Signal::Result(_) | Signal::Metadata("endUnknown", _)) => return,
            OwnedSignal::Other(Signal::Event(event)) if self.printed_tasks.has(event) => return,
            OwnedSignal::ToolResult {
                call,
                is_error,
                duration_ms,
                ..
            } => {
                if let Some(measured) = self.measured.get(&(there, call.clone())) {
                    let mismatch = is_error
                        .zip(measured.is_error)
                        .filter(|(one, other)| one != other);
                    *is_error = is_error.or(measured.is_error);
                    *duration_ms = duration_ms.or(measured.duration_ms);
                    if let Some((history, printed)) = mismatch {
                        let notice = HistoryMismatch {
                            field: "toolResult.isError".to_owned(),
                            printed: printed.to_string(),
                            history: history.to_string(),
                        };
                        let place = item.place;
                        let notice = Signal::Event(notice.into());
                        let scope = self.calls.get(there).map(String::as_str);
                        emit(OwnedSignal::Other(notice), scope, place, None, reducer);
                    }
                }
            }
            OwnedSignal::Other(Signal::ChildEnd { call, .. }) => {
                let child = self.calls.iter().position(|known| known == call.as_ref());
                if let Some(child) = child.filter(|child| *child != there) {
                    self.advance(child, Some(usize::MAX), reducer);
                }
            }
            _ => {}
        }
        if item.place.at > 0 {
            self.last_at = item.place.at;
        } else {
            // No time was told so far.
            item.place.at = self.last_at;
        }
        let scope = self.calls.get(there).map(String::as_str);
        emit(
            item.signal,
            scope,
            item.place,
            item.excerpt.as_deref(),
            reducer,
        );
    }

    fn emit_printed(&self, item: HalfItem, reducer: &mut Reducer) {
        let there = self.scopes.get(item.scope).copied().flatten();
        let own = self
            .printed
            .scopes
            .get(item.scope)
            .map(|scope| scope.call.as_str());
        let scope = there
            .and_then(|there| self.calls.get(there))
            .map(String::as_str)
            .or(own);
        let mut place = item.place;
        if self.is_timeless {
            place.at = self.last_at;
        }
        let mut signal = item.signal;
        if let (OwnedSignal::Other(Signal::Event(event)), Some(calls)) =
            (&mut signal, self.same_calls.get(item.scope))
        {
            rename_call(event, calls);
        }
        if let OwnedSignal::Other(Signal::ChildEnd { call, .. }) = &mut signal {
            let there = self
                .printed
                .scope_of(call)
                .and_then(|scope| self.scopes.get(scope).copied().flatten());
            if let Some(known) = there.and_then(|there| self.calls.get(there)) {
                *call = known.clone().into();
            }
        }
        emit(signal, scope, place, item.excerpt.as_deref(), reducer);
    }

    /// Finds for each call of a shared step of the output the call of the history that it is: by id,
    /// else by its place among the calls of the same tool.
    fn map_calls(&self) -> Vec<SameCalls> {
        let scopes = self.printed.scopes.iter().enumerate();
        scopes
            .map(|(number, scope)| {
                let mut same = HashMap::new();
                let there = self.scopes.get(number).copied().flatten();
                let Some(backbone) = there.and_then(|there| self.backbones.get(there)) else {
                    return same;
                };
                let matches = self.matches.get(number).into_iter().flatten();
                for (step, found) in scope.steps.iter().zip(matches) {
                    let found = found.clone().and_then(|steps| backbone.facts.get(steps));
                    let Some(facts) = found else {
                        continue;
                    };
                    let calls = || facts.iter().flat_map(|step| &step.calls);
                    let known: HashSet<&OwnedCall> = calls().map(|(call, _)| call).collect();
                    let mut left: HashMap<&str, VecDeque<&OwnedCall>> = HashMap::new();
                    let printed: HashSet<&OwnedCall> =
                        step.calls.iter().map(|(call, _)| call).collect();
                    for (call, name) in calls() {
                        if !printed.contains(call) {
                            left.entry(name).or_default().push_back(call);
                        }
                    }
                    for (call, name) in &step.calls {
                        let found = if known.contains(call) {
                            Some(call)
                        } else {
                            left.get_mut(name.as_str()).and_then(VecDeque::pop_front)
                        };
                        if let Some(found) = found {
                            same.insert(call.clone(), found.clone());
                        }
                    }
                }
                same
            })
            .collect()
    }

    /// Notes what the output says of how calls went.
    fn measure(&mut self) {
        for item in &self.printed.items {
            let OwnedSignal::ToolResult {
                call,
                is_error,
                duration_ms,
                ..
            } = &item.signal
            else {
                continue;
            };
            let Some(there) = self.scopes.get(item.scope).copied().flatten() else {
                continue;
            };
            let known = self
                .same_calls
                .get(item.scope)
                .and_then(|calls| calls.get(call));
            let measured = Measured {
                is_error: *is_error,
                duration_ms: *duration_ms,
            };
            self.measured
                .insert((there, known.unwrap_or(call).clone()), measured);
        }
    }
}

/// Finds which run of the history each run of the output is: by the call that started it, else in order.
fn map_scopes(history: &Half, printed: &Half) -> Vec<Option<usize>> {
    let known: Vec<Option<usize>> = printed
        .scopes
        .iter()
        .enumerate()
        .map(|(number, scope)| match number {
            0 => Some(0),
            _ => history.scope_of(&scope.call),
        })
        .collect();
    let taken: HashSet<usize> = known.iter().flatten().copied().collect();
    let mut left = (1..history.scopes.len()).filter(|there| !taken.contains(there));
    known
        .into_iter()
        .map(|there| there.or_else(|| left.next()))
        .collect()
}

/// Returns what was asked and the keys of the responses.
fn said(history: &Half) -> (HashSet<String>, HashSet<String>) {
    let (mut asked, mut keys) = (HashSet::new(), HashSet::new());
    for item in &history.items {
        match &item.signal {
            OwnedSignal::Other(Signal::User(text)) => {
                let mut loose = String::new();
                push_loose(&mut loose, text);
                asked.insert(loose);
            }
            OwnedSignal::Other(Signal::Usage { key, .. }) => {
                keys.insert(key.clone().into_owned());
            }
            _ => {}
        }
    }
    (asked, keys)
}

fn emit(
    signal: OwnedSignal,
    call: Option<&str>,
    place: TapePlace,
    excerpt: Option<&[u8]>,
    reducer: &mut Reducer,
) {
    let scope = match call {
        None | Some("") => Scope::Main,
        Some(call) => Scope::Child(call),
    };
    signal.lend(|signal| {
        let emitted = Emitted {
            scope,
            place,
            signal,
        };
        match excerpt {
            Some(bytes) => {
                let line = Line {
                    bytes,
                    ending: Ending::Lf,
                    start: 0,
                    end: 0,
                    number: place.line,
                    received_at: place.at,
                };
                reducer.apply(emitted, Some((&line, place)));
            }
            None => reducer.apply(emitted, None),
        }
    });
}
