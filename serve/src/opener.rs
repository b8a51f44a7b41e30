//! How threads get a store of their own.

use std::sync::Arc;

use runtape_store::{Store, StoreError};

/// What a store is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only to read.
    Read,
    /// To complete what is kept for the sake of reading, too.
    Write,
}

/// Opens the database, whatever kind it is of.
pub(crate) type Opener = Arc<dyn Fn(Access) -> Result<Store, StoreError> + Send + Sync>;
