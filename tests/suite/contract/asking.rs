//! Questions of an auditor, over runs of which everything is known.

use std::collections::BTreeMap;

use runtape_core::record::MetadataPatch;
use runtape_core::report::DriftKind;
use runtape_core::{Metadata, RecordKind, Runtime, TokenCounts, ToolClass};
use runtape_store::{Calendar, CallFilter, FailureBy, RunFilter, Store, StoreError, UsageBy};
use runtape_tests::runs::{Made, Plan, child, run_id};
use serde_json::{Value, json};

use crate::Backend;

/// Two runs of one day, one of another, of which one fails and one has a child.
fn fill(store: &mut Store) -> Vec<Made> {
    let plans = [
        Plan::new("one", 7),
        Plan {
            runtime: Runtime::Hermes,
            fails: true,
            at: 1_790_000_005_000,
            ..Plan::new("two", 3)
        },
        Plan {
            at: 1_790_200_000_000,
            ..Plan::new("three", 1)
        },
    ];
    let mut all: Vec<Made> = plans.iter().map(Plan::make).collect();
    let children = child(&all[0], "small");
    let middle = all[0].records.len() / 2;
    all[0].records.splice(middle..middle, children);
    for made in &all {
        made.store(store);
    }
    all
}

fn of(runtime: Runtime) -> RunFilter {
    let mut filter = RunFilter::default();
    filter.runtime = Some(runtime);
    filter
}

pub(crate) fn auditors_are_answered<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let all = RunFilter::default();

    // Seven steps of the first, two of its child, three, and one; each calls one tool.
    let calls_of = |runtime| CallFilter::from(of(runtime));
    let every = CallFilter::default();
    let tools = store.tools(&every, 10).unwrap();
    let found: Vec<_> = tools
        .iter()
        .map(|tool| {
            (
                tool.runtime.as_str(),
                tool.tool.as_str(),
                tool.class,
                tool.calls,
                tool.errors,
                tool.runs,
            )
        })
        .collect();
    let shell = Some(ToolClass::Shell);
    assert_eq!(
        found,
        [
            ("claude-code", "Bash", shell, 10, 1, 3),
            ("hermes", "Bash", shell, 3, 0, 1)
        ]
    );
    assert!(tools.iter().all(|tool| tool.unanswered == 0));
    assert_eq!(tools[0].mean_ms, Some(12.0));
    assert_eq!(store.tools(&every, 1).unwrap(), tools[..1]);
    assert_eq!(
        store.tools(&calls_of(Runtime::Hermes), 10).unwrap(),
        tools[1..]
    );

    let errors = store.errors(&all, 10).unwrap();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].run_id, run_id("two"));
    assert_eq!(errors[0], store.run(&run_id("two")).unwrap());
    assert!(store.errors(&of(Runtime::Gemini), 10).unwrap().is_empty());

    for by in [FailureBy::Family, FailureBy::Name, FailureBy::Runtime] {
        let sums = store.failures(&all, by).unwrap();
        assert_eq!(sums.iter().map(|sum| sum.runs).sum::<u64>(), 1, "{by:?}");
        let failed = &errors[0];
        let error = failed.error.as_ref().unwrap();
        let key = match by {
            FailureBy::Family => error.family.map(|family| family.as_str().to_owned()),
            FailureBy::Name => Some(error.name.clone()),
            FailureBy::Runtime => Some(failed.runtime.as_str().to_owned()),
        };
        let sum = &sums[0];
        assert_eq!((&sum.key, &sum.run_id), (&key, &failed.run_id), "{by:?}");
        assert_eq!(sum.names, [error.name.as_str()]);
        assert_eq!(sum.last_at, failed.finished_at.unwrap());
        assert!(store.failures(&of(Runtime::Gemini), by).unwrap().is_empty());
    }

    let calls = store.tool_calls(&every, 100).unwrap();
    assert_eq!(calls.len(), 13);
    assert!(calls.is_sorted_by(|a, b| a.at >= b.at));
    let paths = ["/home/someone/project/a.txt", "/home/someone/project/b.txt"];
    assert!(calls.iter().all(|call| call.paths == paths));
    assert_eq!(calls[0].cwd.as_deref(), Some("/home/someone/project"));
    assert_eq!(store.tool_calls(&every, 4).unwrap(), calls[..4]);

    // One of each kind in every run, and another in the sixth step of the longest one.
    let notices = |kinds: &[&str]| store.notices(&all, kinds, 100).unwrap();
    let warnings = notices(&["warning"]);
    assert_eq!(warnings.len(), 5);
    assert!(warnings.iter().all(|notice| notice.text == "careful"));
    assert_eq!(notices(&["stderr"]).len(), 5);
    assert_eq!(notices(&["warning", "stderr"]).len(), 10);
    assert_eq!(notices(&["retry"]), []);
    assert_eq!(notices(&[])[..], notices(&["warning", "stderr"])[..]);
    assert!(notices(&[]).is_sorted_by(|a, b| a.at >= b.at));
    assert_eq!(store.notices(&all, &[], 3).unwrap(), notices(&[])[..3]);
    assert_eq!(
        store.notices(&of(Runtime::Hermes), &[], 9).unwrap().len(),
        2
    );
}

