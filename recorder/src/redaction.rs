//! Secrets out of what is kept besides the output: what the caller knows of a run, and runs that come as records.

use std::borrow::Cow;
use std::sync::Arc;

use runtape_core::report::{AppliedRules, RedactionCounts, RunRedaction};
use runtape_core::{Expert, Metadata, Record, RunId, Runtime};
use runtape_normalizer::redact::{RedactionKey, RuleSet, Tier};
use runtape_normalizer::{Context, Redactor};
use runtape_store::{BeginRun, Store, StoreError};
use serde_json::Value;

use crate::context_and_exit::{
    applied_rules, context_from_json, context_to_json, history_rules, set_history_rules,
};

/// What the built-in rules are called where a run says by which rules it was filtered.
const RULES: &str = "runtape";

/// Says by which rules a run is filtered.
#[must_use]
pub fn rules_in_force(rules: &RuleSet) -> AppliedRules {
    let is_on = rules.tier() != Tier::Off;
    AppliedRules {
        tier: rules.tier().as_str().to_owned(),
        rules: is_on.then(|| format!("{RULES} {}", rules.edition())),
        digest: is_on.then(|| rules.digest()),
        key_id: rules.key().filter(|_| is_on).map(RedactionKey::id),
    }
}

/// Returns by which rules secrets were taken out of some runs, each set once. Children are told by their roots.
pub fn rules_applied_to<'a>(
    store: &Store,
    runs: impl IntoIterator<Item = &'a RunId>,
) -> Result<Vec<AppliedRules>, StoreError> {
    let mut found = Vec::new();
    for run in runs {
        let root = store.run(run)?.root_run_id.unwrap_or_else(|| run.clone());
        let context = store.begin_of(&root)?.context;
        for applied in [applied_rules(&context), history_rules(&context)] {
            found.extend(applied.filter(|applied| !found.contains(applied)));
        }
    }
    Ok(found)
}

/// Makes the filter of a run, and takes the secrets out of what the caller knows of the run with it.
#[must_use]
pub fn begin_redaction(
    rules: &Arc<RuleSet>,
    runtime: &Runtime,
    context: &Context,
) -> (Redactor, Context) {
    begin_redaction_by(rules, &rules_in_force(rules), runtime, context)
}

/// The same for one run of many: telling the rules that are in force takes longer than reading a short run.
pub(crate) fn begin_redaction_by(
    rules: &Arc<RuleSet>,
    applied: &AppliedRules,
    runtime: &Runtime,
    context: &Context,
) -> (Redactor, Context) {
    let mut redactor = Redactor::new(rules, runtime).with_limit(context.limit);
    let context = filter_context(rules, applied, context, |text| {
        redactor.redact_text(text).into_owned()
    });
    (redactor, context)
}

/// Returns what is known of a run without its secrets, and with the rules by which they were looked for.
pub(crate) fn filter_context(
    rules: &RuleSet,
    applied: &AppliedRules,
    context: &Context,
    mut filter: impl FnMut(&str) -> String,
) -> Context {
    let mut kept = context.clone();
    kept.redaction = Some(applied.clone());
    if rules.tier() == Tier::Off {
        return kept;
    }
    kept.query = context.query.as_deref().map(&mut filter);
    kept.argv = context
        .argv
        .as_deref()
        .map(|argv| filter_words(argv, &mut filter));
    kept.expert = context.expert.as_ref().map(|expert| Expert {
        key: filter(&expert.key),
        name: filter(&expert.name),
        version: filter(&expert.version),
    });
    if !context.metadata.is_empty()
        && let Ok(mut value) = serde_json::to_value(&context.metadata)
    {
        filter_value(&mut value, &mut filter);
        if let Ok(metadata) = serde_json::from_value::<Metadata>(value) {
            kept.metadata = metadata;
        }
    }
    kept
}

/// Filters a command line. A flag and the word after it are looked at together, too: `--token VALUE` says of the
/// value what `--token=VALUE` would.
fn filter_words(words: &[String], filter: &mut impl FnMut(&str) -> String) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    let mut flag: Option<&str> = None;
    for word in words {
        let mut filtered = filter(word);
        if let Some(flag) = flag.take()
            && filtered == *word
            && !word.starts_with('-')
        {
            let together = filter(&format!("{flag}={word}"));
            let value = together
                .strip_prefix(flag)
                .and_then(|rest| rest.strip_prefix('='));
            if let Some(value) = value {
                value.clone_into(&mut filtered);
            }
        }
        if word.starts_with('-') && !word.contains('=') {
            flag = Some(word);
        }
        kept.push(filtered);
    }
    kept
}

