//! What is wrong with a value.

use std::fmt;

/// One thing that is wrong with a value.
///
/// Messages tell what was expected and what was found: of a text at most the first 40 characters,
/// of an object or array only that it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The type of the event, record or entry, where it is a known one.
    pub tag: Option<&'static str>,
    /// Where in the value, as a JSON pointer; empty for the value itself.
    pub path: String,
    /// What was expected there, and what was found.
    pub message: String,
    /// The rule that was broken, as a JSON pointer into the kind's schema; empty if the value was
    /// no JSON at all.
    pub schema_path: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tag) = self.tag {
            write!(f, "{tag}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}
