//! Lists, filters, pages, search.

use runtape_core::{ErrorFamily, JobStatus, Outcome, Runtime};
use runtape_store::{PageMark, RunFilter, Store};
use serde_json::json;

use runtape_tests::runs::{Plan, job_id, run_id};

use crate::Backend;

fn filter(set: impl FnOnce(&mut RunFilter)) -> RunFilter {
    let mut filter = RunFilter::default();
    set(&mut filter);
    filter
}

fn names(store: &Store, filter: &RunFilter) -> Vec<String> {
    let page = store.runs(filter, None, 100).unwrap();
    page.items
        .iter()
        .map(|run| run.run_id.to_string())
        .collect()
}

pub(crate) fn filters_let_through_what_they_say<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    Plan::new("a", 2).make().store(&mut store);
    Plan {
        runtime: Runtime::Hermes,
        fails: true,
        at: 1_790_000_100_000,
        ..Plan::new("b", 1)
    }
    .make()
    .store(&mut store);
    let open = Plan {
        at: 1_790_000_200_000,
        steps: 0,
        ..Plan::new("c", 0)
    }
    .make();
    store.begin_run(&open.begin).unwrap();
    store.append(open.id(), &open.records[..4], &[]).unwrap();

    assert_eq!(names(&store, &RunFilter::default()), ["c", "b", "a"]);
    let cases: Vec<(RunFilter, &[&str])> = vec![
        (filter(|f| f.runtime = Some(Runtime::Hermes)), &["b"]),
        (filter(|f| f.outcome = Some(Outcome::Completed)), &["a"]),
        (filter(|f| f.outcome = Some(Outcome::Running)), &["c"]),
        (filter(|f| f.job = Some(job_id("job-of-a"))), &["a"]),
        (
            filter(|f| f.expert = Some("coder".into())),
            &["c", "b", "a"],
        ),
        (filter(|f| f.expert = Some("nobody".into())), &[]),
        (
            filter(|f| f.model = Some("model-1".into())),
            &["c", "b", "a"],
        ),
        (filter(|f| f.session = Some("session-of-b".into())), &["b"]),
        (
            filter(|f| f.cwd = Some("/home/someone".into())),
            &["c", "b", "a"],
        ),
        (filter(|f| f.cwd = Some("/home/some".into())), &[]),
        (filter(|f| f.since = Some(1_790_000_100_000)), &["c", "b"]),
        (filter(|f| f.until = Some(1_790_000_100_000)), &["a"]),
        (filter(|f| f.tool = Some("Bash".into())), &["b", "a"]),
        (
            filter(|f| f.error_family = Some(ErrorFamily::Overload)),
            &["b"],
        ),
        (
            filter(|f| f.text = Some("naively".into())),
            &["c", "b", "a"],
        ),
        (filter(|f| f.text = Some("input: cat".into())), &["b", "a"]),
        (filter(|f| f.roots_only = true), &["c", "b", "a"]),
    ];
    for (filter, expected) in cases {
        assert_eq!(names(&store, &filter), expected, "{filter:?}");
    }
    let run = store.run(&run_id("b")).unwrap();
    assert_eq!(run.error.unwrap().status_code, Some(529));
    assert_eq!(run.usage.input_tokens, Some(101));
    assert_eq!(run.steps, 2);
    assert_eq!(store.runs_by_prefix("b", 5).unwrap(), [run_id("b")]);
}

