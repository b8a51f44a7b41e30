//! Which files tools touched.

use std::collections::{BTreeSet, HashMap};

use runtape_core::report::{FileAccess, FileCall, FileUse, KnownBy, ToolCallInfo};

use super::call_sum::CallSum;
use crate::backend::Tables;
use crate::derive::paths::resolved_paths;
use crate::derive::touched::{effects, is_guess, tell};
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::pattern::PathPattern;
use crate::store::Store;

/// Which files a query is about.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileChoice {
    /// Only these.
    pub pattern: Option<PathPattern>,
    /// Only files that were written.
    pub written_only: bool,
    /// Directories that were searched instead of files.
    pub directories: bool,
}

impl FileChoice {
    fn is_of(&self, access: Option<FileAccess>) -> bool {
        let is_directory = access == Some(FileAccess::Search);
        let is_written = matches!(access, Some(FileAccess::Write | FileAccess::Delete));
        is_directory == self.directories && (is_written || !self.written_only)
    }
}

/// What is added up of the calls that named a file.
struct FileSum {
    calls: CallSum,
    reads: u64,
    writes: u64,
    tools: BTreeSet<String>,
    known_by: Option<KnownBy>,
}

impl Store {
    /// Returns how files were used in the calls that a filter lets through, the latest first, each file once.
    ///
    /// A path that a call named from its run's directory on is made absolute by it. Nothing is asked
    /// of any file system: links are not followed. What shell commands do follows from their words.
    pub fn files(
        &self,
        filter: &CallFilter,
        choice: &FileChoice,
        limit: usize,
    ) -> Result<Vec<FileUse>> {
        let mut uses: HashMap<String, FileSum> = HashMap::new();
        self.each_file_call(filter, choice, |file| {
            let sum = uses.entry(file.path).or_insert_with(|| FileSum {
                calls: CallSum::begin(&file.call),
                reads: 0,
                writes: 0,
                tools: BTreeSet::new(),
                known_by: file.known_by,
            });
            sum.calls.add(&file.call);
            sum.reads += u64::from(file.access == Some(FileAccess::Read));
            let is_written = matches!(file.access, Some(FileAccess::Write | FileAccess::Delete));
            sum.writes += u64::from(is_written);
            sum.tools.insert(file.call.tool);
            // What one call says itself is known, however another one told it.
            sum.known_by = sum.known_by.min(file.known_by);
            true
        })?;
        let mut files: Vec<FileUse> = uses
            .into_iter()
            .map(|(path, sum)| FileUse {
                path,
                calls: sum.calls.calls,
                reads: sum.reads,
                writes: sum.writes,
                tools: sum.tools.into_iter().collect(),
                known_by: sum.known_by,
                errors: sum.calls.errors,
                runs: sum.calls.runs.len() as u64,
                run_id: sum.calls.last.1,
                last_at: sum.calls.last.0,
            })
            .collect();
        files.sort_by(|a, b| {
            let latest = b.last_at.cmp(&a.last_at);
            latest.then_with(|| a.path.cmp(&b.path))
        });
        files.truncate(limit);
        Ok(files)
    }

    /// Calls `each` with every file that the calls touched which a filter lets through, the latest call
    /// first, until it returns `false`.
    pub fn each_file_call(
        &self,
        filter: &CallFilter,
        choice: &FileChoice,
        mut each: impl FnMut(FileCall) -> bool,
    ) -> Result<()> {
        self.read(|tables| each_file(tables, filter, choice, &mut each))
    }
}

/// Calls `each` with every file that calls touched, the latest call first, until it returns `false`.
fn each_file(
    tables: &dyn Tables,
    filter: &CallFilter,
    choice: &FileChoice,
    each: &mut dyn FnMut(FileCall) -> bool,
) -> Result<()> {
    let filter = CallFilter {
        subject: Some(CallSubject::Files),
        ..filter.clone()
    };
    tables.each_call(&filter, usize::MAX, &mut |mut call| {
        let uses = uses_of(&call);
        let mut is_told = false;
        for (path, access, known_by) in uses {
            if !choice.is_of(access) {
                continue;
            }
            let pattern = choice.pattern.as_ref();
            if pattern.is_some_and(|pattern| !pattern.matches(&path)) {
                continue;
            }
            if !std::mem::replace(&mut is_told, true) {
                tell(&mut call);
            }
            let call = call.clone();
            if !each(FileCall {
                path,
                access,
                known_by,
                call,
            }) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Returns the files of a call, what it does with each, and how that is known: those that it names, then
/// those in its command.
fn uses_of(call: &ToolCallInfo) -> Vec<(String, Option<FileAccess>, Option<KnownBy>)> {
    let access = call.class.and_then(FileAccess::of);
    let known_by = is_guess(call).then_some(KnownBy::Guess);
    let named = call
        .paths
        .iter()
        .map(|path| (path.clone(), access, known_by));
    let mut uses: Vec<_> = named.collect();
    if let Some(effects) = effects(call) {
        let lists = [
            (effects.read, FileAccess::Read),
            (effects.written, FileAccess::Write),
            (effects.deleted, FileAccess::Delete),
        ];
        for (paths, access) in lists {
            let paths: Vec<String> = paths.into_iter().collect();
            let paths = resolved_paths(&paths, call.cwd.as_deref(), None).into_iter();
            uses.extend(paths.map(|path| (path, Some(access), Some(KnownBy::Shell))));
        }
    }
    uses
}
