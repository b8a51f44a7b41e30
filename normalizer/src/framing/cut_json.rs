//! JSON that was cut off: a kill ends a stream in the middle of a line, and some CLIs end their
//! report in the middle of a long answer. What came before the cut is still true.

/// Returns a JSON object that was cut anywhere with its end supplied.
///
/// A string value that the cut went through is closed if `keep_string`, and left out otherwise, as
/// is any other value that is not complete. `None` if `bytes` do not begin an object.
pub(crate) fn supply_end(bytes: &[u8], keep_string: bool) -> Option<Vec<u8>> {
    let mut scan = CutScan::default();
    scan.read(bytes)?;
    let mut whole = if keep_string && scan.in_string && scan.at_value {
        let mut whole = without_partial_character(bytes).to_vec();
        whole.push(b'"');
        whole
    } else {
        bytes.get(..scan.complete)?.to_vec()
    };
    whole.extend(scan.closing.iter().rev());
    Some(whole)
}

/// Where a reader stands in a JSON text.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a reader is in"
)]
struct CutScan {
    /// The brackets that are yet to come, innermost last.
    closing: Vec<u8>,
    in_string: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
    /// A value is due or under way, not a key.
    at_value: bool,
    /// A number or a word is under way.
    in_word: bool,
    /// The text up to here, with its brackets closed, is whole.
    complete: usize,
}

impl CutScan {
    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                self.read_in_string(at, byte);
            } else {
                self.read_outside(at, byte)?;
            }
        }
        (self.complete > 0).then_some(())
    }

    fn read_in_string(&mut self, at: usize, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.in_string = false;
                if self.at_value {
                    self.complete = at + 1;
                }
            }
            _ => {}
        }
    }

    fn read_outside(&mut self, at: usize, byte: u8) -> Option<()> {
        if self.in_word && matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
            self.in_word = false;
            self.complete = at;
        }
        match byte {
            b'{' | b'[' => {
                self.closing.push(if byte == b'{' { b'}' } else { b']' });
                self.at_value = byte == b'[';
                self.complete = at + 1;
            }
            b'}' | b']' => {
                if self.closing.pop() != Some(byte) {
                    return None;
                }
                self.complete = at + 1;
            }
            b'"' => self.in_string = true,
            b':' => self.at_value = true,
            b',' => self.at_value = self.closing.last() == Some(&b']'),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ if self.closing.is_empty() => return None,
            _ => self.in_word = true,
        }
        Some(())
    }
}

/// Leaves out an escape or a UTF-8 sequence that is not complete, or half of a surrogate pair.
fn without_partial_character(bytes: &[u8]) -> &[u8] {
    let bytes = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or_default()
        }
        _ => bytes,
    };
    let from = bytes.len().saturating_sub(6);
    let tail = bytes.get(from..).unwrap_or_default();
    let Some(escape) = tail
        .iter()
        .rposition(|byte| *byte == b'\\')
        .map(|at| from + at)
    else {
        return bytes;
    };
    // An even number of backslashes before it means that it begins the escape.
    let before = bytes.get(..escape).unwrap_or_default();
    let backslashes = before
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count();
    if backslashes % 2 == 1 {
        return bytes;
    }
    let is_partial = match bytes.get(escape + 1..).unwrap_or_default() {
        [] => true,
        [b'u', digits @ ..] => {
            digits.len() < 4
                || matches!(
                    digits,
                    [b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..]
                )
        }
        _ => false,
    };
    if is_partial { before } else { bytes }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ends(text: &str) -> (String, String) {
        let end = |keep| String::from_utf8(supply_end(text.as_bytes(), keep).unwrap()).unwrap();
        (end(true), end(false))
    }

    #[test]
    fn what_came_before_the_cut_is_kept() {
        let table = [
            ("{", "{}", "{}"),
            (r#"{"a"#, "{}", "{}"),
            (r#"{"a":"#, "{}", "{}"),
            (r#"{"a":"b"#, r#"{"a":"b"}"#, "{}"),
            (r#"{"a":"b","c"#, r#"{"a":"b"}"#, r#"{"a":"b"}"#),
            (r#"{"a":12"#, "{}", "{}"),
            (r#"{"a":12,"#, r#"{"a":12}"#, r#"{"a":12}"#),
            (
                r#"{"a":[1,{"b":"x"#,
                r#"{"a":[1,{"b":"x"}]}"#,
                r#"{"a":[1,{}]}"#,
            ),
            (r#"{"a":{"b":1}"#, r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
            (r#"{"a":"x\"#, r#"{"a":"x"}"#, "{}"),
            (r#"{"a":"x\\"#, r#"{"a":"x\\"}"#, "{}"),
            (r#"{"a":"x\u00"#, r#"{"a":"x"}"#, "{}"),
            (r#"{"a":"x\u00e9"#, r#"{"a":"x\u00e9"}"#, "{}"),
            (r#"{"a":"x\ud83d"#, r#"{"a":"x"}"#, "{}"),
            (r#"{"a":"x\\ud83d"#, r#"{"a":"x\\ud83d"}"#, "{}"),
        ];
        for (cut, kept, dropped) in table {
            assert_eq!(ends(cut), (kept.to_owned(), dropped.to_owned()), "{cut}");
        }
        assert_eq!(
            supply_end("{\"a\":\"é".as_bytes().split_last().unwrap().1, true).unwrap(),
            b"{\"a\":\"\"}"
        );
    }

    #[test]
    fn what_is_no_object_has_no_end() {
        for text in ["", "text", "  ", "{\"a\":1]"] {
            assert_eq!(supply_end(text.as_bytes(), true), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_object_cut_anywhere_is_json_again(cut in 1usize..60) {
            let text = r#"{"a":"b\n\u00e9","n":[1,-2.5,{"x":null}],"t":true,"é":"ü"}"#.as_bytes();
            let text = &text[..cut.min(text.len())];
            for keep in [true, false] {
                let whole = supply_end(text, keep).unwrap();
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&whole).is_ok());
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            supply_end(&bytes, true);
        }
    }
}