pub(crate) fn ids_are_found_by_prefixes_of_any_length<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for name in ["a", "ab", "abc", "b"] {
        Plan::new(name, 6).make().store(&mut store);
    }
    let mut all = Vec::new();
    for name in ["a", "ab", "abc", "b"] {
        let steps = store.steps(&run_id(name), 0, 100).unwrap();
        all.extend(steps.into_iter().map(|step| step.checkpoint_id.to_string()));
    }
    all.sort();
    assert_eq!(all.len(), 28);
    for id in &all {
        for length in 0..=id.len() {
            let prefix = id.get(..length).unwrap();
            let expected: Vec<&String> = all.iter().filter(|id| id.starts_with(prefix)).collect();
            let found = store.checkpoints_by_prefix(prefix, 100).unwrap();
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{prefix:?}");
        }
    }
    assert_eq!(store.checkpoints_by_prefix("", 3).unwrap().len(), 3);
    for strange in ["A", "%", "_", "é", "\u{10ffff}", "a b"] {
        assert!(store.checkpoints_by_prefix(strange, 5).unwrap().is_empty());
        assert!(store.runs_by_prefix(strange, 5).unwrap().is_empty());
    }
    let names = ["a", "ab", "abc"].map(run_id);
    assert_eq!(store.runs_by_prefix("a", 5).unwrap(), names);
    assert_eq!(store.runs_by_prefix("ab", 5).unwrap(), names[1..]);
    let jobs = ["job-of-a", "job-of-ab"].map(job_id);
    assert_eq!(store.jobs_by_prefix("job-of-a", 2).unwrap(), jobs);
}

pub(crate) fn pages_follow_one_another_without_gap_or_overlap<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for number in 0..25_i64 {
        let mut plan = Plan::new(&format!("r{number}"), 0);
        // Several begin at the same time.
        plan.at += number / 4;
        plan.make().store(&mut store);
    }
    let all = names(&store, &RunFilter::default());
    assert_eq!(all.len(), 25);
    let mut paged = Vec::new();
    let mut mark: Option<PageMark> = None;
    loop {
        let page = store.runs(&RunFilter::default(), mark.as_ref(), 7).unwrap();
        paged.extend(page.items.iter().map(|run| run.run_id.to_string()));
        let Some(next) = page.next else { break };
        // A mark survives being printed.
        mark = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(paged, all);
    let first = store.jobs(&RunFilter::default(), None, 20).unwrap();
    let rest = store
        .jobs(&RunFilter::default(), first.next.as_ref(), 20)
        .unwrap();
    assert_eq!((first.items.len(), rest.items.len()), (20, 5));
    assert!(rest.next.is_none());
    assert!("x".parse::<PageMark>().is_err());
}

pub(crate) fn a_job_is_what_its_runs_are<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let plan = |run: &str, fails: bool, at: i64| Plan {
        job: "job".into(),
        fails,
        at,
        ..Plan::new(run, 2)
    };
    plan("a", false, 1000).make().store(&mut store);
    let job = store.job(&job_id("job")).unwrap().unwrap();
    assert_eq!((job.status, job.steps), (JobStatus::Completed, 3));
    assert_eq!(job.expert_key, "coder");
    assert_eq!(job.started_at, 1000);
    let open = plan("b", true, 5000).make();
    store.begin_run(&open.begin).unwrap();
    let job = store.job(&job_id("job")).unwrap().unwrap();
    assert_eq!((job.status, job.finished_at), (JobStatus::Running, None));
    store
        .append(open.id(), &open.records, &open.chunks)
        .unwrap();
    store.finish_run(open.id(), &json!(1), 0).unwrap();
    let job = store.job(&job_id("job")).unwrap().unwrap();
    assert_eq!(job.status, JobStatus::StoppedByError);
    assert_eq!(job.usage.input_tokens, Some(2 * (101 + 102)));
    assert!(job.finished_at.is_some());
    assert!(store.job(&job_id("none")).unwrap().is_none());
}

pub(crate) fn steps_are_listed<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("a", 10).make();
    made.store(&mut store);
    let steps = store.steps(made.id(), 0, 100).unwrap();
    assert_eq!(steps.len(), 11);
    assert_eq!(steps[3].tool_calls, 1);
    assert_eq!(store.steps(made.id(), 4, 2).unwrap(), steps[4..6]);
}

