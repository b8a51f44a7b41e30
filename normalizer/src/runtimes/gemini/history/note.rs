//! What the reader tells the parser of a record that the record itself does not say.
//!
//! A note stands before the first line of its record: that a sub-agent's file has it, or that it was
//! never written but as a part of a whole list. It names the record, so that it says nothing of
//! whatever else may come to follow it.

use serde_json::{Map, json};

use crate::json::{Str, wire_struct};

wire_struct! {
    /// A note, under its key.
    pub(super) struct Note<'a> {
        /// The id of the record that it is about.
        "record" => record: Option<Str<'a>>,
        /// The sub-agent whose record it is.
        "agent" => agent: Option<Str<'a>>,
        /// The record was written as a part of a whole list only.
        "listed" => is_listed: bool,
    }
}

/// Writes a note.
pub(super) fn write(record: &str, agent: Option<&str>, is_listed: bool) -> Vec<u8> {
    let mut note = Map::new();
    note.insert("record".to_owned(), record.into());
    if let Some(agent) = agent {
        note.insert("agent".to_owned(), agent.into());
    }
    if is_listed {
        note.insert("listed".to_owned(), true.into());
    }
    json!({ "$note": note }).to_string().into_bytes()
}
