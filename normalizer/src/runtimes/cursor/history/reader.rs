//! A chat's blobs, walked from the latest root and cut into runs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::blob::{Blob, BlobId, ChatMeta, blob, meta};
use super::words::query;
use crate::bounds::told_count;
use crate::history::{Segment, SegmentLine, Session, SessionReader, table_of};
use crate::redact::Kept;

/// How much of what the model said is kept to tell what it said last.
const MOST_TEXT: usize = 8 << 20;

/// Reads the rows of one chat.
#[derive(Default)]
pub(super) struct ChatReader {
    sources: usize,
    name: String,
    meta: Option<(ChatMeta, SegmentLine)>,
    blobs: HashMap<BlobId, KeptBlob>,
    /// Bytes of texts that are kept.
    kept: usize,
    unreadable: Vec<SegmentLine>,
}

/// What is kept of a blob.
struct KeptBlob {
    line: SegmentLine,
    references: Vec<BlobId>,
    message: Option<KeptMessage>,
}

enum KeptMessage {
    Prompt(String),
    Answer {
        text: Option<String>,
        calls: Vec<String>,
    },
    Other,
}

impl SessionReader for ChatReader {
    fn begin_source(&mut self, name: &str) {
        self.sources += 1;
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        }
    }

    fn line(&mut self, place: Range<u64>, line: Kept<'_>) {
        let bytes = line.bytes();
        let source = self.sources.saturating_sub(1);
        let line = SegmentLine::Kept { source, place };
        match table_of(bytes) {
            Some("meta") => {
                // Other keys are the CLI's own.
                if let Some(meta) = meta(bytes).filter(|meta| meta.root.is_some()) {
                    self.meta.get_or_insert((meta, line));
                }
            }
            Some("blobs") => match blob(bytes) {
                Some(blob) => self.on_blob(blob, line),
                None => self.unreadable.push(line),
            },
            _ => self.unreadable.push(line),
        }
    }

    fn finish(mut self: Box<Self>) -> Session {
        let Some((meta, meta_line)) = self.meta.take() else {
            return Session {
                id: self.name,
                ..Session::default()
            };
        };
        let id = meta.agent.clone().filter(|agent| !agent.is_empty());
        let mut segments = self.segments(&meta, &meta_line);
        if let Some(last) = segments.last_mut() {
            last.unreadable = self.unreadable.len() as u64;
        }
        Session {
            id: id.unwrap_or(self.name),
            title: meta.name,
            segments,
        }
    }
}

impl ChatReader {
    fn on_blob(&mut self, blob: Blob, line: SegmentLine) {
        let message = blob.message.map(|message| match message.role.as_str() {
            "user" => match query(&message.text()) {
                Some(query) => KeptMessage::Prompt(query.to_owned()),
                None => KeptMessage::Other,
            },
            "assistant" => {
                let text = Some(message.text()).filter(|text| !text.is_empty());
                let length = text.as_ref().map_or(0, String::len);
                let has_room = self.kept + length <= MOST_TEXT;
                self.kept += if has_room { length } else { 0 };
                let parts = message.into_parts();
                let calls = parts
                    .iter()
                    .filter_map(|part| part.get("toolCallId").and_then(Value::as_str));
                KeptMessage::Answer {
                    calls: calls.map(str::to_owned).collect(),
                    text: text.filter(|_| has_room),
                }
            }
            _ => KeptMessage::Other,
        });
        self.blobs.entry(blob.id).or_insert(KeptBlob {
            line,
            references: blob.references,
            message,
        });
    }

    /// Walks the conversation.
    fn segments(&self, meta: &ChatMeta, meta_line: &SegmentLine) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        // The system prompt and the context belong to the run that follows.
        let mut before: Vec<SegmentLine> = Vec::new();
        // Messages may stand in several places; a node is walked once.
        let mut walked: HashSet<BlobId> = HashSet::new();
        let mut waiting: Vec<BlobId> = meta.root.into_iter().collect();
        while let Some(id) = waiting.pop() {
            let Some(blob) = self.blobs.get(&id) else {
                continue;
            };
            if !blob.references.is_empty() && walked.insert(id) {
                waiting.extend(blob.references.iter().rev());
            }
            let Some(message) = &blob.message else {
                continue;
            };
            if let KeptMessage::Prompt(text) = message {
                let number = segments.len();
                if let Some(last) = segments.last_mut() {
                    last.is_over = true;
                }
                let digits = id.iter().map(|byte| format!("{byte:02x}"));
                let key = format!("{number}:{}", digits.collect::<String>());
                let created = meta.created_at.and_then(told_count).filter(|_| number == 0);
                let mut lines = vec![meta_line.clone()];
                lines.append(&mut before);
                segments.push(Segment {
                    key,
                    lines,
                    started_at: created,
                    last_at: created,
                    prompt: Some(text.clone()),
                    is_resumed: number > 0,
                    ..Segment::default()
                });
            }
            match (segments.last_mut(), message) {
                // Context that is given again comes before the next prompt.
                (None, _) => before.push(blob.line.clone()),
                (Some(segment), KeptMessage::Answer { text, calls }) => {
                    segment.lines.push(blob.line.clone());
                    segment.last_text = text.clone().or(segment.last_text.take());
                    segment.calls.extend(calls.iter().cloned());
                }
                (Some(segment), _) => segment.lines.push(blob.line.clone()),
            }
        }
        segments
    }
}
