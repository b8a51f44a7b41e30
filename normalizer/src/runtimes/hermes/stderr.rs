//! Standard error: the session id of quiet runs, log lines, failures.

use runtape_core::TokenCounts;
use runtape_core::runtime_event::StderrText;

use super::failure::{self, FailureReport, ReportLine};
use super::notices::resumed;
use super::session::is_session_id;
use super::text::is_blank;
use crate::exit::Exit;
use crate::parser::SignalSink;
use crate::signal::{Signal, Verdict};

/// What standard error told.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    /// The way hermes was run leaves room for a session here.
    may_name_session: bool,
    /// The session's id.
    pub(super) session: Option<String>,
    /// What it reported of failed requests.
    pub(super) report: FailureReport,
    unknown_session: Option<String>,
    /// The first line of an error without a report (0.13, quiet), or the last one of `-z`.
    error: Option<String>,
    /// What all logged model requests used; they are in no order with the other stream.
    used: Option<TokenCounts>,
    model: Option<String>,
}

impl Stderr {
    /// Creates a reader for a run that names its session here, or never does.
    pub(super) fn new(may_name_session: bool) -> Self {
        Self {
            may_name_session,
            ..Self::default()
        }
    }

    /// Reads a line.
    pub(super) fn push(&mut self, line: &str, out: &mut SignalSink<'_>) {
        if is_blank(line) {
            return;
        }
        if let Some(id) = session_in(line).filter(|_| self.may_name_session) {
            self.session = Some(id.to_owned());
            out.emit(Signal::Session(id));
            return;
        }
        if let Some(rest) = line.strip_prefix("↻ Resumed session ") {
            return resumed(line, rest, out);
        }
        if let Some(request) = logged_message(line).and_then(|text| text.strip_prefix("API call #"))
            && self.on_request(request).is_some()
        {
            return;
        }
        if self.report.take(line, out) == ReportLine::Part {
            return;
        }
        if line.starts_with("Session not found: ") {
            self.unknown_session = Some(line.to_owned());
        } else if let Some(error) = line.strip_prefix("Error: ") {
            self.error.get_or_insert_with(|| error.to_owned());
        } else if let Some(error) = line.strip_prefix("hermes -z: ") {
            self.error = Some(error.to_owned());
        }
        out.event(StderrText {
            text: line.to_owned(),
        });
    }

