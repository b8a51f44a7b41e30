//! What a result says of how its run went, taken at its word and not one step further.
//!
//! A run is called a success where its runtime says so in its documented way, and nowhere else. A
//! field that is missing, of another type or holds a word that nobody documented, and fields that
//! contradict each other, are an [`UnclearResult`]: a failure of that name, with the words kept.

use std::fmt;

use runtape_core::{ErrorFamily, RunError};
use serde_json::Value;

use crate::failure::error;
use crate::json::{Str, wire_shapes};
use crate::signal::Signal;

/// The name of the error for a result that does not say how its run went.
pub const UNCLEAR_RESULT: &str = "UnclearResult";

/// How much of a field is quoted.
const QUOTED: usize = 120;

/// A field that is to say how a run went, whatever it holds: no value costs the line or the field.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VerdictWord<'a> {
    /// It is not there, or null.
    #[default]
    Missing,
    /// True or false.
    Flag(bool),
    /// A word.
    Word(Str<'a>),
    /// A number, a list or an object. Boxed, because few are, and many fields may hold one.
    Other(Box<Value>),
}

impl VerdictWord<'_> {
    /// Tells whether there is nothing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Tells whether it is this word.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    /// Returns the word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word.as_str()),
            _ => None,
        }
    }

    /// Returns the same, borrowed from no line.
    #[must_use]
    pub fn into_owned(self) -> VerdictWord<'static> {
        match self {
            Self::Missing => VerdictWord::Missing,
            Self::Flag(flag) => VerdictWord::Flag(flag),
            Self::Word(word) => VerdictWord::Word(word.into_owned().into()),
            Self::Other(value) => VerdictWord::Other(value),
        }
    }

    /// Returns the flag, if it is one.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

impl fmt::Display for VerdictWord<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("missing"),
            Self::Flag(flag) => flag.fmt(formatter),
            Self::Word(word) => quote(&Value::from(word.as_str()), formatter),
            Self::Other(value) => quote(value, formatter),
        }
    }
}

/// Writes the beginning of a value.
fn quote(value: &Value, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => write!(formatter, "{}…", text.get(..end).unwrap_or_default()),
        None => formatter.write_str(&text),
    }
}

wire_shapes! {
    VerdictWord: "a value";
    string word => VerdictWord::Word(word);
    flag flag => VerdictWord::Flag(flag);
    null => VerdictWord::Missing;
    number number => VerdictWord::Other(number.into());
    list_value list => VerdictWord::Other(list.into());
    object_value object => VerdictWord::Other(object.into());
}

impl From<&Value> for VerdictWord<'static> {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Missing,
            Value::Bool(flag) => Self::Flag(*flag),
            Value::String(word) => Self::Word(Str::from(word.clone())),
            other => Self::Other(other.clone().into()),
        }
    }
}

