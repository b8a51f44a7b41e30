//! Values of the published shapes, read as strictly as their schemas are.
//!
//! Reading elsewhere is more forgiving than the schemas: it takes null for what may be absent, a
//! list for an object, a word of a newer version for a family of errors. Who reads what anybody may
//! have written, and has no validator at hand, has to refuse what a validator would refuse.
//!
//! The types are the rule here as they are for the schemas: a value is read, and what was read is
//! written again. What is there in both has to be the same.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::{Event, Metadata, RunEvent, RuntimeEvent, TranscriptEntry};

/// How many characters of a reason are kept: serde quotes what it does not like.
const LONGEST_REASON: usize = 200;

/// How many nulls are looked at one by one to name the one that is refused.
const NAMED_NULLS: usize = 8;

/// A value, and the keys that its shape does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Published<T> {
    /// What was read.
    pub value: T,
    /// The keys on top that this version does not know. A schema allows them.
    pub unknown_keys: Vec<String>,
}

/// Reads an entry of a transcript, or says which field is wrong and why.
pub fn read_transcript_entry(value: &Value) -> Result<Published<TranscriptEntry>, String> {
    read(value)
}

/// Reads an event of either kind, or says which field is wrong and why.
pub fn read_event(value: &Value) -> Result<Published<Event>, String> {
    if !Event::is_run_event(value) {
        let Published {
            value,
            unknown_keys,
        } = read::<RuntimeEvent>(value)?;
        let value = Event::Runtime(value);
        return Ok(Published {
            value,
            unknown_keys,
        });
    }
    let read = read::<RunEvent>(value)?;
    for name in ["initialCheckpoint", "checkpoint", "nextCheckpoint"] {
        let checkpoint = value
            .get(name)
            .filter(|_| read.value.kind.known_tag().is_some());
        let metadata = checkpoint.and_then(|value| value.get("metadata")?.as_object());
        if let Some((key, expected)) = metadata.and_then(Metadata::misfit) {
            let tag = read.value.kind.tag();
            return Err(format!("{tag}: {name}.metadata.{key}: expected {expected}"));
        }
    }
    Ok(Published {
        value: Event::Run(read.value),
        unknown_keys: read.unknown_keys,
    })
}

fn read<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Published<T>, String> {
    read_strictly(value).map_err(|reason| reason.chars().take(LONGEST_REASON).collect())
}

fn read_strictly<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Published<T>, String> {
    let typed = match T::deserialize(value) {
        Ok(typed) => typed,
        // To a schema, 5.0 is an integer.
        Err(error) => {
            let whole = with_whole_numbers(value);
            T::deserialize(&whole).map_err(|_| error.to_string())?
        }
    };
    let written = serde_json::to_value(&typed).map_err(|error| error.to_string())?;
    let mut comparison = Comparer::default();
    comparison.compare(&mut String::new(), value, &written)?;
    comparison.refuse_nulls::<T>(value)?;
    let known = written.as_object();
    let keys = value.as_object().into_iter().flat_map(Map::keys);
    let unknown_keys = keys.filter(|key| known.is_some_and(|known| !known.contains_key(*key)));
    Ok(Published {
        value: typed,
        unknown_keys: unknown_keys.cloned().collect(),
    })
}

/// Compares a value with what was read of it, written again.
#[derive(Default)]
struct Comparer {
    /// Where nulls are that were not written again, as JSON pointers.
    nulls: Vec<String>,
}

impl Comparer {
    fn compare(&mut self, path: &mut String, given: &Value, written: &Value) -> Result<(), String> {
        let length = path.len();
        match (given, written) {
            (Value::Object(given), Value::Object(written)) => {
                for (key, value) in given {
                    path.push('/');
                    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    match written.get(key) {
                        Some(known) => self.compare(path, value, known)?,
                        None if value.is_null() => self.nulls.push(path.clone()),
                        None => {}
                    }
                    path.truncate(length);
                }
                Ok(())
            }
            (Value::Array(given), Value::Array(written)) if given.len() == written.len() => {
                for (at, (value, known)) in given.iter().zip(written).enumerate() {
                    path.push('/');
                    path.push_str(&at.to_string());
                    self.compare(path, value, known)?;
                    path.truncate(length);
                }
                Ok(())
            }
            (Value::Number(given), Value::Number(written)) if is_same(given, written) => Ok(()),
            (given, written) if given == written => Ok(()),
            (given, _) => Err(format!("{}: {} does not fit", dotted(path), excerpt(given))),
        }
    }

    /// Refuses nulls in fields that may be absent. In a field that nobody knows, a null is fine.
    ///
    /// Which is which shows with a text in its place: it is refused, or read and written again, by
    /// a field that is known.
    fn refuse_nulls<T: DeserializeOwned + Serialize>(&self, value: &Value) -> Result<(), String> {
        let is_known = |pointers: &[String]| {
            let mut probe = value.clone();
            for pointer in pointers {
                if let Some(null) = probe.pointer_mut(pointer) {
                    *null = Value::String(String::new());
                }
            }
            let Ok(typed) = T::deserialize(&with_whole_numbers(&probe)) else {
                return true;
            };
            let written = serde_json::to_value(&typed).unwrap_or_default();
            pointers
                .iter()
                .any(|pointer| written.pointer(pointer).is_some())
        };
        if self.nulls.is_empty() || !is_known(&self.nulls) {
            return Ok(());
        }
        let named = self.nulls.iter().take(NAMED_NULLS);
        let named = named.into_iter().find(|pointer| {
            let pointer = std::slice::from_ref(*pointer);
            is_known(pointer)
        });
        let path = named.map_or_else(String::new, |pointer| format!("{}: ", dotted(pointer)));
        Err(format!("{path}null, where the field has to be left out"))
    }
}

