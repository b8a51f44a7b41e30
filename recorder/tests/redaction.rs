//! What an embedder's output becomes: kept without its secrets, whichever way it comes in.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use runtape_core::{Runtime, Stream};
use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier};
use runtape_normalizer::{Context, Exit};
use runtape_recorder::{
    Capture, DetachedRun, RecordError, Recorder, RecorderOptions, StoreHandle, find_markers,
    find_secrets, redact_run, redaction_info, store_captures,
};
use runtape_store::{Options, Store};

/// A value that no rule knows by itself.
const SECRET: &str = "kleptomaniac-zeppelin-42";

fn rules() -> Arc<RuleSet> {
    let rules = RuleSet::new(Tier::Definite).with_key(RedactionKey::new([7; 32]));
    Arc::new(rules.with_value("DEPLOY", SECRET).unwrap())
}

fn context(run: &str) -> Context {
    let mut context = Context::new("job".parse().unwrap(), run.parse().unwrap());
    context.argv = Some(vec!["hermes".to_owned(), format!("use {SECRET}")]);
    context.metadata.set("cwd", format!("/home/{SECRET}"));
    context
}

/// Everything that a store has of a run, as text.
fn all_of(store: &Store, run: &str) -> String {
    let run = run.parse().unwrap();
    let mut text = store.begin_of(&run).unwrap().context.to_string();
    for chunk in store.tape(&run).unwrap() {
        text.push_str(&String::from_utf8(chunk.bytes).unwrap());
    }
    for record in store.tree_records(&run).unwrap() {
        text.push_str(&serde_json::to_string(&record).unwrap());
    }
    text
}

fn assert_without_secret(store: &Store, run: &str) {
    let text = all_of(store, run);
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("[REDACTED:env.DEPLOY:"), "{text}");
    assert!(store.verify().unwrap().is_intact());
    let id = run.parse().unwrap();
    let (context, exit) = (
        store.begin_of(&id).unwrap().context,
        store.exit(&id).unwrap(),
    );
    let redaction = redaction_info(&context, exit.as_ref()).unwrap();
    assert_eq!(redaction.applied.tier, "definite");
    assert!(redaction.counts.total() >= 3, "{redaction:?}");
}

#[test]
fn a_recorder_keeps_no_secret_however_its_output_is_cut_into_chunks() {
    let output = format!("The phrase is {SECRET}.\nand {SECRET} again");
    for size in [1, 5, 17, 1000] {
        let store = StoreHandle::from(Store::open_in_memory().unwrap());
        let options = RecorderOptions {
            rules: rules(),
            live: true,
            ..RecorderOptions::default()
        };
        let started =
            Recorder::start_with(store.clone(), Runtime::Hermes, &context("run"), &options);
        let mut recorder = started.unwrap();
        let mut shown = Vec::new();
        for chunk in output.as_bytes().chunks(size) {
            let live = recorder.push(Stream::Stdout, chunk).unwrap();
            shown.push(format!("{live:?}"));
            recorder.flush().unwrap();
        }
        let finished = recorder.finish(&Exit::with_code(0)).unwrap();
        shown.push(format!("{:?}{:?}", finished.live, finished.summary));
        let shown = shown.concat();
        assert!(!shown.contains(SECRET), "{shown}");
        assert_without_secret(&store.lock(), "run");
    }
}

#[test]
fn captures_are_stored_without_secrets() {
    let mut store = Store::open_in_memory().unwrap();
    let capture = Capture {
        runtime: Runtime::Hermes,
        context: context("run"),
        started_at: 5,
        output: vec![
            (Stream::Stdout, 5, format!("It is {SECRET}").into_bytes()),
            (
                Stream::Stderr,
                6,
                format!("warning: {SECRET}\n").into_bytes(),
            ),
        ],
        exit: Exit::with_code(0),
    };
    let found = std::iter::once(((), Some(capture)));
    store_captures::<(), RecordError>(
        &mut store,
        found,
        &rules(),
        || 9,
        |_, (), stored| stored.unwrap().map(drop),
    )
    .unwrap();
    assert_without_secret(&store, "run");
}

#[test]
fn a_line_is_kept_when_it_is_whole_and_the_last_one_at_the_end() {
    let mut run =
        DetachedRun::start(Runtime::ClaudeCode, &context("run"), &rules(), 1_000).unwrap();
    let printed = run.push(Stream::Stdout, b"half a li", 1_000);
    assert!(printed.chunks.is_empty(), "a line is kept when it is whole");
    let printed = run.push(Stream::Stdout, b"ne\nand an", 1_100);
    let kept: Vec<u8> = printed
        .chunks
        .into_iter()
        .flat_map(|chunk| chunk.bytes)
        .collect();
    assert_eq!(kept, b"half a line\n");
    assert!(run.expire(9_000).chunks.is_empty(), "it waits for its end");
    let ended = run.finish(&Exit::with_code(0));
    let rest: Vec<u8> = ended
        .chunks
        .into_iter()
        .flat_map(|chunk| chunk.bytes)
        .collect();
    assert_eq!(rest, b"and an");
}

#[test]
fn what_is_stored_already_is_found_and_taken_out_in_one_transaction() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.db");
    let mut store = Store::open(&path, &Options::default()).unwrap();
    let off = RecorderOptions {
        rules: Arc::new(RuleSet::new(Tier::Off)),
        ..RecorderOptions::default()
    };
    let handle = StoreHandle::from(Store::open(&path, &Options::default()).unwrap());
    let mut recorder =
        Recorder::start_with(handle, Runtime::Hermes, &context("run"), &off).unwrap();
    recorder
        .push(Stream::Stdout, format!("It is {SECRET}.\n").as_bytes())
        .unwrap();
    recorder.finish(&Exit::with_code(0)).unwrap();
    assert!(all_of(&store, "run").contains(SECRET));

    let run = "run".parse().unwrap();
    let found = find_secrets(&store, &run, &rules()).unwrap();
    assert!(
        found.len() >= 3 && found.iter().all(|found| !found.masked.contains(SECRET)),
        "{found:?}"
    );
    let looked = redact_run(&mut store, None, &run, &rules(), 9).unwrap();
    assert!(
        looked.counts.total() >= 3 && looked.seal.is_none(),
        "{looked:?}"
    );
    assert!(
        all_of(&store, "run").contains(SECRET),
        "looking changes nothing"
    );

    let source = Store::open(&path, &Options::read_only()).unwrap();
    let redacted = redact_run(&mut store, Some(&source), &run, &rules(), 9).unwrap();
    assert_eq!(redacted.counts, looked.counts);
    assert_eq!(redacted.seal, store.run(&run).unwrap().seal_name());
    assert_without_secret(&store, "run");
    let report = store.verify().unwrap();
    assert_eq!(report.removals.len(), 1);
    assert_eq!(report.removals.first().unwrap().reason.as_str(), "redacted");
    let again = redact_run(&mut store, Some(&source), &run, &rules(), 9).unwrap();
    assert!(again.counts.is_empty() && again.seal.is_none(), "{again:?}");

    let commitment = RedactionKey::new([7; 32]).commitment(SECRET.as_bytes());
    let markers = find_markers(&store, &run, &commitment).unwrap();
    assert!(markers.len() >= 2, "{markers:?}");
    assert!(
        find_markers(&store, &run, "0000000000000000")
            .unwrap()
            .is_empty()
    );
}
