//! Secrets in what is stored already, or comes from elsewhere.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::plant::{Planted, assert_clean, assert_nothing_said, claude_output, few, found_in};
use super::{assert_ok, plain, texts};
use crate::harness::{Runtape, capture, stderr, stdout};

/// A database in which secrets were kept.
fn unfiltered(planted: &[Planted]) -> Runtape {
    let (runtape, outside) = (Runtape::new(), TempDir::new().unwrap());
    let file = outside.path().join("all.stdout");
    fs::write(&file, claude_output(&texts(planted))).unwrap();
    fs::write(file.with_extension("stderr"), plain(planted)).unwrap();
    let meta = serde_json::json!({"runtime": "claude-code", "exit_code": 0,
        "argv": ["claude", "-p", planted[0].text, "--output-format", "stream-json"]});
    fs::write(file.with_extension("meta.json"), meta.to_string()).unwrap();
    assert_ok(&runtape.run(&["ingest", capture().to_str().unwrap()]));
    assert_ok(&runtape.run(&["ingest", "--redact=off", file.to_str().unwrap()]));
    runtape
}

/// Returns what was planted and stands in the files of a directory, free pages and logs included.
fn found_below(directory: &Path, planted: &[Planted]) -> usize {
    let files = fs::read_dir(directory).unwrap();
    let paths = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    paths
        .map(|path| found_in(&fs::read(path).unwrap(), planted).len())
        .sum()
}

#[test]
fn scan_tells_what_is_there_and_redact_takes_it_out_to_the_last_byte() {
    let planted = few();
    let runtape = unfiltered(&planted);
    // The index has the words of what was said as they are.
    assert_ok(&runtape.run(&["search", "before"]));
    assert!(found_below(runtape.directory.path(), &planted) > 0);
    let head = runtape.json(&["verify"]).remove(0);

    let scanned = runtape.run(&["--json", "scan"]);
    assert_eq!(scanned.status.code(), Some(3), "{}", stderr(&scanned));
    assert!(found_in(&scanned.stdout, &planted).is_empty());
    let lines: Vec<Value> = stdout(&scanned)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let summary = lines.last().unwrap();
    assert_eq!(
        (&summary["runs"], &summary["runsWithSecrets"]),
        (&2.into(), &1.into())
    );
    for planted in &planted {
        let of_rule = |line: &&Value| line["rule"] == planted.rule.as_str();
        let places = lines
            .iter()
            .filter(of_rule)
            .map(|line| &line["place"]["type"]);
        let places: Vec<&Value> = places.collect();
        assert!(places.len() >= 4, "{}: {places:?}", planted.rule);
        assert!(
            places.contains(&&Value::from("record")),
            "{}: {places:?}",
            planted.rule
        );
    }
    let is_context = |line: &&Value| line["place"]["type"] == "context";
    assert!(lines.iter().any(|line| is_context(&line)));
    let shown = runtape.run(&["scan"]);
    assert_eq!(shown.status.code(), Some(3));
    assert!(found_in(&shown.stdout, &planted).is_empty());
    // Nothing was changed by looking.
    assert_eq!(runtape.json(&["verify"]).remove(0)["head"], head["head"]);

    let asked = runtape.run(&["redact", "last"]);
    assert_eq!(asked.status.code(), Some(2), "{}", stderr(&asked));
    assert!(stderr(&asked).contains("--yes"), "{}", stderr(&asked));
    let dry = runtape.json(&["redact", "--all", "--dry-run"]);
    assert_eq!(dry.last().unwrap()["changed"], 1);
    assert_eq!(runtape.json(&["verify"]).remove(0)["head"], head["head"]);

    let clean = stdout(&runtape.run(&["export", "last"])).lines().count();
    let redacted = runtape.json(&["redact", "--all", "--yes"]);
    let summary = redacted.last().unwrap();
    assert_eq!(
        (&summary["changed"], &summary["isErased"]),
        (&1.into(), &true.into()),
        "{redacted:?}"
    );
    assert_eq!(found_below(runtape.directory.path(), &planted), 0);
    assert_clean(runtape.directory.path(), &planted);
    assert_nothing_said(&runtape, &planted);
    assert_eq!(
        stdout(&runtape.run(&["export", "last"])).lines().count(),
        clean
    );
    let verified = runtape.json(&["verify"]).remove(0);
    assert_eq!(verified["faults"].as_array().unwrap().len(), 0);
    assert_eq!(verified["removals"][0]["reason"], "redacted");
    let shown = runtape.json(&["show", "last"]).remove(0);
    assert_eq!(shown["redaction"]["tier"], "definite");
    for planted in &planted {
        assert!(
            shown["redaction"]["byRule"][&planted.rule].as_u64() >= Some(4),
            "{}",
            planted.rule
        );
    }
    let again = runtape.run(&["scan"]);
    assert!(
        again.status.success(),
        "{}{}",
        stdout(&again),
        stderr(&again)
    );
    let again = runtape.json(&["redact", "--all", "--yes"]);
    assert_eq!(again.last().unwrap()["changed"], 0);
    // The tape is what was kept: reading it again gives the same records.
    let read = runtape.json(&["renormalize", "--all"]);
    assert!(
        read.iter()
            .all(|run| run["changed"] == 0 && run["added"] == 0 && run["removed"] == 0)
    );
}

