//! Input for benchmarks: as much as wanted, as varied as real output, the same for the same seed.
//!
//! Copies of a capture would flatter every number that a cache or a compressor has a part in. So a
//! [`Replica`] is a capture with fresh ids and other words. The ids keep their form and the
//! same id stays the same within a replica, so calls still find their results; words come from a
//! list of [`WORDS`] made-up ones. Text that a capture repeats (as deltas and again whole, as a
//! tool's result and again in the runtime's own words) is repeated in its replicas, too.
//!
//! [`Replicator`] gives replicas of the captures under `fixtures/`; [`LongRun`] writes a single run
//! of any length, [`Sessions`] session files. None has a dependency on the crates that they are input for.
//!
//! ```
//! use runtape_tests::synthetic::{LongRun, Replicator};
//!
//! let replicator = Replicator::new(7);
//! let replica = replicator.replicas("gemini", "stream-json").next().expect("there are captures");
//! assert!(replica.stdout.starts_with(b"{"));
//!
//! let output = LongRun::new("claude-code", 7).expect("a runtime with long runs").write(100);
//! assert!(output.ends_with(b"\n"));
//! ```

mod ids;
mod letters;
mod long_run;
mod random;
mod replicator;
mod sessions;
mod template;
mod text;
mod words;

pub use long_run::LongRun;
pub use random::Random;
pub use replicator::{LONG_LINE, Replica, Replicas, Replicator};
pub use sessions::Sessions;
pub use words::{WORDS, Words};
