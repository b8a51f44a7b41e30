//! Text of agents, harmless in HTML.

use std::fmt::Write;

/// Tells whether a character cannot be seen, or changes how others are seen. The page's `text.js` has the
/// same list.
pub(super) fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{0}'..='\u{8}'
            | '\u{b}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Writes a text so that it is nothing but text, wherever it stands between tags or in quotes.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A line that ends as on Windows has no secret.
            '\r' if characters.peek() == Some(&'\n') => {}
            hidden if is_hidden(hidden) => {
                let name = match hidden {
                    '\u{1b}' => "ESC".to_owned(),
                    '\r' => "CR".to_owned(),
                    other => format!("U+{:04X}", u32::from(other)),
                };
                // Writing to a string cannot fail. No quotes and no tags, so that it can stand in an attribute.
                let _ = write!(out, "\u{27e8}{name}\u{27e9}");
            }
            other => out.push(other),
        }
    }
    out
}

/// Writes what a model said: addresses of the web can be followed, by hand.
pub(super) fn prose(said: &str) -> String {
    let mut out = String::new();
    let mut rest = said;
    while let Some((before, link, after)) = next_link(rest) {
        let (shown, address) = (text(before), text(link));
        let _ = write!(
            out,
            "{shown}<a href=\"{address}\" rel=\"noopener noreferrer nofollow\">{address}</a>"
        );
        rest = after;
    }
    out.push_str(&text(rest));
    out
}

/// Returns the next address of the web, with what stands before and after it.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let at = ["http://", "https://"]
        .iter()
        .filter_map(|scheme| text.find(scheme))
        .min()?;
    let (before, rest) = text.split_at_checked(at)?;
    let is_part =
        |character: char| character.is_ascii_graphic() && !"<>\"'`\\^{}|".contains(character);
    let end = rest
        .find(|character| !is_part(character))
        .unwrap_or(rest.len());
    let (link, _) = rest.split_at_checked(end)?;
    let link = link.trim_end_matches(|character| ".,;:!?()[]*_".contains(character));
    let after = rest.get(link.len()..)?;
    Some((before, link, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup_or_hidden() {
        let hostile = "<script>alert('x')</script>&\"\u{202e}\u{1b}[31m\u{200b}\r\nx\ry";
        let expected = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;⟨U+202E⟩⟨ESC⟩[31m⟨U+200B⟩\nx⟨CR⟩y";
        assert_eq!(text(hostile), expected);
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        let said = "see https://a.test/x?y=1&z=2. or javascript:alert(1), data:text/html,x (http://b.test)";
        let expected = "see <a href=\"https://a.test/x?y=1&amp;z=2\" rel=\"noopener noreferrer nofollow\">https://a.test/x?y=1&amp;z=2</a>. or javascript:alert(1), data:text/html,x (<a href=\"http://b.test\" rel=\"noopener noreferrer nofollow\">http://b.test</a>)";
        assert_eq!(prose(said), expected);
        assert_eq!(
            prose("http://\"><img src=x onerror=1>")
                .matches('<')
                .count(),
            2,
            "one link, opened and closed"
        );
    }

    #[test]
    fn the_page_hides_the_same_characters() {
        let script = include_str!("../../assets/text.js");
        for code in [
            "u0000-\\u0008",
            "u202e",
            "u2060-\\u206f",
            "ufeff",
            "u{e0000}-\\u{e007f}",
        ] {
            assert!(script.contains(code), "{code}");
        }
        for character in ['\u{0}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}'] {
            assert!(is_hidden(character));
        }
        for character in ['\n', '\t', ' ', 'é', '漢', '🎉'] {
            assert!(!is_hidden(character));
        }
    }
}
