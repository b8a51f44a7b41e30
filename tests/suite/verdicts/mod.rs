//! How a run ended: success is what its runtime says in its documented way, and nothing else.
//!
//! Every format with a verdict is given every value in every field that tells it, with every exit.
//! What is a success is in the tables, a file for each runtime; all else has to be a failure with a
//! name.

mod answers;
mod claude_code;
mod codex;
mod cursor;
mod endings;
mod gemini;
mod generic;
mod hermes;
mod histories;
mod openclaw;
mod opencode;

use runtape_core::{
    CheckpointStatus, JobId, Record, RunId, RunSummary, Runtime, Stream, summarize,
};
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_normalizer::{Context, Exit, Kept, Normalizer};
use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A format that says how its run went.
struct Format {
    name: &'static str,
    /// The command line; none where the output alone tells the format.
    argv: Option<&'static str>,
    /// The fields that say it.
    fields: [&'static str; 2],
    /// Words that this format has in them, beside those that any may have.
    words: &'static [&'static str],
    /// Prints a run whose last word has these fields.
    print: fn(&Fields) -> String,
    /// Tells whether that is how the runtime is documented to report success, where the exit has a
    /// say with this one.
    is_success: fn(&Fields, &Exit) -> bool,
}

const SESSION: &str = "5b0d6c1e-0a5f-4c7e-9f53-2f1f6f9d1a01";

/// The formats of every runtime.
fn all_formats() -> [(Runtime, Vec<Format>); 8] {
    [
        (Runtime::ClaudeCode, claude_code::formats()),
        (Runtime::Codex, codex::formats()),
        (Runtime::Cursor, cursor::formats()),
        (Runtime::Gemini, gemini::formats()),
        (Runtime::Generic, generic::formats()),
        (Runtime::Hermes, hermes::formats()),
        (Runtime::Openclaw, openclaw::formats()),
        (Runtime::Opencode, opencode::formats()),
    ]
}

/// What a field may hold: `None` leaves it out, and `words` are those that its format knows.
fn values(words: &[&str]) -> Vec<Option<Value>> {
    let given = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(""),
        json!("true"),
        json!("success"),
        json!("Success"),
        json!("cancelled"),
        json!("error"),
        json!([]),
        json!(["error"]),
        json!({}),
        json!({"type": "unknown", "message": "boom"}),
    ];
    let words = words.iter().map(|word| json!(word));
    std::iter::once(None)
        .chain(given.into_iter().chain(words).map(Some))
        .collect()
}

fn exits() -> Vec<Exit> {
    vec![
        Exit::unknown(),
        Exit::with_code(0),
        Exit::with_code(1),
        Exit::with_code(130),
        Exit::with_signal("SIGKILL"),
    ]
}

/// Prints a line: what it always has, and the fields.
fn line(mut always: Value, fields: &Fields) -> String {
    let object = always.as_object_mut().unwrap();
    object.extend(fields.clone());
    format!("{always}\n")
}

fn is_absent(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_none_or(Value::is_null)
}

/// Tells whether both a flag and a word call a result a success.
fn flag_and_word(fields: &Fields, _: &Exit) -> bool {
    fields.get("is_error") == Some(&json!(false))
        && fields.get("subtype") == Some(&json!("success"))
}

fn normalize(runtime: &Runtime, argv: Option<&str>, stdout: &str, exit: &Exit) -> Vec<Record> {
    let mut context = Context::new(JobId::parse("job").unwrap(), RunId::parse("run").unwrap());
    context.argv = argv.map(|argv| argv.split(' ').map(str::to_owned).collect());
    let mut normalizer = Normalizer::new(runtime.clone(), context).unwrap();
    let mut records = normalizer
        .push(Stream::Stdout, Kept::as_given(stdout), 1)
        .records;
    records.extend(normalizer.finish(exit).records);
    records
}

fn summary(runtime: &Runtime, argv: Option<&str>, stdout: &str, exit: &Exit) -> RunSummary {
    summarize(&normalize(runtime, argv, stdout, exit)).unwrap()
}

