//! Runtimes by name.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::CoreError;

macro_rules! runtimes {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// The program that did the work.
        ///
        /// Reading a stored value keeps a name this version does not know; parsing what a user
        /// typed ([`FromStr`]) refuses it and lists the known ones.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Runtime {
            $($(#[$doc])* $name,)*
            /// A runtime that a newer version named.
            Other(Box<str>),
        }

        impl Runtime {
            /// Every runtime this version knows by name.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// Returns the name as in JSON and on the command line.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(name) => name,
                }
            }

            /// Takes any name; an unknown one is kept as it is.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)*
                    other => Self::Other(other.into()),
                }
            }
        }
    };
}

runtimes! {
    /// Cursor's `cursor-agent`.
    Cursor => "cursor",
    /// Anthropic's `claude`.
    ClaudeCode => "claude-code",
    /// Google's `gemini`.
    Gemini => "gemini",
    /// Nous Research's `hermes`.
    Hermes => "hermes",
    /// The `OpenClaw` gateway.
    Openclaw => "openclaw",
    /// `codex` by `OpenAI`.
    Codex => "codex",
    /// `opencode`.
    Opencode => "opencode",
    /// Any other program.
    Generic => "generic",
    /// Perstack's own runtime.
    Local => "local",
    /// Perstack's own runtime in a container.
    Docker => "docker",
}

impl Runtime {
    /// Tells whether the work was done by an agent CLI rather than by Perstack itself.
    #[must_use]
    pub fn is_external(&self) -> bool {
        !matches!(self, Self::Local | Self::Docker)
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Runtime {
    type Err = CoreError;

    fn from_str(name: &str) -> Result<Self, CoreError> {
        match Self::from_name(name) {
            Self::Other(name) => Err(CoreError::UnknownRuntime {
                name: name.into(),
                known: Self::KNOWN
                    .iter()
                    .map(Self::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
            known => Ok(known),
        }
    }
}

impl Serialize for Runtime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Runtime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_name(&String::deserialize(deserializer)?))
    }
}

impl JsonSchema for Runtime {
    fn schema_name() -> Cow<'static, str> {
        "Runtime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known: Vec<_> = Self::KNOWN.iter().map(Self::as_str).collect();
        json_schema!({
            "type": "string",
            "description": "The program that did the work. Names beyond the examples may be added.",
            "examples": known
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_round_trips() {
        for runtime in Runtime::KNOWN {
            assert_eq!(&runtime.as_str().parse::<Runtime>().unwrap(), runtime);
            let json = serde_json::to_string(runtime).unwrap();
            assert_eq!(&serde_json::from_str::<Runtime>(&json).unwrap(), runtime);
        }
    }

    #[test]
    fn an_unknown_name_survives_a_round_trip_but_is_refused_from_a_user() {
        let runtime: Runtime = serde_json::from_str("\"newcomer\"").unwrap();
        assert_eq!(serde_json::to_string(&runtime).unwrap(), "\"newcomer\"");
        let error = "newcomer".parse::<Runtime>().unwrap_err().to_string();
        assert!(
            error.contains("newcomer") && error.contains("claude-code, gemini"),
            "{error}"
        );
    }
}
