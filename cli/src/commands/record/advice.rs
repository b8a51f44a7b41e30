//! What a person should know before a recording begins.

use runtape_core::Runtime;
use runtape_normalizer::runtimes::{Carried, OutputFormat, RuntimeEntry, best, entry_for};

/// Returns a line to print before the command is started, if there is something to say: that nobody
/// knows the program, or that another output format tells more.
pub(super) fn advice(runtime: Option<&Runtime>, argv: &[String]) -> Option<String> {
    let Some(runtime) = runtime else {
        let program = argv.first()?;
        return Some(format!(
            "{program} is no runtime that is known: recorded as generic unless its first lines tell an agent, see --runtime"
        ));
    };
    let entry = entry_for(runtime)?;
    let (asked, best) = (asked_for(entry, argv)?, best(entry.formats)?);
    let is_missed = |what: &Carried| best.carries.contains(what) && !asked.carries.contains(what);
    let missed = [(Carried::Calls, "tool calls"), (Carried::Tokens, "tokens")];
    let missed = missed.iter().filter(|(what, _)| is_missed(what));
    let missed: Vec<&str> = missed.map(|(_, name)| *name).collect();
    (!missed.is_empty()).then(|| {
        format!(
            "{runtime} tells no {} in its {} format: {} does",
            missed.join(" and no "),
            asked.name,
            best.flags
        )
    })
}

/// Returns the format that a command line asks for, where that is plain to see: by its flags, or the
/// first one where all formats are asked for by the same flag, which is not among the words that are there.
fn asked_for(entry: &RuntimeEntry, argv: &[String]) -> Option<&'static OutputFormat> {
    let words: Vec<&str> = argv.iter().flat_map(|word| word.splitn(2, '=')).collect();
    let is_asked = |format: &&OutputFormat| {
        let mut flags = format.flags.split_whitespace().peekable();
        flags.peek().is_some() && flags.all(|flag| words.contains(&flag))
    };
    let asked = entry.formats.iter().filter(is_asked);
    let asked = asked.max_by_key(|format| format.flags.split_whitespace().count());
    asked.or_else(|| {
        let mut flags = entry
            .formats
            .iter()
            .map(|format| format.flags.split(' ').next());
        let first = flags.next()??;
        let is_default = argv.len() > 1
            && first.starts_with("--")
            && flags.all(|flag| flag == Some(first))
            && !words.contains(&first);
        entry.formats.first().filter(|_| is_default)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(runtime: &Runtime, line: &str) -> Option<String> {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        advice(Some(runtime), &argv)
    }

    #[test]
    fn a_format_that_tells_less_is_named_with_the_flags_of_the_best() {
        let text = said(&Runtime::ClaudeCode, "claude -p Hi").unwrap();
        assert_eq!(
            text,
            "claude-code tells no tool calls and no tokens in its text format: \
             --output-format stream-json --verbose does"
        );
        let json = said(&Runtime::Gemini, "gemini -p Hi --output-format=json").unwrap();
        assert!(json.contains("no tool calls in its json format"), "{json}");
        for line in [
            "claude -p Hi --output-format stream-json --verbose",
            "claude -p Hi --output-format something-new",
        ] {
            assert_eq!(said(&Runtime::ClaudeCode, line), None, "{line}");
        }
        assert_eq!(said(&Runtime::Hermes, "hermes -z Hi"), None);
        assert_eq!(said(&Runtime::Generic, "./agent"), None);
    }

    #[test]
    fn a_program_that_nobody_knows_is_named() {
        let argv = ["./agent.sh".to_owned()];
        let said = advice(None, &argv).unwrap();
        assert!(
            said.contains("./agent.sh") && said.contains("--runtime"),
            "{said}"
        );
    }
}
