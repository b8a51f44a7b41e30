//! Ids in output: where they are, and new ones of the same form.

use std::collections::BTreeSet;
use std::ops::Range;

use super::letters::{Letter, text_of};
use super::random::Random;

/// What ids of messages, calls and requests begin with, the longer ones first.
const PREFIXES: &[&str] = &[
    "toolu_bdrk_",
    "toolu_vrtx_",
    "srvtoolu_",
    "toolu_",
    "call_",
    "msg_",
    "req_",
    "fc_",
];
/// What ids of opencode begin with.
const TIMED: &[&str] = &["ses_", "prt_", "msg_"];
/// Keys of ids without a form of their own; such an id is known wherever it is met again.
const ID_KEYS: &[&str] = &[
    "agentId",
    "agent_id",
    "backgroundTaskId",
    "run_id",
    "task_id",
];

const HEXADECIMAL: &str = "0123456789abcdef";
const DECIMAL: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The form of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// 8-4-4-4-12 hexadecimal digits.
    Uuid,
    /// A prefix and random letters and digits.
    Prefixed(&'static str),
    /// A prefix, twelve hexadecimal digits and fourteen letters and digits, as opencode names things.
    Timed(&'static str),
    /// A date, a time and six hexadecimal digits, as hermes names its sessions.
    Session,
    /// Milliseconds since 1970 inside a longer id, as gemini numbers its calls.
    Milliseconds,
    /// No form but that of the id itself.
    Like(String),
}

impl Form {
    /// Makes a new id.
    pub(super) fn make(&self, random: &mut Random) -> String {
        match self {
            Self::Uuid => "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx"
                .chars()
                .map(|c| {
                    if c == 'x' {
                        random.pick(HEXADECIMAL)
                    } else {
                        c
                    }
                })
                .collect(),
            Self::Prefixed(prefix) => {
                let mut id = format!("{prefix}01");
                id.extend((0..22).map(|_| random.pick(ALPHANUMERIC)));
                id
            }
            Self::Timed(prefix) => {
                let mut id = (*prefix).to_owned();
                id.extend((0..12).map(|_| random.pick(HEXADECIMAL)));
                id.extend((0..14).map(|_| random.pick(ALPHANUMERIC)));
                id
            }
            Self::Session => {
                let (month, day) = (1 + random.below(12), 1 + random.below(28));
                let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
                let mut id = format!("2026{month:02}{day:02}_{hour:02}{minute:02}{second:02}_");
                id.extend((0..6).map(|_| random.pick(HEXADECIMAL)));
                id
            }
            Self::Milliseconds => (1_700_000_000_000 + random.below(100_000_000_000)).to_string(),
            Self::Like(id) => {
                let hexadecimal = id.chars().all(|c| c.is_ascii_hexdigit());
                id.chars()
                    .map(|c| match c {
                        _ if hexadecimal => random.pick(HEXADECIMAL),
                        '0'..='9' => random.pick(DECIMAL),
                        'a'..='z' => random.pick(LOWER),
                        other => other,
                    })
                    .collect()
            }
        }
    }
}

/// Returns the id that a key's value is, where it can be told by the key alone.
pub(super) fn by_key(key: &str, letters: &[Letter]) -> Option<String> {
    let id = text_of(letters);
    let long = id.len() >= 6 && id.bytes().any(|byte| byte.is_ascii_digit());
    (ID_KEYS.contains(&key) && long).then_some(id)
}

/// Finds the ids in text, in order.
pub(super) fn find(letters: &[Letter], known: &BTreeSet<String>) -> Vec<(Range<usize>, Form)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut inside = false;
    while let Some((first, _)) = letters.get(at..).and_then(<[Letter]>::split_first) {
        let rest = letters.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let (length, form) = if inside {
            None
        } else {
            read(rest, before, known)
        }
        .unzip();
        let length = length.unwrap_or(1);
        if let Some(form) = form {
            found.push((at..at + length, form));
        }
        inside = first.value.is_ascii_alphanumeric();
        at += length;
    }
    found
}

