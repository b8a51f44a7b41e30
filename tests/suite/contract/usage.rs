//! Whatever usage is grouped by, the groups come to the same sums, tokens and cost; runs, jobs and sessions
//! say the same; and the sums that are kept are those that would be made on the fly.

use std::collections::BTreeMap;

use runtape_core::prices::{Estimate, PriceTable};
use runtape_core::record::MetadataPatch;
use runtape_core::report::{RemovalReason, RunInfo};
use runtape_core::{JobId, Metadata, RecordKind, RunId, Runtime, TokenCounts};
use runtape_store::{Calendar, PreparedRun, RunFilter, Store, Trust, UsageBy, UsageOf, UsageSum};
use runtape_tests::runs::{Dice, Made, Plan, child, run_id};
use serde_json::json;

use crate::Backend;

/// Random stores that are made, and changes that each goes through.
const STORES: u64 = 12;
const CHANGES: u64 = 14;

/// A zone with a day that begins between two hours of UTC.
fn kathmandu(at: i64) -> i64 {
    (at + (5 * 60 + 45) * 60_000).div_euclid(24 * 3_600_000)
}

/// What groups come to.
#[derive(Debug, Default, PartialEq)]
struct Total {
    runs: u64,
    usage: TokenCounts,
    nanodollars: Option<i64>,
    estimate: Estimate,
}

impl Total {
    fn of(groups: &[UsageSum]) -> Self {
        let table = PriceTable::built_in();
        let mut total = Self::default();
        for group in groups {
            total.runs += group.runs;
            total.usage = total.usage.plus(group.usage);
            let costs = [total.nanodollars, group.cost_nanodollars];
            total.nanodollars = costs.into_iter().flatten().reduce(|a, b| a + b);
            let estimate = table.estimate(&group.unreported);
            total.estimate = std::mem::take(&mut total.estimate).plus(estimate);
        }
        total
    }
}

fn nanodollars(cost: Option<f64>) -> Option<i64> {
    cost.map(|cost| (cost * 1e9).round() as i64)
}

/// A filter that lets all runs through, and that no sum is kept for.
fn on_the_fly() -> RunFilter {
    let mut filter = RunFilter::default();
    filter.since = Some(i64::MIN);
    filter
}

/// Asserts that all ways to ask agree, and returns what it all comes to.
fn agree(store: &Store) -> Total {
    let all = RunFilter::default();
    let local = Calendar::Local(&kathmandu);
    let team = UsageBy::Label(Some("team".to_owned()));
    let mut questions: Vec<Vec<UsageBy>> = vec![Vec::new(), vec![team, UsageBy::Model]];
    for one in UsageBy::ALL {
        questions.push(vec![one.clone()]);
        let others = UsageBy::ALL.into_iter().filter(|other| *other != one);
        questions.extend(others.map(|other| vec![one.clone(), other]));
    }
    let expected = Total::of(&store.usage_by(&all, &[], Calendar::Utc).unwrap());
    for by in &questions {
        for calendar in [Calendar::Utc, local] {
            let groups = store.usage_by(&all, by, calendar).unwrap();
            assert_eq!(Total::of(&groups), expected, "{by:?} {calendar:?}");
            let fresh = store.usage_by(&on_the_fly(), by, calendar).unwrap();
            assert_eq!(groups, fresh, "{by:?} {calendar:?}");
        }
    }
    let runs = store.runs(&all, None, 10_000).unwrap().items;
    let sum = runs
        .iter()
        .fold(TokenCounts::default(), |sum, run| sum.plus(run.usage));
    assert_eq!(sum, expected.usage);
    let costs = runs
        .iter()
        .filter_map(|run| nanodollars(run.cost.reported()));
    assert_eq!(costs.reduce(|a, b| a + b), expected.nanodollars);
    // Each job and each session as its group says. One that reported nothing is no group.
    let named = |by| -> BTreeMap<Option<String>, (TokenCounts, Option<i64>)> {
        let groups = store.usage_by(&all, &[by], local).unwrap();
        let groups = groups.into_iter();
        groups
            .map(|group| {
                (
                    group.names[0].clone(),
                    (group.usage, group.cost_nanodollars),
                )
            })
            .collect()
    };
    let groups = named(UsageBy::Job);
    for job in store.jobs(&all, None, 10_000).unwrap().items {
        let of_job = groups.get(&Some(job.job_id.to_string()));
        let expected = of_job.copied().unwrap_or_default();
        assert_eq!(
            (job.usage, nanodollars(job.cost.reported())),
            expected,
            "{job:?}"
        );
    }
    let mut groups = named(UsageBy::Session);
    groups.remove(&None);
    let mut sessions: BTreeMap<Option<String>, (TokenCounts, Option<i64>)> = BTreeMap::new();
    for session in store.sessions(&all, None, 10_000).unwrap().items {
        // The same id under two runtimes is two sessions, and one group.
        let (usage, cost) = sessions
            .entry(Some(session.session_id.clone()))
            .or_default();
        *usage = usage.plus(session.usage);
        let costs = [*cost, nanodollars(session.cost.reported())];
        *cost = costs.into_iter().flatten().reduce(|a, b| a + b);
    }
    estimates_agree(store, &expected.estimate);
    sessions.retain(|_, said| *said != <(TokenCounts, Option<i64>)>::default());
    assert_eq!(sessions, groups);
    expected
}

