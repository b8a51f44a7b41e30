//! The shape of a secret: literal text, alphabets and lengths.
//!
//! Written as a regular expression, of which this is a part: literal characters, classes such as
//! `[A-Za-z0-9_-]`, `\w`, `\d` and `\s`, counts, groups with `|`, and `\K`, before which is what must stand before the secret.
//! There is no dot and no backtracking into a run: what comes after a run of changing length must not
//! begin with a character of it. So a shape is matched in one pass, and whether a text that ends too
//! early could still become a match is known.

use super::alphabet::{Alphabet, is_word};
use super::text::Text;

/// The longest run where no most is named: no secret is longer, and hostile text is.
pub(super) const LONGEST_RUN: usize = 8192;

/// The shape of a secret.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    atoms: Vec<Atom>,
}

#[derive(Clone, Debug)]
enum Atom {
    Literal(u8),
    Run {
        alphabet: Alphabet,
        least: usize,
        most: usize,
    },
    Group {
        choices: Vec<Vec<Atom>>,
        is_optional: bool,
    },
    /// The secret begins here.
    Start,
}

/// What became of looking for a shape at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShapeOutcome {
    /// It is not there.
    No,
    /// It is there: the secret's place.
    Found { start: usize, end: usize },
    /// The text ends before it is decided; from where on the text would be a secret.
    Undecided { start: usize },
}

impl Shape {
    /// Reads a shape.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let mut reader = Reader {
            rest: pattern.as_bytes(),
            depth: 0,
        };
        let atoms = reader.sequence()?;
        if !reader.rest.is_empty() {
            return Err("a `)` or `|` outside of a group".to_owned());
        }
        check_runs(&atoms, None)?;
        if atoms.iter().all(|atom| matches!(atom, Atom::Start)) {
            return Err("it is empty".to_owned());
        }
        Ok(Self { atoms })
    }

    /// Returns the literal text at a fixed distance from the beginning by which the shape can be looked for:
    /// the longest one, and its distance.
    pub(super) fn needle(&self) -> Option<(Vec<u8>, usize)> {
        let (mut best, mut literal): ((Vec<u8>, usize), (Vec<u8>, usize)) = Default::default();
        let mut distance = 0;
        for atom in &self.atoms {
            match atom {
                Atom::Literal(byte) => {
                    if literal.0.is_empty() {
                        literal.1 = distance;
                    }
                    literal.0.push(*byte);
                    distance += 1;
                    if literal.0.len() > best.0.len() {
                        best.clone_from(&literal);
                    }
                }
                Atom::Run { least, most, .. } if least == most => {
                    literal.0.clear();
                    distance += least;
                }
                Atom::Start => {}
                Atom::Run { .. } | Atom::Group { .. } => break,
            }
        }
        (!best.0.is_empty()).then_some(best)
    }

    /// Looks for the shape at a place.
    pub(super) fn at(&self, text: &Text<'_>, place: usize) -> ShapeOutcome {
        let mut start = place;
        let step = sequence(&self.atoms, text, place, &mut start);
        match step {
            ShapeStep::No => ShapeOutcome::No,
            ShapeStep::End => ShapeOutcome::Undecided { start },
            ShapeStep::To(end) => match text.byte(end) {
                None if text.is_open => ShapeOutcome::Undecided { start },
                // Longer than the shape can be, or a part of something else.
                Some(byte) if is_word(byte) && self.ends_with_word() => ShapeOutcome::No,
                Some(byte) if self.last_alphabet().is_some_and(|last| last.has(byte)) => {
                    ShapeOutcome::No
                }
                _ => ShapeOutcome::Found { start, end },
            },
        }
    }

    fn last_alphabet(&self) -> Option<&Alphabet> {
        match self.atoms.last() {
            Some(Atom::Run { alphabet, .. }) => Some(alphabet),
            _ => None,
        }
    }

    fn ends_with_word(&self) -> bool {
        match self.atoms.last() {
            Some(Atom::Literal(byte)) => is_word(*byte),
            Some(Atom::Run { alphabet, .. }) => {
                alphabet.has(b'a') || alphabet.has(b'A') || alphabet.has(b'0')
            }
            _ => true,
        }
    }
}

