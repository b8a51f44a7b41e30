//! The lines that hermes prints for a tool call.

use super::session::tenths;
use super::tools;

/// What a tool line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolLine<'a> {
    /// The model begins to write a call of this tool.
    Preparing(&'a str),
    /// A diff follows.
    ReviewDiff,
    /// The model said this before its calls (library).
    Said(&'a str),
    /// A call is over.
    Done(Completion<'a>),
    /// A call begins (the customer's sample only).
    Begun(CallOpening<'a>),
}

/// A completion line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion<'a> {
    /// The tool, where the verb tells it.
    pub(super) tool: Option<&'static str>,
    /// What is printed in the place of the verb.
    pub(super) verb: &'a str,
    /// What the line tells of the input.
    pub(super) detail: &'a str,
    /// What the line tells of the output (the customer's sample only).
    pub(super) output: Option<&'a str>,
    /// How long the call took.
    pub(super) duration_ms: Option<u64>,
    /// How the call failed.
    pub(super) failure: Option<&'a str>,
}

/// A line that opens a call without ending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallOpening<'a> {
    /// The tool.
    pub(super) tool: &'static str,
    /// What the line tells of the input.
    pub(super) detail: &'a str,
}

/// A verb is padded to nine columns, and one more space follows it.
const PADDED: usize = 10;

/// What stands before a tool line, unless a skin changes it.
const MARK: char = '┊';

/// Reads a line of `hermes chat`. All of them are indented by two spaces.
pub(super) fn of_chat(line: &str) -> Option<ToolLine<'_>> {
    let rest = line.strip_prefix("  ")?;
    let (mark, rest) = split_first(rest)?;
    // A skin may have any mark, for completions only; letters and digits begin words.
    if mark.is_alphanumeric() || mark == ' ' {
        return None;
    }
    let rest = rest.strip_prefix(' ')?;
    if mark == MARK {
        if rest == "review diff" {
            return Some(ToolLine::ReviewDiff);
        }
        if let Some(name) = preparing(rest) {
            return Some(ToolLine::Preparing(name));
        }
    }
    let (body, duration_ms, failure) = split_end(rest, "  ")?;
    let done = completion(body, duration_ms, failure)?;
    // With a mark of its own a line is hermes' whatever the verb; with another one the verb tells.
    let known = done.tool.is_some() || body.starts_with('⚡');
    (mark == MARK || known).then_some(ToolLine::Done(done))
}

/// Tells whether a line is the first of a completion that goes on over several (0.16).
pub(super) fn opens_completion(line: &str) -> bool {
    let rest = line.trim_start_matches([' ', '\r']);
    if rest.len() == line.len() {
        return false;
    }
    let rest = rest.strip_prefix("[done] ").unwrap_or(rest);
    let Some((mark, rest)) = split_first(rest) else {
        return false;
    };
    let Some((emoji, rest)) = rest.strip_prefix(' ').and_then(|rest| rest.split_once(' ')) else {
        return false;
    };
    if mark.is_alphanumeric() || emoji.is_ascii() || ends_completion(line) {
        return false;
    }
    let rest = rest.trim_start();
    let (verb, padded) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    let pad = PADDED.saturating_sub(verb.chars().count()).max(1);
    let is_padded = padded.bytes().take_while(|byte| *byte == b' ').count() >= pad;
    let is_known = if emoji == "⚡" {
        mark == MARK && !verb.is_empty() && !padded.ends_with(" completed  done")
    } else {
        tools::of_verb(verb, "").is_some()
    };
    is_padded && is_known
}

/// Tells whether a line ends as a completion does: with the time it took, or how it failed.
pub(super) fn ends_completion(line: &str) -> bool {
    split_end(line, "  ").is_some() || split_end(strip_total(line), "  ").is_some()
}

/// The most bytes of a printed error: 48 characters, and the time that a spinner adds.
const MAX_FAILURE_BYTES: usize = 256;

/// Tells whether a text of several lines ends with the time of a call and an error that has line
/// breaks: `0.1s [Traceback (most recent call last):`, `  File "/t...]`.
pub(super) fn ends_failure(text: &str) -> bool {
    if !text.ends_with([']', ')']) {
        return false;
    }
    let from = text.len().saturating_sub(MAX_FAILURE_BYTES);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    let tail = from.and_then(|from| text.get(from..)).unwrap_or(text);
    let failure = |text| split_end(text, "  ").is_some_and(|(_, _, failure)| failure.is_some());
    failure(tail) || failure(strip_total(tail))
}

