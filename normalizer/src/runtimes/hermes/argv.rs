//! What the command line says of the output.

use std::path::Path;

use crate::context::Context;

/// Which way of running hermes a command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
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

/// Programs that run another one, which is named among their arguments.
const WRAPPERS: &[&str] = &[
    "env", "timeout", "nice", "nohup", "stdbuf", "sudo", "time", "unbuffer", "uv", "uvx", "pipx",
];

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

impl Asked {
    /// Reads the command line of a run.
    pub(super) fn of(context: &Context) -> Self {
        let words = context.argv.as_deref().unwrap_or_default();
        match arguments(words) {
            Some(arguments) => Self::of_arguments(arguments),
            None if is_python_program(words) => Self::Library,
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

/// Returns what follows the program in a command line of hermes.
fn arguments(words: &[String]) -> Option<&[String]> {
    let (first, rest) = words.split_first()?;
    if is_named(first, "hermes") {
        return Some(rest);
    }
    let first = file_stem(first);
    if first.starts_with("python") {
        // `python -m hermes_cli.main chat …`
        let module = rest.iter().position(|word| word == "-m")?;
        let named = rest.get(module + 1)?;
        return named
            .starts_with("hermes")
            .then(|| rest.get(module + 2..).unwrap_or_default());
    }
    if !WRAPPERS.contains(&first) {
        return None;
    }
    let program = rest.iter().position(|word| is_named(word, "hermes"))?;
    rest.get(program + 1..)
}

fn is_python_program(words: &[String]) -> bool {
    let is_script = |word: &String| Path::new(word).extension().is_some_and(|end| end == "py");
    match words.split_first() {
        Some((first, rest)) => {
            is_script(first)
                || (file_stem(first).starts_with("python") && rest.iter().any(is_script))
        }
        None => false,
    }
}

fn is_named(word: &str, name: &str) -> bool {
    file_stem(word) == name
}

fn file_stem(word: &str) -> &str {
    let stem = Path::new(word).file_stem();
    stem.and_then(|stem| stem.to_str()).unwrap_or_default()
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
    use super::super::testing::context;
    use super::*;

    #[test]
    fn the_command_line_tells_what_is_printed() {
        let table: &[(&[&str], Asked, Option<&str>)] = &[
            (&[], Asked::Unknown, None),
            (&["hermes", "chat", "-q", "x"], Asked::Chat, Some("x")),
            (&["hermes", "chat", "-q", "x", "-v"], Asked::Chat, Some("x")),
            (
                &["hermes", "chat", "-q", "x", "-Q"],
                Asked::Quiet,
                Some("x"),
            ),
            (
                &["hermes", "chat", "-vQ", "-q", "x"],
                Asked::Quiet,
                Some("x"),
            ),
            (
                &["hermes", "chat", "--quiet", "--query=x"],
                Asked::Quiet,
                Some("x"),
            ),
            (&["/opt/bin/hermes", "-z", "x"], Asked::Oneshot, Some("x")),
            (&["hermes", "--oneshot=x"], Asked::Oneshot, Some("x")),
            (&["hermes", "acp"], Asked::Acp, None),
            (
                &["hermes", "-p", "acp", "chat", "-q", "-z"],
                Asked::Chat,
                Some("-z"),
            ),
            (
                &["timeout", "60", "hermes", "chat", "-Q", "-q", "x"],
                Asked::Quiet,
                Some("x"),
            ),
            (
                &["python3", "-m", "hermes_cli.main", "-z", "x"],
                Asked::Oneshot,
                Some("x"),
            ),
            (&["python", "drive_lib.py", "-z"], Asked::Library, None),
            (&["drive_lib.py", "x"], Asked::Library, None),
            (&["cat", "-z", "FILE"], Asked::Unknown, None),
            (&["cat", "hermes", "-Q"], Asked::Unknown, None),
            (&["hermes", "sessions", "list"], Asked::Unknown, None),
        ];
        for (words, asked, prompt) in table {
            assert_eq!(Asked::of(&context(words)), *asked, "{words:?}");
            assert_eq!(query(&context(words)).as_deref(), *prompt, "{words:?}");
        }
    }
}
