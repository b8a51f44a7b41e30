//! Executions that were seen twice: by what they printed, and by what they left.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit};
use runtape_recorder::history::{SyncOptions, named_directories, sync};
use runtape_recorder::{Capture, store_captures};
use runtape_store::{RunFilter, Store};
use serde_json::Value;

/// When everything is looked at: long after the last line was written.
pub(crate) const NOW: i64 = 1_900_000_000_000;

/// What one process printed.
#[derive(Clone)]
pub(crate) struct Printed {
    pub(crate) meta: Value,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A history, and what the processes that wrote it printed, as far as it was kept.
pub(crate) struct Execution {
    pub(crate) runtime: Runtime,
    pub(crate) name: String,
    pub(crate) history: PathBuf,
    pub(crate) printed: Vec<Printed>,
}

fn read(path: PathBuf) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}

fn json(path: &Path) -> Option<Value> {
    Some(serde_json::from_slice(&fs::read(path).ok()?).unwrap())
}

/// Finds what the processes of a history printed.
fn printed(history: &Path) -> Vec<Printed> {
    let stem = history.to_str().unwrap().strip_suffix(".history").unwrap();
    let named = |stem: &str, meta: Value| Printed {
        meta,
        stdout: read(format!("{stem}.stdout").into()),
        stderr: read(format!("{stem}.stderr").into()),
    };
    if let Some(meta) = json(&history.join("run.meta.json")) {
        return vec![named(history.join("run").to_str().unwrap(), meta)];
    }
    if let Some(meta) = json(Path::new(&format!("{stem}.meta.json"))) {
        return vec![named(stem, meta)];
    }
    let truth = json(Path::new(&format!("{stem}.history-truth.json")));
    let runs = truth.map(|truth| truth["runs"].as_array().cloned().unwrap_or_default());
    let runs = runs.unwrap_or_default().into_iter();
    runs.filter_map(|run| {
        let stem = format!("{stem}.runs/{}", run["run"]);
        Path::new(&format!("{stem}.stdout"))
            .exists()
            .then(|| named(&stem, run))
    })
    .collect()
}

fn in_directory(directory: &Path, runtime: &str, found: &mut Vec<Execution>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".history"));
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if found
            .iter()
            .any(|known| known.name == name && known.runtime.as_str() == runtime)
        {
            continue;
        }
        found.push(Execution {
            runtime: runtime.parse().unwrap(),
            printed: printed(&path),
            name,
            history: path,
        });
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn in_places(places: &[PathBuf]) -> Vec<Execution> {
    let mut found = Vec::new();
    for place in places {
        for entry in RUNTIMES {
            let runtime = entry.runtime.as_str();
            in_directory(&place.join(runtime), runtime, &mut found);
        }
    }
    found
}

/// Returns the histories of this repository.
pub(crate) fn in_fixtures() -> Vec<Execution> {
    in_places(&[fixtures()])
}

/// Returns the directory of the fixtures.
pub(crate) fn fixtures() -> PathBuf {
    root().join("tests/fixtures")
}

/// Returns every history that there is.
pub(crate) fn all() -> Vec<Execution> {
    let mut places = vec![fixtures()];
    places.extend(env::var_os("RUNTAPE_CORPUS").map(|corpus| root().join(corpus)));
    let mut found = in_places(&places);
    if let Ok(only) = env::var("RUNTAPE_ONLY") {
        found.retain(|it| format!("{}/{}", it.runtime, it.name).contains(&only));
    }
    assert!(!found.is_empty(), "no histories found");
    found
}

impl Execution {
    /// Stores what was printed, as `ingest` does.
    pub(crate) fn ingest(&self, store: &mut Store) -> Vec<RunId> {
        let captures: Vec<Capture> = self
            .printed
            .iter()
            .enumerate()
            .map(|(at, printed)| {
                let id = format!("recorded-{at}");
                let mut context =
                    Context::new(JobId::parse(id.clone()).unwrap(), RunId::parse(id).unwrap());
                context.argv = serde_json::from_value(printed.meta["argv"].clone()).ok();
                if let Some(cwd) = printed.meta["cwd"].as_str() {
                    context.metadata.set("cwd", cwd);
                }
                context.metadata.set("timeSource", "file");
                let code = printed.meta["exit_code"].as_i64();
                let code = code.map(|code| i32::try_from(code).unwrap());
                let at = NOW - 1000;
                Capture {
                    runtime: self.runtime.clone(),
                    context,
                    started_at: at,
                    output: vec![
                        (Stream::Stdout, at, printed.stdout.clone()),
                        (Stream::Stderr, at, printed.stderr.clone()),
                    ],
                    exit: code.map_or_else(Exit::unknown, Exit::with_code),
                }
            })
            .collect();
        let ids = captures
            .iter()
            .map(|it| it.context.run_id.clone())
            .collect();
        let found = captures.into_iter().map(|capture| ((), Some(capture)));
        store_captures::<(), runtape_recorder::RecordError>(
            store,
            found,
            &std::sync::Arc::default(),
            || NOW,
            |_, (), stored| {
                stored.unwrap().unwrap();
                Ok(())
            },
        )
        .unwrap();
        ids
    }

    /// Reads the history.
    pub(crate) fn sync(&self, store: &mut Store) {
        self.sync_at(store, NOW);
    }

    /// Reads the history at a time.
    pub(crate) fn sync_at(&self, store: &mut Store, now: i64) {
        let options = SyncOptions {
            directories: named_directories(&self.history, std::slice::from_ref(&self.runtime)),
            ..SyncOptions::default()
        };
        sync(store, &options, || now, &mut |event| {
            if let runtape_recorder::history::SyncEvent::Read { source, .. } = event {
                assert_eq!(source.reason, None, "{}", self.name);
            }
        })
        .unwrap();
    }
}

/// Returns the root runs of a store, those that began first first.
pub(crate) fn roots(store: &Store) -> Vec<RunId> {
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    let mut runs: Vec<RunId> = store
        .runs(&filter, None, 10_000)
        .unwrap()
        .items
        .into_iter()
        .map(|run| run.run_id)
        .collect();
    runs.reverse();
    runs
}
