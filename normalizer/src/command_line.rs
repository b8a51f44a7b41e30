//! Whose command line it is.
//!
//! A recorder knows the words it was given, and those are not always a runtime's: `cat FILE` and
//! `replay.sh --output-format json` print what a runtime printed elsewhere. A parser is told of a
//! command line only where the program is its runtime's; else `FILE` would be the user's prompt.

use crate::runtimes::RuntimeEntry;

/// Programs that run another one, which is named behind them.
const LAUNCHERS: &[&str] = &[
    "bun",
    "bunx",
    "caffeinate",
    "deno",
    "doas",
    "env",
    "gtimeout",
    "ionice",
    "nice",
    "node",
    "nohup",
    "npx",
    "pipx",
    "pnpm",
    "setsid",
    "stdbuf",
    "sudo",
    "time",
    "timeout",
    "unbuffer",
    "uv",
    "uvx",
    "winpty",
    "yarn",
];

/// Returns the name of a program or package without its directory, its ending and its version.
pub(crate) fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let endings = [".exe", ".cmd"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
    bare.unwrap_or(name)
}

fn is_launcher(name: &str) -> bool {
    // `python3.12` is one, too.
    LAUNCHERS.contains(&name) || name.starts_with("python")
}

/// Launchers that run a script of any name, which says nothing of whose it is: `node cli.js`.
const INTERPRETERS: &[&str] = &["bun", "deno", "node"];

/// Launchers that name another of their own commands before the program: `pnpm dlx claude`.
const SUBCOMMANDS: &[&str] = &["dlx", "exec", "run", "tool", "x"];

/// Returns the word that names the program of a command line, behind those that only launch it, and
/// whether an interpreter runs it.
fn launched(argv: &[String]) -> Option<(&str, bool)> {
    let mut is_interpreted = false;
    for word in argv {
        let name = program_name(word);
        let is_option = word.starts_with('-') && word.len() > 1;
        let is_setting =
            word.contains('=') || word.starts_with(|first: char| first.is_ascii_digit());
        if is_launcher(name) {
            is_interpreted |= INTERPRETERS.contains(&name) || name.starts_with("python");
        } else if !is_option && !is_setting && !SUBCOMMANDS.contains(&name) {
            return Some((word, is_interpreted));
        }
    }
    None
}

/// Returns the runtime whose program a command line runs, by its name. A script that an interpreter
/// runs may be anybody's `cli.js`: its path has to name the runtime, too.
pub(crate) fn owner<'a>(
    argv: &[String],
    mut entries: impl Iterator<Item = &'a RuntimeEntry>,
) -> Option<&'a RuntimeEntry> {
    let (word, is_interpreted) = launched(argv)?;
    let name = program_name(word);
    entries.find(|entry| {
        let is_named = || entry.commands.iter().any(|command| word.contains(command));
        let is_script = (entry.is_script)(name) && (!is_interpreted || is_named());
        entry.commands.contains(&name) || is_script
    })
}

/// Returns the words from the runtime's own program on; `None` if another program was run.
pub(crate) fn own_words<'a>(argv: &'a [String], entry: &RuntimeEntry) -> Option<&'a [String]> {
    let is_own = |word: &String| {
        let name = program_name(word);
        entry.commands.contains(&name) || (entry.is_script)(name)
    };
    let first = argv.first()?;
    let at = if is_own(first) {
        0
    } else if is_launcher(program_name(first)) {
        argv.iter().position(is_own)?
    } else {
        return None;
    };
    argv.get(at..)
}

#[cfg(test)]
mod tests {
    use runtape_core::Runtime;

