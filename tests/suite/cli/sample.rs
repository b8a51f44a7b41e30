//! A database that is the same on every machine, for what people read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::harness::{Runtape, fixtures};

/// The runs of the database, the first one earliest.
const CAPTURES: &[&str] = &[
    "hermes/terminal_ok.chat",
    "hermes/sigkill.chat",
    "gemini/error-429.json",
    "gemini/files.stream-json",
    "cursor/shell_outcomes.stream-json",
    "cursor/cut.json",
    "cursor/no_result.stream-json",
    "claude-code/resume-unknown.stream-json",
    "claude-code/max-turns.stream-json",
    "claude-code/subagent.stream-json",
    "claude-code/bash-fail.stream-json",
];

/// The runs of another database, `audit.db`: what an auditor asks about and few runs have.
const AUDITED: &[&str] = &[
    "cursor/web.stream-json",
    "claude-code/permission-denied.stream-json",
    "claude-code/retry-then-ok.stream-json",
    "opencode/webfetch_fail.json",
];

/// A database with a few runs of every runtime.
///
/// Ids derive from paths, which differ between machines; others as long stand in for them.
pub(crate) struct Sample {
    pub(crate) runtape: Runtape,
    ids: Vec<(String, String)>,
}

/// Makes an id that looks like one and is always the same.
fn stand_in(number: usize) -> String {
    let letters = b"k3v9x2m7q1w8e5r4t6y0u2i1";
    let mut state = number as u64 * 7919 + 17;
    let letter = |index: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(state >> 33).unwrap() % letters.len();
        let place = if index == 0 {
            place / 2 * 2 % 14
        } else {
            place
        };
        char::from(letters[place])
    };
    (0..24).map(letter).collect()
}

/// Stores a capture as if it had been made some hours after the first one. Returns the ids that tell of
/// it.
fn store(runtape: &Runtape, capture: &str, hours: usize, options: &[&str]) -> Vec<String> {
    let name = capture.replace('/', "-");
    for ending in ["stdout", "stderr", "meta.json"] {
        let from = fixtures().join(format!("{capture}.{ending}"));
        if from.is_file() {
            let to = runtape.path(&format!("{name}.{ending}"));
            let printed = fs::read_to_string(from).unwrap();
            // The times that it tells are of the same hour.
            let told = format!("\"timestamp\":\"2026-12-01T{:02}:", 9 + hours);
            let printed = printed.replace("\"timestamp\":\"2026-11-16T00:", &told);
            fs::write(&to, printed).unwrap();
            let hours = u64::try_from(hours).unwrap();
            let at = Duration::from_secs(1_796_115_600 + hours * 3600);
            let file = fs::File::options().write(true).open(to).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + at).unwrap();
        }
    }
    let path = runtape.path(&format!("{name}.stdout"));
    let ingest = ["ingest", path.to_str().unwrap()];
    let stored = runtape.json(&[&ingest, options].concat());
    let run = stored[0]["runId"].as_str();
    let run = run.unwrap_or_else(|| panic!("{capture}: {stored:?}"));
    let shown = &runtape.json(&[&["show", run], options].concat())[0];
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let children = shown["children"].as_array().unwrap().iter();
    let steps = shown["stepsEnded"].as_array().unwrap().iter();
    let mut ids = vec![run.to_owned()];
    ids.extend(children.map(|child| text(&child["runId"])));
    ids.extend(steps.map(|step| text(&step["checkpointId"])));
    ids
}

impl Sample {
    pub(crate) fn new() -> Self {
        let runtape = Runtape::in_a_short_place();
        // Keys are random, and markers and ids follow from them.
        for database in [
            "runtape.db",
            "another.db",
            "leaky.db",
            "fleet.db",
            "recorded.db",
        ] {
            let key = runtape.path(&format!("{database}.redaction-key"));
            fs::write(&key, "2a".repeat(32)).unwrap();
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let mut ids: Vec<String> = Vec::new();
        for (number, capture) in CAPTURES.iter().enumerate() {
            ids.extend(store(&runtape, capture, number, &[]));
        }
        let audit = runtape.path("audit.db");
        let options = ["--db", audit.to_str().unwrap()];
        for (number, capture) in AUDITED.iter().enumerate() {
            // After the others, so that no two runs of both databases began at once.
            let hours = CAPTURES.len() + number;
            ids.extend(store(&runtape, capture, hours, &options));
        }
        let ids = ids
            .into_iter()
            .enumerate()
            .map(|(number, id)| (id, stand_in(number)));
        Self {
            runtape,
            ids: ids.collect(),
        }
    }

    /// Returns the id of the first run, which is the earliest.
    pub(crate) fn first_run(&self) -> &str {
        &self.ids[0].0
    }

    /// Prepares a command on this database: a fixed width and time zone, no agent CLI installed.
    pub(crate) fn prepare(&self, mut command: Command) -> Command {
        for (key, value) in self.runtape.command(&[]).get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command
            .current_dir(self.runtape.path(""))
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .env_remove("NO_COLOR");
        for variable in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Returns a text with stand-ins for what differs between machines.
    pub(crate) fn plain(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (id, stand_in) in &self.ids {
            text = text.replace(id, stand_in);
            text = text.replace(id.get(..10).unwrap(), stand_in.get(..10).unwrap());
        }
        let directory = self.runtape.path("");
        text.replace(directory.to_str().unwrap(), "/home/dev/")
    }

    /// Returns an id for a stand-in, or for the beginning of one.
    pub(crate) fn real(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (id, stand_in) in &self.ids {
            text = text.replace(stand_in, id);
            text = text.replace(stand_in.get(..10).unwrap(), id.get(..10).unwrap());
        }
        text
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runtape"));
        command.args(arguments);
        self.prepare(command)
            .env("PATH", "/no/programs")
            .output()
            .unwrap()
    }
}
