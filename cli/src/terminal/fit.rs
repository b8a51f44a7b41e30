//! Text that fits into so many columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cuts a text to a width, with an ellipsis where something was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// Breaks a text between words into lines of a width, at most `most`; the last one is cut.
pub(crate) fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() + 1 < most && rest.width() > width {
        let mut used = 0;
        let fits = |(_, character): &(usize, char)| {
            used += character.width().unwrap_or(0);
            used <= width
        };
        let end = rest.char_indices().take_while(fits).last();
        let end = end.map_or(0, |(at, character)| at + character.len_utf8());
        let line = rest.get(..end).unwrap_or_default();
        // A word that is longer than a line is broken.
        let is_between = rest.get(end..).is_some_and(|rest| rest.starts_with(' '));
        let at = match line.rfind(' ') {
            Some(space) if !is_between => space,
            _ => end,
        };
        if at == 0 {
            break;
        }
        let (line, after) = rest.split_at(at);
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    if !rest.is_empty() {
        lines.push(cut(rest, width));
    }
    lines
}

/// Cuts a text of several pieces to a width, so that the first piece that matters is seen.
pub(crate) fn cut_around(pieces: Vec<(String, bool)>, width: usize) -> Vec<(String, bool)> {
    let total: usize = pieces.iter().map(|(text, _)| text.width()).sum();
    if total <= width {
        return pieces;
    }
    let before = pieces.iter().take_while(|(_, matters)| !matters);
    let before: usize = before.map(|(text, _)| text.width()).sum();
    // A third of the room for what comes before, unless less comes after.
    let lead = (width / 3).max(width.saturating_sub(total - before));
    let mut skip = before.saturating_sub(lead.saturating_sub(1));
    if skip <= 1 {
        skip = 0;
    }
    let mut room = width;
    let mut kept: Vec<(String, bool)> = Vec::new();
    if skip > 0 {
        kept.push(("…".to_owned(), false));
        room = room.saturating_sub(1);
    }
    for (text, matters) in pieces {
        let mut rest = text.as_str();
        while skip > 0
            && let Some(first) = rest.chars().next()
        {
            skip = skip.saturating_sub(first.width().unwrap_or(0).max(1));
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
        if rest.width() > room {
            kept.push((cut(rest, room), matters));
            break;
        }
        room -= rest.width();
        kept.push((rest.to_owned(), matters));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_is_seen() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        let text = "one two three four five";
        assert_eq!(wrap(text, 9, 9), ["one two", "three", "four five"]);
        assert_eq!(wrap(text, 13, 2), ["one two three", "four five"]);
        assert_eq!(wrap(text, 9, 2), ["one two", "three fo…"]);
        assert_eq!(wrap("a-word-of-length", 7, 9), ["a-word-", "of-leng", "th"]);
        assert_eq!(wrap("日本語", 1, 3), ["…"]);
        assert!(wrap(" ", 5, 3).is_empty());
    }

    #[test]
    fn what_matters_is_in_what_is_left_of_a_text() {
        let long = "words before the match, quite a lot of them ";
        let pieces = || {
            vec![
                (long.to_owned(), false),
                ("match".to_owned(), true),
                (
                    " and as many words behind it as before it".to_owned(),
                    false,
                ),
            ]
        };
        for width in 10..100 {
            let cut = cut_around(pieces(), width);
            let text: String = cut.iter().map(|(text, _)| text.as_str()).collect();
            assert!(text.width() <= width, "{width}: {text}");
            assert!(text.contains("match"), "{width}: {text}");
        }
        assert_eq!(cut_around(pieces(), 90), pieces());
    }
}
