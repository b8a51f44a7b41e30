//! What programs do with the files in their words.

use super::options::Arguments;
use super::places::change_directory;
use super::reader::{Base, Input, Reader};
use super::word::{UNTOLD, Word};

/// What a program does with its operands.
#[derive(Clone, Copy)]
enum Does {
    Read,
    /// It reads all but the first, which says what to look for or to do.
    ReadRest,
    Write,
    /// It changes all but the first, which says how.
    WriteRest,
    Delete,
}

/// Programs that do the same with all their operands: their names, what they do, and which of their
/// options have values.
const PLAIN: &[(&[&str], Does, &str, &[&str])] = &[
    (
        &[
            "cat",
            "tac",
            "less",
            "more",
            "bat",
            "rev",
            "file",
            "zcat",
            "gzcat",
            "cmp",
            "comm",
            "md5",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "b2sum",
            "cksum",
            "expand",
            "wc",
        ],
        Does::Read,
        "",
        &[],
    ),
    (&["shasum"], Does::Read, "a", &["algorithm"]),
    (&["nl"], Does::Read, "bdfhilnsvw", &[]),
    (
        &["head", "tail"],
        Does::Read,
        "ncs",
        &["lines", "bytes", "pid"],
    ),
    (
        &["cut"],
        Does::Read,
        "dfcb",
        &["delimiter", "fields", "characters"],
    ),
    (&["stat"], Does::Read, "cf", &["format", "printf"]),
    (&["od"], Does::Read, "AtNjwS", &[]),
    (&["xxd"], Does::Read, "lcgos", &[]),
    (&["hexdump", "strings"], Does::Read, "nsetf", &[]),
    (&["base64"], Does::Read, "w", &["wrap"]),
    (&["diff"], Does::Read, "UCIxX", &["label", "exclude"]),
    (&["paste"], Does::Read, "d", &["delimiters"]),
    (&["column"], Does::Read, "sco", &[]),
    (&["fold", "fmt"], Does::Read, "w", &["width"]),
    (&["join"], Does::Read, "t12oaej", &[]),
    (&["uniq"], Does::Read, "fsw", &[]),
    (
        &["sort"],
        Does::Read,
        "ktSTo",
        &["key", "field-separator", "output"],
    ),
    (
        &["grep", "egrep", "fgrep", "zgrep", "rg", "ag"],
        Does::ReadRest,
        "mABCtTgdDM",
        &[
            "max-count",
            "after-context",
            "before-context",
            "context",
            "include",
            "exclude",
            "exclude-dir",
            "color",
            "type",
            "glob",
        ],
    ),
    (&["awk", "gawk", "mawk", "nawk"], Does::ReadRest, "Fv", &[]),
    (
        &["jq", "yq"],
        Does::ReadRest,
        "L",
        &["indent", "arg:2", "argjson:2", "slurpfile:2", "rawfile:2"],
    ),
    (&["tee"], Does::Write, "", &[]),
    (&["touch"], Does::Write, "dtr", &["date", "reference"]),
    (&["mkdir", "mkfifo"], Does::Write, "m", &["mode"]),
    (&["truncate"], Does::Write, "sr", &["size", "reference"]),
    (&["chmod", "chown", "chgrp"], Does::WriteRest, "", &[]),
    (&["rm", "rmdir", "unlink"], Does::Delete, "", &[]),
    (&["shred"], Does::Delete, "ns", &["iterations", "size"]),
];

/// Programs that run the rest of their words: their names, which of their options have values, and how
/// many operands come before the program.
const RUNNERS: &[(&[&str], &str, usize)] = &[
    (&["sudo", "doas"], "ugpCrRThD", 0),
    (&["env"], "uCS", 0),
    (&["nice", "ionice", "stdbuf", "exec"], "nacioe", 0),
    (&["nohup", "builtin", "setsid", "command"], "", 0),
    (&["time"], "fo", 0),
    (&["timeout"], "ks", 1),
];

impl Reader {
    /// Takes a program and its words.
    pub(super) fn program(
        &mut self,
        name: &str,
        words: &[Word],
        input: Input,
        base: &mut Base,
        depth: usize,
    ) {
        let name = name.rsplit('/').next().unwrap_or(name);
        if let Some((_, does, letters, names)) =
            PLAIN.iter().find(|(names, ..)| names.contains(&name))
        {
            self.plain(name, *does, &Arguments::of(words, letters, names), base);
            return;
        }
        if let Some((_, letters, before)) = RUNNERS.iter().find(|(names, ..)| names.contains(&name))
        {
            self.runner(words, letters, *before, input, base, depth);
            return;
        }
        match name {
            "cd" | "pushd" => change_directory(words, base),
            "popd" => *base = None,
            "eval" | "parallel" => self.is_untold = (true, true),
            "trap" => {
                if let Some(script) = words.first().and_then(Word::told) {
                    self.script(script, &mut base.clone(), depth + 1);
                }
            }
            "source" | "." => {
                if let Some(script) = words.first() {
                    self.reads(script, base);
                }
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" => {
                self.shell(words, input, base, depth);
            }
            "xargs" => self.xargs(words, base, depth),
            "find" | "fd" => self.find(words, base, depth),
            "sed" | "perl" => self.editor(name, words, base),
            "cp" | "mv" | "install" | "ln" => self.copy(name, words, base),
            "dd" => self.dd(words, base),
            "tar" | "bsdtar" => self.tar(words, base),
            "zip" | "unzip" => self.zip(name, words, base),
            "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" => {
                self.pack(name, words, base);
            }
            "patch" => self.patch(words, &input, base),
            "apply_patch" => self.apply_patch(words, &input, base),
            "git" => self.git(words, &input, base),
            name => self.transfer(name, words, base),
        }
    }

