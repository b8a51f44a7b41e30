//! Words of commands.

/// Stands in a word for what its characters do not tell.
pub(super) const UNTOLD: char = '\0';

/// A word of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// What it stands for, without quotes.
    pub(super) text: String,
    /// Whether a shell would look for files that fit it, or make several words of it.
    pub(super) is_pattern: bool,
    /// Whether it has a backslash where no shell needs one, such as a path of Windows.
    pub(super) is_odd: bool,
    pub(super) is_quoted: bool,
}

impl Word {
    /// Makes a word of which nothing is known.
    pub(super) fn untold() -> Self {
        Self::of(UNTOLD.to_string())
    }

    pub(super) fn of(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns what it stands for, where that is known.
    pub(super) fn told(&self) -> Option<&str> {
        (!self.text.contains(UNTOLD)).then_some(self.text.as_str())
    }

    /// Tells whether it is this word of the shell's language.
    pub(super) fn is(&self, word: &str) -> bool {
        !self.is_quoted && self.text == word
    }

    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}
