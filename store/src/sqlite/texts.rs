//! Texts for questions in SQL: what messages, calls and results say is in compressed records, which only our own
//! connection can read.

use std::sync::{Arc, Mutex, PoisonError};

use runtape_core::{
    ExpertPart, InstructionPart, Message, Record, RecordKind, RunId, ToolMessagePart,
    ToolResultPart, UserPart,
};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use super::Sqlite;
use super::columns::unsigned;
use crate::error::{Result, StoreError};
use crate::options::Options;
use crate::store::Store;

/// Records that are read at once: questions ask for neighbours.
const PAGE: usize = 256;

/// In the place of the views of the file, for this connection alone.
const VIEWS: &str = "
CREATE TEMP VIEW IF NOT EXISTS v_messages AS
SELECT
    run.id AS run_id,
    job.id AS job_id,
    runtime.text AS runtime,
    message.value ->> '$.step' AS step,
    message.value ->> '$.seq' AS seq,
    strftime('%Y-%m-%dT%H:%M:%fZ', (message.value ->> '$.at') / 1000.0, 'unixepoch') AS at,
    message.value ->> '$.role' AS role,
    message.value ->> '$.text' AS text
FROM main.run AS run
JOIN main.job AS job ON job.key = run.job
JOIN main.word AS runtime ON runtime.key = run.runtime
JOIN json_each(runtape_messages(run.id)) AS message;

CREATE TEMP VIEW IF NOT EXISTS v_tool_calls AS
SELECT
    call.*,
    runtape_input(call.run_id, call.seq, call.part) AS input,
    runtape_result(call.run_id, call.seq, call.part, call.result_seq) AS result
FROM main.v_tool_calls AS call;
";

impl Sqlite {
    /// Lets a question see texts, if it may be about them.
    pub(crate) fn show_texts(&self, sql: &str) -> Result<()> {
        match self.path().filter(|_| is_asked(sql)) {
            Some(path) => show(&self.connection, Store::open(path, &Options::read_only())?),
            None => Ok(()),
        }
    }
}

/// Tells whether a question may be about texts.
fn is_asked(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    sql.contains("v_messages") || sql.contains("v_tool_calls")
}

/// Reads records by another connection, since one that runs a question cannot ask another one.
struct RecordReader {
    store: Store,
    run: Option<RunId>,
    first: u64,
    page: Vec<Record>,
}

impl RecordReader {
    /// Returns a record, from the page that was read last if it is there.
    fn record(&mut self, run: &RunId, seq: u64) -> Result<Option<&Record>> {
        let length = u64::try_from(self.page.len()).unwrap_or_default();
        let is_there = self.run.as_ref() == Some(run)
            && (self.first..self.first.saturating_add(length)).contains(&seq);
        if !is_there {
            self.page = self.store.records(run, seq, PAGE)?;
            self.first = seq;
            self.run = Some(run.clone());
        }
        let place = usize::try_from(seq - self.first).unwrap_or(usize::MAX);
        Ok(self.page.get(place))
    }

    fn message(&mut self, run: &RunId, seq: u64) -> Result<Option<&Message>> {
        Ok(self
            .record(run, seq)?
            .and_then(|record| match &record.kind {
                RecordKind::Message(message) => Some(&message.message),
                _ => None,
            }))
    }

    /// Returns all messages of a run, in JSON.
    fn messages(&mut self, run: &RunId) -> Result<String> {
        let mut messages = Vec::new();
        let mut seq = 0;
        while let Some(record) = self.record(run, seq)? {
            if let RecordKind::Message(message) = &record.kind {
                let (role, text) = text(&message.message);
                messages.push(json!({
                    "seq": record.seq, "step": message.step, "at": record.at, "role": role, "text": text,
                }));
            }
            seq += 1;
        }
        Ok(Value::from(messages).to_string())
    }

