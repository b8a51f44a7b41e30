//! Scripts: their words, and the commands that these make.

use std::rc::Rc;

use super::Effects;
use super::source::Source;
use super::word::{UNTOLD, Word};

/// How deep commands in commands are read. What lies deeper is not told.
pub(super) const DEEPEST: usize = 24;

/// Where the commands of a script begin to look for files: none where nobody knows, nothing for the
/// directory in which the script ran.
pub(super) type Base = Option<Rc<str>>;

/// Where a command's input comes from, if that is not the terminal.
#[derive(Clone, Debug, Default)]
pub(super) enum Input {
    #[default]
    Nothing,
    /// From another command, or a file.
    Stream,
    /// From the script itself.
    Text(String),
}

/// What a command writes or reads beside its words.
enum Redirection {
    Read(Word),
    Write(Word),
    Text(Word),
    /// A text behind the line, by its number.
    Awaited(usize),
}

/// A command with its words.
struct Command {
    words: Vec<Word>,
    redirections: Vec<Redirection>,
    is_piped_into: bool,
    is_piped_on: bool,
    base: Base,
}

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Script,
    Parenthesis,
}

/// Words behind which a command begins.
const OPENERS: &[&str] = &[
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "coproc",
];

/// Words that begin something with no command in its own words.
const CLOSERS: &[&str] = &[
    "fi", "done", "esac", "}", "for", "select", "case", "[[", "[",
];

/// Reads scripts and adds up what they do.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) effects: Effects,
    /// Whether the command that is read does with files, or with hosts, what its words do not tell.
    pub(super) is_untold: (bool, bool),
}

impl Reader {
    /// Reads a script that begins in a directory, and leaves the directory in which it ends.
    pub(super) fn script(&mut self, text: &str, base: &mut Base, depth: usize) {
        if depth >= DEEPEST {
            self.effects.untold_files += 1;
            self.effects.untold_hosts += 1;
            return;
        }
        let is_untold = std::mem::take(&mut self.is_untold);
        let mut source = Source::new(text);
        self.list(&mut source, base, End::Script, depth);
        self.is_untold = is_untold;
    }

    /// Reads commands up to an end.
    fn list(&mut self, source: &mut Source<'_>, base: &mut Base, end: End, depth: usize) {
        if depth >= DEEPEST {
            self.effects.untold_files += 1;
            self.effects.untold_hosts += 1;
            source.abandon();
            return;
        }
        let mut list = List::default();
        while let Some(next) = source.peek() {
            match next {
                ' ' | '\t' | '\r' => {
                    source.next();
                }
                '&' | '|' | ')' | '<' | '>' if list.is_test => {
                    source.next();
                }
                '\\' if source.take("\\\n") => {}
                '#' => source.skip_line(),
                '\n' => {
                    source.next();
                    list.finish(self, false, base, depth);
                    source.take_texts();
                    list.catch_up(self, source, base, depth);
                }
                ';' => {
                    source.next();
                    list.finish(self, false, base, depth);
                }
                '&' if source.take("&>>") || source.take("&>") => {
                    let word = self.target(source, base, depth);
                    list.redirections.push(Redirection::Write(word));
                }
                '&' => {
                    source.next();
                    let is_last = !source.take("&");
                    // What runs beside the script changes no directory of the script.
                    list.finish(self, is_last, base, depth);
                    list.is_piped_into = false;
                }
                '|' => {
                    source.next();
                    let is_or = source.take("|");
                    source.take("&");
                    list.finish(self, !is_or, base, depth);
                    list.is_piped_into = !is_or;
                }
                '(' => {
                    source.next();
                    self.open(source, base, depth, &mut list);
                }
                ')' if list.cases > 0 => {
                    source.next();
                    list.words.clear();
                }
                ')' => {
                    source.next();
                    list.finish(self, false, base, depth);
                    if end == End::Parenthesis {
                        break;
                    }
                }
                '<' | '>' => self.redirect(source, base, depth, &mut list),
                _ => {
                    let word = self.word(source, base, depth);
                    list.push(word, source, self, base, depth);
                }
            }
        }
        list.finish(self, false, base, depth);
        list.catch_up(self, source, base, depth);
    }

