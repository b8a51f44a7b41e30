//! The examples in `docs/commands.md`, `docs/redaction.md` and `docs/audit.md` are what the binary prints. `RUNTAPE_DOCS=write` writes them
//! anew; read them before they are committed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runtape_normalizer::redact::examples;

use crate::harness::{capture, fixtures};
use crate::sample::Sample;

const OPENING: &str = "```console";

/// The pages with examples.
const PAGES: [&str; 3] = ["commands.md", "redaction.md", "audit.md"];

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name)
}

/// Makes the directory where the shell finds the binary, and a stand-in for an agent CLI.
fn programs(sample: &Sample) -> String {
    let directory = sample.runtape.path("bin");
    fs::create_dir_all(&directory).unwrap();
    let binary = env!("CARGO_BIN_EXE_runtape");
    std::os::unix::fs::symlink(binary, directory.join("runtape")).unwrap();
    let body = format!(
        "if [ \"$1\" = --version ]; then echo '2.1.325 (Claude Code)'; else cat '{}'; fi",
        capture().display()
    );
    sample.runtape.script("bin/claude", &body);
    let copy = sample.runtape.path("captures");
    fs::create_dir_all(&copy).unwrap();
    for name in ["files.stream-json", "thinking.stream-json"] {
        for ending in ["stdout", "stderr", "meta.json"] {
            let from = fixtures().join(format!("claude-code/{name}.{ending}"));
            if from.is_file() {
                fs::copy(from, copy.join(format!("{name}.{ending}"))).unwrap();
            }
        }
    }
    leak(sample);
    fleet(sample, &directory);
    let history = fixtures().join("claude-code/fork-tree.sessions.history/-home-dev-proj");
    let project = sample.runtape.path("home/.claude/projects/-home-dev-proj");
    fs::create_dir_all(&project).unwrap();
    for entry in fs::read_dir(history).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), project.join(entry.file_name())).unwrap();
    }
    format!("{}:/usr/bin:/bin", directory.display())
}

/// Makes the databases that an auditor asks: `fleet.db` with all captures of the sample, as the runs of two jobs, and
/// `recorded.db` with a run that was recorded in a directory under version control, and has a secret that was kept.
fn fleet(sample: &Sample, programs: &Path) {
    let git = sample.runtape.path("proj/.git");
    fs::create_dir_all(git.join("refs/heads")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let commit = "5f1c0de5f1c0de5f1c0de5f1c0de5f1c0de5f1c0";
    fs::write(git.join("refs/heads/main"), format!("{commit}\n")).unwrap();
    let lines = [
        "runtape ingest --job nightly-tests claude-code-*.stdout hermes-*.stdout",
        "runtape ingest --job docs cursor-*.stdout gemini-*.stdout opencode-*.stdout",
        "cd proj && runtape record --redact=off --db ../recorded.db --run-id nightly --runtime claude-code -- cat ../leaky.stdout",
    ];
    for line in lines {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        let output = sample
            .prepare(command)
            .env("RUNTAPE_DB", sample.runtape.path("fleet.db"))
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("USER", "dev")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// Returns the name of this machine, which differs from one to the next.
fn host() -> String {
    let output = Command::new("uname").arg("-n").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a capture in which a tool printed a secret, and a file with the secret alone.
fn leak(sample: &Sample) {
    let mut examples = examples(18).into_iter();
    let example = examples.find(|example| example.rule == "github-pat");
    let secret = example.unwrap().secret;
    let text = fs::read_to_string(capture()).unwrap();
    assert!(text.contains("line two"));
    let file = sample.runtape.path("leaky.stdout");
    fs::write(&file, text.replace("line two", &format!("GH={secret}"))).unwrap();
    fs::write(sample.runtape.path("secret.txt"), format!("{secret}\n")).unwrap();
}

/// Runs a line of shell and returns what a person sees of it.
fn see(sample: &Sample, path: &str, page: &str, line: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{{ {}; }} 2>&1", sample.real(line))]);
    let mut command = sample.prepare(command);
    // What is recorded or ingested in examples is not seen by the others.
    let writes = [" record ", " ingest ", " sync "];
    if page == "redaction.md" {
        command.env("RUNTAPE_DB", sample.runtape.path("leaky.db"));
    } else if page == "audit.md" {
        command.env("RUNTAPE_DB", sample.runtape.path("fleet.db"));
    } else if writes.iter().any(|word| line.contains(word)) {
        command.env("RUNTAPE_DB", sample.runtape.path("another.db"));
    }
    let output = command
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace(&format!("\"host\":\"{}\"", host()), "\"host\":\"build-7\"");
    let mut text = sample.plain(&text);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Returns a text without what differs from one machine or day to the next: sizes, hashes, and the
/// spaces that align them.
fn essence(text: &str) -> Vec<String> {
    let is_size = |word: &str| matches!(word, "B" | "KiB" | "MiB" | "GiB");
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let unit = word.trim_end_matches([',', ')', ';']);
            if is_size(unit) {
                words.pop();
                words.push("SIZE".to_owned());
            } else if word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                words.push("HASH".to_owned());
            } else {
                words.push(word.to_owned());
            }
        }
        lines.push(words.join(" "));
    }
    lines
}

/// Fills in the examples of a page.
fn filled(page: &str, mut see: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        if line != OPENING {
            continue;
        }
        for line in lines.by_ref() {
            if let Some(command) = line.strip_prefix("$ ") {
                let _ = write!(text, "$ {command}\n{}", see(command));
            } else if line == "```" {
                text.push_str("```\n");
                break;
            }
        }
    }
    text
}

#[test]
fn examples_are_what_the_binary_prints() {
    let sample = Sample::new();
    let path = programs(&sample);
    for name in PAGES {
        let committed = fs::read_to_string(page(name)).unwrap();
        let current = filled(&committed, |line| see(&sample, &path, name, line));
        if std::env::var_os("RUNTAPE_DOCS").is_some_and(|what| what == "write") {
            fs::write(page(name), current).unwrap();
            continue;
        }
        let (committed, current) = (essence(&committed), essence(&current));
        for (number, (committed, current)) in committed.iter().zip(&current).enumerate() {
            assert_eq!(committed, current, "docs/{name}, line {}", number + 1);
        }
        assert_eq!(committed.len(), current.len());
    }
}

#[test]
fn every_command_has_an_example() {
    let page = fs::read_to_string(page("commands.md")).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_runtape"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        name.split_whitespace()
            .next()
            .filter(|_| !name.starts_with(' '))
    });
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(
            page.contains(&format!("\n$ runtape {name}")),
            "{name} has no example"
        );
    }
}
