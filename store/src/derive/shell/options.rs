//! Options and operands, as programs read their words.

use super::word::Word;

/// A program's words, told apart.
#[derive(Default)]
pub(super) struct Arguments {
    options: Vec<(String, Option<Word>)>,
    pub(super) operands: Vec<Word>,
}

impl Arguments {
    /// Reads words. `letters` and `names` are the options behind which a value comes: `-o FILE`,
    /// `--output FILE`. A name with `:2` behind it has two.
    pub(super) fn of(words: &[Word], letters: &str, names: &[&str]) -> Self {
        let mut found = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word.text == "--" {
                found.operands.extend(words.cloned());
                break;
            }
            if let Some(name) = word.text.strip_prefix("--") {
                let (name, value) = match name.split_once('=') {
                    Some((name, value)) => (name, Some(word.with(value))),
                    None if names.contains(&name) => (name, words.next().cloned()),
                    None => (name, None),
                };
                if names.contains(&format!("{name}:2").as_str()) {
                    words.next();
                    words.next();
                }
                found.options.push((name.to_owned(), value));
            } else if word.text.len() > 1 && word.text.starts_with('-') {
                found.cluster(word, letters, &mut words);
            } else {
                found.operands.push(word.clone());
            }
        }
        found
    }

    /// Reads letters behind one dash.
    fn cluster<'w>(
        &mut self,
        word: &Word,
        letters: &str,
        words: &mut impl Iterator<Item = &'w Word>,
    ) {
        let mut rest = word.text.chars();
        rest.next();
        while let Some(letter) = rest.next() {
            if letters.contains(letter) {
                let value = match rest.as_str() {
                    "" => words.next().cloned(),
                    value => Some(word.with(value)),
                };
                self.options.push((letter.to_string(), value));
                return;
            }
            self.options.push((letter.to_string(), None));
        }
    }

    /// Tells whether one of these options is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Tells whether an option is there that is one of some.
    pub(super) fn has_where(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.options.iter().any(|(name, _)| is_one(name))
    }

    /// Returns the values of these options.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Word> {
        let chosen = self
            .options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()));
        chosen.filter_map(|(_, value)| value.as_ref())
    }

    /// Returns the value of one of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Word> {
        self.values(names).last()
    }
}

impl Word {
    /// Makes a word of a part of this one.
    pub(super) fn with(&self, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..self.clone()
        }
    }
}