/// Asserts that what runs, trees, jobs and sessions are estimated to cost comes to the same.
fn estimates_agree(store: &Store, expected: &Estimate) {
    let all = RunFilter::default();
    let sum = |of: UsageOf<'_>| {
        let bases = store.cost_bases(of).unwrap();
        PriceTable::built_in().estimate(bases.iter().flat_map(|basis| &basis.unreported))
    };
    let runs = store.runs(&all, None, 10_000).unwrap().items;
    let ids: Vec<RunId> = runs.iter().map(|run| run.run_id.clone()).collect();
    assert_eq!(sum(UsageOf::Runs(&ids)), *expected);
    let roots = runs.iter().filter(|run| run.root_run_id.is_none());
    let (named, unnamed): (Vec<_>, Vec<_>) = roots.partition(|run| run.session_id.is_some());
    let ids =
        |runs: &[&RunInfo]| -> Vec<RunId> { runs.iter().map(|run| run.run_id.clone()).collect() };
    let (named, unnamed) = (ids(&named), ids(&unnamed));
    let roots = [named.clone(), unnamed.clone()].concat();
    assert_eq!(sum(UsageOf::Trees(&roots)), *expected);
    let jobs = store.jobs(&all, None, 10_000).unwrap().items;
    let jobs: Vec<JobId> = jobs.into_iter().map(|job| job.job_id).collect();
    assert_eq!(sum(UsageOf::Jobs(&jobs)), *expected);
    let sessions = store.sessions(&all, None, 10_000).unwrap().items;
    let sessions = sessions.into_iter();
    let sessions: Vec<(Runtime, String)> = sessions
        .map(|session| (session.runtime, session.session_id))
        .collect();
    let of_sessions = sum(UsageOf::Sessions(&sessions));
    assert_eq!(of_sessions, sum(UsageOf::Trees(&named)));
    assert_eq!(of_sessions.plus(sum(UsageOf::Trees(&unnamed))), *expected);
}

/// The same, and that the store is intact: what is kept is what its records say.
fn hold(store: &Store) -> Total {
    let total = agree(store);
    assert_eq!(store.verify().unwrap().faults, []);
    total
}

