//! The tags that models put around their thinking: `<think>`, `</ Analysis >` and so on.
//!
//! A tag is `<`, maybe a slash, a name and `>`, with whitespace anywhere between and no
//! attributes. Two tags never overlap and a failed attempt never reads past the next `<`, so one
//! pass finds them all.

use super::javascript::{strip_prefix_ignoring_case, trim_start};

/// What a tag is called, whatever its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagName {
    Think,
    Thinking,
    Analysis,
    Thought,
    AntThinking,
}

impl TagName {
    const ALL: [(&'static str, Self); 5] = [
        ("thinking", Self::Thinking),
        ("think", Self::Think),
        ("analysis", Self::Analysis),
        ("thought", Self::Thought),
        ("antthinking", Self::AntThinking),
    ];

    /// Returns whether text is displayed without this tag.
    ///
    /// The other two are known to the thinking stream only.
    pub(crate) fn is_hidden_from_text(self) -> bool {
        matches!(self, Self::Think | Self::Thinking | Self::Analysis)
    }
}

/// One tag, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: TagName,
    pub(crate) is_opener: bool,
    /// The byte offset of `<`.
    pub(crate) start: usize,
    /// The byte offset after `>`.
    pub(crate) end: usize,
}

/// Returns the tags of `text` from left to right.
pub(crate) fn tags(text: &str) -> impl Iterator<Item = Tag> {
    memchr::memchr_iter(b'<', text.as_bytes()).filter_map(|start| tag_at(text, start))
}

fn tag_at(text: &str, start: usize) -> Option<Tag> {
    let inside = trim_start(text.get(start + 1..)?);
    let slash = inside.strip_prefix('/');
    let named = slash.map_or(inside, trim_start);
    let (name, after) = TagName::ALL.into_iter().find_map(|(spelling, name)| {
        let after = strip_prefix_ignoring_case(named, spelling)?;
        Some((name, trim_start(after).strip_prefix('>')?))
    })?;
    Some(Tag {
        name,
        is_opener: slash.is_none(),
        start,
        end: text.len() - after.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_follow_one_grammar() {
        use TagName::{Analysis, AntThinking, Think, Thinking, Thought};
        let cases = [
            ("<think>", Some((Think, true))),
            ("<THINKING>", Some((Thinking, true))),
            ("< / analysis >", Some((Analysis, false))),
            ("</\u{feff}thought\n>", Some((Thought, false))),
            ("<\tantThinking>", Some((AntThinking, true))),
            ("<thinks>", None),
            ("<think x=1>", None),
            ("<think/>", None),
            ("<//think>", None),
            ("<thin\u{212a}>", None),
            ("<\u{85}think>", None),
            ("<think", None),
            ("think>", None),
            ("<>", None),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = tags(text).collect();
            let expected: Vec<_> = expected
                .map(|(name, is_opener)| Tag {
                    name,
                    is_opener,
                    start: 0,
                    end: text.len(),
                })
                .into_iter()
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_tag_may_follow_a_broken_one() {
        let found: Vec<_> = tags("<<think <think>é</think>")
            .map(|tag| (tag.start, tag.end))
            .collect();
        assert_eq!(found, [(8, 15), (17, 25)]);
    }
}
