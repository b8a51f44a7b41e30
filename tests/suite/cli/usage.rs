//! Tokens and cost: sums that agree, days where people are, estimates that say they are.

use std::fs;

use serde_json::Value;

use crate::harness::{Runtape, capture, fixtures, stderr, stdout};

const BY: [&str; 10] = [
    "day",
    "week",
    "month",
    "runtime",
    "model",
    "job",
    "session",
    "cwd",
    "label",
    "label:team",
];

/// Input, cached and output tokens, reported and estimated cost in thousand millionths of a dollar, and runs.
fn total(groups: &[Value]) -> [i64; 6] {
    let mut total = [0; 6];
    for group in groups {
        let usage = &group["usage"];
        let counts = ["inputTokens", "cachedInputTokens", "outputTokens"]
            .map(|name| usage[name].as_i64().unwrap_or(0));
        let money = ["costUsd", "estimatedCostUsd"].map(|name| {
            let dollars = group[name].as_f64().unwrap_or(0.0);
            #[expect(clippy::cast_possible_truncation, reason = "small amounts")]
            let nanodollars = (dollars * 1e9).round() as i64;
            nanodollars
        });
        let numbers = counts
            .into_iter()
            .chain(money)
            .chain([group["runs"].as_i64().unwrap_or(0)]);
        for (sum, number) in total.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    total
}

#[test]
fn every_grouping_of_all_fixtures_comes_to_the_same_total() {
    let runtape = Runtape::with_fixtures();
    let expected = total(&runtape.json(&["usage"]));
    assert!(expected.iter().all(|sum| *sum > 0), "{expected:?}");
    let close = |found: [i64; 6], what: &str| {
        for (found, expected) in found.into_iter().zip(expected) {
            // Estimates are whole numbers of smaller parts, rounded where they are shown.
            assert!(
                (found - expected).abs() <= 200,
                "{what}: {found} instead of {expected}"
            );
        }
    };
    for by in BY {
        close(total(&runtape.json(&["usage", "--by", by])), by);
        close(total(&runtape.json(&["usage", "--by", by, "--utc"])), by);
        let two = format!("{by},{}", if by == "model" { "day" } else { "model" });
        close(total(&runtape.json(&["usage", "--by", &two])), &two);
    }
    for list in [&["jobs"][..], &["runs", "--children"]] {
        let mut sums = total(&runtape.json(list));
        assert_eq!(sums[..4], expected[..4], "{list:?}");
        // Not every run reports tokens, and those of a job are counted otherwise.
        sums[5] = expected[5];
        close(sums, list[0]);
    }
    let output = runtape.run(&["verify"]);
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn days_are_those_of_the_place_unless_utc_is_asked_for() {
    let runtape = Runtape::with_fixtures();
    let days = |zone: &str, more: &[&str]| -> Vec<String> {
        let arguments = [&["--json", "usage", "--by", "day"], more].concat();
        let output = runtape
            .command(&arguments)
            .env("TZ", zone)
            .output()
            .unwrap();
        let text = stdout(&output);
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| line["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let utc = days("UTC", &[]);
    assert!(!utc.is_empty());
    assert_eq!(days("Pacific/Kiritimati", &["--utc"]), utc);
    // A day and two hours lie between these two places.
    assert_ne!(days("Pacific/Kiritimati", &[]), days("Etc/GMT+12", &[]));
}

#[test]
fn an_estimate_is_never_taken_for_a_reported_cost() {
    let runtape = Runtape::with_fixtures();
    let groups = runtape.json(&["usage", "--by", "model"]);
    let of = |model: &str| groups.iter().find(|group| group["name"] == model);
    let estimated = of("gemini-2.5-flash").unwrap();
    assert_eq!(estimated["costUsd"], Value::Null);
    assert!(estimated["estimatedCostUsd"].as_f64().unwrap() > 0.0);
    let digest = estimated["priceTable"].as_str().unwrap();
    assert_eq!(digest.len(), 64);
    let prices = runtape.json(&["prices", "gemini-2.5-flash"]);
    assert_eq!(prices[0]["priceTable"], digest);
    assert_eq!(prices[0]["name"], "gemini/gemini-2.5-flash");
    // Tokens times prices, as the table says.
    let price = |name: &str| prices[0][name].as_f64().unwrap();
    let tokens = |name: &str| estimated["usage"][name].as_f64().unwrap();
    let product = tokens("inputTokens") * price("input")
        + tokens("cachedInputTokens") * price("cacheRead")
        + tokens("outputTokens") * price("output");
    assert!((product - estimated["estimatedCostUsd"].as_f64().unwrap()).abs() < 1e-9);
    let unknown = groups
        .iter()
        .find(|group| !group["unpricedModels"].is_null())
        .unwrap();
    assert_eq!(unknown["estimatedCostUsd"], Value::Null, "{unknown}");
    // For people: a mark, and which table; the parts for who asks.
    let output = runtape.run(&["usage", "--runtime", "gemini"]);
    let (shown, said) = (stdout(&output), stderr(&output));
    assert!(shown.contains("cost $") && shown.contains('~'), "{shown}");
    assert!(!shown.contains("estimate $"), "{shown}");
    let parts = runtape.run(&["usage", "--fields", "runtime,reported,estimate"]);
    assert!(
        stdout(&parts).contains("reported $  estimate $"),
        "{}",
        stdout(&parts)
    );
    assert!(
        said.contains("~ estimated, prices of 2026-11-16, table "),
        "{said}"
    );
    // Entry by entry, and what it is made of.
    let entries = runtape.json(&["usage", "--explain", "--runtime", "gemini", "--limit", "0"]);
    let sum: f64 = entries
        .iter()
        .filter_map(|entry| entry["estimatedCostUsd"].as_f64())
        .sum();
    let group = &runtape.json(&["usage", "--runtime", "gemini"])[0];
    assert!(
        (sum - group["estimatedCostUsd"].as_f64().unwrap()).abs() < 1e-9,
        "{sum} {group}"
    );
    assert!(entries.iter().any(|entry| entry["priceTable"] == digest));
    let shown = stdout(&runtape.run(&["usage", "--explain", "--runtime", "gemini"]));
    assert!(
        shown.contains("input x $/M") && shown.contains("gemini/gemini-2.5-flash"),
        "{shown}"
    );
}

#[test]
fn a_file_of_ones_own_overrides_prices() {
    let runtape = Runtape::new();
    let output = runtape.run(&["ingest", "--exit-code", "0", capture().to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let ours = runtape.path("prices.json");
    let file = r#"{"models": {"claude-haiku-5-5": {"input": 1, "output": 1}, "m1": {"input": 0.5, "output": 0.5}}}"#;
    fs::write(&ours, file).unwrap();
    let path = ours.to_str().unwrap();
    let prices = runtape.json(&["prices", "m1", "--prices", path]);
    assert_eq!(prices[0]["input"], 0.5);
    let mut command = runtape.command(&["--json", "prices", "m1"]);
    let output = command.env("RUNTAPE_PRICES", path).output().unwrap();
    assert!(
        stdout(&output).contains(r#""input":0.5"#),
        "{}",
        stdout(&output)
    );
    // A reported cost stays what it is.
    let groups = runtape.json(&["usage", "--prices", path]);
    assert!(groups[0]["costUsd"].as_f64().unwrap() > 0.0, "{groups:?}");
    assert_eq!(groups[0]["estimatedCostUsd"], Value::Null);
    fs::write(&ours, r#"{"models": {"m1": {"input": -1, "output": 0}}}"#).unwrap();
    let output = runtape.run(&["usage", "--prices", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("model \"m1\": input is -1"),
        "{}",
        stderr(&output)
    );
}

/// Where a runtime reports no cost, every list that shows one shows an estimate, and says so.
#[test]
fn lists_estimate_what_no_runtime_reported_and_mark_it() {
    let runtape = Runtape::with_fixtures();
    let groups = runtape.json(&["usage", "--runtime", "gemini"]);
    let (expected, digest) = (&groups[0]["estimatedCostUsd"], &groups[0]["priceTable"]);
    let expected = expected.as_f64().unwrap();
    for list in [&["runs", "--children"][..], &["jobs"], &["sessions"]] {
        let listed = runtape.json(&[list, &["--runtime", "gemini"]].concat());
        let estimated = listed.iter().filter(|one| one["estimatedCostUsd"].is_f64());
        let mut sum = 0.0;
        for one in estimated {
            assert_eq!(one["costUsd"], Value::Null, "{list:?}: {one}");
            assert_eq!(one["priceTable"], *digest, "{list:?}: {one}");
            sum += one["estimatedCostUsd"].as_f64().unwrap();
        }
        // What has no session is in no list of sessions.
        if list == ["sessions"] {
            assert!(sum > 0.0 && sum <= expected + 1e-9, "{list:?}: {sum}");
        } else {
            assert!((sum - expected).abs() < 1e-9, "{list:?}: {sum}, {expected}");
        }
        let output = runtape.run(&[list, &["--runtime", "gemini", "--fields", "cost"]].concat());
        let (shown, said) = (stdout(&output), stderr(&output));
        assert!(shown.contains("~0."), "{list:?}: {shown}");
        assert!(said.contains("~ estimated, prices of"), "{list:?}: {said}");
    }
    // What was reported is not estimated as well.
    let reported = runtape.json(&["runs", "--runtime", "claude-code"]);
    let reported = reported.iter().filter(|run| run["costUsd"].is_f64());
    assert!(reported.clone().count() > 0);
    assert!(
        reported
            .clone()
            .all(|run| run["estimatedCostUsd"].is_null())
    );
    // The dearest run is found among both.
    let dearest = runtape.json(&["runs", "--runtime", "gemini", "--sort", "cost"]);
    let costs: Vec<f64> = dearest
        .iter()
        .map(|run| run["estimatedCostUsd"].as_f64().unwrap_or(-1.0))
        .collect();
    assert!(costs[0] > 0.0 && costs.is_sorted_by(|one, other| one >= other));
    let id = dearest[0]["runId"].as_str().unwrap();
    let shown = stdout(&runtape.run(&["show", id]));
    let line = shown
        .lines()
        .find(|line| line.trim_start().starts_with("cost"))
        .unwrap();
    assert!(
        line.contains("$~") && line.contains("estimated") && line.contains("table"),
        "{line}"
    );
}

/// What was just taken in is told with the sums that lists have afterwards.
#[test]
fn what_is_taken_in_is_estimated_as_it_is_listed_afterwards() {
    let sum = |all: &[Value]| -> f64 {
        let estimates = all.iter().map(|one| &one["estimatedCostUsd"]);
        estimates.filter_map(Value::as_f64).sum()
    };
    let outputs = fixtures();
    let sessions = outputs.join("claude-code/fork-tree.sessions.history");
    for words in [
        ["ingest", outputs.to_str().unwrap()].as_slice(),
        &[
            "sync",
            "--runtime",
            "claude-code",
            "--from",
            sessions.to_str().unwrap(),
        ],
    ] {
        let runtape = Runtape::new();
        let lines = runtape.json(words);
        let summary = lines.last().unwrap();
        let told = sum(summary["groups"].as_array().unwrap());
        let listed = sum(&runtape.json(&["runs", "--children", "--limit", "0"]));
        assert!(told > 0.0, "{words:?}: {summary}");
        assert!((listed - told).abs() < 1e-9, "{words:?}: {listed}, {told}");
    }
}

/// The configuration names a file of prices for every command.
#[test]
fn prices_of_the_configuration_go_before_the_table_and_a_faulty_file_is_told() {
    let runtape = Runtape::with_fixtures();
    let config = runtape.path("config.toml");
    fs::write(&config, "[prices]\nfile = \"ours.json\"\n").unwrap();
    let prices = |text: &str| fs::write(runtape.path("ours.json"), text).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = runtape.command(arguments);
        command.env("RUNTAPE_CONFIG", &config).output().unwrap()
    };
    prices(
        r#"{"source": "ours", "models": {"gemini-2.5-flash": {"input": 1e-3, "output": 1e-3}}}"#,
    );
    let output = run(&[
        "runs",
        "--runtime",
        "gemini",
        "--sort",
        "cost",
        "--limit",
        "1",
    ]);
    assert!(
        stderr(&output).contains("ours, over"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("~11.65"), "{}", stdout(&output));
    prices("{");
    let output = run(&["runs", "--runtime", "gemini", "--limit", "1"]);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(
        said.contains("costs are not estimated") && said.contains("ours.json"),
        "{said}"
    );
    // Who asks for estimates is not given others.
    assert!(!run(&["usage"]).status.success());
}

/// What was written to a cache costs what that costs.
#[test]
fn cache_writes_have_their_own_price_where_the_runtime_says_how_many_there_were() {
    let runtape = Runtape::new();
    let usage = r#"{"input_tokens":1000,"cache_creation_input_tokens":3000,"cache_read_input_tokens":0,"output_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":2000,"ephemeral_1h_input_tokens":1000}}"#;
    let line = format!(
        r#"{{"type":"assistant","session_id":"s","uuid":"u","message":{{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{{"type":"text","text":"Hi"}}],"usage":{usage}}}}}"#
    );
    // Cut off before a result that would tell the cost.
    let script = runtape.script("claude", &format!("cat <<'END'\n{line}\nEND\nexit 1"));
    let flags = ["-p", "Hi", "--output-format", "stream-json", "--verbose"];
    let output = runtape.run(&[&["record", "--", &script], &flags[..]].concat());
    let said = stderr(&output);
    assert!(said.contains("$~0.0165 estimated"), "{said}");
    // 1000 at $3 a million, 2000 at $3.75, 1000 at $6.
    let run = &runtape.json(&["runs"])[0];
    assert_eq!(run["usage"]["inputTokens"], 4000, "they are input, too");
    let estimate = run["estimatedCostUsd"].as_f64().unwrap();
    assert!((estimate - 0.0165).abs() < 1e-12, "{estimate}");
    let entry = &runtape.json(&["usage", "--explain"])[0];
    assert_eq!(entry["cacheWriteTokens"], 3000);
    assert_eq!(entry["cacheWrite1hTokens"], 1000);
    assert!((entry["estimatedCostUsd"].as_f64().unwrap() - 0.0165).abs() < 1e-12);
    let shown = stdout(&runtape.run(&["usage", "--explain"]));
    for part in ["cache writes", "2,000 x 3.75", "1,000 x 6", "1,000 x 3 "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(runtape.run(&["verify"]).status.success());
}
