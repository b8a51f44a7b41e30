//! What commands about secrets report to programs.

use proptest::prelude::*;
use runtape_core::Stream;
use runtape_core::report::{
    AppliedRules, ConfigInfo, FoundMarker, FoundSecret, RedactLine, RedactSummary, RedactedRun,
    RedactionCounts, RunRedaction, ScanLine, ScanSummary, SecretPlace,
};

use super::answer::seal_name;
use super::leaf::{count, json, run_id, text};
use super::{build, maybe, word};

/// Any rules that were applied.
pub(super) fn applied_rules() -> BoxedStrategy<AppliedRules> {
    build!(AppliedRules {
        tier: text(),
        rules: maybe(text()),
        digest: maybe(text()),
        key_id: maybe(text()),
    })
}

fn counts() -> BoxedStrategy<RedactionCounts> {
    build!(RedactionCounts {
        by_rule: proptest::collection::btree_map(text(), count(), 0..3),
        unfinished: count(),
    })
}

/// Anything that was taken out of a run.
pub(super) fn run_redaction() -> BoxedStrategy<RunRedaction> {
    build!(RunRedaction {
        applied: applied_rules(),
        counts: counts(),
    })
}

fn place() -> BoxedStrategy<SecretPlace> {
    let stream = word(&[Stream::Stdout, Stream::Stderr, Stream::History]);
    prop_oneof![
        Just(SecretPlace::Context),
        count().prop_map(|seq| SecretPlace::Record { seq }),
        (stream, count()).prop_map(|(stream, start)| SecretPlace::Tape { stream, start }),
    ]
    .boxed()
}

/// Any line of a scan.
pub fn scan_line() -> BoxedStrategy<ScanLine> {
    let found = build!(FoundSecret {
        run_id: run_id(),
        place: place(),
        rule: text(),
        masked: text(),
    });
    let summary = build!(ScanSummary {
        tier: text(),
        runs: count(),
        runs_with_secrets: count(),
        by_rule: proptest::collection::btree_map(text(), count(), 0..3),
    });
    prop_oneof![
        found.prop_map(ScanLine::Found),
        summary.prop_map(ScanLine::Summary),
    ]
    .boxed()
}

/// Any line of what was taken out.
pub fn redact_line() -> BoxedStrategy<RedactLine> {
    let run = build!(RedactedRun {
        run_id: run_id(),
        counts: counts(),
        seal: maybe(seal_name()),
    });
    let marker = build!(FoundMarker {
        run_id: run_id(),
        place: place(),
        marker: text(),
    });
    let summary = build!(RedactSummary {
        is_dry_run: any::<bool>(),
        runs: count(),
        changed: count(),
        is_erased: maybe(any::<bool>()),
    });
    prop_oneof![
        run.prop_map(RedactLine::Run),
        marker.prop_map(RedactLine::Marker),
        summary.prop_map(RedactLine::Summary),
    ]
    .boxed()
}

/// Any configuration.
pub fn config_info() -> BoxedStrategy<ConfigInfo> {
    build!(ConfigInfo {
        path: text(),
        is_there: any::<bool>(),
        settings: json(),
    })
}
