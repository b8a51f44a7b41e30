//! Single runs of any length.

use std::ops::Range;

use super::ids::Form;
use super::random::Random;
use super::words::Words;

/// What the model says in a step, in bytes.
const TEXT_BYTES: Range<usize> = 40..200;
/// What a tool gives back in a step, in bytes, unless told otherwise.
const RESULT_BYTES: Range<usize> = 100..1_000;

/// A runtime's way to print a run. `{session}`, `{text}` and the like are filled in.
struct Format {
    runtime: &'static str,
    session: Form,
    call: Form,
    opening: &'static str,
    step: &'static str,
    ending: &'static str,
}

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    Format {
        runtime: "claude-code",
        session: Form::Uuid,
        call: Form::Prefixed("toolu_"),
        opening: concat!(
            r#"{"type":"system","subtype":"init","cwd":"/home/dev/proj","session_id":"{session}","tools":["Bash","Read"],"mcp_servers":[],"model":"claude-sonnet-4-5-20250929","permissionMode":"default","apiKeySource":"none","claude_code_version":"2.1.325","uuid":"{uuid}"}"#, "\n",
        ),
        step: concat!(
            r#"{"type":"assistant","message":{"id":"{message}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"{text}"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":251,"cache_creation_input_tokens":233,"cache_read_input_tokens":1033,"output_tokens":1,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":"{session}","uuid":"{uuid}"}"#, "\n",
            r#"{"type":"assistant","message":{"id":"{message}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"tool_use","id":"{call}","name":"Bash","input":{"command":"cat {word}.txt","description":"Read {word}"}}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":251,"cache_creation_input_tokens":233,"cache_read_input_tokens":1033,"output_tokens":1,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":"{session}","uuid":"{uuid}"}"#, "\n",
            r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"{call}","type":"tool_result","content":"{result}","is_error":false}]},"parent_tool_use_id":null,"session_id":"{session}","uuid":"{uuid}","tool_use_result":{"stdout":"","stderr":"","interrupted":false,"isImage":false}}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"assistant","message":{"id":"{message}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"{text}"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":251,"cache_creation_input_tokens":233,"cache_read_input_tokens":1033,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"{session}","uuid":"{uuid}"}"#, "\n",
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":193,"duration_api_ms":43,"num_turns":2,"result":"done","stop_reason":"end_turn","session_id":"{session}","total_cost_usd":0.25,"usage":{"input_tokens":508,"cache_creation_input_tokens":472,"cache_read_input_tokens":2072,"output_tokens":152},"permission_denials":[],"uuid":"{uuid}"}"#, "\n",
        ),
    },
    Format {
        runtime: "cursor",
        session: Form::Uuid,
        call: Form::Prefixed("toolu_"),
        opening: concat!(
            r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/home/dev/proj","session_id":"{session}","model":"Auto","permissionMode":"default"}"#, "\n",
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"{text}"}]},"session_id":"{session}"}"#, "\n",
        ),
        step: concat!(
            r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"{text}"}]},"session_id":"{session}","model_call_id":"{turn}","timestamp_ms":1790559979655}"#, "\n",
            r#"{"type":"tool_call","subtype":"started","call_id":"{call}","tool_call":{"readToolCall":{"args":{"path":"/home/dev/proj/{word}.txt"}}},"model_call_id":"{turn}","session_id":"{session}","timestamp_ms":1790559979655}"#, "\n",
            r#"{"type":"tool_call","subtype":"completed","call_id":"{call}","tool_call":{"readToolCall":{"args":{"path":"/home/dev/proj/{word}.txt"},"result":{"success":{"content":"{result}","isEmpty":false,"exceededLimit":false,"totalLines":1,"fileSize":7}}}},"model_call_id":"{turn}","session_id":"{session}","timestamp_ms":1790559979655}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"{text}"}]},"session_id":"{session}"}"#, "\n",
            r#"{"type":"result","subtype":"success","duration_ms":5544,"duration_api_ms":5544,"is_error":false,"result":"{text}","session_id":"{session}","request_id":"{uuid}","usage":{"inputTokens":4,"outputTokens":122,"cacheReadTokens":13535,"cacheWriteTokens":15844}}"#, "\n",
        ),
    },
    Format {
        runtime: "gemini",
        session: Form::Uuid,
        call: Form::Milliseconds,
        opening: concat!(
            r#"{"type":"init","timestamp":"2026-11-16T00:11:42.469Z","session_id":"{session}","model":"gemini-2.5-flash"}"#, "\n",
            r#"{"type":"message","timestamp":"2026-11-16T00:11:42.471Z","role":"user","content":"{text}"}"#, "\n",
        ),
        step: concat!(
            r#"{"type":"message","timestamp":"2026-11-16T00:11:42.471Z","role":"assistant","content":"{text}","delta":true}"#, "\n",
            r#"{"type":"tool_use","timestamp":"2026-11-16T00:11:42.642Z","tool_name":"read_file","tool_id":"read_file__read_file_{call}_{number}","parameters":{"file_path":"{word}.txt"}}"#, "\n",
            r#"{"type":"tool_result","timestamp":"2026-11-16T00:11:42.658Z","tool_id":"read_file__read_file_{call}_{number}","status":"success","output":"{result}"}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"message","timestamp":"2026-11-16T00:11:42.814Z","role":"assistant","content":"{text}","delta":true}"#, "\n",
            r#"{"type":"result","timestamp":"2026-11-16T00:11:42.821Z","status":"success","stats":{"total_tokens":11650,"input_tokens":11140,"output_tokens":510,"cached":0,"input":11140,"duration_ms":352,"tool_calls":7,"models":{"gemini-2.5-flash":{"total_tokens":11650,"input_tokens":11140,"output_tokens":510,"cached":0,"input":11140}}}}"#, "\n",
        ),
    },
    Format {
        runtime: "codex",
        session: Form::Uuid,
        call: Form::Milliseconds,
        opening: concat!(
            r#"{"type":"thread.started","thread_id":"{session}"}"#, "\n",
            r#"{"type":"turn.started"}"#, "\n",
        ),
        step: concat!(
            r#"{"type":"item.completed","item":{"id":"item_{call}_{number}a","type":"agent_message","text":"{text}"}}"#, "\n",
            r#"{"type":"item.started","item":{"id":"item_{call}_{number}b","type":"command_execution","command":"/bin/bash -lc 'cat {word}.txt'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#, "\n",
            r#"{"type":"item.completed","item":{"id":"item_{call}_{number}b","type":"command_execution","command":"/bin/bash -lc 'cat {word}.txt'","aggregated_output":"{result}","exit_code":0,"status":"completed"}}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"item.completed","item":{"id":"item_last","type":"agent_message","text":"{text}"}}"#, "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":3300,"cached_input_tokens":2100,"cache_write_input_tokens":0,"output_tokens":100,"reasoning_output_tokens":0}}"#, "\n",
        ),
    },
    Format {
        runtime: "opencode",
        session: Form::Timed("ses_"),
        call: Form::Timed("prt_"),
        opening: "",
        step: concat!(
            r#"{"type":"step_start","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}a","messageID":"{message}","sessionID":"{session}","type":"step-start"}}"#, "\n",
            r#"{"type":"text","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}b","messageID":"{message}","sessionID":"{session}","type":"text","text":"{text}","time":{"start":1794828792218,"end":1794828792601}}}"#, "\n",
            r#"{"type":"tool_use","timestamp":1794828793126,"sessionID":"{session}","part":{"type":"tool","tool":"read","callID":"call_{call}","state":{"status":"completed","input":{"filePath":"/home/dev/{word}.txt"},"output":"{result}","metadata":{"preview":"{word}","truncated":false,"loaded":[]},"title":"{word}.txt","time":{"start":1794828792554,"end":1794828792705}},"id":"{call}c","sessionID":"{session}","messageID":"{message}"}}"#, "\n",
            r#"{"type":"step_finish","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}d","reason":"tool-calls","messageID":"{message}","sessionID":"{session}","type":"step-finish","tokens":{"total":1030,"input":1000,"output":30,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00106}}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"step_start","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}a","messageID":"{message}","sessionID":"{session}","type":"step-start"}}"#, "\n",
            r#"{"type":"text","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}b","messageID":"{message}","sessionID":"{session}","type":"text","text":"{text}","time":{"start":1794828792218,"end":1794828792601}}}"#, "\n",
            r#"{"type":"step_finish","timestamp":1794828793126,"sessionID":"{session}","part":{"id":"{call}d","reason":"stop","messageID":"{message}","sessionID":"{session}","type":"step-finish","tokens":{"total":1005,"input":1000,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00101}}"#, "\n",
        ),
    },
    Format {
        runtime: "openclaw",
        session: Form::Uuid,
        call: Form::Prefixed("call_"),
        opening: concat!(
            r#"{"type":"req","id":"2","method":"chat.send","params":{"sessionKey":"agent:main:{session}","message":"{text}","idempotencyKey":"run-1"}}"#, "\n",
            r#"{"type":"res","id":"2","ok":true,"payload":{"runId":"run-1","status":"started"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"lifecycle","data":{"phase":"start","startedAt":1794830477542},"sessionKey":"agent:main:{session}","ts":1794830477542,"agentId":"main"}}"#, "\n",
        ),
        step: concat!(
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"lifecycle","data":{"phase":"model","provider":"mock","model":"m1"},"sessionKey":"agent:main:{session}","ts":1794830477543,"agentId":"main","isHeartbeat":false}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"assistant","data":{"text":"{text}","itemId":"{message}:1"},"sessionKey":"agent:main:{session}","ts":1794830477544,"agentId":"main","isHeartbeat":false}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"item","data":{"itemId":"tool:{call}","toolCallId":"{call}","name":"read","kind":"tool","phase":"start","title":"Read","status":"running","meta":"from {word}.txt","startedAt":1794830477545},"sessionKey":"agent:main:{session}","ts":1794830477545,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"tool","data":{"phase":"start","name":"read","toolCallId":"{call}","args":{"path":"{word}.txt"}},"sessionKey":"agent:main:{session}","ts":1794830477546,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"tool","data":{"phase":"result","name":"read","toolCallId":"{call}","isError":false,"result":{"content":[{"type":"text","text":"{result}"}],"details":{"kind":"text"}}},"sessionKey":"agent:main:{session}","ts":1794830477547,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"item","data":{"itemId":"tool:{call}","toolCallId":"{call}","name":"read","kind":"tool","phase":"end","title":"Read","status":"completed","meta":"from {word}.txt"},"sessionKey":"agent:main:{session}","ts":1794830477548,"agentId":"main"}}"#, "\n",
        ),
        ending: concat!(
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"lifecycle","data":{"phase":"model","provider":"mock","model":"m1"},"sessionKey":"agent:main:{session}","ts":1794830477549,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"assistant","data":{"text":"{text}","itemId":"{message}:2"},"sessionKey":"agent:main:{session}","ts":1794830477550,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"agent","payload":{"runId":"run-1","stream":"lifecycle","data":{"phase":"end","startedAt":1794830477542,"endedAt":1794830477551,"aborted":false,"stopReason":"stop"},"sessionKey":"agent:main:{session}","ts":1794830477551,"agentId":"main"}}"#, "\n",
            r#"{"type":"event","event":"chat","payload":{"runId":"run-1","sessionKey":"agent:main:{session}","state":"final","stopReason":"stop","agentId":"main"}}"#, "\n",
        ),
    },
    Format {
        runtime: "generic",
        session: Form::Uuid,
        call: Form::Prefixed("call_"),
        opening: concat!(
            r#"{"ts":"2026-01-01T00:00:01.000Z","kind":"init","model":"example-1","sessionId":"{session}"}"#, "\n",
            r#"{"ts":"2026-01-01T00:00:02.000Z","kind":"user","text":"{text}"}"#, "\n",
        ),
        step: concat!(
            r#"{"ts":"2026-01-01T00:00:03.000Z","kind":"assistant","text":"{text}"}"#, "\n",
            r#"{"ts":"2026-01-01T00:00:04.000Z","kind":"tool_call","name":"read","toolUseId":"{call}","input":{"path":"{word}.txt"}}"#, "\n",
            r#"{"ts":"2026-01-01T00:00:05.000Z","kind":"tool_result","toolUseId":"{call}","toolName":"read","content":"{result}","isError":false}"#, "\n",
        ),
        ending: concat!(
            r#"{"ts":"2026-01-01T00:00:06.000Z","kind":"assistant","text":"{text}"}"#, "\n",
            r#"{"ts":"2026-01-01T00:00:07.000Z","kind":"result","text":"{text}","inputTokens":210,"outputTokens":40,"cachedTokens":100,"costUsd":0.01,"subtype":"completed","isError":false,"errors":[]}"#, "\n",
        ),
    },
    Format {
        runtime: "hermes",
        session: Form::Session,
        call: Form::Session,
        opening: concat!(
            "Query: {text}\n",
            "Initializing agent...\n",
            "────────────────────────────────────────\n",
            "\n",
        ),
        step: concat!(
            "\n",
            "╭─ ⚕ Hermes ───────────────────────────────────────────────────────────────────╮\n",
            "    {text}\n",
            "    {result}\n",
            "╰──────────────────────────────────────────────────────────────────────────────╯\n",
            "  ┊ 💻 preparing terminal…\n",
            "  ┊ 💻 $         cat {word}.txt  0.2s\n",
        ),
        ending: concat!(
            "\n",
            "╭─ ⚕ Hermes ───────────────────────────────────────────────────────────────────╮\n",
            "    {text}\n",
            "╰──────────────────────────────────────────────────────────────────────────────╯\n",
            "\n",
            "Resume this session with:\n",
            "  hermes --resume {session}\n",
            "\n",
            "Session:        {session}\n",
            "Duration:       10s\n",
            "Messages:       6 (1 user, 4 tool calls)\n",
        ),
    },
];

