//! What an agent may do without asking, as its command line says.

use crate::context::Context;

/// Words of a command line that say what an agent may do without asking.
#[derive(Clone, Copy, Debug)]
pub struct PermissionFlag {
    /// The flag's names.
    pub names: &'static [&'static str],
    /// Where the word for it is.
    mode: ModeWord,
}

/// Where the word for what an agent may do is.
#[derive(Clone, Copy, Debug)]
enum ModeWord {
    /// The flag means this.
    Meaning(&'static str),
    /// It is the flag's value.
    Value,
    /// It is the value of this setting, among those that the flag sets: `-c KEY=VALUE`.
    Setting(&'static str),
}

impl PermissionFlag {
    /// Creates a flag that means one thing.
    #[must_use]
    pub const fn meaning(mode: &'static str, names: &'static [&'static str]) -> Self {
        let mode = ModeWord::Meaning(mode);
        Self { names, mode }
    }

    /// Creates a flag whose value is the word for it.
    #[must_use]
    pub const fn valued(names: &'static [&'static str]) -> Self {
        let mode = ModeWord::Value;
        Self { names, mode }
    }

    /// Creates a flag that sets a setting whose value is the word for it.
    #[must_use]
    pub const fn setting(names: &'static [&'static str], key: &'static str) -> Self {
        let mode = ModeWord::Setting(key);
        Self { names, mode }
    }

    fn mode_in(&self, context: &Context) -> Option<String> {
        match self.mode {
            ModeWord::Meaning(mode) => context.has_flag(self.names).then(|| mode.to_owned()),
            ModeWord::Value => context.flag(self.names).map(str::to_owned),
            ModeWord::Setting(key) => {
                // Of several values the last one counts.
                let values = context.flags(self.names).filter_map(|set| {
                    let value = set.strip_prefix(key)?.trim_start().strip_prefix('=')?;
                    Some(value.trim().trim_matches('"').to_owned())
                });
                values.last()
            }
        }
    }
}

/// Returns what the agent may do without asking, by the first of these flags that is there.
pub(crate) fn permission_mode(context: &Context, flags: &[PermissionFlag]) -> Option<String> {
    flags.iter().find_map(|flag| flag.mode_in(context))
}

#[cfg(test)]
mod tests {
    use runtape_core::Runtime;

    use super::*;
    use crate::runtimes::entry_for;
    use crate::testing::command_line;

    #[test]
    fn the_command_line_says_what_an_agent_may_do() {
        let table = [
            (
                Runtime::ClaudeCode,
                "claude -p Hi --permission-mode plan",
                Some("plan"),
            ),
            (
                Runtime::ClaudeCode,
                "claude --dangerously-skip-permissions -p Hi",
                Some("bypassPermissions"),
            ),
            (Runtime::ClaudeCode, "claude -p Hi", None),
            (
                Runtime::Gemini,
                "gemini --approval-mode=auto_edit",
                Some("auto_edit"),
            ),
            (Runtime::Gemini, "gemini -y Hi", Some("yolo")),
            (
                Runtime::Codex,
                "codex exec --sandbox read-only Hi",
                Some("read-only"),
            ),
            (
                Runtime::Codex,
                "codex exec --full-auto Hi",
                Some("full-auto"),
            ),
            (
                Runtime::Codex,
                "codex exec --dangerously-bypass-approvals-and-sandbox Hi",
                Some("danger-full-access"),
            ),
            (
                Runtime::Codex,
                "codex exec -c model=m -c sandbox_mode=\"workspace-write\" Hi",
                Some("workspace-write"),
            ),
            (Runtime::Codex, "codex exec -c sandbox_mode_x=y Hi", None),
            (Runtime::Cursor, "cursor-agent -p -f Hi", Some("force")),
            (Runtime::Hermes, "hermes chat --yolo -q Hi", Some("yolo")),
            (Runtime::Opencode, "opencode run Hi", None),
            (Runtime::Opencode, "opencode run --auto Hi", Some("auto")),
            (
                Runtime::Opencode,
                "opencode run --dangerously-skip-permissions Hi",
                Some("auto"),
            ),
            (Runtime::Generic, "agent --yolo", None),
        ];
        for (runtime, line, expected) in table {
            let flags = entry_for(&runtime).unwrap().permissions;
            let mode = permission_mode(&command_line(line), flags);
            assert_eq!(mode.as_deref(), expected, "{line}");
        }
    }
}
