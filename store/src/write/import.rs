//! Taking in the runs of a bundle.

use std::path::{Path, PathBuf};

use runtape_core::RunId;
use runtape_core::report::{RemovalReason, RunOrigin};
use serde_json::{Map, Value};

use super::begin::{BeginRun, begin_of, json, value};
use super::{kept_usage, sealing, transfer};
use crate::backend::{Backend, RunRow, Tables};
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;
use crate::format::codec;
use crate::format::seals::SealEntry;
use crate::read::{sealed, tape, verify};
use crate::sqlite::Sqlite;
use crate::store::Store;

/// The key in a run's context that says where the run was before it was imported.
pub(super) const ORIGIN: &str = "origin";

/// What to do with a bundle that is not as it was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Refuse the bundle.
    Verified,
    /// Take in what can be read, and mark the runs.
    Unverified,
}

/// What became of a root run of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import {
    /// The run was stored.
    Stored,
    /// The run was there already, with the same content.
    Known,
    /// The run was there already with the same content, and was recorded in another way.
    RecordedDifferently,
}

/// Root runs of a bundle that are not copied.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// The caller writes these in another form.
    pub rewritten: Vec<RunId>,
    /// The caller found these in the store, recorded in another way.
    pub known: Vec<RunId>,
}

/// What became of the runs of a bundle.
#[derive(Debug, Default)]
pub struct BundleImport {
    /// Root runs that are stored now, or were there.
    pub runs: Vec<(RunId, Import)>,
    /// Root runs that were left out, with what they are to begin with: where they were is in their contexts.
    pub left_out: Vec<BeginRun>,
}

