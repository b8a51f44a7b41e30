//! Answers to an adapter of Paperclip's host, which asks before and after it runs an agent CLI.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Whether the next run goes on with a stored session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdapterSession {
    /// The session to resume; null for a new one.
    pub resume: Option<String>,
    /// Why there is none to resume: `no_session`, `other_directory`, `other_runtime` …; null if there
    /// is one. More may be added.
    pub reason: Option<String>,
    /// The same for people; null if there is a session, or never was one.
    pub message: Option<String>,
}

/// The environment of an agent CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdapterEnvironment {
    /// Every variable with its value, and no other: secrets are among them.
    #[schemars(schema_with = "variables")]
    pub variables: BTreeMap<String, String>,
    /// What may be logged: the variables that the adapter set, secrets replaced.
    #[schemars(schema_with = "variables")]
    pub logged: BTreeMap<String, String>,
    /// The names of the server's variables that were kept from the agent, sorted.
    pub withheld: Vec<String>,
    /// The directory in which the CLI looks for skills; null if its command line names one.
    pub skills_home: Option<String>,
}

/// Names of variables are any, and their values texts.
fn variables(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Where an agent CLI takes its prompt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PromptPlace {
    /// Its standard input.
    Stdin,
    /// Its command line.
    Argument,
}

/// The command line of an agent CLI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdapterCommand {
    /// The program.
    pub program: String,
    /// Its arguments, each a word of its own: no shell sees them.
    pub arguments: Vec<String>,
    /// What may be logged of them: prompt and secrets replaced.
    pub logged_arguments: Vec<String>,
    /// Where the prompt goes.
    pub prompt: PromptPlace,
    /// Why the CLI must not be started; null if it can be.
    pub fault: Option<AdapterFault>,
}

/// What is wrong with a configuration or a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdapterFault {
    /// For programs, in lower case with underscores.
    pub code: String,
    /// For people.
    pub message: String,
}
