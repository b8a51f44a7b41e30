//! What shell commands do to files, and which hosts they name, as far as their words tell.
//!
//! The reader is our own: agents write what they like, half a script too, and it must be read in a time that
//! grows with its length, the same by every build. Those on the shelf do not fit: `brush-parser` gives
//! nothing for a script with one fault and brings 80 crates, `tree-sitter-bash` is C and guesses what a faulty
//! script meant, `conch-parser` had its last release in 2019, and the licence of `yash-syntax` is the GPL.
//!
//! A command is read and never run: that a file is named among those written does not say that it was
//! written. What depends on a variable, on what another command prints, on a pattern or on a script is
//! counted and not guessed.

mod files;
mod options;
mod patches;
mod places;
mod programs;
mod reader;
mod source;
mod transfers;
mod word;

use std::collections::BTreeSet;

/// Most files or hosts of one kind that are named of one command.
const MOST: usize = 100;

/// What a command does, as far as its words tell. Files are named from the directory on in which it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) read: BTreeSet<String>,
    pub(crate) written: BTreeSet<String>,
    pub(crate) deleted: BTreeSet<String>,
    pub(crate) hosts: BTreeSet<String>,
    /// How many of its parts do with files what their words do not tell.
    pub(crate) untold_files: u64,
    /// How many of its parts reach hosts that their words do not tell.
    pub(crate) untold_hosts: u64,
}

/// Reads a command, or a script of several.
pub(crate) fn effects(command: &str) -> Effects {
    let mut reader = reader::Reader::default();
    reader.script(command, &mut Some("".into()), 0);
    reader.effects
}

#[cfg(test)]
mod tests;
