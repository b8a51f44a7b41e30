//! What a run is called.

/// Most characters of a title.
const TITLE: usize = 200;

/// Returns what to call a run: what was asked, else what the runtime calls the session, else the command line.
#[must_use]
pub fn run_title(
    prompt: Option<&str>,
    session_title: Option<&str>,
    argv: Option<&[String]>,
) -> Option<String> {
    let said = [prompt, session_title].into_iter().flatten();
    let said = said.map(str::trim).find(|text| !text.is_empty());
    let title = match said {
        Some(said) => said.to_owned(),
        None => command_line(argv.filter(|argv| !argv.is_empty())?),
    };
    Some(title.chars().take(TITLE).collect())
}

/// Writes the words of a command line so that a shell would read them again.
#[must_use]
pub fn command_line(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let quoted = argv.iter().map(|word| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_called_by_what_says_most_of_it() {
        let argv = ["make".to_owned(), "it's on".to_owned()];
        let title = |prompt, session| run_title(prompt, session, Some(&argv));
        assert_eq!(title(Some("Fix it."), Some("Fixing")).unwrap(), "Fix it.");
        assert_eq!(title(Some(" \n"), Some("Fixing")).unwrap(), "Fixing");
        assert_eq!(title(None, None).unwrap(), r"make 'it'\''s on'");
        assert_eq!(run_title(None, None, None), None);
        assert_eq!(run_title(None, Some(""), Some(&[])), None);
    }
}
