//! Where spool files are.

use std::path::PathBuf;

use runtape::SPOOL_EXTENSION;

/// Returns where spool files go: `$RUNTAPE_SPOOL`, else the temporary directory.
pub(crate) fn directory() -> PathBuf {
    let named = std::env::var_os("RUNTAPE_SPOOL").filter(|path| !path.is_empty());
    named.map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Returns the spool files there are.
pub(crate) fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory())
        .into_iter()
        .flatten()
        .flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == SPOOL_EXTENSION)
    });
    paths.sort();
    paths
}
