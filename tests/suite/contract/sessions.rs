//! What a session used counts once, however many of its runs report it, and in whatever order they are
//! stored.

use std::collections::BTreeMap;

use runtape_core::record::UsageSource;
use runtape_core::{RecordKind, TokenCounts};

use runtape_store::{Calendar, RunFilter, Store, UsageBy};
use runtape_tests::runs::{Dice, Made, Plan, run_id};
use runtape_tests::stopwatch::assert_growth;

use crate::Backend;

/// A run that states nothing but the total of its session.
fn stating(run: &str, session: &str, at: i64, input: i64, output: i64) -> Made {
    Plan {
        session: Some(session.to_owned()),
        at: 1_790_000_000_000 + at,
        job: format!("job-of-{session}"),
        session_total: Some(total(input, output)),
        ..Plan::new(run, 0)
    }
    .make()
}

fn total(input: i64, output: i64) -> TokenCounts {
    TokenCounts {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..TokenCounts::default()
    }
}

/// Returns what counts of a run, and whether it may hold what others used.
fn counted(store: &Store, run: &str) -> (Option<i64>, Option<i64>, bool) {
    let ledger = store.usage_of(&run_id(run)).unwrap();
    assert_eq!(ledger.len(), 1);
    let usage = store.run(&run_id(run)).unwrap().usage;
    assert_eq!(ledger[0].usage, usage, "{run}");
    assert!(!ledger[0].is_repeated);
    (
        usage.input_tokens,
        usage.output_tokens,
        ledger[0].of_session,
    )
}

/// Asserts that all ways to add up come to the same, and returns that.
fn sums(store: &Store) -> i64 {
    let all = RunFilter::default();
    let sum = |counts: Vec<TokenCounts>| -> i64 {
        counts.iter().filter_map(|counts| counts.input_tokens).sum()
    };
    let runs = store.runs(&all, None, 10_000).unwrap().items;
    let expected = sum(runs.into_iter().map(|run| run.usage).collect());
    let jobs = store.jobs(&all, None, 10_000).unwrap().items;
    assert_eq!(
        sum(jobs.into_iter().map(|job| job.usage).collect()),
        expected
    );
    let days = store.usage_daily().unwrap();
    assert_eq!(
        sum(days.into_iter().map(|day| day.usage).collect()),
        expected
    );
    let sessions = store.sessions(&all, None, 10_000).unwrap().items;
    assert_eq!(
        sum(sessions.into_iter().map(|session| session.usage).collect()),
        expected
    );
    for by in UsageBy::ALL {
        let groups = store
            .usage_by(&all, std::slice::from_ref(&by), Calendar::Utc)
            .unwrap();
        let groups = groups.into_iter().map(|group| group.usage).collect();
        assert_eq!(sum(groups), expected, "{by:?}");
    }
    expected
}

pub(crate) fn a_total_of_a_session_counts_what_it_holds_beyond_the_last_one<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for made in [
        stating("one", "s", 1, 100, 10),
        stating("two", "s", 2, 250, 10),
        stating("three", "s", 3, 400, 35),
    ] {
        made.store(&mut store);
    }
    // Of the first run nobody knows whether it is the session's first.
    assert_eq!(counted(&store, "one"), (Some(100), Some(10), true));
    assert_eq!(counted(&store, "two"), (Some(150), Some(0), false));
    assert_eq!(counted(&store, "three"), (Some(150), Some(25), false));
    let ledger = store.usage_of(&run_id("two")).unwrap();
    assert_eq!(ledger[0].source, UsageSource::Remainder);
    assert_eq!(
        store.usage_of(&run_id("one")).unwrap()[0].source,
        UsageSource::Total
    );
    assert_eq!(sums(&store), 400);
    // A counter that nobody reported stays unknown.
    assert_eq!(ledger[0].usage.reasoning_tokens, None);
    assert!(store.verify().unwrap().is_intact());
}

