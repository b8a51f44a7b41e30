//! Numbered migrations, and the refusal of databases from the future.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Result, StoreError};

/// Marks a `SQLite` file as one of ours: the letters `RTAP`.
pub(crate) const APPLICATION_ID: i32 = 0x5254_4150;

/// Never edited after a release: a database that ran one will not run it again.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_store.sql"),
    include_str!("../migrations/0002_views.sql"),
    include_str!("../migrations/0003_reserved.sql"),
    include_str!("../migrations/0004_keys.sql"),
];

/// Returns the newest schema this build knows.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

fn number(connection: &Connection, pragma: &str) -> Result<i64> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

/// Refuses what is not ours or too new, without writing anything; returns the schema.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application = number(connection, "application_id")?;
    if application != i64::from(APPLICATION_ID) && (tables > 0 || application != 0) {
        return Err(StoreError::Foreign { path: path.into() });
    }
    let found = number(connection, "user_version")?;
    if found > newest() {
        return Err(StoreError::TooNew {
            path: path.into(),
            found,
            supported: newest(),
        });
    }
    Ok(found)
}

/// Brings the database to the newest schema.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    if check(connection, path)? == newest() {
        return Ok(());
    }
    // Two processes may open a new file at once: the second finds the work done.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = check(&transaction, path)?;
    for (number, sql) in (1_i64..).zip(MIGRATIONS) {
        if number > done {
            transaction
                .execute_batch(sql)
                .map_err(|source| StoreError::Migrate {
                    path: path.into(),
                    number,
                    source,
                })?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest())?;
    transaction.commit()?;
    Ok(())
}
