//! How much there is, and what it takes.

use runtape_core::report::{StoreStats, TableStats};

use super::Postgres;
use super::columns::{count, text};
use crate::error::Result;

/// What tables and indexes take, each with what the server keeps aside for it; parts of one are added up.
const TABLES: &str = "SELECT whole.relname::text, sum(CASE
        WHEN part.relkind = 'r' THEN pg_table_size(part.oid) ELSE pg_relation_size(part.oid)
     END)::bigint AS bytes
     FROM pg_class AS part
     JOIN pg_class AS whole ON whole.oid = coalesce(pg_partition_root(part.oid)::oid, part.oid)
     LEFT JOIN pg_index AS index ON index.indexrelid = whole.oid
     WHERE part.relkind IN ('r', 'i')
        AND coalesce(index.indrelid, whole.oid) = ANY($1::text[]::regclass[])
     GROUP BY whole.relname ORDER BY bytes DESC, whole.relname";

/// Counts what there is and what it takes. Reads all rows of runs and blocks.
pub(super) fn stats(pg: &Postgres) -> Result<StoreStats> {
    let number = |sql: &str| {
        let row = pg.row(sql, &[])?;
        row.map_or(Ok(0), |row| count(&row, 0))
    };
    let rows = pg.rows(TABLES, &[&super::check::tables()])?;
    let rows = rows.iter().map(|row| {
        Ok(TableStats {
            name: text(row, 0)?,
            bytes: count(row, 1)?,
        })
    });
    let tables: Vec<TableStats> = rows.collect::<Result<_>>()?;
    let search = tables
        .iter()
        .filter(|table| table.name.starts_with("search"));
    Ok(StoreStats {
        jobs: number("SELECT count(DISTINCT job_id) FROM run")?,
        runs: number("SELECT count(*) FROM run")?,
        open_runs: number("SELECT count(*) FROM root WHERE seal_number IS NULL")?,
        records: number("SELECT coalesce(runtape_sum(sum(records)), 0) FROM run")?,
        tape_bytes: number(
            "SELECT coalesce(runtape_sum(
                sum(stdout_length) + sum(stderr_length) + sum(stdin_length) + sum(history_length)
             ), 0) FROM tape_block",
        )?,
        record_bytes: number("SELECT coalesce(runtape_sum(sum(length)), 0) FROM record_block")?,
        database_bytes: number("SELECT pg_database_size(current_database())")?,
        // The server uses again what is free, and does not tell how much that is.
        free_bytes: 0,
        search_bytes: search.map(|table| table.bytes).sum(),
        tables,
    })
}
