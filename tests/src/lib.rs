//! Home of the end-to-end suite (see `suite/`), and of the input that tests and benchmarks share.
//!
//! The feature `strategies` adds `strategies`: random values of every type of the model; the feature
//! `runs` adds `runs`: runs for those who test and measure the store; the feature `postgres` adds `postgres`: a server;
//! the feature `histories` adds `recorded_histories`: what CLIs left on disk, with what really happened.

#[cfg(all(unix, feature = "postgres"))]
pub mod postgres;
#[cfg(feature = "histories")]
pub mod recorded_histories;
#[cfg(feature = "runs")]
pub mod runs;
pub mod stopwatch;
#[cfg(feature = "strategies")]
pub mod strategies;
pub mod synthetic;
