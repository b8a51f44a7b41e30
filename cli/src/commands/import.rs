//! `runtape import`: what `export` wrote, read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use runtape_core::report::{ImportedRun, IngestOutcome, TreeLine, TreeOutcome};
use runtape_core::{Event, Record, RecordKind, Restorer, RunId};
use runtape_normalizer::redact::RuleSet;
use runtape_recorder::perstack::import_trees;
use runtape_recorder::{
    Comparison, RecordError, StoredAlready, known_records, prepare_records, redact_records,
};
use runtape_store::{Import, Store, StoreError, Trust};
use serde_json::Value;

use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::{Invocation, perstack_files, search_index};
use crate::digest::Digest;
use crate::error::CliError;
use crate::terminal::plain;
use crate::terminal::table::plural;
use crate::terminal::times;

/// How every database file begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Read back what export wrote: bundles, JSON lines, or what Perstack keeps
///
/// A bundle is verified first, and one that is not as it was sealed is refused; what its runs were
/// sealed with is kept with them. Runs that are there already are left as they are, and other content
/// under a known id is an error. Without a tape, records of JSON lines lose their places on it; from
/// events it is also not known any more what calls were about. Of a file all runs are stored or none.
/// Of Perstack's directories of any version every file that is not valid is named with the reason,
/// and the rest is stored. Secrets are taken out, whatever was done where it comes from; a run of a bundle in
/// which there are any is stored without them, and its seal is kept as that of what it was made from.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The files; for Perstack the directories that hold perstack/jobs
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    /// The format; by default as each file tells, and Perstack's for a directory
    #[arg(long, value_enum)]
    format: Option<ImportFormat>,
    /// Take in what can be read of a bundle that verify refuses, and mark its runs
    #[arg(long)]
    unverified: bool,
    /// Refuse the file unless this is the digest that export printed
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    #[command(flatten)]
    redaction: RedactionArgs,
}

/// The format of what is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// One JSON object a line
    Jsonl,
    /// One file that can be verified
    Bundle,
    /// Directories that Perstack keeps
    Perstack,
}

impl ImportFormat {
    /// Tells the format by what is there.
    fn of(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Ok(Self::Perstack);
        }
        let failed = |error| CliError::Read {
            path: path.to_owned(),
            error,
        };
        let mut first = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(DATABASE.len() as u64)
            .read_to_end(&mut first)
            .map_err(failed)?;
        let is_database = first == DATABASE;
        Ok(if is_database {
            Self::Bundle
        } else {
            Self::Jsonl
        })
    }
}

pub(crate) fn run(args: &ImportArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    match (&args.digest, args.files.as_slice()) {
        (None, _) => {}
        (Some(digest), [file]) if !file.is_dir() => digest.check(file)?,
        _ => {
            let message = "--digest is that of one file".to_owned();
            return Err(CliError::Usage { message });
        }
    }
    let rules = args.redaction.rules(invocation, NewKey::Make)?;
    if invocation.database.is_new() {
        invocation.tell_of_new_database();
    }
    let mut store = invocation.database.open()?;
    let mut counts = Counts::default();
    for path in &args.files {
        let format = args.format.map_or_else(|| ImportFormat::of(path), Ok)?;
        let imports = match format {
            ImportFormat::Bundle => bundle(&mut store, path, args.unverified, &rules)?,
            ImportFormat::Jsonl => lines(&mut store, path, &rules)?,
            ImportFormat::Perstack => {
                counts.add(&perstack(&mut store, path, &rules, invocation)?);
                continue;
            }
        };
        for (run_id, import) in imports {
            let is_new = import == Import::Stored;
            counts.stored += usize::from(is_new);
            counts.known += usize::from(!is_new);
            if invocation.console.json {
                invocation.console.object(&ImportedRun {
                    path: path.display().to_string(),
                    run_id,
                    outcome: if is_new {
                        IngestOutcome::Stored
                    } else {
                        IngestOutcome::Skipped
                    },
                })?;
            }
        }
    }
    search_index::complete(&store, invocation);
    let Counts {
        stored,
        known,
        faults,
    } = counts;
    invocation.note(&format!(
        "{} stored, {known} known already",
        plural(stored, "run")
    ));
    if faults > 0 {
        return Err(CliError::Faults {
            count: faults,
            what: "faults in job trees",
        });
    }
    if stored + known == 0 {
        return Err(CliError::NothingFound { what: "runs" });
    }
    Ok(())
}

/// How many runs were stored or known, and how much is not as it should be.
#[derive(Default)]
struct Counts {
    stored: usize,
    known: usize,
    faults: usize,
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.stored += more.stored;
        self.known += more.known;
        self.faults += more.faults;
    }
}

/// Takes over the runs of Perstack's job trees.
fn perstack(
    store: &mut Store,
    path: &Path,
    rules: &RuleSet,
    invocation: &mut Invocation<'_>,
) -> Result<Counts, CliError> {
    let imported = import_trees(store, path, perstack_files::check, rules, times::now())?;
    let mut counts = Counts {
        faults: imported.faults.len(),
        ..Counts::default()
    };
    for run in imported.runs {
        match run.outcome {
            TreeOutcome::Stored => counts.stored += 1,
            TreeOutcome::Skipped => counts.known += 1,
            TreeOutcome::Differs => {
                counts.faults += 1;
                let id = &run.run_id;
                invocation.warn(&format!(
                    "run {id} is stored with other content: left as it is"
                ));
            }
        }
        if invocation.console.json {
            invocation.console.object(&TreeLine::Run(run))?;
        }
    }
    for fault in imported.faults {
        // A name may hold a line break, which must not pass for another line of ours.
        let text = format!("{}: {}", fault.path, fault.reason);
        invocation.warn(&plain::one_line(&text));
        if invocation.console.json {
            invocation.console.object(&TreeLine::Fault(fault))?;
        }
    }
    if !imported.ignored.is_empty() {
        let count = imported.ignored.len();
        invocation.note(&format!("{} ignored", plural(count, "other file")));
    }
    Ok(counts)
}

