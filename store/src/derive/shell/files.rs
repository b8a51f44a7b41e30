//! Programs that change, copy and pack files.

use super::options::Arguments;
use super::places::change_directory;
use super::reader::{Base, Reader};
use super::word::Word;

impl Reader {
    /// `sed` and `perl`, which change files in their place.
    pub(super) fn editor(&mut self, name: &str, words: &[Word], base: &Base) {
        let letters = if name == "sed" { "efl" } else { "eEIMm" };
        // `i` may have a suffix right behind it.
        let is_in_place = |word: &Word| {
            let flags = word
                .text
                .strip_prefix('-')
                .filter(|flags| !flags.starts_with('-'));
            let flags = flags.map(|flags| {
                flags
                    .split(['e', 'f', 'E', 'I', 'M'])
                    .next()
                    .unwrap_or_default()
            });
            flags.is_some_and(|flags| flags.contains('i')) || word.text.starts_with("--in-place")
        };
        let changes = words
            .iter()
            .take_while(|word| word.text != "--")
            .any(is_in_place);
        let words: Vec<Word> = words
            .iter()
            .filter(|word| !(changes && word.text.is_empty()))
            .map(|word| {
                if is_in_place(word) && !word.text.starts_with("--") {
                    let (flags, suffix) = word.text.split_once('i').unwrap_or_default();
                    let ends_with_script = suffix.ends_with('e') && name == "perl";
                    Word::of(format!(
                        "{flags}i{}",
                        if ends_with_script { "e" } else { "" }
                    ))
                } else {
                    word.clone()
                }
            })
            .collect();
        let arguments = Arguments::of(&words, letters, &["expression", "file"]);
        let has_script = arguments.has(&["e", "E", "f", "expression", "file"]);
        let mut operands = arguments.operands.as_slice();
        if !has_script {
            if name == "perl" {
                operands
                    .iter()
                    .take(1)
                    .for_each(|word| self.reads(word, base));
                return;
            }
            operands = operands.get(1..).unwrap_or_default();
        }
        arguments
            .values(&["f", "file"])
            .for_each(|word| self.reads(word, base));
        for word in operands {
            if changes {
                self.writes(word, base);
            } else {
                self.reads(word, base);
            }
        }
    }

    pub(super) fn copy(&mut self, name: &str, words: &[Word], base: &Base) {
        let letters = if name == "install" { "mogtS" } else { "tS" };
        let arguments = Arguments::of(
            words,
            letters,
            &["target-directory", "suffix", "mode", "owner", "group"],
        );
        if name == "install" && arguments.has(&["d", "directory"]) {
            arguments
                .operands
                .iter()
                .for_each(|word| self.writes(word, base));
            return;
        }
        let directory = arguments.value(&["t", "target-directory"]);
        let (target, sources) = match (directory, arguments.operands.as_slice()) {
            (Some(directory), sources) => (directory.clone(), sources),
            // A link is made in the directory where it is asked for.
            (None, [source]) if name == "ln" => {
                (Word::of("./".to_owned()), std::slice::from_ref(source))
            }
            (None, [sources @ .., target]) if !sources.is_empty() => (target.clone(), sources),
            _ => return,
        };
        let is_directory =
            directory.is_some() || sources.len() > 1 || names_directory(&target.text);
        for source in sources {
            match name {
                "mv" => self.deletes(source, base),
                "ln" => {}
                _ => self.reads(source, base),
            }
            let place = if is_directory {
                below(&target, source)
            } else {
                target.clone()
            };
            self.writes(&place, base);
        }
    }

    pub(super) fn dd(&mut self, words: &[Word], base: &Base) {
        for word in words {
            if let Some(file) = word.text.strip_prefix("if=") {
                self.reads(&Word::of(file.to_owned()), base);
            } else if let Some(file) = word.text.strip_prefix("of=") {
                self.writes(&Word::of(file.to_owned()), base);
            }
        }
    }

    pub(super) fn tar(&mut self, words: &[Word], base: &Base) {
        let mut words = words.to_vec();
        // The first letters need no dash.
        if let Some(first) = words.first_mut().filter(|word| !word.text.starts_with('-')) {
            first.text.insert(0, '-');
        }
        let arguments = Arguments::of(
            &words,
            "fCTXbI",
            &["file", "directory", "exclude", "files-from"],
        );
        let archive = arguments.value(&["f", "file"]);
        if arguments.has(&["c", "r", "u", "create", "append", "update"]) {
            if let Some(word) = archive {
                self.writes(word, base);
            }
            let mut base = base.clone();
            if let Some(directory) = arguments.value(&["C", "directory"]) {
                change_directory(std::slice::from_ref(directory), &mut base);
            }
            arguments
                .operands
                .iter()
                .for_each(|word| self.reads(word, &base));
        } else {
            if let Some(word) = archive {
                self.reads(word, base);
            }
            self.is_untold.0 |= arguments.has(&["x", "extract", "get"]);
        }
    }

    pub(super) fn zip(&mut self, name: &str, words: &[Word], base: &Base) {
        let arguments = Arguments::of(words, "dxib", &[]);
        let Some((archive, rest)) = arguments.operands.split_first() else {
            return;
        };
        if name == "zip" {
            self.writes(archive, base);
            for word in rest {
                self.reads(word, base);
            }
        } else {
            self.reads(archive, base);
            self.is_untold.0 |= !arguments.has(&["l", "t", "p", "v", "Z"]);
        }
    }

    pub(super) fn pack(&mut self, name: &str, words: &[Word], base: &Base) {
        let arguments = Arguments::of(words, "STo", &["suffix"]);
        let (ending, unpacks) = match name {
            "gzip" => (".gz", false),
            "bzip2" => (".bz2", false),
            "xz" => (".xz", false),
            "zstd" => (".zst", false),
            "gunzip" => (".gz", true),
            "bunzip2" => (".bz2", true),
            _ => (".xz", true),
        };
        let unpacks = unpacks || arguments.has(&["d", "decompress"]);
        let keeps = name == "zstd" || arguments.has(&["k", "keep", "c", "stdout"]);
        let writes = !arguments.has(&["c", "stdout", "l", "list", "t", "test"]);
        for word in &arguments.operands {
            if keeps || !writes {
                self.reads(word, base);
            } else {
                self.deletes(word, base);
            }
            if writes {
                let packed = |word: &Word| word.told().map(|text| format!("{text}{ending}"));
                let unpacked = |word: &Word| Some(word.told()?.strip_suffix(ending)?.to_owned());
                let other = if unpacks {
                    unpacked(word)
                } else {
                    packed(word)
                };
                let other = other.map_or_else(Word::untold, |text| Word {
                    text,
                    ..word.clone()
                });
                self.writes(&other, base);
            }
        }
    }
}

/// Tells whether a path is a directory by its form.
fn names_directory(path: &str) -> bool {
    path.ends_with('/')
        || matches!(path, "." | ".." | "~")
        || path.ends_with("/.")
        || path.ends_with("/..")
}

/// Returns where a copy lies in a directory; the directory where the copy's name is not told.
fn below(directory: &Word, source: &Word) -> Word {
    let Some(path) = source.told().filter(|_| !source.is_pattern) else {
        return Word::untold();
    };
    let name = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    if matches!(name, "" | "." | "..") {
        return directory.clone();
    }
    let start = directory.text.trim_end_matches('/');
    let text = match directory.text.as_str() {
        "." | "./" => name.to_owned(),
        _ => format!("{start}/{name}"),
    };
    Word {
        text,
        ..directory.clone()
    }
}