/// Writes a JSON pointer as people write it: `message.contents.0`.
fn dotted(pointer: &str) -> String {
    let path = pointer.trim_start_matches('/').replace('/', ".");
    path.replace("~1", "/").replace("~0", "~")
}

fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

fn is_same(one: &Number, other: &Number) -> bool {
    one == other || one.as_f64() == other.as_f64()
}

/// Returns the value with whole numbers that are written as fractions, such as 5.0, as integers.
fn with_whole_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number).unwrap_or_else(|| number.clone())),
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), with_whole_numbers(member)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns a fraction as an integer, if it is one.
fn whole(number: &Number) -> Option<Number> {
    let fraction = number.as_f64().filter(|_| number.is_f64())?;
    // Written without a point or an exponent, a whole number reads as an integer where it fits one.
    let digits = format!("{fraction:.0}");
    let integer: Number = digits.parse().ok()?;
    (fraction.fract() == 0.0 && !integer.is_f64()).then_some(integer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(value: &Value) -> Result<Vec<String>, String> {
        read_transcript_entry(value).map(|read| read.unknown_keys)
    }

    #[test]
    fn what_a_schema_takes_is_read() {
        let said = json!({"ts": "t", "kind": "assistant", "text": "hi"});
        assert_eq!(entry(&said), Ok(vec![]));
        let more = json!({"ts": "t", "kind": "assistant", "text": "hi", "itemId": null, "b": 1});
        assert_eq!(entry(&more), Ok(vec!["itemId".to_owned(), "b".to_owned()]));
        let call = json!({"ts": "t", "kind": "tool_call", "name": "n", "input": null});
        assert_eq!(entry(&call), Ok(vec![]));
        let newer = json!({"ts": "t", "kind": "hologram", "text": null});
        assert_eq!(entry(&newer), Ok(vec![]));
        let whole = json!({"ts": "t", "kind": "result", "text": "", "inputTokens": 5.0,
            "outputTokens": 1e3, "cachedTokens": 0, "costUsd": 1, "subtype": "", "isError": false,
            "errors": []});
        let read = read_transcript_entry(&whole).unwrap().value;
        let written = serde_json::to_value(read).unwrap();
        assert_eq!(written["inputTokens"], 5);
        assert_eq!(written["outputTokens"], 1000);
    }

    #[test]
    fn what_a_schema_refuses_is_refused_with_the_field_and_the_reason() {
        let table = [
            (
                json!({"kind": "user", "text": "x"}),
                "user: missing field `ts`",
            ),
            (
                json!({"ts": "t", "kind": "user", "text": 5}),
                "user: text: invalid type: integer `5`, expected a string",
            ),
            (
                json!({"ts": "t", "kind": "assistant", "text": "x", "delta": null}),
                "delta: null, where the field has to be left out",
            ),
            (json!([1]), "expected an object"),
        ];
        for (value, reason) in table {
            assert_eq!(entry(&value).unwrap_err(), reason, "{value}");
        }
    }

    #[test]
    fn what_only_a_forgiving_reader_takes_is_refused() {
        let usage = json!({"inputTokens": 1, "outputTokens": 1, "reasoningTokens": 0,
            "totalTokens": 2, "cachedInputTokens": 0});
        let event = |usage: &Value, status: &Value, metadata: &Value| {
            json!({"id": "e", "expertKey": "x", "timestamp": 1, "jobId": "j", "runId": "r",
                "stepNumber": 1, "type": "stopRunByExceededMaxSteps",
                "checkpoint": {"id": "c", "jobId": "j", "runId": "r", "status": status,
                    "stepNumber": 1, "messages": [], "usage": usage, "metadata": metadata,
                    "expert": {"key": "x", "name": "x", "version": "1"}},
                "step": {"stepNumber": 1, "newMessages": [], "usage": usage, "startedAt": 1}})
        };
        let status = json!("stoppedByExceededMaxSteps");
        let metadata = json!({"sessionId": "s1", "mine": null});
        assert!(read_event(&event(&usage, &status, &metadata)).is_ok());
        let faults = [
            (
                event(&json!([1, 1, 0, 2, 0]), &status, &metadata),
                "checkpoint.usage: [1,1,0,2,0]",
            ),
            (
                event(&usage, &json!({"completed": null}), &metadata),
                "checkpoint.status",
            ),
            (
                event(&usage, &status, &json!({"sessionId": 5})),
                "metadata.sessionId: expected a string",
            ),
            (
                event(&usage, &status, &json!(null)),
                "checkpoint.metadata: null",
            ),
        ];
        for (value, reason) in faults {
            let error = read_event(&value).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