    /// `1: model=M provider=P in=1100 out=20 total=1120 latency=0.3s cache=900/1100 (82%)`
    fn on_request(&mut self, request: &str) -> Option<()> {
        let (_, fields) = request.split_once(": ")?;
        let field = |name: &str| {
            fields
                .split(' ')
                .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let input: i64 = field("in")?.parse().ok()?;
        let output: i64 = field("out")?.parse().ok()?;
        // Printed only where something was read from a cache.
        let cached = field("cache").and_then(|text| text.split_once('/'));
        let cached: i64 = cached.and_then(|(read, _)| read.parse().ok()).unwrap_or(0);
        let counts = TokenCounts {
            input_tokens: Some(input.saturating_sub(cached).max(0)),
            output_tokens: Some(output),
            reasoning_tokens: None,
            cached_input_tokens: Some(cached),
            ..TokenCounts::default()
        };
        self.used = Some(self.used.map_or(counts, |used| used.plus(counts)));
        if self.model.is_none() {
            self.model = field("model").map(str::to_owned);
        }
        Some(())
    }

    /// Emits what has no place in the order of the other stream.
    pub(super) fn finish(&mut self, with_usage: bool, out: &mut SignalSink<'_>) {
        if let Some(model) = self.model.take().or_else(|| self.report.take_model()) {
            out.emit(Signal::Model(&model));
        }
        if let Some(counts) = self.used.take().filter(|_| with_usage) {
            let key = "requests".into();
            out.emit(Signal::Usage {
                key,
                counts,
                model: None,
            });
        }
    }

    /// Returns how a run failed, where only standard error tells.
    pub(super) fn verdict(&self, exit: &Exit) -> Option<Verdict> {
        if exit.is_success() {
            return None;
        }
        let error = if let Some(message) = &self.unknown_session {
            failure::unknown_session(message)
        } else if self.report.has_failed() {
            self.report.error(None)
        } else {
            failure::error_of_text(self.error.as_deref()?)
        };
        Some(Verdict::Error(error))
    }
}

/// Returns the session that a line of a quiet run names.
pub(super) fn session_in(line: &str) -> Option<&str> {
    let id = line.strip_prefix("session_id: ")?.trim_end();
    is_session_id(id).then_some(id)
}

/// Tells whether a line is one of a log, as `-v` and acp write it.
pub(super) fn is_logged(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_clock = digits == 2 && line.get(2..3) == Some(":") && line.get(8..11) == Some(" - ");
    let is_date = digits == 4 && line.get(4..5) == Some("-") && line.get(19..21) == Some(" [");
    is_clock || is_date
}

/// Returns what a log line says: `12:00:00 - logger - INFO [session] - text`, or in acp
/// `2026-11-15 23:52:34 [INFO] logger: text`.
fn logged_message(line: &str) -> Option<&str> {
    if !line.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let head = line.get(..30.min(line.len())).unwrap_or(line);
    if head.contains(" [INFO] ") {
        let (_, rest) = line.split_once(" [INFO] ")?;
        let (logger, text) = rest.split_once(": ")?;
        return (!logger.contains(' ')).then_some(text);
    }
    let mut parts = line.splitn(4, " - ");
    let (_, logger, level) = (parts.next()?, parts.next()?, parts.next()?);
    let text = parts.next()?;
    (!logger.contains(' ') && level.starts_with("INFO")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::collect;

    fn read(lines: &[&str]) -> (Stderr, Vec<String>) {
        let mut stderr = Stderr::new(true);
        let signals = collect(|out| lines.iter().for_each(|line| stderr.push(line, out)));
        (stderr, signals)
    }

    #[test]
    fn logged_requests_add_up() {
        let (stderr, signals) = read(&[
            "23:42:37 - agent.conversation_loop - INFO [20261115_234226_ca1088] - API call #1: model=fake-model provider=custom in=1000 out=40 total=1040 latency=1.5s",
            "23:42:37 - agent.conversation_loop - INFO [20261115_234226_ca1088] - API call #2: model=fake-model provider=custom in=1100 out=20 total=1120 latency=0.3s cache=900/1100 (82%)",
            "2026-11-15 23:52:34 [INFO] agent.conversation_loop: API call #2: model=fake-model provider=custom in=1010 out=30 total=1040 latency=0.1s",
        ]);
        assert!(signals.is_empty());
        let used = stderr.used.unwrap();
        assert_eq!(used.input_tokens, Some(1000 + 200 + 1010));
        assert_eq!(used.cached_input_tokens, Some(900));
        assert_eq!(used.output_tokens, Some(90));
        assert_eq!(used.reasoning_tokens, None);
    }

    #[test]
    fn a_tools_output_in_the_log_is_no_request() {
        let line = "2026-11-15 23:52:34 [WARNING] agent.tool_executor: Tool terminal returned error (0.19s): API call #1: model=x in=1 out=1";
        let (stderr, signals) = read(&[line, "API call #1: in=1 out=1"]);
        assert!(stderr.used.is_none());
        assert_eq!(signals.len(), 2);
    }

    #[test]
    fn only_a_valid_id_is_the_session() {
        let (stderr, signals) =
            read(&["", "session_id: 20261115_234454_91d32d", "session_id: fake"]);
        assert_eq!(stderr.session.as_deref(), Some("20261115_234454_91d32d"));
        assert_eq!(signals.len(), 2);
        assert!(signals[1].contains("StderrText"), "{signals:?}");
    }

    #[test]
    fn an_unknown_session_is_told_here() {
        let (stderr, signals) = read(&[
            "Session not found: 20200101_000000_ffffff",
            "Use a session ID from a previous CLI run (hermes sessions list).",
        ]);
        assert!(stderr.session.is_none());
        assert_eq!(signals.len(), 2);
        let Some(Verdict::Error(error)) = stderr.verdict(&Exit::with_code(1)) else {
            panic!("an error")
        };
        assert_eq!(
            error.family,
            Some(runtape_core::ErrorFamily::UnknownSession)
        );
        assert!(error.message.contains("20200101_000000_ffffff"));
    }

    #[test]
    fn lines_of_a_log_are_told_from_others() {
        for line in [
            "23:43:23 - run_agent - INFO - x",
            "2026-11-15 23:52:34 [INFO] logger: x",
        ] {
            assert!(is_logged(line), "{line}");
        }
        for line in [
            "",
            "session_id: 20261115_234454_91d32d",
            "2026 [x]",
            "12:30",
        ] {
            assert!(!is_logged(line), "{line}");
        }
    }
}
