//! normalizer

pub mod openclaw;
