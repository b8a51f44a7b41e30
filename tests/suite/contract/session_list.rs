//! Lists of sessions.

use runtape_core::record::MetadataPatch;
use runtape_core::report::SessionInfo;
use runtape_core::{CheckpointStatus, Metadata, RecordKind, Runtime};
use runtape_store::{RunFilter, Store};
use runtape_tests::runs::{Made, Plan, child, run_id};
use runtape_tests::stopwatch::assert_growth;

use crate::Backend;

/// What a filter is set to, and the sessions that it lets through.
type Case<'a> = (&'a dyn Fn(&mut RunFilter), &'a [SessionInfo]);

const START: i64 = 1_790_000_000_000;

fn plan(run: &str, steps: u64, session: Option<&str>, at: i64) -> Plan {
    Plan {
        session: session.map(str::to_owned),
        at: START + at,
        ..Plan::new(run, steps)
    }
}

fn all(store: &Store) -> Vec<SessionInfo> {
    let page = store.sessions(&RunFilter::default(), None, 100).unwrap();
    assert_eq!(page.next, None);
    page.items
}

fn names(sessions: &[SessionInfo]) -> Vec<(&str, &str)> {
    let names = sessions
        .iter()
        .map(|session| (session.runtime.as_str(), session.session_id.as_str()));
    names.collect()
}

pub(crate) fn a_session_is_what_its_runs_are<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    // The second run resumes the first: it reports the same two responses, and one more.
    plan("one", 2, Some("s"), 0).make().store(&mut store);
    let mut second = plan("two", 3, Some("s"), 1_000_000).make();
    let children = child(&second, "small");
    let middle = second.records.len() / 2;
    second.records.splice(middle..middle, children);
    second.store(&mut store);
    // Another CLI has a session of the same name.
    Plan {
        runtime: Runtime::Hermes,
        fails: true,
        ..plan("three", 1, Some("s"), 500_000)
    }
    .make()
    .store(&mut store);
    plan("four", 1, None, 2_000_000).make().store(&mut store);
    let sessions = all(&store);
    assert_eq!(names(&sessions), [("claude-code", "s"), ("hermes", "s")]);
    assert_eq!(
        store.runs_without_session(&RunFilter::default()).unwrap(),
        1
    );

    let session = &sessions[0];
    assert_eq!(session.runs, 2);
    // The parts are what `runs` says of them, the child's included.
    let runs = store.runs(&RunFilter::default(), None, 100).unwrap().items;
    let of = |name: &str| runs.iter().find(|run| run.run_id == run_id(name)).unwrap();
    let input = |name: &str| of(name).usage.input_tokens.unwrap();
    assert_eq!(input("one"), 101 + 102);
    assert_eq!(input("two"), 103);
    assert!(input("small") > 0);
    let expected = input("one") + input("two") + input("small");
    assert_eq!(session.usage.input_tokens, Some(expected));
    let costs = ["one", "two", "small"].map(|name| of(name).cost.reported().unwrap());
    assert!((session.cost.reported().unwrap() - costs.iter().sum::<f64>()).abs() < 1e-9);
    assert_eq!(session.started_at, of("one").started_at);
    assert_eq!(Some(session.last_active_at), of("two").finished_at);
    assert_eq!(session.latest_run_id, run_id("two"));
    assert_eq!(session.status, CheckpointStatus::Completed);
    assert_eq!(session.cwd.as_deref(), Some("/home/someone/project"));
    assert_eq!(session.model.as_deref(), Some("model-1"));
    assert_eq!(session.prompt.as_deref(), Some("do it"));
    assert_eq!(
        (&session.title, &session.error, &session.resume),
        (&None, &None, &None)
    );

    assert_eq!(sessions[1].status, CheckpointStatus::StoppedByError);
    assert_eq!(sessions[1].error, of("three").error);

    // One that goes on was active when its last step ended.
    let open = plan("five", 3, Some("t"), 3_000_000).make();
    store.begin_run(&open.begin).unwrap();
    store.append(open.id(), &open.records[..4], &[]).unwrap();
    let begun = all(&store);
    assert_eq!(names(&begun)[0], ("claude-code", "t"));
    assert_eq!(begun[0].last_active_at, open.records[0].at);
    assert_eq!(begun[0].status, CheckpointStatus::Proceeding);
    let steps = open.records.len() - 2;
    store
        .append(open.id(), &open.records[4..steps], &[])
        .unwrap();
    let ended = store.steps(open.id(), 0, 100).unwrap();
    assert_eq!(ended.len(), 3);
    assert_eq!(all(&store)[0].last_active_at, ended[2].finished_at);
    assert!(ended[2].finished_at > open.records[0].at);
}

