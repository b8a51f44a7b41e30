//! The files that make up an agent, and the instruction it is given.

use serde::Serialize;

use super::javascript::trim;

/// The names of an agent's files.
pub const AGENT_FILE_NAMES: [&str; 7] = [
    "AGENTS.md",
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "MEMORY.md",
];

/// What is known of one agent file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentFileState {
    /// What the file holds.
    pub content: String,
    /// Whether there is such a file.
    pub exists: bool,
}

/// Returns whether `value` names an agent file, spelled exactly so.
#[must_use]
pub fn is_agent_file_name(value: &str) -> bool {
    AGENT_FILE_NAMES.contains(&value)
}

/// Returns every agent file by name, none of them there yet.
#[must_use]
pub fn create_agent_files_state() -> Vec<(&'static str, AgentFileState)> {
    AGENT_FILE_NAMES
        .into_iter()
        .map(|name| (name, AgentFileState::default()))
        .collect()
}

/// Returns a message as the instruction an agent is given.
#[must_use]
pub fn build_agent_instruction(message: &str) -> &str {
    trim(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_exact() {
        for name in AGENT_FILE_NAMES {
            assert!(is_agent_file_name(name), "{name}");
        }
        for name in ["", "soul.md", "README.md", "SOUL.md ", "SOUL"] {
            assert!(!is_agent_file_name(name), "{name}");
        }
    }

    #[test]
    fn no_file_is_there_at_first() {
        let state = create_agent_files_state();
        let names: Vec<_> = state.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, AGENT_FILE_NAMES);
        assert!(
            state
                .iter()
                .all(|(_, file)| *file == AgentFileState::default())
        );
    }

    #[test]
    fn instructions_lose_javascript_whitespace() {
        assert_eq!(build_agent_instruction("\u{feff} a \u{85}\n"), "a \u{85}");
    }
}