/// Makes a run of which much is random: models, costs, times across midnight, replayed responses, totals of
/// its session, a child.
fn random(dice: &mut Dice, name: &str) -> (Made, Option<String>) {
    let runtimes = [Runtime::ClaudeCode, Runtime::Codex, Runtime::Hermes];
    let mut pick = |sides: u64| usize::try_from(dice.roll(sides)).unwrap();
    let mut plan = Plan::new(name, pick(4) as u64);
    plan.runtime = runtimes[pick(3)].clone();
    plan.job = format!("job-{}", pick(4));
    let own = format!("own-{name}");
    plan.session =
        [None, Some("s1"), Some("s2"), Some("s3"), Some(&*own)][pick(5)].map(str::to_owned);
    plan.at = 1_790_000_000_000 + 1000 * i64::try_from(pick(400_000)).unwrap();
    if pick(3) == 0 {
        plan.session_total = Some(TokenCounts {
            input_tokens: Some(1000 * i64::try_from(pick(900)).unwrap()),
            output_tokens: [None, Some(77)][pick(2)],
            ..TokenCounts::default()
        });
    }
    let mut made = plan.make();
    let models = [
        None,
        Some("gpt-5"),
        Some("claude-sonnet-4-5-20250929"),
        Some("gemini-2.5-pro"),
        Some("m1"),
    ];
    let is_told = pick(2) == 0;
    let pace = [0, 3_000_000, 9_000_000][pick(3)];
    for (record, number) in made.records.iter_mut().zip(0..) {
        record.at += pace * number;
        match &mut record.kind {
            RecordKind::Usage(entry) => {
                entry.model = models[pick(5)].map(str::to_owned);
                if pick(4) == 0 {
                    entry.counts.input_tokens =
                        Some(150_000 + i64::try_from(pick(100_000)).unwrap());
                }
                if pick(5) == 0 {
                    entry.counts.output_tokens = None;
                }
                if pick(3) == 0 {
                    let [written, for_an_hour] = [50, 30].map(|most| {
                        let count = i64::try_from(pick(most)).unwrap();
                        (count > 0).then_some(count)
                    });
                    entry.counts = entry.counts.with_writes(written, for_an_hour);
                }
            }
            RecordKind::Metadata(MetadataPatch { set }) if set.cost_usd().is_some() => {
                *set = Metadata::default();
                if is_told {
                    set.set("costUsd", pick(1_000_000) as f64 / 1e7 + 1e-10);
                } else {
                    set.set("durationMs", 5);
                }
                match pick(3) {
                    0 => set.set("labels", json!({"team": "blue"})),
                    1 => set.set("labels", json!({"team": "red", "ticket": name})),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // What a child printed is on the tape of its root.
    let child = (pick(3) == 0 && !made.chunks.is_empty()).then(|| format!("child-of-{name}"));
    (made, child)
}

/// Puts a whole run into a store, with its child.
fn put(store: &mut Store, made: &Made, child_name: Option<&str>) {
    let chunks = made.chunks.iter();
    let output = chunks.map(|chunk| (chunk.stream, chunk.received_at, &*chunk.bytes));
    let mut records = made.records.clone();
    records.extend(child_name.into_iter().flat_map(|name| child(made, name)));
    let prepared = PreparedRun::new(&made.begin, &records, &json!({"code": 0})).unwrap();
    store.put_run(prepared.with_output(output), 1).unwrap();
}

/// Changes a store in one of the ways there are.
fn change(store: &mut Store, dice: &mut Dice, number: u64) {
    let name = format!("run-{number}");
    let (made, child_name) = random(dice, &name);
    let exit = json!({"code": 0});
    let runs = store.runs(&RunFilter::default(), None, 1000).unwrap().items;
    let sealed: Vec<RunId> = runs
        .into_iter()
        .filter(|run| run.seal.is_some() && run.root_run_id.is_none())
        .map(|run| run.run_id)
        .collect();
    let one = usize::try_from(dice.roll(1000)).unwrap();
    let one = (!sealed.is_empty()).then(|| sealed[one % sealed.len()].clone());
    // What printed nothing has no tape that its records could be made from.
    let is_taped = one
        .as_ref()
        .is_some_and(|run| store.check_tape(run).is_ok());
    match (dice.roll(10), one) {
        (0 | 1, _) => {
            store.begin_run(&made.begin).unwrap();
            made.append_live(store, 2);
            if let Some(child_name) = child_name {
                store
                    .append(made.id(), &child(&made, &child_name), &[])
                    .unwrap();
            }
            store.finish_run(made.id(), &exit, 1).unwrap();
        }
        // One that stays open.
        (2, _) => {
            store.begin_run(&made.begin).unwrap();
            let half = made.records.len() / 2;
            store
                .append(made.id(), &made.records[..half], &made.chunks)
                .unwrap();
        }
        (3, Some(run)) => store.delete_run(&run, 2).unwrap(),
        (4, Some(run)) if is_taped => {
            let records = store.records(&run, 0, 10_000).unwrap();
            store.replace_records(&run, &records, 3).unwrap();
        }
        (5, Some(run)) if is_taped => {
            // What is known now: another session.
            let mut records = store.records(&run, 0, 10_000).unwrap();
            for record in &mut records {
                if let RecordKind::Metadata(MetadataPatch { set }) = &mut record.kind
                    && set.cwd().is_some()
                {
                    set.set("sessionId", "s2");
                }
            }
            store
                .retell_run(&run, RemovalReason::Replaced, &json!({}), 3, |store| {
                    store.append(&run, &records, &[])?;
                    Ok(None)
                })
                .unwrap();
        }
        (6, Some(run)) => drop(store.rebuild(&run).unwrap()),
        // Several at once, and between them one that asks for them, and one that changes what counts.
        (7, run) => store
            .batch(|store| {
                put(store, &made, child_name.as_deref());
                for other in 0..4 {
                    let (made, child_name) = random(dice, &format!("{name}-{other}"));
                    put(store, &made, child_name.as_deref());
                    match (other, &run) {
                        (1, _) => {
                            let days = |filter: &RunFilter| {
                                store.usage_by(filter, &[UsageBy::Day], Calendar::Utc)
                            };
                            assert_eq!(days(&RunFilter::default())?, days(&on_the_fly())?);
                        }
                        (2, Some(run)) => store.delete_run(run, 2)?,
                        _ => {}
                    }
                }
                Ok(())
            })
            .unwrap(),
        _ => put(store, &made, child_name.as_deref()),
    }
}

pub(crate) fn every_grouping_comes_to_the_same_total<B: Backend>() {
    let (mut runs, mut tokens) = (0, 0);
    for seed in 1..=STORES {
        let mut dice = Dice::new(seed * 7919);
        let home = B::fresh();
        let mut store = home.open();
        for number in 0..CHANGES {
            change(&mut store, &mut dice, number);
            // From here on the runs so far are among the sums, and those to come are not.
            if number % 4 == 1 {
                store.rebuild_all(|_, rebuilt| drop(rebuilt)).unwrap();
            }
            if number % 4 == 3 {
                hold(&store);
            }
        }
        let total = hold(&store);
        runs += total.runs;
        tokens += total.usage.input_tokens.unwrap_or(0);
        store.rebuild_all(|_, rebuilt| drop(rebuilt)).unwrap();
        assert_eq!(hold(&store), total, "store {seed}");
        // Who may only read is told the same.
        drop(store);
        assert_eq!(hold(&home.open_to_read()), total, "store {seed}");
    }
    assert!(
        runs > 60 && tokens > 1_000_000,
        "{runs} runs, {tokens} tokens"
    );
}

/// Runs of one session, the later ones first and then others between them: as many as wait for the sums, and more.
pub(crate) fn many_runs_come_to_the_same_whether_they_wait_or_not<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    // Twice as many as wait together, and more; over a connection once as many.
    let last = if B::FEWER > 1 { 79 } else { 149 };
    for number in 0..=last {
        let mut plan = Plan::new(&format!("run-{number}"), 1);
        plan.session = Some("s".to_owned());
        plan.at += (number * 67 % 151) * 600_000;
        plan.make().store(&mut store);
        if [62, 63, 64, 127, last].contains(&number) {
            let total = hold(&store);
            assert_eq!(total.runs, number.unsigned_abs() + 1);
        }
    }
    let total = hold(&store);
    store.rebuild_all(|_, rebuilt| drop(rebuilt)).unwrap();
    assert_eq!(hold(&store), total);
}

pub(crate) fn a_run_across_midnight_keeps_its_cost<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut plan = Plan::new("late", 3);
    // Ten to midnight in UTC.
    plan.at = 1_790_035_200_000 - 600_000;
    let mut made = plan.make();
    for (record, number) in made.records.iter_mut().zip(0..) {
        record.at += 90_000 * number;
    }
    made.store(&mut store);
    let all = RunFilter::default();
    let days = |calendar| -> Vec<(String, u64, Option<i64>, Option<i64>)> {
        let groups = store.usage_by(&all, &[UsageBy::Day], calendar).unwrap();
        let groups = groups.into_iter().map(|group| {
            let cost = group.cost_nanodollars;
            let name = group.names[0].clone().unwrap();
            (name, group.runs, group.usage.output_tokens, cost)
        });
        groups.collect()
    };
    assert_eq!(
        days(Calendar::Utc),
        [
            ("2026-09-21".to_owned(), 1, Some(20), None),
            ("2026-09-22".to_owned(), 0, Some(40), Some(300_000_000)),
        ]
    );
    // Where it is morning already, it is one day.
    assert_eq!(
        days(Calendar::Local(&kathmandu)),
        [("2026-09-22".to_owned(), 1, Some(60), Some(300_000_000))]
    );
}

pub(crate) fn what_comes_with_a_bundle_is_among_the_sums<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for (run, at) in [("one", 1), ("three", 3)] {
        let mut plan = Plan::new(run, 2);
        plan.session = Some("s".to_owned());
        plan.at += at;
        plan.make().store(&mut store);
    }
    let before = hold(&store);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle");
    let other = B::fresh();
    let mut source = other.open();
    let mut plan = Plan::new("two", 3);
    plan.session = Some("s".to_owned());
    plan.at += 2;
    plan.make().store(&mut source);
    source.write_bundle(&[run_id("two")], &path).unwrap();
    let bundle = Store::open_bundle(&path).unwrap();
    assert_eq!(agree(&bundle).runs, 1);
    store.import_bundle(&bundle, Trust::Verified, 5).unwrap();
    let after = hold(&store);
    // Two of its three responses were told by the first run.
    let output = |total: &Total| total.usage.output_tokens.unwrap();
    assert_eq!((output(&before), output(&after)), (40, 60));
}
