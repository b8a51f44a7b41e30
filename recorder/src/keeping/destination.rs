//! Where a recording is kept.

use std::fmt::Display;
use std::path::Path;

use runtape_store::Store;

use crate::spool::SpoolOwner;
use crate::store_handle::StoreHandle;

type OpenStore = Box<dyn FnOnce() -> Result<StoreHandle, String> + Send>;

/// Where a recording is kept: a store that is open, or one that is opened while the command runs
/// already.
pub struct Destination {
    pub(super) owner: SpoolOwner,
    pub(super) open: OpenStore,
}

impl Destination {
    /// Names a database that will be opened on the thread that keeps the run: one that is locked, or
    /// cannot be opened at all, does not hold up the command. What it prints goes to a spool file
    /// then.
    pub fn opening<E: Display>(
        path: &Path,
        open: impl FnOnce() -> Result<Store, E> + Send + 'static,
    ) -> Self {
        Self {
            owner: SpoolOwner::at(path),
            open: Box::new(move || match open() {
                Ok(store) => Ok(store.into()),
                Err(error) => Err(error.to_string()),
            }),
        }
    }
}

impl From<StoreHandle> for Destination {
    fn from(store: StoreHandle) -> Self {
        Self {
            // The thread that keeps the run asks the store itself.
            owner: SpoolOwner::default(),
            open: Box::new(move || Ok(store)),
        }
    }
}

impl From<Store> for Destination {
    fn from(store: Store) -> Self {
        StoreHandle::from(store).into()
    }
}
