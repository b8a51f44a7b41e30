//! Runs that were never run: any length, the same for the same seed. For those who test and measure a
//! store.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::too_many_lines,
    reason = "a run that cannot be made fails the test that wants it"
)]

use runtape_core::record::{
    CallNote, CheckpointHead, EventRecord, Initialize, MessageRecord, MetadataPatch, ResultNote,
    RunOpened, Start, UsageEntry, UsageSource,
};
use runtape_core::runtime_event::{StderrText, UnparsedOutput, Warning};
use runtape_core::{
    CheckpointId, CheckpointStatus, DelegatedBy, ErrorFamily, Expert, ExpertMessage, ExpertPart,
    JobId, Message, MessageId, Metadata, PartId, Record, RecordKind, RunError, RunId, Runtime,
    RuntimeEventKind, Span, Stream, TextPart, ThinkingPart, TokenCounts, ToolCallId, ToolCallPart,
    ToolClass, ToolMessage, ToolName, ToolResultContent, ToolResultPart, UserMessage,
};
use runtape_store::{BeginRun, Store, TapeChunk};
use serde_json::json;

/// Numbers that look random.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Makes dice that fall the same way for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below that of the sides.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    /// Returns some words.
    pub fn words(&mut self, count: u64) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let mut number = self.roll(20_000) + 400;
            while number > 0 {
                text.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
                number /= 26;
            }
            text.push(' ');
        }
        text
    }
}

/// A run with its tape.
#[derive(Clone, Debug)]
pub struct Made {
    /// What is known before it begins.
    pub begin: BeginRun,
    /// Its records.
    pub records: Vec<Record>,
    /// Its tape.
    pub chunks: Vec<TapeChunk>,
}

/// Reads the id of a run.
#[must_use]
pub fn run_id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

/// Reads the id of a job.
#[must_use]
pub fn job_id(text: &str) -> JobId {
    JobId::parse(text).unwrap()
}

/// Returns tokens of which all but reasoning is known.
#[must_use]
pub fn counts(input: i64, output: i64) -> TokenCounts {
    TokenCounts {
        input_tokens: Some(input),
        output_tokens: Some(output),
        reasoning_tokens: None,
        cached_input_tokens: Some(7),
        ..TokenCounts::default()
    }
}

struct Maker {
    run: RunId,
    dice: Dice,
    records: Vec<Record>,
    chunks: Vec<TapeChunk>,
    printed: u64,
    at: i64,
    messages: u64,
    parts: u64,
    usage: TokenCounts,
}

impl Maker {
    fn print(&mut self, line: &str) -> Span {
        let start = self.printed;
        let bytes = format!("{line}\n").into_bytes();
        self.printed += bytes.len() as u64;
        self.at += 10;
        self.chunks.push(TapeChunk {
            stream: Stream::Stdout,
            start,
            received_at: self.at,
            bytes,
        });
        Span {
            stream: Stream::Stdout,
            start,
            end: self.printed,
        }
    }

    fn record(&mut self, span: Option<Span>, kind: impl Into<RecordKind>) {
        self.records.push(Record {
            run_id: self.run.clone(),
            seq: self.records.len() as u64,
            at: self.at,
            span,
            kind: kind.into(),
        });
    }

    fn part(&mut self) -> PartId {
        self.parts += 1;
        PartId::derive(&self.run, self.parts)
    }

    fn message(&mut self, span: Option<Span>, step: u64, message: Message) {
        self.messages += 1;
        self.record(
            span,
            MessageRecord {
                step,
                message,
                offsets: span.map(|span| span.start).into_iter().collect(),
                calls: Vec::new(),
                results: Vec::new(),
                continued: false,
                cut: false,
            },
        );
    }

    fn last_message(&mut self) -> &mut MessageRecord {
        match &mut self.records.last_mut().unwrap().kind {
            RecordKind::Message(message) => message,
            _ => panic!("a message"),
        }
    }

