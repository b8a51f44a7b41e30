//! What the command line tells before anything is printed.

use crate::context::Context;
use crate::framing::events_or_text::OutputForm;
use crate::standard_input::{BesideArgument, StdinUse};

/// Options that the next word belongs to.
const VALUED: &[&str] = &[
    "--agent",
    "--attach",
    "--command",
    "--dir",
    "--format",
    "--log-level",
    "-m",
    "--model",
    "-p",
    "--password",
    "--port",
    "-s",
    "--session",
    "--title",
    "-u",
    "--username",
    "--variant",
];

/// Options that take every word up to the next option.
const VARIADIC: &[&str] = &["-f", "--file"];

/// Returns the format; `None` if the command line is not known, or is not one of `opencode run`.
pub(super) fn form(context: &Context) -> Option<OutputForm> {
    let words = CommandWords::of(context.argv.as_deref()?);
    words.is_run().then_some(match words.format {
        Some("json") => OutputForm::Events,
        _ => OutputForm::Text,
    })
}

/// Returns the message: the words that belong to no option. More may come on standard input.
pub(super) fn query(context: &Context) -> Option<String> {
    let words = CommandWords::of(context.argv.as_deref()?);
    let message = words.positional.get(1..).filter(|_| words.is_run())?;
    (!message.is_empty()).then(|| message.join(" "))
}

/// The words of a command line, options and others apart.
struct CommandWords<'a> {
    positional: Vec<&'a str>,
    format: Option<&'a str>,
}

impl<'a> CommandWords<'a> {
    fn of(argv: &'a [String]) -> Self {
        let mut found = Self {
            positional: Vec::new(),
            format: None,
        };
        // The program comes first.
        let mut words = argv.iter().skip(1).map(String::as_str).peekable();
        while let Some(word) = words.next() {
            match word {
                "--" => found.positional.extend(words.by_ref()),
                // Given twice, the last one counts.
                "--format" => found.format = words.next(),
                option if VALUED.contains(&option) => {
                    words.next();
                }
                option if VARIADIC.contains(&option) => {
                    while words.next_if(|next| !is_option(next)).is_some() {}
                }
                option if is_option(option) => {
                    if let Some(format) = option.strip_prefix("--format=") {
                        found.format = Some(format);
                    }
                }
                word => found.positional.push(word),
            }
        }
        found
    }

    fn is_run(&self) -> bool {
        self.positional.first() == Some(&"run")
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Tells what standard input is: a text that follows the message of `opencode run`.
///
/// `packages/opencode/src/cli/cmd/run.ts` of anomalyco/opencode puts a line feed between them.
pub(super) fn stdin(context: &Context) -> StdinUse {
    match context.argv.as_deref() {
        Some(words) if CommandWords::of(words).is_run() => {
            StdinUse::Prompt(BesideArgument::After("\n"))
        }
        _ => StdinUse::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_command_line_tells_the_format_and_the_message() {
        let (json, text) = (Some(OutputForm::Events), Some(OutputForm::Text));
        let table = [
            (
                "opencode run --format json Hi there",
                json,
                Some("Hi there"),
            ),
            ("opencode run --format=json -m p/m Hi", json, Some("Hi")),
            ("opencode run --auto --thinking Hi", text, Some("Hi")),
            ("opencode run --format default Hi", text, Some("Hi")),
            (
                "opencode run --format json --format nosuch Hi",
                text,
                Some("Hi"),
            ),
            (
                "opencode run --session ses_x --format json --file a b --title T Hi",
                json,
                Some("Hi"),
            ),
            ("opencode --print-logs run --format json", json, None),
            ("opencode run -- --format json", text, Some("--format json")),
            ("opencode", None, None),
            ("opencode serve --port 1", None, None),
        ];
        for (line, expected, message) in table {
            let context = testing::command_line(line);
            assert_eq!(form(&context), expected, "{line}");
            assert_eq!(query(&context).as_deref(), message, "{line}");
        }
        let unknown = testing::context(&[]);
        assert_eq!((form(&unknown), query(&unknown)), (None, None));
    }
}
