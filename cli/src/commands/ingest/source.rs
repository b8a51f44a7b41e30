//! What there is to ingest: captures on disk, and what is known of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{RunId, Runtime};
use runtape_normalizer::{Exit, detect, runtimes};
use runtape_recorder::history::{
    HistoryDirectory, directory_of_file, holds_history, named_directories, runtimes_with_history,
};
use serde::Deserialize;

use crate::arguments::input::Input;
use crate::commands::normalize;
use crate::error::CliError;

/// What `X.meta.json` says of a capture. Other keys are for other readers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta {
    pub(crate) runtime: Option<String>,
    pub(crate) argv: Option<Vec<String>>,
    pub(crate) cwd: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<String>,
}

/// How many bytes a source may have that is held in memory.
const SHORT: u64 = 4 << 20;

/// One run to ingest.
#[derive(Clone, Debug)]
pub(crate) struct CaptureSource {
    /// What the process printed; `-` for standard input.
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: Option<PathBuf>,
    pub(crate) meta: Meta,
    /// Why `X.meta.json` could not be read.
    pub(crate) fault: Option<String>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) found: Vec<CaptureSource>,
    /// Files that belong to no run.
    pub(crate) ignored: usize,
    /// What agent CLIs keep on disk, as they left it.
    pub(crate) histories: Vec<HistorySource>,
}

/// History that was named where output was expected.
#[derive(Debug)]
pub(crate) struct HistorySource {
    /// What was named.
    pub(crate) path: PathBuf,
    pub(crate) directories: Vec<HistoryDirectory>,
    /// The file, if it is one.
    pub(crate) file: Option<PathBuf>,
}

impl HistorySource {
    /// Finds out whether a file or directory is history.
    fn find(path: &Path) -> Option<Self> {
        if path.is_file() {
            let directory = directory_of_file(path)?;
            return Some(Self {
                path: path.to_owned(),
                directories: vec![directory],
                file: path.canonicalize().ok(),
            });
        }
        let runtimes: Vec<Runtime> = runtimes_with_history().collect();
        let mut directories = named_directories(path, &runtimes);
        if directories.is_empty() {
            let each = runtimes.iter().flat_map(|runtime| {
                let one = std::slice::from_ref(runtime);
                named_directories(path, one)
            });
            directories = each.filter(holds_history).collect();
        }
        (!directories.is_empty()).then(|| Self {
            path: path.to_owned(),
            directories,
            file: None,
        })
    }
}

impl CaptureSource {
    /// Takes a file and what lies beside it: `X.stderr` and `X.meta.json` belong to `X.stdout`.
    fn beside(stdout: &Path) -> Self {
        let name = stdout.file_name().unwrap_or_default().to_string_lossy();
        let mut source = Self {
            stdout: stdout.to_owned(),
            stderr: None,
            meta: Meta::default(),
            fault: None,
        };
        if let Some(stem) = name.strip_suffix(".stdout") {
            let sibling = |ending: &str| {
                let path = stdout.with_file_name(format!("{stem}.{ending}"));
                path.is_file().then_some(path)
            };
            source.stderr = sibling("stderr");
            if let Some(path) = sibling("meta.json") {
                let read = fs::read(&path).map_err(|error| error.to_string());
                let meta = read.and_then(|text| {
                    serde_json::from_slice(&text).map_err(|error| error.to_string())
                });
                match meta {
                    Ok(meta) => source.meta = meta,
                    Err(error) => source.fault = Some(format!("{}: {error}", path.display())),
                }
            }
        }
        source
    }

    /// Returns what to call it.
    pub(crate) fn name(&self) -> String {
        self.stdout.display().to_string()
    }

