//! Text that is told again and again, each time a little longer.

/// What a frame adds to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance<'t> {
    /// Nothing: it restates what is there.
    Nothing,
    /// This, at the end.
    Append(&'t str),
    /// It is another text.
    Restart(&'t str),
}

/// How frames that do not say what is new tell their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    #[default]
    Unknown,
    /// All of it so far, as the gateway does.
    Whole,
    /// Only what is new, as some clients pass it on.
    Pieces,
}

/// A text as far as it was told.
#[derive(Debug, Default)]
pub(super) struct Progress {
    told: String,
    style: Style,
    /// The text is too long to be held, so that nothing can be compared with it any more.
    is_lost: bool,
}

impl Progress {
    /// Tells whether nothing was told yet.
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty() && !self.is_lost
    }

    /// Takes what a frame says: the whole text, what is new of it, or both.
    ///
    /// Time is linear in what the frame holds.
    pub(super) fn advance<'t>(
        &mut self,
        whole: Option<&'t str>,
        piece: Option<&'t str>,
        limit: usize,
    ) -> Advance<'t> {
        let whole = whole.filter(|whole| !whole.is_empty());
        let piece = piece.filter(|piece| !piece.is_empty());
        let advance = match (whole, piece) {
            (None, None) => Advance::Nothing,
            (None, Some(piece)) => Advance::Append(piece),
            (Some(whole), Some(_)) => match self.rest_of(whole) {
                Some("") => Advance::Nothing,
                Some(rest) => Advance::Append(rest),
                None => Advance::Restart(whole),
            },
            (Some(whole), None) => self.advance_by_style(whole),
        };
        match advance {
            Advance::Nothing => {}
            Advance::Append(text) if self.told.len() + text.len() <= limit && !self.is_lost => {
                self.told.push_str(text);
            }
            Advance::Restart(text) if text.len() <= limit => {
                self.is_lost = false;
                text.clone_into(&mut self.told);
            }
            Advance::Append(_) | Advance::Restart(_) => {
                self.told = String::new();
                self.is_lost = true;
            }
        }
        advance
    }

    /// Takes a text that frames before may have told in full or in part. `Restart` means that it
    /// does not go on where they ended, and nothing is taken then.
    pub(super) fn complete<'t>(&mut self, whole: &'t str, limit: usize) -> Advance<'t> {
        if self.is_lost || whole.trim() == self.told.trim() || whole.ends_with(&*self.told) {
            return if self.is_empty() && !whole.is_empty() {
                self.advance(None, Some(whole), limit)
            } else {
                Advance::Nothing
            };
        }
        match whole.strip_prefix(&*self.told) {
            Some(rest) => self.advance(None, Some(rest), limit),
            None => Advance::Restart(whole),
        }
    }

    fn advance_by_style<'t>(&mut self, whole: &'t str) -> Advance<'t> {
        if self.told.is_empty() || self.style == Style::Pieces {
            return Advance::Append(whole);
        }
        match self.rest_of(whole) {
            Some("") => Advance::Nothing,
            Some(rest) => {
                self.style = Style::Whole;
                Advance::Append(rest)
            }
            None if self.style == Style::Whole => Advance::Restart(whole),
            None => {
                self.style = Style::Pieces;
                Advance::Append(whole)
            }
        }
    }

    fn rest_of<'t>(&self, whole: &'t str) -> Option<&'t str> {
        whole.strip_prefix(&*self.told).filter(|_| !self.is_lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 100;

    fn by_whole(frames: &[&str]) -> String {
        let mut progress = Progress::default();
        let mut shown = String::new();
        for frame in frames {
            match progress.advance(Some(frame), None, LIMIT) {
                Advance::Nothing => {}
                Advance::Append(text) => shown.push_str(text),
                Advance::Restart(text) => {
                    shown.push('|');
                    shown.push_str(text);
                }
            }
        }
        shown
    }

    #[test]
    fn whole_texts_and_pieces_are_told_apart() {
        assert_eq!(
            by_whole(&["Hel", "Hello", "Hello", "Hello you"]),
            "Hello you"
        );
        assert_eq!(by_whole(&["Hel", "lo", " you"]), "Hello you");
        assert_eq!(by_whole(&["ha", "no", "ha", "hano"]), "hanohahano");
        assert_eq!(by_whole(&["One", "One two", "Next"]), "One two|Next");
        assert_eq!(by_whole(&["", "a", ""]), "a");
    }

    #[test]
    fn a_frame_that_says_both_is_exact_although_one_before_it_is_missing() {
        let mut progress = Progress::default();
        let both = |progress: &mut Progress, whole: &'static str, piece: &'static str| {
            progress.advance(Some(whole), Some(piece), LIMIT)
        };
        assert_eq!(both(&mut progress, "ha", "ha"), Advance::Append("ha"));
        assert_eq!(both(&mut progress, "haha", "ha"), Advance::Append("ha"));
        assert_eq!(both(&mut progress, "haha", "ha"), Advance::Nothing);
        assert_eq!(
            both(&mut progress, "haha, and so", " so"),
            Advance::Append(", and so")
        );
        assert_eq!(
            both(&mut progress, "Then", "Then"),
            Advance::Restart("Then")
        );
    }

    #[test]
    fn a_last_restatement_adds_what_was_missed_and_nothing_else() {
        let table = [
            ("", "Hello", Advance::Append("Hello")),
            ("", "", Advance::Nothing),
            ("Hello", "Hello", Advance::Nothing),
            ("Hello\n", "Hello", Advance::Nothing),
            ("second", "first second", Advance::Nothing),
            ("Hel", "Hello", Advance::Append("lo")),
            ("Hello", "Other", Advance::Restart("Other")),
        ];
        for (told, whole, expected) in table {
            let mut progress = Progress::default();
            progress.advance(None, Some(told), LIMIT);
            assert_eq!(progress.complete(whole, LIMIT), expected, "{told} {whole}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_held_is_still_told_once() {
        let mut progress = Progress::default();
        let long = "x".repeat(LIMIT + 1);
        assert_eq!(
            progress.advance(None, Some(&long), LIMIT),
            Advance::Append(&long)
        );
        assert_eq!(progress.complete(&long, LIMIT), Advance::Nothing);
        assert!(!progress.is_empty());
    }
}