/// Reads an id from where a word begins.
fn read(
    rest: &[Letter],
    before: Option<&Letter>,
    known: &BTreeSet<String>,
) -> Option<(usize, Form)> {
    if shaped(rest, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Some((36, Form::Uuid));
    }
    if shaped(rest, "dddddddd_dddddd_xxxxxx") {
        return Some((22, Form::Session));
    }
    let number = "ddddddddddddd";
    if before.is_some_and(|letter| letter.value == '_')
        && shaped(rest, number)
        && rest
            .get(number.len())
            .is_some_and(|letter| letter.value == '_')
    {
        return Some((number.len(), Form::Milliseconds));
    }
    let word = rest
        .iter()
        .take_while(|letter| letter.value.is_ascii_alphanumeric() || "_-".contains(letter.value));
    let word: String = word.map(|letter| letter.value).collect();
    if known.contains(&word) {
        return Some((word.len(), Form::Like(word)));
    }
    let timed = TIMED.iter().find(|prefix| {
        let after = rest.get(prefix.len()..).unwrap_or_default();
        word.starts_with(*prefix)
            && word.len() == prefix.len() + 26
            && shaped(after, "xxxxxxxxxxxx")
    });
    if let Some(prefix) = timed {
        return Some((word.len(), Form::Timed(prefix)));
    }
    let (prefix, tail) = PREFIXES
        .iter()
        .find_map(|prefix| Some((*prefix, word.strip_prefix(prefix)?)))?;
    let tail: String = tail
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let after = rest.get(prefix.len()..).unwrap_or_default();
    let random = tail.len() >= 4 && tail.bytes().any(|byte| byte.is_ascii_digit());
    let wraps_another = shaped(after, "xxxxxxxx-xxxx-");
    (random && !wraps_another).then_some((prefix.len() + tail.len(), Form::Prefixed(prefix)))
}

/// Tells whether text begins like a pattern: `x` is a hexadecimal digit, `d` a decimal one.
fn shaped(letters: &[Letter], pattern: &str) -> bool {
    letters.len() >= pattern.len()
        && letters
            .iter()
            .zip(pattern.chars())
            .all(|(letter, wanted)| match wanted {
                'x' => matches!(letter.value, '0'..='9' | 'a'..='f'),
                'd' => letter.value.is_ascii_digit(),
                other => letter.value == other,
            })
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a wrong place is to fail the test")]
mod tests {
    use super::super::letters::letters;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let known = BTreeSet::from(["b1pg4yqu8".to_owned()]);
        let found = find(&letters(text, 0), &known);
        found
            .into_iter()
            .map(|(range, _)| text[range].to_owned())
            .collect()
    }

    #[test]
    fn ids_are_found_wherever_they_are() {
        for (text, ids) in [
            (
                "id a416e42b-e86c-48ee-9906-fc5656ccb7b2.",
                vec!["a416e42b-e86c-48ee-9906-fc5656ccb7b2"],
            ),
            (
                "call-094a73d0-8cbc-44df-90da-c85201dccd81-0\nfc_0dbef4d0-bb35-9541-a424-49fbe4e794d7_0",
                vec![
                    "094a73d0-8cbc-44df-90da-c85201dccd81",
                    "0dbef4d0-bb35-9541-a424-49fbe4e794d7",
                ],
            ),
            (
                "msg_fake0001 toolu_bdrk_01EKXz",
                vec!["msg_fake0001", "toolu_bdrk_01EKXz"],
            ),
            (
                "write_file__write_file_1794787902519_0",
                vec!["1794787902519"],
            ),
            ("read_file__call_par01", vec!["call_par01"]),
            (
                "--resume 20261115_234656_5eb98f",
                vec!["20261115_234656_5eb98f"],
            ),
            ("task b1pg4yqu8 and xb1pg4yqu8", vec!["b1pg4yqu8"]),
            ("call_tools, call_id, 1794787902519", vec![]),
        ] {
            assert_eq!(found(text), ids, "{text}");
        }
    }

    #[test]
    fn new_ids_have_the_form_of_the_old_ones() {
        let mut random = Random::new(3);
        for form in [
            Form::Uuid,
            Form::Prefixed("toolu_"),
            Form::Timed("ses_"),
            Form::Session,
            Form::Like("ae28b23a938c6f83c".into()),
        ] {
            let known = BTreeSet::from(["ae28b23a938c6f83c".to_owned()]);
            let id = form.make(&mut random);
            assert_ne!(id, form.make(&mut random));
            if !matches!(form, Form::Like(_)) {
                assert_eq!(find(&letters(&id, 0), &known), [(0..id.len(), form)]);
            }
        }
    }
}