/// A run that begins its session states its own total: it is the session's, too.
pub(crate) fn a_total_of_a_session_counts_what_it_holds_beyond_its_first_run<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut first = stating("one", "s", 1, 100, 10);
    for record in &mut first.records {
        if let RecordKind::Usage(entry) = &mut record.kind {
            entry.of_session = false;
        }
    }
    first.store(&mut store);
    stating("two", "s", 2, 250, 12).store(&mut store);
    assert_eq!(counted(&store, "one"), (Some(100), Some(10), false));
    assert_eq!(counted(&store, "two"), (Some(150), Some(2), false));
    assert_eq!(sums(&store), 250);
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn without_the_run_in_the_middle_the_next_one_counts_more<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for made in [
        stating("one", "s", 1, 100, 10),
        stating("two", "s", 2, 250, 20),
        stating("three", "s", 3, 400, 35),
    ] {
        made.store(&mut store);
    }
    store.delete_run(&run_id("two"), 9).unwrap();
    assert_eq!(counted(&store, "three"), (Some(300), Some(25), false));
    assert_eq!(sums(&store), 400);
    store.delete_run(&run_id("one"), 9).unwrap();
    assert_eq!(counted(&store, "three"), (Some(400), Some(35), true));
    assert_eq!(sums(&store), 400);
    assert!(store.verify().unwrap().is_intact());
}

pub(crate) fn sessions_that_run_side_by_side_have_nothing_to_do_with_each_other<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for made in [
        stating("a1", "a", 1, 100, 10),
        stating("b1", "b", 2, 1000, 10),
        stating("a2", "a", 3, 150, 20),
        stating("b2", "b", 4, 1800, 30),
    ] {
        made.store(&mut store);
    }
    assert_eq!(counted(&store, "a2"), (Some(50), Some(10), false));
    assert_eq!(counted(&store, "b2"), (Some(800), Some(20), false));
    assert_eq!(sums(&store), 150 + 1800);
}

pub(crate) fn a_total_that_fell_counts_nothing_rather_than_less<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    stating("one", "s", 1, 100, 10).store(&mut store);
    stating("two", "s", 2, 40, 30).store(&mut store);
    stating("three", "s", 3, 60, 31).store(&mut store);
    assert_eq!(counted(&store, "two"), (Some(0), Some(20), false));
    assert_eq!(counted(&store, "three"), (Some(20), Some(1), false));
    assert_eq!(sums(&store), 120);
}

pub(crate) fn adding_up_takes_twice_as_long_for_twice_the_runs_of_a_session<B: Backend>() {
    let filled = |runs: i64| {
        let home = B::fresh();
        let mut store = home.open();
        let stored = store.batch(|store| {
            for number in 1..=runs {
                let made = stating(&format!("run-{number}"), "s", number, number * 10, 1);
                made.store(store);
                let plan = Plan {
                    session: Some("resumed".to_owned()),
                    at: 1_790_000_000_000 + number,
                    ..Plan::new(&format!("again-{number}"), 2)
                };
                plan.make().store(store);
            }
            Ok(())
        });
        stored.unwrap();
        (home, store)
    };
    let runs = 250 / B::FEWER;
    let ((_home, once), (_other_home, twice)) = (filled(runs), filled(2 * runs));
    let add_up = |store: &Store, runs: i64| assert_eq!(sums(store), runs * 10 + 101 + 102);
    assert_growth(3, || add_up(&once, runs), || add_up(&twice, 2 * runs));
}

pub(crate) fn the_order_in_which_runs_are_stored_does_not_matter<B: Backend>() {
    let mut dice = Dice::new(5);
    let mut made: Vec<Made> = (1..=12)
        .map(|number| {
            let session = if number % 3 == 0 { "other" } else { "s" };
            // Some begin at the same time.
            let at = number / 2;
            stating(
                &format!("run-{number:02}"),
                session,
                at,
                number * 100,
                number,
            )
        })
        .collect();
    // Others repeat responses of their session, as a runtime does that prints them again.
    made.extend((1..=4).map(|number| {
        let plan = Plan {
            session: Some("resumed".to_owned()),
            at: 1_790_000_000_000 + i64::try_from(number).unwrap(),
            ..Plan::new(&format!("again-{number}"), number)
        };
        plan.make()
    }));
    let mut expected: Option<(i64, BTreeMap<String, TokenCounts>)> = None;
    for _ in 0..5 {
        for at in (1..made.len()).rev() {
            let other = usize::try_from(dice.roll(at as u64 + 1)).unwrap();
            made.swap(at, other);
        }
        let home = B::fresh();
        let mut store = home.open();
        for made in &made {
            made.store(&mut store);
        }
        let runs = store.runs(&RunFilter::default(), None, 100).unwrap().items;
        let counted = runs
            .into_iter()
            .map(|run| (run.run_id.to_string(), run.usage));
        let found = (sums(&store), counted.collect());
        assert_eq!(expected.get_or_insert(found.clone()), &found);
        assert_eq!(store.verify().unwrap().faults, []);
    }
    let (sum, _) = expected.unwrap();
    // Both sessions up to their last totals, and four responses once.
    assert_eq!(sum, 1200 + 1100 + 101 + 102 + 103 + 104);
}
