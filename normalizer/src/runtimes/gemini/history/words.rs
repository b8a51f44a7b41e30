//! What the CLI itself says in the user's name.

/// Whose words a user's record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user.
    User,
    /// The CLI, which tells the model where it is.
    Context,
    /// The CLI, which asks the model to go on or not to repeat itself.
    Nudge,
}

/// Tells whose words a user's record has, from its text and from what is shown instead of it.
///
/// A nudge is shown as the prompt that it is about. What is shown instead of a prompt is what was typed:
/// the text beside it has files, or the words that a command stands for.
pub(super) fn speaker(text: &str, shown: Option<&str>) -> Speaker {
    let is_nudge = text.starts_with("System: ") || text == "Please continue.";
    if text.trim_start().starts_with("<session_context>") {
        Speaker::Context
    } else if is_nudge && shown.is_some_and(|shown| shown != text) {
        Speaker::Nudge
    } else {
        Speaker::User
    }
}

/// Returns the directory that the CLI works in, from what it tells the model about it.
pub(super) fn directory(context: &str) -> Option<&str> {
    let mut lines = context.lines();
    let heading = |line: &str| line.trim_end().ends_with("**Workspace Directories:**");
    lines.find(|line| heading(line))?;
    let path = lines.next()?.trim_start().strip_prefix("- ")?.trim_end();
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cli_s_own_words_are_no_prompts() {
        let table = [
            ("Hello.", None, Speaker::User),
            ("<session_context>\nThis is the CLI", None, Speaker::Context),
            (
                "System: Potential loop detected.",
                Some("Go."),
                Speaker::Nudge,
            ),
            ("Please continue.", Some("Go."), Speaker::Nudge),
            ("Please continue.", None, Speaker::User),
            ("System: hi", None, Speaker::User),
            ("System: hi", Some("System: hi"), Speaker::User),
            ("Review the code.", Some("/review"), Speaker::User),
        ];
        for (text, shown, expected) in table {
            assert_eq!(speaker(text, shown), expected, "{text}");
        }
    }

    #[test]
    fn the_first_workspace_directory_is_where_it_works() {
        let text = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/my proj\n  - /other\n- **Directory Structure:**\n";
        assert_eq!(directory(text), Some("/home/dev/my proj"));
        assert_eq!(directory("<session_context>\n  - /home"), None);
        assert_eq!(directory("- **Workspace Directories:**\n"), None);
    }
}
