//! The characters of a script, and the texts that stand behind its lines.

#[cfg(test)]
thread_local! {
    /// How many bytes were taken, over all scripts.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What is left to read of a script.
pub(super) struct Source<'c> {
    rest: &'c str,
    /// Texts that begin behind the line that is read.
    awaited: Vec<Awaited>,
    /// Texts that were read, each with whether commands in it are run.
    texts: Vec<(&'c str, bool)>,
}

struct Awaited {
    end: String,
    is_indented: bool,
    is_run: bool,
}

impl<'c> Source<'c> {
    pub(super) fn new(text: &'c str) -> Self {
        Self {
            rest: text,
            awaited: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Goes on to what is left.
    fn go_to(&mut self, rest: &'c str) {
        #[cfg(test)]
        STEPS.set(STEPS.get() + self.rest.len() - rest.len());
        self.rest = rest;
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.go_to(rest.as_str());
        next
    }

    /// Takes what comes next if it is this.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.go_to(rest.unwrap_or(self.rest));
        rest.is_some()
    }

    /// Takes everything before a character, and the character; all that is left where it is not there.
    pub(super) fn take_until(&mut self, end: char) -> &'c str {
        let (before, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.go_to(rest);
        before
    }

    pub(super) fn skip_while(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.go_to(self.rest.trim_start_matches(is_skipped));
    }

    /// Leaves a comment out, but not the end of its line.
    pub(super) fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n');
    }

    /// Gives up what is left.
    pub(super) fn abandon(&mut self) {
        self.rest = "";
    }

    /// Notes that a text begins behind this line, and returns its number.
    pub(super) fn await_text(&mut self, end: String, is_indented: bool, is_run: bool) -> usize {
        self.awaited.push(Awaited {
            end,
            is_indented,
            is_run,
        });
        self.texts.len() + self.awaited.len() - 1
    }

    /// Takes the texts that begin here, behind the end of a line.
    pub(super) fn take_texts(&mut self) {
        for awaited in std::mem::take(&mut self.awaited) {
            let whole = self.rest;
            let mut length = 0;
            while let Some((line, rest)) = split_line(self.rest) {
                self.go_to(rest);
                let line_text = line.trim_end_matches(['\n', '\r']);
                let line_text = if awaited.is_indented {
                    line_text.trim_start_matches('\t')
                } else {
                    line_text
                };
                if line_text == awaited.end {
                    break;
                }
                length += line.len();
            }
            let text = whole.get(..length).unwrap_or(whole);
            self.texts.push((text, awaited.is_run));
        }
    }

    /// Returns a text by its number, and whether commands in it are run.
    pub(super) fn text(&self, number: usize) -> Option<(&'c str, bool)> {
        self.texts.get(number).copied()
    }
}

/// Splits a text behind its first line; none where nothing is left.
fn split_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let end = text.find('\n').map_or(text.len(), |at| at + 1);
    Some(text.split_at(end))
}
