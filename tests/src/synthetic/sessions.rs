//! Session files as claude-code leaves them: any number of sessions of any length.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ids::Form;
use super::random::Random;
use super::words::Words;

/// What the model says, thinks, and what a tool gives back in a turn, in bytes.
const TEXT: usize = 500;
const THINKING: usize = 600;
const RESULT: usize = 900;

/// Writes session files.
pub struct Sessions {
    random: Random,
    words: Words,
    /// When the next line is written, in milliseconds since 1970.
    at: i64,
}

impl Sessions {
    /// Creates a writer whose files are the same for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            words: Words::default(),
            at: 1_790_000_000_000,
        }
    }

    fn uuid(&mut self) -> String {
        self.id(&Form::Uuid)
    }

    fn id(&mut self, form: &Form) -> String {
        form.make(&mut self.random)
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = Vec::new();
        self.words.fill(&mut self.random, bytes, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Returns the time of the next line, as the CLI writes it.
    fn time(&mut self) -> String {
        self.at += 137;
        let (seconds, millis) = (self.at / 1000, self.at % 1000);
        let (day, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(day);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }

    /// Writes sessions below a directory, as they lie below `projects`; returns their files.
    pub fn write(
        &mut self,
        directory: &Path,
        sessions: usize,
        turns: usize,
    ) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::with_capacity(sessions);
        for number in 0..sessions {
            let project = directory.join(format!("-home-dev-proj-{}", number % 20));
            fs::create_dir_all(&project)?;
            let session = self.uuid();
            let mut bytes = Vec::new();
            self.opening(&session, &mut bytes);
            for _ in 0..turns {
                self.turn(&session, &mut bytes);
            }
            self.ending(&session, &mut bytes);
            let path = project.join(format!("{session}.jsonl"));
            fs::write(&path, bytes)?;
            files.push(path);
        }
        Ok(files)
    }

    fn opening(&mut self, session: &str, out: &mut Vec<u8>) {
        let (time, prompt) = (self.time(), self.text(80));
        line(
            out,
            format_args!(
                r#"{{"type":"queue-operation","operation":"enqueue","timestamp":"{time}","sessionId":"{session}","content":"{prompt}"}}"#
            ),
        );
        let (uuid, prompt_id, time) = (self.uuid(), self.uuid(), self.time());
        line(
            out,
            format_args!(
                r#"{{"parentUuid":null,"isSidechain":false,"promptId":"{prompt_id}","type":"user","message":{{"role":"user","content":"{prompt}"}},"uuid":"{uuid}","timestamp":"{time}","permissionMode":"default","promptSource":"sdk","turnOrigin":"sdk","turnPosition":{{"promptIndex":0,"turnIndex":1}},"userType":"external","entrypoint":"sdk-cli","cwd":"/home/dev/proj","sessionId":"{session}","version":"2.1.325","gitBranch":"main"}}"#
            ),
        );
    }

    /// Writes one turn: a response on three lines, and the result of its call.
    pub fn turn(&mut self, session: &str, out: &mut Vec<u8>) {
        let (message, call) = (
            self.id(&Form::Prefixed("msg_")),
            self.id(&Form::Prefixed("toolu_")),
        );
        let (text, thinking, result) = (self.text(TEXT), self.text(THINKING), self.text(RESULT));
        let word = self.words.pick(&mut self.random).to_owned();
        for block in [
            format!(r#"{{"type":"thinking","thinking":"{thinking}","signature":"c2lnbmF0dXJl"}}"#),
            format!(r#"{{"type":"text","text":"{text}"}}"#),
            format!(
                r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"command":"cat {word}.txt","description":"Read {word}"}}}}"#
            ),
        ] {
            self.answer(session, &message, &block, "tool_use", out);
        }
        let (uuid, parent, time) = (self.uuid(), self.uuid(), self.time());
        line(
            out,
            format_args!(
                r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":"{result}","is_error":false}}]}},"uuid":"{uuid}","timestamp":"{time}","toolUseResult":{{"stdout":"{result}","stderr":"","interrupted":false,"isImage":false}},"sourceToolAssistantUUID":"{parent}","userType":"external","entrypoint":"sdk-cli","cwd":"/home/dev/proj","sessionId":"{session}","version":"2.1.325","gitBranch":"main"}}"#
            ),
        );
    }

    fn answer(&mut self, session: &str, message: &str, block: &str, stop: &str, out: &mut Vec<u8>) {
        let (uuid, parent, time) = (self.uuid(), self.uuid(), self.time());
        line(
            out,
            format_args!(
                r#"{{"parentUuid":"{parent}","isSidechain":false,"message":{{"id":"{message}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{block}],"stop_reason":"{stop}","stop_sequence":null,"usage":{{"input_tokens":251,"cache_creation_input_tokens":233,"cache_read_input_tokens":1033,"output_tokens":310,"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":233}}}}}},"requestId":"req_{message}","type":"assistant","uuid":"{uuid}","timestamp":"{time}","userType":"external","entrypoint":"sdk-cli","cwd":"/home/dev/proj","sessionId":"{session}","version":"2.1.325","gitBranch":"main"}}"#
            ),
        );
    }

    fn ending(&mut self, session: &str, out: &mut Vec<u8>) {
        let (message, text) = (self.id(&Form::Prefixed("msg_")), self.text(TEXT));
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        self.answer(session, &message, &block, "end_turn", out);
        line(
            out,
            format_args!(
                r#"{{"type":"cost-state","sessionId":"{session}","totalCostUSD":0.5,"totalAPIDuration":447,"totalDuration":4893,"startTime":{},"modelUsage":{{}}}}"#,
                self.at
            ),
        );
    }
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = io::Write::write_fmt(out, text);
    out.push(b'\n');
}

/// Returns the date of a day, counted from 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // From days to a civil date, in years that begin in March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
