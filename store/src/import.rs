//! Taking in the runs of a bundle.

use runtape_core::RunId;
use runtape_core::report::{RemovalReason, RunOrigin, SealHead};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::chain::{self, Hash};
use crate::codec;
use crate::error::{Result, StoreError};
use crate::migrate;
use crate::place::unsigned;
use crate::records;
use crate::runs::{self, RunRow};
use crate::seals::{self, SealRow};
use crate::store::Store;
use crate::tape;
use crate::transfer;
use crate::verify;
use crate::words::Words;
use crate::write::{begin_of, json};

/// The key in a run's context that says where the run was before it was imported.
const ORIGIN: &str = "origin";

/// What to do with a bundle that is not as it was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Refuse it.
    Verified,
    /// Take in what can be read, and mark the runs.
    Unverified,
}

/// What became of a root run of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import {
    /// It was stored.
    Stored,
    /// It was there already, with the same content.
    Known,
}

impl Store {
    /// Takes in the root runs of a bundle, with their children and tapes: all of them or none.
    ///
    /// The bundle is verified first. Each run keeps its records, tape, context and exit, and is
    /// sealed anew; the seal that covered it before is kept in its context. A run that is there
    /// already with the same content is left as it is; other content is an error.
    pub fn import_bundle(
        &mut self,
        bundle: &Self,
        trust: Trust,
        at: i64,
    ) -> Result<Vec<(RunId, Import)>> {
        let report = bundle.verify_bundle(None)?;
        if let ([first, ..], Trust::Verified) = (report.faults.as_slice(), trust) {
            let refused = StoreError::Refused {
                path: std::path::PathBuf::new(),
                fault: first.to_string(),
            };
            return Err(bundle.named(refused));
        }
        let is_verified = report.is_intact();
        let tapeless: Vec<RunId> = report
            .removals
            .into_iter()
            .filter(|removal| removal.reason == RemovalReason::TapeDropped)
            .map(|removal| removal.run_id)
            .collect();
        bundle.read(|source| {
            let version: i64 = source.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let roots = roots(source)?;
            self.batch(|store| {
                let mut imports = Vec::new();
                for root in roots {
                    let arrival = Arrival {
                        source,
                        seal: match root.seal {
                            Some(number) => seals::one(source, unsigned(number))?,
                            None => None,
                        },
                        is_verified,
                        is_current: version == migrate::newest(),
                        is_tapeless: tapeless.contains(&root.id),
                        root,
                        at,
                    };
                    let import = arrival.enter(store)?;
                    imports.push((arrival.root.id, import));
                }
                Ok(imports)
            })
        })
    }

    /// Returns where a root run was before it was imported.
    pub fn origin(&self, root: &RunId) -> Result<Option<RunOrigin>> {
        let context = self.begin_of(root)?.context;
        let origin = context.get(ORIGIN).cloned();
        Ok(origin.and_then(|origin| serde_json::from_value(origin).ok()))
    }
}

/// Returns the root runs in the order they were sealed.
fn roots(connection: &Connection) -> Result<Vec<RunRow>> {
    let mut statement =
        connection.prepare("SELECT key FROM run WHERE root IS NULL ORDER BY seal, key")?;
    let keys = statement.query_map([], |row| row.get(0))?;
    let keys: Vec<i64> = keys.collect::<rusqlite::Result<_>>()?;
    let mut roots = Vec::new();
    for key in keys {
        roots.extend(runs::by_key(connection, key)?);
    }
    Ok(roots)
}

/// A root run on its way in.
struct Arrival<'a> {
    source: &'a Connection,
    root: RunRow,
    seal: Option<SealRow>,
    is_verified: bool,
    /// Its hashes cover what ours do; those of an older schema may not.
    is_current: bool,
    /// The chain of the bundle says that its tape was dropped.
    is_tapeless: bool,
    at: i64,
}