#[test]
fn a_run_whose_tape_was_dropped_has_its_records_filtered() {
    let planted = few();
    let runtape = unfiltered(&planted);
    assert_ok(&runtape.run(&["gc", "--tapes-before", "2100-01-01"]));
    let scanned = runtape.run(&["scan", "last"]);
    assert_eq!(scanned.status.code(), Some(3), "{}", stderr(&scanned));
    assert_ok(&runtape.run(&["redact", "last", "--yes"]));
    assert_eq!(found_below(runtape.directory.path(), &planted), 0);
    let verified = runtape.run(&["verify"]);
    assert!(
        verified.status.success(),
        "{}{}",
        stdout(&verified),
        stderr(&verified)
    );
    assert!(runtape.run(&["scan", "last"]).status.success());
}

#[test]
fn what_is_imported_is_filtered_unless_somebody_says_otherwise() {
    let planted = few();
    let from = unfiltered(&planted);
    let outside = TempDir::new().unwrap();
    let path = |name: &str| outside.path().join(name).to_str().unwrap().to_owned();
    let shown = from.json(&["show", "last"]).remove(0);
    let job = shown["jobId"].as_str().unwrap();
    let (lines, events, bundle, trees) =
        (path("lines"), path("events"), path("bundle"), path("trees"));
    assert_ok(&from.run(&["export", "last", "-o", &lines]));
    assert_ok(&from.run(&["export", "last", "--as", "events", "-o", &events]));
    let written = from.json(&["export", "last", "--format", "bundle", "-o", &bundle]);
    assert_eq!(written[0]["redaction"][0]["tier"], "off");
    assert_ok(&from.run(&["export", "--format", "perstack", "--job", job, &trees]));
    for what in [&lines, &events, &bundle, &trees] {
        let to = Runtape::new();
        assert_ok(&to.run(&["import", what]));
        assert_clean(to.directory.path(), &planted);
        let again = to.run(&["import", what]);
        assert!(
            stderr(&again).contains("1 known already"),
            "{what}: {}",
            stderr(&again)
        );
        assert_clean(to.directory.path(), &planted);
        assert!(to.run(&["scan"]).status.success(), "{what}");
        assert_nothing_said(&to, &planted);
        let shown = to.json(&["show", "last"]).remove(0);
        assert_eq!(shown["redaction"]["tier"], "definite", "{what}: {shown}");
        assert!(shown["redaction"]["byRule"].is_object(), "{what}: {shown}");

        let as_it_is = Runtape::new();
        assert_ok(&as_it_is.run(&["import", "--redact=off", what]));
        assert_eq!(as_it_is.run(&["scan"]).status.code(), Some(3), "{what}");
    }
    // What has none keeps its proof.
    let run = from.json(&["runs"]);
    let clean = run
        .iter()
        .find(|run| run["runId"] != shown["runId"])
        .unwrap();
    let clean = clean["runId"].as_str().unwrap();
    let bundle = path("clean-bundle");
    assert_ok(&from.run(&["export", clean, "--format", "bundle", "-o", &bundle]));
    let to = Runtape::new();
    assert_ok(&to.run(&["import", &bundle]));
    let origin = to.json(&["show", clean]).remove(0)["origin"].clone();
    assert_eq!(origin["isVerified"], true, "{origin}");
    let raw = |runtape: &Runtape| runtape.run(&["raw", clean]).stdout;
    assert_eq!(raw(&from), raw(&to));
}
