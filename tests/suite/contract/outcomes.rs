//! How runs went: one word, stored, asked for, and the same in every list.

use runtape_core::{CheckpointStatus, ErrorFamily, Outcome, RecordKind};
use runtape_store::{FailureBy, RunFilter, Store};
use serde_json::{Map, Value};

use runtape_tests::runs::{Made, Plan, job_id, run_id};

use crate::Backend;

/// Makes a run that ends with an error of a name, or with another status.
fn made(run: &str, at: i64, status: CheckpointStatus, error: &str, stopped: bool) -> Made {
    let plan = Plan {
        fails: true,
        at,
        ..Plan::new(run, 1)
    };
    let mut made = plan.make();
    for record in &mut made.records {
        match &mut record.kind {
            RecordKind::Checkpoint(head) if head.status.is_terminal() => {
                head.status = status;
                match &mut head.error {
                    Some(_) if status == CheckpointStatus::Completed => head.error = None,
                    Some(failure) => {
                        error.clone_into(&mut failure.name);
                        failure.family = Some(ErrorFamily::Process);
                    }
                    None => {}
                }
            }
            RecordKind::Metadata(patch) if stopped => patch.set.set("interrupted", true),
            _ => {}
        }
    }
    made
}

fn filled(store: &mut Store) {
    use CheckpointStatus::{Completed, StoppedByError, StoppedByExceededMaxSteps};
    let ended = [
        ("done", Completed, "", false),
        ("bad", StoppedByError, "ApiError", false),
        ("long", StoppedByExceededMaxSteps, "error_max_turns", false),
        ("cut", StoppedByError, "KilledBySignal", true),
        ("left", StoppedByError, "Unfinished", false),
    ];
    for (at, (run, status, error, stopped)) in (1_790_000_000_000..).step_by(1000).zip(ended) {
        made(run, at, status, error, stopped).store(store);
    }
    let open = Plan {
        at: 1_790_000_100_000,
        ..Plan::new("open", 1)
    };
    let open = open.make();
    store.begin_run(&open.begin).unwrap();
    store.append(open.id(), &open.records[..4], &[]).unwrap();
}

/// What each run went like, and the names of those that an auditor is told of as failed.
const WENT: [(&str, Outcome); 6] = [
    ("done", Outcome::Completed),
    ("bad", Outcome::Failed),
    ("long", Outcome::Limit),
    ("cut", Outcome::Interrupted),
    ("left", Outcome::Unfinished),
    ("open", Outcome::Running),
];

fn of(outcome: Outcome) -> RunFilter {
    let mut filter = RunFilter::default();
    filter.outcome = Some(outcome);
    filter
}

fn rows(store: &Store, sql: &str) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    store
        .query(sql, |row| {
            rows.push(row);
            true
        })
        .unwrap();
    rows
}

pub(crate) fn a_run_has_one_outcome_everywhere<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    filled(&mut store);
    for (run, outcome) in WENT {
        let info = store.run(&run_id(run)).unwrap();
        assert_eq!(info.outcome, outcome, "{run}");
        let found = store.runs(&of(outcome), None, 10).unwrap().items;
        assert_eq!(found, [info], "{run}");
        let job = store.job(&job_id(&format!("job-of-{run}"))).unwrap();
        assert_eq!(job.unwrap().outcome, outcome, "{run}");
        let jobs = store.jobs(&of(outcome), None, 10).unwrap().items;
        assert_eq!(jobs.len(), 1, "{run}");
        for (view, key) in [("v_runs", "run_id"), ("v_jobs", "job_id")] {
            let sql = format!("SELECT outcome FROM {view} WHERE {key} LIKE '%{run}'");
            assert_eq!(rows(&store, &sql)[0]["outcome"], outcome.as_str(), "{sql}");
        }
    }
}

pub(crate) fn what_is_unfinished_did_not_fail<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    filled(&mut store);
    let names = |filter: &RunFilter| {
        let errors = store.errors(filter, 10).unwrap();
        let sums = store.failures(filter, FailureBy::Name).unwrap();
        assert_eq!(errors.len(), sums.len());
        let names = errors.into_iter().map(|run| run.run_id.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&RunFilter::default()), ["cut", "long", "bad"]);
    let mut all = RunFilter::default();
    all.unfinished_too = true;
    assert_eq!(names(&all), ["left", "cut", "long", "bad"]);
    assert_eq!(names(&of(Outcome::Unfinished)), ["left"]);
    assert_eq!(names(&of(Outcome::Failed)), ["bad"]);
    let told = rows(
        &store,
        "SELECT run_id, outcome FROM v_errors ORDER BY run_id",
    );
    let told: Vec<&Value> = told.iter().map(|row| &row["run_id"]).collect();
    assert_eq!(told, ["bad", "cut", "long"]);
}

pub(crate) fn a_run_without_a_prompt_is_called_by_its_command<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("a", 1).make();
    for record in &mut made.records {
        if let RecordKind::Metadata(patch) = &mut record.kind {
            patch
                .set
                .set("argv", vec!["make".to_owned(), "all".to_owned()]);
        }
    }
    made.store(&mut store);
    let run = store.run(&run_id("a")).unwrap();
    let expected = run.prompt.clone().unwrap_or("make all".to_owned());
    assert_eq!(run.title, Some(expected));
}
