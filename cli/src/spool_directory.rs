//! Where spool files are, by the environment.

use std::path::PathBuf;

use runtape_recorder::SpoolDirectories;

use crate::database::Database;

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
/// they were once. Those of a database on a server are in this user's directory for it.
pub(crate) fn directories(database: &Database) -> SpoolDirectories {
    let named = std::env::var_os("RUNTAPE_SPOOL").filter(|path| !path.is_empty());
    SpoolDirectories {
        named: named.map(PathBuf::from),
        of_server: database.server().map(|_| database.beside("spool")),
        elsewhere: Some(elsewhere()),
        former: vec![std::env::temp_dir()],
    }
}
