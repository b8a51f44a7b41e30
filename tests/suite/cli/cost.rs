//! Cost is one number: every list has it at every width, and all say the same.

use serde_json::Value;

use crate::harness::{Runtape, fixtures, stderr, stdout};
use crate::server::OnServer;

const WIDTHS: [usize; 4] = [60, 80, 100, 140];

/// Lists that show costs, each with how many keys come before the cost.
const LISTS: [(&str, usize); 15] = [
    ("runs", 1),
    ("runs --children --limit 0", 1),
    ("runs --sort cost", 1),
    ("jobs", 1),
    ("sessions", 1),
    ("usage", 1),
    ("usage --by day", 1),
    ("usage --by week", 1),
    ("usage --by model", 1),
    ("usage --by job", 1),
    ("usage --by session", 1),
    ("usage --by cwd", 1),
    ("usage --by label", 1),
    ("usage --by day,model", 2),
    ("usage --explain", 1),
];

/// Asserts that a table has the cost right after its keys, and that no line is longer than the terminal.
fn assert_shows_cost(shown: &str, keys: usize, width: usize, what: &str) {
    let head = shown.lines().next().unwrap();
    let columns: Vec<&str> = head.split("  ").filter(|name| !name.is_empty()).collect();
    let place = columns.iter().position(|name| name.trim() == "cost $");
    assert_eq!(place, Some(keys), "{what} at {width}: {shown}");
    for line in shown.lines() {
        let is_note = line.starts_with("no room for: ");
        assert!(
            line.chars().count() <= width || is_note,
            "{what} at {width}: {line}\n{shown}"
        );
        assert!(
            !(is_note && line.contains("cost")),
            "{what} at {width}: {line}"
        );
    }
}

fn at_width(runtape: &Runtape, width: usize, arguments: &[&str]) -> String {
    let mut command = runtape.command(arguments);
    let output = command.env("COLUMNS", width.to_string()).output().unwrap();
    stdout(&output)
}

#[test]
fn no_list_leaves_out_the_cost_at_any_width() {
    let runtape = Runtape::with_fixtures();
    for width in WIDTHS {
        for (list, keys) in LISTS {
            let words: Vec<&str> = list.split(' ').collect();
            let shown = at_width(&runtape, width, &words);
            assert_shows_cost(&shown, keys, width, list);
        }
        let captures = fixtures();
        let sessions = captures.join("claude-code/fork-tree.sessions.history");
        let sync = ["sync", "--runtime", "claude-code", "--from"];
        for (words, what) in [(&["ingest"][..], &captures), (&sync[..], &sessions)] {
            let words = [words, &[what.to_str().unwrap()]].concat();
            let shown = at_width(&Runtape::new(), width, &words);
            assert_shows_cost(&shown, 1, width, words[0]);
        }
    }
}

#[test]
fn numbers_are_shortened_before_columns_are_left_out_and_never_in_a_pipe() {
    let runtape = Runtape::new();
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","total_cost_usd":829.3912,"num_turns":1,"usage":{"input_tokens":250000,"cache_creation_input_tokens":49400000,"cache_read_input_tokens":1270000000,"output_tokens":5000000},"modelUsage":{}}"#;
    let script = runtape.script("claude", &format!("cat <<'END'\n{line}\nEND"));
    let flags = ["-p", "Hi", "--output-format", "stream-json", "--verbose"];
    runtape.run(&[&["record", "--", &script], &flags[..]].concat());
    let narrow = at_width(&runtape, 80, &["usage"]);
    for wanted in ["829.39", "250K", "49.4M", "1.27B", "5.00M"] {
        assert!(narrow.contains(wanted), "{wanted}: {narrow}");
    }
    assert!(narrow.contains("cached"), "{narrow}");
    let mut command = runtape.command(&["usage"]);
    let piped = stdout(&command.env_remove("COLUMNS").output().unwrap());
    for wanted in [
        "829.3912",
        "250,000",
        "49,400,000",
        "1,270,000,000",
        "share",
    ] {
        assert!(piped.contains(wanted), "{wanted}: {piped}");
    }
}

