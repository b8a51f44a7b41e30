//! Replicas of the captures under `fixtures/`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::random::Random;
use super::template::Template;
use super::words::Words;

/// Captures with a longer line can be left out: one of them outweighs all the others together, and
/// says little about any line of usual length. The longest of those is claude-code's first, 4 KiB.
pub const LONG_LINE: usize = 8 * 1024;

/// Formats that are streams; the others are one value at the end, and small.
const FORMATS: &[&str] = &["stream-json", "stream-json-partial", "chat", "frames"];

/// Runtimes whose `json` is a stream, too: one event a line.
const JSON_LINES: &[&str] = &["codex", "opencode"];

/// What any program may print that has no format of its own, and its streams.
const GENERIC: &str = "generic";
const GENERIC_FORMATS: &[&str] = &["events", "transcript"];

fn is_stream(runtime: &str, format: &str) -> bool {
    FORMATS.contains(&format)
        || (format == "json" && JSON_LINES.contains(&runtime))
        || (runtime == GENERIC && GENERIC_FORMATS.contains(&format))
}

/// A run that looks like a recorded one.
#[derive(Clone, Debug)]
pub struct Replica {
    /// The runtime's name.
    pub runtime: String,
    /// The output format's name.
    pub format: String,
    /// What the capture is of.
    pub scenario: String,
    /// The command line of the capture.
    pub argv: Option<Vec<String>>,
    /// What was written to standard output.
    pub stdout: Vec<u8>,
    /// What was written to standard error.
    pub stderr: Vec<u8>,
    /// How the process ended; a negative number is a signal's.
    pub exit_code: Option<i32>,
}

/// One capture.
#[derive(Debug)]
struct Capture {
    runtime: String,
    format: String,
    scenario: String,
    argv: Option<Vec<String>>,
    exit_code: Option<i32>,
    has_long_line: bool,
    template: Template,
}

/// Makes replicas of captures.
#[derive(Debug)]
pub struct Replicator {
    seed: u64,
    words: Words,
    captures: Vec<Capture>,
}

impl Replicator {
    /// Reads the captures that are streams of lines, none of them over [`LONG_LINE`], and cursor's
    /// recorded ones where `RUNTAPE_CORPUS` is set.
    ///
    /// # Panics
    ///
    /// Where the fixtures cannot be read.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut replicator = Self::with_long_lines(seed);
        replicator.captures.retain(|capture| !capture.has_long_line);
        replicator
    }

    /// Reads the captures that are streams of lines, however long.
    ///
    /// # Panics
    ///
    /// Where the fixtures cannot be read.
    #[must_use]
    pub fn with_long_lines(seed: u64) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let runtimes = [
            "claude-code",
            "cursor",
            "gemini",
            "hermes",
            "codex",
            "opencode",
            "openclaw",
            GENERIC,
        ];
        let mut folders: Vec<PathBuf> = runtimes.map(|runtime| fixtures.join(runtime)).into();
        if let Some(corpus) = env::var_os("RUNTAPE_CORPUS") {
            // Cargo runs benches in the package's directory; the variable is relative to the workspace.
            folders.push(fixtures.join("../..").join(corpus).join("cursor"));
        }
        let captures: Vec<Capture> = folders.iter().flat_map(|folder| read_all(folder)).collect();
        assert!(!captures.is_empty(), "no captures found");
        Self {
            seed,
            words: Words::default(),
            captures,
        }
    }

    /// Returns the runtimes and formats that there are captures of, in order.
    #[must_use]
    pub fn formats(&self) -> Vec<(&str, &str)> {
        let formats = self.captures.iter();
        let mut formats: Vec<(&str, &str)> = formats
            .map(|capture| (capture.runtime.as_str(), capture.format.as_str()))
            .collect();
        formats.sort_unstable();
        formats.dedup();
        formats
    }

    /// Returns replicas of a runtime's captures in one format, over and over, without end.
    #[must_use]
    pub fn replicas(&self, runtime: &str, format: &str) -> Replicas<'_> {
        let captures = self.captures.iter();
        let wanted =
            captures.filter(|capture| capture.runtime == runtime && capture.format == format);
        self.replicas_of(wanted.collect())
    }

    /// Returns replicas of all captures of agent CLIs in turn, over and over, without end.
    #[must_use]
    pub fn mix(&self) -> Replicas<'_> {
        let captures = self.captures.iter();
        let recorded = captures.filter(|capture| capture.runtime != GENERIC);
        self.replicas_of(recorded.collect())
    }

    fn replicas_of<'a>(&'a self, captures: Vec<&'a Capture>) -> Replicas<'a> {
        Replicas {
            words: &self.words,
            random: Random::new(self.seed),
            captures,
            next: 0,
        }
    }
}

