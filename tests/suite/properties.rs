//! What holds for any input at all.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use runtape_core::{
    Event, Message, Record, RecordKind, RunId, Runtime, RuntimeEventKind, Stream, materialize,
    summarize,
};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit, Kept, LiveItem, Normalizer};
use runtape_schemas::{SchemaKind, Validator, Verdict};

use crate::captures::{self, Capture};

/// Captures larger than this are left out of the random tests: they are slow and say no more.
const LARGEST: usize = 60_000;

fn context() -> Context {
    let id = RunId::parse("property").unwrap();
    Context::new(runtape_core::JobId::parse("property").unwrap(), id)
}

fn normalize_chunks<'a>(
    runtime: &Runtime,
    context: Context,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    stderr: &[u8],
    exit: &Exit,
) -> Vec<Record> {
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let mut records = Vec::new();
    for chunk in chunks {
        records.extend(
            normalizer
                .push(Stream::Stdout, Kept::as_given(chunk), 5)
                .records,
        );
    }
    records.extend(
        normalizer
            .push(Stream::Stderr, Kept::as_given(stderr), 5)
            .records,
    );
    records.extend(normalizer.finish(exit).records);
    records
}

fn normalize(runtime: &Runtime, bytes: &[u8], exit: &Exit) -> Vec<Record> {
    normalize_chunks(runtime, context(), [bytes], b"", exit)
}

/// What must hold of the records of any tape.
fn check(records: &[Record]) {
    let mut runs: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        runs.entry(record.run_id.as_str()).or_default().push(record);
    }
    let record_schema = Validator::for_kind(SchemaKind::Record);
    for (run, records) in &runs {
        let terminal = records
            .iter()
            .filter(|record| record.terminal().is_some())
            .count();
        assert_eq!(terminal, 1, "run {run} has {terminal} terminal records");
        assert!(
            records.last().unwrap().terminal().is_some(),
            "run {run} goes on after its end"
        );
        for (seq, record) in (0..).zip(records) {
            assert_eq!(record.seq, seq, "run {run}");
            let json = serde_json::to_value(record).unwrap();
            let verdict = record_schema.validate(&json);
            assert!(matches!(verdict, Verdict::Valid), "{verdict:?} in {json}");
            assert_eq!(serde_json::from_value::<Record>(json).unwrap(), **record);
        }
        check_results(records);
        let (began, ended) = (records[0].at, records.last().unwrap().at);
        for record in records {
            let at = record.at;
            assert!(
                (began..=ended).contains(&at),
                "run {run}: {began} {at} {ended}"
            );
        }
    }
    let is_root = |record: &Record| match &record.kind {
        RecordKind::Run(opened) => opened.delegated_by.is_none(),
        _ => false,
    };
    let root = runs.values().find(|records| is_root(records[0])).unwrap();
    let ends = runs.values().map(|records| records.last().unwrap().at);
    assert_eq!(
        ends.max(),
        Some(root.last().unwrap().at),
        "a parent ends last"
    );
    let events = materialize(records).unwrap();
    let terminal = events.iter().filter(|event| event.is_terminal()).count();
    assert_eq!(terminal, runs.len(), "one terminal event per run");
    let ids: HashSet<&str> = events.iter().map(|event| event.id().as_str()).collect();
    assert_eq!(ids.len(), events.len(), "event ids are unique");
    check_events(&events);
    assert!(summarize(records).is_some());
}

fn check_events(events: &[Event]) {
    let (run_events, runtime_events) = (
        Validator::for_kind(SchemaKind::RunEvent),
        Validator::for_kind(SchemaKind::RuntimeEvent),
    );
    // Full events grow with the square of the steps; the first ones and the last say enough.
    for event in events.iter().take(60).chain(events.last()) {
        let json = serde_json::to_value(event).unwrap();
        let verdict = match event {
            Event::Run(_) => run_events.validate(&json),
            Event::Runtime(_) => runtime_events.validate(&json),
        };
        assert!(matches!(verdict, Verdict::Valid), "{verdict:?} in {json}");
    }
}

/// Every result has a call before it, or is marked as having none.
fn check_results(records: &[&Record]) {
    let mut calls = HashSet::new();
    for record in records {
        let RecordKind::Message(message) = &record.kind else {
            continue;
        };
        match &message.message {
            Message::ExpertMessage(expert) => {
                calls.extend(expert.tool_calls().map(|call| call.tool_call_id.clone()));
            }
            Message::ToolMessage(tool) => {
                for result in tool.results() {
                    let id = &result.tool_call_id;
                    let marked = message
                        .results
                        .iter()
                        .any(|n| n.tool_call_id == *id && n.unmatched);
                    assert!(
                        calls.contains(id) != marked,
                        "result {id} is neither tied nor marked"
                    );
                }
            }
            _ => {}
        }
    }
}

