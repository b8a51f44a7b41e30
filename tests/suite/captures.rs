//! Captures: what a CLI printed, how it ended, and what really happened.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{JobId, Record, RunId, RunSummary, Runtime, Stream, summarize};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use serde_json::Value;

/// One run of a CLI.
pub(crate) struct Capture {
    pub(crate) runtime: String,
    pub(crate) scenario: String,
    pub(crate) format: String,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) meta: Value,
}

impl Capture {
    fn read(meta_path: &Path) -> Self {
        let meta: Value = serde_json::from_slice(&fs::read(meta_path).unwrap()).unwrap();
        let name = meta_path.file_name().unwrap().to_str().unwrap();
        let stem = name.strip_suffix(".meta.json").unwrap();
        let beside = |ending: &str| {
            fs::read(meta_path.with_file_name(format!("{stem}.{ending}"))).unwrap_or_default()
        };
        Self {
            runtime: meta["runtime"].as_str().unwrap().to_owned(),
            scenario: meta["scenario"].as_str().unwrap().to_owned(),
            format: meta["format"].as_str().unwrap().to_owned(),
            stdout: beside("stdout"),
            stderr: beside("stderr"),
            meta,
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("{}/{}.{}", self.runtime, self.scenario, self.format)
    }

    pub(crate) fn truth(&self) -> &Value {
        &self.meta["ground_truth"]
    }

    pub(crate) fn runtime(&self) -> Runtime {
        self.runtime.parse().unwrap()
    }

    pub(crate) fn context(&self) -> Context {
        let id = "fixture";
        let mut context = Context::new(JobId::parse(id).unwrap(), RunId::parse(id).unwrap());
        context.argv = serde_json::from_value(self.meta["argv"].clone()).ok();
        context
    }

    pub(crate) fn exit(&self) -> Exit {
        let code = self.meta["exit_code"]
            .as_i64()
            .map(|code| i32::try_from(code).unwrap());
        code.map_or_else(Exit::unknown, Exit::with_code)
    }

    /// Normalizes the capture, standard output first, as from files.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records_of(&self.stdout, self.context(), &self.exit())
    }

    fn records_of(&self, stdout: &[u8], context: Context, exit: &Exit) -> Vec<Record> {
        let mut normalizer = Normalizer::new(self.runtime(), context).unwrap();
        let mut records = normalizer
            .push(Stream::Stdout, Kept::as_given(stdout), 1)
            .records;
        records.extend(
            normalizer
                .push(Stream::Stderr, Kept::as_given(&self.stderr), 2)
                .records,
        );
        records.extend(normalizer.finish(exit).records);
        records
    }

    /// Returns the summary of another output in the capture's place, or another exit.
    pub(crate) fn summary_of(&self, stdout: &[u8], exit: &Exit) -> RunSummary {
        let records = self.records_of(stdout, self.context(), exit);
        summarize(&records).expect("a finished run has a summary")
    }

    /// Returns the summary where the command line is not known, as from a file alone.
    pub(crate) fn summary_without_argv(&self) -> RunSummary {
        let mut context = self.context();
        context.argv = None;
        let records = self.records_of(&self.stdout, context, &self.exit());
        summarize(&records).expect("a finished run has a summary")
    }

    pub(crate) fn summary(&self) -> RunSummary {
        summarize(&self.records()).expect("a finished run has a summary")
    }
}

fn in_directory(directory: &Path) -> Vec<Capture> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".meta.json"));
    paths.sort();
    paths.iter().map(|path| Capture::read(path)).collect()
}

/// Returns our own fixtures, and other recorded captures where `RUNTAPE_CORPUS` is set.
pub(crate) fn all() -> Vec<Capture> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut captures = Vec::new();
    for entry in RUNTIMES {
        captures.extend(in_directory(&fixtures.join(entry.runtime.as_str())));
    }
    if let Some(corpus) = env::var_os("RUNTAPE_CORPUS") {
        // Cargo runs tests in the package's directory; the variable is relative to the workspace.
        let corpus = fixtures.join("../..").join(corpus);
        let known: HashSet<String> = captures.iter().map(Capture::name).collect();
        for runtime in [
            "claude-code",
            "cursor",
            "gemini",
            "hermes",
            "codex",
            "opencode",
            "openclaw",
        ] {
            let recorded = in_directory(&corpus.join(runtime));
            captures.extend(
                recorded
                    .into_iter()
                    .filter(|capture| !known.contains(&capture.name())),
            );
        }
    }
    if let Ok(only) = env::var("RUNTAPE_ONLY") {
        captures.retain(|capture| capture.name().contains(&only));
    }
    assert!(!captures.is_empty(), "no captures found");
    captures
}
