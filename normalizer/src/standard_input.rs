//! What a process was given on its standard input: its prompt or messages, where its CLI reads them there.

use runtape_core::Stream;

use crate::framing::lines::{Framed, LineSplitter};
use crate::redact::Kept;
use crate::reducer::Reducer;

/// What a runtime's CLI takes its standard input for.
#[derive(Clone, Copy, Debug)]
pub enum StdinUse {
    /// Nothing that is known. It is on the tape, and says nothing of the run.
    Unknown,
    /// A prompt.
    Prompt(BesideArgument),
    /// A message a line; the function reads what the user says in one.
    Messages(fn(&[u8]) -> Option<String>),
}

/// What a prompt on standard input means to a CLI that has one in its command line, too.
#[derive(Clone, Copy, Debug)]
pub enum BesideArgument {
    /// It follows that one, after this text.
    After(&'static str),
    /// It precedes that one, and this text is between them.
    Before(&'static str),
    /// It follows that one on lines of its own, between these texts.
    Within(&'static str, &'static str),
    /// It is something else, such as a file to work on.
    Apart,
}

impl BesideArgument {
    /// Returns what was asked for, all in all; `None` if standard input adds nothing to it.
    fn join(self, argument: Option<&str>, text: String) -> Option<String> {
        match (self, argument) {
            _ if text.trim().is_empty() => None,
            (_, None) => Some(text),
            (Self::After(between), Some(argument)) => Some(format!("{argument}{between}{text}")),
            (Self::Before(between), Some(argument)) => Some(format!("{text}{between}{argument}")),
            (Self::Within(begin, end), Some(argument)) => {
                let line_end = if text.ends_with('\n') { "" } else { "\n" };
                Some(format!("{argument}{begin}{text}{line_end}{end}"))
            }
            (Self::Apart, Some(_)) => None,
        }
    }
}

/// What has come on standard input.
#[derive(Debug)]
pub(crate) struct StandardInput {
    usage: StdinUse,
    /// The prompt, as far as it came.
    text: Vec<u8>,
    /// Something came that the reducer was not told of.
    has_news: bool,
    /// The prompt in the command line.
    argument: Option<String>,
    lines: LineSplitter,
    limit: usize,
}

impl StandardInput {
    pub(crate) fn new(usage: StdinUse, reducer: &Reducer, limit: usize) -> Self {
        Self {
            usage,
            text: Vec::new(),
            has_news: false,
            argument: reducer.query().map(str::to_owned),
            lines: LineSplitter::new(limit),
            limit,
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, kept: Kept<'_>, received_at: i64, reducer: &mut Reducer) {
        let bytes = kept.bytes();
        match self.usage {
            StdinUse::Unknown => {}
            StdinUse::Prompt(_) => {
                let room = self.limit.saturating_sub(self.text.len());
                let bytes = bytes.get(..room.min(bytes.len())).unwrap_or_default();
                self.text.extend_from_slice(bytes);
                self.has_news |= !bytes.is_empty();
            }
            StdinUse::Messages(read) => {
                let each = |framed: Framed<'_>| say(framed, read, reducer);
                self.lines.push(bytes, received_at, each);
            }
        }
    }

    /// Tells the reducer what was asked for so far: before it is told what the CLI made of it.
    pub(crate) fn ask(&mut self, reducer: &mut Reducer) {
        if let (true, StdinUse::Prompt(beside)) = (self.has_news, self.usage) {
            self.has_news = false;
            let text = String::from_utf8_lossy(&self.text).into_owned();
            if let Some(query) = beside.join(self.argument.as_deref(), text) {
                reducer.ask(query);
            }
        }
    }

    /// Ends it.
    pub(crate) fn finish(&mut self, reducer: &mut Reducer) {
        self.ask(reducer);
        if let StdinUse::Messages(read) = self.usage {
            self.lines.finish(|framed| say(framed, read, reducer));
        }
    }
}

/// Tells the reducer what a user said on a line.
fn say(framed: Framed<'_>, read: fn(&[u8]) -> Option<String>, reducer: &mut Reducer) {
    match framed {
        Framed::Line(line) => {
            if let Some(text) = read(line.bytes) {
                reducer.say(text, line.place(Stream::Stdin));
            }
        }
        Framed::TooLong(line) => reducer.too_long(line.bytes, line.place(Stream::Stdin)),
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::{Message, Record, RecordKind, Runtime, UserPart};

    use crate::testing::context;
    use crate::{Exit, Kept, Normalizer};

    use super::*;

    const ANSWER: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Yes.","session_id":"s","uuid":"u"}"#;

    fn records(runtime: Runtime, argv: &[&str], pieces: &[(Stream, &str)]) -> Vec<Record> {
        let mut normalizer = Normalizer::new(runtime, context(argv)).unwrap();
        let mut records = Vec::new();
        for (at, (stream, text)) in (1..).zip(pieces) {
            records.extend(normalizer.push(*stream, Kept::as_given(*text), at).records);
        }
        records.extend(normalizer.finish(&Exit::with_code(0)).records);
        records
    }

    fn query(records: &[Record]) -> Option<&str> {
        records.iter().find_map(|record| match &record.kind {
            RecordKind::Initialize(initialize) => initialize.query.as_deref(),
            _ => None,
        })
    }

    fn said(records: &[Record]) -> Vec<&str> {
        let texts = records.iter().filter_map(|record| match &record.kind {
            RecordKind::Message(message) => match &message.message {
                Message::UserMessage(user) => match user.contents.first() {
                    Some(UserPart::TextPart(part)) => Some(part.text.as_str()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn a_prompt_is_taken_from_standard_input_where_the_cli_reads_it_there() {
        let table: &[(Runtime, &[&str], Option<&str>)] = &[
            (Runtime::ClaudeCode, &["claude", "-p"], Some("of stdin\n")),
            (
                Runtime::ClaudeCode,
                &["claude", "-p", "Hi"],
                Some("Hi\nof stdin\n"),
            ),
            (Runtime::ClaudeCode, &["claude"], None),
            (Runtime::Gemini, &["gemini"], Some("of stdin\n")),
            (
                Runtime::Gemini,
                &["gemini", "-p", "Hi"],
                Some("of stdin\n\n\nHi"),
            ),
            (Runtime::Codex, &["codex", "exec", "-"], Some("of stdin\n")),
            (Runtime::Codex, &["codex", "exec"], Some("of stdin\n")),
            (
                Runtime::Codex,
                &["codex", "exec", "Hi"],
                Some("Hi\n\n<stdin>\nof stdin\n</stdin>"),
            ),
            (
                Runtime::Codex,
                &["codex", "exec", "resume", "--last", "Hi"],
                Some("Hi"),
            ),
            (
                Runtime::Codex,
                &["codex", "exec", "resume", "--last", "-"],
                Some("of stdin\n"),
            ),
            (Runtime::Codex, &["codex", "review", "Hi"], Some("Hi")),
            (
                Runtime::Opencode,
                &["opencode", "run", "Hi"],
                Some("Hi\nof stdin\n"),
            ),
            (Runtime::Cursor, &["cursor-agent", "-p"], Some("of stdin\n")),
            (Runtime::Hermes, &["hermes", "-z", "Hi"], Some("Hi")),
            (Runtime::Generic, &["agent"], None),
        ];
        for (runtime, argv, expected) in table {
            let pieces = [
                (Stream::Stderr, "Reading prompt from stdin...\n"),
                (Stream::Stdin, "of st"),
                (Stream::Stdin, "din\n"),
                (Stream::Stdout, "Yes.\n"),
                (Stream::Stdin, "too late\n"),
            ];
            let records = records(runtime.clone(), argv, &pieces);
            // What comes after the work began is on the tape, and nobody's prompt.
            let query = query(&records).map(|query| query.replace("too late\n", ""));
            assert_eq!(query.as_deref(), *expected, "{runtime} {argv:?}");
        }
    }

    #[test]
    fn lines_of_input_are_user_messages_each_before_the_turn_that_answers_it() {
        let user = |text: &str| {
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}}}"#
            ) + "\n"
        };
        let answer = format!("{ANSWER}\n");
        let argv = [
            "claude",
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ];
        let (one, two, three) = (user("one"), user("two"), user("three"));
        let (head, tail) = two.split_at(20);
        let pieces = [
            (Stream::Stdin, one.as_str()),
            (Stream::Stdout, &answer),
            // Cut anywhere, and not all of it is what a user says.
            (Stream::Stdin, head),
            (Stream::Stdin, tail),
            (Stream::Stdin, "{\"type\":\"control_request\"}\nnot JSON\n"),
            (Stream::Stdout, &answer),
            (Stream::Stdin, three.trim_end()),
        ];
        let records = records(Runtime::ClaudeCode, &argv, &pieces);
        assert_eq!(said(&records), ["one", "two", "three"]);
        let summary = runtape_core::summarize(&records).unwrap();
        assert_eq!(summary.status, runtape_core::CheckpointStatus::Completed);
        let replayed = [&argv[..], &["--replay-user-messages"]].concat();
        let records = self::records(Runtime::ClaudeCode, &replayed, &pieces);
        assert!(said(&records).is_empty(), "the CLI says them itself");
    }
}
