//! Transcripts from lines: each gets an identity, an author, a kind and a place in time.

use super::entry::{
    TranscriptEntry, TranscriptEntryKind, TranscriptEntryRole, TranscriptEntrySource,
};
use super::fingerprint::{fingerprint, fnv1a};
use super::javascript::{number_text, trim};
use super::markdown::{is_tool_markdown, is_trace_markdown};
use super::turn_meta::{is_meta_markdown, parse_meta_markdown};

/// A line, and what is known about it beforehand.
#[derive(Clone, Copy, Debug)]
pub struct EntryLine<'a> {
    /// The line.
    pub line: &'a str,
    /// The session it belongs to.
    pub session_key: &'a str,
    /// How it got here.
    pub source: TranscriptEntrySource,
    /// Its place among lines of the same moment.
    pub sequence_key: f64,
    /// The run it belongs to.
    pub run_id: Option<&'a str>,
    /// Who it is from, if the line does not say.
    pub role: Option<TranscriptEntryRole>,
    /// What it holds, whatever the line says.
    pub kind: Option<TranscriptEntryKind>,
    /// When it was said, whatever the line says.
    pub timestamp_ms: Option<f64>,
    /// When it was said, if the line does not say.
    pub fallback_timestamp_ms: Option<f64>,
    /// What the row is known by, if not by its content.
    pub entry_id: Option<&'a str>,
    /// Whether the runtime has stored it; if not given, that is so for history.
    pub confirmed: Option<bool>,
}

/// Lines in a row, and what is known about all of them.
#[derive(Clone, Copy, Debug)]
pub struct EntryLines<'a, L> {
    /// The lines.
    pub lines: &'a [L],
    /// The session they belong to.
    pub session_key: &'a str,
    /// How they got here.
    pub source: TranscriptEntrySource,
    /// The run they belong to.
    pub run_id: Option<&'a str>,
    /// The number of the first line.
    pub start_sequence: f64,
    /// When the lines before the first `[[meta]]` line were said.
    pub default_timestamp_ms: Option<f64>,
    /// Whether the runtime has stored them.
    pub confirmed: Option<bool>,
    /// What their ids start with, if they are not to be made from the content.
    pub entry_id_prefix: Option<&'a str>,
}

/// The name of [`EntryLines`] in the protocol's documentation.
pub type BuildTranscriptEntriesFromLinesParams<'a, L> = EntryLines<'a, L>;

impl<'a> EntryLine<'a> {
    /// Describes a line of which nothing else is known.
    #[must_use]
    pub fn new(
        line: &'a str,
        session_key: &'a str,
        source: TranscriptEntrySource,
        sequence_key: f64,
    ) -> Self {
        Self {
            line,
            session_key,
            source,
            sequence_key,
            run_id: None,
            role: None,
            kind: None,
            timestamp_ms: None,
            fallback_timestamp_ms: None,
            entry_id: None,
            confirmed: None,
        }
    }
}

impl<'a, L: AsRef<str>> EntryLines<'a, L> {
    /// Describes lines of which nothing else is known.
    #[must_use]
    pub fn new(lines: &'a [L], session_key: &'a str, source: TranscriptEntrySource) -> Self {
        Self {
            lines,
            session_key,
            source,
            run_id: None,
            start_sequence: 0.0,
            default_timestamp_ms: None,
            confirmed: None,
            entry_id_prefix: None,
        }
    }
}

/// Makes an entry of a line; an empty line or a blank session gives none.
#[must_use]
pub fn create_transcript_entry_from_line(line: &EntryLine<'_>) -> Option<TranscriptEntry> {
    let session_key = trim(line.session_key);
    if line.line.is_empty() || session_key.is_empty() {
        return None;
    }
    let (kind, role) = kind_and_role(line);
    let timestamp_ms = line
        .timestamp_ms
        .filter(|timestamp| timestamp.is_finite())
        .or_else(|| parse_meta_markdown(line.line).map(|meta| meta.timestamp))
        .or(line.fallback_timestamp_ms);
    let run_id = non_blank(line.run_id);
    let fingerprint = fingerprint(role, kind, line.line, session_key, run_id, timestamp_ms);
    let entry_id = non_blank(line.entry_id).map_or_else(
        || {
            let source = line.source;
            let sequence = number_text(line.sequence_key);
            format!("{source}:{session_key}:{sequence}:{kind}:{fingerprint}")
        },
        str::to_owned,
    );
    Some(TranscriptEntry {
        entry_id,
        role,
        kind,
        text: line.line.to_owned(),
        session_key: session_key.to_owned(),
        run_id: run_id.map(str::to_owned),
        source: line.source,
        timestamp_ms,
        sequence_key: line.sequence_key,
        confirmed: line
            .confirmed
            .unwrap_or(line.source == TranscriptEntrySource::History),
        fingerprint,
    })
}

