//! Where spool files are, by the environment.

use std::path::PathBuf;

use runtape_recorder::SpoolDirectories;

/// Returns a directory of this user's for those who have no room beside their database.
fn elsewhere() -> PathBuf {
    #[cfg(unix)]
    let name = format!("runtape-spool-{}", nix::unistd::geteuid());
    #[cfg(not(unix))]
    let name = "runtape-spool";
    std::env::temp_dir().join(name)
}

/// Returns where spool files go: `$RUNTAPE_SPOOL`, else beside the database, and where there is no
/// room a directory of this user's in the temporary one. The temporary directory itself is where
/// they were once.
pub(crate) fn directories() -> SpoolDirectories {
    let named = std::env::var_os("RUNTAPE_SPOOL").filter(|path| !path.is_empty());
    SpoolDirectories {
        named: named.map(PathBuf::from),
        elsewhere: Some(elsewhere()),
        former: vec![std::env::temp_dir()],
    }
}
