//! Perstack's shapes as rules over raw JSON, told apart from our own types on purpose: what both
//! get wrong in the same way would otherwise never be seen.

use serde_json::Value;

/// What a field may hold.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// Any text.
    Text,
    /// A text of 1 to 255 UTF-16 units.
    Name,
    /// Any finite number.
    Number,
    Flag,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A text that a URL parser accepts.
    Url,
    /// An object with these fields.
    Object(Fields),
    /// A list of such.
    List(&'static Rule),
    /// An object told apart by its type.
    Tagged(&'static [(&'static str, Fields)]),
    /// An object with non-empty keys and anything in it.
    Arguments,
    /// An object that lets anything pass, but for these fields.
    Open(Fields),
    Anything,
}

/// Fields by name: whether they are required, and what they may hold.
type Fields = &'static [(&'static str, Need, Rule)];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}
use Need::{Optional, Required};

const USAGE: Rule = Rule::Object(&[
    ("inputTokens", Required, Rule::Number),
    ("outputTokens", Required, Rule::Number),
    ("reasoningTokens", Required, Rule::Number),
    ("totalTokens", Required, Rule::Number),
    ("cachedInputTokens", Required, Rule::Number),
]);

const ID: (&str, Need, Rule) = ("id", Required, Rule::Text);
const MIME: (&str, Need, Rule) = ("mimeType", Required, Rule::Text);
const ENCODED: (&str, Need, Rule) = ("encodedData", Required, Rule::Text);
const DATA: (&str, Need, Rule) = ("data", Required, Rule::Text);
const URL: (&str, Need, Rule) = ("url", Required, Rule::Url);