    /// Tells whether all of it can be held in memory. It is a file, or two of them: a pipe has no length to be trusted.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes() <= SHORT
    }

    /// Tells whether a part of it is a pipe, by whatever name: what comes from there comes only once. What is not there
    /// at all is for whoever opens it.
    pub(crate) fn is_pipe(&self) -> bool {
        let is_pipe = |path: &Path| path.as_os_str() == "-" || is_no_file(path);
        is_pipe(&self.stdout) || self.stderr.as_deref().is_some_and(is_pipe)
    }

    /// Returns how the process ended, as far as it is known.
    pub(crate) fn exit(&self, code: Option<i32>) -> Exit {
        normalize::exit(code.or(self.meta.exit_code), self.meta.signal.as_deref())
    }

    /// Returns the runtime: as it was named, else as the output or the command tells.
    /// Any other output is that of a generic program.
    pub(crate) fn runtime(&self, named: Option<&Runtime>, first: &[u8]) -> Runtime {
        self.named_runtime(named)
            .or_else(|| detect(first))
            .or_else(|| self.runtime_of_command())
            .unwrap_or(Runtime::Generic)
    }

    /// Returns the runtime as far as it is known without the output.
    pub(crate) fn told_runtime(&self, named: Option<&Runtime>) -> Option<Runtime> {
        self.named_runtime(named)
            .or_else(|| self.runtime_of_command())
    }

    fn named_runtime(&self, named: Option<&Runtime>) -> Option<Runtime> {
        let from_meta = || self.meta.runtime.as_deref().map(Runtime::from_name);
        named.cloned().or_else(from_meta)
    }

    fn runtime_of_command(&self) -> Option<Runtime> {
        runtimes::by_command_line(self.meta.argv.as_deref()?)
    }

    /// Returns how many bytes there are to read.
    pub(crate) fn bytes(&self) -> u64 {
        let length = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
        length(&self.stdout) + self.stderr.as_deref().map_or(0, length)
    }

    /// Derives the run's id from all that makes this ingest what it is, so that the same one is
    /// found again.
    pub(crate) fn run_id(&self, runtime: &Runtime, exit: &Exit) -> Result<RunId, CliError> {
        let mut hasher = blake3::Hasher::new();
        let path = fs::canonicalize(&self.stdout).unwrap_or_else(|_| self.stdout.clone());
        let exit = format!("{:?} {:?}", exit.code, exit.signal);
        for field in [runtime.as_str(), &path.to_string_lossy(), &exit] {
            hasher.update(field.as_bytes());
            hasher.update(&[0]);
        }
        for path in std::iter::once(&self.stdout).chain(&self.stderr) {
            let mut content = blake3::Hasher::new();
            Input::open(path)?.read_all(|bytes, _| {
                content.update(bytes);
                Ok(())
            })?;
            hasher.update(content.finalize().as_bytes());
        }
        Ok(RunId::parse(id_of(hasher.finalize().as_bytes()))?)
    }
}

/// Writes a hash in the shape of a cuid2: a letter, then 23 letters or digits.
fn id_of(hash: &[u8]) -> String {
    let digits = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |(index, byte): (usize, &u8)| {
        let base = if index == 0 { 26 } else { digits.len() };
        digits
            .get(usize::from(*byte) % base)
            .copied()
            .unwrap_or(b'a')
    };
    hash.iter()
        .take(24)
        .enumerate()
        .map(digit)
        .map(char::from)
        .collect()
}

/// Tells whether there is something that is neither a file nor a directory: a pipe, a socket, a terminal. What is always
/// empty is so each time, as a file would be.
fn is_no_file(path: &Path) -> bool {
    path != Path::new("/dev/null")
        && fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

impl Sources {
    /// Finds the runs in files and directories; in a directory every `X.stdout` is one.
    pub(crate) fn find(paths: &[PathBuf]) -> Result<Self, CliError> {
        let mut sources = Self::default();
        for path in paths {
            let before = (sources.found.len(), sources.ignored);
            if path.is_dir() {
                sources.directory(path)?;
                if sources.found.len() > before.0 {
                    let runtimes: Vec<Runtime> = runtimes_with_history().collect();
                    let directories = named_directories(path, &runtimes);
                    if !directories.is_empty() {
                        sources.histories.push(HistorySource {
                            path: path.clone(),
                            directories,
                            file: None,
                        });
                    }
                    continue;
                }
            }
            match HistorySource::find(path) {
                Some(history) => {
                    sources.histories.push(history);
                    sources.ignored = before.1;
                }
                None if path.is_dir() => {}
                None => sources.found.push(CaptureSource::beside(path)),
            }
        }
        Ok(sources)
    }

    fn directory(&mut self, directory: &Path) -> Result<(), CliError> {
        let failed = |error| CliError::Read {
            path: directory.into(),
            error,
        };
        let mut paths = BTreeSet::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            paths.insert(entry.map_err(failed)?.path());
        }
        for path in &paths {
            // A link to a directory may lead back here.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !path.is_symlink() {
                // What a CLI left on disk is for `sync`, and what its runs printed, where it lies beside it
                // under the same name, is told there once more.
                let history = name
                    .strip_suffix(".runs")
                    .map(|stem| format!("{stem}.history"));
                let is_beside = history.is_some_and(|it| path.with_file_name(it).is_dir());
                if name.ends_with(".history") || is_beside {
                    self.ignored += 1;
                } else {
                    self.directory(path)?;
                }
                continue;
            }
            // Nobody asked to wait for a pipe that lies there.
            if name.ends_with(".stdout") && !is_no_file(path) {
                self.found.push(CaptureSource::beside(path));
                continue;
            }
            let stem = name
                .strip_suffix(".stderr")
                .or_else(|| name.strip_suffix(".meta.json"));
            let owner = stem.map(|stem| path.with_file_name(format!("{stem}.stdout")));
            if !owner.is_some_and(|owner| paths.contains(&owner)) {
                self.ignored += 1;
            }
        }
        Ok(())
    }
}
