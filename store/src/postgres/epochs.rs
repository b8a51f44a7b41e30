//! The `epoch` table: one hash over the ends of all chains, made now and then.

use std::time::{Duration, Instant};

use tokio_postgres::Row;

use super::columns::{count, get, hash, signed};
use super::{Postgres, Value, hold};
use crate::error::{DatabaseFault, Result, StoreError};
use crate::format::chain::Hash;
use crate::format::epochs::{ChainEnd, Epoch};

const COLUMNS: &str = "number, at, before, leaves, hash";

/// How long an epoch is the last one before somebody who finishes a run makes another.
const PAUSE: Duration = Duration::from_secs(10);

fn from_row(row: &Row, first: usize) -> Result<Epoch> {
    let leaves: &[u8] = get(row, first + 3)?;
    Ok(Epoch {
        number: count(row, first)?,
        at: get(row, first + 1)?,
        before: hash(row, first + 2)?,
        ends: Epoch::unpacked_ends(leaves),
        hash: hash(row, first + 4)?,
    })
}

/// Returns the last epoch.
pub(super) fn last(pg: &Postgres) -> Result<Option<Epoch>> {
    let sql = format!("SELECT {COLUMNS} FROM epoch ORDER BY number DESC LIMIT 1");
    let row = pg.row(&sql, &[])?;
    row.map(|row| from_row(&row, 0)).transpose()
}

/// How many epochs are read at once.
const PAGE: i64 = 1024;

/// Calls `each` with all epochs in order.
pub(super) fn each(pg: &Postgres, each: &mut dyn FnMut(Epoch) -> Result<()>) -> Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM epoch WHERE number > $1 ORDER BY number LIMIT {PAGE}");
    let mut last = i64::MIN;
    loop {
        let rows = pg.rows(&sql, &[&last])?;
        for row in &rows {
            each(from_row(row, 0)?)?;
        }
        match rows.last() {
            Some(row) => last = get(row, 0)?,
            None => return Ok(()),
        }
    }
}

/// Returns the number of the epoch with a hash.
pub(super) fn with_hash(pg: &Postgres, hash: &Hash) -> Result<Option<u64>> {
    let sql = "SELECT number FROM epoch WHERE hash = $1 ORDER BY number DESC LIMIT 1";
    let row = pg.row(sql, &[&hash.as_slice()])?;
    row.map(|row| count(&row, 0)).transpose()
}

/// The ends of the chains, the time, and the last epoch: all from one state, so that a later epoch never has an earlier
/// end. One row a chain.
const STATE: &str = "SELECT head.number, head.hash,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        last.number, last.at, last.before, last.leaves, last.hash
     FROM chain_head AS head
     LEFT JOIN (SELECT * FROM epoch ORDER BY number DESC LIMIT 1) AS last ON TRUE
     ORDER BY head.chain";

impl Postgres {
    /// Makes an epoch, unless nothing was sealed since the last one; or, to be made by the way, unless that was a moment
    /// ago. If somebody else makes one at the same time, theirs will do.
    fn make_epoch_if(&self, is_by_the_way: bool) -> Result<()> {
        let mut link = hold(&self.link);
        if link.is_busy {
            return Ok(());
        }
        link.connection.reconnect()?;
        let rows = link.connection.rows_soon(STATE, &[])?;
        let Some(first) = rows.first() else {
            return Ok(());
        };
        let now: i64 = get(first, 2)?;
        let last = match get::<Option<i64>>(first, 3)? {
            Some(_) => Some(from_row(first, 3)?),
            None => None,
        };
        let ends = rows.iter().map(|row| {
            Ok(ChainEnd {
                number: count(row, 0)?,
                hash: hash(row, 1)?,
            })
        });
        let ends: Vec<ChainEnd> = ends.collect::<Result<_>>()?;
        let is_known = match &last {
            Some(last) => {
                let age = u64::try_from(now.saturating_sub(last.at)).unwrap_or(0);
                last.ends == ends || is_by_the_way && Duration::from_millis(age) < PAUSE
            }
            None => ends.iter().all(|end| end.number == 0),
        };
        if is_known {
            return Ok(());
        }
        let epoch = Epoch::after(last.as_ref(), ends, now);
        let sql = format!(
            "INSERT INTO epoch ({COLUMNS}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
        );
        let values: [Value<'_>; 5] = [
            &signed(epoch.number),
            &epoch.at,
            &epoch.before.as_slice(),
            &epoch.packed_ends(),
            &epoch.hash.as_slice(),
        ];
        match link.connection.execute(&sql, &values) {
            // Who may only read looks at what others made.
            Err(StoreError::Database {
                fault: DatabaseFault::NotAllowed,
                ..
            }) => Ok(()),
            made => made.map(drop),
        }
    }

    /// Makes an epoch that has all that was sealed until now.
    pub(crate) fn make_epoch(&self) -> Result<()> {
        self.make_epoch_if(false)
    }

    /// Makes one after a run was sealed, if it is time. That it fails is no reason to call the run unsealed.
    pub(super) fn make_epoch_by_the_way(&self) {
        let is_recent = |at: Instant| at.elapsed() < PAUSE;
        if self.looked_for_epoch.get().is_some_and(is_recent) {
            return;
        }
        self.looked_for_epoch.set(Some(Instant::now()));
        let _ = self.make_epoch_if(true);
    }
}
