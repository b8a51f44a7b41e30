//! Standard error: notices line by line, and in the json format the error object among them.

use std::borrow::Cow;
use std::collections::VecDeque;

use runtape_core::Stream;
use runtape_core::runtime_event::ApiRetry;
use serde_json::Value;

use super::failure::Stated;
use super::report::stated;
use super::session_id;
use super::wire::{Report, skip};
use crate::framing::Document;
use crate::framing::held_lines::HeldLines;
use crate::json::{Str, decode};
use crate::lines::Line;
use crate::parser::SignalSink;
use crate::signal::TapePlace;

/// How many of the last lines are kept for the message of an error that only the exit tells.
const LAST_WORDS: usize = 3;

/// How much of such a line is kept.
const LONGEST_WORD: usize = 500;

/// Over how many lines the message of a failed attempt may go before it is taken for something
/// else. The API's messages have two or three.
const LONGEST_RETRY: usize = 8;

/// An error object that was printed.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) place: TapePlace,
    pub(super) session: Option<String>,
    pub(super) error: Stated,
}

/// Reads standard error.
#[derive(Debug)]
pub(super) struct Stderr {
    document: Document,
    /// The lines that may turn out to be an object, or a message about a retry.
    held: HeldLines,
    holds_retry: bool,
    /// The error object, the first one of several alike.
    pub(super) reported: Option<Reported>,
    last_words: VecDeque<String>,
}

impl Stderr {
    /// Creates a reader that holds at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            document: Document::new(limit),
            held: HeldLines::new(limit),
            holds_retry: false,
            reported: None,
            last_words: VecDeque::new(),
        }
    }

    /// Reads one line.
    pub(super) fn push_line(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        if self.document.has_begun() {
            if self.continues_object(line) {
                return self.push_object(line, out);
            }
            self.release(out);
        }
        let text = line.text();
        // A stack trace opens a bracket at the end of a line too; the next line tells.
        let may_be_object = text.trim_end().ends_with('{') || skip(line.bytes, b"{\"").is_some();
        let is_attempt = attempt_in(&text).is_some();
        if self.holds_retry && (may_be_object || is_attempt) {
            self.release(out);
        }
        if may_be_object {
            self.push_object(line, out);
        } else if is_attempt || self.holds_retry {
            self.push_retry(line, out);
        } else {
            self.on_text(text, out);
        }
    }

    /// Gives out what was held back.
    pub(super) fn finish(&mut self, out: &mut SignalSink<'_>) {
        self.release(out);
    }

    /// Returns the last lines, without repetitions.
    pub(super) fn last_words(&self) -> String {
        let words: Vec<&str> = self.last_words.iter().map(String::as_str).collect();
        words.join("\n")
    }

    fn continues_object(&self, line: &Line<'_>) -> bool {
        if self.held.len() > 1 {
            return true;
        }
        let keys: [&[u8]; 2] = [b"\"session_id\"", b"\"error\""];
        keys.iter().any(|key| skip(line.bytes, key).is_some())
    }

    fn push_object(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.document.push_line(line);
        self.held.push(line.bytes, line.ending, out.place());
        if !self.document.has_begun() || self.document.is_over_limit() || self.held.is_full() {
            self.release(out);
        } else if self.document.is_complete() {
            if self.read_object() {
                self.held.take();
            }
            self.release(out);
        }
    }

    fn read_object(&mut self) -> bool {
        let Ok(report) = decode::<Report<'_>>(self.document.bytes()) else {
            return false;
        };
        let report = report.value;
        let error = report.error;
        let Some(place) = self.document.place(Stream::Stderr) else {
            return false;
        };
        if !error.get("message").is_some_and(Value::is_string)
            || (report.session.is_none() && error.get("code").is_none_or(Value::is_null))
        {
            return false;
        }
        let session = report.session.map(Str::into_owned);
        let session = session.filter(|session| session_id(session).is_some());
        let (error, _) = stated(&error, place.at);
        self.reported.get_or_insert(Reported {
            place,
            session,
            error,
        });
        true
    }

    /// `Attempt 1 failed: … Retrying after 5656ms...`, where the API's message may have newlines.
    fn push_retry(&mut self, line: &Line<'_>, out: &mut SignalSink<'_>) {
        self.held.push(line.bytes, line.ending, out.place());
        self.holds_retry = true;
        let text = line.text();
        if text.contains("Retrying after ") || text.contains("Retrying with ") {
            self.on_retry(out);
        } else if text.contains("Max attempts reached") || self.held.len() >= LONGEST_RETRY {
            self.release(out);
        }
    }

    fn on_retry(&mut self, out: &mut SignalSink<'_>) {
        let held = self.held.take();
        self.holds_retry = false;
        let lines = held.iter().map(|line| line.line().text().into_owned());
        let text = lines.collect::<Vec<String>>().join("\n");
        let delay = text
            .split_once("Retrying after ")
            .and_then(|(_, rest)| leading_number(rest));
        let status = text
            .split_once(" with status ")
            .and_then(|(_, rest)| leading_number(rest));
        let retry = ApiRetry {
            attempt: attempt_in(&text),
            max_attempts: None,
            delay_ms: delay,
            status_code: status.and_then(|status| u16::try_from(status).ok()),
            reason: Some(text),
        };
        let place = held.place_from(0).unwrap_or(out.place());
        out.at(place).event(retry);
    }

    /// Gives out the lines that turned out to be nothing more.
    fn release(&mut self, out: &mut SignalSink<'_>) {
        self.holds_retry = false;
        self.document.clear();
        let held = self.held.take();
        held.replay(out, |line, out| self.on_text(line.line().text(), out));
    }

    fn on_text(&mut self, text: Cow<'_, str>, out: &mut SignalSink<'_>) {
        let word = text.trim();
        if word.is_empty() {
            return;
        }
        // What is fatal may be printed twice, the second time with this before it.
        let word = word.strip_prefix("[ERROR] ").unwrap_or(word);
        if self.last_words.back().is_none_or(|last| last != word) {
            if self.last_words.len() == LAST_WORDS {
                self.last_words.pop_front();
            }
            self.last_words
                .push_back(word.chars().take(LONGEST_WORD).collect());
        }
        out.stderr_text(text);
    }
}

/// Returns which attempt failed, if that is what a text begins with.
fn attempt_in(text: &str) -> Option<u64> {
    let rest = text.trim_start().strip_prefix("Attempt ")?;
    let number = leading_number(rest)?;
    rest.trim_start_matches(|c: char| c.is_ascii_digit())
        .starts_with(" failed")
        .then_some(number)
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}