type Variant = (&'static str, Fields);
const TEXT_PART: Variant = ("textPart", &[ID, ("text", Required, Rule::Text)]);
const IMAGE_URL: Variant = ("imageUrlPart", &[ID, URL, MIME]);
const IMAGE_INLINE: Variant = ("imageInlinePart", &[ID, ENCODED, MIME]);
const IMAGE_BINARY: Variant = ("imageBinaryPart", &[ID, DATA, MIME]);
const FILE_URL: Variant = ("fileUrlPart", &[ID, URL, MIME]);
const FILE_INLINE: Variant = ("fileInlinePart", &[ID, ENCODED, MIME]);
const FILE_BINARY: Variant = ("fileBinaryPart", &[ID, DATA, MIME]);
const TOOL_CALL_PART: Variant = (
    "toolCallPart",
    &[
        ID,
        ("toolCallId", Required, Rule::Text),
        ("toolName", Required, Rule::Text),
        ("args", Required, Rule::Anything),
    ],
);
const TOOL_RESULT_PART: Variant = (
    "toolResultPart",
    &[
        ID,
        ("toolCallId", Required, Rule::Text),
        ("toolName", Required, Rule::Text),
        (
            "contents",
            Required,
            Rule::List(&Rule::Tagged(&[TEXT_PART, IMAGE_INLINE, FILE_INLINE])),
        ),
        ("isError", Optional, Rule::Flag),
    ],
);
const THINKING_PART: Variant = (
    "thinkingPart",
    &[
        ID,
        ("thinking", Required, Rule::Text),
        ("signature", Optional, Rule::Text),
    ],
);
const ANY_PART: Rule = Rule::Tagged(&[
    TEXT_PART,
    IMAGE_URL,
    IMAGE_INLINE,
    IMAGE_BINARY,
    FILE_URL,
    FILE_INLINE,
    FILE_BINARY,
    TOOL_CALL_PART,
    TOOL_RESULT_PART,
    THINKING_PART,
]);

const CACHE: (&str, Need, Rule) = ("cache", Optional, Rule::Flag);
const STAMP: (&str, Need, Rule) = ("timestamp", Optional, Rule::Number);
const INSTRUCTION: Variant = (
    "instructionMessage",
    &[
        ID,
        (
            "contents",
            Required,
            Rule::List(&Rule::Tagged(&[TEXT_PART])),
        ),
        CACHE,
        STAMP,
    ],
);
const USER: Variant = (
    "userMessage",
    &[
        ID,
        (
            "contents",
            Required,
            Rule::List(&Rule::Tagged(&[
                TEXT_PART,
                IMAGE_URL,
                IMAGE_INLINE,
                IMAGE_BINARY,
                FILE_URL,
                FILE_INLINE,
                FILE_BINARY,
            ])),
        ),
        CACHE,
        STAMP,
    ],
);
const EXPERT: Variant = (
    "expertMessage",
    &[
        ID,
        (
            "contents",
            Required,
            Rule::List(&Rule::Tagged(&[TEXT_PART, TOOL_CALL_PART, THINKING_PART])),
        ),
        CACHE,
        STAMP,
    ],
);
const TOOL: Variant = (
    "toolMessage",
    &[
        ID,
        (
            "contents",
            Required,
            Rule::List(&Rule::Tagged(&[TOOL_RESULT_PART])),
        ),
        CACHE,
        STAMP,
    ],
);
const MESSAGES: Rule = Rule::List(&Rule::Tagged(&[INSTRUCTION, USER, EXPERT, TOOL]));
const INPUTS: Rule = Rule::List(&Rule::Tagged(&[INSTRUCTION, USER, TOOL]));
const ANSWERS: Rule = Rule::List(&Rule::Tagged(&[USER, TOOL]));
const SPOKEN: Rule = Rule::Tagged(&[EXPERT]);

const TOOL_CALL: Rule = Rule::Object(&[
    ("id", Required, Rule::Name),
    ("skillName", Required, Rule::Name),
    ("toolName", Required, Rule::Name),
    ("args", Required, Rule::Arguments),
]);
const TOOL_RESULT: Rule = Rule::Object(&[
    ("id", Required, Rule::Name),
    ("skillName", Required, Rule::Name),
    ("toolName", Required, Rule::Name),
    ("result", Required, Rule::List(&ANY_PART)),
]);
const CALLS: Rule = Rule::List(&TOOL_CALL);
const RESULTS: Rule = Rule::List(&TOOL_RESULT);

const EXPERT_NAME: Rule = Rule::Object(&[
    ("key", Required, Rule::Text),
    ("name", Required, Rule::Text),
    ("version", Required, Rule::Text),
]);

const STEP: Rule = Rule::Object(&[
    ("stepNumber", Required, Rule::Number),
    ("inputMessages", Optional, INPUTS),
    ("newMessages", Required, MESSAGES),
    ("toolCalls", Optional, CALLS),
    ("toolResults", Optional, RESULTS),
    ("pendingToolCalls", Optional, CALLS),
    ("partialToolResults", Optional, RESULTS),
    ("usage", Required, USAGE),
    ("startedAt", Required, Rule::Number),
    ("finishedAt", Optional, Rule::Number),
]);

const ERROR: Rule = Rule::Object(&[
    ("name", Required, Rule::Text),
    ("message", Required, Rule::Text),
    ("statusCode", Optional, Rule::Number),
    ("isRetryable", Required, Rule::Flag),
]);

pub(crate) const CHECKPOINT: Rule = Rule::Object(&[
    ("id", Required, Rule::Text),
    ("jobId", Required, Rule::Text),
    ("runId", Required, Rule::Text),
    (
        "status",
        Required,
        Rule::Word(&[
            "init",
            "proceeding",
            "completed",
            "stoppedByInteractiveTool",
            "stoppedByDelegate",
            "stoppedByExceededMaxSteps",
            "stoppedByError",
        ]),
    ),
    ("stepNumber", Required, Rule::Number),
    ("messages", Required, MESSAGES),
    ("expert", Required, EXPERT_NAME),
    (
        "delegateTo",
        Optional,
        Rule::List(&Rule::Object(&[
            ("expert", Required, EXPERT_NAME),
            ("toolCallId", Required, Rule::Text),
            ("toolName", Required, Rule::Text),
            ("query", Required, Rule::Text),
        ])),
    ),
    (
        "delegatedBy",
        Optional,
        Rule::Object(&[
            ("expert", Required, EXPERT_NAME),
            ("toolCallId", Required, Rule::Text),
            ("toolName", Required, Rule::Text),
            ("checkpointId", Required, Rule::Text),
            ("runId", Required, Rule::Text),
        ]),
    ),
    ("usage", Required, USAGE),
    ("contextWindow", Optional, Rule::Number),
    ("contextWindowUsage", Optional, Rule::Number),
    ("pendingToolCalls", Optional, CALLS),
    ("partialToolResults", Optional, RESULTS),
    (
        "metadata",
        Optional,
        Rule::Open(&[(
            "runtime",
            Optional,
            Rule::Word(&["local", "cursor", "claude-code", "gemini", "docker"]),
        )]),
    ),
    ("error", Optional, ERROR),
    ("retryCount", Optional, Rule::Number),
]);

pub(crate) const JOB: Rule = Rule::Object(&[
    ("id", Required, Rule::Text),
    (
        "status",
        Required,
        Rule::Word(&[
            "running",
            "completed",
            "stoppedByMaxSteps",
            "stoppedByInteractiveTool",
            "stoppedByError",
        ]),
    ),
    ("coordinatorExpertKey", Required, Rule::Text),
    ("totalSteps", Required, Rule::Number),
    ("maxSteps", Optional, Rule::Number),
    ("usage", Required, USAGE),
    ("startedAt", Required, Rule::Number),
    ("finishedAt", Optional, Rule::Number),
]);

pub(crate) const RUN_SETTING: Rule = Rule::Object(&[
    ("model", Required, Rule::Text),
    (
        "providerConfig",
        Required,
        Rule::Object(&[(
            "providerName",
            Required,
            Rule::Word(&[
                "anthropic",
                "google",
                "openai",
                "ollama",
                "azure-openai",
                "amazon-bedrock",
                "google-vertex",
                "deepseek",
            ]),
        )]),
    ),
    ("jobId", Required, Rule::Text),
    ("runId", Required, Rule::Text),
    ("expertKey", Required, Rule::Name),
    (
        "input",
        Required,
        Rule::Object(&[("text", Optional, Rule::Text)]),
    ),
    ("experts", Required, Rule::Object(&[])),
    ("temperature", Optional, Rule::Number),
    ("maxSteps", Optional, Rule::Number),
    ("maxRetries", Required, Rule::Number),
    ("timeout", Required, Rule::Number),
    ("startedAt", Required, Rule::Number),
    ("updatedAt", Required, Rule::Number),
    ("perstackApiBaseUrl", Required, Rule::Url),
    ("perstackApiKey", Optional, Rule::Text),
    ("env", Required, Rule::Object(&[])),
]);

const ENDS: [(&str, Need, Rule); 2] = [
    ("checkpoint", Required, CHECKPOINT),
    ("step", Required, STEP),
];
const SAID: (&str, Need, Rule) = ("newMessage", Required, SPOKEN);
const USED: (&str, Need, Rule) = ("usage", Required, USAGE);

/// Every event's own fields, by type.
pub(crate) const EVENTS: Rule = Rule::Tagged(&[
    (
        "startRun",
        &[
            ("initialCheckpoint", Required, CHECKPOINT),
            ("inputMessages", Required, INPUTS),
        ],
    ),
    ("startGeneration", &[("messages", Required, MESSAGES)]),
    (
        "retry",
        &[
            ("reason", Required, Rule::Text),
            (
                "newMessages",
                Required,
                Rule::List(&Rule::Tagged(&[USER, EXPERT, TOOL])),
            ),
            ("toolCalls", Optional, CALLS),
            ("toolResults", Optional, RESULTS),
            USED,
        ],
    ),
    ("callTools", &[SAID, ("toolCalls", Required, CALLS), USED]),
    (
        "callInteractiveTool",
        &[SAID, ("toolCall", Required, TOOL_CALL), USED],
    ),
    (
        "callDelegate",
        &[SAID, ("toolCalls", Required, CALLS), USED],
    ),
    ("resolveToolResults", &[("toolResults", Required, RESULTS)]),
    (
        "attemptCompletion",
        &[("toolResult", Required, TOOL_RESULT)],
    ),
    ("finishToolCall", &[("newMessages", Required, ANSWERS)]),
    (
        "resumeToolCalls",
        &[
            ("pendingToolCalls", Required, CALLS),
            ("partialToolResults", Required, RESULTS),
        ],
    ),
    ("finishAllToolCalls", &[("newMessages", Required, ANSWERS)]),
    (
        "continueToNextStep",
        &[ENDS[0], ENDS[1], ("nextCheckpoint", Required, CHECKPOINT)],
    ),
    ("stopRunByInteractiveTool", &ENDS),
    ("stopRunByDelegate", &ENDS),
    ("stopRunByExceededMaxSteps", &ENDS),
    (
        "stopRunByError",
        &[ENDS[0], ENDS[1], ("error", Required, ERROR)],
    ),
    (
        "completeRun",
        &[ENDS[0], ENDS[1], ("text", Required, Rule::Text), USED],
    ),
    ("startStreamingReasoning", &[]),
    ("streamReasoning", &[("delta", Required, Rule::Text)]),
    (
        "completeStreamingReasoning",
        &[("text", Required, Rule::Text)],
    ),
    ("startStreamingRunResult", &[]),
    ("streamRunResult", &[("delta", Required, Rule::Text)]),
    (
        "completeStreamingRunResult",
        &[("text", Required, Rule::Text)],
    ),
]);

/// What every event of a run has besides.
pub(crate) const EVENT_BASE: Rule = Rule::Object(&[
    ("id", Required, Rule::Text),
    ("expertKey", Required, Rule::Text),
    ("timestamp", Required, Rule::Number),
    ("jobId", Required, Rule::Text),
    ("runId", Required, Rule::Text),
    ("stepNumber", Required, Rule::Number),
]);

/// Says everything that a value has against a rule, each with its place.
pub(crate) fn faults(value: &Value, rule: Rule) -> Vec<String> {
    let mut found = Vec::new();
    check(value, rule, "", &mut found);
    found
}

fn check(value: &Value, rule: Rule, path: &str, found: &mut Vec<String>) {
    let units = |text: &str| text.encode_utf16().count();
    let fits = match rule {
        Rule::Text => value.is_string(),
        Rule::Name => value
            .as_str()
            .is_some_and(|text| (1..=255).contains(&units(text))),
        Rule::Number => value.as_f64().is_some_and(f64::is_finite),
        Rule::Flag => value.is_boolean(),
        Rule::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Rule::Url => value.as_str().is_some_and(is_url),
        Rule::Arguments => value.as_object().is_some_and(|args| !args.contains_key("")),
        Rule::Anything => true,
        Rule::Object(fields) | Rule::Open(fields) => return object(value, fields, path, found),
        Rule::List(rule) => {
            let Some(items) = value.as_array() else {
                return found.push(format!("{path}: not a list"));
            };
            for (index, item) in items.iter().enumerate() {
                check(item, *rule, &format!("{path}/{index}"), found);
            }
            true
        }
        Rule::Tagged(variants) => {
            let tag = value.get("type").and_then(Value::as_str);
            let Some((_, fields)) = variants.iter().find(|(name, _)| Some(*name) == tag) else {
                return found.push(format!("{path}/type: {tag:?} cannot stand here"));
            };
            return object(value, fields, path, found);
        }
    };
    if !fits {
        let shown: String = value.to_string().chars().take(60).collect();
        found.push(format!("{path}: {shown} does not fit"));
    }
}

fn object(value: &Value, fields: Fields, path: &str, found: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        return found.push(format!("{path}: not an object"));
    };
    for (name, need, rule) in fields {
        match object.get(*name) {
            Some(value) => check(value, *rule, &format!("{path}/{name}"), found),
            None if *need == Required => found.push(format!("{path}/{name}: missing")),
            None => {}
        }
    }
}

