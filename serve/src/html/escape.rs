//! Text of agents, harmless in HTML.

use std::fmt::Write;

/// Tells whether a character cannot be seen, or changes how others are seen. The page's `text.js` has the
/// same list; a test in a browser compares all characters there are.
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
            | '\u{e0000}'..='\u{e01ef}'
    )
}

/// Returns the name of a character that is shown by it.
fn name(hidden: char) -> String {
    match hidden {
        '\u{1b}' => "ESC".to_owned(),
        '\r' => "CR".to_owned(),
        other => format!("U+{:04X}", u32::from(other)),
    }
}

/// Writes a text so that it is nothing but text; `hidden` writes the name of what would not be seen.
fn escape(text: &str, hidden: impl Fn(&str) -> String) -> String {
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
            other if is_hidden(other) => out.push_str(&hidden(&name(other))),
            other => out.push(other),
        }
    }
    out
}

/// So many hidden characters of one text are elements; of more, the names are text, too.
const MANY: usize = 200;

/// Writes a text that stands between tags.
pub(super) fn text(text: &str) -> String {
    let hidden = text.replace("\r\n", "\n");
    if hidden
        .chars()
        .filter(|one| is_hidden(*one))
        .nth(MANY)
        .is_some()
    {
        return attribute(text);
    }
    escape(text, |name| {
        format!(
            "<span class=\"hidden-character\" title=\"a character that cannot be seen\">{name}</span>"
        )
    })
}

/// Writes a text that stands in quotes, within a tag.
pub(super) fn attribute(text: &str) -> String {
    escape(text, |name| format!("\u{27e8}{name}\u{27e9}"))
}

/// Writes what a model said: addresses of the web can be followed, by hand.
pub(super) fn prose(said: &str) -> String {
    let mut out = String::new();
    let mut rest = said;
    while let Some((before, link, after)) = next_link(rest) {
        let (shown, address) = (text(before), text(link));
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "{shown}<a href=\"{address}\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">{address}</a>"
        );
        rest = after;
    }
    out.push_str(&text(rest));
    out
}

/// Returns the next address of the web, with what stands before and after it.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let is_part =
        |character: char| character.is_ascii_graphic() && !"<>\"'`\\^{}|".contains(character);
    let mut from = 0;
    loop {
        let searched = text.get(from..)?;
        let schemes = ["http://", "https://"].into_iter();
        let found = schemes.filter_map(|scheme| Some((searched.find(scheme)?, scheme)));
        let (at, scheme) = found.min()?;
        let (before, rest) = text.split_at_checked(from + at)?;
        let end = rest.find(|character| !is_part(character));
        let link = rest.get(..end.unwrap_or(rest.len()))?;
        let link = link.trim_end_matches(|character| ".,;:!?()[]*_".contains(character));
        // A scheme alone leads nowhere.
        if link.len() > scheme.len() {
            return Some((before, link, rest.get(link.len()..)?));
        }
        from += at + scheme.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup_or_hidden() {
        let hostile = "<script>alert('x')</script>&\"\u{202e}\u{1b}[31m\u{200b}\r\nx\ry";
        let expected = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;⟨U+202E⟩⟨ESC⟩[31m⟨U+200B⟩\nx⟨CR⟩y";
        assert_eq!(attribute(hostile), expected);
        let mark = "<span class=\"hidden-character\" title=\"a character that cannot be seen\">";
        let expected = expected.replace('⟨', mark).replace('⟩', "</span>");
        assert_eq!(text(hostile), expected);
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        let link = |address: &str| {
            format!(
                "<a href=\"{address}\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">{address}</a>"
            )
        };
        let said = "see https://a.test/x?y=1&z=2. or javascript:alert(1), data:text/html,x (http://b.test)";
        let (one, other) = (link("https://a.test/x?y=1&amp;z=2"), link("http://b.test"));
        let expected = format!("see {one}. or javascript:alert(1), data:text/html,x ({other})");
        assert_eq!(prose(said), expected);
        let hostile = prose("http:// http://\"><img src=x onerror=1> https://c.test");
        let expected = format!(
            "http:// http://&quot;&gt;&lt;img src=x onerror=1&gt; {}",
            link("https://c.test")
        );
        assert_eq!(hostile, expected);
    }

    #[test]
    fn what_people_write_is_not_hidden() {
        for character in ['\n', '\t', ' ', 'é', '漢', '🎉'] {
            assert!(!is_hidden(character));
        }
        for character in ['\u{0}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}'] {
            assert!(is_hidden(character));
        }
    }
}
