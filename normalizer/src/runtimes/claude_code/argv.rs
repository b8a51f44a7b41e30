//! What the command line tells before anything is printed.

use super::stdin;
use crate::context::Context;
use crate::standard_input::{BesideArgument, StdinUse};

/// Options that take one value, or may take one.
///
/// The prompt is a positional argument anywhere among them (`-p` itself takes no value), so that
/// finding it means knowing these.
const VALUED: &[&str] = &[
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--debug-file",
    "--effort",
    "--fallback-model",
    "--from-pr",
    "--input-format",
    "--json-schema",
    "--max-budget-usd",
    "--max-thinking-tokens",
    "--max-turns",
    "--model",
    "--name",
    "--output-format",
    "--permission-mode",
    "--permission-prompt-tool",
    "--plugin-dir",
    "--resume",
    "--session-id",
    "--setting-sources",
    "--settings",
    "--system-prompt",
    "--system-prompt-file",
    "--worktree",
    "-n",
    "-r",
    "-w",
];

/// Options that take every word up to the next option.
const VARIADIC: &[&str] = &[
    "--add-dir",
    "--allowed-tools",
    "--allowedTools",
    "--betas",
    "--disallowed-tools",
    "--disallowedTools",
    "--file",
    "--mcp-config",
    "--tools",
];

/// Options that go on with an earlier session.
const RESUMING: &[&str] = &[
    "--resume",
    "-r",
    "--continue",
    "-c",
    "--fork-session",
    "--from-pr",
    "--teleport",
];

/// What was asked for with `--output-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedFormat {
    /// The answer alone.
    Text,
    /// One object; with `--verbose` an array of all messages.
    Json { verbose: bool },
    /// A message a line.
    Stream { partial: bool },
}

impl AskedFormat {
    /// Returns the name of the format.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json { verbose: false } => "json",
            Self::Json { verbose: true } => "json-verbose",
            Self::Stream { partial: false } => "stream-json",
            Self::Stream { partial: true } => "stream-json-partial",
        }
    }
}

/// What the command line tells.
#[derive(Clone, Debug)]
pub(super) struct Argv {
    /// The format; `None` if the command line is not known.
    pub(super) asked: Option<AskedFormat>,
    /// An earlier session goes on, whose usage is in `modelUsage` as well.
    pub(super) resumed: bool,
    /// The model.
    pub(super) model: Option<String>,
}

impl Argv {
    /// Tells whether whatever is printed is the answer.
    pub(super) fn is_text(&self) -> bool {
        self.asked == Some(AskedFormat::Text)
    }

    /// Tells whether messages are to be expected.
    pub(super) fn is_json(&self) -> bool {
        self.asked.is_some_and(|asked| asked != AskedFormat::Text)
    }

    pub(super) fn of(context: &Context) -> Self {
        let asked = context
            .argv
            .as_ref()
            .and_then(|_| match context.flag(&["--output-format"]) {
                None if context.has_flag(&["-p", "--print"]) => Some(AskedFormat::Text),
                Some("text") => Some(AskedFormat::Text),
                Some("json") => Some(AskedFormat::Json {
                    verbose: context.has_flag(&["--verbose"]),
                }),
                Some("stream-json") => Some(AskedFormat::Stream {
                    partial: context.has_flag(&["--include-partial-messages"]),
                }),
                _ => None,
            });
        Self {
            asked,
            resumed: context.has_flag(RESUMING),
            model: context.flag(&["--model"]).map(str::to_owned),
        }
    }
}

/// Finds the prompt in the command line.
pub(super) fn query(context: &Context) -> Option<String> {
    let words = context.argv.as_deref()?.get(1..)?;
    let prompt = after_print(words).or_else(|| first_positional(words))?;
    Some(prompt.to_owned())
}

/// Returns the word after `-p`, which is nearly always the prompt.
fn after_print(words: &[String]) -> Option<&str> {
    let options = words.iter().take_while(|word| *word != "--");
    let at = options
        .into_iter()
        .position(|word| word == "-p" || word == "--print")?;
    words
        .get(at + 1)
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
}

fn first_positional(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            return words.next();
        }
        if !word.starts_with('-') || word == "-" {
            return Some(word);
        }
        if VALUED.contains(&word) {
            words.next_if(|value| !value.starts_with('-'));
        } else if VARIADIC.contains(&word) {
            while words.next_if(|value| !value.starts_with('-')).is_some() {}
        }
    }
    None
}

/// Tells what standard input is: with `-p` a text that follows the prompt, or messages.
///
/// `cli.js` of 2.0.14 (npm) joins what is there of prompt and standard input with a line feed, unless the input format is `stream-json`.
pub(super) fn stdin(context: &Context) -> StdinUse {
    match context.flag(&["--input-format"]) {
        // It prints them again itself.
        Some("stream-json") if context.has_flag(&["--replay-user-messages"]) => StdinUse::Unknown,
        Some("stream-json") => StdinUse::Messages(stdin::user_text),
        _ if context.has_flag(&["-p", "--print"]) => StdinUse::Prompt(BesideArgument::After("\n")),
        _ => StdinUse::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    #[test]
    fn the_prompt_is_found_wherever_it_stands() {
        let table: [(&[&str], Option<&str>); 8] = [
            (&["claude", "-p", "Hi", "--model", "m"], Some("Hi")),
            (&["/usr/bin/claude", "Hi", "-p"], Some("Hi")),
            (
                &["claude", "-p", "--model", "m", "--verbose", "Hi"],
                Some("Hi"),
            ),
            (
                &["claude", "-p", "--add-dir", "a", "b", "--", "-Hi"],
                Some("-Hi"),
            ),
            (&["claude", "-p", "--resume", "id", "Hi"], Some("Hi")),
            (&["claude", "-p", "--model=m", "Hi"], Some("Hi")),
            (&["claude", "-p", "--input-format", "stream-json"], None),
            (&["claude"], None),
        ];
        for (argv, expected) in table {
            assert_eq!(query(&context(argv)).as_deref(), expected, "{argv:?}");
        }
    }

    #[test]
    fn the_format_is_read_from_the_flags() {
        let table: [(&[&str], Option<&str>); 7] = [
            (&["claude", "-p", "Hi"], Some("text")),
            (&["claude", "Hi"], None),
            (&["claude", "-p", "--output-format", "json"], Some("json")),
            (
                &["claude", "-p", "--output-format=json", "--verbose"],
                Some("json-verbose"),
            ),
            (
                &["claude", "-p", "--output-format", "stream-json"],
                Some("stream-json"),
            ),
            (
                &[
                    "claude",
                    "--output-format",
                    "stream-json",
                    "--include-partial-messages",
                ],
                Some("stream-json-partial"),
            ),
            (&["claude", "-p", "--output-format", "new"], None),
        ];
        for (argv, expected) in table {
            let asked = Argv::of(&context(argv)).asked;
            assert_eq!(asked.map(AskedFormat::name), expected, "{argv:?}");
        }
        assert!(Argv::of(&context(&["claude", "-p", "x", "--resume=id"])).resumed);
        assert!(!Argv::of(&context(&["claude", "-p", "x", "--session-id", "id"])).resumed);
    }
}