/// Tells whether a line says how many calls were run at once, which then follow.
pub(super) fn is_batch(rest: &str) -> bool {
    let numbers = rest
        .strip_prefix("⚡ ")
        .and_then(|rest| rest.split_once(" tools completed in "));
    let numbers = numbers.and_then(|(numbers, _)| numbers.split_once('/'));
    numbers.is_some_and(|(done, all)| done.parse::<u32>().is_ok() && all.parse::<u32>().is_ok())
}

/// Reads a line of the library, or of the customer's sample.
pub(super) fn of_library(line: &str) -> Option<ToolLine<'_>> {
    let rest = line.trim_start_matches([' ', '\r']);
    if let Some(rest) = rest.strip_prefix("[done] ") {
        let (_, rest) = split_first(rest)?;
        let rest = rest.strip_prefix(' ')?;
        // The spinner's own time comes last.
        let rest = strip_total(rest);
        let (body, duration_ms, failure) = split_end(rest, "  ")?;
        return Some(ToolLine::Done(completion(body, duration_ms, failure)?));
    }
    let rest = rest.strip_prefix(MARK)?.strip_prefix(' ')?;
    if let Some(text) = rest.strip_prefix("💬 ").or_else(|| rest.strip_prefix("💬")) {
        return Some(ToolLine::Said(text));
    }
    if let Some(name) = preparing(rest) {
        return Some(ToolLine::Preparing(name));
    }
    if rest == "review diff" {
        return Some(ToolLine::ReviewDiff);
    }
    if let Some(rest) = rest.strip_prefix("[done] ") {
        return sample_done(rest).map(ToolLine::Done);
    }
    if let Some((body, duration_ms, failure)) = split_any_end(rest) {
        let done = completion(body, duration_ms, failure)?;
        let known = done.tool.is_some() || !body.is_ascii();
        return known.then_some(ToolLine::Done(done));
    }
    let (verb, detail) = rest.split_once(' ').unwrap_or((rest, ""));
    let tool = tools::of_verb(verb, detail)?;
    Some(ToolLine::Begun(CallOpening { tool, detail }))
}

/// Reads `[done] $ ls — /src  0.3s`: the input, a dash, the output, the time.
fn sample_done(rest: &str) -> Option<Completion<'_>> {
    let (body, duration_ms, failure) = split_any_end(rest).unwrap_or((rest, None, None));
    let (verb, detail) = body.split_once(' ').unwrap_or((body, ""));
    let (detail, output) = match detail.strip_prefix("— ") {
        Some(output) => ("", Some(output)),
        None => match detail.split_once(" — ") {
            Some((detail, output)) => (detail, Some(output)),
            None => (detail, None),
        },
    };
    let tool = Some(tools::of_verb(verb, detail)?);
    Some(Completion {
        tool,
        verb,
        detail,
        output,
        duration_ms,
        failure,
    })
}

fn preparing(rest: &str) -> Option<&str> {
    let (_, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix("preparing ")?.strip_suffix('…')?;
    (!name.is_empty() && !name.contains(' ')).then_some(name)
}

/// Reads `<emoji> <verb padded to 9> <detail>`.
fn completion<'a>(
    body: &'a str,
    duration_ms: Option<u64>,
    failure: Option<&'a str>,
) -> Option<Completion<'a>> {
    let (first, rest) = body.split_once(' ').unwrap_or((body, ""));
    let (emoji, rest) = if first.is_ascii() {
        (None, body)
    } else {
        (Some(first), rest.trim_start())
    };
    let (verb, padded) = rest.split_at_checked(rest.find(' ').unwrap_or(rest.len()))?;
    if verb.is_empty() {
        return None;
    }
    let pad = PADDED.saturating_sub(verb.chars().count()).max(1);
    let pad = padded
        .bytes()
        .take(pad)
        .take_while(|byte| *byte == b' ')
        .count();
    let detail = padded.get(pad..).unwrap_or_default();
    let generic = emoji == Some("⚡");
    // What is printed when a line could not be made says nothing of the input.
    let detail = if generic && padded == "  completed" {
        ""
    } else {
        detail
    };
    let tool = if generic {
        None
    } else {
        tools::of_verb(verb, detail)
    };
    Some(Completion {
        tool,
        verb,
        detail,
        output: None,
        duration_ms,
        failure,
    })
}

