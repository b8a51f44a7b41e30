//! Trees that Perstack wrote, of every version, and trees that are not as they should be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{Materializer, RunId};
use runtape_store::RunFilter;
use serde_json::{Value, json};

use super::checker::Checker;
use super::{contents, corpus, held, records_of, shape};
use crate::harness::{Runtape, fixtures, stderr};

fn vintage(name: &str) -> PathBuf {
    fixtures().join("perstack").join(name)
}

/// Copies a tree, so that it can be changed.
fn copy(from: &Path, to: &Path) {
    for (path, text) in contents(from) {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Returns a run's last checkpoint and the types of its events.
fn rebuilt(runtape: &Runtape, run: &str) -> (Value, Vec<String>) {
    let mut materializer = Materializer::new();
    let mut tags = Vec::new();
    let run = RunId::parse(run).unwrap();
    for record in runtape.store().records(&run, 0, usize::MAX).unwrap() {
        let events = materializer.push(&record).unwrap();
        tags.extend(events.iter().map(|event| event.tag().to_owned()));
    }
    let checkpoint = serde_json::to_value(materializer.checkpoint()).unwrap();
    (checkpoint, tags)
}

fn imported(name: &str) -> (Runtape, BTreeMap<String, Value>) {
    let runtape = Runtape::new();
    let tree = vintage(name);
    let said = runtape.json(&["import", "--format", "perstack", tree.to_str().unwrap()]);
    let runs = said.into_iter().filter(|line| line.get("runId").is_some());
    let runs = runs
        .map(|run| (run["runId"].as_str().unwrap().to_owned(), run))
        .collect();
    runtape.ok(&["verify"]);
    (runtape, runs)
}

#[test]
fn a_tree_of_the_seeds_time_is_read() {
    let (runtape, runs) = imported("seed");
    assert_eq!(runs.len(), 4);
    assert!(
        runs.values()
            .all(|run| run["vintage"] == "seed" && run["outcome"] == "stored")
    );
    assert_eq!(runs["run-a"]["children"], 1);

    // The parent waits; the child finds it although it names only the checkpoint.
    let (parent, _) = rebuilt(&runtape, "run-a");
    assert_eq!(parent["status"], "stoppedByDelegate");
    assert_eq!(parent["pendingToolCalls"][0]["id"], "call-1");
    assert_eq!(parent["metadata"]["perstack"]["checkpointId"], "cp-a1");
    let (child, tags) = rebuilt(&runtape, "run-b");
    assert_eq!(child["delegatedBy"]["runId"], "run-a");
    assert_eq!(child["delegatedBy"]["checkpointId"], parent["id"]);
    assert_eq!(child["stepNumber"], 2);
    // What it used itself, not what the job had used.
    assert_eq!(child["usage"]["inputTokens"], 110);
    assert_eq!(tags.last().unwrap(), "completeRun");

    // The parent's other half begins with all that was said before, and calls nothing again.
    let (resumed, tags) = rebuilt(&runtape, "run-c");
    assert_eq!(resumed["messages"].as_array().unwrap().len(), 5);
    assert_eq!(resumed["usage"]["inputTokens"], 120);
    assert!(!tags.iter().any(|tag| tag == "callTools"), "{tags:?}");
    let calls = runtape.json(&["tools", "--calls", "--limit", "0"]);
    assert_eq!(
        calls
            .iter()
            .filter(|call| call["tool"] == "counter")
            .count(),
        1
    );

    // The first adapters' messages had no id, and their tokens were never counted.
    let (external, _) = rebuilt(&runtape, "run-x");
    assert_eq!(external["metadata"]["runtime"], "cursor");
    assert_eq!(
        external["messages"][0]["contents"][0]["text"],
        "Hello World"
    );
    assert_eq!(
        external["metadata"]["usageUnknown"]
            .as_array()
            .unwrap()
            .len(),
        5
    );

    let (early, _) = rebuilt(&runtape, "run-e");
    assert_eq!(
        (&early["stepNumber"], &early["status"]),
        (&json!(2), &json!("completed"))
    );
    // Checkpoints of that time have theirs in the name.
    assert_eq!(early["metadata"]["timeSource"], Value::Null);
    let records = runtape.json(&["events", "run-e", "--as", "records"]);
    let times = records
        .iter()
        .filter(|record| record["type"] == "checkpoint");
    let times: Vec<&Value> = times.map(|record| &record["at"]).collect();
    assert_eq!(
        times,
        [&json!(1_765_324_800_001_i64), &json!(1_765_324_800_002_i64)]
    );
}

#[test]
fn a_files_date_is_taken_only_where_nothing_else_tells_the_time() {
    let (runtape, _) = imported("epic");
    let (dated, _) = rebuilt(&runtape, "run-g");
    assert_eq!(dated["metadata"]["timeSource"], "file");
    let (told, _) = rebuilt(&runtape, "run-1");
    assert_eq!(told["metadata"]["timeSource"], Value::Null);

    // With a job's own file, its times bound those of the steps.
    let runtape = Runtape::new();
    let tree = runtape.path("tree");
    copy(&vintage("epic"), &tree);
    let job = json!({"id": "epic-crashed", "status": "stoppedByError", "totalSteps": 1,
        "coordinatorExpertKey": "gemini-expert", "startedAt": 1_765_500_000_000_i64,
        "finishedAt": 1_765_500_009_000_i64, "usage": {"inputTokens": 0, "outputTokens": 0,
        "reasoningTokens": 0, "totalTokens": 0, "cachedInputTokens": 0}});
    let path = tree.join("perstack/jobs/epic-crashed/job.json");
    fs::write(path, serde_json::to_string_pretty(&job).unwrap()).unwrap();
    let output = runtape.import(&tree);
    assert!(output.status.success(), "{}", stderr(&output));
    let (told, _) = rebuilt(&runtape, "run-g");
    assert_eq!(told["metadata"]["timeSource"], Value::Null);
    let records = runtape.json(&["events", "run-g", "--as", "records"]);
    assert_eq!(records[0]["at"], 1_765_500_000_000_i64);
    assert_eq!(records.last().unwrap()["at"], 1_765_500_009_000_i64);
}

#[test]
fn results_of_perstacks_own_tools_that_say_they_failed_are_failures() {
    let said = "error: no rule\"}],\"isError\":true";
    let failed = "{\\\"error\\\":\\\"no rule\\\",\\\"command\\\":\\\"make\\\"}\"}]";
    for (runtime, expected) in [("docker", json!(true)), ("gemini", Value::Null)] {
        let runtape = Runtape::new();
        let tree = runtape.path("tree");
        copy(&vintage("head"), &tree);
        let mut changed = 0;
        for (path, text) in contents(&tree) {
            let native = "\"runtime\":\"docker\"";
            let other = text
                .replace(said, failed)
                .replace(native, &format!("\"runtime\":\"{runtime}\""));
            changed += usize::from(other != text && text.contains(said));
            fs::write(tree.join(path), other).unwrap();
        }
        assert!(changed > 2, "{changed}");
        let output = runtape.import(&tree);
        assert!(output.status.success(), "{}", stderr(&output));
        let (imported, _) = rebuilt(&runtape, "run-1");
        let results = &imported["messages"][3]["contents"];
        assert_eq!(results[0]["toolCallId"], "call-1");
        assert_eq!(results[0]["isError"], expected, "{runtime}");
        assert_eq!(results[1]["isError"], Value::Null);
    }
}

#[test]
fn what_perstack_hands_on_to_a_run_it_continues_is_not_taken_for_that_runs() {
    let (runtape, _) = imported("head");
    let tree = runtape.export_all("again");
    let checkpoints = || {
        let files = contents(&tree).into_iter();
        let files = files.filter(|(path, _)| path.to_str().unwrap().contains("/checkpoints/"));
        files.map(|(path, text)| (path, serde_json::from_str::<Value>(&text).unwrap()))
    };
    let of_run = |run: &'static str| checkpoints().filter(move |(_, value)| value["runId"] == run);
    let (_, before) = of_run("run-1").next_back().unwrap();
    assert!(
        before["metadata"]["runtape"]["ledger"].is_array(),
        "{before}"
    );
    let mut changed = 0;
    for (path, mut value) in of_run("run-2") {
        value["metadata"]["runtape"] = before["metadata"]["runtape"].clone();
        fs::write(tree.join(path), value.to_string()).unwrap();
        changed += 1;
    }
    assert_eq!(changed, 1);
    let other = Runtape::new();
    let output = other.import(&tree);
    assert!(output.status.success(), "{}", stderr(&output));
    let (here, there) = (rebuilt(&runtape, "run-2").0, rebuilt(&other, "run-2").0);
    assert_eq!(here["usage"], there["usage"]);
    assert_eq!(here["messages"], there["messages"]);
}

#[test]
fn what_perstack_writes_again_comes_back_whole() {
    let (runtape, tree) = corpus();
    let other = Runtape::new();
    let copied = other.path("tree");
    copy(tree, &copied);
    let mut rewritten_files = 0;
    for (path, text) in contents(&copied) {
        if path.to_str().unwrap().contains("/checkpoints/") {
            let value: Value = serde_json::from_str(&text).unwrap();
            let kept = shape::rewritten(&value, shape::CHECKPOINT);
            rewritten_files += usize::from(kept != value);
            fs::write(copied.join(path), kept.to_string()).unwrap();
        }
    }
    assert!(rewritten_files > 300, "{rewritten_files}");
    let output = other.import(&copied);
    assert!(output.status.success(), "{}", stderr(&output));
    let (here, there) = (runtape.store(), other.store());
    let mut filter = RunFilter::default();
    filter.roots_only = true;
    for run in here.runs(&filter, None, u32::MAX as usize).unwrap().items {
        assert_eq!(
            held(&records_of(&here, &run.run_id)),
            held(&records_of(&there, &run.run_id)),
            "{}",
            run.run_id
        );
    }
}

#[test]
fn a_tree_of_the_epics_time_is_read() {
    let (runtape, runs) = imported("epic");
    assert_eq!(runs["run-1"]["vintage"], "epic");
    let (native, _) = rebuilt(&runtape, "run-1");
    assert_eq!(native["metadata"]["runtime"], "local");
    assert_eq!(native["usage"]["cachedInputTokens"], 4);
    // A run that never ended did not complete, and its orphaned result is marked.
    let (crashed, tags) = rebuilt(&runtape, "run-g");
    assert_eq!(crashed["error"]["name"], "Unfinished");
    assert_eq!(tags.last().unwrap(), "stopRunByError");
    let records = runtape.json(&["events", "run-g", "--as", "records"]);
    let orphan = records
        .iter()
        .find(|record| record["type"] == "message")
        .unwrap();
    assert_eq!(orphan["results"][0]["unmatched"], true);
}

#[test]
fn a_tree_of_the_latest_version_is_read() {
    let (runtape, runs) = imported("head");
    assert_eq!(runs.len(), 3);
    assert!(runs.values().all(|run| run["vintage"] == "head"));
    let (failed, tags) = rebuilt(&runtape, "run-1");
    assert_eq!(failed["error"]["statusCode"], 529);
    assert_eq!(failed["messages"][2]["contents"][0]["signature"], "sig");
    assert_eq!(failed["metadata"]["runtime"], "docker");
    assert_eq!(failed["metadata"]["workspace"], "/w");
    assert!(tags.iter().any(|tag| tag == "apiRetry"), "{tags:?}");
    let (resumed, tags) = rebuilt(&runtape, "run-2");
    assert_eq!(resumed["messages"].as_array().unwrap().len(), 6);
    let kept = &resumed["metadata"]["perstack"];
    assert_eq!(kept["contextWindow"], 200_000);
    assert_eq!(kept["totalTokens"], 999);
    assert_eq!(
        tags.iter().filter(|tag| *tag == "startGeneration").count(),
        1
    );
    let (external, _) = rebuilt(&runtape, "run-c");
    assert_eq!(
        external["metadata"]["usageUnknown"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[test]
fn trees_of_every_version_can_be_written_again() {
    for name in ["seed", "epic", "head"] {
        let (runtape, _) = imported(name);
        let tree = runtape.export_all("again");
        let checker = Checker::check(&tree);
        assert_eq!(checker.found, Vec::<String>::new(), "{name}");
        let other = Runtape::new();
        let output = other.import(&tree);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(
            contents(&tree),
            contents(&other.export_all("again")),
            "{name}"
        );
    }
    // What only Perstack's checkpoints have a place for is back in it.
    let (runtape, _) = imported("head");
    let tree = runtape.export_all("again");
    let texts = contents(&tree).into_values();
    let values = texts.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let failed = values
        .filter(|value| value["retryCount"] == 3)
        .collect::<Vec<_>>();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["contextWindow"], 200_000);
}

#[test]
fn every_file_that_is_not_valid_is_named_with_the_reason() {
    let runtape = Runtape::new();
    let tree = runtape.path("tree");
    copy(&vintage("broken"), &tree);
    let output = runtape.import(&tree);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    let expected = [
        ("climbs.json", "/runId: invalid run id"),
        ("cut.json", "not JSON"),
        (
            "no-counter.json",
            "/usage: missing field `cachedInputTokens`",
        ),
        (
            "no-parent.json",
            "/delegatedBy: no runId, and checkpoint \"gone\" is not in this job",
        ),
        ("null-error.json", "/error: expected object, found null"),
        ("other-job.json", "/jobId: \"elsewhere\" does not fit"),
        ("other-name.json", "/id: \"another\" does not fit"),
        ("status.json", "/status: expected one of"),
        (
            "text-is-a-list.json",
            "/contents/0/text: expected string, found array",
        ),
        ("job.json", "/status: expected one of"),
        ("1-streamHologram.json", "unknown type \"streamHologram\""),
        ("1-callTools.json", "/toolCalls/0/args"),
        (
            "event-1766950000008-1-startRun.json",
            "/type: \"completeRun\" does not fit",
        ),
        (
            "event-soon-1-startRun.json",
            "its name is not event-<timestamp>-<step>-<type>.json",
        ),
        ("run-setting.json", "/runId: \"run-9\" is not \"run-1\""),
        ("run-3/event-1-1-startRun.json", "/runId: expected string"),
        ("runs/run-2", "no file of this run can be read"),
        ("runs/run-3", "no file of this run can be read"),
        (
            "two.json",
            "/status: the run has ended with an earlier step",
        ),
        (
            "four.json",
            "/messages: they do not go on from the step before",
        ),
        ("runs/run-5", "the runs that called it were called by it"),
        ("runs/run-6", "the runs that called it were called by it"),
    ];
    let faults: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("runtape: /"))
        .collect();
    for (file, reason) in expected {
        let is_named = |line: &&&str| line.contains(&format!("{file}: ")) && line.contains(reason);
        assert!(
            faults.iter().any(|line| is_named(&line)),
            "{file}: {reason} in\n{said}"
        );
    }
    assert_eq!(faults.len(), expected.len(), "{said}");
    assert!(said.contains("1 other file ignored"), "{said}");
    // The rest is there.
    let runs = runtape.json(&["runs", "--limit", "0"]);
    let mut ids: Vec<&str> = runs
        .iter()
        .map(|run| run["runId"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["run-1", "run-7", "run-8"]);
    runtape.ok(&["verify"]);
}

#[test]
fn a_run_that_is_stored_with_other_content_is_left_as_it_is() {
    let (runtape, _) = imported("epic");
    let tree = runtape.path("tree");
    copy(&vintage("epic"), &tree);
    let path = tree.join("perstack/jobs/epic-native/checkpoints/cp-1.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("Hello.", "Goodbye.")).unwrap();
    let output = runtape.import(&tree);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("run run-1 is stored with other content"),
        "{}",
        stderr(&output)
    );
    let (kept, _) = rebuilt(&runtape, "run-1");
    assert_eq!(kept["messages"][1]["contents"][0]["text"], "Hello.");
}

#[test]
fn a_checkpoint_whose_file_is_lost_is_found_in_its_event() {
    for (damage, code) in [
        ("{\"id\":\"cp", 3),
        ("{\"id\":\"cp-1\",\"jobId\":\"epic-native\"}", 3),
        ("", 0),
    ] {
        let runtape = Runtape::new();
        let tree = runtape.path("tree");
        copy(&vintage("epic"), &tree);
        let path = tree.join("perstack/jobs/epic-native/checkpoints/cp-1.json");
        if damage.is_empty() {
            fs::remove_file(&path).unwrap();
        } else {
            fs::write(&path, damage).unwrap();
        }
        let output = runtape.import(&tree);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("cp-1.json: "), code == 3);
        let (found, tags) = rebuilt(&runtape, "run-1");
        assert_eq!(found["messages"][1]["contents"][0]["text"], "Hello.");
        assert_eq!(tags.last().unwrap(), "completeRun");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let runtape = Runtape::new();
    let tree = runtape.path("tree");
    copy(&vintage("epic"), &tree);
    let job = tree.join("perstack/jobs/epic-native");
    let secret = runtape.path("secret.json");
    fs::rename(job.join("checkpoints/cp-1.json"), &secret).unwrap();
    symlink(&secret, job.join("checkpoints/cp-1.json")).unwrap();
    symlink(
        runtape.directory.path(),
        tree.join("perstack/jobs/elsewhere"),
    )
    .unwrap();
    symlink("nowhere", job.join("runs/run\n9")).unwrap();
    let output = runtape.import(&tree);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert_eq!(
        said.matches("it is a symbolic link, which is not followed")
            .count(),
        3,
        "{said}"
    );
    assert!(said.contains("runs/run 9: it is a symbolic link"), "{said}");
    // And neither when writing.
    let (other, _) = imported("epic");
    let base = other.path("out");
    fs::create_dir_all(base.join("perstack/jobs")).unwrap();
    symlink(other.path("gone"), base.join("perstack/jobs/epic-native")).unwrap();
    let export = [
        "export",
        "--format",
        "perstack",
        "--job",
        "epic-native",
        base.to_str().unwrap(),
    ];
    assert_eq!(other.run(&export).status.code(), Some(1));
    assert!(!other.path("gone").exists());
}

#[test]
fn a_directory_without_a_tree_is_no_success() {
    let runtape = Runtape::new();
    let empty = runtape.path("empty");
    fs::create_dir(&empty).unwrap();
    let output = runtape.import(&empty);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("holds no perstack/jobs directory"),
        "{}",
        stderr(&output)
    );
    // Any directory on the way to a job will do.
    for (below, runs) in [
        ("perstack", 3),
        ("perstack/jobs", 3),
        ("perstack/jobs/head-native", 2),
    ] {
        let runtape = Runtape::new();
        runtape.ok(&["import", vintage("head").join(below).to_str().unwrap()]);
        assert_eq!(
            runtape.json(&["runs", "--limit", "0"]).len(),
            runs,
            "{below}"
        );
    }
}

#[test]
fn trees_beside_captures_are_not_taken_for_captures() {
    let runtape = Runtape::new();
    let output = runtape.run(&["ingest", fixtures().join("perstack").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("nothing to ingest"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn messages_that_were_given_are_told_from_messages_that_were_said() {
    let (runtape, _) = imported("head");
    let run = RunId::parse("run-2").unwrap();
    let records = runtape.store().records(&run, 0, usize::MAX).unwrap();
    let summary = runtape_core::summarize(&records).unwrap();
    assert_eq!(summary.texts, ["It builds now."]);
    assert!(summary.tool_calls.is_empty());
    let mut materializer = Materializer::new();
    let events = records
        .iter()
        .flat_map(|record| materializer.push(record).unwrap());
    let start = events
        .into_iter()
        .find(|event| event.tag() == "startRun")
        .unwrap();
    let start = serde_json::to_value(start).unwrap();
    // What was answered before the user went on belongs to what the run was given.
    assert_eq!(
        start["initialCheckpoint"]["messages"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let given = start["inputMessages"].as_array().unwrap();
    let types: Vec<&str> = given
        .iter()
        .map(|message| message["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["toolMessage", "userMessage"]);
}