enum ShapeStep {
    No,
    /// The text ended, and may go on.
    End,
    To(usize),
}

fn sequence(atoms: &[Atom], text: &Text<'_>, from: usize, start: &mut usize) -> ShapeStep {
    let mut place = from;
    for (index, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Start => *start = place,
            Atom::Literal(byte) => match text.byte(place) {
                Some(found) if found == *byte => place += 1,
                None if text.is_open => return ShapeStep::End,
                _ => return ShapeStep::No,
            },
            Atom::Run {
                alphabet,
                least,
                most,
            } => {
                let end = text.run_end(alphabet, place);
                if end - place < *least {
                    let is_undecided = text.is_open && end == text.len();
                    return if is_undecided {
                        ShapeStep::End
                    } else {
                        ShapeStep::No
                    };
                }
                if end == text.len() && text.is_open && end - place < *most {
                    return ShapeStep::End;
                }
                place = end.min(place.saturating_add(*most));
            }
            Atom::Group {
                choices,
                is_optional,
            } => {
                let rest = atoms.get(index + 1..).unwrap_or_default();
                return group(choices, *is_optional, rest, text, place, start);
            }
        }
    }
    ShapeStep::To(place)
}

/// Tries the choices of a group, each with what comes after the group.
fn group(
    choices: &[Vec<Atom>],
    is_optional: bool,
    rest: &[Atom],
    text: &Text<'_>,
    place: usize,
    start: &mut usize,
) -> ShapeStep {
    for choice in choices {
        let step = match sequence(choice, text, place, start) {
            ShapeStep::To(end) => sequence(rest, text, end, start),
            other => other,
        };
        if !matches!(step, ShapeStep::No) {
            return step;
        }
    }
    if is_optional {
        sequence(rest, text, place, start)
    } else {
        ShapeStep::No
    }
}

