//! The database on a `PostgreSQL` server: SQL, migrations, leases, and nothing else.
//!
//! `tables.rs` implements the seam with the functions of the other files, one per table. A run's key is the id of its root
//! run and its number in the tree. Many recorders on many machines write at once:
//!
//! - who writes a tree has a *lease* on it (`lease.rs`), and everything written to the tree is fenced by it;
//! - rows wait in `pending.rs` until they are asked for or the transaction ends (`transaction.rs`), so that an append is
//!   one statement;
//! - seals form 64 chains, one of which is locked while a tree is sealed; an *epoch* (`epochs.rs`) is one hash over the
//!   ends of all.
//!
//! The schema is made and changed by [`migrate`](schema::migrate) and never by opening.

mod address;
mod audit;
mod calls;
mod check;
mod columns;
mod commit_trace;
mod condition;
mod connection;
mod epochs;
mod facts;
mod fault;
mod lease;
mod ledger;
mod list;
mod pending;
mod query;
mod records;
mod rows;
mod runs;
mod schema;
mod seals;
mod search;
mod sessions;
mod settling;
mod stats;
mod status;
mod steps;
mod sums;
mod tables;
mod tape;
mod tls;
mod together;
mod transaction;
mod usage_sums;

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::backend::Rights;
use crate::error::Result;
use crate::options::{Options, Patience};
use crate::server_name::ServerName;

use self::address::Address;
use self::connection::{Connection, Value};
use self::lease::Leases;
pub(crate) use self::schema::{roles_sql, shard_sql};
use self::transaction::Transaction;

/// Returns what the database of an address is called.
pub(crate) fn name_of(address: &str) -> Result<ServerName> {
    Ok(Address::parse(address)?.server_name())
}

/// A database on a server.
#[derive(Debug)]
pub(crate) struct Postgres {
    link: Arc<Mutex<Link>>,
    name: String,
    place: String,
    transaction: RefCell<Transaction>,
    /// What this store is called where it has a lease.
    owner: String,
    /// What this user may do, once it was asked.
    rights: Cell<Option<Rights>>,
    /// When this store last looked whether it is time for an epoch.
    looked_for_epoch: Cell<Option<Instant>>,
    /// How many chains of seals there are.
    chains: u32,
    /// Which rows of sums this store adds to while it has no chain locked.
    own_share: i32,
}

/// The connection, and what is known to those who share it: the store, and who renews its leases.
#[derive(Debug)]
struct Link {
    connection: Connection,
    /// A transaction is open on the server: nobody else may ask anything meanwhile.
    is_busy: bool,
    leases: Leases,
}

/// Waits for the connection. Who panicked while holding it left it no worse than a lost one.
fn hold(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how long a server that is away is waited for. A failover takes some twenty seconds.
fn patience(options: &Options) -> Duration {
    match options.patience {
        Patience::Minute => Duration::from_secs(60),
        Patience::Seconds => Duration::from_secs(10),
    }
}

impl Postgres {
    /// Opens a database that was made by [`migrate`](Self::migrate).
    pub(crate) fn open(address: &str, options: &Options) -> Result<Self> {
        let address = Address::parse(address)?;
        let name = address.name.clone();
        let place = address.server_name().place();
        let open = || {
            let mut connection = Connection::open(address, options.read_only, patience(options))?;
            let chains = schema::check(&mut connection)?;
            Ok(Self {
                name: connection.name().to_owned(),
                link: Arc::new(Mutex::new(Link {
                    connection,
                    is_busy: false,
                    leases: Leases::default(),
                })),
                place,
                transaction: RefCell::default(),
                owner: lease::owner(),
                rights: Cell::default(),
                looked_for_epoch: Cell::default(),
                chains,
                own_share: lease::share(chains),
            })
        };
        open().map_err(|error: crate::StoreError| error.in_file(name.as_ref()))
    }

    /// Makes the tables, or brings them up to date; returns the versions before and after.
    pub(crate) fn migrate(address: &str) -> Result<(i64, i64)> {
        schema::migrate(address, schema::Layout::Whole, schema::CHAINS)
    }

    /// Makes the tables in parts.
    pub(crate) fn migrate_partitioned(address: &str, parts: u32) -> Result<(i64, i64)> {
        schema::migrate(address, schema::Layout::Partitioned(parts), schema::CHAINS)
    }

    /// Makes the tables with some number of chains of seals.
    pub(crate) fn migrate_with_chains(address: &str, chains: u32) -> Result<(i64, i64)> {
        schema::migrate(address, schema::Layout::Whole, chains)
    }

    /// Returns what this user may do.
    fn known_rights(&self) -> Result<Rights> {
        if let Some(rights) = self.rights.get() {
            return Ok(rights);
        }
        let sql = "SELECT has_table_privilege('record_block', 'DELETE') AND has_table_privilege('tape_block', 'DELETE'),
                has_table_privilege('search', 'INSERT, DELETE') AND has_column_privilege('run', 'searched', 'UPDATE')";
        let rows = self.rows_beside(sql, &[])?;
        let can = |at: usize| rows.first().map_or(Ok(false), |row| row.try_get(at));
        let rights = Rights {
            deletes_blocks: can(0)?,
            indexes: can(1)?,
        };
        self.rights.set(Some(rights));
        Ok(rights)
    }

    /// Returns how long a server that is away is waited for.
    pub(crate) fn patience(&self) -> Duration {
        hold(&self.link).connection.patience()
    }

    /// Returns which rows of sums this transaction adds to: those of a chain that it has locked, which nobody else adds
    /// to meanwhile, or some that few others do.
    fn share(&self) -> i32 {
        let transaction = self.transaction.borrow();
        let locked = transaction.ends.keys().min().copied();
        locked.unwrap_or(self.own_share)
    }

    /// Returns what the server is called in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns where the database is, the same for whoever connects.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the one row that a query gives, if it gives any.
    fn row(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// Returns what tells this database from others.
    pub(crate) fn database_id(&self) -> Result<Option<String>> {
        let row = self.row("SELECT value FROM runtape WHERE name = 'id'", &[])?;
        row.map(|row| columns::text(&row, 0)).transpose()
    }

    /// Returns how many bytes the tables take.
    pub(crate) fn size(&self) -> Result<u64> {
        let sql = "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
                   WHERE relkind = 'r' AND relnamespace = (
                       SELECT relnamespace FROM pg_class WHERE oid = to_regclass('runtape')
                   )";
        let row = self.row(sql, &[])?;
        row.map_or(Ok(0), |row| columns::count(&row, 0))
    }

    /// Writes the tables anew without what was deleted from them. The server's log, its standbys and its backups still
    /// have it.
    pub(crate) fn erase(&self) -> Result<crate::Erased> {
        let mut link = hold(&self.link);
        link.connection.reconnect()?;
        for table in schema::TREE_TABLES {
            link.connection
                .batch_slowly(&format!("VACUUM (FULL) {table}"))?;
        }
        Ok(crate::Erased { is_complete: true })
    }

    /// Changes something at once, after all that this transaction has written.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.begin_now()?;
        self.flush()?;
        hold(&self.link).connection.execute(sql, values)
    }
}
