//! One run as a file that any browser reads: no network, no script.
//!
//! Whatever agents wrote is escaped by one function, `escape::text`, which also makes characters visible
//! that would not be seen or would turn the text around; the file's own policy forbids everything but its
//! style. Calls, results and thinking are folded by `<details>`. Long texts and long runs are bounded: the
//! file says how much is left out, and which command shows it.

mod entry;
mod escape;
mod page;

pub use page::{HtmlBounds, HtmlError, write_html};
