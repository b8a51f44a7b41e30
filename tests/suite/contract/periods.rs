//! What a period selects: whatever has a time of its own by that time, runs with their jobs and sessions if they were active
//! then. The truth is a look at every record that was stored.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::record::EventRecord;
use runtape_core::{ExpertPart, Message, Record, RecordKind, RuntimeEventKind, TokenCounts};
use runtape_store::{Calendar, CallFilter, FileChoice, RunFilter, Store, UsageBy};
use runtape_tests::runs::{Dice, Made, Plan, child};

use crate::Backend;

const START: i64 = 1_790_000_000_000;
const HOUR: i64 = 3_600_000;

/// Random periods that are asked about.
const PERIODS: usize = 50;

/// Lets a run take longer: all of its times lie that much further from its beginning.
fn stretch(made: &mut Made, factor: i64) {
    let start = made.begin.started_at;
    let later = |at: &mut i64| *at = start + (*at - start) * factor;
    for record in &mut made.records {
        later(&mut record.at);
        if let RecordKind::Checkpoint(head) = &mut record.kind {
            later(&mut head.started_at);
        }
    }
    for chunk in &mut made.chunks {
        later(&mut chunk.received_at);
    }
}

/// Stores runs of minutes and of days that begin and end in any order, one of which goes on; returns their records.
fn fill(store: &mut Store) -> Vec<Vec<Record>> {
    let mut all = Vec::new();
    // From nearly two days before: a run that began long ago and works until the end.
    let plans = [
        ("long", 12, -40 * HOUR, 750_000, "s", false),
        ("short", 3, 2 * HOUR, 1000, "s", true),
        ("middle", 9, -3 * HOUR, 60_000, "t", true),
        ("late", 6, 5 * HOUR, 30_000, "u", false),
        ("early", 4, -60 * HOUR, 10_000, "v", true),
        ("instant", 0, 3 * HOUR, 0, "w", false),
        ("open", 8, -5 * HOUR, 70_000, "x", false),
    ];
    for (name, steps, at, factor, session, fails) in plans {
        let plan = Plan {
            at: START + at,
            session: Some(format!("session-{session}")),
            fails,
            ..Plan::new(name, steps)
        };
        let mut made = plan.make();
        for record in &mut made.records {
            // No response of the session is reported again.
            if let RecordKind::Usage(entry) = &mut record.kind {
                entry.key = format!("{name}_{}", entry.key);
            }
            let RecordKind::Message(message) = &mut record.kind else {
                continue;
            };
            for note in &mut message.calls {
                if message.step % 3 == 0 {
                    note.command = Some("curl https://api.example.com/x".to_owned());
                }
            }
        }
        stretch(&mut made, factor);
        if name == "middle" {
            let children = child(&made, "small");
            let place = made.records.len() / 2;
            made.records.splice(place..place, children);
        }
        if name == "open" {
            made.records.truncate(made.records.len() - 2);
            store.begin_run(&made.begin).unwrap();
            store
                .append(made.id(), &made.records, &made.chunks)
                .unwrap();
        } else {
            made.store(store);
        }
        let mut runs: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for record in made.records {
            runs.entry(record.run_id.to_string())
                .or_default()
                .push(record);
        }
        let root = runs.remove(name).unwrap();
        all.push([vec![root], runs.into_values().collect()].concat());
    }
    all.into_iter().map(|tree| tree.concat()).collect()
}

/// What a look at the records says of a period.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    calls: BTreeSet<(String, u64)>,
    notices: BTreeSet<(String, u64)>,
    warnings: BTreeSet<(String, u64)>,
    network: BTreeSet<(String, u64)>,
    lines: u64,
    errors: BTreeSet<String>,
    runs: BTreeSet<String>,
    jobs: BTreeSet<String>,
    sessions: BTreeSet<String>,
    /// By session.
    tokens: BTreeMap<String, TokenCounts>,
    users: u64,
    costs: usize,
}

