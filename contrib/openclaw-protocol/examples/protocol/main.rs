//! Answers calls of the `OpenClaw` protocol functions, one JSON line each.
//!
//! Reads `{"fn": ..., "args": [...]}` lines, names and arguments as in JavaScript, and prints
//! `{"fn": ..., "args": [...], "result": ...}` lines. A constant answers like a function without
//! arguments. A call that cannot be answered is printed
//! with an `error` in place of the `result`, and reported on standard error.
//!
//! ```text
//! $ echo '{"fn":"fnv1a","args":["hello"]}' | cargo run -q -p runtape-openclaw-protocol --example protocol
//! {"fn":"fnv1a","args":["hello"],"result":"4f9f2cab"}
//! ```

#[cfg(test)]
mod cases;

use std::fmt::Display;
use std::io::{self, BufRead, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use runtape_openclaw_protocol as openclaw;
use runtape_openclaw_protocol::{
    EntryLine, EntryLines, ToolCallRecord, ToolResultRecord, parse_json, stringify,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    let input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    match answer_all(input, &mut output, io::stderr().lock()) {
        Ok(0) => ExitCode::SUCCESS,
        // A reader that has seen enough is no failure of ours.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
}

/// Answers every line of `input` and returns how many could not be answered.
fn answer_all(
    mut input: impl BufRead,
    output: &mut impl Write,
    mut errors: impl Write,
) -> io::Result<usize> {
    let mut failures = 0;
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (answer, problem) = answer_line(&line);
        writeln!(output, "{answer}")?;
        if let Some(problem) = problem {
            failures += 1;
            writeln!(errors, "line {number}: {problem}")?;
        }
    }
    output.flush()?;
    Ok(failures)
}

#[derive(Deserialize)]
struct Call {
    #[serde(rename = "fn")]
    name: String,
    args: Box<RawValue>,
}

/// Returns the line to print, and what went wrong, if anything did.
fn answer_line(line: &[u8]) -> (String, Option<String>) {
    let call: Call = match serde_json::from_slice(line) {
        Ok(call) => call,
        Err(error) => {
            let problem = format!("not a call: {error}");
            return (stringify(&json!({ "error": problem })), Some(problem));
        }
    };
    let name = stringify(&Value::from(call.name.as_str()));
    let args = call.args.get();
    match answer(&call.name, args) {
        Ok(result) => {
            let result = stringify(&result);
            let line = format!("{{\"fn\":{name},\"args\":{args},\"result\":{result}}}");
            (line, None)
        }
        Err(problem) => {
            let error = stringify(&Value::from(problem.as_str()));
            let line = format!("{{\"fn\":{name},\"args\":{args},\"error\":{error}}}");
            (line, Some(format!("{}: {problem}", call.name)))
        }
    }
}

fn answer(name: &str, args: &str) -> Result<Value, String> {
    let args = Args::read(args)?;
    match name {
        "extractText" | "extractTextCached" => encode(openclaw::extract_text(args.any(0))),
        "extractThinking" | "extractThinkingCached" => {
            encode(openclaw::extract_thinking(args.any(0)))
        }
        "extractThinkingFromTaggedText" => {
            encode(openclaw::extract_thinking_from_tagged_text(args.text()?))
        }
        "extractThinkingFromTaggedStream" => {
            encode(openclaw::extract_thinking_from_tagged_stream(args.text()?))
        }
        "extractToolCalls" => encode(openclaw::extract_tool_calls(args.any(0))),
        "extractToolResult" => encode(openclaw::extract_tool_result(args.any(0))),
        "extractToolLines" => encode(openclaw::extract_tool_lines(args.any(0))),
        "formatThinkingMarkdown" => encode(openclaw::format_thinking_markdown(args.text()?)),
        "formatToolCallMarkdown" => encode(openclaw::format_tool_call_markdown(&tool_call(
            args.object()?,
        )?)),
        "formatToolResultMarkdown" => encode(openclaw::format_tool_result_markdown(&tool_result(
            args.object()?,
        )?)),
        "parseToolMarkdown" => encode(openclaw::parse_tool_markdown(args.text()?)),
        "formatMetaMarkdown" => {
            args.object()?;
            encode(openclaw::format_meta_markdown(args.any(0)))
        }
        "parseMetaMarkdown" => encode(openclaw::parse_meta_markdown(args.text()?)),
        "stripTraceMarkdown" => encode(openclaw::strip_trace_markdown(args.text()?)),
        "isTraceMarkdown" => encode(openclaw::is_trace_markdown(args.text()?)),
        "isToolMarkdown" => encode(openclaw::is_tool_markdown(args.text()?)),
        "isMetaMarkdown" => encode(openclaw::is_meta_markdown(args.text()?)),
        "stripUiMetadata" => encode(openclaw::strip_ui_metadata(args.text()?)),
        "isUiMetadataPrefix" => encode(openclaw::is_ui_metadata_prefix(args.text()?)),
        "isHeartbeatPrompt" => encode(openclaw::is_heartbeat_prompt(args.text()?)),
        "parseMessage" => encode(openclaw::parse_message(args.any(0))),
        "buildAgentInstruction" => {
            let message = required_text(args.object()?, "message")?;
            encode(openclaw::build_agent_instruction(message))
        }
        "isAgentFileName" => encode(openclaw::is_agent_file_name(args.text()?)),
        "createAgentFilesState" => by_file(openclaw::create_agent_files_state()),
        "fnv1a" => encode(openclaw::fnv1a(args.text()?)),
        "createTranscriptEntryFromLine" => create_entry(args.object()?),
        "buildTranscriptEntriesFromLines" => build_entries(args.object()?),
        "sortTranscriptEntries" => encode(openclaw::sort_transcript_entries(rows(args.any(0))?)),
        "AGENT_FILE_NAMES" => encode(openclaw::AGENT_FILE_NAMES),
        "AGENT_FILE_META" => by_file(openclaw::AGENT_FILE_META),
        "AGENT_FILE_PLACEHOLDERS" => by_file(openclaw::AGENT_FILE_PLACEHOLDERS),
        "AGENT_FILES" => encode(openclaw::AGENT_FILES),
        "buildOutputLinesFromTranscriptEntries" => encode(
            openclaw::build_output_lines_from_transcript_entries(&rows(args.any(0))?),
        ),
        "areTranscriptEntriesEqual" => encode(openclaw::are_transcript_entries_equal(
            &rows(args.any(0))?,
            &rows(args.any(1))?,
        )),
        "mergeTranscriptEntriesWithHistory" => {
            let params = args.object()?;
            encode(openclaw::merge_transcript_entries_with_history(
                rows(field(params, "existingEntries"))?,
                rows(field(params, "historyEntries"))?,
            ))
        }
        _ => Err("no such function".to_owned()),
    }
}

fn tool_call(call: &Map<String, Value>) -> Result<ToolCallRecord, String> {
    Ok(ToolCallRecord {
        id: printed_text(call, "id")?,
        name: optional_text(call, "name")?,
        arguments: call.get("arguments").cloned(),
    })
}

fn tool_result(result: &Map<String, Value>) -> Result<ToolResultRecord, String> {
    Ok(ToolResultRecord {
        tool_call_id: printed_text(result, "toolCallId")?,
        tool_name: optional_text(result, "toolName")?,
        details: result.get("details").cloned(),
        is_error: result.get("isError").map(is_truthy),
        text: optional_text(result, "text")?,
    })
}

fn create_entry(params: &Map<String, Value>) -> Result<Value, String> {
    encode(openclaw::create_transcript_entry_from_line(&EntryLine {
        line: required_text(params, "line")?,
        session_key: required_text(params, "sessionKey")?,
        source: decode(field(params, "source"))?,
        sequence_key: decode(field(params, "sequenceKey"))?,
        run_id: optional_text(params, "runId")?.as_deref(),
        role: decode(field(params, "role"))?,
        kind: decode(field(params, "kind"))?,
        timestamp_ms: field(params, "timestampMs").as_f64(),
        fallback_timestamp_ms: decode(field(params, "fallbackTimestampMs"))?,
        entry_id: optional_text(params, "entryId")?.as_deref(),
        confirmed: decode(field(params, "confirmed"))?,
    }))
}

fn build_entries(params: &Map<String, Value>) -> Result<Value, String> {
    let lines: Vec<String> = decode(field(params, "lines"))?;
    let start_sequence: Option<f64> = decode(field(params, "startSequence"))?;
    encode(openclaw::build_transcript_entries_from_lines(&EntryLines {
        lines: &lines,
        session_key: required_text(params, "sessionKey")?,
        source: decode(field(params, "source"))?,
        run_id: optional_text(params, "runId")?.as_deref(),
        start_sequence: start_sequence.unwrap_or_default(),
        default_timestamp_ms: decode(field(params, "defaultTimestampMs"))?,
        confirmed: decode(field(params, "confirmed"))?,
        entry_id_prefix: optional_text(params, "entryIdPrefix")?.as_deref(),
    }))
}

/// Returns an object by the names of files, as JavaScript has such a record.
fn by_file<T: Serialize>(
    files: impl IntoIterator<Item = (openclaw::AgentFileName, T)>,
) -> Result<Value, String> {
    let mut fields = Map::new();
    for (name, value) in files {
        fields.insert(name.to_string(), encode(value)?);
    }
    Ok(Value::Object(fields))
}

/// Returns rows as they are, whatever they have or lack.
fn rows(value: &Value) -> Result<Vec<Value>, String> {
    decode(value)
}

/// The arguments of one call.
struct Args(Vec<Value>);

impl Args {
    fn read(json: &str) -> Result<Self, String> {
        match parse_json(json).map_err(bad_arguments)? {
            Value::Array(args) => Ok(Self(args)),
            _ => Err(bad_arguments("not an array")),
        }
    }

    /// Returns an argument of any type; one that was not given counts as null.
    fn any(&self, index: usize) -> &Value {
        self.0.get(index).unwrap_or(&Value::Null)
    }

    fn text(&self) -> Result<&str, String> {
        let text = self.any(0).as_str();
        text.ok_or_else(|| bad_arguments("the first is not a string"))
    }

    fn object(&self) -> Result<&Map<String, Value>, String> {
        let object = self.any(0).as_object();
        object.ok_or_else(|| bad_arguments("the first is not an object"))
    }
}

fn bad_arguments(problem: impl Display) -> String {
    format!("bad arguments: {problem}")
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

fn required_text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let text = field(object, name).as_str();
    text.ok_or_else(|| bad_arguments(format!("{name} is not a string")))
}

fn optional_text(object: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match field(object, name) {
        value if !is_truthy(value) => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(bad_arguments(format!("{name} is not a string"))),
    }
}

/// Returns a text that JavaScript only prints, so that numbers and booleans do as well.
fn printed_text(object: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match field(object, name) {
        value @ (Value::Number(_) | Value::Bool(true)) if is_truthy(value) => {
            Ok(Some(stringify(value)))
        }
        _ => optional_text(object, name),
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(bad_arguments)
}

fn encode(result: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(result).map_err(|error| error.to_string())
}