impl Store {
    /// Opens a bundle for reading: a file that may have been made to do harm.
    ///
    /// Whatever the file holds: once it is open, its schema is ours, no block of it unfolds to more
    /// than a few hundred megabytes, and reading it ends. Whether what it says is true is for
    /// [`verify_bundle`](Self::verify_bundle) to find out.
    pub fn open_bundle(path: impl AsRef<Path>) -> Result<Self> {
        let sqlite = Sqlite::open_bundle(path.as_ref())?;
        Ok(Self::over(Backend::Sqlite(Box::new(sqlite)), true))
    }

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
        Ok(self
            .import_bundle_but(bundle, trust, at, |_, _| Ok(LeftOut::default()))?
            .runs)
    }

    /// Does the same, but for some root runs that `left_out` names once the bundle is verified; it gets this store and the
    /// bundle. The caller writes some of them in another form and is told what each is to begin with; one of these
    /// that came from the same sealed run before is there already.
    pub fn import_bundle_but(
        &mut self,
        bundle: &Self,
        trust: Trust,
        at: i64,
        left_out: impl FnOnce(&Self, &Self) -> Result<LeftOut>,
    ) -> Result<BundleImport> {
        let report = bundle.verify_bundle(None)?;
        if let ([first, ..], Trust::Verified) = (report.faults.as_slice(), trust) {
            let refused = StoreError::Refused {
                path: PathBuf::new(),
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
        let left_out = left_out(self, bundle)?;
        bundle.read(|source| {
            let is_current = source.rules()?.are_current;
            let roots = source.sealed_roots()?;
            self.batch(|store| {
                let mut imports = BundleImport::default();
                for root in roots {
                    if left_out.known.contains(&root.id) {
                        imports.runs.push((root.id, Import::RecordedDifferently));
                        continue;
                    }
                    let is_left_out = left_out.rewritten.contains(&root.id);
                    let arrival = Arrival {
                        source,
                        seal: match root.seal {
                            Some(name) => source.seal(name)?,
                            None => None,
                        },
                        is_verified,
                        is_current,
                        is_tapeless: tapeless.contains(&root.id),
                        root,
                        at,
                    };
                    if is_left_out && !arrival.is_here_in_another_form(store)? {
                        imports.left_out.push(arrival.begin()?);
                        continue;
                    }
                    let import = if is_left_out {
                        Import::Known
                    } else {
                        arrival.enter(store)?
                    };
                    imports.runs.push((arrival.root.id, import));
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

/// A root run on its way in: of a bundle, or of another store.
pub(super) struct Arrival<'a> {
    pub(super) source: &'a dyn Tables,
    pub(super) root: RunRow,
    pub(super) seal: Option<SealEntry>,
    pub(super) is_verified: bool,
    /// The hashes there cover what ours do; those of an older schema may not.
    pub(super) is_current: bool,
    /// The chains there say that the run's tape was dropped.
    pub(super) is_tapeless: bool,
    pub(super) at: i64,
}

impl Arrival<'_> {
    /// Returns what the run is to begin with here.
    pub(super) fn begin(&self) -> Result<BeginRun> {
        Ok(BeginRun {
            context: self.context()?,
            ..begin_of(&self.root)?
        })
    }

    /// Tells whether the run is there and came from the very run that is in the bundle; another run under its id is
    /// an error.
    fn is_here_in_another_form(&self, store: &Store) -> Result<bool> {
        if !store.has_run(&self.root.id)? {
            return Ok(false);
        }
        let before = store.origin(&self.root.id)?.and_then(|origin| origin.seal);
        let own = self.seal.as_ref().map(SealEntry::head);
        if self.is_verified && before.is_some() && before == own {
            return Ok(true);
        }
        Err(StoreError::Conflict {
            run: self.root.id.clone(),
            what: "the run".to_owned(),
        })
    }

    /// Stores the run, unless it is there with the same content.
    pub(super) fn enter(&self, store: &mut Store) -> Result<Import> {
        let tree = self.source.tree(&self.root.key)?;
        let conflict = |run: &RunId| StoreError::Conflict {
            run: run.clone(),
            what: "the run".to_owned(),
        };
        let is_known = store.read(|target| {
            if let Some(found) = target.find_run(&self.root.id)? {
                let is_same = same(self.source, &self.root, target, &found)?;
                return is_same.then_some(true).ok_or_else(|| conflict(&found.id));
            }
            for run in &tree {
                if target.find_run(&run.id)?.is_some() {
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
                store.write_surely(|target| self.copy(&tree, seal, target))?;
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
    fn copy(&self, tree: &[RunRow], seal: &SealEntry, target: &dyn Tables) -> Result<()> {
        let key = transfer::copy_tree(self.source, tree, target)?;
        let copied = target.tree(&key)?;
        let mut is_same = sealed::digest(target, &copied)? == seal.digest;
        let context = codec::pack(&json(&self.root.id, &self.context()?)?);
        target.set_context(&key, &context)?;
        sealing::seal(target, &key, self.at)?;
        if let Some(row) = target.run_at(&key)? {
            if self.is_tapeless {
                // Here, too, the chain must say why there is no tape.
                sealing::remove(target, &row, RemovalReason::TapeDropped, self.at)?;
                sealing::seal(target, &key, self.at)?;
            }
            kept_usage::settle(target)?;
            is_same &= verify::is_tree_intact(target, &row, self.is_tapeless)?;
        }
        if !is_same {
            let fault = "it is not what its seal covers: it was changed, maybe while it was read";
            return Err(StoreError::invalid(&self.root.id, fault));
        }
        Ok(())
    }

    /// Writes the runs as if they were new: what the bundle proves is of no use here.
    fn write_anew(&self, tree: &[RunRow], store: &mut Store) -> Result<()> {
        let id = &self.root.id;
        store.begin_run(&self.begin()?)?;
        let lengths = tape::end(self.source, &self.root.key, id)?.lengths;
        for run in tree {
            let mut from = 0;
            while let Some(block) = self.source.record_block_from(&run.key, from)? {
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
        tape::each_block(self.source, &self.root.key, |block| {
            let raw = block.raw(id)?;
            store.append(id, &[], &block.chunks(id, &raw)?)?;
            Ok(true)
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
            seal: seal.map(SealEntry::head),
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
    value(&row.id, "exit", row.exit.as_deref())
}

/// Tells whether two root runs are the same, with all their records, children and output.
pub(super) fn same(
    source: &dyn Tables,
    one: &RunRow,
    target: &dyn Tables,
    other: &RunRow,
) -> Result<bool> {
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
fn content(tables: &dyn Tables, root: &RunRow) -> Result<Vec<(RunId, Hash)>> {
    let mut found = Vec::new();
    for run in tables.tree(&root.key)? {
        let mut hasher = blake3::Hasher::new();
        let mut from = 0;
        while let Some(block) = tables.record_block_from(&run.key, from)? {
            from = block.first_seq.saturating_add(block.count.max(1));
            hasher.update(&block.lines(&run.id)?);
        }
        found.push((run.id, *hasher.finalize().as_bytes()));
    }
    Ok(found)
}

/// Returns a hash of the output of a run's process, however it lies in blocks.
fn output(tables: &dyn Tables, root: &RunRow) -> Result<Hash> {
    let mut hasher = blake3::Hasher::new();
    tape::each_block(tables, &root.key, |block| {
        let raw = block.raw(&root.id)?;
        for chunk in block.chunks(&root.id, &raw)? {
            hasher.update(chunk.stream.as_str().as_bytes());
            hasher.update(&chunk.received_at.to_le_bytes());
            hasher.update(&chunk.end().to_le_bytes());
            hasher.update(&chunk.bytes);
        }
        Ok(true)
    })?;
    Ok(*hasher.finalize().as_bytes())
}
