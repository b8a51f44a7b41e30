//! JSON as agent CLIs print it.
//!
//! [`decode`] reads one value into a wire struct, sound ones quicker than `serde_json`. What JavaScript
//! writes and `serde_json` refuses costs one character or number, and a known field of the wrong
//! type costs that field; neither costs the line. How values lie on lines is the matter of
//! [`framing`](crate::framing).
//!
//! Wire structs are declared with `wire_struct!`, which also counts the keys it does not know.

mod decode;
pub mod number;
mod plain;
mod quick;
mod rare;
mod raw;
mod reader;
mod removed;
mod repair;
mod scan;
mod shapes;
mod special;
mod text;
mod weight;
mod wire;

pub(crate) use decode::decode_rest;
pub use decode::{DecodeError, Decoded, Fault, decode};
pub(crate) use plain::PlainFields;
pub(crate) use rare::RareValue;
pub use raw::Raw;
pub(crate) use shapes::wire_shapes;
pub(crate) use special::find_special;
pub use text::Str;
pub(crate) use text::sound_text;
pub use weight::MOST_VALUES;
pub(crate) use weight::{is_too_much, items};
pub use wire::note_unknown;
#[allow(
    unused_imports,
    reason = "each runtime declares its wire structs with it"
)]
pub(crate) use wire::wire_struct;
