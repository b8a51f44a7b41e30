//! Serves what was recorded: an HTTP API under `/api/v1`, live streams, and a page to watch and browse.
//!
//! A [`Server`] is bound first, so that its port is known, and then runs until its [`Stop`] is told so:
//!
//! ```no_run
//! use runtape_serve::{Server, Settings, Token};
//! use runtape_store::{Options, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let token = Token::random()?;
//! let settings = Settings::new(token);
//! let server = Server::bind(settings, |access| {
//!     let mut options = Options::read_only();
//!     options.read_only = access == runtape_serve::Access::Read;
//!     Store::open("runtape.db", &options)
//! })?;
//! println!("{}", server.url());
//! server.run()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Who may ask
//!
//! Every request, for the page's files too, passes `gate` before it is routed: the `Host` must be a name
//! of this machine with our port, so that no page on the web reaches us by a name that it made point here;
//! the method must be one of ours; an `Origin` must be ours; and what a browser says to come from another
//! site is refused. Then everything below `/api` needs the token. There are no cookies and no CORS headers.
//! Whatever the database holds was written by agents, and is untrusted: see `headers` and the page's `text.js`.
//!
//! # How it reads
//!
//! The store is synchronous, and one serves one thread. A fixed set of threads (`readers`) have one each,
//! read-only, and take questions from a channel; one more (`indexer`) may write, and completes the search
//! index in quiet moments; one more (`live`) follows the runs that somebody watches. The rest is asynchronous
//! and never waits for a disk.

mod answer;
mod api;
mod assets;
mod attachment;
mod cursor;
mod cut;
mod error;
mod gate;
mod headers;
mod html;
mod indexer;
mod live;
mod opener;
mod patient_stream;
mod problem;
mod question;
mod readers;
mod server;
mod settings;
mod stop;
mod token;

pub use error::ServeError;
pub use html::{HtmlBounds, HtmlError, write_html};
pub use opener::Access;
pub use server::Server;
pub use settings::Settings;
pub use stop::Stop;
pub use token::Token;
