//! What a line of the conversation is, as far as it matters for where processes begin.

use super::super::message::{SYNTHETIC, is_cli_text};
use super::line_head::LineHead;

/// What the CLI puts before the prompt by which it tells the model of a task that ended.
pub(super) const NOTIFICATION: &str = "<task-notification>";

/// What a line of the conversation is, as far as it matters for where processes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// What a user asked.
    Prompt,
    /// What the CLI says for the user: a command, a caveat, the word that a task has ended.
    Cli,
    /// A tool's result.
    Result,
    /// What is written when a session is taken up whose process was killed.
    Recovery,
    /// The model calls a tool.
    Call,
    /// The model said something, or the CLI in its place: nothing more is to come.
    Answer,
    /// Anything else.
    Aside,
}

impl Word {
    /// Tells what a line is.
    pub(super) fn of(head: &LineHead<'_>) -> Self {
        let content = &head.message.content;
        let has = |kind: &str| {
            let mut blocks = content.blocks().iter();
            blocks.any(|block| block.0.kind.as_deref() == Some(kind))
        };
        match head.kind.as_deref() {
            Some("user") if has("tool_result") => match head.denial.as_deref() {
                Some("interrupted") => Self::Recovery,
                _ => Self::Result,
            },
            Some("user") => {
                let beginning = content.beginning();
                let is_told = head.is_meta == Some(true)
                    || head.is_summary == Some(true)
                    || head.origin.0.kind.as_deref() == Some("task-notification")
                    || beginning.starts_with(NOTIFICATION)
                    || is_cli_text(beginning);
                if is_told { Self::Cli } else { Self::Prompt }
            }
            Some("assistant") if is_synthetic(head) => match head.is_api_error {
                Some(true) => Self::Answer,
                _ => Self::Recovery,
            },
            Some("assistant") if has("tool_use") => Self::Call,
            Some("assistant") => Self::Answer,
            Some("system") if head.subtype.as_deref() == Some("turn_duration") => Self::Answer,
            Some("attachment") => match head.attachment.0.kind.as_deref() {
                Some("max_turns_reached" | "structured_output") => Self::Answer,
                _ => Self::Aside,
            },
            _ => Self::Aside,
        }
    }
}

/// Tells whether the CLI wrote a message in the model's place.
pub(super) fn is_synthetic(head: &LineHead<'_>) -> bool {
    head.message.model.as_deref() == Some(SYNTHETIC)
}