    fn step(&mut self, step: u64) {
        let text = self.dice.words(20);
        let call = ToolCallId::parse(format!("call_{step}")).unwrap();
        let command = format!("cat file{}.txt", self.dice.roll(100));
        let line = json!({"type": "assistant", "text": text, "command": command, "id": call});
        let span = self.print(&line.to_string());
        let contents = vec![
            ExpertPart::ThinkingPart(ThinkingPart {
                id: self.part(),
                thinking: "hm".to_owned(),
                signature: None,
            }),
            ExpertPart::TextPart(TextPart {
                id: self.part(),
                text,
            }),
            ExpertPart::ToolCallPart(ToolCallPart {
                id: self.part(),
                tool_call_id: call.clone(),
                tool_name: ToolName::from_printed("Bash"),
                args: json!({"command": command, "ratio": 0.1}),
            }),
        ];
        let id = MessageId::derive(&self.run, self.messages);
        self.message(Some(span), step, ExpertMessage::new(id, contents).into());
        self.last_message().calls.push(CallNote {
            tool_call_id: call.clone(),
            printed_id: None,
            class: Some(ToolClass::Shell),
            command: Some(command),
            paths: vec!["a.txt".to_owned(), "b.txt".to_owned()],
            url: None,
        });
        let used = counts(100 + i64::try_from(step).unwrap(), 20);
        self.usage = self.usage.plus(used);
        self.record(
            Some(span),
            UsageEntry {
                key: format!("msg_{step}"),
                source: UsageSource::Response,
                step: Some(step),
                model: Some("model-1".to_owned()),
                of_session: false,
                counts: used,
            },
        );
        let output = self.dice.words(30);
        let span = self.print(&json!({"type": "result", "output": output}).to_string());
        let content = ToolResultContent::TextPart(TextPart {
            id: self.part(),
            text: output,
        });
        let result = ToolResultPart {
            id: self.part(),
            tool_call_id: call.clone(),
            tool_name: ToolName::from_printed("Bash"),
            contents: vec![content],
            is_error: Some(step.is_multiple_of(7)),
        };
        let id = MessageId::derive(&self.run, self.messages);
        self.message(
            Some(span),
            step,
            ToolMessage::new(id, vec![result.into()]).into(),
        );
        self.last_message().results.push(ResultNote {
            tool_call_id: call,
            duration_ms: Some(12),
            call_step: None,
            unmatched: false,
        });
        self.head(step, CheckpointStatus::Proceeding, used, None);
    }

    fn head(
        &mut self,
        step: u64,
        status: CheckpointStatus,
        step_usage: TokenCounts,
        error: Option<RunError>,
    ) {
        let head = CheckpointHead {
            step,
            status,
            messages: self.messages,
            usage: self.usage,
            step_usage,
            started_at: self.at - 15,
            pending: Vec::new(),
            text: None,
            error,
        };
        self.record(None, Box::new(head));
    }

    fn event(&mut self, step: u64, event: impl Into<RuntimeEventKind>) {
        let event = event.into();
        self.record(None, EventRecord { step, event });
    }
}

/// What may differ between runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Decides what is said.
    pub seed: u64,
    /// The job.
    pub job: String,
    /// The run.
    pub run: String,
    /// The runtime.
    pub runtime: Runtime,
    /// How many steps call a tool.
    pub steps: u64,
    /// The session.
    pub session: Option<String>,
    /// It ends with an error.
    pub fails: bool,
    /// When it begins.
    pub at: i64,
    /// What the runtime states as the total of the session so far.
    pub session_total: Option<TokenCounts>,
}

impl Plan {
    /// Plans a run of which nothing is special.
    #[must_use]
    pub fn new(run: &str, steps: u64) -> Self {
        Self {
            seed: run.bytes().map(u64::from).sum::<u64>() + steps,
            job: format!("job-of-{run}"),
            run: run.to_owned(),
            runtime: Runtime::ClaudeCode,
            steps,
            session: Some(format!("session-of-{run}")),
            fails: false,
            at: 1_790_000_000_000,
            session_total: None,
        }
    }

