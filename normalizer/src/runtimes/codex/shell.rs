//! Commands as the CLI prints them: words, quoted where a shell would want it.

/// Returns the script that a command has a shell run, as in `/bin/bash -lc 'echo 1'`; the whole
/// command if it is anything else.
pub(super) fn script(command: &str) -> String {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'/';
    if !first.is_empty() && first.bytes().all(is_bare) {
        if !is_shell(first) {
            return command.to_owned();
        }
        if let Some(script) = only_script(rest) {
            return script.to_owned();
        }
    }
    let mut words = words(command);
    if let Some([shell, flag, script]) = words.as_deref_mut()
        && matches!(flag.as_str(), "-lc" | "-c")
        && is_shell(shell)
    {
        return std::mem::take(script);
    }
    command.to_owned()
}

/// Returns the script that a shell is given as nearly all are: behind one flag, in one pair of single
/// quotes.
fn only_script(rest: &str) -> Option<&str> {
    let flags = ["-lc '", "-c '"];
    let rest = flags.iter().find_map(|flag| rest.strip_prefix(flag))?;
    let script = rest.strip_suffix('\'')?;
    (!script.contains('\'')).then_some(script)
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&word.rsplit('/').next().unwrap_or(word))
}

const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "fish"];

/// Splits a command into the words that a shell would see, as it was joined from them; none if it
/// was not joined from words.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let (quoted, after) = rest.as_str().split_once('\'')?;
                word.get_or_insert_default().push_str(quoted);
                rest = after.chars();
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => match rest.next()? {
                            escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                            '\n' => {}
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => match rest.next()? {
                '\n' => {}
                escaped => word.get_or_insert_default().push(escaped),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// Joins words to a command as the CLI prints it.
pub(super) fn joined(words: &[&str]) -> String {
    let mut command = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            command.push(' ');
        }
        push_quoted(word, &mut command);
    }
    command
}

/// How a piece of a word can be written: bare, in single or in double quotes.
#[derive(Clone, Copy, Debug)]
struct Quoting {
    bare: bool,
    single: bool,
    double: bool,
}

impl Quoting {
    const ANY: Self = Self {
        bare: true,
        single: true,
        double: true,
    };

    /// Returns in which of these ways the piece can go on with a character.
    fn with(self, next: char) -> Self {
        let is_plain = next.is_ascii_alphanumeric() || "+-./:@]_".contains(next);
        Self {
            bare: self.bare && is_plain,
            single: self.single && !matches!(next, '\'' | '^' | '\\'),
            double: self.double && !matches!(next, '`' | '$' | '!' | '^'),
        }
    }

    fn is_possible(self) -> bool {
        self.bare || self.single || self.double
    }
}

/// Writes a word as pieces, each as long as one way of quoting reaches.
fn push_quoted(word: &str, command: &mut String) {
    if word.is_empty() {
        command.push_str("''");
    }
    let mut rest = word;
    while !rest.is_empty() {
        let mut quoting = Quoting::ANY;
        let mut end = 0;
        for (at, next) in rest.char_indices() {
            // A caret may stand in single quotes, right after the first of them.
            let wider = if at == 0 && next == '^' {
                Quoting {
                    bare: false,
                    single: true,
                    double: false,
                }
            } else {
                quoting.with(next)
            };
            if !wider.is_possible() {
                break;
            }
            quoting = wider;
            end = at + next.len_utf8();
        }
        let Some((piece, after)) = rest.split_at_checked(end) else {
            return;
        };
        if quoting.bare {
            command.push_str(piece);
        } else if quoting.single {
            command.extend(["'", piece, "'"]);
        } else {
            command.push('"');
            for next in piece.chars() {
                if matches!(next, '"' | '\\') {
                    command.push('\\');
                }
                command.push(next);
            }
            command.push('"');
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_script_of_a_shell_is_the_command_and_anything_else_stays_as_it_is() {
        let table = [
            ("/bin/bash -lc 'echo 1'", "echo 1"),
            ("/bin/bash -lc ls", "ls"),
            (r#"bash -lc "echo '\$x' \"a\"""#, "echo '$x' \"a\""),
            (r#"/bin/zsh -c "printf '\\033[31m'""#, r"printf '\033[31m'"),
            ("bash -lc 'a'\\''b'", "a'b"),
            ("bash -lc 'two\nlines'", "two\nlines"),
            ("bash -lc ''", ""),
            ("bash -x script.sh", "bash -x script.sh"),
            ("bash -lc one two", "bash -lc one two"),
            ("bash -lc 'open", "bash -lc 'open"),
            ("/usr/bin/env -c ls", "/usr/bin/env -c ls"),
            ("", ""),
        ];
        for (command, expected) in table {
            assert_eq!(script(command), expected, "{command}");
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_wants_it() {
        let table: [(&[&str], &str); 7] = [
            (&["/bin/bash", "-lc", "echo 1"], "/bin/bash -lc 'echo 1'"),
            (&["/bin/bash", "-lc", "no-such"], "/bin/bash -lc no-such"),
            (&["bash", "-lc", "echo 'a'"], "bash -lc \"echo 'a'\""),
            (&["a", ""], "a ''"),
            (&["it's $x"], "\"it's \"'$x'"),
            (&["a\\b"], "\"a\\\\b\""),
            (&["^a"], "'^a'"),
        ];
        for (words, expected) in table {
            assert_eq!(joined(words), expected);
        }
    }

    proptest! {
        #[test]
        fn what_was_joined_is_split_into_the_same_words(list in prop::collection::vec(".{0,12}", 1..4)) {
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            prop_assert_eq!(words(&joined(&list)).unwrap(), list);
        }
    }
}
