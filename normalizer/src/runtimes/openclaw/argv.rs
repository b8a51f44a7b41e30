//! What a command line says of the session.

/// Returns the session that `--session KEY` or `--session-key KEY` names.
pub(super) fn session(argv: &[String]) -> Option<&str> {
    let mut words = argv.iter().map(String::as_str).skip(1);
    while let Some(word) = words.next() {
        match word {
            "--" => return None,
            "--session" | "--session-key" => {
                return words.next().filter(|key| !key.starts_with('-'));
            }
            _ => {
                let (flag, key) = word.split_once('=').unwrap_or((word, ""));
                if matches!(flag, "--session" | "--session-key") && !key.is_empty() {
                    return Some(key);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_the_word_behind_the_flag() {
        let table = [
            ("openclaw tui --session agent:main:a", Some("agent:main:a")),
            (
                "openclaw tui --session=agent:main:a x",
                Some("agent:main:a"),
            ),
            ("openclaw agent --message --session", None),
            ("openclaw agent --session --json", None),
            ("openclaw -- --session agent:main:a", None),
            ("--session", None),
            ("", None),
        ];
        for (line, expected) in table {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(session(&argv), expected, "{line}");
        }
    }
}