/// Makes entries of lines in a row, each dated by the last `[[meta]]` line before it.
///
/// Lines that give no entry still take a number.
#[must_use]
pub fn build_transcript_entries_from_lines<L: AsRef<str>>(
    lines: &EntryLines<'_, L>,
) -> Vec<TranscriptEntry> {
    let mut entries = Vec::with_capacity(lines.lines.len());
    let mut sequence_key = lines.start_sequence;
    let mut active_timestamp_ms = lines.default_timestamp_ms;
    for text in lines.lines.iter().map(AsRef::as_ref) {
        let entry_id = lines
            .entry_id_prefix
            .filter(|prefix| !prefix.is_empty())
            .map(|prefix| format!("{prefix}:{}:{}", number_text(sequence_key), fnv1a(text)));
        let mut line = EntryLine {
            run_id: lines.run_id,
            fallback_timestamp_ms: active_timestamp_ms,
            entry_id: entry_id.as_deref(),
            confirmed: lines.confirmed,
            ..EntryLine::new(text, lines.session_key, lines.source, sequence_key)
        };
        if let Some(meta) = parse_meta_markdown(text) {
            active_timestamp_ms = Some(meta.timestamp);
            line.timestamp_ms = active_timestamp_ms;
            line.role = Some(meta.role.into());
            line.kind = Some(TranscriptEntryKind::Meta);
        }
        entries.extend(create_transcript_entry_from_line(&line));
        sequence_key += 1.0;
    }
    entries
}

fn kind_and_role(line: &EntryLine<'_>) -> (TranscriptEntryKind, TranscriptEntryRole) {
    use TranscriptEntryKind as Kind;
    use TranscriptEntryRole as Role;

    if let Some(kind) = line.kind {
        return (kind, line.role.unwrap_or(kind.usual_role()));
    }
    if is_meta_markdown(line.line) {
        let stated = parse_meta_markdown(line.line).map(|meta| meta.role.into());
        return (Kind::Meta, stated.or(line.role).unwrap_or(Role::Other));
    }
    if trim(line.line).starts_with('>') {
        return (Kind::User, Role::User);
    }
    if is_trace_markdown(line.line) {
        return (Kind::Thinking, Role::Assistant);
    }
    if is_tool_markdown(line.line) {
        return (Kind::Tool, Role::Tool);
    }
    (Kind::Assistant, line.role.unwrap_or(Role::Assistant))
}

