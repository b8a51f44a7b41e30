//! What the command line tells: the format that was asked for, and the prompt.

use crate::context::Context;
use crate::standard_input::{BesideArgument, StdinUse};

/// The format that the command line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedFormat {
    Text,
    Json,
    Stream,
}

impl AskedFormat {
    /// Returns the format's name in the summary.
    pub(super) fn format(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            // With `--stream-partial-output` too, until the first delta: a run may end before it.
            Self::Stream => "stream-json",
        }
    }
}

/// Returns the format that the command line names, if it does.
pub(super) fn asked(context: &Context) -> Option<AskedFormat> {
    match context.flag(&["--output-format"])? {
        "text" => Some(AskedFormat::Text),
        "json" => Some(AskedFormat::Json),
        "stream-json" => Some(AskedFormat::Stream),
        _ => None,
    }
}

/// Options that take the next word, so that it is not part of the prompt.
const WITH_VALUE: &[&str] = &[
    "-a",
    "-e",
    "-H",
    "-m",
    "--api-key",
    "--auth-token",
    "--endpoint",
    "--header",
    "--mode",
    "--model",
    "--output-format",
    "--plugin-dir",
    "--sandbox",
    "--workspace",
    "--worktree-base",
];

/// Returns the prompt: the words that are no options. It may also come on standard input.
pub(super) fn query(context: &Context) -> Option<String> {
    let words = context.argv.as_deref()?.iter().skip(1);
    let mut words = words.map(String::as_str).peekable();
    let mut prompt: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--" => prompt.extend(words.by_ref()),
            // Its id may be left out, to choose from a list.
            "--resume" => {
                words.next_if(|next| !next.starts_with('-'));
            }
            option if WITH_VALUE.contains(&option) => {
                words.next();
            }
            option if option.len() > 1 && option.starts_with('-') => {}
            // `cursor-agent agent …` is the same as `cursor-agent …`.
            "agent" if prompt.is_empty() => {}
            word => prompt.push(word),
        }
    }
    (!prompt.is_empty()).then(|| prompt.join(" "))
}

/// Tells what standard input is: the prompt of `cursor-agent -p` without one.
///
/// Paperclip's adapter hands it over there (its contract, 5.2). What becomes of it beside a prompt is not known: the CLI
/// is closed source, and no capture shows it.
pub(super) fn stdin(context: &Context) -> StdinUse {
    if context.has_flag(&["-p", "--print"]) {
        StdinUse::Prompt(BesideArgument::Apart)
    } else {
        StdinUse::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::command_line;

    #[test]
    fn the_format_is_read_from_the_command_line() {
        let table = [
            ("cursor-agent -p x", None),
            ("cursor-agent -p --output-format text x", Some("text")),
            ("cursor-agent -p --output-format=json x", Some("json")),
            (
                "cursor-agent -p --output-format stream-json",
                Some("stream-json"),
            ),
            (
                "cursor-agent -p --stream-partial-output --output-format stream-json",
                Some("stream-json"),
            ),
            ("cursor-agent -p --output-format yaml", None),
        ];
        for (line, expected) in table {
            assert_eq!(
                asked(&command_line(line)).map(AskedFormat::format),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn the_prompt_is_what_is_no_option() {
        let table = [
            ("cursor-agent -p --output-format stream-json", None),
            ("cursor-agent -p Hello --model auto", Some("Hello")),
            (
                "/opt/bin/cursor-agent -p --resume abc fix it --force",
                Some("fix it"),
            ),
            ("cursor-agent -p --resume --force go", Some("go")),
            (
                "cursor-agent agent --print --model=auto Hello",
                Some("Hello"),
            ),
            ("cursor agent -p Hello", Some("Hello")),
            (
                "cursor-agent -p -- --not-an-option",
                Some("--not-an-option"),
            ),
            (
                "cursor-agent -p --workspace /home/dev/proj -f go - on",
                Some("go - on"),
            ),
        ];
        for (line, expected) in table {
            assert_eq!(query(&command_line(line)).as_deref(), expected, "{line}");
        }
    }
}
