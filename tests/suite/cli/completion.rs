//! Completion: what a shell is offered, asked for as shells ask.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::harness::{Runtape, capture, stderr, stdout};

/// Asks what could stand in the place of the last word, as fish does: a line each, with help after a tab.
fn offered(runtape: &Runtape, words: &[&str]) -> Vec<String> {
    let mut command = runtape.command(&["--", "runtape"]);
    let output = command
        .args(words)
        .env("RUNTAPE_COMPLETE", "fish")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "{words:?}");
    stdout(&output).lines().map(str::to_owned).collect()
}

fn values(runtape: &Runtape, words: &[&str]) -> Vec<String> {
    let offered = offered(runtape, words);
    let values = offered.iter().map(|line| line.split('\t').next().unwrap());
    values.map(str::to_owned).collect()
}

/// Two runs of a job with a label, another run, and a session that could do harm.
fn database() -> Runtape {
    let runtape = Runtape::new();
    for (run, job, label) in [
        ("alpha-1", "nightly", "team=blue"),
        ("alpha-2", "nightly", "team=$(reboot)"),
        ("beta-1", "weekly", "team=red"),
    ] {
        let script = runtape.script("claude", &format!("cat {}", capture().display()));
        let output = runtape.run(&[
            "record",
            "--run-id",
            run,
            "--job",
            job,
            "--label",
            label,
            "--",
            &script,
            "-p",
            "Fix the parser",
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    runtape
}

#[test]
fn ids_words_and_names_are_offered_where_they_belong() {
    let runtape = database();
    let has = |words: &[&str], expected: &[&str]| {
        let found = values(&runtape, words);
        for expected in expected {
            assert!(
                found.iter().any(|one| one == expected),
                "{words:?}: {found:?}"
            );
        }
    };
    let is = |words: &[&str], expected: &[&str]| {
        assert_eq!(values(&runtape, words), expected, "{words:?}");
    };
    // Runs, the latest first; where a job can be named as well, jobs after them.
    is(&["transcript", "alp"], &["alpha-2", "alpha-1"]);
    is(&["show", "alpha-1"], &["alpha-1"]);
    has(
        &["show", ""],
        &["last", "beta-1", "alpha-1", "nightly", "weekly"],
    );
    is(&["export", "b"], &["beta-1"]);
    is(&["checkpoint", "be"], &["beta-1"]);
    is(&["diff", "alpha-1", "alpha-2"], &["alpha-2"]);
    is(&["gc", "--run", "be"], &["beta-1"]);
    is(&["wait", "night"], &["nightly"]);
    is(&["runs", "--job", ""], &["weekly", "nightly"]);
    is(&["runs", "--job=we"], &["--job=weekly"]);
    is(&["runs", "--runtime", "cl"], &["claude-code"]);
    is(&["record", "--runtime", "ge"], &["gemini", "generic"]);
    has(
        &["runs", "--outcome", ""],
        &["completed", "interrupted", "running"],
    );
    has(&["usage", "--by", ""], &["day", "model", "label"]);
    has(&["show", "--"], &["--json", "--db"]);
    has(&["tra"], &["transcript"]);
    // What agents and others name is offered only if a shell takes it as it stands.
    is(&["runs", "--label", "team"], &["team=red", "team=blue"]);
    // A run is told from another by what was asked.
    let shown = offered(&runtape, &["show", "beta"]);
    assert!(shown[0].contains("Fix the parser"), "{shown:?}");
}

#[test]
fn the_database_that_the_line_names_is_asked_and_none_is_ever_made_or_changed() {
    let runtape = database();
    let before = fs::read(runtape.path("runtape.db")).unwrap();
    let other = runtape.path("other.db");
    fs::copy(runtape.path("runtape.db"), &other).unwrap();
    let named = other.to_str().unwrap();
    let elsewhere = Runtape::new();
    assert_eq!(values(&elsewhere, &["show", "alp"]), Vec::<String>::new());
    assert_eq!(
        values(&elsewhere, &["--db", named, "wait", "we"]),
        ["weekly"]
    );
    let joined = format!("--db={named}");
    assert_eq!(values(&elsewhere, &["wait", &joined, "we"]), ["weekly"]);
    assert!(!elsewhere.path("runtape.db").exists());
    fs::remove_file(&other).unwrap();
    values(&runtape, &["show", ""]);
    values(&runtape, &["runs", "--session", ""]);
    let after = fs::read(runtape.path("runtape.db")).unwrap();
    assert!(after == before, "only read");
    let log = fs::metadata(runtape.path("runtape.db-wal"));
    assert_eq!(
        log.map_or(0, |log| log.len()),
        0,
        "nothing is to be written"
    );
    // What is no database offers nothing, in silence.
    fs::write(elsewhere.path("runtape.db"), "not a database").unwrap();
    assert_eq!(values(&elsewhere, &["show", "a"]), Vec::<String>::new());
}

/// What makes a shell complete `runtape show alp` with the script that is printed, and print what it would offer.
const SHELLS: &[(&str, &str, &str)] = &[
    (
        "bash",
        "--norc",
        r#"
            source <(runtape completions bash)
            COMP_WORDS=(runtape show alp) COMP_CWORD=2 COMP_TYPE=9
            _clap_complete_runtape runtape alp show
            printf '%s\n' "${COMPREPLY[@]}"
        "#,
    ),
    (
        "fish",
        "--no-config",
        r"source (runtape completions fish | psub)
          complete -C 'runtape show alp' | string split --fields 1 \t",
    ),
    (
        "zsh",
        "-f",
        // Outside of a line editor nobody shows what is described.
        r#"
            autoload -U compinit; compinit -u -D
            source <(runtape completions zsh)
            _describe() { print -l -- "${(@P)3%%:*}" }
            words=(runtape show alp) CURRENT=3
            _clap_dynamic_completer_runtape
        "#,
    ),
];

/// The script that is printed makes a real shell ask, with what the shell has.
#[test]
fn shells_complete_with_the_script_that_is_printed() {
    let runtape = database();
    let binary = env!("CARGO_BIN_EXE_runtape");
    let directory = std::path::Path::new(binary).parent().unwrap();
    let path = format!(
        "{}:{}",
        directory.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    for (shell, option, typed) in SHELLS {
        let mut command = Command::new(shell);
        for (key, value) in runtape.command(&[]).get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let command = command.args([option, "-c", typed]).env("PATH", &path);
        let Ok(output) = command.stdin(Stdio::null()).output() else {
            let is_required = std::env::var_os("RUNTAPE_SHELLS").is_some();
            assert!(!is_required, "there is no {shell}");
            eprintln!("skipped: there is no {shell} to complete in");
            continue;
        };
        let mut offered: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
        // Fish has an order of its own.
        offered.sort();
        assert_eq!(
            offered,
            ["alpha-1", "alpha-2"],
            "{shell}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn every_shell_has_a_script_that_asks_this_program() {
    let runtape = Runtape::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&runtape.run(&["completions", shell]));
        assert!(script.contains("RUNTAPE_COMPLETE"), "{shell}: {script}");
    }
    let output = runtape.run(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A key is pressed, and somebody waits: many runs are no reason to be slow.
#[test]
fn many_runs_are_no_reason_to_be_slow() {
    let runtape = Runtape::with_fixtures();
    let time = |runtape: &Runtape| {
        let times = (0..5).map(|_| {
            let begin = Instant::now();
            offered(runtape, &["show", ""]);
            begin.elapsed()
        });
        times.min().unwrap()
    };
    let (few, many) = (time(&database()), time(&runtape));
    println!("completion of three runs {few:?}, of all fixtures {many:?}");
    assert!(many < few * 10, "{few:?} {many:?}");
}