/// Refuses a run of changing length whose end depends on what comes after it.
fn check_runs(atoms: &[Atom], after: Option<&Atom>) -> Result<(), String> {
    for (index, atom) in atoms.iter().enumerate() {
        let next = atoms.get(index + 1).or(after);
        match atom {
            Atom::Run {
                alphabet,
                least,
                most,
            } if least != most && next.is_some_and(|next| may_begin_with(next, alphabet)) => {
                return Err(
                    "a run of changing length is followed by one of its own characters".to_owned(),
                );
            }
            Atom::Group { choices, .. } => {
                for choice in choices {
                    check_runs(choice, next)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn may_begin_with(atom: &Atom, alphabet: &Alphabet) -> bool {
    match atom {
        Atom::Literal(byte) => alphabet.has(*byte),
        Atom::Run { alphabet: next, .. } => {
            (0..=255).any(|byte| alphabet.has(byte) && next.has(byte))
        }
        Atom::Group { choices, .. } => choices
            .iter()
            .filter_map(|choice| choice.first())
            .any(|first| may_begin_with(first, alphabet)),
        Atom::Start => false,
    }
}

/// Groups within groups, at the most.
const DEEPEST: usize = 4;

struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Reads atoms up to the end of the pattern or of the group.
    fn sequence(&mut self) -> Result<Vec<Atom>, String> {
        let mut atoms = Vec::new();
        while let Some(&first) = self.rest.first() {
            if matches!(first, b')' | b'|') {
                break;
            }
            self.next();
            let mut alphabet = Alphabet::empty();
            match first {
                b'(' => {
                    atoms.push(self.group()?);
                    continue;
                }
                b'[' => alphabet = self.class()?,
                b'\\' => match self.next() {
                    Some(b'K') => {
                        atoms.push(Atom::Start);
                        continue;
                    }
                    Some(letter) => {
                        if !insert_escape(&mut alphabet, letter) {
                            return Err(format!("`\\{}` is not known", char::from(letter)));
                        }
                    }
                    None => return Err("it ends with a `\\`".to_owned()),
                },
                b'.' | b'^' | b'$' | b'*' | b'+' | b'?' | b'{' | b'}' => {
                    let sign = char::from(first);
                    return Err(format!(
                        "`{sign}` has no place here: name an alphabet and a length, or write `\\{sign}`"
                    ));
                }
                byte if byte.is_ascii_graphic() || byte == b' ' => alphabet.insert(byte),
                _ => return Err("only printable ASCII can be looked for".to_owned()),
            }
            let (least, most) = self.count()?;
            let only = (0..=255)
                .filter(|&byte| alphabet.has(byte))
                .collect::<Vec<u8>>();
            match (only.as_slice(), least, most) {
                ([byte], 1, 1) => atoms.push(Atom::Literal(*byte)),
                ([], ..) => return Err("an empty class".to_owned()),
                _ => atoms.push(Atom::Run {
                    alphabet,
                    least,
                    most,
                }),
            }
        }
        Ok(atoms)
    }

    fn group(&mut self) -> Result<Atom, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("groups are nested too deeply".to_owned());
        }
        if let Some(rest) = self.rest.strip_prefix(b"?:") {
            self.rest = rest;
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.sequence()?);
            match self.next() {
                Some(b'|') => {}
                Some(_) => break,
                None => return Err("a `(` without its `)`".to_owned()),
            }
        }
        self.depth -= 1;
        let is_optional = match self.count()? {
            (1, 1) => false,
            (0, 1) => true,
            _ => return Err("a group is there once, or may be absent with `?`".to_owned()),
        };
        Ok(Atom::Group {
            choices,
            is_optional,
        })
    }

    fn class(&mut self) -> Result<Alphabet, String> {
        let mut alphabet = Alphabet::empty();
        let is_inverted = self.rest.first() == Some(&b'^');
        if is_inverted {
            self.next();
        }
        loop {
            let first = match self.next() {
                None => return Err("a `[` without its `]`".to_owned()),
                Some(b']') => break,
                Some(b'\\') => {
                    let letter = self.next().unwrap_or(b'\\');
                    if !insert_escape(&mut alphabet, letter) {
                        return Err(format!("`\\{}` is not known", char::from(letter)));
                    }
                    continue;
                }
                Some(byte) => byte,
            };
            match *self.rest {
                [b'-', last, ..] if last != b']' => {
                    self.next();
                    self.next();
                    if last < first {
                        return Err("a range that runs backwards".to_owned());
                    }
                    alphabet.insert_range(first, last);
                }
                _ => alphabet.insert(first),
            }
        }
        Ok(if is_inverted {
            alphabet.inverted()
        } else {
            alphabet
        })
    }

    /// Reads how often the last atom is there.
    fn count(&mut self) -> Result<(usize, usize), String> {
        let counts = match self.rest.first() {
            Some(b'?') => (0, 1),
            Some(b'*') => (0, LONGEST_RUN),
            Some(b'+') => (1, LONGEST_RUN),
            Some(b'{') => {
                let end = memchr::memchr(b'}', self.rest).ok_or("a `{` without its `}`")?;
                let (inner, rest) = self.rest.split_at(end);
                self.rest = rest;
                let inner = String::from_utf8_lossy(inner.get(1..).unwrap_or_default());
                let number = |text: &str| {
                    let number = text.trim().parse::<usize>().ok();
                    number.filter(|number| *number <= LONGEST_RUN)
                };
                let counts = match inner.split_once(',') {
                    None => number(&inner).map(|count| (count, count)),
                    Some((least, "")) => number(least).map(|least| (least, LONGEST_RUN)),
                    Some((least, most)) => number(least).zip(number(most)),
                };
                let wrong = || format!("{{{inner}}} is no count of at most {LONGEST_RUN}");
                counts
                    .filter(|(least, most)| least <= most && *most > 0)
                    .ok_or_else(wrong)?
            }
            _ => return Ok((1, 1)),
        };
        self.next();
        Ok(counts)
    }
}

/// Adds what an escape stands for.
fn insert_escape(alphabet: &mut Alphabet, letter: u8) -> bool {
    match letter {
        b'w' => alphabet.insert_words(),
        b'd' => alphabet.insert_digits(),
        b's' => {
            alphabet.insert(b' ');
            alphabet.insert(b'\t');
        }
        sign if sign.is_ascii_punctuation() => alphabet.insert(sign),
        _ => return false,
    }
    true
}