/// Splits time and failure from the end of a line: the detail before them is free text.
fn split_end<'a>(line: &'a str, gap: &str) -> Option<(&'a str, Option<u64>, Option<&'a str>)> {
    if let Some((body, ms)) = split_time(line, gap) {
        return Some((body, Some(ms), None));
    }
    let inner = line.strip_suffix(']')?;
    let mut end = inner.len();
    while let Some(at) = inner.get(..end)?.rfind("s [") {
        if let Some((body, ms)) = split_time(inner.get(..=at)?, gap) {
            return Some((body, Some(ms), inner.get(at + 3..)));
        }
        end = at;
    }
    None
}

/// The same for lines that were printed, or copied, with one space where hermes has two.
fn split_any_end(line: &str) -> Option<(&str, Option<u64>, Option<&str>)> {
    split_end(line, "  ").or_else(|| split_end(line, " "))
}

fn split_time<'a>(line: &'a str, gap: &str) -> Option<(&'a str, u64)> {
    let space = line.rfind(' ')?;
    let ms = tenths(line.get(space + 1..)?)?;
    let body = line.get(..=space)?.strip_suffix(gap)?;
    Some((body, ms))
}

fn strip_total(line: &str) -> &str {
    let total = line
        .strip_suffix(')')
        .and_then(|line| line.rsplit_once(" ("));
    total
        .filter(|(_, total)| tenths(total).is_some())
        .map_or(line, |(line, _)| line)
}

