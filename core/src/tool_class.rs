//! What a tool is for, in a word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tool is for: the same words for every runtime, whatever it calls its tools.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ToolClass {
    /// Runs commands or code.
    Shell,
    /// Reads files whose names it was given.
    Read,
    /// Creates, changes or deletes files.
    Write,
    /// Looks for files or for text in them, or lists a directory.
    Search,
    /// Fetches something from the network, or searches there.
    Network,
    /// Hands work over to another agent, or has to do with one.
    Delegate,
    /// Sends something to a place where others can read it: a message, a page, a report.
    Publish,
    /// Makes work start later, or elsewhere.
    Schedule,
    /// Belongs to a server of the Model Context Protocol: what it does, only that server knows.
    Mcp,
    /// Anything else: plans, questions to the user, and tools that nobody knows.
    #[serde(other)]
    Other,
}

impl ToolClass {
    /// Every class.
    pub const ALL: [Self; 10] = [
        Self::Shell,
        Self::Read,
        Self::Write,
        Self::Search,
        Self::Network,
        Self::Delegate,
        Self::Publish,
        Self::Schedule,
        Self::Mcp,
        Self::Other,
    ];

    /// Returns the name as in JSON and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Read => "read",
            Self::Write => "write",
            Self::Search => "search",
            Self::Network => "network",
            Self::Delegate => "delegate",
            Self::Publish => "publish",
            Self::Schedule => "schedule",
            Self::Mcp => "mcp",
            Self::Other => "other",
        }
    }

    /// Returns the class of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_one_name_everywhere() {
        for class in ToolClass::ALL {
            let json = serde_json::to_value(class).unwrap();
            assert_eq!(json, class.as_str());
            assert_eq!(ToolClass::from_name(class.as_str()), Some(class));
            assert_eq!(serde_json::from_value::<ToolClass>(json).unwrap(), class);
        }
        assert_eq!(ToolClass::from_name("Shell"), None);
        let later: ToolClass = serde_json::from_value("teleport".into()).unwrap();
        assert_eq!(later, ToolClass::Other);
    }
}
