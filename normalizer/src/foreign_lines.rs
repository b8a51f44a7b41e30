//! Lines of another runtime than the run's, where nobody told the run's.
//!
//! A script may run two agents, or run its agent only after more lines than are looked at before the runtime is
//! decided. The run has one runtime all the same: that of the first agent that showed itself in time. A notice says
//! where another one shows.

use runtape_core::{RunId, Runtime, Stream};

use crate::context::{Context, RunSource, RuntimeFrom};
use crate::detect::detect_line;
use crate::runtimes::{RuntimeEntry, entry_for};

/// Looks for the first line of another runtime.
pub(crate) struct ForeignLines {
    run: RunId,
    runtime: Runtime,
    entry: Option<&'static RuntimeEntry>,
    /// Lines seen of standard output and standard error.
    lines: [u64; 2],
}

impl ForeignLines {
    /// Creates it for a run whose runtime was decided by its first lines; any other has none.
    pub(crate) fn new(runtime: &Runtime, context: &Context) -> Option<Self> {
        let is_guessed = context.runtime_from != RuntimeFrom::Caller;
        (is_guessed && context.source != RunSource::History).then(|| Self {
            run: context.run_id.clone(),
            runtime: runtime.clone(),
            entry: entry_for(runtime),
            lines: [0; 2],
        })
    }

    /// Looks at a line. Returns what to say if another runtime printed it.
    pub(crate) fn look(&mut self, stream: Stream, line: &[u8]) -> Option<String> {
        let index = match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
            Stream::Stdin | Stream::History => return None,
        };
        let number = self.lines.get_mut(index)?;
        *number += 1;
        if self.entry.is_some_and(|entry| (entry.sniff)(line) > 0) {
            return None;
        }
        let other = detect_line(line).filter(|other| *other != self.runtime)?;
        let (run, runtime, stream) = (&self.run, &self.runtime, stream.as_str());
        Some(if *runtime == Runtime::Generic {
            // The command first: lists show the beginning.
            format!(
                "`runtape renormalize {run} --runtime {other}` reads this run as {other}'s, which shows on line \
                 {number} of {stream}, after the lines by which the runtime is decided"
            )
        } else {
            format!(
                "line {number} of {stream} is {other}'s, but this run is {runtime}'s, which showed itself first: \
                 record each agent as a run of its own"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str =
        r#"{"type":"thread.started","thread_id":"01a1e40f-3839-7462-8ba4-4636a26c3aa5"}"#;
    const CLAUDE: &str = r#"{"type":"system","subtype":"init","mcp_servers":[],"cwd":"/"}"#;

    fn said(runtime: &Runtime, from: RuntimeFrom, line: &str) -> Option<String> {
        let mut context = Context::new("job".parse().unwrap(), "run-1".parse().unwrap());
        context.runtime_from = from;
        let mut lines = ForeignLines::new(runtime, &context)?;
        assert_eq!(lines.look(Stream::Stdout, b"some text"), None);
        lines.look(Stream::Stdout, line.as_bytes())
    }

    #[test]
    fn another_runtimes_line_is_told_where_the_runtime_was_guessed() {
        let guessed = RuntimeFrom::FirstLines;
        let said_of = |runtime, line| said(runtime, guessed, line).unwrap();
        let late = said_of(&Runtime::Generic, CODEX);
        assert!(
            late.starts_with("`runtape renormalize run-1 --runtime codex`"),
            "{late}"
        );
        assert!(late.contains("on line 2 of stdout"), "{late}");
        let second = said_of(&Runtime::ClaudeCode, CODEX);
        assert!(second.contains("this run is claude-code's"), "{second}");
        for (runtime, from, line) in [
            (Runtime::ClaudeCode, guessed, CLAUDE),
            (Runtime::Generic, guessed, r#"{"level":"info"}"#),
            (Runtime::Generic, RuntimeFrom::Caller, CODEX),
        ] {
            assert_eq!(said(&runtime, from, line), None, "{line}");
        }
    }
}
