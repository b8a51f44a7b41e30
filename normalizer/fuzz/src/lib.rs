//! What every target does: normalize the input and hold the records to what is always true.

use std::collections::HashMap;

use runtape_core::{JobId, RunId, Runtime, Stream};
use runtape_normalizer::{Context, Exit, Normalizer};

/// Normalizes `data`. Its first two bytes choose the exit and the size of the chunks.
pub fn check(runtime: Runtime, data: &[u8]) {
    let [exit, chunk, output @ ..] = data else {
        return;
    };
    let exit = match exit % 5 {
        0 => Exit::unknown(),
        1 => Exit::with_code(0),
        2 => Exit::with_code(i32::from(*exit)),
        3 => Exit::with_signal("SIGKILL"),
        _ => Exit::lost(),
    };
    let job = JobId::parse("fuzz").expect("a valid id");
    let run = RunId::parse("fuzz").expect("a valid id");
    let mut context = Context::new(job, run);
    // Small enough that the fuzzer reaches it.
    context.limit = 4096;
    let mut normalizer = Normalizer::new(runtime, context).expect("a runtime that can be read");
    let mut records = Vec::new();
    for bytes in output.chunks(usize::from(*chunk) * 16 + 1) {
        records.extend(normalizer.push(Stream::Stdout, bytes, 1).records);
    }
    records.extend(normalizer.finish(&exit).records);

    let mut runs: HashMap<RunId, (u64, bool)> = HashMap::new();
    for record in &records {
        let (next, ended) = runs.entry(record.run_id.clone()).or_default();
        assert_eq!(record.seq, *next, "a gap in the sequence");
        assert!(!*ended, "a record after the terminal one");
        *next += 1;
        *ended = record.terminal().is_some();
    }
    assert!(!runs.is_empty() && runs.values().all(|(_, ended)| *ended), "a run without an end");
}
