//! Asking the person at the terminal before something is done that cannot be undone.

use std::io::{IsTerminal, Write};

use crate::error::CliError;

/// Tells whether there is somebody to ask.
pub(crate) fn can_be_asked() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks; only a clear yes is one.
pub(crate) fn is_yes(question: &str) -> Result<bool, CliError> {
    let mut stderr = std::io::stderr();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