fn small_captures() -> Vec<Capture> {
    let mut captures = captures::all();
    captures.retain(|capture| capture.stdout.len() <= LARGEST);
    captures
}

fn exits() -> impl Strategy<Value = Exit> {
    select(vec![
        Exit::unknown(),
        Exit::with_code(0),
        Exit::with_code(1),
        Exit::with_code(53),
        Exit::with_code(143),
        Exit::with_signal("SIGKILL"),
        Exit {
            timed_out: true,
            ..Exit::unknown()
        },
    ])
}

fn runtimes() -> impl Strategy<Value = Runtime> {
    select(
        RUNTIMES
            .iter()
            .map(|entry| entry.runtime.clone())
            .collect::<Vec<_>>(),
    )
}

/// A change to a capture.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Cut(Index),
    DropFront(Index),
    Duplicate(Index),
    Swap(Index, Index),
    Insert(Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        any::<Index>().prop_map(Damage::Cut),
        any::<Index>().prop_map(Damage::DropFront),
        any::<Index>().prop_map(Damage::Duplicate),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Damage::Swap(a, b)),
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
    ]
}

fn apply(bytes: &[u8], damage: &Damage) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    match damage {
        Damage::Flip(at, byte) => {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
            bytes
        }
        Damage::Cut(at) => bytes[..at.index(bytes.len())].to_vec(),
        Damage::DropFront(at) => bytes[at.index(bytes.len())..].to_vec(),
        Damage::Duplicate(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at]);
            lines.concat()
        }
        Damage::Swap(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
            lines.concat()
        }
        Damage::Insert(at, more) => {
            let at = at.index(bytes.len());
            [&bytes[..at], more, &bytes[at..]].concat()
        }
    }
}

#[test]
fn every_capture_gives_sound_records() {
    for capture in captures::all() {
        println!("{}", capture.name());
        check(&capture.records());
    }
}

#[test]
fn the_same_tape_gives_byte_identical_records() {
    for capture in small_captures() {
        let one = serde_json::to_string(&capture.records()).unwrap();
        let two = serde_json::to_string(&capture.records()).unwrap();
        assert!(one == two, "{}", capture.name());
    }
}

#[test]
fn one_byte_at_a_time_gives_the_same_records() {
    for capture in small_captures() {
        let (runtime, exit) = (capture.runtime(), capture.exit());
        let whole = [&capture.stdout[..]];
        let whole = normalize_chunks(&runtime, capture.context(), whole, &capture.stderr, &exit);
        let bytes = capture.stdout.chunks(1);
        let bytes = normalize_chunks(&runtime, capture.context(), bytes, &capture.stderr, &exit);
        assert!(whole == bytes, "{}", capture.name());
    }
}

#[test]
fn live_entries_and_those_of_records_hold_the_same_text() {
    for capture in captures::all() {
        let mut normalizer = Normalizer::with_live(capture.runtime(), capture.context()).unwrap();
        let mut output = normalizer.push(Stream::Stdout, Kept::as_given(&capture.stdout), 1);
        let error = normalizer.push(Stream::Stderr, Kept::as_given(&capture.stderr), 2);
        let end = normalizer.finish(&capture.exit());
        for more in [error, end] {
            output.records.extend(more.records);
            output.live.extend(more.live);
        }
        let live = output.live.iter().filter_map(|item| match item {
            LiveItem::Transcript { run_id, entry } => Some((run_id.clone(), entry.clone())),
            LiveItem::Event(_) => None,
        });
        let mut builders: BTreeMap<RunId, runtape_core::TranscriptBuilder> = BTreeMap::new();
        let kept = output.records.iter().flat_map(|record| {
            let builder = builders.entry(record.run_id.clone()).or_default();
            let entries = builder.push(record);
            entries
                .into_iter()
                .map(|entry| (record.run_id.clone(), entry))
                .collect::<Vec<_>>()
        });
        let mut live = texts(live);
        let kept = texts(kept);
        // What was shown cannot be taken back: of an attempt that was given up the notice tells.
        for record in &output.records {
            if let RecordKind::Event(event) = &record.kind
                && let RuntimeEventKind::ApiRetry(retry) = &event.event
                && let Some((_, text)) = retry
                    .reason
                    .as_deref()
                    .unwrap_or_default()
                    .split_once(", after: ")
                && let Some(shown) = live.get_mut(&(record.run_id.clone(), "assistant".to_owned()))
            {
                *shown = shown.replacen(text, "", 1);
            }
        }
        assert_eq!(live, kept, "{}", capture.name());
        for item in &output.live {
            if let LiveItem::Transcript { entry, .. } = item {
                let json = serde_json::to_value(entry).unwrap();
                let verdict = Validator::for_kind(SchemaKind::TranscriptEntry).validate(&json);
                assert!(matches!(verdict, Verdict::Valid), "{verdict:?} in {json}");
            }
        }
    }
}