    /// Reads what stands in parentheses.
    fn open(&mut self, source: &mut Source<'_>, base: &mut Base, depth: usize, list: &mut List) {
        if list.is_test {
            return;
        }
        match list.words.last() {
            // `name=(a b)` is a list of words, `name()` begins a function.
            Some(word) if word.text.ends_with('=') => {
                while let Some(next) = source.peek() {
                    match next {
                        ')' => {
                            source.next();
                            break;
                        }
                        c if is_blank(c) || is_sign(c) => {
                            source.next();
                        }
                        _ => {
                            self.word(source, base, depth);
                        }
                    }
                }
            }
            Some(_) => {
                source.skip_while(|c| c == ' ');
                source.take(")");
                list.words.clear();
            }
            None if source.take("(") => skip_arithmetic(source),
            None => self.list(source, &mut base.clone(), End::Parenthesis, depth + 1),
        }
    }

    /// Reads `<`, `>` and what belongs to them.
    fn redirect(
        &mut self,
        source: &mut Source<'_>,
        base: &mut Base,
        depth: usize,
        list: &mut List,
    ) {
        // A number before it says which stream is meant.
        if list.is_glued
            && list.words.last().is_some_and(|word| {
                !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit())
            })
        {
            list.words.pop();
        }
        if source.take("<<<") {
            let word = self.target(source, base, depth);
            list.redirections.push(Redirection::Text(word));
        } else if source.take("<<") {
            let is_indented = source.take("-");
            let word = self.target(source, base, depth);
            let number = source.await_text(word.text, is_indented, !word.is_quoted);
            list.redirections.push(Redirection::Awaited(number));
        } else if source.take("<(") || source.take(">(") {
            self.list(source, &mut base.clone(), End::Parenthesis, depth + 1);
            list.words.push(Word::of("/dev/fd/63".to_owned()));
        } else if source.take("<&") || source.take(">&") {
            let word = self.target(source, base, depth);
            let is_stream = word.text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            if !is_stream {
                list.redirections.push(Redirection::Write(word));
            }
        } else if source.take("<>") || source.take(">>") || source.take(">|") || source.take(">") {
            let word = self.target(source, base, depth);
            list.redirections.push(Redirection::Write(word));
        } else {
            source.next();
            let word = self.target(source, base, depth);
            list.redirections.push(Redirection::Read(word));
        }
    }

    /// Reads the word behind a sign.
    fn target(&mut self, source: &mut Source<'_>, base: &mut Base, depth: usize) -> Word {
        source.skip_while(|c| c == ' ' || c == '\t');
        if source.take("<(") || source.take(">(") {
            self.list(source, &mut base.clone(), End::Parenthesis, depth + 1);
            return Word::of("/dev/fd/63".to_owned());
        }
        self.word(source, base, depth)
    }

    /// Reads a word; an empty one where a sign comes next.
    fn word(&mut self, source: &mut Source<'_>, base: &mut Base, depth: usize) -> Word {
        let mut word = Word::default();
        let mut has_brace = false;
        while let Some(next) = source.peek() {
            if is_blank(next) || is_sign(next) {
                break;
            }
            source.next();
            match next {
                '\'' => {
                    word.is_quoted = true;
                    push(&mut word.text, source.take_until('\''));
                }
                '"' => self.quoted(source, base, depth, &mut word),
                '\\' => match source.next() {
                    None | Some('\n') => {}
                    Some(escaped) => {
                        word.is_odd |= escaped.is_alphanumeric();
                        word.is_quoted = true;
                        word.text.push(plain(escaped));
                    }
                },
                '$' if source.take("'") => Self::escaped_text(source, &mut word),
                '$' if source.take("\"") => self.quoted(source, base, depth, &mut word),
                '$' => self.dollar(source, base, depth, &mut word),
                '`' => self.backquoted(source, base, depth, &mut word),
                other => {
                    has_brace |= other == '{';
                    word.is_pattern |=
                        matches!(other, '*' | '?' | '[') || (has_brace && other == ',');
                    word.text.push(plain(other));
                }
            }
        }
        word
    }

    /// Reads a text in double quotes, behind the first one.
    fn quoted(&mut self, source: &mut Source<'_>, base: &mut Base, depth: usize, word: &mut Word) {
        word.is_quoted = true;
        while let Some(next) = source.next() {
            match next {
                '"' => break,
                '\\' => match source.next() {
                    None | Some('\n') => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => word.text.push(escaped),
                    Some(other) => word.text.extend(['\\', plain(other)]),
                },
                '$' => self.dollar(source, base, depth, word),
                '`' => self.backquoted(source, base, depth, word),
                other => word.text.push(plain(other)),
            }
        }
    }

    /// Reads a text such as `$'a\nb'`, behind the first quote.
    fn escaped_text(source: &mut Source<'_>, word: &mut Word) {
        word.is_quoted = true;
        while let Some(next) = source.next() {
            match next {
                '\'' => break,
                '\\' => {
                    source.next();
                    word.text.push(UNTOLD);
                }
                other => word.text.push(plain(other)),
            }
        }
    }

    /// Reads what follows a dollar sign: a variable, or commands whose output stands there.
    fn dollar(&mut self, source: &mut Source<'_>, base: &mut Base, depth: usize, word: &mut Word) {
        match source.peek() {
            Some('(') => {
                source.next();
                if source.take("(") {
                    skip_arithmetic(source);
                } else {
                    self.list(source, &mut base.clone(), End::Parenthesis, depth + 1);
                }
            }
            Some('{') => {
                let mut open = 0_usize;
                while let Some(next) = source.next() {
                    match next {
                        '{' => open += 1,
                        '}' if open <= 1 => break,
                        '}' => open -= 1,
                        '\\' => {
                            source.next();
                        }
                        '$' if source.take("(") => {
                            self.list(source, &mut base.clone(), End::Parenthesis, depth + 1);
                        }
                        _ => {}
                    }
                }
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                source.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                source.next();
            }
            _ => {
                word.text.push('$');
                return;
            }
        }
        word.text.push(UNTOLD);
    }

    /// Reads commands between backquotes, behind the first one.
    fn backquoted(
        &mut self,
        source: &mut Source<'_>,
        base: &mut Base,
        depth: usize,
        word: &mut Word,
    ) {
        let mut script = String::new();
        while let Some(next) = source.next() {
            match next {
                '`' => break,
                '\\' => match source.next() {
                    Some(escaped @ ('$' | '`' | '\\')) => script.push(escaped),
                    Some(other) => script.extend(['\\', other]),
                    None => {}
                },
                other => script.push(other),
            }
        }
        self.script(&script, &mut base.clone(), depth + 1);
        word.text.push(UNTOLD);
    }

    /// Reads the commands in a text behind a line, whose words nobody takes for words.
    fn text(&mut self, text: &str, base: &Base, depth: usize) {
        let mut source = Source::new(text);
        let mut word = Word::default();
        let mut base = base.clone();
        let is_untold = std::mem::take(&mut self.is_untold);
        while let Some(next) = source.next() {
            match next {
                '\\' => {
                    source.next();
                }
                '$' => self.dollar(&mut source, &mut base, depth, &mut word),
                '`' => self.backquoted(&mut source, &mut base, depth, &mut word),
                _ => {}
            }
            word.text.clear();
        }
        self.is_untold = is_untold;
    }

    /// Takes a command whose words and texts are all there.
    fn run(
        &mut self,
        command: Command,
        source: Option<&Source<'_>>,
        base: &mut Base,
        depth: usize,
    ) {
        let mut own_base = command.base;
        let mut input = Input::Nothing;
        if command.is_piped_into {
            input = Input::Stream;
        }
        for redirection in &command.redirections {
            match redirection {
                Redirection::Read(word) => {
                    self.reads(word, &own_base);
                    input = Input::Stream;
                }
                Redirection::Write(word) => self.writes(word, &own_base),
                Redirection::Text(word) => {
                    input = word
                        .told()
                        .map_or(Input::Stream, |text| Input::Text(text.to_owned()));
                }
                Redirection::Awaited(number) => {
                    let text = source.and_then(|source| source.text(*number));
                    let (text, is_run) = text.unwrap_or_default();
                    if is_run {
                        self.text(text, &own_base, depth);
                    }
                    input = Input::Text(text.to_owned());
                }
            }
        }
        self.command(&command.words, input, &mut own_base, depth);
        // A command in a pipe runs in a shell of its own.
        if !command.is_piped_into && !command.is_piped_on {
            *base = own_base;
        }
        let (files, hosts) = std::mem::take(&mut self.is_untold);
        self.effects.untold_files += u64::from(files);
        self.effects.untold_hosts += u64::from(hosts);
    }

    /// Takes a command by its words, behind words of the language and settings of variables.
    pub(super) fn command(&mut self, words: &[Word], input: Input, base: &mut Base, depth: usize) {
        let mut words = words;
        while let [first, rest @ ..] = words {
            if first.is("function") {
                words = rest.get(1..).unwrap_or_default();
            } else if first.is_one_of(OPENERS) || is_setting(first) {
                words = rest;
            } else {
                break;
            }
        }
        let Some((first, arguments)) = words.split_first() else {
            return;
        };
        if first.is_one_of(CLOSERS) {
            return;
        }
        match first.told() {
            Some(name) => self.program(name, arguments, input, base, depth),
            None => self.is_untold = (true, true),
        }
    }
}

