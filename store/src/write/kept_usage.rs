//! Keeping the sums of what was used: of trees that are sealed, each response once.
//!
//! What counts of a run follows from the runs of its session that began before it. So before a run gets
//! or loses entries, the trees with later runs of its session are taken out of the sums, by what counts of
//! them then. A whole tree that is put there, and is alone in its sessions, goes into the sums at once. Other trees
//! wait, and are read like open ones; when many are sealed and not among the sums, they go in together.

use std::collections::BTreeMap;

use runtape_core::RunId;
use runtape_core::report::SealName;

use crate::backend::{RunKey, Settlement, Tables, UsageScope};
use crate::derive::cells::{Cell, RUN_COLUMNS};
use crate::derive::facts::RunFacts;
use crate::derive::usage_cell::{KEPT_DIMENSIONS, UsageAmounts, UsageCell, UsageKind};
use crate::error::Result;

/// What the trees of one transaction used, until it is written: many of them are of the same sums.
#[derive(Debug, Default)]
pub(crate) struct UnwrittenUsage {
    sums: BTreeMap<(i64, Vec<Option<String>>, UsageKind), UsageAmounts>,
    /// Trees were put there that wait for the sums.
    pub(crate) has_waiting: bool,
}

impl UnwrittenUsage {
    /// Adds what a tree used.
    pub(crate) fn add(&mut self, cells: Vec<UsageCell>) {
        for cell in cells {
            let sum = self.sums.entry((cell.quarter, cell.names, cell.kind));
            sum.or_default().add(&cell.amounts);
        }
    }

    /// Adds it all to the sums that are kept. If that fails, the transaction must not be committed.
    pub(crate) fn write(&mut self, tables: &dyn Tables) -> Result<()> {
        if self.sums.is_empty() {
            return Ok(());
        }
        let sums = std::mem::take(&mut self.sums).into_iter();
        let cells = sums.map(|((quarter, names, kind), amounts)| UsageCell {
            quarter,
            names,
            kind,
            amounts,
        });
        let cells: Vec<UsageCell> = cells.filter(|cell| !cell.amounts.is_empty()).collect();
        tables.add_usage(&cells)
    }

    /// Does all that is left to do before the transaction ends.
    pub(crate) fn finish(&mut self, tables: &dyn Tables) -> Result<()> {
        self.write(tables)?;
        if std::mem::take(&mut self.has_waiting) {
            settle_many(tables)?;
        }
        Ok(())
    }
}

/// Where a run stands in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionPlace {
    session: String,
    started_at: i64,
}

impl SessionPlace {
    /// Returns where a run stands by what its records say; `started_at` is for one without records.
    pub(crate) fn of(facts: &RunFacts, started_at: i64) -> Option<Self> {
        let session = facts.session.clone()?;
        Some(Self {
            session,
            started_at: facts.started_at.unwrap_or(started_at),
        })
    }

    /// Returns where a run stands by its row.
    fn stored(tables: &dyn Tables, run: &RunKey) -> Result<Option<Self>> {
        let stored = tables.stored_run(run)?;
        let mut place = (None, None);
        for (column, cell) in RUN_COLUMNS.iter().zip(stored.cells) {
            match (column.name, cell) {
                ("session", Cell::Word(session)) => place.0 = Some(session.into_owned()),
                ("started_at", Cell::Integer(at)) => place.1 = Some(at),
                _ => {}
            }
        }
        let (session, started_at) = place;
        Ok(session.zip(started_at).map(|(session, started_at)| Self {
            session,
            started_at,
        }))
    }

    /// Takes trees with later runs of the session out of the sums, before this run gets or loses entries.
    pub(crate) fn make_way(&self, tables: &dyn Tables, run: &RunId) -> Result<()> {
        for root in tables.settled_after(&self.session, self.started_at, run)? {
            take_out(tables, &root)?;
        }
        Ok(())
    }
}

fn cells_of(tables: &dyn Tables, root: &RunKey) -> Result<Vec<UsageCell>> {
    tables.usage_cells(UsageScope::Tree(root), &KEPT_DIMENSIONS)
}

/// Takes a tree out of the sums, if it is among them.
fn take_out(tables: &dyn Tables, root: &RunKey) -> Result<()> {
    if tables.is_settled(root)? {
        tables.take_usage_away(&cells_of(tables, root)?)?;
    }
    tables.set_settled(root, Settlement::Pending)
}

/// Takes a tree out of the sums whose records are about to be deleted, and those that counted on it.
pub(crate) fn forget(tables: &dyn Tables, root: &RunKey) -> Result<()> {
    take_out(tables, root)?;
    for run in tables.tree(root)? {
        if let Some(place) = SessionPlace::stored(tables, &run.key)? {
            place.make_way(tables, &run.id)?;
        }
    }
    Ok(())
}

/// How many sealed trees wait for the sums, or a few more where it is not looked with each seal. They are read like open
/// ones until they go in together: asking for each tree by itself cost more than all else that is written when a short
/// run ends.
const MOST_WAITING: u32 = 64;

/// After how many seals it is looked whether many trees wait, where that is not done with each of them.
const TURN: u64 = 16;

/// Tells whether it is looked after this seal. Chains take turns at different numbers: those of a fresh database, which
/// all grow from one, must not all wait for the same.
pub(crate) fn is_turn(seal: SealName) -> bool {
    (u64::from(seal.chain) + seal.number).is_multiple_of(TURN)
}

/// Puts the trees into the sums that are sealed and not among them, once there are many of them.
pub(crate) fn settle_many(tables: &dyn Tables) -> Result<()> {
    if tables.waiting_trees(MOST_WAITING)? < MOST_WAITING {
        return Ok(());
    }
    settle(tables)
}

/// Puts all trees into the sums that are sealed and not among them.
pub(crate) fn settle(tables: &dyn Tables) -> Result<()> {
    let roots = tables.roots_to_settle()?;
    if roots.is_empty() {
        return Ok(());
    }
    let cells = tables.usage_cells(UsageScope::Waiting(&roots), &KEPT_DIMENSIONS)?;
    if !can_be_kept(&cells) {
        // Some of the trees have absurd numbers: which ones is told one by one.
        return roots.iter().try_for_each(|root| settle_tree(tables, root));
    }
    tables.add_usage(&cells)?;
    tables.set_all_settled(&roots)
}

fn settle_tree(tables: &dyn Tables, root: &RunKey) -> Result<()> {
    let cells = cells_of(tables, root)?;
    if !can_be_kept(&cells) {
        return tables.set_settled(root, Settlement::Refused);
    }
    tables.add_usage(&cells)?;
    tables.set_settled(root, Settlement::Kept)
}

fn can_be_kept(cells: &[UsageCell]) -> bool {
    cells.iter().all(|cell| cell.amounts.can_be_kept())
}

/// Makes all sums anew.
pub(crate) fn renew(tables: &dyn Tables) -> Result<()> {
    tables.clear_kept_usage()?;
    settle(tables)
}