/// All text of a transcript by run and kind, pieces joined.
fn texts(
    entries: impl Iterator<Item = (RunId, runtape_core::TranscriptEntry)>,
) -> BTreeMap<(RunId, String), String> {
    let mut texts: BTreeMap<(RunId, String), String> = BTreeMap::new();
    for (run, entry) in entries {
        let json = serde_json::to_value(&entry).unwrap();
        let kind = json["kind"].as_str().unwrap().to_owned();
        if ["assistant", "thinking", "user", "stderr", "stdout"].contains(&kind.as_str()) {
            texts
                .entry((run, kind))
                .or_default()
                .push_str(json["text"].as_str().unwrap());
        }
    }
    texts.retain(|_, text| !text.is_empty());
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn chunking_never_matters(
        which in any::<Index>(),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let captures = small_captures();
        let capture = which.get(&captures);
        let bytes = &capture.stdout;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts {
            chunks.push(&bytes[from..cut]);
            from = cut;
        }
        chunks.push(&bytes[from..]);
        let (runtime, exit) = (capture.runtime(), capture.exit());
        let whole = normalize_chunks(&runtime, context(), [&bytes[..]], b"", &exit);
        let cut = normalize_chunks(&runtime, context(), chunks, b"", &exit);
        prop_assert!(whole == cut, "{}", capture.name());
    }

    #[test]
    fn any_bytes_give_sound_records(
        runtime in runtimes(),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        exit in exits(),
    ) {
        check(&normalize(&runtime, &bytes, &exit));
    }

    #[test]
    fn any_capture_read_as_any_runtime_gives_sound_records(
        runtime in runtimes(),
        which in any::<Index>(),
        exit in exits(),
    ) {
        let captures = small_captures();
        check(&normalize(&runtime, &which.get(&captures).stdout, &exit));
    }

    #[test]
    fn any_damaged_capture_gives_sound_records(
        which in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..5),
        exit in exits(),
    ) {
        let captures = small_captures();
        let capture = which.get(&captures);
        let bytes = damages.iter().fold(capture.stdout.clone(), |bytes, damage| apply(&bytes, damage));
        check(&normalize(&capture.runtime(), &bytes, &exit));
    }

    #[test]
    fn a_small_limit_loses_nothing_but_overlong_lines(
        which in any::<Index>(),
        limit in 64usize..4096,
    ) {
        let captures = small_captures();
        let capture = which.get(&captures);
        let mut context = capture.context();
        context.limit = limit;
        let chunks = [&capture.stdout[..]];
        check(&normalize_chunks(&capture.runtime(), context, chunks, b"", &capture.exit()));
    }
}

/// Returns records without the command line, which is kept whatever it is.
fn without_argv(records: &[Record]) -> Vec<serde_json::Value> {
    let values = records.iter().map(|record| {
        let mut value = serde_json::to_value(record).unwrap();
        for key in ["set", "metadata"] {
            if let Some(metadata) = value[key].as_object_mut() {
                metadata.shift_remove("argv");
            }
        }
        value
    });
    values.collect()
}

#[test]
fn the_command_line_of_another_program_decides_nothing() {
    for capture in captures::all() {
        if capture.stdout.len() > LARGEST {
            continue;
        }
        let with = |argv: Option<&str>| {
            let mut context = capture.context();
            context.argv = argv.map(|line| line.split(' ').map(str::to_owned).collect());
            let chunks = [capture.stdout.as_slice()];
            let exit = &capture.exit();
            let runtime = &capture.runtime();
            let records = normalize_chunks(runtime, context, chunks, &capture.stderr, exit);
            without_argv(&records)
        };
        let unknown = with(None);
        for line in [
            "cat FILE",
            "cat -p FILE --output-format text -Q -z x",
            "replay --output-format stream-json --resume id -q FILE",
        ] {
            assert_eq!(with(Some(line)), unknown, "{}: {line}", capture.name());
        }
    }
}
