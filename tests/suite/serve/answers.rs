//! What the API answers: the same as the commands, and as the schemas say.

use runtape_schemas::{SchemaKind, Validator};
use serde_json::{Value, json};

use crate::harness::{Runtape, stderr};
use crate::server::Server;

fn assert_fits(value: &Value, kind: SchemaKind, asked: &str) {
    let verdict = Validator::for_kind(kind).validate(value);
    assert!(
        verdict.is_valid(),
        "{asked} is no {kind}: {:#?}\n{value}",
        verdict.faults()
    );
}

/// Takes away what the API adds to what the command prints.
fn without(mut value: Value, added: &[&str]) -> Value {
    let fields = value.as_object_mut().unwrap();
    for name in added {
        fields.shift_remove(*name);
    }
    value
}

#[test]
fn lists_are_what_the_commands_print() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    for (path, command, kind) in [
        ("runs", "runs", SchemaKind::RunInfo),
        ("runs?children=1", "runs --children", SchemaKind::RunInfo),
        (
            "runs?outcome=failed&runtime=codex",
            "runs --outcome failed --runtime codex",
            SchemaKind::RunInfo,
        ),
        ("jobs", "jobs", SchemaKind::JobInfo),
        ("search?q=the", "search the", SchemaKind::SearchHit),
        ("usage", "usage", SchemaKind::UsageGroup),
        (
            "usage?by=day,model",
            "usage --by day,model",
            SchemaKind::UsageGroup,
        ),
        ("tools", "tools", SchemaKind::ToolUse),
        (
            "tools?calls=1&class=shell",
            "tools --calls --class shell",
            SchemaKind::ToolCallInfo,
        ),
        (
            "tools?calls=1&failed=1",
            "tools --calls --failed",
            SchemaKind::ToolCallInfo,
        ),
        ("files", "files", SchemaKind::FileUse),
        ("files?written=1", "files --written", SchemaKind::FileUse),
        ("commands", "commands", SchemaKind::ToolCallInfo),
        (
            "commands?failed=1",
            "commands --failed",
            SchemaKind::ToolCallInfo,
        ),
        ("network", "network", SchemaKind::HostUse),
        (
            "network?calls=1",
            "network --calls",
            SchemaKind::NetworkCall,
        ),
        ("errors", "errors", SchemaKind::RunInfo),
        ("notices", "notices", SchemaKind::NoticeInfo),
        ("drift", "drift", SchemaKind::Drift),
    ] {
        let command: Vec<&str> = command.split(' ').chain(["--limit", "0"]).collect();
        let mut printed = runtape.json(&command);
        assert!(!printed.is_empty(), "{command:?}");
        for limit in [7, 500] {
            let mut items = server.all(path, limit);
            for item in &items {
                assert_fits(item, kind, path);
            }
            if path.starts_with("search") {
                // How good a hit is depends on what is indexed; equally good ones have no order.
                for hit in items.iter_mut().chain(&mut printed) {
                    *hit = json!([hit["runId"], hit["seq"]]);
                }
                items.sort_by_key(ToString::to_string);
                printed.sort_by_key(ToString::to_string);
                assert_eq!(items, printed);
                break;
            }
            assert_eq!(items.len(), printed.len(), "{path}, {limit} at a time");
            assert_eq!(items, printed, "{path}, {limit} at a time");
        }
    }
}

#[test]
fn every_run_is_told_as_the_commands_tell_it() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let runs = server.all("runs?children=1", 500);
    assert!(runs.len() > 50);
    // Every fourth is checked against the schemas, and of those every tenth compared with the commands.
    for (number, run) in runs.iter().step_by(4).enumerate() {
        let id = run["runId"].as_str().unwrap();
        let detail = server.api(&format!("runs/{id}"));
        assert_fits(&detail, SchemaKind::RunDetail, id);
        for member in server.api(&format!("runs/{id}/tree"))["items"]
            .as_array()
            .unwrap()
        {
            assert_fits(member, SchemaKind::RunInfo, id);
        }
        let entries = server.all(&format!("runs/{id}/transcript"), 40);
        for entry in &entries {
            assert_fits(entry, SchemaKind::TranscriptEntry, id);
        }
        let events = server.all(&format!("runs/{id}/events"), 50);
        for event in &events {
            assert_fits(event, SchemaKind::Event, id);
        }
        let records = run["records"].as_u64().unwrap();
        for seq in [0, records / 2, records - 1] {
            let record = server.api(&format!("runs/{id}/records/{seq}"));
            assert_fits(&record, SchemaKind::Record, id);
            let raw = server.get(&format!("/api/v1/runs/{id}/raw?seq={seq}"));
            if raw.status == 200 {
                assert_fits(&raw.json(), SchemaKind::RawOutput, id);
            } else {
                assert_eq!(raw.status, 404);
                assert!(
                    raw.json()["detail"]
                        .as_str()
                        .unwrap()
                        .contains("no output stands behind")
                );
            }
        }
        if number % 10 != 0 {
            continue;
        }
        let is_cut = |values: &[Value]| values.iter().any(|value| value.get("cutTexts").is_some());
        if detail.get("cutTexts").is_none() {
            let shown = runtape.json(&["show", id]);
            assert_eq!(detail, shown[0]);
        }
        if !is_cut(&entries) {
            let added = ["seq", "index", "step"];
            let entries: Vec<Value> = entries
                .into_iter()
                .map(|entry| without(entry, &added))
                .collect();
            assert_eq!(entries, runtape.json(&["transcript", id]), "{id}");
        }
        if !is_cut(&events) {
            assert_eq!(events, runtape.json(&["events", id]), "{id}");
        }
    }
}

