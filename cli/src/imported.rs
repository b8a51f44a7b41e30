//! Runs that come as records, from elsewhere: without a tape.

use runtape_core::{Record, RecordKind};
use runtape_store::{BeginRun, PreparedRun, Store, StoreError};
use serde_json::{Value, json};

/// Stores a root run and its children from all their records, and seals it: all of it or nothing.
///
/// Returns the number of its seal; `None` if the first record opens no run. `now` is in
/// milliseconds since 1970.
pub fn store_records(
    store: &mut Store,
    records: &[Record],
    now: i64,
) -> Result<Option<u64>, StoreError> {
    let Some(Record {
        run_id,
        at,
        kind: RecordKind::Run(opened),
        ..
    }) = records.first()
    else {
        return Ok(None);
    };
    let begin = BeginRun {
        job_id: opened.job_id.clone(),
        run_id: run_id.clone(),
        runtime: opened.runtime.clone(),
        started_at: *at,
        context: Value::Null,
    };
    let run = PreparedRun::new(&begin, records, &json!({}))?;
    store.put_run(run, now).map(Some)
}
