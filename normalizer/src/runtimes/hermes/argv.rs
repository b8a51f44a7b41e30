//! What the command line says of the output.

use std::path::Path;

use crate::context::Context;

/// Which way of running hermes a command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedMode {
    /// No command line is known, or it is not one of hermes.
    Unknown,
    /// `hermes chat` without `-Q`: boxes and tool lines.
    Chat,
    /// `hermes chat -Q`: the answer, and the session on standard error.
    Quiet,
    /// `hermes -z`: the answer and nothing else.
    Oneshot,
    /// `hermes acp`: JSON-RPC lines.
    Acp,
    /// A Python program that uses the library.
    Library,
}

/// Flags whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-q",
    "--query",
    "-z",
    "--oneshot",
    "-m",
    "--model",
    "--provider",
    "-t",
    "--toolsets",
    "-s",
    "--skills",
    "-r",
    "--resume",
    "-p",
    "--profile",
    "--source",
    "--max-turns",
    "--usage-file",
    "--image",
];

impl AskedMode {
    /// Reads the command line of a run.
    pub(super) fn of(context: &Context) -> Self {
        let words = context.argv.as_deref().unwrap_or_default();
        match arguments(words) {
            Some(arguments) => Self::of_arguments(arguments),
            None if !words.is_empty() => Self::Library,
            None => Self::Unknown,
        }
    }

    fn of_arguments(arguments: &[String]) -> Self {
        let mut asked = Self::Unknown;
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--" => break,
                "chat" if asked == Self::Unknown => asked = Self::Chat,
                "acp" if asked == Self::Unknown => return Self::Acp,
                _ if has_name(word, &["-z", "--oneshot"]) => return Self::Oneshot,
                _ if has_name(word, &["--quiet"]) || is_short_quiet(word) => return Self::Quiet,
                _ => {}
            }
            if WITH_VALUE.contains(&word) {
                words.next();
            }
        }
        asked
    }

    /// Tells whether the output is the answer alone.
    pub(super) fn is_answer_alone(self) -> bool {
        matches!(self, Self::Quiet | Self::Oneshot)
    }

    /// Tells whether standard error may name the session.
    pub(super) fn may_name_session(self) -> bool {
        !matches!(self, Self::Chat | Self::Acp | Self::Oneshot)
    }
}

/// Finds the prompt in the command line.
pub(super) fn query(context: &Context) -> Option<String> {
    let words = context.argv.as_deref()?;
    let mut arguments = arguments(words)?.iter().map(String::as_str);
    while let Some(word) = arguments.next() {
        if ["-q", "--query", "-z", "--oneshot"].contains(&word) {
            return arguments.next().map(str::to_owned);
        }
        let long = word
            .strip_prefix("--query=")
            .or_else(|| word.strip_prefix("--oneshot="));
        if let Some(prompt) = long {
            return Some(prompt.to_owned());
        }
        if WITH_VALUE.contains(&word) {
            arguments.next();
        }
    }
    None
}

/// Tells whether a script is one of hermes: `python -m hermes_cli.main`, or any Python program,
/// which uses the library.
pub(super) fn is_script(name: &str) -> bool {
    name.starts_with("hermes_cli") || is_python(name)
}

fn is_python(program: &str) -> bool {
    let path = Path::new(program);
    path.extension().is_some_and(|end| end == "py")
}

/// Returns what follows the program in a command line of hermes.
fn arguments(words: &[String]) -> Option<&[String]> {
    let (program, rest) = words.split_first()?;
    (!is_python(program)).then_some(rest)
}

/// Tells whether a word is one of these flags, with or without a value.
fn has_name(word: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        word.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Tells whether `-Q` is among the letters of a word such as `-vQ`.
fn is_short_quiet(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    // What follows the letter of a flag with a value is that value.
    letters
        .chars()
        .take_while(|letter| !"qzmtsrpc=".contains(*letter))
        .any(|letter| letter == 'Q')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    #[test]
    fn the_command_line_tells_what_is_printed() {
        let table: &[(&[&str], AskedMode, Option<&str>)] = &[
            (&[], AskedMode::Unknown, None),
            (&["hermes", "chat", "-q", "x"], AskedMode::Chat, Some("x")),
            (
                &["hermes", "chat", "-q", "x", "-v"],
                AskedMode::Chat,
                Some("x"),
            ),
            (
                &["hermes", "chat", "-q", "x", "-Q"],
                AskedMode::Quiet,
                Some("x"),
            ),
            (
                &["hermes", "chat", "-vQ", "-q", "x"],
                AskedMode::Quiet,
                Some("x"),
            ),
            (
                &["hermes", "chat", "--quiet", "--query=x"],
                AskedMode::Quiet,
                Some("x"),
            ),
            (
                &["/opt/bin/hermes", "-z", "x"],
                AskedMode::Oneshot,
                Some("x"),
            ),
            (&["hermes", "--oneshot=x"], AskedMode::Oneshot, Some("x")),
            (&["hermes", "acp"], AskedMode::Acp, None),
            (
                &["hermes", "-p", "acp", "chat", "-q", "-z"],
                AskedMode::Chat,
                Some("-z"),
            ),
            (
                &["hermes_cli.main", "-z", "x"],
                AskedMode::Oneshot,
                Some("x"),
            ),
            (&["drive_lib.py", "x"], AskedMode::Library, None),
            (&["hermes", "sessions", "list"], AskedMode::Unknown, None),
        ];
        for (words, asked, prompt) in table {
            assert_eq!(AskedMode::of(&context(words)), *asked, "{words:?}");
            assert_eq!(query(&context(words)).as_deref(), *prompt, "{words:?}");
        }
    }
}