/// Writes one session, step by step: text, a tool call and its result, with fresh ids, and a result
/// at the end. hermes prints no results of tools, so what they would be is part of the text.
///
/// Steps are appended to a buffer that the caller empties, so that a run may be longer than memory.
pub struct LongRun {
    format: &'static Format,
    result_bytes: Range<usize>,
    words: Words,
    random: Random,
    session: String,
    steps: usize,
}

impl LongRun {
    /// Begins a run, in the runtime's format that streams whole messages. None for a runtime whose
    /// output is not known here.
    #[must_use]
    pub fn new(runtime: &str, seed: u64) -> Option<Self> {
        let format = FORMATS.iter().find(|format| format.runtime == runtime)?;
        let mut random = Random::new(seed);
        Some(Self {
            format,
            result_bytes: RESULT_BYTES,
            words: Words::default(),
            session: format.session.make(&mut random),
            random,
            steps: 0,
        })
    }

    /// Sets how many bytes tools give back in a step: a line is about that long.
    #[must_use]
    pub fn with_result_bytes(mut self, bytes: Range<usize>) -> Self {
        self.result_bytes = bytes;
        self
    }

    /// Writes a whole run.
    #[must_use]
    pub fn write(mut self, steps: usize) -> Vec<u8> {
        let mut out = Vec::new();
        self.opening(&mut out);
        for _ in 0..steps {
            self.step(&mut out);
        }
        self.ending(&mut out);
        out
    }

