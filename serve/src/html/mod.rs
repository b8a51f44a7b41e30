//! One run as a file that any browser reads: no network, no script.
//!
//! Whatever agents wrote passes one function, `escape::escape`, which also makes characters visible that
//! would not be seen or would turn the text around; the file's own policy forbids everything but its style
//! and images from data. An entry is of the same elements as on the page (`entry`). Calls, results and thinking are folded by `<details>`. Long texts and long runs are bounded: the
//! file says how much is left out, and which command shows it.

mod entry;
mod escape;
mod format;
mod page;

pub use page::{HtmlBounds, HtmlError, write_html};
