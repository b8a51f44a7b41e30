//! The binary, a database of its own, and scripts that stand in for agent CLIs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use runtape_normalizer::runtimes::RUNTIMES;
use serde_json::Value;
use tempfile::TempDir;

/// A database of its own, and the binary to work on it.
pub(crate) struct Runtape {
    pub(crate) directory: TempDir,
}

impl Runtape {
    pub(crate) fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    /// The same where paths are always as long, wherever temporary files are: what is printed is cut by their length.
    pub(crate) fn in_a_short_place() -> Self {
        Self {
            directory: TempDir::new_in("/tmp").unwrap(),
        }
    }

    /// A database with every fixture.
    pub(crate) fn with_fixtures() -> Self {
        // Made once, then copied: most tests only ask.
        static FIXTURES: OnceLock<Vec<u8>> = OnceLock::new();
        let database = FIXTURES.get_or_init(|| {
            let runtape = Self::new();
            let output = runtape.run(&["ingest", fixtures().to_str().unwrap()]);
            assert!(output.status.success(), "{}", stderr(&output));
            fs::read(runtape.path("runtape.db")).unwrap()
        });
        let runtape = Self::new();
        fs::write(runtape.path("runtape.db"), database).unwrap();
        runtape
    }

    /// The same, with a copy of one capture that is certainly the last run: its file is new.
    pub(crate) fn with_a_last_run() -> Self {
        let runtape = Self::with_fixtures();
        let copy = runtape.path("last.stdout");
        fs::write(
            &copy,
            without_times(&fs::read_to_string(capture()).unwrap()),
        )
        .unwrap();
        let output = runtape.run(&["ingest", "--exit-code", "0", copy.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        runtape
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runtape"));
        command
            .args(arguments)
            .env("RUNTAPE_DB", self.path("runtape.db"))
            .env("TMPDIR", self.directory.path())
            .env("HOME", self.directory.path())
            .env_remove("RUNTAPE_SPOOL")
            .env_remove("RUNTAPE_CONFIG")
            .env_remove("RUNTAPE_REDACTION_KEY_FILE")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("RUNTAPE_PRICES")
            .env("COLUMNS", "100")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        // What CLIs keep on this machine is none of the tests' business.
        let histories = RUNTIMES.iter().filter_map(|entry| entry.history);
        let places = histories.flat_map(|history| history.places);
        for (variable, _) in places.filter_map(|place| place.variable) {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["--json"], arguments].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
        values.collect()
    }

    /// Makes a script that prints a capture again: both streams at once, in pieces that end
    /// anywhere, with pauses, then exits as it did.
    #[cfg(unix)]
    pub(crate) fn replayer(&self, name: &str, stdout: &Path, exit: i32) -> String {
        let stderr = stdout.with_extension("stderr");
        let streams = if stderr.is_file() {
            let (stdout, stderr) = (stdout.display(), stderr.display());
            format!("play '{stdout}' & play '{stderr}' >&2; wait")
        } else {
            format!("play '{}'", stdout.display())
        };
        let body = format!(
            r#"play() {{
  size=$(wc -c < "$1"); block=$((size / 5 + 1)); i=0
  while [ $((i * block)) -lt "$size" ]; do
    dd if="$1" bs=$block skip=$i count=1 2>/dev/null
    sleep 0.01; i=$((i + 1))
  done
}}
{streams}
exit {exit}"#
        );
        self.script(name, &body)
    }

    /// Makes a script that does one thing, waits until the file `go` is there, and does another.
    #[cfg(unix)]
    pub(crate) fn waiting(&self, before: &str, after: &str) -> String {
        let go = self.path("go");
        let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
        self.script("claude", &format!("{before}; {wait}; {after}"))
    }

    /// Makes a script that stands in for an agent CLI.
    #[cfg(unix)]
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

pub(crate) fn capture() -> PathBuf {
    fixtures().join("claude-code/bash-ok.stream-json.stdout")
}

/// Returns a capture whose lines tell no time: the time of its file is the time of the run.
pub(crate) fn without_times(capture: &str) -> String {
    let key = ",\"timestamp\":\"";
    let mut parts = capture.split(key);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.split_once('"').map_or("", |(_, rest)| rest);
        text + rest
    })
}

/// Tells whether nothing is forbidden to us.
#[cfg(unix)]
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
