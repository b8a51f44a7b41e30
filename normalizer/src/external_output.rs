//! The output of a finished process in one call, for those who have all of it at hand.

use runtape_core::{Event, IdSource, JobId, RandomIds, Runtime, Stream, materialize, summarize};

use crate::context::Context;
use crate::exit::Exit;
use crate::normalizer::Normalizer;
use crate::redact::Kept;

/// What an output amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedOutput {
    /// The events of structured output; none for plain text.
    pub events: Vec<Event>,
    /// The answer, without white space around it.
    pub final_output: String,
}

/// Formats that hold an answer and nothing else.
const PLAIN: [&str; 2] = ["text", "quiet"];

/// Reads all that a runtime printed on standard output, taking it that the process ended well.
///
/// A runtime that cannot be read gives its output back as it is.
///
/// ```
/// use runtape_core::Runtime;
/// use runtape_normalizer::parse_external_output;
///
/// let parsed = parse_external_output("  Hello World  \n", &Runtime::Cursor);
/// assert_eq!(parsed.final_output, "Hello World");
/// assert!(parsed.events.is_empty());
/// ```
#[must_use]
pub fn parse_external_output(stdout: &str, runtime: &Runtime) -> ParsedOutput {
    let run_id = RandomIds.run_id();
    let job_id = JobId::parse(run_id.as_str()).unwrap_or_else(|_| RandomIds.job_id());
    let Ok(mut normalizer) = Normalizer::new(runtime.clone(), Context::new(job_id, run_id)) else {
        return ParsedOutput {
            events: Vec::new(),
            final_output: stdout.to_owned(),
        };
    };
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(stdout), 0)
        .records;
    records.extend(normalizer.finish(&Exit::with_code(0)).records);
    let summary = summarize(&records);
    let format = summary
        .as_ref()
        .and_then(|summary| summary.output_format.as_deref());
    let is_plain = format.is_none_or(|format| PLAIN.contains(&format));
    let answer = summary
        .as_ref()
        .and_then(|summary| summary.final_text.as_deref());
    let final_output = answer
        .unwrap_or(if is_plain { stdout } else { "" })
        .trim()
        .to_owned();
    // The reducer numbers records without gaps, so materializing them cannot fail.
    let events = if is_plain {
        Vec::new()
    } else {
        materialize(&records).unwrap_or_default()
    };
    ParsedOutput {
        events,
        final_output,
    }
}

#[cfg(test)]
mod tests {
    //! The customer's tests, translated.

    use super::*;

    #[test]
    fn cursor_returns_trimmed_output() {
        let result = parse_external_output("  Hello World  \n", &Runtime::Cursor);
        assert_eq!(result.final_output, "Hello World");
        assert_eq!(result.events.len(), 0);
    }

    #[test]
    fn claude_code_extracts_text_from_json_output() {
        let input = r#"{"type": "result", "content": "Hello World"}"#;
        let result = parse_external_output(input, &Runtime::ClaudeCode);
        assert_eq!(result.final_output, "Hello World");
    }

    #[test]
    fn claude_code_falls_back_to_raw_output_for_non_json() {
        let result = parse_external_output("Plain text output", &Runtime::ClaudeCode);
        assert_eq!(result.final_output, "Plain text output");
        assert_eq!(result.events.len(), 0);
    }

    #[test]
    fn gemini_returns_trimmed_output() {
        let result = parse_external_output("  Hello World  \n", &Runtime::Gemini);
        assert_eq!(result.final_output, "Hello World");
        assert_eq!(result.events.len(), 0);
    }

    #[test]
    fn structured_output_gives_its_events() {
        let input = concat!(
            r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Hi"}]},"session_id":"824a2b8e-6cce-406c-825a-7050237fa511"}"#,
            "\n",
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Hi","session_id":"824a2b8e-6cce-406c-825a-7050237fa511"}"#,
        );
        let result = parse_external_output(input, &Runtime::ClaudeCode);
        assert_eq!(result.final_output, "Hi");
        let tags: Vec<&str> = result.events.iter().map(Event::tag).collect();
        assert!(
            tags.contains(&"startRun") && tags.contains(&"completeRun"),
            "{tags:?}"
        );
    }

    #[test]
    fn an_unreadable_runtime_gives_its_output_back() {
        let result = parse_external_output(" x ", &Runtime::Local);
        assert_eq!(result.final_output, " x ");
    }
}
