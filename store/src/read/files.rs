//! Which files tools touched.

use std::collections::{BTreeSet, HashMap};

use runtape_core::report::{FileAccess, FileCall, FileUse};

use super::call_sum::CallSum;
use crate::backend::Tables;
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
        let is_written = access == Some(FileAccess::Write);
        is_directory == self.directories && (is_written || !self.written_only)
    }
}

/// What is added up of the calls that named a file.
struct FileSum {
    calls: CallSum,
    reads: u64,
    writes: u64,
    tools: BTreeSet<String>,
}

impl Store {
    /// Returns how files were used in the calls that a filter lets through, the latest first, each file once.
    ///
    /// A path that a call named from its run's directory on is made absolute by it. Nothing is asked
    /// of any file system: links are not followed.
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
            });
            sum.calls.add(&file.call);
            sum.reads += u64::from(file.access == Some(FileAccess::Read));
            sum.writes += u64::from(file.access == Some(FileAccess::Write));
            sum.tools.insert(file.call.tool);
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
    tables.each_call(&filter, usize::MAX, &mut |call| {
        let access = call.class.and_then(FileAccess::of);
        if !choice.is_of(access) {
            return Ok(true);
        }
        for path in &call.paths {
            let pattern = choice.pattern.as_ref();
            if pattern.is_some_and(|pattern| !pattern.matches(path)) {
                continue;
            }
            let (path, call) = (path.clone(), call.clone());
            if !each(FileCall { path, access, call }) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}
