//! Which step of what was printed is which step of the history.

use std::collections::HashMap;

use super::half::StepFacts;
use super::owned::OwnedCall;

/// How far ahead a step is looked for by what it says. Steps that the output lacks are few.
const WINDOW: usize = 64;

/// Returns for each printed step the step of the history that it is; these rise.
///
/// Exact keys go first: the message's, then a call's. What has none is found between them by its
/// tools and its text, in order.
pub(super) fn align(printed: &[StepFacts], history: &[StepFacts]) -> Vec<Option<usize>> {
    let mut matches = exact(printed, history);
    let mut next = 0;
    for (at, step) in printed.iter().enumerate() {
        if let Some(found) = matches.get(at).copied().flatten() {
            next = found + 1;
            continue;
        }
        let later = matches.iter().skip(at + 1).flatten().next();
        let end = later.copied().unwrap_or(history.len());
        let found = if printed.len() == 1 {
            (next..end)
                .rev()
                .take(WINDOW)
                .find(|there| fits(step, history.get(*there)))
        } else {
            (next..end)
                .take(WINDOW)
                .find(|there| fits(step, history.get(*there)))
        };
        if let (Some(found), Some(slot)) = (found, matches.get_mut(at)) {
            *slot = Some(found);
            next = found + 1;
        }
    }
    matches
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
        assert_eq!(align(&printed, &history), [Some(1), None]);
        let printed = [step(None, "same", &[]), step(Some("b"), "same", &[])];
        assert_eq!(align(&printed, &history), [Some(0), Some(1)]);
    }

    #[test]
    fn one_answer_is_the_last_that_has_its_text() {
        let history = [
            step(None, "x", &[]),
            step(None, "y", &["t"]),
            step(None, "x", &[]),
        ];
        assert_eq!(align(&[step(None, "x", &[])], &history), [Some(2)]);
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
        assert_eq!(align(&printed, &history), [Some(1), None, Some(2)]);
    }
}
