//! JSON values that are kept as text until somebody asks for them.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// A JSON value that is kept as it was written until somebody looks at it.
///
/// A runtime's raw token counts are such a value: they are kept for those who check them, and hardly
/// anybody does. Making a value of them would take longer than reading the line that they were on.
/// Text and value cannot be told apart from outside: both are compared, copied and written as the
/// value.
#[derive(Clone, Debug)]
pub struct LateValue(Form);

#[derive(Clone, Debug)]
enum Form {
    Read(Value),
    Written(Arc<Written>),
}

#[derive(Debug)]
struct Written {
    text: Box<str>,
    value: OnceLock<Value>,
}

impl LateValue {
    /// Takes a value as it is written in JSON. What is no JSON is a string.
    #[must_use]
    pub fn written(text: impl Into<Box<str>>) -> Self {
        Self(Form::Written(Arc::new(Written {
            text: text.into(),
            value: OnceLock::new(),
        })))
    }

    /// Returns the value.
    #[must_use]
    pub fn get(&self) -> &Value {
        match &self.0 {
            Form::Read(value) => value,
            Form::Written(written) => written.value.get_or_init(|| read(&written.text)),
        }
    }

    /// Returns roughly how many bytes of memory it takes as a value.
    #[must_use]
    pub fn weight(&self) -> usize {
        match &self.0 {
            Form::Read(value) => weight(value),
            // An upper bound: each value takes at least two bytes of the text.
            Form::Written(written) => written.text.len() / 2 * size_of::<Value>(),
        }
    }

    /// Returns the value and keeps nothing.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self.0 {
            Form::Read(value) => value,
            Form::Written(written) => match Arc::try_unwrap(written) {
                Ok(written) => {
                    let known = written.value.into_inner();
                    known.unwrap_or_else(|| read(&written.text))
                }
                Err(shared) => Self(Form::Written(shared)).get().clone(),
            },
        }
    }
}

/// Returns roughly how many bytes of memory a value takes: many small ones weigh more than their
/// text does.
#[must_use]
pub fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.map(|(key, value)| key.len() + weight(value)).sum()
        }
        _ => 0,
    };
    size_of::<Value>() + inside
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

impl From<Value> for LateValue {
    fn from(value: Value) -> Self {
        Self(Form::Read(value))
    }
}

impl PartialEq for LateValue {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_read_late_is_what_is_read_at_once() {
        let text = r#"{"a": 1, "b": [true, "\u00e9"], "a": 2.50}"#;
        let late = LateValue::written(text);
        assert_eq!(late, LateValue::from(json!({"a": 2.5, "b": [true, "é"]})));
        assert_eq!(late.get().to_string(), r#"{"a":2.5,"b":[true,"é"]}"#);
        assert_eq!(late.clone().into_value(), *late.get());
    }

    #[test]
    fn what_is_no_json_is_a_string() {
        assert_eq!(LateValue::written("{").into_value(), json!("{"));
    }
}
