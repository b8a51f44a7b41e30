//! How the server is.

use runtape_core::RunId;
use runtape_core::report::{LeaseInfo, ServerStatus, TableStats};

use super::Postgres;
use super::schema::TREE_TABLES;
use crate::error::{Result, StoreError};

/// What the server says of itself. Which standbys there are is not for every user's eyes, but their names in the settings
/// are.
const ITSELF: &str =
    "SELECT current_setting('server_version'), current_user::text, pg_is_in_recovery(),
        current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names') <> ''
            AND current_setting('synchronous_commit') NOT IN ('off', 'local'),
        (SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('root')),
        EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";

const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Leases that were given back are kept for their notes.
const LEASES: &str =
    "SELECT root_id, owner, (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint, epoch
     FROM lease WHERE until > '-infinity' ORDER BY until DESC, root_id";

/// Parts of a table count as the table.
const SIZES: &str = "SELECT coalesce(whole.relname, part.relname)::text AS name,
        sum(pg_total_relation_size(part.oid))::bigint
     FROM pg_class AS part
     LEFT JOIN pg_inherits ON inhrelid = part.oid
     LEFT JOIN pg_class AS whole ON whole.oid = inhparent
     WHERE part.relkind = 'r' AND coalesce(whole.relname, part.relname)::text = ANY ($1)
        AND part.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('runtape'))
     GROUP BY name ORDER BY 2 DESC, 1";

/// Tables besides those of trees.
const OTHER_TABLES: [&str; 6] = [
    "run_place",
    "usage_sum",
    "seal",
    "chain_head",
    "epoch",
    "runtape",
];

impl Postgres {
    /// Tells how the server is.
    pub(crate) fn status(&self, clock: &dyn Fn() -> i64) -> Result<ServerStatus> {
        let row = self.row(ITSELF, &[])?;
        let row =
            row.ok_or_else(|| StoreError::damaged(self.name(), "it says nothing of itself"))?;
        let partitions: i64 = row.try_get(5)?;
        let is_sharded = row.try_get(6)? && self.is_distributed()?;
        // Held no longer than this: what follows asks the server, too.
        let is_encrypted = super::hold(&self.link).connection.is_encrypted();
        Ok(ServerStatus {
            version: row.try_get(0)?,
            user: row.try_get(1)?,
            is_encrypted,
            is_standby: row.try_get(2)?,
            is_synchronous: row.try_get(4)?,
            synchronous_commit: row.try_get(3)?,
            partitions: u64::try_from(partitions).ok().filter(|parts| *parts > 0),
            is_sharded,
            clock_difference_ms: self.clock_difference(clock)?,
            leases: self.leases()?,
            tables: self.table_sizes()?,
        })
    }

    /// Tells whether Citus has spread the tables.
    fn is_distributed(&self) -> Result<bool> {
        let sql =
            "SELECT count(*) > 0 FROM pg_dist_partition WHERE logicalrelid = to_regclass('root')";
        let row = self.row(sql, &[])?;
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or(false))
    }

    /// Returns by how many milliseconds the server's clock is ahead.
    fn clock_difference(&self, clock: &dyn Fn() -> i64) -> Result<i64> {
        let before = clock();
        let row = self.row(CLOCK, &[])?;
        let after = clock();
        let there: i64 = row.map(|row| row.try_get(0)).transpose()?.unwrap_or(after);
        // Asked in the middle of the time that the answer took.
        Ok(there.saturating_sub(before.midpoint(after)))
    }

    fn leases(&self) -> Result<Vec<LeaseInfo>> {
        let rows = self.rows(LEASES, &[])?;
        let leases = rows.iter().map(|row| {
            let epoch: i64 = row.try_get(3)?;
            Ok(LeaseInfo {
                run_id: RunId::parse(row.try_get::<_, &str>(0)?)?,
                owner: row.try_get(1)?,
                remaining_ms: row.try_get(2)?,
                epoch: epoch.unsigned_abs(),
            })
        });
        leases.collect()
    }

    fn table_sizes(&self) -> Result<Vec<TableStats>> {
        let names: Vec<&str> = TREE_TABLES.iter().chain(&OTHER_TABLES).copied().collect();
        let rows = self.rows(SIZES, &[&names])?;
        let sizes = rows.iter().map(|row| {
            let bytes: i64 = row.try_get(1)?;
            Ok(TableStats {
                name: row.try_get(0)?,
                bytes: bytes.unsigned_abs(),
            })
        });
        sizes.collect()
    }
}
