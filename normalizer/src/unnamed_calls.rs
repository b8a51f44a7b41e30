//! Calls that a runtime printed without an id.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::signal::{CallRef, Scope};

/// The calls of a tape that were printed without an id, and which results they have.
///
/// A call is named by its ordinal of first appearance in its run. A result without an id is that
/// of the oldest call that is open: of the tool that the result names, where it names one.
#[derive(Debug, Default)]
pub(crate) struct UnnamedCalls {
    main: CallsOfRun,
    children: HashMap<Box<str>, CallsOfRun>,
}

/// The calls without an id of one run.
#[derive(Debug, Default)]
struct CallsOfRun {
    next: u64,
    /// The tools of the calls that have no result.
    open: BTreeMap<u64, Box<str>>,
    /// The same calls by their tools; those that were answered are dropped when they come up.
    by_tool: HashMap<Box<str>, VecDeque<u64>>,
}

impl UnnamedCalls {
    /// Names a call: by its id where one is printed, else as the next one of its run.
    pub(crate) fn call<'a>(
        &mut self,
        scope: Scope<'_>,
        id: Option<&'a str>,
        tool: &str,
    ) -> CallRef<'a> {
        match id {
            None | Some("") => self.begin(scope, tool),
            Some(id) => CallRef::Printed(id),
        }
    }

    /// Names the call of a result: by its id where one is printed, else the oldest that is open.
    pub(crate) fn result<'a>(
        &mut self,
        scope: Scope<'_>,
        id: Option<&'a str>,
        tool: Option<&str>,
    ) -> CallRef<'a> {
        match id {
            None | Some("") => self.end(scope, tool),
            Some(id) => CallRef::Printed(id),
        }
    }

    /// Names a call that begins.
    pub(crate) fn begin(&mut self, scope: Scope<'_>, tool: &str) -> CallRef<'static> {
        let run = self.run(scope);
        let ordinal = run.next;
        run.next += 1;
        run.open.insert(ordinal, tool.into());
        if let Some(calls) = run.by_tool.get_mut(tool) {
            calls.push_back(ordinal);
        } else {
            run.by_tool.insert(tool.into(), VecDeque::from([ordinal]));
        }
        CallRef::Local(ordinal)
    }

    /// Returns the call that a result is of; a new one if there is none.
    pub(crate) fn end(&mut self, scope: Scope<'_>, tool: Option<&str>) -> CallRef<'static> {
        let run = self.run(scope);
        let oldest = run.oldest(tool);
        if let Some(ordinal) = oldest {
            run.open.remove(&ordinal);
        }
        CallRef::Local(oldest.unwrap_or_else(|| {
            run.next += 1;
            run.next - 1
        }))
    }

    /// Tells whether a call is open, of a tool where one is named.
    pub(crate) fn is_open(&mut self, scope: Scope<'_>, tool: Option<&str>) -> bool {
        self.run(scope).oldest(tool).is_some()
    }

    fn run(&mut self, scope: Scope<'_>) -> &mut CallsOfRun {
        match scope {
            Scope::Main => &mut self.main,
            Scope::Child(call) => self.children.entry(call.into()).or_default(),
        }
    }
}

impl CallsOfRun {
    fn oldest(&mut self, tool: Option<&str>) -> Option<u64> {
        let Some(tool) = tool else {
            return self.open.first_key_value().map(|(ordinal, _)| *ordinal);
        };
        let calls = self.by_tool.get_mut(tool)?;
        while let Some(ordinal) = calls.front() {
            if self.open.contains_key(ordinal) {
                return Some(*ordinal);
            }
            calls.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHILD: Scope<'static> = Scope::Child("c");

    #[test]
    fn a_result_takes_the_oldest_open_call_of_its_tool() {
        let mut calls = UnnamedCalls::default();
        for (tool, ordinal) in [("shell", 0), ("read", 1), ("shell", 2), ("read", 3)] {
            assert_eq!(calls.begin(Scope::Main, tool), CallRef::Local(ordinal));
        }
        assert_eq!(calls.begin(CHILD, "shell"), CallRef::Local(0));
        for (tool, ordinal) in [
            (Some("read"), 1),
            (None, 0),
            (Some("shell"), 2),
            (Some("shell"), 4),
            (None, 3),
            (None, 5),
        ] {
            let open = calls.is_open(Scope::Main, tool);
            assert_eq!(open, ordinal < 4, "{tool:?}");
            assert_eq!(calls.end(Scope::Main, tool), CallRef::Local(ordinal));
        }
        assert_eq!(calls.begin(Scope::Main, "shell"), CallRef::Local(6));
        assert_eq!(calls.end(CHILD, None), CallRef::Local(0));
    }

    proptest! {
        #[test]
        fn results_in_the_order_of_their_calls_are_tied_to_them(
            tools in proptest::collection::vec("[abc]", 0..40),
            named in any::<bool>(),
        ) {
            let mut calls = UnnamedCalls::default();
            let begun: Vec<_> = tools.iter().map(|tool| calls.begin(CHILD, tool)).collect();
            let ended = tools.iter().map(|tool| calls.end(CHILD, named.then_some(tool)));
            prop_assert_eq!(begun, ended.collect::<Vec<_>>());
        }
    }
}
