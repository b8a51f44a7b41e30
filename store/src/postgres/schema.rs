//! The schema: made and changed by `migrate` and by nothing else, so that no recorder that is updated blocks those who
//! read.

use std::fmt::Write as _;
use std::time::Duration;

use super::address::Address;
use super::connection::Connection;
use crate::error::{Result, StoreError};

/// What has to be done, from nothing on, one step a version.
const STEPS: [&str; 1] = [concat!(
    include_str!("schema.sql"),
    include_str!("views.sql")
)];

/// The newest version.
pub(super) const NEWEST: i64 = 1;

/// How many chains of seals a new database has, unless somebody measures what that is good for.
pub(super) const CHAINS: u32 = 64;

/// Tables of trees, which may be spread by the id of the root run.
pub(super) const TREE_TABLES: [&str; 11] = [
    "root",
    "run",
    "record_block",
    "tape_block",
    "step",
    "tool_call",
    "notice",
    "unparsed",
    "usage",
    "search",
    "lease",
];

/// How tables lie on a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each in one piece.
    #[default]
    Whole,
    /// Those of trees in parts, by a hash of the root run's id.
    Partitioned(u32),
}

/// Marks what the tables could be spread by.
const BY_ROOT: &str = "/* by root_id */";

/// Writes the statements of a step for a layout.
fn statements(step: &str, layout: Layout) -> String {
    let Layout::Partitioned(parts) = layout else {
        return step.to_owned();
    };
    let mut sql = step.replace(BY_ROOT, "PARTITION BY HASH (root_id)");
    for table in TREE_TABLES {
        for part in 0..parts {
            // Writing to a string cannot fail.
            let _ = write!(
                sql,
                "\nCREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES WITH (MODULUS {parts}, REMAINDER {part});"
            );
        }
    }
    sql
}

/// Returns the version of a database; 0 if there is none.
fn version(connection: &mut Connection) -> Result<i64> {
    let sql = "SELECT to_regclass('runtape') IS NOT NULL";
    let rows = connection.rows_soon(sql, &[])?;
    let is_there = rows.first().map(|row| row.try_get::<_, bool>(0));
    if !is_there.transpose()?.unwrap_or(false) {
        return Ok(0);
    }
    let sql = "SELECT value FROM runtape WHERE name = 'schema'";
    let rows = connection.rows_soon(sql, &[])?;
    let value = rows.first().map(|row| row.try_get::<_, String>(0));
    let value = value.transpose()?.and_then(|value| value.parse().ok());
    value.ok_or_else(|| {
        StoreError::damaged(
            connection.name().to_owned(),
            "its table `runtape` does not say which schema it has",
        )
    })
}

/// Refuses a database that is not of this version. Returns how many chains of seals it has.
pub(super) fn check(connection: &mut Connection) -> Result<u32> {
    let found = version(connection)?;
    let path = connection.name().into();
    match found {
        0 => Err(StoreError::NotMigrated { path }),
        found if found > NEWEST => Err(StoreError::TooNew {
            path,
            found,
            supported: NEWEST,
        }),
        found if found < NEWEST => Err(StoreError::NotMigratedTo {
            path,
            found,
            needed: NEWEST,
        }),
        _ => {
            let sql = "SELECT value FROM runtape WHERE name = 'chains'";
            let rows = connection.rows_soon(sql, &[])?;
            let value = rows.first().map(|row| row.try_get::<_, String>(0));
            let chains = value.transpose()?.and_then(|value| value.parse().ok());
            let damaged =
                || StoreError::damaged(connection.name(), "it does not say how many chains it has");
            chains.filter(|chains| *chains > 0).ok_or_else(damaged)
        }
    }
}

/// Makes the schema, or brings it up to date: all of it or nothing. Returns the versions before and after.
pub(super) fn migrate(address: &str, layout: Layout, chains: u32) -> Result<(i64, i64)> {
    let address = Address::parse(address)?;
    let name = address.name.clone();
    let work = || {
        let mut connection = Connection::open(address, false, Duration::from_secs(60))?;
        // Two who migrate at once: the second finds it done.
        connection.batch("BEGIN; SELECT pg_advisory_xact_lock(7245069)")?;
        let before = version(&mut connection)?;
        let path = connection.name().into();
        if before > NEWEST {
            return Err(StoreError::TooNew {
                path,
                found: before,
                supported: NEWEST,
            });
        }
        for (number, step) in (1..).zip(STEPS) {
            if number <= before {
                continue;
            }
            let migrated = connection.batch_slowly(&statements(step, layout));
            migrated.map_err(|error| StoreError::Migrate {
                path: connection.name().into(),
                number,
                source: Box::new(error),
            })?;
        }
        if before == 0 {
            let sql = "INSERT INTO chain_head SELECT chain, 0, decode(repeat('00', 32), 'hex')
                       FROM generate_series(0, $1::bigint - 1) AS chain";
            connection.execute(sql, &[&i64::from(chains)])?;
            let sql = "INSERT INTO runtape VALUES ('chains', $1::bigint::text),
                       ('id', replace(gen_random_uuid()::text, '-', ''))";
            connection.execute(sql, &[&i64::from(chains)])?;
        }
        let sql = "INSERT INTO runtape VALUES ('schema', $1::bigint::text)
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        connection.execute(sql, &[&NEWEST])?;
        connection.batch("COMMIT")?;
        Ok((before, NEWEST))
    };
    work().map_err(|error: StoreError| error.in_file(name.as_ref()))
}

/// Returns the script that makes the roles with the least rights. It is for psql, which goes on after an error unless it
/// is told to stop: rights that were half given would look as if they were given.
pub(crate) fn roles_sql() -> String {
    let roles = include_str!("roles.sql");
    format!(
        "-- To be run once with psql, after `runtape db migrate`, by a user who owns the tables of runtape and the database, and \
         may make roles\n-- (CREATEROLE), or by a superuser: `runtape db roles-sql | psql \"$OWNER_ADDRESS\"`. It stops at the \
         first error, and\n-- then nothing was changed.\n\
         \\set ON_ERROR_STOP on\n\
         BEGIN;\n\
         DO $$ BEGIN\n    \
             IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND (rolcreaterole OR rolsuper)) THEN\n        \
                 RAISE EXCEPTION 'user % may make no roles', current_user\n            \
                     USING HINT = 'a superuser gives the right: ALTER ROLE ' || quote_ident(current_user) || ' CREATEROLE';\n    \
             END IF;\n\
         END $$;\n\n\
         {roles}COMMIT;\n"
    )
}

/// Returns the statements that spread the tables over the machines of a Citus cluster.
pub(crate) fn shard_sql() -> String {
    let mut sql = String::from(
        "-- Run once on the coordinator, after `runtape db migrate` and before anything is recorded.\n",
    );
    let mut first = None;
    for table in TREE_TABLES {
        let beside = first.map(|first| format!(", colocate_with => '{first}'"));
        let beside = beside.unwrap_or_default();
        let _ = writeln!(
            sql,
            "SELECT create_distributed_table('{table}', 'root_id'{beside});"
        );
        first.get_or_insert(table);
    }
    sql.push_str(
        "SELECT create_distributed_table('run_place', 'run_id');
SELECT create_distributed_table('usage_sum', 'share');
SELECT create_distributed_table('seal', 'chain');
SELECT create_distributed_table('chain_head', 'chain', colocate_with => 'seal');
SELECT create_reference_table('epoch');
SELECT create_reference_table('runtape');
",
    );
    sql
}