    fn plain(&mut self, name: &str, does: Does, arguments: &Arguments, base: &Base) {
        let mut operands = arguments.operands.as_slice();
        match does {
            Does::ReadRest => {
                // `-e` and `-f` have what to look for in the word that follows them.
                if !arguments.has(&["regexp"]) {
                    let (own, rest) = operands.split_at(1.min(operands.len()));
                    operands = rest;
                    if arguments.has(&["f", "from-file", "file"]) {
                        for word in own {
                            self.reads(word, base);
                        }
                    }
                }
            }
            Does::WriteRest => {
                let is_mode = |name: &str| name.len() == 1 && "rwxst".contains(name);
                let has_mode = name == "chmod" && arguments.has_where(is_mode);
                if !has_mode && !arguments.has(&["reference"]) {
                    operands = operands.get(1..).unwrap_or_default();
                }
            }
            Does::Read | Does::Write | Does::Delete => {}
        }
        for word in operands {
            match does {
                Does::Read | Does::ReadRest => self.reads(word, base),
                Does::Write | Does::WriteRest => self.writes(word, base),
                Does::Delete => self.deletes(word, base),
            }
        }
        if name == "sort" {
            let outputs = arguments.values(&["o", "output"]);
            outputs.for_each(|word| self.writes(word, base));
        }
    }

    fn runner(
        &mut self,
        words: &[Word],
        letters: &str,
        before: usize,
        input: Input,
        base: &mut Base,
        depth: usize,
    ) {
        let mut words = words;
        let mut before = before;
        while let [first, rest @ ..] = words {
            let text = first.text.as_str();
            if matches!(text, "-v" | "-V") && letters.is_empty() {
                return;
            }
            if let Some(last) = text
                .strip_prefix('-')
                .and_then(|letters| letters.chars().last())
            {
                let has_value = text.len() == 2 && letters.contains(last);
                words = rest.get(usize::from(has_value)..).unwrap_or_default();
            } else if before > 0 {
                before -= 1;
                words = rest;
            } else {
                break;
            }
        }
        if depth < super::reader::DEEPEST {
            self.command(words, input, base, depth + 1);
        }
    }

    fn shell(&mut self, words: &[Word], input: Input, base: &Base, depth: usize) {
        let is_flag = |word: &&Word| word.text.starts_with('-') || word.text.starts_with('+');
        let flags = words.iter().take_while(is_flag);
        let flags: Vec<&Word> = flags.collect();
        let gives_script = flags
            .iter()
            .any(|flag| !flag.text.starts_with("--") && flag.text.ends_with('c'));
        let first = words.get(flags.len());
        match (gives_script, first, input) {
            (true, Some(script), _) => match script.told() {
                Some(script) => self.script(script, &mut base.clone(), depth + 1),
                None => self.is_untold = (true, true),
            },
            (false, Some(script), _) => self.reads(script, base),
            (false, None, Input::Text(script)) => {
                self.script(&script, &mut base.clone(), depth + 1);
            }
            (false, None, Input::Stream) => self.is_untold = (true, true),
            _ => {}
        }
    }

    /// Runs a program with words that another command prints.
    fn xargs(&mut self, words: &[Word], base: &Base, depth: usize) {
        let takes_value = |word: &Word| {
            matches!(
                word.text.as_str(),
                "-I" | "-n" | "-P" | "-L" | "-d" | "-s" | "-E" | "-a"
            )
        };
        let mut words = words;
        while let [first, rest @ ..] = words {
            if !first.text.starts_with('-') {
                break;
            }
            words = rest
                .get(usize::from(takes_value(first))..)
                .unwrap_or_default();
        }
        self.with_untold(words, "{}", true, base, depth);
    }

    /// Runs a program with words that nobody can tell in the place of a sign, or behind the others.
    fn with_untold(
        &mut self,
        words: &[Word],
        sign: &str,
        is_behind: bool,
        base: &Base,
        depth: usize,
    ) {
        if words.is_empty() || depth >= super::reader::DEEPEST {
            return;
        }
        let hide = |word: &Word| Word::of(word.text.replace(sign, &UNTOLD.to_string()));
        let mut words: Vec<Word> = words.iter().map(hide).collect();
        if is_behind {
            words.push(Word::untold());
        }
        self.command(&words, Input::Stream, &mut base.clone(), depth + 1);
    }

    fn find(&mut self, words: &[Word], base: &Base, depth: usize) {
        let mut words = words;
        while let [first, rest @ ..] = words {
            words = rest;
            match first.text.as_str() {
                "-delete" | "-fprint" => self.is_untold.0 = true,
                "-exec" | "-execdir" | "-ok" | "-x" | "-X" => {
                    let is_end = |word: &Word| matches!(word.text.as_str(), ";" | "+");
                    let end = rest.iter().position(is_end).unwrap_or(rest.len());
                    let (command, rest) = rest.split_at(end);
                    words = rest;
                    self.with_untold(command, "{}", false, base, depth);
                }
                _ => {}
            }
        }
    }
}
