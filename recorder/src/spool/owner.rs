//! Which database a spool file belongs to.

use std::path::{Path, PathBuf};

use runtape_store::{ServerName, Store, StoreError, server_address};

/// The database that a spool file belongs to: it is taken into no other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolOwner {
    /// The database's [id](Store::database_id), if it had one and could be asked.
    pub id: Option<String>,
    /// Its own path, without links, or the [place](ServerName::place) of one on a server; absent in memory.
    pub path: Option<PathBuf>,
}

/// Returns the path of a file without links, also if there is no such file yet.
fn without_links(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    // A link may lead to a file that is not there yet: `SQLite` makes it where the link leads.
    let target = path.read_link().ok();
    let target = target.map(|target| path.parent().unwrap_or(path).join(target));
    let path = target.as_deref().unwrap_or(path);
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new(".")).canonicalize();
    match (directory, path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    }
}

impl SpoolOwner {
    /// Names a database that is open.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            id: store.database_id()?,
            path: match store.server_place() {
                Some(place) => Some(place.into()),
                None => store.path().map(Path::to_owned),
            },
        })
    }

    /// Names a database that cannot be asked, by where it should be.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        // An address may have a password, which must not get into a spool file: one that cannot be read is no place.
        let path = match server_address(path) {
            Some(address) => ServerName::parse(address)
                .ok()
                .map(|name| name.place().into()),
            None => Some(without_links(path)),
        };
        Self { id: None, path }
    }

    /// Returns where spool files of the database lie: beside it. There is no such place beside a server's.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        if self.is_on_server() {
            return None;
        }
        let mut name = self.path.clone()?.into_os_string();
        name.push(".spool");
        Some(name.into())
    }

    /// Tells whether the database is on a server.
    pub(crate) fn is_on_server(&self) -> bool {
        self.path
            .as_deref()
            .is_some_and(|path| server_address(path).is_some())
    }

    /// Tells why a spool file of this owner must not be taken into another database; `None` if it
    /// is the same one.
    pub(crate) fn misfit(&self, database: &Self) -> Option<String> {
        // A spool file has its database's path as text, which may not be all of it.
        let text = |owner: &Self| owner.path.as_ref().map(|path| path.display().to_string());
        if text(self) == text(database) {
            // One that had no seal then may have got its first one since.
            let is_other = self.id.is_some() && self.id != database.id;
            return is_other
                .then(|| "it belongs to another database that was at this path before".to_owned());
        }
        let place = self.path.as_deref().unwrap_or(Path::new("memory"));
        // A database may be moved, with its spool files or without; but while there is one at the
        // old place, this one is a copy.
        let is_moved = self.id.is_some() && self.id == database.id && !place.exists();
        (!is_moved).then(|| format!("it belongs to the database {}", place.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_file_fits_its_own_database_also_when_that_was_moved() {
        let directory = tempfile::tempdir().unwrap();
        let (here, gone) = (directory.path().join("here"), directory.path().join("gone"));
        std::fs::write(&here, "").unwrap();
        let owner = |id: Option<&str>, path: &Path| SpoolOwner {
            id: id.map(str::to_owned),
            path: Some(path.to_owned()),
        };
        let this = Path::new("/this");
        for (spool, database, fits) in [
            (owner(None, this), owner(None, this), true),
            (owner(None, this), owner(Some("a"), this), true),
            (owner(Some("a"), this), owner(Some("a"), this), true),
            (owner(Some("a"), this), owner(Some("b"), this), false),
            (owner(Some("a"), this), owner(None, this), false),
            (owner(None, &here), owner(None, this), false),
            (owner(None, &gone), owner(None, this), false),
            (owner(None, &gone), owner(Some("a"), this), false),
            (owner(Some("a"), &gone), owner(Some("a"), this), true),
            (owner(Some("a"), &here), owner(Some("a"), this), false),
            (owner(Some("a"), &gone), owner(Some("b"), this), false),
            (SpoolOwner::default(), SpoolOwner::default(), true),
        ] {
            let is_fit = spool.misfit(&database).is_none();
            assert_eq!(is_fit, fits, "{spool:?} {database:?}");
        }
    }
}
