//! Home of the end-to-end suite (see `suite/`), and of the input that tests and benchmarks share.
//!
//! The feature `strategies` adds `strategies`: random values of every type of the model; the feature
//! `runs` adds `runs`: runs for those who test and measure the store; the feature `postgres` adds `postgres`: a server.

#[cfg(all(unix, feature = "postgres"))]
pub mod postgres;
#[cfg(feature = "runs")]
pub mod runs;
#[cfg(feature = "strategies")]
pub mod strategies;
pub mod synthetic;
