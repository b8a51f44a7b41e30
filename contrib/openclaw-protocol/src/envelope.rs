//! What channels and hosts wrap around a person's words.

use super::javascript::{starts_at_word_boundary, trim_start};

/// The channels that sign an envelope with their name, spelled as they spell it.
const CHANNELS: [&str; 9] = [
    "WebChat", "WhatsApp", "Telegram", "Signal", "Slack", "Discord", "iMessage", "Teams", "Matrix",
];

/// The instruction that hosts append to a prompt. Compared byte for byte, so kept as data.
const APPROVAL_POLICY: &str = include_str!("approval_policy.txt");

/// Removes a leading `[channel, sender, time]` header, if it is one, with the space after it.
pub(crate) fn strip_envelope(text: &str) -> &str {
    let Some((header, rest)) = text
        .strip_prefix('[')
        .and_then(|inside| inside.split_once(']'))
    else {
        return text;
    };
    if is_envelope_header(header) {
        trim_start(rest)
    } else {
        text
    }
}

/// Removes the approval policy where it closes `text` after a blank line.
pub(crate) fn strip_approval_policy(text: &str) -> &str {
    text.strip_suffix(APPROVAL_POLICY.trim_end())
        .and_then(|question| question.strip_suffix("\n\n"))
        .unwrap_or(text)
}

fn is_envelope_header(header: &str) -> bool {
    let from_channel = CHANNELS.iter().any(|channel| {
        header
            .strip_prefix(channel)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    from_channel
        || contains_moment(header, b"dddd-dd-ddTdd:ddZ")
        || contains_moment(header, b"dddd-dd-dd dd:dd")
}

/// Returns whether `header` holds a moment of the given shape, `d` being a digit, as a whole word.
fn contains_moment(header: &str, shape: &[u8]) -> bool {
    let bytes = header.as_bytes();
    bytes
        .windows(shape.len())
        .enumerate()
        .any(|(start, window)| {
            let fits = window
                .iter()
                .zip(shape)
                .all(|(byte, expected)| match expected {
                    b'd' => byte.is_ascii_digit(),
                    literal => byte == literal,
                });
            fits && starts_at_word_boundary(bytes.get(start + shape.len()..).unwrap_or_default())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_told_by_their_header() {
        let cases = [
            ("channel", "[Slack u] hi", "hi"),
            ("whitespace after", "[Teams x]\u{a0}\n hi ", "hi "),
            ("channel case matters", "[slack u] hi", "[slack u] hi"),
            ("channel needs a space", "[Slack] hi", "[Slack] hi"),
            ("space is U+0020", "[Slack\u{a0}u] hi", "[Slack\u{a0}u] hi"),
            ("iso minute", "[x 2024-05-05T10:00Z y] hi", "hi"),
            (
                "iso second",
                "[2024-05-05T10:00:33Z] hi",
                "[2024-05-05T10:00:33Z] hi",
            ),
            (
                "iso then letter",
                "[2024-05-05T10:00Zz] hi",
                "[2024-05-05T10:00Zz] hi",
            ),
            ("iso then accent", "[2024-05-05T10:00Zé] hi", "hi"),
            ("plain minute", "[2024-05-05 10:00] hi", "hi"),
            ("plain second", "[2024-05-05 10:00:33] hi", "hi"),
            ("longer year", "[12024-05-05 10:00] hi", "hi"),
            (
                "digit after",
                "[2024-05-05 10:005] hi",
                "[2024-05-05 10:005] hi",
            ),
            (
                "second moment fits",
                "[2024-05-05 10:005 2024-05-05 10:00] hi",
                "hi",
            ),
            (
                "other digits",
                "[٢٠٢٤-05-05 10:00] hi",
                "[٢٠٢٤-05-05 10:00] hi",
            ),
            ("newline inside", "[Signal a\nb] hi", "hi"),
            ("one only", "[Slack a][Slack b] hi", "[Slack b] hi"),
            ("empty", "[]Slack x] hi", "[]Slack x] hi"),
            ("space before", " [Slack a] hi", " [Slack a] hi"),
            ("unclosed", "[Slack a hi", "[Slack a hi"),
        ];
        for (name, input, expected) in cases {
            assert_eq!(strip_envelope(input), expected, "{name}");
        }
    }

    #[test]
    fn the_policy_is_cut_only_where_it_ends_the_text_after_a_blank_line() {
        let policy = APPROVAL_POLICY.trim_end();
        assert_eq!(policy.len(), 274);
        let cases = [
            (
                "after a blank line",
                format!("Q\n\n{policy}"),
                "Q".to_owned(),
            ),
            (
                "alone after two line feeds",
                format!("\n\n{policy}"),
                String::new(),
            ),
            (
                "third line feed stays",
                format!("Q\n\n\n{policy}"),
                "Q\n".to_owned(),
            ),
        ];
        for (name, input, expected) in cases {
            assert_eq!(strip_approval_policy(&input), expected, "{name}");
        }
        for untouched in [
            policy.to_owned(),
            format!("Q\n{policy}"),
            format!("Q\r\n\r\n{policy}"),
            format!("Q\n\n{policy}\n"),
        ] {
            assert_eq!(strip_approval_policy(&untouched), untouched);
        }
    }
}
