//! openclaw's histories.

use runtape_recorder::core::Runtime;
use runtape_tests::recorded_histories::{PairRules, compare, histories, report, truth_of};
use serde_json::json;

use crate::sessions::{nothing_is_unknown, runs, sessions};

/// Where an agent's database is in a home directory.
const DATABASE: &str = "home/.openclaw/agents/main/agent/openclaw-agent.sqlite";

const RULES: PairRules = PairRules {
    call: |truth| {
        let name = truth["name"].as_str().unwrap();
        (name.to_owned(), Some(truth["arguments"].clone()))
    },
    result: |truth| truth["result"].as_str().map(str::to_owned),
    knows_runs: true,
};

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in histories("openclaw") {
        let mut meta = truth_of(&path);
        // Frames have the prompt in a request, not in the command line.
        meta["argv"] = meta["ground_truth"]["user_texts"].clone();
        let found = sessions(&Runtime::Openclaw, &path.join(DATABASE));
        assert_eq!(found.len(), 1);
        let runs = runs(&Runtime::Openclaw, &found[0]);
        let mut faults = compare(&RULES, &meta, &runs);
        for run in &runs {
            let summary = &run.summary;
            let is_known = summary.model.as_deref() == Some("fake-model")
                && summary.cwd.as_deref() == Some("/mnt/ws")
                && summary.cost_usd.is_some()
                && json!(summary.session_id) == meta["ground_truth"]["session_key"]
                && found[0].session.id == meta["ground_truth"]["session_key"];
            if !is_known {
                faults.push(format!("model, cwd, cost, session: {summary:?}"));
            }
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("openclaw", &compared);
}

#[test]
fn nothing_in_a_history_is_unknown() {
    for path in histories("openclaw") {
        nothing_is_unknown(&Runtime::Openclaw, &path.join(DATABASE));
    }
}
