//! Patches, which name the files that they change.

use super::options::Arguments;
use super::places::change_directory;
use super::reader::{Base, Input, Reader};
use super::word::Word;

impl Reader {
    pub(super) fn patch(&mut self, words: &[Word], input: &Input, base: &Base) {
        let arguments = Arguments::of(
            words,
            "pidoBDFgrYVz",
            &["strip", "input", "directory", "output"],
        );
        let mut base = base.clone();
        if let Some(directory) = arguments.value(&["d", "directory"]) {
            change_directory(std::slice::from_ref(directory), &mut base);
        }
        let named = arguments
            .value(&["i", "input"])
            .or(arguments.operands.get(1));
        if let Some(word) = named {
            self.reads(word, &base);
        }
        let strip = arguments
            .value(&["p", "strip"])
            .and_then(|word| word.text.parse().ok());
        let target = arguments
            .value(&["o", "output"])
            .or(arguments.operands.first());
        match (target, input) {
            (Some(target), _) => self.writes(target, &base),
            (None, Input::Text(text)) if named.is_none() => {
                self.difference(text, strip.unwrap_or(usize::MAX), &base);
            }
            _ => self.is_untold.0 = true,
        }
    }

    /// Takes the files that a difference names, less so many directories before them.
    pub(super) fn difference(&mut self, text: &str, strip: usize, base: &Base) {
        let name_in = |line: &str| {
            let name = line.split('\t').next().unwrap_or_default().trim_end();
            let stripped = if strip == usize::MAX {
                name.rsplit('/').next().unwrap_or_default()
            } else {
                name.splitn(strip.saturating_add(1), '/')
                    .last()
                    .unwrap_or_default()
            };
            (name == "/dev/null", Word::of(stripped.to_owned()))
        };
        let mut before = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("--- ") {
                before = Some(name_in(name));
            } else if let Some((from, name)) = before.take().zip(line.strip_prefix("+++ ")) {
                let (is_gone, file) = name_in(name);
                if is_gone {
                    self.deletes(&from.1, base);
                } else {
                    self.writes(&file, base);
                }
            }
        }
    }

    pub(super) fn apply_patch(&mut self, words: &[Word], input: &Input, base: &Base) {
        let given = words.first().map(Word::told);
        let text = match (given, input) {
            (Some(text), _) => text,
            (None, Input::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let Some(text) = text else {
            self.is_untold.0 = true;
            return;
        };
        for line in text.lines() {
            let named =
                |start: &str| Some(Word::of(line.strip_prefix(start)?.trim_end().to_owned()));
            if let Some(word) = named("*** Delete File: ") {
                self.deletes(&word, base);
            }
            let starts = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
            if let Some(word) = starts.into_iter().find_map(named) {
                self.writes(&word, base);
            }
        }
    }
}