#[test]
fn steps_jobs_head_and_verify_are_answered() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let runs = server.all("runs", 500);
    let longest = runs.iter().max_by_key(|run| run["steps"].as_u64()).unwrap();
    let id = longest["runId"].as_str().unwrap();
    let steps = server.all(&format!("runs/{id}/steps"), 2);
    assert_eq!(steps.len() as u64, longest["steps"].as_u64().unwrap());
    assert_eq!(
        Value::Array(steps),
        server.api(&format!("runs/{id}"))["stepsEnded"]
    );
    let job = longest["jobId"].as_str().unwrap();
    assert_fits(
        &server.api(&format!("jobs/{job}")),
        SchemaKind::JobInfo,
        job,
    );
    let head = server.api("head");
    let token = format!("Bearer {}", server.token);
    let report = server
        .request("POST", "/api/v1/verify", &[("Authorization", &token)])
        .json();
    assert_fits(&report, SchemaKind::VerifyReport, "verify");
    assert_eq!(report["head"], head["head"]);
    assert_eq!(report["faults"], json!([]));
    assert_eq!(server.api("openapi.json")["openapi"], "3.1.0");
    assert_eq!(server.api("runs/last")["runId"], runs[0]["runId"]);
}

#[test]
fn errors_are_said_in_the_words_of_the_command_line() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let last = server.api("runs/last")["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    for (path, status, command) in [
        ("runs/nobody".to_owned(), 404, vec!["show", "nobody"]),
        (
            "runs/nobody/transcript".to_owned(),
            404,
            vec!["show", "nobody"],
        ),
        (
            format!("runs/{last}/records/99999"),
            404,
            vec!["raw", "last:99999"],
        ),
        (format!("runs/{last}/raw?seq=0"), 404, vec!["raw", "last:0"]),
        (
            "usage?by=day,day".to_owned(),
            400,
            vec!["usage", "--by", "day,day"],
        ),
    ] {
        let answer = server.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, status, "{path}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        let said = stderr(&runtape.run(&command));
        // A parameter has no dashes, and its example is another one.
        let words = detail.split(", like").next().unwrap();
        let said_without_dashes = said.replace("--by", "by");
        assert!(
            said_without_dashes.contains(words),
            "{detail:?} and {said:?}"
        );
    }
}

#[test]
fn long_texts_are_cut_and_the_rest_is_linked() {
    let runtape = Runtape::new();
    let text = "long é ".repeat(300_000);
    let line = json!({"type": "assistant", "message": {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}, "session_id": "s"});
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "s", "num_turns": 1, "duration_ms": 1});
    let init = json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/x", "tools": []});
    let lines = runtape.path("lines");
    std::fs::write(&lines, format!("{init}\n{line}\n{result}\n")).unwrap();
    let agent = runtape.script("claude", &format!("cat '{}'", lines.display()));
    let command =
        "record --runtime claude-code -- AGENT -p say --output-format stream-json --verbose";
    let command = command
        .split(' ')
        .map(|word| if word == "AGENT" { &agent } else { word });
    let output = runtape.run(&command.collect::<Vec<_>>());
    assert!(output.status.success(), "{}", stderr(&output));
    let server = Server::start(&runtape, &[]);
    let page = server.get("/api/v1/runs/last/transcript");
    assert!(page.body.len() < 100_000, "{}", page.body.len());
    let entries = page.json();
    let entry = entries["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["kind"] == "assistant")
        .unwrap();
    assert_fits(entry, SchemaKind::TranscriptEntry, "a long entry");
    // The run's records have long texts, too, and one of them fields of its own.
    let records = server.api("runs/last")["records"].as_u64().unwrap();
    let mut lengths = Vec::new();
    for seq in 0..records {
        let record = server.api(&format!("runs/last/records/{seq}"));
        assert_fits(&record, SchemaKind::Record, "a long record");
        let cut = record["cutTexts"].as_array().into_iter().flatten();
        lengths.extend(cut.map(|cut| cut["length"].as_u64().unwrap()));
    }
    assert!(lengths.contains(&(text.len() as u64)), "{lengths:?}");
    let cut = &entry["cutTexts"][0];
    assert_eq!(
        (&cut["pointer"], &cut["length"]),
        (&json!("/text"), &json!(text.len()))
    );
    let mut whole = entry["text"].as_str().unwrap().to_owned();
    assert!(whole.len() <= 16 << 10 && text.starts_with(&whole));
    let rest = cut["rest"]
        .as_str()
        .unwrap()
        .strip_prefix("/api/v1/")
        .unwrap();
    let (address, from) = rest.rsplit_once("from=").unwrap();
    assert_eq!(from, whole.len().to_string());
    while whole.len() < text.len() {
        let part = server.api(&format!("{address}from={}", whole.len()));
        whole.push_str(part["text"].as_str().unwrap());
        assert_eq!(
            part["next"].as_u64().unwrap_or(text.len() as u64),
            whole.len() as u64
        );
    }
    assert_eq!(whole, text);
    let seq = &entry["seq"];
    for path in [
        "runs/last".to_owned(),
        format!("runs/last/raw?seq={seq}"),
        format!("runs/last/records/{seq}"),
        "runs/last/events".to_owned(),
    ] {
        let answer = server.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.len() < 400_000, "{path}: {}", answer.body.len());
    }
}

#[test]
fn the_page_is_there_unless_only_the_api_is_wanted() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let page = server.request("GET", "/", &[]);
    let tag = page.header("etag").unwrap().to_owned();
    let again = server.request("GET", "/", &[("If-None-Match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let server = Server::start(&runtape, &["--json-only"]);
    assert_eq!(server.request("GET", "/", &[]).status, 404);
    assert_eq!(server.get("/api/v1/runs").status, 200);
}
