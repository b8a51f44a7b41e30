//! runtape for those who embed it.
//!
//! The parts are in the crates this one re-exports: the model in [`core`], bytes to records in
//! [`normalizer`].

pub use {runtape_core as core, runtape_normalizer as normalizer};