    use super::*;
    use crate::runtimes::{RUNTIMES, entry_for};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_program_that_is_launched_tells_whose_command_line_it_is() {
        let table = [
            ("claude -p Hi", Some(Runtime::ClaudeCode)),
            ("/opt/bin/claude -p Hi", Some(Runtime::ClaudeCode)),
            (
                "npx -y @anthropic-ai/claude-code@2.0.1 -p Hi",
                Some(Runtime::ClaudeCode),
            ),
            ("pnpm dlx @google/gemini-cli -p Hi", Some(Runtime::Gemini)),
            ("timeout 90 env A=1 gemini -p Hi", Some(Runtime::Gemini)),
            ("node /usr/bin/gemini -p Hi", Some(Runtime::Gemini)),
            ("python3 agent.py --model claude", None),
            ("node cli.js claude", None),
            (
                "node /lib/node_modules/@anthropic-ai/claude-code/cli.js -p Hi",
                Some(Runtime::ClaudeCode),
            ),
            ("sh -c claude", None),
            ("codex exec --json Hi", Some(Runtime::Codex)),
            ("npx -y @openai/codex@0.166.0 exec Hi", Some(Runtime::Codex)),
            ("node /lib/bin/codex.js exec Hi", Some(Runtime::Codex)),
            (
                "/opt/codex-x86_64-unknown-linux-musl exec Hi",
                Some(Runtime::Codex),
            ),
            ("bunx opencode-ai run Hi", Some(Runtime::Opencode)),
            ("timeout 90 opencode run Hi", Some(Runtime::Opencode)),
            ("sudo codex exec opencode", Some(Runtime::Codex)),
            ("nice opencode run codex", Some(Runtime::Opencode)),
            ("cat codex", None),
            ("sh -c codex", None),
            ("echo", None),
            ("./my-agent.sh", None),
            ("npx", None),
        ];
        for (line, expected) in table {
            let found = owner(&words(line), RUNTIMES.iter());
            let found = found.map(|entry| entry.runtime.clone());
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_command_line_belongs_to_a_runtime_only_through_its_program() {
        let table = [
            (Runtime::ClaudeCode, "claude -p Hi", Some("claude -p Hi")),
            (
                Runtime::ClaudeCode,
                "/opt/bin/claude -p Hi",
                Some("/opt/bin/claude -p Hi"),
            ),
            (
                Runtime::ClaudeCode,
                "node /lib/cli.js -p Hi",
                Some("/lib/cli.js -p Hi"),
            ),
            (
                Runtime::ClaudeCode,
                "npx -y @anthropic-ai/claude-code@2.0.1 -p Hi",
                Some("@anthropic-ai/claude-code@2.0.1 -p Hi"),
            ),
            (
                Runtime::ClaudeCode,
                "timeout 90 claude -p Hi",
                Some("claude -p Hi"),
            ),
            (
                Runtime::ClaudeCode,
                "env A=1 claude.exe -p Hi",
                Some("claude.exe -p Hi"),
            ),
            (Runtime::ClaudeCode, "cat out.jsonl", None),
            (Runtime::ClaudeCode, "cat claude", None),
            (Runtime::ClaudeCode, "sh -c claude", None),
            (Runtime::ClaudeCode, "gemini -p Hi", None),
            (
                Runtime::Cursor,
                "cursor-agent -p Hi",
                Some("cursor-agent -p Hi"),
            ),
            (Runtime::Cursor, "cat agent", None),
            (
                Runtime::Gemini,
                "npx @google/gemini-cli -p Hi",
                Some("@google/gemini-cli -p Hi"),
            ),
            (Runtime::Gemini, "tail -n 5 out", None),
            (Runtime::Hermes, "hermes -z Hi", Some("hermes -z Hi")),
            (Runtime::Hermes, "python drive_lib.py", Some("drive_lib.py")),
            (
                Runtime::Hermes,
                "python3.12 -m hermes_cli.main -z Hi",
                Some("hermes_cli.main -z Hi"),
            ),
            (Runtime::Hermes, "cat hermes -Q", None),
            (Runtime::Hermes, "grep -q Hi out", None),
        ];
        for (runtime, line, expected) in table {
            let (argv, entry) = (words(line), entry_for(&runtime).unwrap());
            let own = own_words(&argv, entry).map(|own| own.join(" "));
            assert_eq!(own.as_deref(), expected, "{line}");
        }
        for entry in RUNTIMES {
            assert_eq!(own_words(&[], entry), None);
        }
    }
}
