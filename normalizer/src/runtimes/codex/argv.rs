//! What the command line tells before anything is printed.

use crate::context::Context;
use crate::framing::events_or_text::OutputForm;
use crate::session_id::is_small_uuid;
use crate::standard_input::{BesideArgument, StdinUse};

/// Tells whether the next word belongs to an option, of `codex` itself or of its commands.
fn is_valued(option: &str) -> bool {
    matches!(
        option,
        "-a" | "--add-dir"
            | "--ask-for-approval"
            | "--base"
            | "-c"
            | "-C"
            | "--cd"
            | "--color"
            | "--commit"
            | "--config"
            | "--cyber-access-program"
            | "--disable"
            | "--enable"
            | "--local-provider"
            | "-m"
            | "--model"
            | "-o"
            | "--output-last-message"
            | "--output-schema"
            | "-p"
            | "--profile"
            | "--remote"
            | "--remote-auth-token-env"
            | "-s"
            | "--sandbox"
            | "--thread-source"
            | "--title"
    )
}

/// Options that take every word up to the next option. After `resume` and `fork` they take one word.
const VARIADIC: &[&str] = &["-i", "--image"];

/// What the command line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Argv {
    /// The format; `None` if the command line is not known, or is not one of `codex exec`.
    pub(super) asked: Option<OutputForm>,
    /// The thread may have earlier runs, whose tokens are in its totals.
    pub(super) may_be_resumed: bool,
}

impl Argv {
    pub(super) fn of(context: &Context) -> Self {
        let words = context.argv.as_deref().map(CommandWords::of);
        let command = words.as_ref().and_then(CommandWords::command);
        Self {
            asked: words.as_ref().and_then(CommandWords::form),
            may_be_resumed: !matches!(command, Some(Subcommand::Fresh | Subcommand::Review)),
        }
    }
}

/// What `codex` is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subcommand {
    /// Begin a thread.
    Fresh,
    /// Go on with a thread; the most recent one where none is named.
    Resume { is_named: bool },
    /// Begin a thread with the history of another one, whose tokens are in its totals.
    Fork,
    /// Review the state of a repository.
    Review,
}

/// How many words that are no options are looked at: two for the command, one for the thread that it
/// goes on with, and the prompt.
const POSITIONAL: usize = 4;

/// The words of a command line, options and others apart.
#[derive(Default)]
struct CommandWords<'a> {
    positional: [Option<&'a str>; POSITIONAL],
    is_json: bool,
    is_last: bool,
}