    /// Appends what comes before the first step.
    pub fn opening(&mut self, out: &mut Vec<u8>) {
        self.fill(self.format.opening, out);
    }

    /// Appends a step.
    pub fn step(&mut self, out: &mut Vec<u8>) {
        self.fill(self.format.step, out);
        self.steps += 1;
    }

    /// Appends the answer and the result.
    pub fn ending(&mut self, out: &mut Vec<u8>) {
        self.fill(self.format.ending, out);
    }

    /// Appends a form with its blanks filled in.
    fn fill(&mut self, form: &str, out: &mut Vec<u8>) {
        let (number, uuid) = (self.steps, Form::Uuid.make(&mut self.random));
        let message = Form::Prefixed("msg_").make(&mut self.random);
        let call = self.format.call.make(&mut self.random);
        let mut rest = form;
        while let Some((before, name, after)) = next_blank(rest) {
            out.extend_from_slice(before.as_bytes());
            match name {
                "session" => out.extend_from_slice(self.session.as_bytes()),
                "uuid" => out.extend_from_slice(Form::Uuid.make(&mut self.random).as_bytes()),
                "message" => out.extend_from_slice(message.as_bytes()),
                "call" => out.extend_from_slice(call.as_bytes()),
                "turn" => out.extend_from_slice(format!("{uuid}-{number}-m2qz").as_bytes()),
                "number" => out.extend_from_slice(number.to_string().as_bytes()),
                "word" => out.extend_from_slice(self.words.pick(&mut self.random).as_bytes()),
                "text" => self.fill_words(&TEXT_BYTES, out),
                _ => self.fill_words(&self.result_bytes.clone(), out),
            }
            rest = after;
        }
        out.extend_from_slice(rest.as_bytes());
    }

