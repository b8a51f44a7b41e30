//! Root runs of one store, copied into another: a file or a server each.

use runtape_core::RunId;
use runtape_core::report::SealHead;
use serde_json::Value;

use super::begin::{BeginRun, begin_of};
use super::bundle::hash_before;
use super::import::{Arrival, Import, ORIGIN, same};
use crate::backend::{RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::seals::SealEntry;
use crate::read::runs::get_root;
use crate::read::{sealed, verify};
use crate::store::Store;

impl Store {
    /// Copies a sealed root run of another store, with its children and its tape, and seals it anew: all of it or
    /// nothing. The seal that covers it there is kept in its context.
    ///
    /// A run that is here already, which [`has_copy`](Self::has_copy) tells too, or one with the same content, is left as
    /// it is. Other content under its id is an error, and so is a run that is not as it was sealed.
    pub fn copy_run(&mut self, source: &Self, root: &RunId, at: i64) -> Result<Import> {
        source.read(|tables| {
            let arrival = arrival(tables, root, at)?;
            if is_here(self, &arrival)? {
                return Ok(Import::Known);
            }
            arrival.enter(self)
        })
    }

    /// Tells whether a root run of another store is here, by the seals that cover it and covered it before: it was copied
    /// from there, or to there, or both came from the same one. What became of it since is not compared.
    pub fn has_copy(&self, source: &Self, root: &RunId) -> Result<bool> {
        source.read(|tables| is_here(self, &arrival(tables, root, 0)?))
    }

    /// Tells whether a root run of another store is here with the same content, and was recorded in the same way.
    pub fn has_same(&self, source: &Self, root: &RunId) -> Result<bool> {
        source.read(|tables| {
            let row = get_root(tables, root)?;
            self.read(|target| match target.find_run(root)? {
                Some(found) => same(tables, &row, target, &found),
                None => Ok(false),
            })
        })
    }

    /// Proves that a root run of another store is as it was sealed, and returns what it is to begin with here, for those who
    /// write it in another form. Where it was is in its context. `None` if it is here with the same content; other
    /// content under its id is an error.
    pub fn begin_of_copy(&self, source: &Self, root: &RunId, at: i64) -> Result<Option<BeginRun>> {
        source.read(|tables| {
            let arrival = arrival(tables, root, at)?;
            let is_same = self.read(|target| match target.find_run(root)? {
                Some(found) => same(tables, &arrival.root, target, &found).map(Some),
                None => Ok(None),
            })?;
            match is_same {
                Some(true) => Ok(None),
                Some(false) => Err(StoreError::Conflict {
                    run: root.clone(),
                    what: "the run".to_owned(),
                }),
                None => {
                    prove(&arrival)?;
                    arrival.begin().map(Some)
                }
            }
        })
    }
}

/// Finds a root run that is to be copied, and the seal that covers it.
fn arrival<'a>(source: &'a dyn Tables, root: &RunId, at: i64) -> Result<Arrival<'a>> {
    let row = get_root(source, root)?;
    let Some(name) = row.seal else {
        return Err(StoreError::Unsealed { run: row.id });
    };
    let Some(seal) = source.seal(name)? else {
        let fault = format!("its seal {name} is missing");
        return Err(StoreError::damaged(format!("run {}", row.id), fault));
    };
    let before = hash_before(source, name)?;
    if seal.hash != seal.expected_hash(&before, row.id.as_str()) {
        let fault = "changed: its hash does not fit the one before";
        return Err(StoreError::damaged(format!("seal {name}"), fault));
    }
    Ok(Arrival {
        source,
        is_tapeless: sealed::was_tape_dropped(source, &row.id)?,
        root: row,
        seal: Some(seal),
        is_verified: true,
        is_current: source.rules()?.are_current,
        at,
    })
}

/// Proves that a run is what its seal covers. What is copied as it is, is proved where it arrives.
fn prove(arrival: &Arrival<'_>) -> Result<()> {
    let Arrival { source, root, .. } = arrival;
    let tree = source.tree(&root.key)?;
    let digest = sealed::digest(*source, &tree)?;
    let is_covered = arrival
        .seal
        .as_ref()
        .is_some_and(|seal| seal.digest == digest);
    if is_covered && verify::is_tree_intact(*source, root, arrival.is_tapeless)? {
        return Ok(());
    }
    let place = format!("run {}", root.id);
    Err(StoreError::damaged(place, "it is not what its seal covers"))
}

/// Tells whether a run is in a store, by its seals here and there.
fn is_here(store: &Store, arrival: &Arrival<'_>) -> Result<bool> {
    store.read(|target| {
        let Some(found) = target.find_run(&arrival.root.id)? else {
            return Ok(false);
        };
        let seal = found.seal.map(|name| target.seal(name)).transpose()?;
        let here = seals(&found, seal.flatten().as_ref())?;
        let there = seals(&arrival.root, arrival.seal.as_ref())?;
        Ok(here.iter().any(|seal| there.contains(seal)))
    })
}

/// Returns the seal that covers a root run, and those that did where it was before.
fn seals(row: &RunRow, seal: Option<&SealEntry>) -> Result<Vec<SealHead>> {
    let mut found: Vec<SealHead> = seal.map(SealEntry::head).into_iter().collect();
    let context = begin_of(row)?.context;
    let mut origin = context.get(ORIGIN);
    while let Some(place) = origin {
        let head = place.get("seal").cloned().unwrap_or(Value::Null);
        found.extend(serde_json::from_value::<SealHead>(head).ok());
        origin = place.get(ORIGIN);
    }
    Ok(found)
}
