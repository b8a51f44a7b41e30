//! Any value of our types is written as JSON that its schema accepts, and is read back as itself.

use proptest::prelude::*;
use runtape_core::{RecordKind, RunEventKind, RuntimeEventKind, TranscriptKind};
use runtape_schemas::{SchemaKind, Validator, Verdict};
use runtape_tests::strategies::{self, UNKNOWN};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::samples::{for_each_report, runner, tags};

/// Checks values of one kind; of the types it has, the unknown one included, each by itself.
fn holds<T>(kind: SchemaKind, tag: Option<&str>, cases: u32, strategy: &BoxedStrategy<T>)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let validator = Validator::for_kind(kind);
    let result = runner(cases).run(strategy, |value| {
        let text = serde_json::to_string(&value).unwrap();
        let json = serde_json::from_str(&text).unwrap();
        match validator.validate(&json) {
            Verdict::Valid => prop_assert_ne!(tag, Some(UNKNOWN)),
            Verdict::Unknown { tag: found } => {
                // A record of a known type may hold an event of an unknown one.
                prop_assert!(tag == Some(UNKNOWN) || kind == SchemaKind::Record);
                prop_assert_eq!(found, UNKNOWN);
            }
            Verdict::Invalid(faults) => {
                return Err(TestCaseError::fail(format!("{text}\n{faults:#?}")));
            }
        }
        let back: T = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back, &value);
        // Byte for byte repeatable.
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{kind} {}: {error}", tag.unwrap_or_default()));
}

#[test]
fn run_events() {
    for tag in tags(RunEventKind::TAGS) {
        holds(
            SchemaKind::RunEvent,
            Some(tag),
            8,
            &strategies::run_event_of(tag),
        );
    }
}

#[test]
fn runtime_events() {
    for tag in tags(RuntimeEventKind::TAGS) {
        holds(
            SchemaKind::RuntimeEvent,
            Some(tag),
            24,
            &strategies::runtime_event_of(tag),
        );
    }
}

#[test]
fn events_of_either_kind() {
    for tag in tags(RunEventKind::TAGS) {
        let events = strategies::run_event_of(tag).prop_map(runtape_core::Event::Run);
        holds(SchemaKind::Event, Some(tag), 4, &events.boxed());
    }
    for tag in tags(RuntimeEventKind::TAGS) {
        let events = strategies::runtime_event_of(tag).prop_map(runtape_core::Event::Runtime);
        holds(SchemaKind::Event, Some(tag), 16, &events.boxed());
    }
}

#[test]
fn records() {
    for tag in tags(RecordKind::TAGS) {
        holds(
            SchemaKind::Record,
            Some(tag),
            48,
            &strategies::record_of(tag),
        );
    }
}

#[test]
fn transcript_entries() {
    for tag in tags(TranscriptKind::TAGS) {
        holds(
            SchemaKind::TranscriptEntry,
            Some(tag),
            32,
            &strategies::transcript_entry_of(tag),
        );
    }
}

#[test]
fn everything_else() {
    holds(SchemaKind::Checkpoint, None, 64, &strategies::checkpoint());
    holds(SchemaKind::Job, None, 64, &strategies::job());
    holds(SchemaKind::Step, None, 64, &strategies::step());
    holds(SchemaKind::Message, None, 128, &strategies::message());
    holds(SchemaKind::Usage, None, 64, &strategies::usage());
    holds(SchemaKind::Summary, None, 64, &strategies::summary());
}

#[test]
fn reports() {
    macro_rules! hold {
        ($($name:ident $strategy:ident;)*) => {
            $(holds(SchemaKind::$name, None, 32, &strategies::$strategy());)*
        };
    }
    for_each_report!(hold);
}

#[test]
fn every_type_has_a_strategy_of_its_own() {
    fn first<T: std::fmt::Debug>(strategy: &BoxedStrategy<T>) -> T {
        use proptest::strategy::ValueTree;
        strategy.new_tree(&mut runner(1)).unwrap().current()
    }
    for tag in tags(RunEventKind::TAGS) {
        assert_eq!(first(&strategies::run_event_of(tag)).kind.tag(), tag);
    }
    for tag in tags(RuntimeEventKind::TAGS) {
        assert_eq!(first(&strategies::runtime_event_of(tag)).kind.tag(), tag);
    }
    for tag in tags(RecordKind::TAGS) {
        assert_eq!(first(&strategies::record_of(tag)).kind.tag(), tag);
    }
    for tag in tags(TranscriptKind::TAGS) {
        assert_eq!(first(&strategies::transcript_entry_of(tag)).kind.tag(), tag);
    }
}
