//! Home of the end-to-end suite (see `suite/`), and of the input that tests and benchmarks share.
//!
//! The feature `strategies` adds `strategies`: random values of every type of the model; the feature
//! `runs` adds `runs`: runs for those who test and measure the store.

#[cfg(feature = "runs")]
pub mod runs;
#[cfg(feature = "strategies")]
pub mod strategies;
pub mod synthetic;
