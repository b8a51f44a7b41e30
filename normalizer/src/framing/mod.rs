//! What any runtime's output is framed in.
//!
//! Bytes come in chunks and are told apart into lines ([`lines`]). On a line, JSON values may be
//! glued to each other or to text ([`pieces`]), and one value may go over many lines
//! ([`Document`]), or end before its end (`cut_json`). Lines whose format does not show are held
//! (`held_lines`, `events_or_text`), and so is text that only the exit can tell to be an answer (`answer`). What is
//! held has one bound.

pub(crate) mod answer;
pub(crate) mod cut_json;
mod document;
pub(crate) mod events_or_text;
pub(crate) mod held_lines;
pub mod lines;
mod pieces;

pub use document::{Document, Outside};
pub use pieces::{LinePart, Pieces, pieces};
pub(crate) use pieces::{each_value, first_json};