/// Returns what is wrong with how a run was told to end.
fn fault(records: &[Record], is_success: bool, exit: &Exit) -> Option<String> {
    let ends = records.iter().filter(|record| record.terminal().is_some());
    if ends.count() != 1 {
        return Some("not exactly one terminal event".to_owned());
    }
    let summary = summarize(records).unwrap();
    let error = summary.error.as_ref();
    let name = error.map_or("", |error| error.name.as_str());
    let message = error.map_or("", |error| error.message.as_str());
    let is_completed = summary.status == CheckpointStatus::Completed;
    if is_completed != is_success {
        return Some(format!("{} {name}: {message}", summary.status.as_str()));
    }
    if is_completed {
        let has_notice = |notice: &runtape_core::SummaryNotice| notice.kind == "exitMismatch";
        let is_noted = summary.notices.iter().any(has_notice);
        return (is_noted != exit.is_failure() || error.is_some())
            .then(|| "completed, and the exit disagrees in silence".to_owned());
    }
    if name.is_empty() || message.is_empty() {
        return Some("a failure without a name or a message".to_owned());
    }
    let is_told = name != "UnclearResult" || !summary.unparsed.is_empty();
    (!is_told).then(|| "unclear, and no field is named".to_owned())
}

/// Gives every format of a runtime every value in each field, with every exit.
fn check_formats(runtime: &Runtime, formats: &[Format]) {
    let mut faults = Vec::new();
    for format in formats {
        let found = check_format(runtime, format);
        let examples = found.iter().take(8).map(String::as_str);
        let examples: Vec<&str> = examples.collect();
        if !found.is_empty() {
            let count = found.len();
            faults.push(format!(
                "{}: {count}\n  {}",
                format.name,
                examples.join("\n  ")
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn check_format(runtime: &Runtime, format: &Format) -> Vec<String> {
    let [first, second] = format.fields;
    let mut faults = Vec::new();
    let mut successes = 0;
    for one in values(format.words) {
        for other in values(format.words) {
            let mut fields = Fields::new();
            fields.extend(one.clone().map(|value| (first.to_owned(), value)));
            fields.extend(other.map(|value| (second.to_owned(), value)));
            let stdout = (format.print)(&fields);
            for exit in exits() {
                let is_success = (format.is_success)(&fields, &exit);
                successes += usize::from(is_success);
                let records = normalize(runtime, format.argv, &stdout, &exit);
                if let Some(fault) = fault(&records, is_success, &exit) {
                    let fields = Value::Object(fields.clone());
                    let exit = (exit.code, exit.signal.as_deref());
                    faults.push(format!("{fields} {exit:?}: {fault}"));
                }
            }
        }
    }
    assert!(successes > 0, "{} has no success", format.name);
    faults
}

#[test]
fn every_runtime_of_the_registry_has_its_verdicts_in_a_table() {
    let formats = all_formats();
    for entry in RUNTIMES {
        let of_entry = formats
            .iter()
            .find(|(runtime, _)| *runtime == entry.runtime);
        let is_listed = of_entry.is_some_and(|(_, formats)| !formats.is_empty());
        assert!(is_listed, "{}", entry.runtime);
    }
}

#[test]
fn what_an_unclear_result_says_is_kept() {
    let cancelled = json!({"is_error": false, "subtype": "cancelled", "status": "cancelled"});
    let Value::Object(fields) = cancelled else {
        panic!("an object")
    };
    let named = ["json", "stream-json", "stream-json until 0.36"];
    let mut faults = Vec::new();
    let formats = all_formats().into_iter();
    let formats = formats.flat_map(|(runtime, formats)| {
        formats
            .into_iter()
            .map(move |format| (runtime.clone(), format))
    });
    for (runtime, format) in formats {
        let is_named = named
            .iter()
            .any(|name| format.name.ends_with(&format!(" {name}")));
        if !is_named || format.name == "gemini json" {
            continue;
        }
        let mut fields = fields.clone();
        fields.retain(|key, _| format.fields.contains(&key.as_str()));
        let stdout = (format.print)(&fields);
        let exit = Exit::with_code(0);
        let summary = summary(&runtime, format.argv, &stdout, &exit);
        let error = summary.error.as_ref();
        let is_unclear = error.is_some_and(|error| {
            error.name == "UnclearResult" && error.message.contains("cancelled")
        });
        let is_reported = summary.unparsed.iter().any(|unparsed| {
            unparsed.r#type.as_deref() == Some("result") && unparsed.reason.contains("cancelled")
        });
        let is_kept = summary.texts == ["Done."] && summary.final_text.as_deref() == Some("Done.");
        if !is_unclear || !is_reported || !is_kept {
            faults.push(format!("{}: {summary:?}", format.name));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
