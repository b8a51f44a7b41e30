//! The database as a whole: how much there is, its head, copies of it.

use std::path::Path;

use runtape_core::report::{Removal, SealHead, SealName, ServerStatus, StoreStats};

use super::verify;
use crate::backend::Backend;
use crate::error::Result;
#[cfg(feature = "postgres")]
use crate::error::StoreError;
use crate::format::chain;
use crate::store::Store;

impl Store {
    /// Returns the number of the database's schema.
    pub fn schema_version(&self) -> Result<u64> {
        self.read(|tables| tables.schema_version())
    }

    /// Counts what there is and what it takes. Reads all of the database.
    pub fn stats(&self) -> Result<StoreStats> {
        self.read(|tables| tables.stats())
    }

    /// Returns the end of the chain of seals; absent while nothing was sealed. Keep it elsewhere:
    /// against it, `verify` finds even changes by someone who computed all hashes anew.
    pub fn head(&self) -> Result<Option<SealHead>> {
        self.make_epoch()?;
        self.read(verify::head)
    }

    /// Sees to it that there is an epoch over all that was sealed on a server.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "a file has no epochs"
        )
    )]
    pub(crate) fn make_epoch(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Backend::Postgres(postgres) = &self.backend
            && !self.read_only
            && !self.in_batch
        {
            return postgres.make_epoch().map_err(|error| self.named(error));
        }
        Ok(())
    }

    /// Returns what tells this database from others. Of a file: the hash of its first seal, which never changes; absent
    /// while nothing was sealed, and a copy has the same. Of a server: a name that it was given when it was made.
    pub fn database_id(&self) -> Result<Option<String>> {
        #[cfg(feature = "postgres")]
        if let Backend::Postgres(postgres) = &self.backend {
            return self.read(|_| postgres.database_id());
        }
        self.read(|tables| {
            let first = tables.seal(SealName::in_first_chain(1))?;
            Ok(first.map(|first| chain::hex(&first.hash)))
        })
    }

    /// Returns the statements that spread the tables of a database on a server over the machines of a Citus cluster.
    #[cfg(feature = "postgres")]
    pub fn shard_sql() -> Result<String> {
        Ok(crate::postgres::shard_sql())
    }

    /// Refuses to: there are no servers in this build.
    #[cfg(not(feature = "postgres"))]
    pub fn shard_sql() -> Result<String> {
        Err(crate::StoreError::NoServers)
    }

    /// Returns the script that makes the roles of a database on a server with the least rights, for psql.
    #[cfg(feature = "postgres")]
    pub fn roles_sql() -> Result<String> {
        Ok(crate::postgres::roles_sql())
    }

    /// Refuses to: there are no servers in this build.
    #[cfg(not(feature = "postgres"))]
    pub fn roles_sql() -> Result<String> {
        Err(crate::StoreError::NoServers)
    }

    /// Returns what was removed from the database, in order.
    pub fn removals(&self) -> Result<Vec<Removal>> {
        self.read(|tables| tables.removals())
    }

    /// Returns where the database file is, by its own path without links; `None` in memory, and on a server.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.path(),
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => None,
        }
    }

    /// Returns what the database is called in messages: its path, or the address of its server without the password.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.backend {
            Backend::Sqlite(sqlite) => {
                let path = sqlite.path().unwrap_or_else(|| Path::new(":memory:"));
                path.display().to_string()
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.name().to_owned(),
        }
    }

    /// Returns the [place](crate::ServerName::place) of a database on a server; `None` of one in a file.
    #[must_use]
    pub fn server_place(&self) -> Option<&str> {
        match &self.backend {
            Backend::Sqlite(_) => None,
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => Some(postgres.place()),
        }
    }

    /// Tells whether the database is on a server.
    #[must_use]
    pub fn is_server(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(_) => false,
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => true,
        }
    }

    /// Tells how the server is that the database is on; `None` of one in a file. `clock` gives the time in milliseconds
    /// since 1970, with which the server's is compared.
    pub fn server_status(&self, clock: &dyn Fn() -> i64) -> Result<Option<ServerStatus>> {
        self.read(|_| match &self.backend {
            Backend::Sqlite(_) => {
                let _ = clock;
                Ok(None)
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.status(clock).map(Some),
        })
    }

    /// Returns how many bytes the database takes; a file is counted without its log.
    pub fn size(&self) -> Result<u64> {
        self.read(|_| match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.size(),
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.size(),
        })
    }

    /// Looks at the pages of a database file, not at what they say: returns the first fault, if any.
    pub fn file_fault(&self) -> Result<Option<String>> {
        self.read(|_| match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.file_fault(),
            // Its files are the server's business.
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => Ok(None),
        })
    }

    /// Writes a copy of a database file, as it is at one moment, to a new file. Others may go on
    /// writing.
    pub fn backup(&self, target: impl AsRef<Path>) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.backup(target.as_ref()),
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => Err(StoreError::OnlyFile {
                path: self.name().into(),
                what: "be copied as a file",
                instead: "use the server's own tools (pg_dump, pg_basebackup), or `runtape pull` into a file",
            }),
        }
    }
}
