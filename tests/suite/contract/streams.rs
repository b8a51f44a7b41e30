//! A tape has named streams: what was printed, what was given, and the runtime's own session file.

use runtape_core::{Span, Stream};
use serde_json::json;

use runtape_store::{PreparedRun, Store, StoreError, TapeChunk};
use runtape_tests::runs::{Dice, Made, Plan, run_id};

use crate::Backend;

/// Puts chunks of all streams on the tape of a run, and spans into them on some of its records.
fn with_all_streams(name: &str, steps: u64, seed: u64) -> Made {
    let mut made = Plan::new(name, steps).make();
    let mut dice = Dice::new(seed);
    let mut chunks: Vec<TapeChunk> = Vec::new();
    let mut ends = [0_u64; Stream::ALL.len()];
    for chunk in made.chunks.drain(..) {
        for (stream, end) in Stream::ALL.into_iter().zip(&mut ends).skip(1) {
            if dice.roll(3) == 0 {
                continue;
            }
            let words = 1 + dice.roll(40);
            let bytes = format!("{} {}", stream.as_str(), dice.words(words)).into_bytes();
            let start = *end;
            *end += bytes.len() as u64;
            let received_at = chunk.received_at - 1;
            chunks.push(TapeChunk {
                stream,
                start,
                received_at,
                bytes,
            });
        }
        chunks.push(chunk);
    }
    made.chunks = chunks;
    let mut sources = made
        .chunks
        .iter()
        .filter(|chunk| chunk.stream != Stream::Stdout);
    for record in made.records.iter_mut().skip(5).step_by(2) {
        let Some(chunk) = sources.next() else { break };
        record.span = Some(Span {
            stream: chunk.stream,
            start: chunk.start,
            end: chunk.end(),
        });
    }
    made
}

fn check(store: &Store, made: &Made) {
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    let lengths = store.tape_lengths(made.id()).unwrap();
    for stream in Stream::ALL {
        let of_stream = made.chunks.iter().filter(|chunk| chunk.stream == stream);
        let expected: Vec<u8> = of_stream.flat_map(|chunk| chunk.bytes.clone()).collect();
        assert_eq!(lengths.of(stream), expected.len() as u64);
        let whole = Span {
            stream,
            start: 0,
            end: u64::MAX,
        };
        assert_eq!(store.tape_span(made.id(), whole).unwrap(), expected);
        let part = Span {
            stream,
            start: 7,
            end: 30,
        };
        let shown = store.tape_span(made.id(), part).unwrap();
        assert_eq!(shown, expected[7..30], "{stream:?}");
    }
    for record in &made.records {
        let Some(span) = record.span else { continue };
        let chunk = made.chunks.iter().find(|chunk| {
            chunk.stream == span.stream && chunk.start == span.start && chunk.end() == span.end
        });
        let shown = store.tape_of_record(made.id(), record.seq).unwrap();
        assert_eq!(shown.as_ref(), chunk.map(|chunk| &chunk.bytes));
    }
    let mut parts = Vec::new();
    for number in 0.. {
        let Some(chunks) = store.tape_part(made.id(), number).unwrap() else {
            break;
        };
        parts.extend(chunks);
    }
    assert_eq!(parts, made.chunks);
    let report = store.verify().unwrap();
    assert_eq!(report.faults, []);
    store.check_tape(made.id()).unwrap();
}

pub(crate) fn all_streams_come_back<B: Backend>() {
    for (steps, batch) in [(3, 1), (30, 4), (300, 50), (300, 100_000)] {
        let made = with_all_streams("r", steps, steps);
        let home = B::fresh();
        let mut store = home.open();
        store.begin_run(&made.begin).unwrap();
        made.append_live(&mut store, batch);
        check(&store, &made);
        store.finish_run(made.id(), &json!({"code": 0}), 1).unwrap();
        check(&store, &made);
    }
}

pub(crate) fn a_run_that_is_written_at_once_has_the_same_tape<B: Backend>() {
    let made = with_all_streams("r", 100, 3);
    let home = B::fresh();
    let mut store = home.open();
    let chunks = made.chunks.iter();
    let output = chunks.map(|chunk| (chunk.stream, chunk.received_at, chunk.bytes.as_slice()));
    let prepared = PreparedRun::new(&made.begin, &made.records, &json!({"code": 0})).unwrap();
    store.put_run(prepared.with_output(output), 1).unwrap();
    check(&store, &made);
}

pub(crate) fn each_stream_goes_on_where_it_ended<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = with_all_streams("r", 10, 4);
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records, &made.chunks)
        .unwrap();
    // The same again changes nothing.
    store.append(made.id(), &[], &made.chunks).unwrap();
    assert_eq!(store.tape(made.id()).unwrap(), made.chunks);
    let lengths = store.tape_lengths(made.id()).unwrap();
    for stream in Stream::ALL {
        let chunk = |start| TapeChunk {
            stream,
            start,
            received_at: 1,
            bytes: b"other".to_vec(),
        };
        let gap = store.append(made.id(), &[], &[chunk(lengths.of(stream) + 1)]);
        assert!(matches!(gap, Err(StoreError::Invalid { .. })), "{gap:?}");
        let other = store.append(made.id(), &[], &[chunk(0)]);
        let named = format!("{} from byte 0", stream.as_str());
        assert!(other.unwrap_err().to_string().contains(&named));
        store
            .append(made.id(), &[], &[chunk(lengths.of(stream))])
            .unwrap();
        let after = store.tape_lengths(made.id()).unwrap();
        assert_eq!(after.of(stream), lengths.of(stream) + 5);
    }
}

pub(crate) fn records_are_replaced_only_where_the_streams_they_came_from_are_there<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let made = with_all_streams("r", 10, 5);
    made.store(&mut store);
    let mut again = made.records.clone();
    again[4].at += 1;
    store.replace_records(made.id(), &again, 5).unwrap();
    assert_eq!(store.records(made.id(), 0, usize::MAX).unwrap(), again);
    let dropped = store.drop_tapes_before(i64::MAX, 6).unwrap();
    let bytes: usize = made.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    assert_eq!(dropped.bytes, bytes as u64);
    let refused = store.check_tape(&run_id("r"));
    assert!(matches!(refused, Err(StoreError::NoTape { .. })));
    assert!(store.verify().unwrap().is_intact());
}
