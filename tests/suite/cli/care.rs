//! `gc`, `renormalize` and `rebuild`: what is given up is gone, and nothing else is.

use std::fs;

use runtape_store::{Options, Store};
use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

fn record(runtape: &Runtape, run: &str, body: &str) {
    let script = runtape.script("hermes", body);
    runtape.run(&["record", "--run-id", run, "--", &script]);
    let shown = runtape.json(&["show", run]);
    assert_eq!(shown.len(), 1, "{run} was not recorded");
}

fn open(runtape: &Runtape) -> Store {
    Store::open(runtape.path("runtape.db"), &Options::default()).unwrap()
}

/// Returns all that is said of the runs, but for the seals.
fn runs(runtape: &Runtape) -> Vec<Value> {
    let mut runs = runtape.json(&["runs", "--limit", "0"]);
    for run in &mut runs {
        run.as_object_mut().unwrap().remove("seal");
    }
    runs
}

type Case<'a> = (&'a Runtape, &'a [(&'a str, &'a str)], &'a str);

#[test]
fn renormalize_leaves_what_it_cannot_make_again_and_says_so() {
    let runtape = Runtape::new();
    record(&runtape, "answered", "echo hello");
    // Nothing but an error: no message that would tell that something was lost.
    record(&runtape, "failed", "echo boom >&2; exit 3");
    let dropped = runtape.run(&["gc", "--tapes-before", "2100-01-01"]);
    assert!(dropped.status.success(), "{}", stderr(&dropped));
    // From here on the tapes stay. One run printed nothing at all, which is no dropped tape.
    record(&runtape, "sound", "echo hello");
    record(&runtape, "silent", "exit 1");
    let lines = runtape.path("lines");
    let exported = runtape.run(&["export", "sound", "-o", lines.to_str().unwrap()]);
    assert!(exported.status.success(), "{}", stderr(&exported));

    // A run that came as records, and one whose tape lacks its end.
    let other = Runtape::new();
    let imported = other.run(&["import", lines.to_str().unwrap()]);
    assert!(imported.status.success(), "{}", stderr(&imported));
    record(&other, "whole", "echo hello; echo world");
    let mut to = open(&other);
    let (whole, cut) = ("whole".parse().unwrap(), "cut".parse().unwrap());
    let mut begin = to.begin_of(&whole).unwrap();
    begin.run_id = cut;
    let mut records = to.records(&whole, 0, usize::MAX).unwrap();
    for record in &mut records {
        record.run_id = begin.run_id.clone();
    }
    let mut tape = to.tape(&whole).unwrap();
    tape.last_mut().unwrap().bytes.pop();
    to.begin_run(&begin).unwrap();
    to.append(&begin.run_id, &records, &tape).unwrap();
    to.finish_run(&begin.run_id, &serde_json::json!({"code": 0}), 1)
        .unwrap();
    drop(to);

    let cases: [Case<'_>; 2] = [
        (
            &runtape,
            &[
                ("answered", "its tape was dropped"),
                ("failed", "its tape was dropped"),
            ],
            "2 runs read again, 0 replaced\n\
             runtape: 2 of 4 could not be read again, and are as they were\n",
        ),
        (
            &other,
            &[
                ("sound", "it came as records, without a tape"),
                ("cut", "the tape ends at"),
            ],
            "1 run read again, 0 replaced\n\
             runtape: 2 of 3 could not be read again, and are as they were\n",
        ),
    ];
    for (runtape, refused, expected) in cases {
        let before = runs(runtape);
        let output = runtape.run(&["renormalize", "--all"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.ends_with(expected), "{said}");
        for (run, reason) in refused {
            let named =
                |line: &str| line.contains(&format!("run {run}: ")) && line.contains(reason);
            assert!(said.lines().any(named), "{run}: {said}");
            // The library refuses it by itself.
            let id = run.parse().unwrap();
            let error = runtape_recorder::renormalize(&mut open(runtape), &id, 1).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
        assert_eq!(runs(runtape), before);
    }
}

#[test]
fn what_gc_deletes_leaves_no_spool_file_behind() {
    let runtape = Runtape::new();
    for run in ["gone", "kept"] {
        record(&runtape, run, "echo hello");
        let spool = runtape.path(&format!("{run}.runtape-spool"));
        fs::write(spool, "{}\nQzplantedinspool\n").unwrap();
    }
    let done = &runtape.json(&["gc", "--run", "gone"])[0];
    assert_eq!(done["isErased"], true, "{done}");
    assert!(!runtape.path("gone.runtape-spool").exists());
    assert!(runtape.path("kept.runtape-spool").exists());
}

#[test]
fn gc_goes_on_after_a_run_it_may_not_delete_and_tells_what_it_could_not_erase() {
    let runtape = Runtape::new();
    for run in ["first", "second", "third"] {
        record(&runtape, run, "echo hello");
    }
    let mut holder = open(&runtape);
    holder.resume_run(&"second".parse().unwrap()).unwrap();
    let all = ["--runs-before", "2100-01-01"];
    let output = runtape.run(&[&["gc"], &all[..]].concat());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("run second: run second is being written"),
        "{said}"
    );
    assert!(said.contains("1 of 3 could not be given up"), "{said}");
    assert!(stdout(&output).starts_with("2 runs deleted"), "{output:?}");
    drop(holder);

    let reader = open(&runtape);
    let mut output = None;
    reader
        .each_record(&"second".parse().unwrap(), 0, |_| {
            output = Some(runtape.run(&[&["--json", "gc"], &all[..]].concat()));
            false
        })
        .unwrap();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("may still be in the files"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["isErased"], false, "{report}");
    assert_eq!(report["deletedRuns"], serde_json::json!(["second"]));
    assert_eq!(runtape.json(&["gc"])[0]["isErased"], true);
}

#[test]
fn rebuild_names_what_it_refuses_and_does_the_others() {
    let runtape = Runtape::new();
    let file = capture();
    let ingested = runtape.run(&["ingest", "--exit-code", "0", file.to_str().unwrap()]);
    assert!(ingested.status.success(), "{}", stderr(&ingested));
    record(&runtape, "held", "echo hello");
    let before = runs(&runtape);
    let mut holder = open(&runtape);
    holder.resume_run(&"held".parse().unwrap()).unwrap();
    let output = runtape.run(&["rebuild", "--all"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("run held: run held is being written"),
        "{said}"
    );
    assert!(
        said.contains("1 run rebuilt\nruntape: 1 of 2 could not be rebuilt"),
        "{said}"
    );
    drop(holder);
    let rebuilt = &runtape.json(&["rebuild", "held"])[0];
    assert_eq!(rebuilt["runId"], "held");
    assert_eq!(runtape.json(&["rebuild", "--all"]).len(), 2);
    assert_eq!(runs(&runtape), before);
    assert!(runtape.run(&["verify"]).status.success());
    assert_eq!(runtape.run(&["rebuild"]).status.code(), Some(2));
    assert_eq!(runtape.run(&["rebuild", "nobody"]).status.code(), Some(1));
}
