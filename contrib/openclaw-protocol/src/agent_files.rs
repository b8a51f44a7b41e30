//! The files that make up an agent, and the instruction it is given.

use std::fmt;

use serde::Serialize;

use super::javascript::trim;

/// The name of one of an agent's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum AgentFileName {
    /// How the agent works.
    #[serde(rename = "AGENTS.md")]
    Agents,
    /// What it is like.
    #[serde(rename = "SOUL.md")]
    Soul,
    /// Who it is.
    #[serde(rename = "IDENTITY.md")]
    Identity,
    /// Whom it works for.
    #[serde(rename = "USER.md")]
    User,
    /// What it works with.
    #[serde(rename = "TOOLS.md")]
    Tools,
    /// What it does when nobody asks.
    #[serde(rename = "HEARTBEAT.md")]
    Heartbeat,
    /// What it remembers.
    #[serde(rename = "MEMORY.md")]
    Memory,
}

/// How a file is presented to whoever edits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgentFileMeta {
    /// What it is called.
    pub title: &'static str,
    /// What belongs into it.
    pub hint: &'static str,
}

/// What is known of one agent file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentFileState {
    /// What the file holds.
    pub content: String,
    /// Whether there is such a file.
    pub exists: bool,
}

/// A file in the list that earlier editors show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgentFileDef {
    /// Its name.
    pub filename: AgentFileName,
    /// What it is called in the list.
    pub label: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Whether a person may change it.
    pub editable: bool,
}

/// The names of an agent's files.
pub const AGENT_FILE_NAMES: [AgentFileName; 7] = [
    AgentFileName::Agents,
    AgentFileName::Soul,
    AgentFileName::Identity,
    AgentFileName::User,
    AgentFileName::Tools,
    AgentFileName::Heartbeat,
    AgentFileName::Memory,
];

/// How each file is presented. The titles are the files' names; the hints are this crate's own words.
pub const AGENT_FILE_META: [(AgentFileName, AgentFileMeta); 7] = [
    meta(AgentFileName::Agents, "How this agent works, and with whom"),
    meta(AgentFileName::Soul, "What it is like: tone, values, limits"),
    meta(
        AgentFileName::Identity,
        "Its name, its role, how it introduces itself",
    ),
    meta(
        AgentFileName::User,
        "The people it works for, and what they prefer",
    ),
    meta(
        AgentFileName::Tools,
        "The tools it may use, and how to use them here",
    ),
    meta(
        AgentFileName::Heartbeat,
        "What it looks after when it wakes by itself",
    ),
    meta(
        AgentFileName::Memory,
        "What it has learned and wants to keep",
    ),
];

/// What an editor shows in each file while it is empty, in this crate's own words.
pub const AGENT_FILE_PLACEHOLDERS: [(AgentFileName, &str); 7] = [
    (
        AgentFileName::Agents,
        "# How I work\n\nRules for every task, and who does what.",
    ),
    (
        AgentFileName::Soul,
        "# What I am like\n\nCalm, exact, brief.",
    ),
    (AgentFileName::Identity, "# Who I am\n\nName:\nRole:"),
    (AgentFileName::User, "# Whom I work for\n\nName:\nPrefers:"),
    (
        AgentFileName::Tools,
        "# What I work with\n\nOne line for each tool that needs a word.",
    ),
    (
        AgentFileName::Heartbeat,
        "# When I wake\n\nOne line for each thing to look at. Empty: nothing to do.",
    ),
    (
        AgentFileName::Memory,
        "# What I remember\n\nThe agent writes here by itself.",
    ),
];

/// The list of files that earlier editors show. Only an agent itself writes its memory.
pub const AGENT_FILES: [AgentFileDef; 7] = [
    def(AgentFileName::Soul, "Soul", true),
    def(AgentFileName::Identity, "Identity", true),
    def(AgentFileName::Tools, "Tools", true),
    def(AgentFileName::Agents, "Agents", true),
    def(AgentFileName::User, "User", true),
    def(AgentFileName::Heartbeat, "Heartbeat", true),
    def(AgentFileName::Memory, "Memory", false),
];

const fn meta(name: AgentFileName, hint: &'static str) -> (AgentFileName, AgentFileMeta) {
    let title = name.as_str();
    (name, AgentFileMeta { title, hint })
}