fn dollars(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Reads the costs of a table with that column alone, the last of which is the total.
fn column(runtape: &Runtape, arguments: &[&str]) -> Vec<f64> {
    let output = runtape.run(&[arguments, &["--fields", "cost"]].concat());
    let shown = stdout(&output);
    let rows = shown.lines().skip(1);
    let numbers = rows.map(|row| {
        let row = row.trim().trim_start_matches('~');
        row.trim_end_matches("+?").parse().unwrap_or(0.0)
    });
    numbers.collect()
}

#[test]
fn the_row_of_sums_is_the_sum_of_the_rows_and_of_the_parts() {
    let runtape = Runtape::with_fixtures();
    for list in [
        "runs --limit 0",
        "usage",
        "usage --by day",
        "usage --by model,day",
        "usage --by job",
    ] {
        let words: Vec<&str> = list.split(' ').collect();
        let shown = column(&runtape, &words);
        let (total, rows) = shown.split_last().unwrap();
        let sum: f64 = rows.iter().sum();
        assert!((sum - total).abs() < 0.01, "{list}: {sum}, {total}");
        assert!(*total > 0.0, "{list}");
        let json = runtape.json(&words);
        let told: f64 = json.iter().map(|one| dollars(&one["costTotalUsd"])).sum();
        assert!((told - total).abs() < 0.01, "{list}: {told}, {total}");
    }
    let mut sums = Vec::new();
    for list in [
        &["usage"][..],
        &["runs", "--children", "--limit", "0"],
        &["jobs", "--limit", "0"],
    ] {
        let items = runtape.json(list);
        for item in &items {
            let parts = dollars(&item["costUsd"]) + dollars(&item["estimatedCostUsd"]);
            assert!(
                (dollars(&item["costTotalUsd"]) - parts).abs() < 1e-9,
                "{item}"
            );
            let is_estimated = dollars(&item["estimatedCostUsd"]) > 0.0;
            let told = item["costIsEstimated"] == true;
            assert!(told || !is_estimated, "{item}");
        }
        sums.push(
            items
                .iter()
                .map(|item| dollars(&item["costTotalUsd"]))
                .sum::<f64>(),
        );
    }
    assert!(
        sums.iter().all(|sum| (sum - sums[0]).abs() < 1e-9),
        "{sums:?}"
    );
}

/// A session that goes on prints the responses of its earlier run once more.
fn counted_before(run: &dyn Fn(&[&str]) -> std::process::Output, script: &str) {
    let json = |arguments: &[&str]| -> Value {
        let output = run(&[&["--json"], arguments].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let flags = ["-p", "Hi", "--output-format", "stream-json", "--verbose"];
    for name in ["first", "again"] {
        let output = run(&[&["record", "--run-id", name, "--", script], &flags[..]].concat());
        let said = stderr(&output);
        assert_eq!(said.contains("counted before"), name == "again", "{said}");
    }
    let first = json(&["show", "first"]);
    assert_eq!(first["usage"]["inputTokens"], 4000);
    assert_eq!(first["cacheWriteTokens"], 3000);
    assert!(
        (dollars(&first["costTotalUsd"]) - 0.0165).abs() < 1e-9,
        "{first}"
    );
    assert_eq!(first["countedBefore"], Value::Null);
    let again = json(&["show", "again"]);
    assert_eq!(again["usage"]["inputTokens"], 0, "{again}");
    assert_eq!(again["countedBefore"]["inputTokens"], 4000, "{again}");
    assert!(dollars(&again["costTotalUsd"]) < 1e-9, "{again}");
    let shown = stdout(&run(&["show", "again"]));
    let line = |name: &str| {
        let mut lines = shown.lines();
        let found = lines.find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_default().to_owned()
    };
    assert!(
        line("tokens").contains("counted before, by an earlier run: 4,000 input"),
        "{shown}"
    );
    assert!(
        line("cost").contains("counted before") && !line("cost").contains('~'),
        "{shown}"
    );
    // The session has them once, apart from what was written to a cache.
    let used = stdout(&run(&["sessions", "--fields", "cost,input,cachewrites"]));
    let row: Vec<&str> = used.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["~0.0165", "1,000", "3,000"], "{used}");
    let used = stdout(&run(&["usage", "--fields", "cost,input,cachewrites"]));
    let row: Vec<&str> = used.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["~0.0165", "1,000", "3,000"], "{used}");
}

#[test]
fn what_an_earlier_run_counted_is_said_and_costs_nothing() {
    let runtape = Runtape::new();
    let usage = r#"{"input_tokens":1000,"cache_creation_input_tokens":3000,"cache_read_input_tokens":0,"output_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":2000,"ephemeral_1h_input_tokens":1000}}"#;
    let session = "6baba7bc-061b-4fc8-9fe0-a222e7fee90d";
    let model = "claude-sonnet-4-5-20250929";
    let init = format!(
        r#"{{"type":"system","subtype":"init","session_id":"{session}","model":"{model}","cwd":"/tmp","tools":[]}}"#
    );
    let line = format!(
        r#"{{"type":"assistant","session_id":"{session}","uuid":"u","message":{{"id":"m","type":"message","role":"assistant","model":"{model}","content":[{{"type":"text","text":"Hi"}}],"usage":{usage}}}}}"#
    );
    let script = runtape.script(
        "claude",
        &format!("cat <<'END'\n{init}\n{line}\nEND\nexit 1"),
    );
    counted_before(&|arguments| runtape.run(arguments), &script);
    let file = runtape.path("run.html");
    let output = runtape.run(&[
        "export",
        "--format",
        "html",
        "first",
        "--output",
        file.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let html = std::fs::read_to_string(file).unwrap();
    assert!(html.contains("<dt>cost $</dt><dd>~0.0165</dd>"));
    if let Some(server) = OnServer::new() {
        counted_before(&|arguments| server.run(arguments), &script);
    }
}