/// The command that is read, and those of its line that wait for texts.
#[derive(Default)]
struct List {
    words: Vec<Word>,
    redirections: Vec<Redirection>,
    waiting: Vec<Command>,
    is_piped_into: bool,
    /// Between `[[` and `]]`.
    is_test: bool,
    /// How many `case` are open.
    cases: usize,
    /// Whether a sign comes next without a space between.
    is_glued: bool,
}

impl List {
    fn push(
        &mut self,
        word: Word,
        source: &mut Source<'_>,
        reader: &mut Reader,
        base: &mut Base,
        depth: usize,
    ) {
        self.is_glued = matches!(source.peek(), Some('<' | '>'));
        let before: Vec<&Word> = self.words.iter().take(4).collect();
        let is_first = before.iter().all(|word| word.is_one_of(OPENERS));
        if self.is_test {
            self.is_test = !word.is("]]");
            return;
        }
        if is_first && word.is("esac") {
            self.cases = self.cases.saturating_sub(1);
        }
        self.is_test = is_first && word.is("[[");
        let begin = before.iter().find(|word| !word.is_one_of(OPENERS));
        let is_case = begin.is_some_and(|word| word.is("case"));
        let is_in = is_case && word.is("in");
        self.words.push(word);
        if is_in {
            self.finish(reader, false, base, depth);
            self.cases += 1;
        }
    }

