//! What each format carries of the truth: the one place where that is stated.

use crate::captures::Capture;

/// Which texts of the model a format prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Every one, exactly.
    All,
    /// Every one, with markdown marks and line breaks lost.
    AllUnmarked,
    /// The last message's, exactly; of it perhaps only the last block.
    Last,
    /// The last message's, with markdown marks and line breaks lost.
    LastUnmarked,
    /// All of them run together, in order.
    Joined,
}

/// What a format prints of tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    /// Id, name, input and outcome.
    Full,
    /// Name, input and outcome: the ids are made by the CLI.
    WithoutIds,
    /// Name and, where it is printed, the outcome.
    Names,
    /// Nothing.
    None,
}

/// What a format carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    runtime: &'static str,
    format: &'static str,
    pub(super) texts: Texts,
    pub(super) thinking: Thinking,
    pub(super) calls: Calls,
    pub(super) usage: Usage,
    pub(super) session: bool,
}

impl Carried {
    /// Tells whether the format is one of a runtime.
    pub(super) fn is_of(&self, runtime: &str) -> bool {
        self.runtime == runtime
    }
}

/// What a format prints of the model's reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// All of it, exactly.
    All,
    /// All of it, broken into lines.
    Wrapped,
    /// Some of it, or none.
    Some,
}

/// What a format prints of the tokens used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// All counters.
    All,
    /// All but what was reasoning.
    WithoutReasoning,
    /// Nothing.
    None,
}

const fn carried(
    runtime: &'static str,
    format: &'static str,
    texts: Texts,
    thinking: Thinking,
    calls: Calls,
    usage: Usage,
    session: bool,
) -> Carried {
    Carried {
        runtime,
        format,
        texts,
        thinking,
        calls,
        usage,
        session,
    }
}

/// The table. Columns: texts, thinking, tool calls, usage, session id.
#[rustfmt::skip]
const CARRIED: &[Carried] = &[
    carried("claude-code", "stream-json",         Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("claude-code", "stream-json-partial", Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("claude-code", "json-verbose",        Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("claude-code", "json",                Texts::Last,         Thinking::Some,    Calls::None,       Usage::All,              true),
    carried("claude-code", "text",                Texts::Last,         Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("cursor",      "stream-json",         Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("cursor",      "partial",             Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("cursor",      "json",                Texts::Joined,       Thinking::Some,    Calls::None,       Usage::All,              true),
    carried("cursor",      "text",                Texts::Joined,       Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("gemini",      "stream-json",         Texts::All,          Thinking::Some,    Calls::WithoutIds, Usage::All,              true),
    carried("gemini",      "json",                Texts::Last,         Thinking::Some,    Calls::None,       Usage::All,              true),
    carried("gemini",      "text",                Texts::Joined,       Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("hermes",      "chat",                Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "color",               Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "tty",                 Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "skin",                Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "trunc",               Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "offmode",             Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::None,             true),
    carried("hermes",      "noreason",            Texts::AllUnmarked,  Thinking::Some,    Calls::Names,      Usage::None,             true),
    carried("hermes",      "v013-chat",           Texts::AllUnmarked,  Thinking::Some,    Calls::Names,      Usage::None,             true),
    carried("hermes",      "verbose",             Texts::AllUnmarked,  Thinking::Wrapped, Calls::Names,      Usage::WithoutReasoning, true),
    carried("hermes",      "nostream",            Texts::LastUnmarked, Thinking::Some,    Calls::Names,      Usage::None,             true),
    carried("hermes",      "quiet",               Texts::Last,         Thinking::Some,    Calls::None,       Usage::None,             true),
    carried("hermes",      "v013-quiet",          Texts::Last,         Thinking::Some,    Calls::None,       Usage::None,             true),
    carried("hermes",      "oneshot",             Texts::Last,         Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("hermes",      "lib",                 Texts::AllUnmarked,  Thinking::Some,    Calls::Names,      Usage::None,             false),
    carried("hermes",      "libspin",             Texts::AllUnmarked,  Thinking::Some,    Calls::Names,      Usage::None,             false),
    carried("hermes",      "sample",              Texts::AllUnmarked,  Thinking::Some,    Calls::Names,      Usage::None,             false),
    carried("openclaw",    "frames",              Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("codex",       "json",                Texts::All,          Thinking::All,     Calls::WithoutIds, Usage::All,              true),
    carried("codex",       "text",                Texts::Last,         Thinking::Some,    Calls::None,       Usage::None,             true),
    carried("opencode",    "json",                Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("opencode",    "json_nothinking",     Texts::All,          Thinking::Some,    Calls::Full,       Usage::All,              true),
    carried("opencode",    "text",                Texts::Joined,       Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("generic",     "text",                Texts::Joined,       Thinking::Some,    Calls::None,       Usage::None,             false),
    carried("generic",     "transcript",          Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("generic",     "events",              Texts::All,          Thinking::All,     Calls::Full,       Usage::All,              true),
    carried("hermes",      "acp",                 Texts::All,          Thinking::All,     Calls::Names,      Usage::All,              true),
];

/// Returns what the format of a capture carries.
pub(super) fn of(capture: &Capture) -> Carried {
    let row = CARRIED
        .iter()
        .find(|row| row.runtime == capture.runtime && row.format == capture.format);
    *row.unwrap_or_else(|| panic!("{}: no row in the table of formats", capture.name()))
}

/// What a single capture does not print although its format could, with the reason.
#[rustfmt::skip]
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // capture, what, why
    ("gemini/loop-text.", "texts", "the CLI drops the text that repeats"),
    ("gemini/loop-text.", "final", "the CLI drops the text that repeats"),
    ("gemini/loop-text.", "usage", "the CLI does not count a request that it cut"),
    ("claude-code/sigterm.stream-json", "final", "the message that was cut was never printed"),
    ("gemini/max-session-turns.json", "usage", "the error object on stderr has no stats"),
];

/// Tells whether something is not compared for a capture.
pub(super) fn is_exempt(capture: &Capture, what: &str) -> bool {
    let name = capture.name();
    EXCEPTIONS.iter().any(|(capture, field, _)| {
        let is_meant = name == *capture || (capture.ends_with('.') && name.starts_with(capture));
        is_meant && *field == what
    })
}

/// Captures that were killed or cut; only their last line may be unparsed.
const CUT: &[&str] = &[
    "sigterm",
    "sigkill",
    "sigint",
    "long-line.json",
    "cut",
    "truncated",
];

/// Tells whether a capture was killed or cut.
pub(super) fn is_cut(capture: &Capture) -> bool {
    let name = format!("{}.{}", capture.scenario, capture.format);
    CUT.iter().any(|cut| name.contains(cut))
}
