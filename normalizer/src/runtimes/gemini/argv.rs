//! What the command line tells.

use super::Format;
use super::failure::Resume;
use crate::context::Context;
use crate::standard_input::{BesideArgument, StdinUse};

/// Flags that the next word belongs to. Others are switches.
const WITH_VALUE: &[&str] = &[
    "-m",
    "--model",
    "-w",
    "--worktree",
    "--approval-mode",
    "--policy",
    "--admin-policy",
    "--allowed-mcp-server-names",
    "--allowed-tools",
    "-e",
    "--extensions",
    "-r",
    "--resume",
    "--session-file",
    "--session-id",
    "--delete-session",
    "--include-directories",
    "-o",
    "--output-format",
    "--proxy",
    "--sandbox-image",
    "--telemetry-target",
    "--telemetry-otlp-endpoint",
];

/// Returns the output format that is asked for. Without the flag the settings may name one.
pub(super) fn format(context: &Context) -> Option<Format> {
    match context.flag(&["--output-format", "-o"])? {
        "text" => Some(Format::Text),
        "json" => Some(Format::Json),
        "stream-json" => Some(Format::StreamJson),
        _ => None,
    }
}

/// Returns whether an earlier session is asked for.
pub(super) fn resume(context: &Context) -> Resume {
    const FLAGS: &[&str] = &["--resume", "-r"];
    if context.argv.is_none() {
        return Resume::Unknown;
    }
    if !context.has_flag(FLAGS) {
        return Resume::No;
    }
    let value = context.flag(FLAGS).filter(|value| !value.starts_with('-'));
    Resume::Yes(value.map(str::to_owned))
}

/// Returns what was asked for: the prompt flag, or the words that belong to no flag.
pub(super) fn query(context: &Context) -> Option<String> {
    let named = context.flag(&["-p", "--prompt", "-i", "--prompt-interactive"]);
    if let Some(prompt) = named {
        return Some(prompt.to_owned());
    }
    let mut found: Vec<&str> = Vec::new();
    let mut words = context.argv.as_deref()?.iter().map(String::as_str);
    // The program comes first.
    words.next();
    while let Some(word) = words.next() {
        if word == "--" {
            found.extend(words);
            break;
        }
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word);
        }
    }
    (!found.is_empty()).then(|| found.join(" "))
}

/// Tells what standard input is: a text that goes before the prompt.
///
/// `packages/cli/src/gemini.tsx` of google-gemini/gemini-cli puts two line feeds between them. It refuses
/// `--prompt-interactive` where standard input is no terminal.
pub(super) fn stdin(context: &Context) -> StdinUse {
    let is_interactive = context.has_flag(&["-i", "--prompt-interactive"]);
    match &context.argv {
        Some(_) if !is_interactive => StdinUse::Prompt(BesideArgument::Before("\n\n")),
        _ => StdinUse::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    #[test]
    fn the_prompt_is_found_with_and_without_its_flag() {
        let table: [(&[&str], Option<&str>); 6] = [
            (
                &["gemini", "-p", "Say hello.", "-o", "json"],
                Some("Say hello."),
            ),
            (&["gemini", "--prompt=Hi", "--yolo"], Some("Hi")),
            (
                &["gemini", "-m", "x", "-y", "Fix", "it", "-o", "json"],
                Some("Fix it"),
            ),
            (&["gemini", "--", "-x"], Some("-x")),
            (&["gemini", "--yolo"], None),
            (&[], None),
        ];
        for (argv, expected) in table {
            assert_eq!(query(&context(argv)).as_deref(), expected, "{argv:?}");
        }
    }

    #[test]
    fn the_format_and_the_session_are_found() {
        assert_eq!(
            format(&context(&["gemini", "-o", "json"])),
            Some(Format::Json)
        );
        assert_eq!(
            format(&context(&["gemini", "--output-format=text"])),
            Some(Format::Text)
        );
        assert_eq!(format(&context(&["gemini", "-p", "x"])), None);
        assert_eq!(resume(&context(&["gemini", "-p", "x"])), Resume::No);
        assert_eq!(
            resume(&context(&["gemini", "-r", "-p", "x"])),
            Resume::Yes(None)
        );
        assert_eq!(
            resume(&context(&["gemini", "--resume", "a1", "-p", "x"])),
            Resume::Yes(Some("a1".to_owned()))
        );
    }
}
