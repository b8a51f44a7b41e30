//! Home of the end-to-end suite (see `suite/`), and of the input that benchmarks share.

pub mod synthetic;