fn look(trees: &[Vec<Record>], filter: &RunFilter) -> Truth {
    let mut truth = Truth::default();
    let is_in = |at: i64| {
        filter.since.is_none_or(|since| since <= at) && filter.until.is_none_or(|until| at < until)
    };
    for tree in trees {
        let root = tree[0].run_id.to_string();
        let session = tree.iter().find_map(|record| match &record.kind {
            RecordKind::Metadata(patch) => patch.set.session_id().map(str::to_owned),
            _ => None,
        });
        let session = session.unwrap();
        let mut used = false;
        let runs: BTreeSet<String> = tree
            .iter()
            .map(|record| record.run_id.to_string())
            .collect();
        for run in runs {
            let own: Vec<&Record> = tree
                .iter()
                .filter(|record| record.run_id.as_str() == run)
                .collect();
            let end = own.iter().find_map(|record| match &record.kind {
                RecordKind::Checkpoint(head) if head.status.is_terminal() => {
                    Some((record.at, head))
                }
                _ => None,
            });
            let began = own[0].at;
            let is_before = filter.until.is_none_or(|until| began < until);
            let is_after = filter
                .since
                .is_none_or(|since| end.is_none_or(|(at, _)| at >= since));
            if is_before && is_after {
                truth.runs.insert(run.clone());
                truth.sessions.insert(session.clone());
                truth.jobs.insert(format!("job-of-{root}"));
            }
            if let Some((at, head)) = end
                && is_in(at)
            {
                if head.error.is_some() {
                    truth.errors.insert(run.clone());
                }
                let has_cost = |record: &&Record| matches!(&record.kind, RecordKind::Metadata(patch) if patch.set.cost_usd().is_some());
                let has_cost = own.iter().any(has_cost);
                truth.costs += usize::from(has_cost);
                used |= has_cost && run == root;
            }
            for record in own.iter().filter(|record| is_in(record.at)) {
                let place = (run.clone(), record.seq);
                match &record.kind {
                    RecordKind::Message(message) => {
                        let Message::ExpertMessage(expert) = &message.message else {
                            continue;
                        };
                        let is_call =
                            |part: &ExpertPart| matches!(part, ExpertPart::ToolCallPart(_));
                        if !expert.contents.iter().any(is_call) {
                            continue;
                        }
                        let command = message.calls[0].command.as_deref().unwrap_or_default();
                        if command.contains("example.com") {
                            truth.network.insert(place.clone());
                        }
                        truth.calls.insert(place);
                    }
                    RecordKind::Event(EventRecord { event, .. }) => match event {
                        RuntimeEventKind::UnparsedOutput(_) => truth.lines += 1,
                        event => {
                            if matches!(event, RuntimeEventKind::Warning(_)) {
                                truth.warnings.insert(place.clone());
                            }
                            truth.notices.insert(place);
                        }
                    },
                    RecordKind::Usage(entry) => {
                        used = true;
                        let sum = truth.tokens.entry(session.clone()).or_default();
                        *sum = sum.plus(entry.counts);
                    }
                    _ => {}
                }
            }
        }
        truth.users += u64::from(used);
    }
    truth
}

