//! Home of the end-to-end suite (see `suite/`), and of the input that tests and benchmarks share.
//!
//! The feature `strategies` adds `strategies`: random values of every type of the model.

#[cfg(feature = "strategies")]
pub mod strategies;
pub mod synthetic;
