//! opencode's histories.

use runtape_recorder::core::Runtime;
use runtape_tests::recorded_histories::{PairRules, compare, histories, report, truth_of};

use crate::sessions::{nothing_is_unknown, runs, sessions};

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
    for path in histories("opencode") {
        let meta = truth_of(&path);
        let database = path.join("home/.local/share/opencode/opencode.db");
        let found = sessions(&Runtime::Opencode, &database);
        assert_eq!(found.len(), 1);
        let runs = runs(&Runtime::Opencode, &found[0]);
        let mut faults = compare(&RULES, &meta, &runs);
        for run in &runs {
            let summary = &run.summary;
            let is_known = summary.cli_version.as_deref() == meta["cli_version"].as_str()
                && summary.model.is_some()
                && summary.cwd.as_deref() == Some("/mnt/ws")
                && summary.cost_usd.is_some()
                && summary.session_id.as_deref() == Some(&found[0].session.id);
            if !is_known {
                faults.push(format!("version, model, cwd: {summary:?}"));
            }
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        compared.push((name, faults));
    }
    report("opencode", &compared);
}

#[test]
fn nothing_in_a_history_is_unknown() {
    for path in histories("opencode") {
        nothing_is_unknown(
            &Runtime::Opencode,
            &path.join("home/.local/share/opencode/opencode.db"),
        );
    }
}