fn ask(store: &Store, filter: &RunFilter) -> Truth {
    let calls = CallFilter::from(filter.clone());
    let most = usize::MAX;
    let found = store.tool_calls(&calls, most).unwrap();
    assert!(found.is_sorted_by(|a, b| a.at >= b.at));
    let tools = store.tools(&calls, most).unwrap();
    assert_eq!(
        tools.iter().map(|tool| tool.calls).sum::<u64>(),
        found.len() as u64
    );
    let mut files = store.files(&calls, &FileChoice::default(), most).unwrap();
    // Those that the words of commands name differ from command to command.
    files.retain(|file| file.known_by.is_none());
    for file in &files {
        assert_eq!(file.calls, found.len() as u64, "{file:?}");
    }
    assert_eq!(files.len(), if found.is_empty() { 0 } else { 2 });
    let mut network = BTreeSet::new();
    store
        .each_network_call(&calls, None, |used| {
            network.insert((used.call.run_id.to_string(), used.call.seq));
            true
        })
        .unwrap();
    let hosts = store.hosts(&calls, None, most).unwrap();
    assert_eq!(
        hosts.iter().map(|host| host.calls).sum::<u64>(),
        network.len() as u64
    );
    let failures = store
        .failures(filter, runtape_store::FailureBy::Name)
        .unwrap();
    let errors = store.errors(filter, most).unwrap();
    assert_eq!(
        failures.iter().map(|sum| sum.runs).sum::<u64>(),
        errors.len() as u64
    );
    assert!(errors.is_sorted_by(|a, b| a.finished_at >= b.finished_at));
    let hits = store.search("careful", filter, None, 10_000).unwrap().items;
    let mut truth = Truth {
        calls: found
            .iter()
            .map(|call| (call.run_id.to_string(), call.seq))
            .collect(),
        notices: store
            .notices(filter, &[], most)
            .unwrap()
            .iter()
            .map(|notice| (notice.run_id.to_string(), notice.seq))
            .collect(),
        warnings: hits
            .iter()
            .map(|hit| (hit.run_id.to_string(), hit.seq))
            .collect(),
        network,
        lines: store
            .drift(filter, most)
            .unwrap()
            .iter()
            .map(|drift| drift.lines)
            .sum(),
        errors: errors.iter().map(|run| run.run_id.to_string()).collect(),
        ..Truth::default()
    };
    // A page at a time, as lists are shown.
    let mut after = None;
    loop {
        let page = store.runs(filter, after.as_ref(), 2).unwrap();
        truth
            .runs
            .extend(page.items.iter().map(|run| run.run_id.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let jobs = store.jobs(filter, None, 100).unwrap().items;
    truth.jobs = jobs.iter().map(|job| job.job_id.to_string()).collect();
    let sessions = store.sessions(filter, None, 100).unwrap().items;
    truth.sessions = sessions
        .into_iter()
        .map(|session| session.session_id)
        .collect();
    // However it is grouped, it comes to the same.
    let mut expected = None;
    for by in UsageBy::ALL {
        let groups = store
            .usage_by(filter, std::slice::from_ref(&by), Calendar::Utc)
            .unwrap();
        let tokens = groups
            .iter()
            .fold(TokenCounts::default(), |sum, group| sum.plus(group.usage));
        let runs: u64 = groups.iter().map(|group| group.runs).sum();
        let cost: i64 = groups
            .iter()
            .filter_map(|group| group.cost_nanodollars)
            .sum();
        let sums = (tokens, runs, cost);
        assert_eq!(*expected.get_or_insert(sums), sums, "{by:?} {filter:?}");
        if by == UsageBy::Session {
            let named = groups.into_iter().filter(|group| !group.usage.is_unknown());
            truth.tokens = named
                .map(|group| (group.names[0].clone().unwrap(), group.usage))
                .collect();
        }
    }
    let (_, runs, cost) = expected.unwrap();
    truth.users = runs;
    truth.costs = usize::try_from(cost / 300_000_000).unwrap();
    truth
}

pub(crate) fn a_period_selects_what_happened_in_it<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let trees = fill(&mut store);
    let mut times: Vec<i64> = trees.iter().flatten().map(|record| record.at).collect();
    times.sort_unstable();
    times.dedup();
    let mut dice = Dice::new(7);
    let any = |dice: &mut Dice| {
        let at = times[dice.roll(times.len() as u64) as usize];
        // The time itself, or one beside it.
        Some(at + dice.roll(3).cast_signed() - 1)
    };
    let mut periods = vec![
        (None, None),
        (Some(i64::MIN), Some(i64::MAX)),
        (None, Some(i64::MIN)),
    ];
    periods.push((Some(START - 45 * HOUR), Some(START - 44 * HOUR)));
    for number in 0..PERIODS {
        let (one, other) = (any(&mut dice), any(&mut dice));
        periods.push(match number % 5 {
            0 => (one, None),
            1 => (None, one),
            _ => (one.min(other), one.max(other)),
        });
    }
    let mut whole = 0;
    for (since, until) in periods {
        let mut filter = RunFilter::default();
        (filter.since, filter.until) = (since, until);
        let expected = look(&trees, &filter);
        assert_eq!(ask(&store, &filter), expected, "{since:?} to {until:?}");
        whole += usize::from(!expected.calls.is_empty() && expected.runs.len() < 8);
        // With another filter beside it, which an index may be better for.
        filter.session = Some("session-s".to_owned());
        let calls = store
            .tool_calls(&CallFilter::from(filter.clone()), usize::MAX)
            .unwrap();
        let of_session = expected
            .calls
            .iter()
            .filter(|(run, _)| matches!(run.as_str(), "long" | "short"));
        assert_eq!(calls.len(), of_session.count(), "{filter:?}");
        let used = store.usage_by(&filter, &[], Calendar::Utc).unwrap();
        let used = used.first().map(|sum| sum.usage).unwrap_or_default();
        assert_eq!(
            used,
            expected
                .tokens
                .get("session-s")
                .copied()
                .unwrap_or_default()
        );
    }
    assert!(whole > 20, "most periods have some of it");
}

pub(crate) fn what_an_old_run_does_now_is_not_missed<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    // It began nearly two days before, and works until half a day after.
    let mut filter = RunFilter::default();
    filter.since = Some(START + 6 * HOUR);
    let calls = store
        .tool_calls(&CallFilter::from(filter.clone()), 100)
        .unwrap();
    assert!(
        calls.iter().any(|call| call.run_id.as_str() == "long"),
        "{calls:?}"
    );
    filter.session = Some("session-s".to_owned());
    let used = store
        .usage_by(&filter, &[UsageBy::Day], Calendar::Utc)
        .unwrap();
    assert!(used.iter().any(|group| !group.usage.is_unknown()));
    assert_eq!(used.iter().map(|group| group.runs).sum::<u64>(), 1);
    // Two halves are the whole, and each run is in as many of them as it was active in.
    let sum = |since, until| {
        let mut filter = RunFilter::default();
        (filter.since, filter.until) = (since, until);
        let used = store.usage_by(&filter, &[], Calendar::Utc).unwrap();
        used[0].usage
    };
    for middle in [START - 7 * HOUR, START, START + 3 * HOUR] {
        let halves = sum(None, Some(middle)).plus(sum(Some(middle), None));
        assert_eq!(halves, sum(None, None));
    }
}