    fn fill_words(&mut self, bytes: &Range<usize>, out: &mut Vec<u8>) {
        let bytes = bytes.start + self.random.below(bytes.len());
        self.words.fill(&mut self.random, bytes, out);
    }
}

/// Splits a form at its next blank: a word in braces. Other braces are JSON's.
fn next_blank(form: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + form.get(from..)?.find('{')?;
        let (before, inside) = (form.get(..open)?, form.get(open + 1..)?);
        if let Some((name, after)) = inside.split_once('}')
            && name.bytes().all(|byte| byte.is_ascii_lowercase())
            && !name.is_empty()
        {
            return Some((before, name, after));
        }
        from = open + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_made_of_whole_lines_of_the_wanted_length() {
        for format in FORMATS {
            let run = LongRun::new(format.runtime, 1).expect("a known runtime");
            let output = run.with_result_bytes(5_000..6_000).write(3);
            let lines = output.split(|byte| *byte == b'\n');
            let longest = lines.clone().map(<[u8]>::len).max();
            assert!(longest.is_some_and(|longest| (5_000..7_000).contains(&longest)));
            if format.runtime != "hermes" {
                let parsed = lines.filter(|line| !line.is_empty()).map(|line| {
                    serde_json::from_slice::<serde_json::Value>(line).expect(format.runtime)
                });
                assert!(parsed.count() >= 3 * 3 + 2);
            }
        }
        assert!(LongRun::new("local", 1).is_none());
    }
}
