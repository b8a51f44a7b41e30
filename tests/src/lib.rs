//! Home of the end-to-end suite (see `suite/`), and of the input that benchmarks and suites share.

#[cfg(feature = "runs")]
pub mod runs;
pub mod synthetic;
