//! Tokens and cost: sums that agree, days where people are, estimates that say they are.

use std::fs;

use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

const BY: [&str; 8] = [
    "day", "week", "month", "runtime", "model", "job", "session", "cwd",
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
    let jobs = total(&runtape.json(&["jobs", "--limit", "0"]));
    assert_eq!(jobs[..4], expected[..4]);
    let runs = total(&runtape.json(&["runs", "--children", "--limit", "0"]));
    assert_eq!(runs[..4], expected[..4]);
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
    // For people: a column of its own, a mark, and which table.
    let output = runtape.run(&["usage", "--runtime", "gemini"]);
    let (shown, said) = (stdout(&output), stderr(&output));
    assert!(
        shown.contains("estimate $") && shown.contains('~'),
        "{shown}"
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
