//! A value that most objects do not have.

use std::ops::Deref;

use serde::Deserialize;
use serde_json::Value;

/// A value that most objects do not have: it takes little room where it is missing, or null.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct RareValue(Option<Box<Value>>);

impl RareValue {
    /// Returns the value, and leaves null.
    pub(crate) fn take(&mut self) -> Value {
        self.0.take().map_or(Value::Null, |value| *value)
    }
}

impl Deref for RareValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        const NULL: &Value = &Value::Null;
        self.0.as_deref().unwrap_or(NULL)
    }
}

impl From<Value> for RareValue {
    fn from(value: Value) -> Self {
        Self((!value.is_null()).then(|| Box::new(value)))
    }
}