impl<'a> CommandWords<'a> {
    fn of(argv: &'a [String]) -> Self {
        let mut found = Self::default();
        // The program comes first.
        let mut words = argv.iter().skip(1).map(String::as_str).peekable();
        while let Some(word) = words.next() {
            match word {
                word if !is_option(word) => found.add(word),
                "--" => words.by_ref().for_each(|word| found.add(word)),
                "--json" | "--experimental-json" => found.is_json = true,
                "--last" => found.is_last = true,
                option if is_valued(option) => {
                    words.next();
                }
                option if VARIADIC.contains(&option) => {
                    words.next_if(|next| !is_option(next));
                    if !found.names_thread() {
                        while words.next_if(|next| !is_option(next)).is_some() {}
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn add(&mut self, word: &'a str) {
        let free = self.positional.iter_mut().find(|slot| slot.is_none());
        if let Some(free) = free {
            *free = Some(word);
        }
    }

    /// Tells whether the words so far are those of a command that goes on with a thread.
    fn names_thread(&self) -> bool {
        let command = self.command();
        matches!(command, Some(Subcommand::Resume { .. } | Subcommand::Fork))
    }

    fn command(&self) -> Option<Subcommand> {
        let [first, second, ..] = self.positional;
        match (first?, second) {
            ("exec" | "e", Some("resume")) => Some(Subcommand::Resume {
                is_named: !self.is_last,
            }),
            ("exec" | "e", Some("fork")) => Some(Subcommand::Fork),
            ("exec" | "e", Some("review")) | ("review", _) => Some(Subcommand::Review),
            ("exec" | "e", _) => Some(Subcommand::Fresh),
            _ => None,
        }
    }

    fn form(&self) -> Option<OutputForm> {
        self.command()?;
        Some(if self.is_json {
            OutputForm::Events
        } else {
            OutputForm::Text
        })
    }

    fn prompt(&self) -> Option<&'a str> {
        let at = match self.command()? {
            Subcommand::Fresh => 1,
            Subcommand::Resume { is_named: true } | Subcommand::Fork => 3,
            Subcommand::Resume { is_named: false } => 2,
            Subcommand::Review => {
                let is_own_command = self.positional.first() == Some(&Some("review"));
                2 - usize::from(is_own_command)
            }
        };
        self.positional.get(at).copied().flatten()
    }
}

/// A lone dash stands for standard input.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Returns the thread that the run's thread is a fork of, if it is named by its id.
pub(super) fn forked_from(context: &Context) -> Option<String> {
    let words = CommandWords::of(context.argv.as_deref()?);
    let origin = words.positional.get(2).copied().flatten()?;
    let is_fork = words.command() == Some(Subcommand::Fork) && is_small_uuid(origin);
    is_fork.then(|| origin.to_owned())
}

/// Returns the prompt. With a dash, or without one, it comes on standard input.
pub(super) fn query(context: &Context) -> Option<String> {
    let prompt = CommandWords::of(context.argv.as_deref()?).prompt()?;
    (prompt != "-").then(|| prompt.to_owned())
}

/// Tells whether a script or a program of another name is codex: what the package starts, and the
/// binaries of a release, which are named after the machine they are for.
pub(super) fn is_script(name: &str) -> bool {
    let is_built = |rest: &str| {
        ["linux", "darwin", "windows"]
            .iter()
            .any(|system| rest.contains(system))
    };
    matches!(name, "codex.js" | "codex-exec") || name.strip_prefix("codex-").is_some_and(is_built)
}

/// Tells what standard input is: the prompt of `codex exec` without one, or with `-` for one. Beside a prompt it is appended to
/// that in a block of its own, but not where a thread goes on or a repository is reviewed: it is not read then.
///
/// From `codex-rs/exec/src/lib.rs` of openai/codex (`resolve_root_prompt`, `resolve_prompt`), and the help of `codex exec`.
pub(super) fn stdin(context: &Context) -> StdinUse {
    let words = context.argv.as_deref().map(CommandWords::of);
    match words.and_then(|words| words.command()) {
        Some(Subcommand::Fresh) => {
            StdinUse::Prompt(BesideArgument::Within("\n\n<stdin>\n", "</stdin>"))
        }
        Some(Subcommand::Resume { .. } | Subcommand::Fork | Subcommand::Review) => {
            StdinUse::Prompt(BesideArgument::Apart)
        }
        None => StdinUse::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_command_line_tells_the_format_the_prompt_and_whether_a_thread_goes_on() {
        let (json, text) = (Some(OutputForm::Events), Some(OutputForm::Text));
        let table = [
            ("codex exec --json Hi", json, false, Some("Hi")),
            ("codex exec Hi", text, false, Some("Hi")),
            ("codex e --experimental-json Hi", json, false, Some("Hi")),
            (
                "codex exec --json -m gpt-5.5 -c a=b Hi",
                json,
                false,
                Some("Hi"),
            ),
            ("codex exec --json resume ID Hi", json, true, Some("Hi")),
            ("codex exec resume --last Hi", text, true, Some("Hi")),
            ("codex exec resume ID", text, true, None),
            ("codex exec resume -i a.png ID Hi", text, true, Some("Hi")),
            ("codex exec --json fork ID Hi", json, true, Some("Hi")),
            (
                "codex exec fork --json -i a.png ID Hi",
                json,
                true,
                Some("Hi"),
            ),
            ("codex exec fork ID", text, true, None),
            ("codex exec fork ID -", text, true, None),
            (
                "codex exec --thread-source ci --json Hi",
                json,
                false,
                Some("Hi"),
            ),
            ("codex --search exec --json --model m -", json, false, None),
            (
                "codex exec --json -i a.png b.png --color never Hi",
                json,
                false,
                Some("Hi"),
            ),
            ("codex exec -- --json", text, false, Some("--json")),
            ("codex exec review --json --base main", json, false, None),
            ("codex review Look", text, false, Some("Look")),
            ("codex Hi", None, true, None),
            ("codex", None, true, None),
        ];
        for (line, asked, may_be_resumed, prompt) in table {
            let context = testing::command_line(line);
            let expected = Argv {
                asked,
                may_be_resumed,
            };
            assert_eq!(Argv::of(&context), expected, "{line}");
            assert_eq!(query(&context).as_deref(), prompt, "{line}");
        }
        let unknown = testing::context(&[]);
        assert!(Argv::of(&unknown).may_be_resumed);
        let id = "01a1e40f-3839-7462-8ba4-4636a26c3aa5";
        for (line, origin) in [
            (format!("codex exec fork --json {id} Hi"), Some(id)),
            ("codex exec fork name Hi".to_owned(), None),
            (format!("codex exec resume {id} Hi"), None),
        ] {
            let origin_of = forked_from(&testing::command_line(&line));
            assert_eq!(origin_of.as_deref(), origin, "{line}");
        }
    }

    #[test]
    fn scripts_and_binaries_of_a_release_are_codex() {
        for name in [
            "codex.js",
            "codex-exec",
            "codex-x86_64-unknown-linux-musl",
            "codex-aarch64-apple-darwin",
        ] {
            assert!(is_script(name), "{name}");
        }
        for name in ["codex-plugin", "cli.js", "my-codex.js", "opencode"] {
            assert!(!is_script(name), "{name}");
        }
    }
}
