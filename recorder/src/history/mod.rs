//! What agent CLIs left on this machine, joined with what was recorded.
//!
//! [`sync`] looks into the directories where agent CLIs keep their sessions ([`usual_directories`]), reads what
//! has changed since the last time, and stores it: each execution is one run, whatever it was seen through. A run
//! that was recorded keeps its id, gets the history as a further stream of its tape, and its records are made
//! anew from all of it.
//!
//! ```no_run
//! use runtape_recorder::history::{SyncOptions, runtimes_with_history, sync, usual_directories};
//! use runtape_recorder::store::{Options, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut store = Store::open("runtape.db", &Options::default())?;
//! let runtimes: Vec<_> = runtimes_with_history().collect();
//! let home = std::path::Path::new("/home/somebody");
//! let options = SyncOptions {
//!     directories: usual_directories(home, &runtimes, |name| std::env::var_os(name)),
//!     memory: Some("runtape.db.history".into()),
//!     ..SyncOptions::default()
//! };
//! let now = || 1_760_000_000_000;
//! let summary = sync(&mut store, &options, now, &mut |_| {})?;
//! println!("{} runtimes", summary.groups.len());
//! # Ok(())
//! # }
//! ```
//!
//! The files: `places` (where to look), `discover` (what is there), `state` (what was read before), `content` (the
//! bytes), `database` (the rows of a CLI's own database as lines), `session_work` and `segment_run` (a session cut
//! into runs; on any thread), `evidence` (whether two accounts are of one execution), `survey` (how much there is), `take_in` and `join` (into the
//! store), `sync` (all of it in order).

mod content;
pub mod database;
mod discover;
mod evidence;
mod join;
mod places;
mod plan;
mod segment_run;
mod session_work;
mod settled;
mod state;
mod stored_runs;
mod survey;
mod sync;
mod take_in;

pub use join::Joiner;
pub use places::{
    HistoryDirectory, directory_of_file, holds_history, named_directories, runtimes_with_history,
    usual_directories,
};
pub use survey::survey;
pub use sync::{SyncEvent, SyncOptions, sync};