    /// Returns what a tool was called with, in JSON, and the id of the call.
    fn call(&mut self, run: &RunId, seq: u64, part: usize) -> Result<Option<(String, String)>> {
        Ok(match self.message(run, seq)? {
            Some(Message::ExpertMessage(expert)) => match expert.contents.get(part) {
                Some(ExpertPart::ToolCallPart(call)) => {
                    Some((call.args.to_string(), call.tool_call_id.to_string()))
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns what a call gave back.
    fn result(&mut self, run: &RunId, call: &str, seq: u64) -> Result<Option<String>> {
        let Some(Message::ToolMessage(tool)) = self.message(run, seq)? else {
            return Ok(None);
        };
        let mut results = tool.results();
        let result = results.find(|part| part.tool_call_id.as_str() == call);
        Ok(result.and_then(ToolResultPart::text))
    }
}

/// Returns who speaks in a message, and what is said; of a call, its name and input.
fn text(message: &Message) -> (&'static str, String) {
    let (role, texts): (_, Vec<String>) = match message {
        Message::UserMessage(user) => {
            let texts = user.contents.iter().filter_map(|part| match part {
                UserPart::TextPart(part) => Some(part.text.clone()),
                _ => None,
            });
            ("user", texts.collect())
        }
        Message::ExpertMessage(expert) => {
            let texts = expert.contents.iter().filter_map(|part| match part {
                ExpertPart::TextPart(part) => Some(part.text.clone()),
                _ => None,
            });
            ("expert", texts.collect())
        }
        Message::ToolMessage(tool) => {
            let texts = tool.contents.iter();
            let texts = texts.filter_map(|ToolMessagePart::ToolResultPart(part)| part.text());
            ("tool", texts.collect())
        }
        Message::InstructionMessage(instruction) => {
            let texts = instruction.contents.iter();
            let texts = texts.map(|InstructionPart::TextPart(part)| part.text.clone());
            ("instruction", texts.collect())
        }
    };
    (role, texts.join("\n"))
}

/// Lets questions on a connection see texts, which `reader` has.
fn show(connection: &Connection, reader: Store) -> Result<()> {
    let reader = Arc::new(Mutex::new(RecordReader {
        store: reader,
        run: None,
        first: 0,
        page: Vec::new(),
    }));
    // They read what the question could read as well.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    let own = Arc::clone(&reader);
    connection.create_scalar_function("runtape_messages", 1, flags, move |context| {
        ask(&own, context, |reader, run| reader.messages(run).map(Some))
    })?;
    let own = Arc::clone(&reader);
    connection.create_scalar_function("runtape_input", 3, flags, move |context| {
        let (seq, part) = (number(context, 1)?, number(context, 2)?);
        ask(&own, context, |reader, run| {
            let call = reader.call(run, seq, usize::try_from(part).unwrap_or(usize::MAX))?;
            Ok(call.map(|(input, _)| input))
        })
    })?;
    connection.create_scalar_function("runtape_result", 4, flags, move |context| {
        if context.get_raw(3) == ValueRef::Null {
            return Ok(None);
        }
        let (seq, part) = (number(context, 1)?, number(context, 2)?);
        let answer = number(context, 3)?;
        ask(&reader, context, |reader, run| {
            let part = usize::try_from(part).unwrap_or(usize::MAX);
            match reader.call(run, seq, part)? {
                Some((_, call)) => reader.result(run, &call, answer),
                None => Ok(None),
            }
        })
    })?;
    // Views of this connection are no change to the database.
    let is_reading: bool = connection.pragma_query_value(None, "query_only", |row| row.get(0))?;
    connection.pragma_update(None, "query_only", false)?;
    let made = connection.execute_batch(VIEWS);
    connection.pragma_update(None, "query_only", is_reading)?;
    Ok(made?)
}

fn number(context: &Context<'_>, argument: usize) -> rusqlite::Result<u64> {
    Ok(unsigned(context.get(argument)?))
}

/// Answers a question about the run that is named first.
fn ask(
    reader: &Mutex<RecordReader>,
    context: &Context<'_>,
    answer: impl FnOnce(&mut RecordReader, &RunId) -> Result<Option<String>>,
) -> rusqlite::Result<Option<String>> {
    let run: String = context.get(0)?;
    let failed = |error: StoreError| rusqlite::Error::UserFunctionError(Box::new(error));
    let run = RunId::parse(run).map_err(|error| failed(error.into()))?;
    // What it holds is a page that was read: as good as any after a panic.
    let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
    answer(&mut reader, &run).map_err(failed)
}