const fn def(filename: AgentFileName, label: &'static str, editable: bool) -> AgentFileDef {
    AgentFileDef {
        filename,
        label,
        description: filename.hint(),
        editable,
    }
}

impl AgentFileName {
    /// Returns the file's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agents => "AGENTS.md",
            Self::Soul => "SOUL.md",
            Self::Identity => "IDENTITY.md",
            Self::User => "USER.md",
            Self::Tools => "TOOLS.md",
            Self::Heartbeat => "HEARTBEAT.md",
            Self::Memory => "MEMORY.md",
        }
    }

    /// Reads a name, spelled exactly so.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut names = AGENT_FILE_NAMES.into_iter();
        names.find(|name| name.as_str() == value)
    }

    /// Returns what belongs into the file.
    const fn hint(self) -> &'static str {
        match self {
            Self::Agents => AGENT_FILE_META[0].1.hint,
            Self::Soul => AGENT_FILE_META[1].1.hint,
            Self::Identity => AGENT_FILE_META[2].1.hint,
            Self::User => AGENT_FILE_META[3].1.hint,
            Self::Tools => AGENT_FILE_META[4].1.hint,
            Self::Heartbeat => AGENT_FILE_META[5].1.hint,
            Self::Memory => AGENT_FILE_META[6].1.hint,
        }
    }
}

impl fmt::Display for AgentFileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Returns whether `value` names an agent file, spelled exactly so.
#[must_use]
pub fn is_agent_file_name(value: &str) -> bool {
    AgentFileName::parse(value).is_some()
}

/// Returns every agent file by name, none of them there yet.
#[must_use]
pub fn create_agent_files_state() -> [(AgentFileName, AgentFileState); 7] {
    AGENT_FILE_NAMES.map(|name| (name, AgentFileState::default()))
}

/// Returns a message as the instruction an agent is given.
#[must_use]
pub fn build_agent_instruction(message: &str) -> &str {
    trim(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn file_names_are_exact() {
        for name in AGENT_FILE_NAMES {
            assert!(is_agent_file_name(name.as_str()), "{name}");
            assert_eq!(AgentFileName::parse(name.as_str()), Some(name));
            assert_eq!(json!(name), json!(name.to_string()));
        }
        for name in ["", "soul.md", "README.md", "SOUL.md ", "SOUL"] {
            assert!(!is_agent_file_name(name), "{name}");
        }
    }

    #[test]
    fn no_file_is_there_at_first() {
        let state = create_agent_files_state();
        assert_eq!(state.clone().map(|(name, _)| name), AGENT_FILE_NAMES);
        let is_empty = |(_, file): &(_, AgentFileState)| *file == AgentFileState::default();
        assert!(state.iter().all(is_empty));
    }

    #[test]
    fn every_file_has_a_title_a_hint_and_a_placeholder() {
        assert_eq!(AGENT_FILE_META.map(|(name, _)| name), AGENT_FILE_NAMES);
        assert_eq!(
            AGENT_FILE_PLACEHOLDERS.map(|(name, _)| name),
            AGENT_FILE_NAMES
        );
        for (name, meta) in AGENT_FILE_META {
            assert_eq!(meta.title, name.as_str());
            assert!(!meta.hint.is_empty(), "{name}");
        }
        for (name, placeholder) in AGENT_FILE_PLACEHOLDERS {
            assert!(!placeholder.is_empty(), "{name}");
        }
    }

    #[test]
    fn only_the_memory_cannot_be_edited() {
        let names = AGENT_FILES.map(|file| file.filename.as_str());
        let expected = [
            "SOUL.md",
            "IDENTITY.md",
            "TOOLS.md",
            "AGENTS.md",
            "USER.md",
            "HEARTBEAT.md",
            "MEMORY.md",
        ];
        assert_eq!(names, expected);
        for file in AGENT_FILES {
            assert_eq!(file.editable, file.filename != AgentFileName::Memory);
            let known = AGENT_FILE_META
                .iter()
                .find(|(name, _)| *name == file.filename);
            assert_eq!(known.unwrap().1.hint, file.description);
        }
    }

    #[test]
    fn instructions_lose_javascript_whitespace() {
        assert_eq!(build_agent_instruction("\u{feff} a \u{85}\n"), "a \u{85}");
    }
}
