//! JSON text: what records are kept as, and what most runtimes print.

mod scan;
mod write;

pub use scan::find_special;
pub use write::append;
