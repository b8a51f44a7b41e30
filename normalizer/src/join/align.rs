//! Which step of what was printed is which step of the history.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::half::StepFacts;
use super::owned::OwnedCall;

/// How far ahead a step is looked for by what it says. Steps that the output lacks are few.
const WINDOW: usize = 64;

/// Steps of the history, first and last.
pub(super) type StepRange = RangeInclusive<usize>;

/// Returns for each printed step the steps of the history that it is; these rise.
///
/// Exact keys go first: the message's, then a call's. What has none is found between them by its
/// tools and its text, in order. An output that does not show where one message ends and the next begins
/// prints several as one.
pub(super) fn align(printed: &[StepFacts], history: &[StepFacts]) -> Vec<Option<StepRange>> {
    let exact = exact(printed, history);
    let mut matches: Vec<Option<StepRange>> = Vec::with_capacity(printed.len());
    // Where the next step with an exact match begins, for each step: looked up from the end.
    let mut ends = vec![history.len(); printed.len()];
    let mut end = history.len();
    for (slot, found) in ends.iter_mut().zip(&exact).rev() {
        *slot = end;
        end = found.unwrap_or(end);
    }
    let mut next = 0;
    for ((step, found), end) in printed.iter().zip(&exact).zip(ends) {
        let found = match found {
            Some(found) => Some(*found..=*found),
            None if printed.len() == 1 => (next..end)
                .rev()
                .take(WINDOW)
                .find(|there| fits(step, history.get(*there)))
                .map(|there| widened(step, history, there, end))
                .or_else(|| covers(step, history, next, end)),
            None => (next..end)
                .take(WINDOW)
                .find(|there| fits(step, history.get(*there)))
                .map(|there| widened(step, history, there, end))
                .or_else(|| covers(step, history, next, end)),
        };
        if let Some(found) = &found {
            next = found.end() + 1;
        }
        matches.push(found);
    }
    matches
}

/// Returns the steps from a fitting one on whose texts are all of a longer printed text; the fitting one alone where its
/// text is the whole, or was cut. A call that the output does not show may stand between two messages.
fn widened(printed: &StepFacts, history: &[StepFacts], at: usize, end: usize) -> StepRange {
    let is_part = history
        .get(at)
        .is_some_and(|step| !step.loose.is_empty() && step.loose.len() < printed.loose.len());
    let several = is_part.then(|| covers(printed, history, at, end)).flatten();
    several.unwrap_or(at..=at)
}

/// Finds several steps of the history that were printed as one: its tools in order, and its text in theirs.
fn covers(
    printed: &StepFacts,
    history: &[StepFacts],
    next: usize,
    end: usize,
) -> Option<StepRange> {
    let mut names = printed.calls.iter().map(|(_, name)| name).peekable();
    let mut text = String::new();
    let mut first = None;
    for (at, step) in history.iter().enumerate().take(end).skip(next).take(WINDOW) {
        text.push_str(&step.loose);
        let mut is_part = !step.loose.is_empty() && printed.loose.contains(&step.loose);
        for (_, name) in &step.calls {
            is_part |= names.next_if_eq(&name).is_some();
        }
        if is_part {
            first = first.or(Some(at));
        }
        if let Some(first) = first
            && names.peek().is_none()
            && text.contains(&printed.loose)
        {
            return Some(first..=at);
        }
    }
    None
}

/// Finds steps by the keys of their messages and the ids of their calls.
fn exact(printed: &[StepFacts], history: &[StepFacts]) -> Vec<Option<usize>> {
    let mut keys: HashMap<&str, usize> = HashMap::new();
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for (at, step) in history.iter().enumerate() {
        if let Some(key) = &step.key {
            keys.entry(key).or_insert(at);
        }
        for (call, _) in &step.calls {
            if let OwnedCall::Printed(id) = call {
                // Models may repeat ids: one that is not unique proves nothing.
                calls
                    .entry(id)
                    .and_modify(|at| *at = usize::MAX)
                    .or_insert(at);
            }
        }
    }
    let mut last = None;
    let found = printed.iter().map(|step| {
        let by_key = step.key.as_deref().and_then(|key| keys.get(key));
        let by_call = || {
            step.calls.iter().find_map(|(call, _)| match call {
                OwnedCall::Printed(id) => calls.get(id.as_str()).filter(|at| **at != usize::MAX),
                OwnedCall::Local(_) => None,
            })
        };
        let found = by_key.or_else(by_call).copied();
        let rises = found.filter(|found| last.is_none_or(|last| *found > last));
        last = rises.or(last);
        rises
    });
    found.collect()
}

