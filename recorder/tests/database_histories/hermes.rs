//! hermes' histories.

use runtape_recorder::core::Runtime;
use runtape_tests::recorded_histories::{PairRules, compare, histories, report, truth_of};

use crate::sessions::{nothing_is_unknown, runs, sessions};

const RULES: PairRules = PairRules {
    call: |truth| {
        let name = truth["name"].as_str().unwrap();
        (name.to_owned(), Some(truth["arguments"].clone()))
    },
    result: |truth| truth["result"].as_str().map(str::to_owned),
    knows_runs: false,
};

#[test]
fn every_history_has_what_really_happened() {
    let mut compared = Vec::new();
    for path in histories("hermes") {
        let meta = truth_of(&path);
        let found = sessions(&Runtime::Hermes, &path.join("home/.hermes/state.db"));
        assert_eq!(found.len(), 1);
        let runs = runs(&Runtime::Hermes, &found[0]);
        let mut faults = compare(&RULES, &meta, &runs);
        let session = meta["session_id"].as_str();
        if session.is_some_and(|session| session != found[0].session.id) {
            faults.push(format!("session: {}", found[0].session.id));
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("hermes", &compared);
}

#[test]
fn nothing_in_a_history_is_unknown() {
    for path in histories("hermes") {
        nothing_is_unknown(&Runtime::Hermes, &path.join("home/.hermes/state.db"));
    }
}