pub(crate) fn rows_that_are_asked_for_come_in_pages<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let all = RunFilter::default();
    let utc = Calendar::Utc;
    let counts = |by| -> BTreeMap<Option<String>, (u64, Option<i64>, Option<f64>)> {
        let groups = store.usage_by(&all, &[by], utc).unwrap();
        let groups = groups.into_iter().map(|group| {
            let TokenCounts { output_tokens, .. } = group.usage;
            let cost = group.cost_usd();
            let name = group.names.into_iter().next().unwrap();
            (name, (group.runs, output_tokens, cost))
        });
        groups.collect()
    };
    let cost = |runs: u8| Some(f64::from(runs) * 3.0 / 10.0);
    let name = |name: &str| Some(name.to_owned());
    // 20 a step; the child counts as one of the first run's.
    assert_eq!(
        counts(UsageBy::Runtime),
        BTreeMap::from([
            (name("claude-code"), (2, Some(200), cost(3))),
            (name("hermes"), (1, Some(60), cost(1))),
        ])
    );
    assert_eq!(
        counts(UsageBy::Day),
        BTreeMap::from([
            (name("2026-09-21"), (2, Some(240), cost(3))),
            (name("2026-09-23"), (1, Some(20), cost(1))),
        ])
    );
    assert_eq!(counts(UsageBy::Model).len(), 1);
    assert_eq!(counts(UsageBy::Job).len(), 3);
    let days = store.usage_daily().unwrap();
    let sum: i64 = days.iter().filter_map(|day| day.usage.output_tokens).sum();
    assert_eq!((days.len(), sum), (3, 260));
    assert!(
        store
            .usage_by(&of(Runtime::Gemini), &[UsageBy::Day], utc)
            .unwrap()
            .is_empty()
    );
}

pub(crate) fn what_was_not_understood_is_told<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("r", 11).make();
    let last = made.records.len() - 2;
    let mut set = Metadata::default();
    set.set(
        "unknownKeys",
        json!({"assistant.novel": 5, "result.odd": 2}),
    );
    made.records[last].kind = RecordKind::Metadata(MetadataPatch { set });
    made.store(&mut store);
    let drift = store.drift(&RunFilter::default(), 10).unwrap();
    let found: Vec<_> = drift
        .iter()
        .map(|drift| {
            (
                drift.kind,
                drift.tag.as_deref().unwrap(),
                drift.lines,
                drift.runs,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (DriftKind::Line, "novelty", 3, 1),
            (DriftKind::Key, "assistant.novel", 5, 1),
            (DriftKind::Key, "result.odd", 2, 1),
        ]
    );
    assert_eq!(drift[1].seq, last as u64);
    assert_eq!(store.drift(&RunFilter::default(), 2).unwrap(), drift[..2]);
    assert!(store.drift(&of(Runtime::Gemini), 2).unwrap().is_empty());
}

pub(crate) fn a_query_of_ones_own_may_only_read<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let mut rows = Vec::new();
    let sql = "SELECT run_id, steps FROM v_runs ORDER BY run_id";
    store
        .query(sql, |row| {
            rows.push(Value::Object(row));
            rows.len() < 2
        })
        .unwrap();
    assert_eq!(
        rows,
        [
            json!({"run_id": "one", "steps": 8}),
            json!({"run_id": "small", "steps": 3})
        ]
    );
    for bad in [
        "DELETE FROM v_runs",
        "nonsense",
        "SELECT nothing FROM v_runs",
    ] {
        let refused = store.query(bad, |_| true);
        assert!(matches!(refused, Err(StoreError::BadSql { .. })), "{bad}");
    }
    assert_eq!(
        store
            .runs(&RunFilter::default(), None, 10)
            .unwrap()
            .items
            .len(),
        4
    );
}
