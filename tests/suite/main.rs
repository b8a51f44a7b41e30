//! End-to-end suite: one binary, one module per subject.

mod captures;
mod ground_truth;
mod properties;