    /// Takes the command that is read, whose output a pipe takes on or not.
    fn finish(&mut self, reader: &mut Reader, is_piped_on: bool, base: &mut Base, depth: usize) {
        let command = Command {
            words: std::mem::take(&mut self.words),
            redirections: std::mem::take(&mut self.redirections),
            is_piped_into: std::mem::take(&mut self.is_piped_into),
            is_piped_on,
            base: base.clone(),
        };
        self.is_test = false;
        let waits = |redirection: &Redirection| matches!(redirection, Redirection::Awaited(_));
        if command.redirections.iter().any(waits) {
            self.waiting.push(command);
        } else if !command.words.is_empty() || !command.redirections.is_empty() {
            reader.run(command, None, base, depth);
        }
    }

    /// Takes the commands whose texts have been read.
    fn catch_up(
        &mut self,
        reader: &mut Reader,
        source: &Source<'_>,
        base: &mut Base,
        depth: usize,
    ) {
        for command in std::mem::take(&mut self.waiting) {
            reader.run(command, Some(source), &mut base.clone(), depth);
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Tells whether a character ends a word and is one of the language.
fn is_sign(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')')
}

/// Tells whether a word sets a variable.
fn is_setting(word: &Word) -> bool {
    let Some((name, _)) = word.text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && name.chars().all(is_of_name)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Leaves out a calculation, behind its two parentheses.
fn skip_arithmetic(source: &mut Source<'_>) {
    let mut open = 2_usize;
    while let Some(next) = source.next() {
        match next {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
    }
}

/// Returns a character as it may stand in a word.
fn plain(c: char) -> char {
    if c == UNTOLD { '\u{fffd}' } else { c }
}

fn push(text: &mut String, more: &str) {
    text.extend(more.chars().map(plain));
}