pub(crate) fn a_session_is_told_whole_whichever_run_is_let_through<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    plan("one", 2, Some("s"), 0).make().store(&mut store);
    let mut second = plan("two", 0, Some("s"), 1_000_000).make();
    // Only the child calls a tool.
    let children = child(&second, "small");
    let middle = second.records.len() / 2;
    second.records.splice(middle..middle, children);
    second.store(&mut store);
    plan("three", 0, Some("t"), 2_000_000)
        .make()
        .store(&mut store);
    let whole = all(&store);
    assert_eq!(names(&whole), [("claude-code", "t"), ("claude-code", "s")]);
    let table: [Case<'_>; 6] = [
        (&|filter| filter.tool = Some("Bash".to_owned()), &whole[1..]),
        (&|filter| filter.since = Some(START + 500_000), &whole),
        (&|filter| filter.until = Some(START + 500_000), &whole[1..]),
        (&|filter| filter.session = Some("t".to_owned()), &whole[..1]),
        (&|filter| filter.runtime = Some(Runtime::Hermes), &[]),
        (&|filter| filter.text = Some("naively".to_owned()), &whole),
    ];
    for (set, expected) in table {
        let mut filter = RunFilter::default();
        set(&mut filter);
        let found = store.sessions(&filter, None, 100).unwrap().items;
        assert_eq!(found, expected, "{filter:?}");
    }
    // The first run alone calls nothing once it is gone: then the child lets the session through.
    store.delete_run(&run_id("one"), 9).unwrap();
    let mut filter = RunFilter::default();
    filter.tool = Some("Bash".to_owned());
    let found = store.sessions(&filter, None, 100).unwrap().items;
    assert_eq!(names(&found), [("claude-code", "s")]);
    assert_eq!(found[0].runs, 1);
}

pub(crate) fn pages_of_sessions_follow_one_another_without_gap_or_overlap<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    for number in 0..25_i64 {
        // Several end at the same time, and some sessions have the same id.
        let session = format!("session.{}", number / 2);
        let runtime = match number % 2 {
            0 => Runtime::ClaudeCode,
            _ => Runtime::Hermes,
        };
        let planned = plan(&format!("r{number}"), 0, Some(&session), number / 4);
        Plan { runtime, ..planned }.make().store(&mut store);
    }
    let whole = all(&store);
    assert_eq!(whole.len(), 25);
    assert!(whole.is_sorted_by(|a, b| a.last_active_at >= b.last_active_at));
    for limit in [1, 2, 3, 7, 24, 25, 26] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store
                .sessions(&RunFilter::default(), after.as_ref(), limit)
                .unwrap();
            assert!(page.items.len() <= limit);
            found.extend(page.items);
            // A mark survives being written down.
            after = page.next.map(|mark| mark.to_string().parse().unwrap());
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, whole, "{limit}");
    }
}

/// Adds a title to a record of metadata: the first is known from the start, the last is told at the end.
fn entitled(mut made: Made, title: &str, is_first: bool) -> Made {
    let mut patches = made
        .records
        .iter_mut()
        .filter_map(|record| match &mut record.kind {
            RecordKind::Metadata(MetadataPatch { set }) => Some(set),
            _ => None,
        });
    let set: Option<&mut Metadata> = if is_first {
        patches.next()
    } else {
        patches.next_back()
    };
    set.unwrap().set("title", title);
    made
}

pub(crate) fn a_title_is_found_where_it_was_told<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let cases = [
        ("at the start", 7, true),
        ("at the end", 7, false),
        ("of one step", 0, true),
    ];
    for (name, steps, is_first) in cases {
        let id = name.replace(' ', "-");
        let made = plan(&id, steps, Some(name), 0).make();
        entitled(made, name, is_first).store(&mut store);
    }
    // The latest run's title is the session's; where it has none, the first one's is.
    for (number, title) in [(0, "first"), (1, "renamed")] {
        let made = plan(&format!("named-{number}"), 1, Some("renamed"), number).make();
        entitled(made, title, true).store(&mut store);
    }
    let made = plan("kept-0", 1, Some("kept"), 0).make();
    entitled(made, "kept", true).store(&mut store);
    plan("kept-1", 1, Some("kept"), 1).make().store(&mut store);
    let sessions = all(&store);
    assert_eq!(sessions.len(), 5);
    for session in sessions {
        assert_eq!(session.title.as_ref(), Some(&session.session_id));
    }
}

pub(crate) fn a_list_takes_twice_as_long_for_twice_the_sessions<B: Backend>() {
    let filled = |sessions: i64| {
        let home = B::fresh();
        let mut store = home.open();
        let stored = store.batch(|store| {
            for number in 0..sessions {
                let session = format!("session-{number}");
                for part in 0..2 {
                    let run = format!("run-{number}-{part}");
                    plan(&run, 0, Some(&session), number * 10 + part)
                        .make()
                        .store(store);
                }
            }
            Ok(())
        });
        stored.unwrap();
        (home, store)
    };
    let sessions = 500 / B::FEWER;
    let ((_home, once), (_other_home, twice)) = (filled(sessions), filled(2 * sessions));
    let mut filter = RunFilter::default();
    filter.cwd = Some("/home/someone".to_owned());
    let list = |store: &Store| {
        let page = store.sessions(&filter, None, 50).unwrap();
        assert_eq!(page.items.len(), 50);
    };
    assert_growth(3, || list(&once), || list(&twice));
}
