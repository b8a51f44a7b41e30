//! End-to-end suite.