/// Takes over the runs of a bundle, tapes included: all of them or none.
fn bundle(
    store: &mut Store,
    path: &Path,
    unverified: bool,
    rules: &Arc<RuleSet>,
) -> Result<Vec<(RunId, Import)>, CliError> {
    let trust = if unverified {
        Trust::Unverified
    } else {
        Trust::Verified
    };
    let source = Store::open_bundle(path)?;
    let imported = runtape_recorder::import_bundle(store, &source, trust, rules, times::now());
    // A store's refusal is told as such.
    imported.map_err(|error| match error {
        RecordError::Store(error) => error.into(),
        other => other.into(),
    })
}

/// The records of each tree, in the order of the lines; a child belongs to its parent's tree.
#[derive(Default)]
struct Trees {
    roots: BTreeMap<RunId, RunId>,
    found: Vec<(RunId, Vec<Record>)>,
    /// Runs that come as events.
    restorers: BTreeMap<RunId, Restorer>,
}

/// Longest line that is read. A record holds what was printed on one of at most 32 MiB, of which
/// each byte takes at most six in JSON.
const LONGEST_LINE: u64 = 256 << 20;

impl Trees {
    /// Takes a line: a record, or an event, which stands for any number of records.
    fn line(&mut self, line: &str, path: &Path, number: usize) -> Result<(), CliError> {
        let bad = |error| CliError::BadLine {
            path: path.to_owned(),
            line: number,
            error,
        };
        let value: Value = serde_json::from_str(line).map_err(bad)?;
        // Records are numbered, events have a time.
        if value.get("seq").is_some() || value.get("timestamp").is_none() {
            return self.record(serde_json::from_value(value).map_err(bad)?);
        }
        let event: Event = serde_json::from_value(value).map_err(bad)?;
        let restorer = self.restorers.entry(event.run_id().clone()).or_default();
        let records = restorer.push(event)?;
        records
            .into_iter()
            .try_for_each(|record| self.record(record))
    }

    fn record(&mut self, mut record: Record) -> Result<(), CliError> {
        record.span = None;
        if let RecordKind::Run(opened) = &record.kind {
            let parent = opened.delegated_by.as_ref().map(|by| by.run_id.clone());
            let root = parent.and_then(|parent| self.roots.get(&parent).cloned());
            let root = root.unwrap_or_else(|| record.run_id.clone());
            if root == record.run_id {
                self.found.push((root.clone(), Vec::new()));
            }
            self.roots.insert(record.run_id.clone(), root);
        }
        let root = self.roots.get(&record.run_id);
        let tree = self.found.iter_mut().rev().find(|(id, _)| Some(id) == root);
        let Some((_, records)) = tree else {
            let what = format!("the first record of run {}", record.run_id);
            return Err(CliError::NotFound { what });
        };
        records.push(record);
        Ok(())
    }
}

/// Takes over runs from JSON lines of records or events.
fn lines(
    store: &mut Store,
    path: &Path,
    rules: &RuleSet,
) -> Result<Vec<(RunId, Import)>, CliError> {
    let failed = |error| CliError::Read {
        path: path.to_owned(),
        error,
    };
    let mut trees = Trees::default();
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    for number in 1.. {
        let mut line = String::new();
        let length = (&mut file).take(LONGEST_LINE).read_line(&mut line);
        let length = length.map_err(failed)?;
        if length == 0 {
            break;
        }
        if u64::try_from(length).unwrap_or(u64::MAX) >= LONGEST_LINE {
            return Err(failed(io::Error::other(format!(
                "line {number} is too long"
            ))));
        }
        if !line.trim().is_empty() {
            trees.line(line.trim_end_matches(['\n', '\r']), path, number)?;
        }
    }
    let mut imports = Vec::new();
    let mut fresh = Vec::new();
    // All of it is checked before any of it is stored.
    for (id, records) in trees.found {
        let comparison = if trees.restorers.contains_key(&id) {
            Comparison::Essence
        } else {
            Comparison::Records
        };
        // What is stored may be from before secrets were taken out.
        let known = known_records(store, &records, comparison)?;
        let (records, redaction) = redact_records(records, rules)?;
        let known = match known {
            StoredAlready::Other => known_records(store, &records, comparison)?,
            known => known,
        };
        let import = match known {
            StoredAlready::Same => Import::Known,
            StoredAlready::No => {
                fresh.extend(prepare_records(&records, &redaction)?);
                Import::Stored
            }
            StoredAlready::Other => {
                let what = "the run".to_owned();
                return Err(StoreError::Conflict { run: id, what }.into());
            }
        };
        imports.push((id, import));
    }
    store.batch(|store| {
        for run in fresh {
            store.put_run(run, times::now())?;
        }
        Ok(())
    })?;
    Ok(imports)
}
