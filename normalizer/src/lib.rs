//! normalizer