fn non_blank(text: Option<&str>) -> Option<&str> {
    text.map(trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use TranscriptEntryKind as Kind;
    use TranscriptEntryRole as Role;
    use TranscriptEntrySource as Source;

    use super::*;

    const META: &str = r#"[[meta]]{"role":"user","timestamp":1234}"#;

    fn line(text: &str) -> EntryLine<'_> {
        EntryLine::new(text, " s ", Source::RuntimeChat, 1.0)
    }

    fn created(line: &EntryLine<'_>) -> TranscriptEntry {
        create_transcript_entry_from_line(line).unwrap()
    }

    #[test]
    fn a_given_kind_overrides_the_line() {
        let system = Some(Role::System);
        let cases = [
            (META, Kind::Tool, system, Role::System),
            (META, Kind::Tool, None, Role::Tool),
            ("a", Kind::Meta, None, Role::Other),
            ("a", Kind::User, None, Role::User),
            ("[[tool]]", Kind::Assistant, None, Role::Assistant),
            ("> a", Kind::Thinking, None, Role::Assistant),
        ];
        for (text, kind, role, expected) in cases {
            let entry = created(&EntryLine {
                role,
                kind: Some(kind),
                ..line(text)
            });
            assert_eq!((entry.kind, entry.role), (kind, expected), "{text} {kind}");
        }
    }

    #[test]
    fn kind_and_role_follow_the_first_rule_that_fits() {
        let system = Some(Role::System);
        let cases = [
            (META, system, Kind::Meta, Role::User),
            ("[[meta]]x", system, Kind::Meta, Role::System),
            ("[[meta]]x", None, Kind::Meta, Role::Other),
            ("\u{feff} > a", system, Kind::User, Role::User),
            ("[[trace]]a", system, Kind::Thinking, Role::Assistant),
            ("[[tool]] a", system, Kind::Tool, Role::Tool),
            ("[[tool-result]]", None, Kind::Tool, Role::Tool),
            (" [[tool]] a", None, Kind::Assistant, Role::Assistant),
            ("a", system, Kind::Assistant, Role::System),
        ];
        for (text, role, expected_kind, expected_role) in cases {
            let entry = created(&EntryLine { role, ..line(text) });
            let found = (entry.kind, entry.role);
            assert_eq!(found, (expected_kind, expected_role), "{text}");
        }
    }

    #[test]
    fn timestamps_are_explicit_then_stated_then_fallen_back_to() {
        let cases = [
            ("explicit", META, Some(-1.0), Some(5.0), Some(-1.0)),
            (
                "not finite",
                META,
                Some(f64::INFINITY),
                Some(5.0),
                Some(1234.0),
            ),
            ("stated", META, None, Some(5.0), Some(1234.0)),
            ("fallback", "[[meta]]x", None, Some(5.0), Some(5.0)),
            ("none", "a", None, None, None),
        ];
        for (name, text, timestamp_ms, fallback_timestamp_ms, expected) in cases {
            let entry = created(&EntryLine {
                timestamp_ms,
                fallback_timestamp_ms,
                ..line(text)
            });
            assert_eq!(entry.timestamp_ms, expected, "{name}");
        }
    }

    #[test]
    fn text_stays_and_the_rest_is_trimmed() {
        let entry = created(&EntryLine {
            run_id: Some(" r "),
            ..line("  ")
        });
        assert_eq!(entry.text, "  ");
        assert_eq!(entry.session_key, "s");
        assert_eq!(entry.run_id.as_deref(), Some("r"));
        let blank_run = created(&EntryLine {
            run_id: Some("\u{feff}"),
            ..line("a")
        });
        assert_eq!(blank_run.run_id, None);
        assert_eq!(create_transcript_entry_from_line(&line("")), None);
        let no_session = EntryLine {
            session_key: "\u{a0}",
            ..line("a")
        };
        assert_eq!(create_transcript_entry_from_line(&no_session), None);
    }

    #[test]
    fn ids_are_given_or_made_from_the_content() {
        let cases = [
            (Some(" x "), 1.0, "x"),
            (Some(" "), 1.0, "runtime-chat:s:1:assistant:c869b07d"),
            (None, 1.5, "runtime-chat:s:1.5:assistant:c869b07d"),
            (None, 1e21, "runtime-chat:s:1e+21:assistant:c869b07d"),
        ];
        for (entry_id, sequence_key, expected) in cases {
            let entry = created(&EntryLine {
                sequence_key,
                entry_id,
                ..line("hi")
            });
            assert_eq!(entry.entry_id, expected);
        }
    }

    #[test]
    fn history_is_confirmed_unless_said_otherwise() {
        let cases = [
            (Source::History, None, true),
            (Source::History, Some(false), false),
            (Source::Legacy, None, false),
            (Source::LocalSend, Some(true), true),
        ];
        for (source, confirmed, expected) in cases {
            let entry = created(&EntryLine {
                source,
                confirmed,
                ..line("a")
            });
            assert_eq!(entry.confirmed, expected);
        }
    }

    #[test]
    fn lines_are_dated_by_the_meta_line_before_them() {
        let lines = ["a", "", META, "b", "[[meta]]x", "c"];
        let entries = build_transcript_entries_from_lines(&EntryLines {
            start_sequence: 7.0,
            default_timestamp_ms: Some(5.0),
            entry_id_prefix: Some(" p"),
            ..EntryLines::new(&lines, "s", Source::History)
        });
        let found: Vec<_> = entries
            .iter()
            .map(|entry| {
                (
                    entry.sequence_key,
                    entry.timestamp_ms,
                    entry.kind,
                    entry.role,
                )
            })
            .collect();
        let expected = [
            (7.0, Some(5.0), Kind::Assistant, Role::Assistant),
            (9.0, Some(1234.0), Kind::Meta, Role::User),
            (10.0, Some(1234.0), Kind::Assistant, Role::Assistant),
            (11.0, Some(1234.0), Kind::Meta, Role::Other),
            (12.0, Some(1234.0), Kind::Assistant, Role::Assistant),
        ];
        assert_eq!(found, expected);
        assert_eq!(entries[0].entry_id, format!("p:7:{}", fnv1a("a")));
    }

    #[test]
    fn an_empty_prefix_makes_ids_from_the_content() {
        let entries = build_transcript_entries_from_lines(&EntryLines {
            entry_id_prefix: Some(""),
            ..EntryLines::new(&["hi"], "s", Source::Legacy)
        });
        assert_eq!(entries[0].entry_id, "legacy:s:0:assistant:c869b07d");
    }
}