pub(crate) fn a_search_finds_all_that_was_committed<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = Plan::new("a", 8).make();
    store.begin_run(&made.begin).unwrap();
    for record in &made.records {
        store
            .append(made.id(), std::slice::from_ref(record), &[])
            .unwrap();
        let hits = store
            .search("input: cat", &RunFilter::default(), None, 100)
            .unwrap();
        let calls = made.records[..=record.seq as usize]
            .iter()
            .filter(|record| serde_json::to_string(record).unwrap().contains("cat file"))
            .count();
        assert_eq!(hits.items.len(), calls);
    }
    // A store that may only be read finds what nobody indexed yet, too.
    let other = Plan::new("b", 3).make();
    other.store(&mut store);
    let reader = home.open_to_read();
    let hits = reader
        .search("input: cat", &RunFilter::default(), None, 100)
        .unwrap();
    assert_eq!(hits.items.len(), 11);
    let only = filter(|f| f.job = Some(other.begin.job_id.clone()));
    let hits = reader.search("cat*", &only, None, 2).unwrap();
    assert_eq!(hits.items.len(), 2);
    assert!(hits.next.is_some());
    // Page by page, each hit once, whether the index knows it or not.
    let (mut paged, mut next) = (Vec::new(), None);
    loop {
        let page = reader.search("input: cat", &RunFilter::default(), next.as_ref(), 4);
        let page = page.unwrap();
        paged.extend(page.items.into_iter().map(|hit| (hit.run_id, hit.seq)));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(paged.len(), 11);
    paged.sort();
    paged.dedup();
    assert_eq!(paged.len(), 11);
    // And so do lists of runs and jobs that have a text.
    let with_text = filter(|f| f.text = Some("input: cat".to_owned()));
    assert_eq!(reader.runs(&with_text, None, 10).unwrap().items.len(), 2);
    assert_eq!(reader.jobs(&with_text, None, 10).unwrap().items.len(), 2);
    let hits = reader.search("cat*", &with_text, None, 100).unwrap();
    assert_eq!(hits.items.len(), 11);
    let without = filter(|f| f.text = Some("nowhere".to_owned()));
    assert!(reader.runs(&without, None, 10).unwrap().items.is_empty());
    assert!(
        reader
            .search("cat*", &without, None, 100)
            .unwrap()
            .items
            .is_empty()
    );

    let hits = store.search("naively", &only, None, 5).unwrap();
    let snippet = &hits.items[0].snippet;
    assert_eq!(snippet[1].text, "naïvely");
    assert!(snippet[1].is_match && !snippet[0].is_match);
    let first = store.search("cat", &RunFilter::default(), None, 4).unwrap();
    let second = store
        .search("cat", &RunFilter::default(), first.next.as_ref(), 40)
        .unwrap();
    assert_eq!(first.items.len() + second.items.len(), 11);
    assert!(first.items.iter().all(|hit| !second.items.contains(hit)));
    store.release_run(made.id());
    store.delete_run(made.id(), 1).unwrap();
    let hits = store
        .search("cat", &RunFilter::default(), None, 100)
        .unwrap();
    assert_eq!(hits.items.len(), 3);
}

pub(crate) fn a_resumed_session_is_not_counted_twice<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let resumed = |run: &str, steps| Plan {
        session: Some("s".into()),
        ..Plan::new(run, steps)
    };
    resumed("first", 2).make().store(&mut store);
    resumed("second", 3).make().store(&mut store);
    Plan::new("other", 1).make().store(&mut store);
    let counted = |store: &Store| -> i64 {
        let days = store.usage_daily().unwrap();
        days.iter().filter_map(|day| day.usage.input_tokens).sum()
    };
    assert_eq!(counted(&store), 101 + 102 + 103 + 101);
    let ledger = store.usage_of(&run_id("second")).unwrap();
    assert_eq!(
        ledger
            .iter()
            .map(|entry| entry.is_repeated)
            .collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(ledger[0].key, "msg_1");
    assert!(store.verify().unwrap().is_intact());
    // Without the first run, the second is the one that counts.
    store.delete_run(&run_id("first"), 1).unwrap();
    assert_eq!(counted(&store), 101 + 102 + 103 + 101);
    assert!(store.verify().unwrap().is_intact());
}