/// Names every key that Perstack drops when it writes a value of a rule again. The time of a message
/// is one that its first version wanted: it stands in both places.
pub(crate) fn dropped_keys(value: &Value, rule: Rule) -> Vec<String> {
    let mut kept = value.clone();
    let mut found = Vec::new();
    rewrite(&mut kept, rule, "", &mut found);
    found.retain(|key| !key.ends_with("/timestamp"));
    found
}

/// Returns a value as Perstack writes it again: without the keys that its rules do not name.
pub(crate) fn rewritten(value: &Value, rule: Rule) -> Value {
    let mut kept = value.clone();
    rewrite(&mut kept, rule, "", &mut Vec::new());
    kept
}

fn rewrite(value: &mut Value, rule: Rule, path: &str, dropped: &mut Vec<String>) {
    let fields = match rule {
        Rule::Object(fields) => fields,
        Rule::List(rule) => {
            for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
                rewrite(item, *rule, &format!("{path}/{index}"), dropped);
            }
            return;
        }
        Rule::Tagged(variants) => {
            let tag = value.get("type").and_then(Value::as_str);
            let variant = variants.iter().find(|(name, _)| Some(*name) == tag);
            variant.map_or(&[] as Fields, |(_, fields)| fields)
        }
        _ => return,
    };
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let is_tagged = matches!(rule, Rule::Tagged(_));
    object.retain(|key, value| {
        let known = fields.iter().find(|(name, ..)| name == key);
        match known {
            Some((name, _, rule)) if *name != "timestamp" => {
                rewrite(value, *rule, &format!("{path}/{key}"), dropped);
                true
            }
            None if is_tagged && key == "type" => true,
            _ => {
                dropped.push(format!("{path}/{key}"));
                false
            }
        }
    });
}

/// What a URL parser needs at least: a scheme and something after it.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    !rest.is_empty()
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
}