    /// Makes the run.
    #[must_use]
    pub fn make(&self) -> Made {
        let run = run_id(&self.run);
        let mut maker = Maker {
            run: run.clone(),
            dice: Dice::new(self.seed),
            records: Vec::new(),
            chunks: Vec::new(),
            printed: 0,
            at: self.at,
            messages: 0,
            parts: 0,
            usage: TokenCounts::default(),
        };
        let opened = RunOpened {
            job_id: job_id(&self.job),
            runtime: self.runtime.clone(),
            delegated_by: None,
        };
        maker.record(None, opened);
        let mut set = Metadata::default();
        set.set("model", "model-1");
        set.set("cwd", "/home/someone/project");
        set.set("argv", json!(["claude", "-p", "do it"]));
        if let Some(session) = &self.session {
            set.set("sessionId", session.as_str());
        }
        maker.record(None, MetadataPatch { set });
        let initialize = Initialize {
            expert: Expert {
                key: "coder".to_owned(),
                name: "coder".to_owned(),
                version: "1".to_owned(),
            },
            model: Some("model-1".to_owned()),
            query: Some("do it".to_owned()),
        };
        maker.record(None, initialize);
        let text = TextPart {
            id: maker.part(),
            text: "Do it, naïvely".to_owned(),
        };
        let id = MessageId::derive(&run, 0);
        maker.message(None, 1, UserMessage::new(id, vec![text.into()]).into());
        maker.record(None, Start {});
        for step in 1..=self.steps {
            maker.step(step);
            if step % 5 == 1 {
                let text = "a line on stderr".to_owned();
                maker.event(step, StderrText { text });
                let message = "careful".to_owned();
                maker.event(step, Warning { message });
                maker.event(
                    step,
                    UnparsedOutput {
                        stream: Stream::Stdout,
                        line: step,
                        tag: Some("novelty".to_owned()),
                        reason: "unknown type".to_owned(),
                        excerpt: Some("{\"type\":\"novelty\"}".to_owned()),
                    },
                );
            }
        }
        if let Some(total) = self.session_total {
            maker.usage = maker.usage.plus(total);
            maker.record(
                None,
                UsageEntry {
                    key: "total".to_owned(),
                    source: UsageSource::Total,
                    step: None,
                    model: None,
                    of_session: true,
                    counts: total,
                },
            );
        }
        let mut set = Metadata::default();
        set.set("costUsd", 0.1 + 0.2);
        maker.record(None, MetadataPatch { set });
        let (status, error) = if self.fails {
            let error = RunError {
                name: "ApiError".to_owned(),
                message: "overloaded".to_owned(),
                status_code: Some(529),
                is_retryable: true,
                family: Some(ErrorFamily::Overload),
                retry_at: None,
            };
            (CheckpointStatus::StoppedByError, Some(error))
        } else {
            (CheckpointStatus::Completed, None)
        };
        maker.head(self.steps + 1, status, TokenCounts::default(), error);
        Made {
            begin: BeginRun {
                job_id: job_id(&self.job),
                run_id: run,
                runtime: self.runtime.clone(),
                started_at: self.at,
                context: json!({"argv": ["claude", "-p", "do it"]}),
            },
            records: maker.records,
            chunks: maker.chunks,
        }
    }
}

impl Made {
    /// Returns the run's id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.begin.run_id
    }

    /// Writes the run in one batch and finishes it.
    pub fn store(&self, store: &mut Store) {
        store.begin_run(&self.begin).unwrap();
        store
            .append(self.id(), &self.records, &self.chunks)
            .unwrap();
        store.finish_run(self.id(), &json!({"code": 0}), 1).unwrap();
    }

    /// Writes the run in batches of a few records, as a live run would.
    pub fn store_live(&self, store: &mut Store, batch: usize) {
        store.begin_run(&self.begin).unwrap();
        self.append_live(store, batch);
        store.finish_run(self.id(), &json!({"code": 0}), 1).unwrap();
    }

    /// Appends the run in batches of a few records.
    pub fn append_live(&self, store: &mut Store, batch: usize) {
        let mut chunks = self.chunks.iter();
        let per_batch = self.chunks.len() * batch / self.records.len().max(1) + 1;
        for records in self.records.chunks(batch) {
            let chunks: Vec<TapeChunk> = chunks.by_ref().take(per_batch).cloned().collect();
            store.append(self.id(), records, &chunks).unwrap();
        }
        let rest: Vec<TapeChunk> = chunks.cloned().collect();
        store.append(self.id(), &[], &rest).unwrap();
    }
}

/// The records of a child that a call of `parent` started.
#[must_use]
pub fn child(parent: &Made, name: &str) -> Vec<Record> {
    let mut plan = Plan::new(name, 2);
    plan.job = parent.begin.job_id.to_string();
    plan.session = None;
    let mut made = plan.make();
    for record in &mut made.records {
        record.span = None;
        if let RecordKind::Run(opened) = &mut record.kind {
            opened.delegated_by = Some(Box::new(DelegatedBy {
                expert: Expert {
                    key: "coder".to_owned(),
                    name: "coder".to_owned(),
                    version: "1".to_owned(),
                },
                tool_call_id: ToolCallId::parse("call_1").unwrap(),
                tool_name: ToolName::from_printed("Task"),
                checkpoint_id: CheckpointId::derive(parent.id(), 1),
                run_id: parent.id().clone(),
            }));
        }
    }
    made.records
}
