//! Which files tools touched.

use std::collections::HashMap;

use runtape_core::report::{FileAccess, FileCall, FileUse};

use super::call_sum::CallSum;
use crate::backend::Tables;
use crate::derive::paths::absolute;
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

/// Tells uses of files apart that are not added up: path, access, tool.
type UseKey = (String, Option<FileAccess>, String);

impl Store {
    /// Returns how files were used in the calls that a filter lets through, the latest first.
    ///
    /// A path that a call named from its run's directory on is made absolute by it. Nothing is asked
    /// of any file system: links are not followed.
    pub fn files(
        &self,
        filter: &CallFilter,
        choice: &FileChoice,
        limit: usize,
    ) -> Result<Vec<FileUse>> {
        let mut uses: HashMap<UseKey, CallSum> = HashMap::new();
        self.each_file_call(filter, choice, |file| {
            uses.entry((file.path, file.access, file.call.tool.clone()))
                .or_insert_with(|| CallSum::begin(&file.call))
                .add(&file.call);
            true
        })?;
        let mut files: Vec<FileUse> = uses
            .into_iter()
            .map(|((path, access, tool), sum)| FileUse {
                path,
                access,
                tool,
                calls: sum.calls,
                errors: sum.errors,
                runs: sum.runs.len() as u64,
                run_id: sum.last.1,
                last_at: sum.last.0,
            })
            .collect();
        files.sort_by(|a, b| {
            let (latest, path) = (b.last_at.cmp(&a.last_at), a.path.cmp(&b.path));
            let tool = || a.tool.cmp(&b.tool).then(a.access.cmp(&b.access));
            latest.then(path).then_with(tool)
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
            let path = absolute(path, call.cwd.as_deref());
            let pattern = choice.pattern.as_ref();
            if pattern.is_some_and(|pattern| !pattern.matches(&path)) {
                continue;
            }
            let call = call.clone();
            if !each(FileCall { path, access, call }) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}
