//! The same history again and again: nothing changes, nothing counts twice, and what grows arrives where the
//! whole arrives.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::{Record, RunId};
use runtape_recorder::history::{HistoryDirectory, SyncOptions, named_directories, sync};
use runtape_store::Store;

use crate::executions::{Execution, NOW, all, roots};

fn sync_from(store: &mut Store, execution: &Execution, path: &Path) -> (u64, u64) {
    sync_remembering(store, execution, path, None)
}

fn sync_remembering(
    store: &mut Store,
    execution: &Execution,
    path: &Path,
    memory: Option<PathBuf>,
) -> (u64, u64) {
    let options = SyncOptions {
        memory,
        directories: named_directories(path, std::slice::from_ref(&execution.runtime)),
        ..SyncOptions::default()
    };
    let summary = sync(store, &options, || NOW, &mut |_| {}).unwrap();
    let count =
        |of: fn(&runtape_core::report::SyncGroup) -> u64| summary.groups.iter().map(of).sum();
    (
        count(|group| group.new),
        count(|group| group.grown + group.joined),
    )
}

fn content(store: &Store) -> Vec<(RunId, Vec<Record>)> {
    let runs = roots(store).into_iter();
    let mut content: Vec<_> = runs
        .map(|run| {
            // Where on the tape something stands depends on when it came.
            let mut records = store.tree_records(&run).unwrap();
            for record in &mut records {
                record.span = None;
            }
            (run, records)
        })
        .collect();
    content.sort_by(|one, other| one.0.cmp(&other.0));
    content
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let mut all = Vec::new();
    files(from, &mut all);
    for path in all {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
}

#[test]
fn syncing_twice_and_from_a_copy_changes_nothing() {
    for execution in all() {
        let mut store = Store::open_in_memory().unwrap();
        execution.sync(&mut store);
        let (before, head) = (content(&store), store.head().unwrap());
        assert_eq!(
            sync_from(&mut store, &execution, &execution.history),
            (0, 0),
            "{}",
            execution.name
        );
        let elsewhere = tempfile::tempdir().unwrap();
        copy(&execution.history, elsewhere.path());
        assert_eq!(
            sync_from(&mut store, &execution, elsewhere.path()),
            (0, 0),
            "{}",
            execution.name
        );
        assert_eq!(content(&store), before, "{}", execution.name);
        assert_eq!(store.head().unwrap(), head, "{}", execution.name);
    }
}

/// Returns the first time that a file names: sessions are begun before what is forked from them.
fn first_time(path: &Path) -> String {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let mut times = ["\"timestamp\":\"", "\"startTime\":\""]
        .iter()
        .filter_map(|key| {
            let (_, rest) = text.split_once(key)?;
            Some(rest.split('"').next()?.to_owned())
        });
    times.next().unwrap_or_default()
}

/// Returns a number below a bound, the same for the same seed.
fn number(seed: &mut u64, bound: usize) -> usize {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap() % bound.max(1)
}

#[test]
fn what_grows_piece_by_piece_is_what_the_whole_is() {
    let mut seed = 7;
    let mut wrong = Vec::new();
    // A database changes row by row, and a document is replaced whole.
    for execution in all() {
        let mut whole_files = Vec::new();
        files(&execution.history, &mut whole_files);
        whole_files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        whole_files.sort_by_key(|path| first_time(path));
        let mut others = Vec::new();
        files(&execution.history, &mut others);
        if whole_files.is_empty()
            || whole_files.len() > 6
            || others
                .iter()
                .any(|path| path.extension().is_some_and(|it| it == "db"))
        {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        copy(&execution.history, directory.path());
        let mut store = Store::open_in_memory().unwrap();
        let memory = directory.path().join("memory");
        let contents: Vec<Vec<u8>> = whole_files
            .iter()
            .map(|path| fs::read(path).unwrap())
            .collect();
        let targets: Vec<PathBuf> = whole_files
            .iter()
            .map(|path| {
                directory
                    .path()
                    .join(path.strip_prefix(&execution.history).unwrap())
            })
            .collect();
        let mut lengths = vec![0; contents.len()];
        for target in &targets {
            fs::write(target, b"").unwrap();
        }
        // Files grow one after the other, as sessions are written.
        for (at, content) in contents.iter().enumerate() {
            while lengths[at] < content.len() {
                let left = content.len() - lengths[at];
                lengths[at] += (1 + number(&mut seed, content.len() / 4)).min(left);
                fs::write(&targets[at], &content[..lengths[at]]).unwrap();
                sync_remembering(
                    &mut store,
                    &execution,
                    directory.path(),
                    Some(memory.clone()),
                );
            }
        }
        let mut fresh = Store::open_in_memory().unwrap();
        execution.sync(&mut fresh);
        assert!(store.verify().unwrap().is_intact(), "{}", execution.name);
        let (ours, theirs) = (content(&store), content(&fresh));
        if ours.len() != theirs.len() {
            wrong.push(format!(
                "{}: {} runs, {} at once",
                execution.name,
                ours.len(),
                theirs.len()
            ));
            continue;
        }
        for ((one, ours), (other, theirs)) in ours.iter().zip(&theirs) {
            let first = ours.iter().zip(theirs).find(|(one, other)| one != other);
            if one != other || ours.len() != theirs.len() || first.is_some() {
                let first = format!("{first:?}");
                let first: String = first.chars().take(600).collect();
                wrong.push(format!(
                    "{}: {one} and {other} differ: {} and {} records, {first}",
                    execution.name,
                    ours.len(),
                    theirs.len()
                ));
            }
        }
    }
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0, "histories that end elsewhere, see above");
}

/// Makes a place with one good session beside what is to be refused.
fn place_with(bad: impl FnOnce(&Path)) -> (Vec<String>, u64) {
    let directory = tempfile::tempdir().unwrap();
    let project = directory.path().join("projects").join("-home-dev-proj");
    fs::create_dir_all(&project).unwrap();
    runtape_tests::synthetic::Sessions::new(3)
        .write(&directory.path().join("projects"), 1, 2)
        .unwrap();
    bad(&project);
    let options = SyncOptions {
        directories: vec![HistoryDirectory {
            runtime: runtape_core::Runtime::ClaudeCode,
            path: directory.path().join("projects"),
        }],
        ..SyncOptions::default()
    };
    let mut store = Store::open_in_memory().unwrap();
    let mut reasons = Vec::new();
    let summary = sync(&mut store, &options, || NOW, &mut |event| {
        if let runtape_recorder::history::SyncEvent::Read { source, .. } = event {
            reasons.extend(source.reason);
        }
    })
    .unwrap();
    assert!(store.verify().unwrap().is_intact());
    (reasons, summary.groups.iter().map(|group| group.new).sum())
}

const NAME: &str = "11111111-2222-4333-8444-555555555555.jsonl";

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_and_the_others_are_read() {
    let (reasons, new) = place_with(|project| {
        nix::unistd::mkfifo(&project.join(NAME), nix::sys::stat::Mode::S_IRWXU).unwrap();
    });
    assert_eq!((reasons.len(), new), (1, 1), "{reasons:?}");
    let outside = tempfile::NamedTempFile::new().unwrap();
    let (reasons, new) = place_with(|project| {
        std::os::unix::fs::symlink(outside.path(), project.join(NAME)).unwrap();
    });
    assert_eq!(new, 1);
    assert!(reasons[0].contains("link"), "{reasons:?}");
}

#[test]
fn hostile_lines_are_bounded_and_the_others_are_read() {
    let session = NAME.strip_suffix(".jsonl").unwrap();
    let deep = format!(
        r#"{{"type":"user","uuid":"1","sessionId":"{session}","message":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let long = format!(
        r#"{{"type":"user","uuid":"2","sessionId":"{session}","timestamp":"2026-11-16T11:27:12.679Z","message":{{"role":"user","content":"{}"}}}}"#,
        "a".repeat(40 << 20)
    );
    let (reasons, new) = place_with(|project| {
        fs::write(
            project.join(NAME),
            format!("{deep}\n{long}\nno json\n\u{0}\n"),
        )
        .unwrap();
    });
    assert!(new >= 1);
    assert!(
        reasons.iter().any(|reason| reason.contains("longer")),
        "{reasons:?}"
    );
}

#[test]
fn a_session_that_may_go_on_stays_open_until_it_is_quiet() {
    let directory = tempfile::tempdir().unwrap();
    let files = runtape_tests::synthetic::Sessions::new(5)
        .write(directory.path(), 1, 3)
        .unwrap();
    let whole = fs::read_to_string(&files[0]).unwrap();
    // Without its last line nothing says that the process has ended.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let unfinished: String = lines[..lines.len() - 1].concat();
    let half: String = lines[..lines.len() / 2].concat();
    let last = whole.rsplit("\"timestamp\":\"").next().unwrap();
    let last = runtape_normalizer::times::iso_millis(last.split('"').next().unwrap()).unwrap();
    let options = SyncOptions {
        directories: vec![HistoryDirectory {
            runtime: runtape_core::Runtime::ClaudeCode,
            path: directory.path().to_path_buf(),
        }],
        memory: Some(directory.path().join("memory")),
        ..SyncOptions::default()
    };
    let mut store = Store::open_in_memory().unwrap();
    let sync_at = |store: &mut Store, text: &str, now: i64| {
        // What is as it was is not even touched.
        if fs::read_to_string(&files[0]).unwrap() != text {
            fs::write(&files[0], text).unwrap();
        }
        sync(store, &options, || now, &mut |_| {}).unwrap();
        let run = store.run(&roots(store)[0]).unwrap();
        (run.status.as_str().to_owned(), run.steps)
    };
    let (soon, later) = (last + 60_000, last + 7_200_000);
    let (status, before) = sync_at(&mut store, &half, soon);
    assert_eq!(status, "proceeding");
    let recovery = runtape_recorder::recover(&mut store, soon).unwrap();
    assert!(
        recovery.closed.is_empty(),
        "nobody died: the session goes on"
    );
    let (status, after) = sync_at(&mut store, &unfinished, soon);
    assert_eq!(status, "proceeding");
    assert!(after > before, "{after} steps after {before}");
    assert_eq!(
        sync_at(&mut store, &unfinished, later),
        ("completed".to_owned(), 4)
    );
    assert_eq!(roots(&store).len(), 1);
    assert!(store.verify().unwrap().is_intact());
}