/// Reads the captures in a folder, in the order of their names.
fn read_all(folder: &Path) -> Vec<Capture> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| Capture::read(path))
        .collect()
}

impl Capture {
    fn read(meta_path: &Path) -> Option<Self> {
        let stem = meta_path.to_str()?.strip_suffix("meta.json")?;
        let meta: Value = serde_json::from_slice(&fs::read(meta_path).ok()?).ok()?;
        let word = |key: &str| Some(meta.get(key)?.as_str()?.to_owned());
        let (runtime, mut format) = (word("runtime")?, word("format")?);
        if meta.get("partial_output") == Some(&Value::Bool(true)) {
            "stream-json-partial".clone_into(&mut format);
        }
        if !is_stream(&runtime, &format) {
            return None;
        }
        let stream = |name: &str| fs::read(format!("{stem}{name}")).unwrap_or_default();
        let (stdout, stderr) = (stream("stdout"), stream("stderr"));
        let mut lines = stdout.split(|byte| *byte == b'\n');
        Some(Self {
            has_long_line: lines.any(|line| line.len() > LONG_LINE),
            template: Template::new(&runtime, &stdout, &stderr),
            runtime,
            format,
            scenario: word("scenario")?,
            argv: serde_json::from_value(meta.get("argv")?.clone()).ok(),
            exit_code: meta
                .get("exit_code")
                .and_then(Value::as_i64)
                .and_then(|code| i32::try_from(code).ok()),
        })
    }
}

/// Replicas, one after another; see [`Replicator::replicas`].
#[derive(Clone, Debug)]
pub struct Replicas<'a> {
    words: &'a Words,
    random: Random,
    captures: Vec<&'a Capture>,
    next: usize,
}

impl Iterator for Replicas<'_> {
    type Item = Replica;

    fn next(&mut self) -> Option<Replica> {
        let at = self.next % self.captures.len().max(1);
        let capture = self.captures.get(at)?;
        self.next += 1;
        let (stdout, stderr) = capture.template.write(self.words, &mut self.random);
        Some(Replica {
            runtime: capture.runtime.clone(),
            format: capture.format.clone(),
            scenario: capture.scenario.clone(),
            argv: capture.argv.clone(),
            stdout,
            stderr,
            exit_code: capture.exit_code,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_json_stays_json() {
        let replicator = Replicator::new(1);
        for (runtime, format) in replicator.formats() {
            if format == "chat" {
                continue;
            }
            let replicas = replicator.replicas(runtime, format);
            for replica in replicas.take(replicator.captures.len()) {
                for line in replica.stdout.split_inclusive(|byte| *byte == b'\n') {
                    let json = line.starts_with(b"{") && line.ends_with(b"}\n");
                    // A lone surrogate is JSON to the CLI that printed it, and not to serde_json.
                    let json = json && !line.windows(3).any(|bytes| bytes == br"\ud");
                    let parsed = serde_json::from_slice::<Value>(line);
                    assert!(!json || parsed.is_ok(), "{}: {parsed:?}", replica.scenario);
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_replicas() {
        let outputs = |seed| {
            let replicator = Replicator::new(seed);
            let replicas = replicator.mix().take(replicator.captures.len() + 1);
            replicas.map(|replica| replica.stdout).collect::<Vec<_>>()
        };
        let (one, other) = (outputs(1), outputs(1));
        assert_eq!(one, other);
        assert_ne!(one, outputs(2));
        assert_ne!(one.first(), one.last());
    }
}