/// Tells whether a printed step may be one of the history: the same tools in the same order, and the
/// same text as far as it was printed.
fn fits(printed: &StepFacts, history: Option<&StepFacts>) -> bool {
    let Some(history) = history else { return false };
    let same_tools = printed.calls.len() == history.calls.len()
        && printed
            .calls
            .iter()
            .zip(&history.calls)
            .all(|((_, one), (_, other))| one == other);
    if printed.calls.is_empty() && history.loose.is_empty() {
        return printed.loose.is_empty() && history.calls.is_empty();
    }
    let same_text = printed.loose == history.loose
        || (!printed.loose.is_empty()
            && !history.loose.is_empty()
            && (history.loose.contains(&printed.loose)
                || printed.loose.starts_with(&history.loose)));
    // An output that shows only texts has steps without calls.
    let only_text = printed.calls.is_empty() && !printed.loose.is_empty() && same_text;
    let only_calls = same_tools && !printed.calls.is_empty() && printed.loose.is_empty();
    only_text || only_calls || (same_tools && same_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(key: Option<&str>, text: &str, tools: &[&str]) -> StepFacts {
        let calls = tools.iter().enumerate();
        StepFacts {
            key: key.map(str::to_owned),
            loose: text.to_owned(),
            calls: calls
                .map(|(at, tool)| (OwnedCall::Local(at as u64), (*tool).to_owned()))
                .collect(),
            ..StepFacts::default()
        }
    }

    #[test]
    fn keys_go_before_words_and_matches_rise() {
        let history = [
            step(Some("a"), "same", &[]),
            step(Some("b"), "same", &[]),
            step(Some("c"), "last", &[]),
        ];
        let printed = [step(Some("b"), "same", &[]), step(Some("a"), "same", &[])];
        assert_eq!(align(&printed, &history), [Some(1..=1), None]);
        let printed = [step(None, "same", &[]), step(Some("b"), "same", &[])];
        assert_eq!(align(&printed, &history), [Some(0..=0), Some(1..=1)]);
    }

    #[test]
    fn one_answer_is_the_last_that_has_its_text() {
        let history = [
            step(None, "x", &[]),
            step(None, "y", &["t"]),
            step(None, "x", &[]),
        ];
        assert_eq!(align(&[step(None, "x", &[])], &history), [Some(2..=2)]);
    }

    #[test]
    fn without_keys_tools_and_text_decide_in_order() {
        let history = [
            step(None, "", &["read", "write"]),
            step(None, "", &["read"]),
            step(None, "done", &[]),
        ];
        let printed = [
            step(None, "", &["read"]),
            step(None, "other", &[]),
            step(None, "done", &[]),
        ];
        assert_eq!(align(&printed, &history), [Some(1..=1), None, Some(2..=2)]);
    }

    #[test]
    fn messages_around_a_call_that_was_not_printed_are_one_step_of_the_output() {
        let history = [
            step(None, "first", &["read"]),
            step(None, "second", &["refused"]),
            step(None, "third", &[]),
        ];
        let printed = [
            step(None, "first", &["read"]),
            step(None, "secondthird", &[]),
        ];
        assert_eq!(align(&printed, &history), [Some(0..=0), Some(1..=2)]);
        // What the history has of a text may be cut.
        let cut = [history[0].loose.as_str(), "sec"];
        let cut = [step(None, cut[0], &["read"]), step(None, cut[1], &[])];
        assert_eq!(align(&printed, &cut), [Some(0..=0), Some(1..=1)]);
    }

    #[test]
    fn several_messages_may_be_printed_as_one() {
        let history = [
            step(None, "first", &["read"]),
            step(None, "", &["write"]),
            step(None, "done", &[]),
        ];
        let printed = [step(None, "firstdone", &["read", "write"])];
        assert_eq!(align(&printed, &history), [Some(0..=2)]);
        let printed = [step(None, "", &["read", "write"]), step(None, "done", &[])];
        assert_eq!(align(&printed, &history), [Some(0..=1), Some(2..=2)]);
        let printed = [step(None, "", &["write", "read"]), step(None, "done", &[])];
        assert_eq!(align(&printed, &history), [None, Some(2..=2)]);
    }
}