fn split_first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    Some((first, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read<'a> = (
        Option<&'a str>,
        &'a str,
        &'a str,
        Option<u64>,
        Option<&'a str>,
    );

    fn done(line: &str) -> Option<Read<'_>> {
        match of_chat(line).or_else(|| of_library(line))? {
            ToolLine::Done(done) => Some((
                done.tool,
                done.verb,
                done.detail,
                done.duration_ms,
                done.failure,
            )),
            _ => None,
        }
    }

    #[test]
    fn an_error_with_line_breaks_ends_its_line() {
        let begun = "  ┊ 🐍 exec      import sys  0.1s [Traceback (most recent call last):";
        assert!(opens_completion(begun) && !ends_failure(begun));
        for end in ["\n  File \"/t...]", "\n  File \"/t...] (0.5s)"] {
            assert!(ends_failure(&format!("{begun}{end}")), "{end}");
        }
        assert!(!ends_failure("  ┊ 🐍 exec      x[0]\ny[1]"));
    }

    #[test]
    fn time_and_failure_are_read_from_the_end() {
        let table = [
            (
                "  ┊ 💻 $         sleep 10s  1.0s  0.3s",
                (Some("terminal"), "$", "sleep 10s  1.0s", Some(300), None),
            ),
            (
                "  ┊ 💻 $         echo '  0.3s [exit 1]'  0.0s [exit 2]",
                (
                    Some("terminal"),
                    "$",
                    "echo '  0.3s [exit 1]'",
                    Some(0),
                    Some("exit 2"),
                ),
            ),
            (
                "  ┊ 💻 $         echo [exit 3]  0.1s",
                (Some("terminal"), "$", "echo [exit 3]", Some(100), None),
            ),
            (
                "  ┊ 🔎 grep      [unclosed  0.2s [Search failed: grep: Unmatched [, [^, [:, [.,...]",
                (
                    Some("search_files"),
                    "grep",
                    "[unclosed",
                    Some(200),
                    Some("Search failed: grep: Unmatched [, [^, [:, [.,..."),
                ),
            ),
            (
                "  ┊ ✍️  write     out/new file.txt  0.2s",
                (
                    Some("write_file"),
                    "write",
                    "out/new file.txt",
                    Some(200),
                    None,
                ),
            ),
            (
                "  ┊ ◀️  back      0.1s",
                (Some("browser_back"), "back", "", Some(100), None),
            ),
            (
                "  ┊ ↓  scroll    down  0.1s",
                (Some("browser_scroll"), "scroll", "down", Some(100), None),
            ),
            (
                "  ╎ 💻 $         echo 1  0.1s",
                (Some("terminal"), "$", "echo 1", Some(100), None),
            ),
            (
                "  ┊ ⚡ mcp_githu x  0.1s",
                (None, "mcp_githu", "x", Some(100), None),
            ),
            (
                "  ┊ ⚡ read      x  0.1s",
                (None, "read", "x", Some(100), None),
            ),
            (
                "  ┊ 🧪 rl        list  0.1s",
                (None, "rl", "list", Some(100), None),
            ),
            (
                "  ┊ ⚡ mcp_github_list  completed  0.1s",
                (None, "mcp_github_list", "", Some(100), None),
            ),
            (
                "  ┊ 💻 $           indented  0.1s",
                (Some("terminal"), "$", "  indented", Some(100), None),
            ),
            (
                "  [done] ┊ 📖 read      x.txt  0.1s [File not found: x.txt] (0.5s)",
                (
                    Some("read_file"),
                    "read",
                    "x.txt",
                    Some(100),
                    Some("File not found: x.txt"),
                ),
            ),
            (
                "  [done] ┊ 💻 $         echo (0.5s)  0.8s (1.0s)",
                (Some("terminal"), "$", "echo (0.5s)", Some(800), None),
            ),
            (
                "┊ 🔍 search \"pattern\" 0.5s",
                (Some("web_search"), "search", "\"pattern\"", Some(500), None),
            ),
        ];
        for (line, expected) in table {
            assert_eq!(done(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_are_no_tool_lines() {
        for line in [
            "  ┊ 💻 $         no time",
            "  ┊ v1.2.3s",
            "  ✅ Tool 1 completed in 0.20s",
            "  ✓ [2/2] goal  (0.7s)",
            "    ┊ 💻 $         rm -rf /tmp/x  0.3s",
            "  a 💻 $         x  0.1s",
            "┊",
            "",
        ] {
            assert_eq!(of_chat(line), None, "{line}");
        }
        assert_eq!(of_library("The project is a CLI tool.  0.3s"), None);
    }

    #[test]
    fn a_completion_of_several_lines_is_known_by_its_first_and_its_last() {
        for line in [
            "  ┊ 💻 $         cat > x <<EOF",
            "  ╎ 💻 $         for i in 1 2",
            "  [done] ┊ 💻 $         a",
            "  ┊ ⚡ mcp__fake first",
        ] {
            assert!(opens_completion(line), "{line}");
        }
        for line in [
            "  ┊ 💻 $         ls  0.1s",
            "  ┊ 💻 preparing terminal…",
            "  ┊ review diff",
            "  ┊ 💬 Said.",
            "┊ 💻 $         ls",
            "  ┊ ⚡ x         completed  done",
            "  ✅ Tool 1 completed",
            "  ⚠ tirith   x",
        ] {
            assert!(!opens_completion(line), "{line}");
        }
        for line in ["EOF  0.3s", "  0.0s", "x  0.1s [exit 2]", "x  0.8s (1.0s)"] {
            assert!(ends_completion(line), "{line}");
        }
        for line in ["EOF", "sleep 0.3s", "[exit 2]"] {
            assert!(!ends_completion(line), "{line}");
        }
        let whole = "  ┊ 💻 $         echo a\n  echo b  0.1s [exit 1]";
        let read = (
            Some("terminal"),
            "$",
            "echo a\n  echo b",
            Some(100),
            Some("exit 1"),
        );
        assert_eq!(done(whole), Some(read));
    }

    #[test]
    fn calls_open_with_preparing() {
        let line = "  ┊ ✍️ preparing write_file…";
        assert_eq!(of_chat(line), Some(ToolLine::Preparing("write_file")));
        assert_eq!(of_chat("  ┊ review diff"), Some(ToolLine::ReviewDiff));
        assert_eq!(of_chat("  ╎ 💻 preparing terminal…"), None);
    }

    #[test]
    fn the_customers_sample_opens_and_ends_calls() {
        let begun = CallOpening {
            tool: "terminal",
            detail: "ls /home",
        };
        assert_eq!(of_library("┊ $ ls /home"), Some(ToolLine::Begun(begun)));
        assert_eq!(
            of_library("┊ 💬 Thinking"),
            Some(ToolLine::Said("Thinking"))
        );
        let Some(ToolLine::Done(done)) = of_library("┊ [done] read — Project: a tool...  1.2s")
        else {
            panic!("a completion")
        };
        assert_eq!(done.tool, Some("read_file"));
        assert_eq!((done.detail, done.output), ("", Some("Project: a tool...")));
        assert_eq!(done.duration_ms, Some(1200));
    }

    #[test]
    fn a_long_line_of_brackets_is_quick() {
        let line = format!("  ┊ 💻 $ {}]", "0.1s [".repeat(200_000));
        let began = std::time::Instant::now();
        of_chat(&line);
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
}
