//! Random values of every kind, as JSON.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use runtape_core::{RecordKind, RunEventKind, RuntimeEventKind, TranscriptKind};
use runtape_schemas::SchemaKind;
use runtape_tests::strategies::{self, UNKNOWN};
use serde::Serialize;
use serde_json::Value;

/// Calls a macro with every kind of report: its variant, its type's name and its strategy's.
macro_rules! for_each_report {
    ($then:ident) => {
        $then! {
            RunInfo run_info;
            RunDetail run_detail;
            JobInfo job_info;
            JobDetail job_detail;
            SearchHit search_hit;
            SearchedRun searched_run;
            UsageGroup usage_group;
            LedgerEntry ledger_entry;
            ModelPrice model_price;
            ToolUse tool_use;
            ToolCallInfo tool_call_info;
            FileUse file_use;
            NetworkCall network_call;
            HostUse host_use;
            FileCall file_call;
            FailureSum failure_sum;
            NoticeInfo notice_info;
            Drift drift;
            CheckpointDiff checkpoint_diff;
            SessionAnswer session_answer;
            SessionInfo session_info;
            RawOutput raw_output;
            SqlRow sql_row;
            IngestLine ingest_line;
            SyncLine sync_line;
            ImportedRun imported_run;
            CopyLine copy_line;
            ExportedFile exported_file;
            TreeLine tree_line;
            ExportedTree exported_tree;
            RecordReport record_report;
            RecoveredRun recovered_run;
            RenormalizedRun renormalized_run;
            VerifyReport verify_report;
            StoreStats store_stats;
            GcReport gc_report;
            ScanLine scan_line;
            RedactLine redact_line;
            ConfigInfo config_info;
            RebuiltRun rebuilt_run;
            BackupReport backup_report;
            DatabaseStatus database_status;
            MigrationReport migration_report;
            DoctorReport doctor_report;
            AdapterSession adapter_session;
            AdapterEnvironment adapter_environment;
            AdapterCommand adapter_command;
            RuntimeInfo runtime_info;
            SchemaInfo schema_info;
            ValidationLine validation_line;
            ServeInfo serve_info;
            Document document;
        }
    };
}
pub(crate) use for_each_report;

/// A strategy for values of one kind and, where the kind has types, of one type.
pub(crate) struct Sampler {
    pub(crate) tag: Option<&'static str>,
    pub(crate) values: BoxedStrategy<Value>,
}

impl Sampler {
    fn new<T: Serialize + std::fmt::Debug>(
        tag: Option<&'static str>,
        strategy: impl Strategy<Value = T> + 'static,
    ) -> Self {
        let values = strategy
            .prop_map(|value| serde_json::to_value(value).unwrap())
            .boxed();
        Self { tag, values }
    }

    /// Draws values without end.
    pub(crate) fn draw(&self) -> impl Iterator<Item = Value> + '_ {
        // The same values in every run: how many there are to break is counted.
        let mut runner = TestRunner::deterministic();
        std::iter::repeat_with(move || self.values.new_tree(&mut runner).unwrap().current())
    }
}

/// Makes a runner that leaves no files behind.
pub(crate) fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    })
}

/// Returns every type of a kind, and an unknown one.
pub(crate) fn tags(known: &[&'static str]) -> Vec<&'static str> {
    known.iter().copied().chain([UNKNOWN]).collect()
}

/// Returns a sampler for every type of a kind, the unknown one last.
pub(crate) fn samplers(kind: SchemaKind) -> Vec<Sampler> {
    let each =
        |known, make: fn(&'static str) -> Sampler| tags(known).into_iter().map(make).collect();
    let run_event: fn(&'static str) -> Sampler =
        |tag| Sampler::new(Some(tag), strategies::run_event_of(tag));
    let runtime_event: fn(&'static str) -> Sampler =
        |tag| Sampler::new(Some(tag), strategies::runtime_event_of(tag));
    match kind {
        SchemaKind::RunEvent => each(RunEventKind::TAGS, run_event),
        SchemaKind::RuntimeEvent => each(RuntimeEventKind::TAGS, runtime_event),
        SchemaKind::Event => {
            let mut all: Vec<Sampler> = each(RunEventKind::TAGS, run_event);
            all.extend(each(RuntimeEventKind::TAGS, runtime_event));
            all
        }
        SchemaKind::Record => each(RecordKind::TAGS, |tag| {
            Sampler::new(Some(tag), strategies::record_of(tag))
        }),
        SchemaKind::TranscriptEntry => each(TranscriptKind::TAGS, |tag| {
            Sampler::new(Some(tag), strategies::transcript_entry_of(tag))
        }),
        SchemaKind::Checkpoint => vec![Sampler::new(None, strategies::checkpoint())],
        SchemaKind::Job => vec![Sampler::new(None, strategies::job())],
        SchemaKind::Step => vec![Sampler::new(None, strategies::step())],
        SchemaKind::Message => vec![Sampler::new(None, strategies::message())],
        SchemaKind::Usage => vec![Sampler::new(None, strategies::usage())],
        SchemaKind::Summary => vec![Sampler::new(None, strategies::summary())],
        report => vec![report_sampler(report)],
    }
}

fn report_sampler(kind: SchemaKind) -> Sampler {
    macro_rules! sampler {
        ($($name:ident $strategy:ident;)*) => {
            match kind {
                $(SchemaKind::$name => Sampler::new(None, strategies::$strategy()),)*
                other => panic!("no strategy for {other}: add one, and a line above"),
            }
        };
    }
    for_each_report!(sampler)
}

/// Reads JSON as the type of a kind and writes it again.
pub(crate) fn reread(kind: SchemaKind, value: &Value) -> Result<Value, serde_json::Error> {
    fn through<T: Serialize + serde::de::DeserializeOwned>(
        value: &Value,
    ) -> Result<Value, serde_json::Error> {
        serde_json::to_value(serde_json::from_value::<T>(value.clone())?)
    }
    match kind {
        SchemaKind::RunEvent => through::<runtape_core::RunEvent>(value),
        SchemaKind::RuntimeEvent => through::<runtape_core::RuntimeEvent>(value),
        SchemaKind::Event => through::<runtape_core::Event>(value),
        SchemaKind::Record => through::<runtape_core::Record>(value),
        SchemaKind::TranscriptEntry => through::<runtape_core::TranscriptEntry>(value),
        SchemaKind::Checkpoint => through::<runtape_core::Checkpoint>(value),
        SchemaKind::Job => through::<runtape_core::Job>(value),
        SchemaKind::Step => through::<runtape_core::Step>(value),
        SchemaKind::Message => through::<runtape_core::Message>(value),
        SchemaKind::Usage => through::<runtape_core::Usage>(value),
        SchemaKind::Summary => through::<runtape_core::RunSummary>(value),
        report => {
            macro_rules! reread {
                ($($name:ident $strategy:ident;)*) => {
                    match report {
                        $(SchemaKind::$name => through::<runtape_core::report::$name>(value),)*
                        other => panic!("no type for {other}: add a line above"),
                    }
                };
            }
            for_each_report!(reread)
        }
    }
}
