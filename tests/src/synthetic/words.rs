//! A list of made-up words.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::random::Random;

/// How many words there are: about as many as a writer uses, so that text made of them is as hard
/// to compress as prose, or harder.
pub const WORDS: usize = 20_000;

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl",
    "qu", "r", "s", "sh", "st", "t", "th", "tr", "v", "w",
];
const CORES: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: &[&str] = &["", "", "l", "m", "n", "nd", "r", "rt", "s", "st", "t"];

/// A list of [`WORDS`] different words, three to some twelve lower-case letters long.
#[derive(Clone, Debug)]
pub struct Words {
    words: &'static [String],
}

impl Default for Words {
    fn default() -> Self {
        // Made once: tens of thousands of short runs would take longer to make their lists than all else.
        static LIST: OnceLock<Vec<String>> = OnceLock::new();
        Self {
            words: LIST.get_or_init(Self::make),
        }
    }
}

impl Words {
    /// Makes the list. It is always the same: what differs from seed to seed is which words are used.
    fn make() -> Vec<String> {
        let mut random = Random::new(0);
        let mut seen = HashSet::with_capacity(WORDS);
        let mut words = Vec::with_capacity(WORDS);
        while words.len() < WORDS {
            let mut word = String::new();
            for _ in 0..=random.below(3) {
                for sounds in [ONSETS, CORES, CODAS] {
                    let at = random.below(sounds.len());
                    word.push_str(sounds.get(at).copied().unwrap_or_default());
                }
            }
            if word.len() >= 3 && seen.insert(word.clone()) {
                words.push(word);
            }
        }
        words
    }

    /// Returns a random word.
    pub fn pick(&self, random: &mut Random) -> &str {
        let at = random.below(self.words.len());
        self.words.get(at).map_or("word", String::as_str)
    }

    /// Appends random words with spaces between them, until at least `bytes` were added.
    pub fn fill(&self, random: &mut Random, bytes: usize, out: &mut Vec<u8>) {
        let end = out.len() + bytes;
        out.reserve(bytes + 16);
        out.extend_from_slice(self.pick(random).as_bytes());
        while out.len() < end {
            out.push(b' ');
            out.extend_from_slice(self.pick(random).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_different_words_as_promised() {
        let words = Words::default().words;
        assert_eq!(words.len(), WORDS);
        assert!(words.iter().all(|word| word.len() >= 3 && word.is_ascii()));
    }
}