/// Reports fields of a result that hold no word, or no flag, although they should.
///
/// For a result that says how its run went in spite of them; an [`UnclearResult`] reports its own.
pub fn report_wrong_types(
    tag: &str,
    words: &[(&str, &VerdictWord<'_>)],
    flags: &[(&str, &VerdictWord<'_>)],
    mut emit: impl FnMut(Signal<'_>),
) {
    let no_words = words
        .iter()
        .filter(|(_, word)| !word.is_missing() && word.word().is_none());
    let no_flags = flags
        .iter()
        .filter(|(_, word)| !word.is_missing() && word.flag().is_none());
    for (field, word) in no_words.chain(no_flags) {
        emit(Signal::Unparsed {
            tag: Some(tag.into()),
            reason: format!("{field}: of another type: {word}").into(),
        });
    }
}

/// What a result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The runtime reports success in its documented way.
    Success,
    /// The runtime reports a failure.
    Failure,
    /// It says neither, or both.
    Unclear,
}

impl Reading {
    /// Reads a flag that says whether it failed and a word for how it ended, as `is_error` and
    /// `subtype` are with several runtimes.
    ///
    /// The flag alone may say that it failed, and so may a word that stands for a failure where
    /// there is no flag. That it went well takes both: the flag false and the word `success`.
    #[must_use]
    pub fn of_flag_and_word(
        is_error: &VerdictWord<'_>,
        word: &VerdictWord<'_>,
        is_failure: impl Fn(&str) -> bool,
    ) -> Self {
        match (is_error, word) {
            (VerdictWord::Flag(false), word) if word.is("success") => Self::Success,
            (VerdictWord::Flag(true), _) => Self::Failure,
            (VerdictWord::Missing, VerdictWord::Word(word)) if is_failure(word) => Self::Failure,
            _ => Self::Unclear,
        }
    }
}

/// A result that does not say how its run went, and the fields that leave it open.
#[derive(Debug, Default)]
pub struct UnclearResult {
    doubts: Vec<String>,
}

impl UnclearResult {
    /// Returns the fields that made [`Reading::of_flag_and_word`] unclear: those that say nothing, or
    /// both of them if each says something.
    #[must_use]
    pub fn of_flag_and_word(
        is_error: (&str, &VerdictWord<'_>),
        word: (&str, &VerdictWord<'_>),
        is_failure: impl Fn(&str) -> bool,
    ) -> Self {
        let says_flag = is_error.1.flag().is_some();
        let says_word = word
            .1
            .word()
            .is_some_and(|word| word == "success" || is_failure(word));
        let contradict = says_flag && says_word;
        let mut unclear = Self::default();
        for ((field, word), says) in [(is_error, says_flag), (word, says_word)] {
            if contradict || !says {
                unclear = unclear.with(field, word);
            }
        }
        unclear
    }

    /// Adds a field: what it holds says nothing, or contradicts another one.
    #[must_use]
    pub fn with(mut self, field: &str, word: &VerdictWord<'_>) -> Self {
        self.doubts.push(format!("{field}: {word}"));
        self
    }

    /// Emits one `unparsed` record for each field, and returns the failure that the run is taken
    /// for. `said` is what the result says went wrong, where it does.
    pub fn report(
        self,
        tag: &str,
        said: Option<&str>,
        mut emit: impl FnMut(Signal<'_>),
    ) -> RunError {
        for doubt in &self.doubts {
            emit(Signal::Unparsed {
                tag: Some(tag.to_owned().into()),
                reason: format!("does not say how the run went: {doubt}").into(),
            });
        }
        self.error(said)
    }

    /// Returns the failure that the run is taken for; for fields that were reported already.
    #[must_use]
    pub fn error(&self, said: Option<&str>) -> RunError {
        let mut message = format!(
            "the result does not say how the run went ({})",
            self.doubts.join(", ")
        );
        if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
            message.push_str(": ");
            message.push_str(said);
        }
        error(UNCLEAR_RESULT, message, ErrorFamily::Other)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::json::{decode, wire_struct};
    use super::*;

    wire_struct! {
        struct Ended<'a> {
            "is_error" => is_error: VerdictWord<'a>,
            "subtype" => subtype: VerdictWord<'a>,
        }
    }

    fn read(line: &Value) -> Reading {
        let line = line.to_string();
        let decoded = decode::<Ended<'_>>(line.as_bytes()).unwrap();
        assert!(decoded.faults.is_empty(), "{line}");
        let Ended {
            is_error, subtype, ..
        } = decoded.value;
        Reading::of_flag_and_word(&is_error, &subtype, |word| word.starts_with("error"))
    }

    #[test]
    fn success_takes_the_flag_and_the_word_and_a_failure_only_one_of_them() {
        let values = [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(1.5),
            json!(""),
            json!("true"),
            json!("success"),
            json!("Success"),
            json!("cancelled"),
            json!("error"),
            json!([]),
            json!(["error"]),
            json!({}),
        ];
        for is_error in &values {
            for subtype in &values {
                let expected = match (is_error, subtype.as_str()) {
                    (Value::Bool(false), Some("success")) => Reading::Success,
                    (Value::Bool(true), _) | (Value::Null, Some("error")) => Reading::Failure,
                    _ => Reading::Unclear,
                };
                let line = json!({"is_error": is_error, "subtype": subtype});
                assert_eq!(read(&line), expected, "{line}");
            }
        }
        assert_eq!(read(&json!({})), Reading::Unclear);
    }

    #[test]
    fn only_the_fields_that_leave_it_open_are_named() {
        let named = |is_error: Value, subtype: Value| {
            let is_error = VerdictWord::from(&is_error);
            let subtype = VerdictWord::from(&subtype);
            let is_failure = |word: &str| word == "error";
            let (is_error, subtype) = (("is_error", &is_error), ("subtype", &subtype));
            UnclearResult::of_flag_and_word(is_error, subtype, is_failure).doubts
        };
        let table = [
            (
                json!(false),
                json!("cancelled"),
                vec!["subtype: \"cancelled\""],
            ),
            (json!("true"), json!("success"), vec!["is_error: \"true\""]),
            (
                json!(1),
                json!(null),
                vec!["is_error: 1", "subtype: missing"],
            ),
            (
                json!(false),
                json!("error"),
                vec!["is_error: false", "subtype: \"error\""],
            ),
        ];
        for (is_error, subtype, expected) in table {
            assert_eq!(named(is_error, subtype), expected);
        }
    }

    #[test]
    fn the_words_of_an_unclear_result_are_kept_in_the_error_and_in_records() {
        let long = json!(["x".repeat(500)]);
        let mut reasons = Vec::new();
        let error = UnclearResult::default()
            .with("status", &VerdictWord::from(&json!(["error"])))
            .with("is_error", &VerdictWord::Missing)
            .with("note", &VerdictWord::from(&long))
            .report("result", Some("boom"), |signal| match signal {
                Signal::Unparsed { tag, reason } => {
                    assert_eq!(tag.as_deref(), Some("result"));
                    reasons.push(reason.into_owned());
                }
                other => panic!("{other:?}"),
            });
        assert_eq!(error.name, "UnclearResult");
        assert!(
            error
                .message
                .contains("status: [\"error\"], is_error: missing, note: [\"xxx")
        );
        assert!(error.message.ends_with("…): boom"), "{}", error.message);
        assert!(error.message.len() < 300);
        assert_eq!(reasons.len(), 3);
        assert_eq!(
            reasons[1],
            "does not say how the run went: is_error: missing"
        );
    }
}
