//! What is looked for: arguments, configuration, environment, key.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use tempfile::TempDir;

use super::printer;
use crate::harness::{Runtape, stderr, stdout};

/// A value that no rule knows.
const VALUE: &str = "correct horse battery staple nine";

/// Records a program that prints a text, with variables set, and returns what was kept of it.
fn kept(
    runtape: &Runtape,
    text: &str,
    words: &[&str],
    variables: &[(&str, &str)],
) -> (String, Output) {
    let outside = TempDir::new().unwrap();
    let program = printer(&outside, "agent", &format!("{text}\n"), "");
    let record = [&["record", "--show", "none"][..], words, &["--", &program]].concat();
    let output = runtape
        .command(&record)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    (stdout(&runtape.run(&["raw", "last"])), output)
}

fn config(runtape: &Runtape, text: &str) -> String {
    let path = runtape.path("config.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn values_of_variables_with_secret_names_are_taken_out_and_others_on_request() {
    let runtape = Runtape::new();
    let text = format!("it is {VALUE}.");
    let (raw, _) = kept(&runtape, &text, &[], &[("MY_SERVICE_TOKEN", VALUE)]);
    assert!(
        !raw.contains(VALUE) && raw.contains("[REDACTED:env.MY_SERVICE_TOKEN:"),
        "{raw}"
    );
    let (raw, _) = kept(&runtape, &text, &[], &[("GREETING", VALUE)]);
    assert!(raw.contains(VALUE), "{raw}");
    let (raw, _) = kept(
        &runtape,
        &text,
        &["--redact-env", "GREETING"],
        &[("GREETING", VALUE)],
    );
    assert!(
        !raw.contains(VALUE) && raw.contains("[REDACTED:env.GREETING:"),
        "{raw}"
    );
    let (raw, _) = kept(
        &runtape,
        &text,
        &["--redact=off"],
        &[("MY_SERVICE_TOKEN", VALUE)],
    );
    assert!(raw.contains(VALUE), "{raw}");
    let shown = runtape.json(&["show", "last"]).remove(0);
    assert_eq!(shown["redaction"]["tier"], "off");
    let (_, output) = kept(&runtape, &text, &["--redact=most"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // Too short to be told from anything else.
    let (raw, _) = kept(
        &runtape,
        "a short one",
        &[],
        &[("MY_SERVICE_TOKEN", "short")],
    );
    assert!(raw.contains("a short one"), "{raw}");
}

#[test]
fn the_configuration_sets_tier_rules_what_is_allowed_and_variables() {
    let runtape = Runtape::new();
    let secret = "acme_0123456789abcdefABCDEF";
    let text = format!("{secret} and {VALUE}");
    let path = config(
        &runtape,
        "[redact]\nenv = [\"GREETING\"]\n[[redact.rules]]\nname = \"acme\"\npattern = \"acme_[A-Za-z0-9]{22}\"\n",
    );
    let variables = [("RUNTAPE_CONFIG", path.as_str()), ("GREETING", VALUE)];
    let (raw, output) = kept(&runtape, &text, &[], &variables);
    assert!(raw.contains("[REDACTED:acme:"), "{raw} {}", stderr(&output));
    assert!(!raw.contains(secret) && !raw.contains(VALUE), "{raw}");
    let doctor = runtape
        .command(&["doctor"])
        .envs(variables)
        .output()
        .unwrap();
    assert!(
        stdout(&doctor).contains("redaction: definite"),
        "{}",
        stdout(&doctor)
    );

    let path = config(
        &runtape,
        "[redact]\nallow = [\"acme_0123*\"]\n[[redact.rules]]\nname = \"acme\"\npattern = \"acme_[A-Za-z0-9]{22}\"\n",
    );
    let (raw, _) = kept(&runtape, &text, &[], &[("RUNTAPE_CONFIG", &path)]);
    assert!(raw.contains(secret), "{raw}");

    let path = config(&runtape, "[redact]\ntier = \"off\"\n");
    let (raw, _) = kept(
        &runtape,
        &text,
        &[],
        &[("RUNTAPE_CONFIG", &path), ("MY_TOKEN", VALUE)],
    );
    assert!(raw.contains(VALUE), "{raw}");
    let shown = runtape
        .command(&["config", "show"])
        .env("RUNTAPE_CONFIG", &path)
        .output()
        .unwrap();
    assert!(
        stdout(&shown).contains("tier = \"off\""),
        "{}",
        stdout(&shown)
    );
    let place = runtape
        .command(&["config", "path"])
        .env("RUNTAPE_CONFIG", &path)
        .output()
        .unwrap();
    assert_eq!(stdout(&place).trim(), path);
    let place = stdout(&runtape.run(&["config", "path"]));
    assert!(place.trim().ends_with("runtape/config.toml"), "{place}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_named_before_anything_runs_and_looking_needs_none() {
    let runtape = Runtape::new();
    kept(&runtape, "hello", &[], &[]);
    let path = config(&runtape, "[redact]\nteir = \"off\"\n");
    let marker = runtape.path("ran");
    let script = runtape.script("agent", &format!("touch '{}'", marker.display()));
    for words in [
        &["record", "--", &script][..],
        &["ingest", &script],
        &["config", "show"],
    ] {
        let output = runtape
            .command(words)
            .env("RUNTAPE_CONFIG", &path)
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(
            said.contains("teir") && said.contains("line 2") && said.contains(&path),
            "{said}"
        );
    }
    assert!(!marker.exists());
    // These make no rule set, so they do not even read the file.
    for words in [
        &["--version"][..],
        &["runs"],
        &["show", "last"],
        &["verify"],
        &["raw", "last"],
    ] {
        let output = runtape
            .command(words)
            .env("RUNTAPE_CONFIG", &path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }
    let rules = "[[redact.rules]]\nname = \"bad name!\"\npattern = \"x\"\n";
    let path = config(&runtape, rules);
    let output = runtape
        .command(&["record", "--", &script])
        .env("RUNTAPE_CONFIG", &path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("bad name!"), "{}", stderr(&output));
}

#[test]
fn the_same_secret_has_the_same_marker_under_one_key_and_another_under_the_next() {
    let runtape = Runtape::new();
    let variables = [("MY_SERVICE_TOKEN", VALUE)];
    let marker = |raw: &str| {
        let (_, after) = raw.split_once("[REDACTED:").unwrap();
        let (inside, _) = after.split_once(']').unwrap();
        format!("[REDACTED:{inside}]")
    };
    let text = format!("it is {VALUE}.");
    let (first, _) = kept(&runtape, &text, &[], &variables);
    let (second, _) = kept(&runtape, &format!("again {VALUE}"), &[], &variables);
    assert_eq!(marker(&first), marker(&second));
    let key = runtape.path("runtape.db.redaction-key");
    let mode = fs::metadata(&key).unwrap().permissions().mode() & 0o777;
    assert_eq!((fs::read(&key).unwrap().len(), mode), (32, 0o600));
    let id = |runtape: &Runtape| {
        let shown = runtape.json(&["show", "last"]).remove(0);
        shown["redaction"]["keyId"].as_str().map(str::to_owned)
    };
    let before = id(&runtape).unwrap();
    let doctor = stdout(&runtape.run(&["doctor"]));
    assert!(
        doctor.contains(&format!("redaction key {before}")),
        "{doctor}"
    );
    assert!(doctor.contains(key.to_str().unwrap()), "{doctor}");

    let mut which = runtape.command(&["redact", "--which", "--json"]);
    let secret = runtape.path("asked");
    fs::write(&secret, format!("{VALUE}\n")).unwrap();
    let found = which
        .stdin(fs::File::open(&secret).unwrap())
        .output()
        .unwrap();
    let lines = stdout(&found);
    let runs: std::collections::BTreeSet<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["runId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(runs.len(), 2, "{lines}{}", stderr(&found));

    fs::remove_file(&key).unwrap();
    let (third, _) = kept(&runtape, &text, &[], &variables);
    assert_ne!(marker(&first), marker(&third));
    assert_ne!(id(&runtape), Some(before));
    let (plain, _) = kept(&runtape, &text, &["--no-commitment"], &variables);
    assert_eq!(marker(&plain), "[REDACTED:env.MY_SERVICE_TOKEN]");
    assert_eq!(id(&runtape), None);

    let elsewhere = runtape.path("elsewhere/key");
    let named = [
        ("MY_SERVICE_TOKEN", VALUE),
        ("RUNTAPE_REDACTION_KEY_FILE", elsewhere.to_str().unwrap()),
    ];
    fs::remove_file(&key).unwrap();
    kept(&runtape, &text, &[], &named);
    assert!(elsewhere.exists() && !key.exists());
}

#[test]
fn a_key_that_cannot_be_read_does_not_keep_a_command_from_being_recorded() {
    let runtape = Runtape::new();
    fs::write(runtape.path("runtape.db.redaction-key"), "no key").unwrap();
    let variables = [("MY_SERVICE_TOKEN", VALUE)];
    let (raw, output) = kept(&runtape, VALUE, &[], &variables);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("no key for markers"),
        "{}",
        stderr(&output)
    );
    assert_eq!(raw.trim(), "[REDACTED:env.MY_SERVICE_TOKEN]");
}

#[test]
fn raw_output_is_passed_through_untouched_and_not_kept_so() {
    let runtape = Runtape::new();
    let outside = TempDir::new().unwrap();
    let program = printer(&outside, "agent", &format!("it is {VALUE}\n"), "");
    let mut command = runtape.command(&["record", "--show", "raw", "--", &program]);
    let output = command.env("MY_SERVICE_TOKEN", VALUE).output().unwrap();
    assert_eq!(stdout(&output), format!("it is {VALUE}\n"));
    let raw = stdout(&runtape.run(&["raw", "last"]));
    assert!(!raw.contains(VALUE), "{raw}");
}