fn filter_value(value: &mut Value, filter: &mut impl FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = filter(text),
        Value::Array(items) => items.iter_mut().for_each(|item| filter_value(item, filter)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| filter_value(field, filter)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns what the store keeps of a run's beginning without secrets, and with the rules by which they were looked for.
pub(crate) fn filter_begin(
    rules: &RuleSet,
    begin: &BeginRun,
    counts: &mut RedactionCounts,
) -> Value {
    let filter = |text: &str| rules.redact_text(text, counts).into_owned();
    let context = context_from_json(begin.job_id.clone(), begin.run_id.clone(), &begin.context);
    let applied = rules_in_force(rules);
    let mut kept = context_to_json(&filter_context(rules, &applied, &context, filter));
    // What only the store or a sync put there: where the run was before, which history it has.
    if let (Value::Object(kept), Value::Object(before)) = (&mut kept, &begin.context) {
        for (key, value) in before {
            kept.entry(key.as_str()).or_insert_with(|| value.clone());
        }
    }
    // All of its streams are filtered by the same rules now.
    set_history_rules(&mut kept, None);
    kept
}

/// Takes secrets out of records that come from elsewhere. Returns them, and what was found by which rules.
pub fn redact_records(
    records: Vec<Record>,
    rules: &RuleSet,
) -> Result<(Vec<Record>, RunRedaction), StoreError> {
    let mut counts = RedactionCounts::default();
    let kept: Result<Vec<_>, _> = records
        .into_iter()
        .map(|record| redact_record(record, rules, &mut counts))
        .collect();
    let applied = rules_in_force(rules);
    Ok((kept?, RunRedaction { applied, counts }))
}

/// Takes secrets out of one record.
pub(crate) fn redact_record(
    record: Record,
    rules: &RuleSet,
    counts: &mut RedactionCounts,
) -> Result<Record, StoreError> {
    if rules.tier() == Tier::Off {
        return Ok(record);
    }
    let failed = |source| StoreError::Json {
        run: record.run_id.clone(),
        source,
    };
    let line = serde_json::to_vec(&record).map_err(failed)?;
    match rules.redact_line(&line, counts) {
        Cow::Owned(filtered) => serde_json::from_slice(&filtered).map_err(failed),
        Cow::Borrowed(_) => Ok(record),
    }
}

/// How every marker begins.
const MARKER: &[u8] = b"[REDACTED:";
/// The longest name of a rule in a marker.
const LONGEST_RULE: usize = 64;
/// How many digits stand for a secret.
const DIGITS: usize = 16;

/// A marker in some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MarkerPlace<'a> {
    pub(crate) rule: &'a str,
    /// What stands for the secret; empty if the marker does not tell it from others.
    pub(crate) commitment: &'a str,
    /// The whole of it.
    pub(crate) place: std::ops::Range<usize>,
}

/// Returns the markers in some bytes.
pub(crate) fn markers(bytes: &[u8]) -> impl Iterator<Item = MarkerPlace<'_>> {
    memchr::memmem::find_iter(bytes, MARKER).filter_map(move |start| {
        let rest = bytes.get(start + MARKER.len()..)?;
        let end = rest
            .iter()
            .take(LONGEST_RULE + DIGITS + 2)
            .position(|byte| *byte == b']')?;
        let inside = std::str::from_utf8(rest.get(..end)?).ok()?;
        let (rule, commitment) = inside.split_once(':').unwrap_or((inside, ""));
        let is_rule = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_marker = !rule.is_empty()
            && rule.bytes().all(is_rule)
            && (commitment.is_empty() || commitment.len() == DIGITS)
            && commitment.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_marker.then(|| MarkerPlace {
            rule,
            commitment,
            place: start..start + MARKER.len() + end + 1,
        })
    })
}

/// Counts the markers in what is kept.
pub(crate) fn count_markers(bytes: &[u8], counts: &mut RedactionCounts) {
    markers(bytes).for_each(|marker| counts.count(marker.rule, 1));
}

/// Returns some bytes with markers that only name their rules.
pub(crate) fn without_commitments(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut kept = Cow::Borrowed(bytes);
    let mut end = 0;
    for marker in markers(bytes).filter(|marker| !marker.commitment.is_empty()) {
        if end == 0 {
            kept = Cow::Owned(Vec::with_capacity(bytes.len()));
        }
        let kept = kept.to_mut();
        let without = marker.place.end - 2 - DIGITS;
        kept.extend_from_slice(bytes.get(end..without).unwrap_or_default());
        kept.push(b']');
        end = marker.place.end;
    }
    if end > 0 {
        kept.to_mut()
            .extend_from_slice(bytes.get(end..).unwrap_or_default());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_counted_and_told_from_what_is_like_them() {
        let text =
            b"a [REDACTED:jwt:0123456789abcdef] b [REDACTED:jwt] [REDACTED:] [REDACTED:x:12] \
            [REDACTED:no name] [REDACTED:env.MY_KEY:ffffffffffffffff] [REDACTED:cut";
        let mut counts = RedactionCounts::default();
        count_markers(text, &mut counts);
        let found: Vec<_> = counts.by_rule.into_iter().collect();
        assert_eq!(found, [("env.MY_KEY".to_owned(), 1), ("jwt".to_owned(), 2)]);
    }

    #[test]
    fn markers_without_commitments_are_the_same_under_any_key() {
        let with = |digits: &str| format!("x [REDACTED:jwt:{digits}] y [REDACTED:jwt:{digits}]");
        let one = with("0123456789abcdef");
        let expected = b"x [REDACTED:jwt] y [REDACTED:jwt]";
        assert_eq!(&*without_commitments(one.as_bytes()), expected);
        assert_eq!(
            &*without_commitments(with("fedcba9876543210").as_bytes()),
            expected
        );
        assert!(matches!(without_commitments(expected), Cow::Borrowed(_)));
    }
}