impl Arrival<'_> {
    fn enter(&self, store: &mut Store) -> Result<Import> {
        let tree = runs::tree(self.source, self.root.key)?;
        let conflict = |run: &RunId| StoreError::Conflict {
            run: run.clone(),
            what: "the run".to_owned(),
        };
        let is_known = store.read(|target| {
            if let Some(found) = runs::find(target, &self.root.id)? {
                let is_same = same(self.source, &self.root, target, &found)?;
                return is_same.then_some(true).ok_or_else(|| conflict(&found.id));
            }
            for run in &tree {
                if runs::find(target, &run.id)?.is_some() {
                    return Err(conflict(&run.id));
                }
            }
            Ok(false)
        })?;
        if is_known {
            return Ok(Import::Known);
        }
        match &self.seal {
            Some(seal) if self.is_verified && self.is_current => {
                store.write_surely(|target, words| self.copy(&tree, seal, target, words))?;
            }
            None if self.is_verified => {
                let run = self.root.id.clone();
                return Err(StoreError::Unsealed { run });
            }
            _ => self.write_anew(&tree, store)?,
        }
        Ok(Import::Stored)
    }

    /// Copies the runs as they are, and proves again that they are what was sealed: the file may
    /// have been changed since it was verified.
    fn copy(
        &self,
        tree: &[RunRow],
        seal: &SealRow,
        target: &Connection,
        words: &mut Words,
    ) -> Result<()> {
        let key = transfer::copy_tree(self.source, tree, target, words)?;
        transfer::set_end(target, key, self.root.exit.as_deref(), None)?;
        let copied = runs::tree(target, key)?;
        let mut is_same = seals::digest(target, &copied)? == seal.digest;
        target
            .prepare_cached("UPDATE run SET context = ?2 WHERE key = ?1")?
            .execute(params![
                key,
                codec::pack(&json(&self.root.id, &self.context()?)?)
            ])?;
        seals::seal(target, key, self.at)?;
        if let Some(row) = runs::by_key(target, key)? {
            if self.is_tapeless {
                // Here, too, the chain must say why there is no tape.
                seals::remove(target, &row, RemovalReason::TapeDropped, self.at)?;
                seals::seal(target, key, self.at)?;
            }
            is_same &= verify::is_tree_intact(target, &row, self.is_tapeless)?;
        }
        if !is_same {
            let fault = "the bundle was changed while it was read";
            return Err(StoreError::invalid(&self.root.id, fault));
        }
        Ok(())
    }

    /// Writes the runs as if they were new: what the bundle proves is of no use here.
    fn write_anew(&self, tree: &[RunRow], store: &mut Store) -> Result<()> {
        let id = &self.root.id;
        let mut begin = begin_of(&self.root)?;
        begin.context = self.context()?;
        store.begin_run(&begin)?;
        let lengths = tape::end(self.source, self.root.key, id)?.lengths;
        for run in tree {
            let mut from = 0;
            while let Some(block) = records::block_from(self.source, run.key, from)? {
                from = block.first_seq.saturating_add(block.count.max(1));
                let mut records = block.records(&run.id)?;
                for record in &mut records {
                    // What is not on the tape cannot be shown.
                    record.span = record
                        .span
                        .filter(|span| span.end <= lengths.of(span.stream));
                }
                store.append(id, &records, &[])?;
            }
        }
        tape::each_block(self.source, self.root.key, |block| {
            let raw = block.raw(id)?;
            store.append(id, &[], &block.chunks(id, &raw)?)
        })?;
        let exit = exit_of(&self.root)?;
        store.finish_run(id, &exit, self.at)?;
        Ok(())
    }

    /// Returns what was known of the run, and where it was.
    fn context(&self) -> Result<Value> {
        let mut context = match begin_of(&self.root)?.context {
            Value::Object(context) => context,
            Value::Null => Map::new(),
            other => Map::from_iter([("context".to_owned(), other)]),
        };
        let seal = self.seal.as_ref();
        let origin = RunOrigin {
            seal: seal.map(|seal| SealHead {
                number: seal.number,
                hash: chain::hex(&seal.hash),
            }),
            sealed_at: seal.map(|seal| seal.at),
            is_verified: self.is_verified,
            imported_at: self.at,
        };
        let failed = |source| StoreError::Json {
            run: self.root.id.clone(),
            source,
        };
        let mut origin = serde_json::to_value(origin).map_err(failed)?;
        // A run that came a long way still says where it began.
        if let (Some(earlier), Value::Object(origin)) = (context.shift_remove(ORIGIN), &mut origin)
        {
            origin.insert(ORIGIN.to_owned(), earlier);
        }
        context.insert(ORIGIN.to_owned(), origin);
        Ok(Value::Object(context))
    }
}

/// Returns how the process of a root run ended.
fn exit_of(row: &RunRow) -> Result<Value> {
    crate::write::value(&row.id, "exit", row.exit.as_deref())
}

/// Tells whether two root runs are the same, with all their records, children and output.
fn same(source: &Connection, one: &RunRow, target: &Connection, other: &RunRow) -> Result<bool> {
    let is_alike = other.root.is_none()
        && other.seal.is_some()
        && one.job == other.job
        && one.runtime == other.runtime
        && exit_of(one)? == exit_of(other)?
        && known_before(one)? == known_before(other)?;
    Ok(is_alike
        && content(source, one)? == content(target, other)?
        && output(source, one)? == output(target, other)?)
}

/// Returns what was known of a run before it began, wherever it was since.
fn known_before(row: &RunRow) -> Result<Map<String, Value>> {
    let Value::Object(mut context) = begin_of(row)?.context else {
        return Ok(Map::new());
    };
    context.shift_remove(ORIGIN);
    Ok(context)
}

/// Returns a hash of the records of each run of a tree, however they lie in blocks.
fn content(connection: &Connection, root: &RunRow) -> Result<Vec<(RunId, Hash)>> {
    let mut found = Vec::new();
    for run in runs::tree(connection, root.key)? {
        let mut hasher = blake3::Hasher::new();
        let mut from = 0;
        while let Some(block) = records::block_from(connection, run.key, from)? {
            from = block.first_seq.saturating_add(block.count.max(1));
            hasher.update(&block.lines(&run.id)?);
        }
        found.push((run.id, *hasher.finalize().as_bytes()));
    }
    Ok(found)
}

/// Returns a hash of the output of a run's process, however it lies in blocks.
fn output(connection: &Connection, root: &RunRow) -> Result<Hash> {
    let mut hasher = blake3::Hasher::new();
    tape::each_block(connection, root.key, |block| {
        let raw = block.raw(&root.id)?;
        for chunk in block.chunks(&root.id, &raw)? {
            hasher.update(chunk.stream.as_str().as_bytes());
            hasher.update(&chunk.received_at.to_le_bytes());
            hasher.update(&chunk.end().to_le_bytes());
            hasher.update(&chunk.bytes);
        }
        Ok(())
    })?;
    Ok(*hasher.finalize().as_bytes())
}
