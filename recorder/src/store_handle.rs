//! A store that recorders on several threads may write to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtape_store::Store;

/// A store of a recorder's own, or one that it shares with others: a clone is the same store.
///
/// ```
/// use runtape_recorder::StoreHandle;
/// use runtape_recorder::store::Store;
///
/// # fn main() -> Result<(), runtape_recorder::RecordError> {
/// let store = StoreHandle::from(Store::open_in_memory()?);
/// let other = store.clone();
/// assert_eq!(other.lock().stats()?.runs, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoreHandle(Arc<Mutex<Store>>);

impl StoreHandle {
    /// Waits until nobody else uses the store, and returns it.
    pub fn lock(&self) -> MutexGuard<'_, Store> {
        // Whoever panicked has left no transaction open: it was rolled back on the way out.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Store> for StoreHandle {
    fn from(store: Store) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }
}

impl From<Arc<Mutex<Store>>> for StoreHandle {
    fn from(store: Arc<Mutex<Store>>) -> Self {
        Self(store)
    }
}
