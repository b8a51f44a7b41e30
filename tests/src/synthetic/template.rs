//! A capture with holes where its ids and words were.

use std::collections::{BTreeSet, HashMap};

use super::ids::{self, Form};
use super::letters::{Letter, text_of};
use super::random::Random;
use super::text::{self, Passage};
use super::words::Words;

/// Shorter words are mostly the language's own, or not words at all.
const SHORTEST_WORD: usize = 3;
/// Shortest line that is recognized at the start of a longer one.
const SHORTEST_START: usize = 8;

/// The output of a capture, to be written with new ids and words.
#[derive(Debug)]
pub(super) struct Template {
    stdout: Vec<TemplatePart>,
    stderr: Vec<TemplatePart>,
    holes: Vec<Hole>,
}

#[derive(Debug)]
enum TemplatePart {
    Literal(Vec<u8>),
    Fill(Fill),
}

/// What goes into a hole.
#[derive(Debug)]
enum Hole {
    Id(Form),
    Word,
}

/// A place where a hole's text is written, or a part of it: deltas cut words in two.
#[derive(Clone, Copy, Debug)]
struct Fill {
    hole: usize,
    part: usize,
    parts: usize,
    case: Case,
}

#[derive(Clone, Copy, Debug)]
enum Case {
    Same,
    Capital,
    Upper,
}

/// Bytes of the capture that give way to a [`Fill`].
struct Edit {
    at: usize,
    length: usize,
    fill: Fill,
}

impl Template {
    /// Makes a template of what a CLI wrote.
    pub(super) fn new(runtime: &str, stdout: &[u8], stderr: &[u8]) -> Self {
        let read = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        let out = match runtime {
            "hermes" => text::of_chat(read(stdout)),
            _ => text::of_json_lines(read(stdout)),
        };
        let error = text::of_other(read(stderr));
        let mut builder = Builder::default();
        builder.learn_ids(&out);
        let out = builder.edits(&out);
        let error = builder.edits(&error);
        Self {
            stdout: pieces(stdout, out),
            stderr: pieces(stderr, error),
            holes: builder.holes,
        }
    }

    /// Writes both streams with new ids and words.
    pub(super) fn write(&self, words: &Words, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
        let mut fillings = Vec::with_capacity(self.holes.len());
        for hole in &self.holes {
            fillings.push(match hole {
                Hole::Id(form) => form.make(random),
                Hole::Word => words.pick(random).to_owned(),
            });
        }
        (
            write(&self.stdout, &fillings),
            write(&self.stderr, &fillings),
        )
    }
}

fn write(pieces: &[TemplatePart], fillings: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            TemplatePart::Literal(bytes) => out.extend_from_slice(bytes),
            TemplatePart::Fill(fill) => {
                let text = fillings.get(fill.hole).map_or("", String::as_str);
                fill.write(text, &mut out);
            }
        }
    }
    out
}

impl Fill {
    fn write(self, text: &str, out: &mut Vec<u8>) {
        // Made-up words and ids are ASCII, so any byte may be cut at.
        let from = text.len() * self.part / self.parts;
        let to = text.len() * (self.part + 1) / self.parts;
        let start = out.len();
        out.extend_from_slice(text.as_bytes().get(from..to).unwrap_or_default());
        let written = out.get_mut(start..).unwrap_or_default();
        match self.case {
            Case::Upper => written.make_ascii_uppercase(),
            Case::Capital if self.part == 0 => {
                written
                    .iter_mut()
                    .take(1)
                    .for_each(u8::make_ascii_uppercase);
            }
            Case::Capital | Case::Same => {}
        }
    }
}

/// Cuts the capture into what stays and what is filled in.
fn pieces(bytes: &[u8], mut edits: Vec<Edit>) -> Vec<TemplatePart> {
    edits.sort_by_key(|edit| edit.at);
    let mut pieces = Vec::new();
    let mut done = 0;
    for edit in edits {
        let Some(literal) = bytes.get(done..edit.at) else {
            continue;
        };
        if !literal.is_empty() {
            pieces.push(TemplatePart::Literal(literal.to_vec()));
        }
        pieces.push(TemplatePart::Fill(edit.fill));
        done = edit.at + edit.length;
    }
    pieces.push(TemplatePart::Literal(
        bytes.get(done..).unwrap_or_default().to_vec(),
    ));
    pieces
}

/// Finds the holes; the same id, or the same word of the same line, is the same hole.
#[derive(Default)]
struct Builder {
    holes: Vec<Hole>,
    known_ids: BTreeSet<String>,
    id_holes: HashMap<String, usize>,
    /// The holes of a line's words, by the line.
    lines: HashMap<String, Vec<usize>>,
    /// The same lines by how they start.
    starts: HashMap<String, Vec<String>>,
}

impl Builder {
    fn learn_ids(&mut self, passages: &[Passage]) {
        for passage in passages {
            self.known_ids
                .extend(ids::by_key(&passage.key, &passage.letters));
        }
    }

    fn hole(&mut self, hole: Hole) -> usize {
        self.holes.push(hole);
        self.holes.len() - 1
    }

    fn edits(&mut self, passages: &[Passage]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for passage in passages {
            let mut start = 0;
            for (range, form) in ids::find(&passage.letters, &self.known_ids) {
                let between = passage.letters.get(start..range.start).unwrap_or_default();
                self.edit_words(between, passage.prose, &mut edits);
                let letters = passage.letters.get(range.clone()).unwrap_or_default();
                let text = text_of(letters);
                let hole = match self.id_holes.get(&text) {
                    Some(hole) => *hole,
                    None => self.hole(Hole::Id(form)),
                };
                self.id_holes.insert(text, hole);
                edit(letters, hole, Case::Same, &mut edits);
                start = range.end;
            }
            let rest = passage.letters.get(start..).unwrap_or_default();
            self.edit_words(rest, passage.prose, &mut edits);
        }
        edits
    }

    fn edit_words(&mut self, letters: &[Letter], prose: bool, edits: &mut Vec<Edit>) {
        if !prose {
            return;
        }
        for line in letters.split(|letter| letter.value == '\n') {
            let mut rest = without_number(line);
            while !rest.is_empty() {
                let (known, after) = rest.split_at(self.known_start(rest));
                self.edit_line(known, edits);
                rest = after;
            }
        }
    }

    /// Returns how much of a line was a line of its own before, or all of it. Some runtimes glue
    /// the texts of a run together in its result.
    fn known_start(&self, line: &[Letter]) -> usize {
        let text = text_of(line);
        if self.lines.contains_key(&text) {
            return line.len();
        }
        let alike = self.starts.get(&start_of(&text)).into_iter().flatten();
        let before = alike.filter(|known| text.starts_with(known.as_str()));
        let longest = before.map(|known| known.chars().count()).max();
        longest.unwrap_or(line.len())
    }

    fn edit_line(&mut self, line: &[Letter], edits: &mut Vec<Edit>) {
        let words: Vec<&[Letter]> = line
            .split(|letter| !letter.value.is_ascii_alphabetic())
            .filter(|word| word.len() >= SHORTEST_WORD)
            .collect();
        let text = text_of(line);
        let holes = match self.lines.get(&text) {
            Some(holes) => holes.clone(),
            None => words.iter().map(|_| self.hole(Hole::Word)).collect(),
        };
        let start = start_of(&text);
        if start.len() >= SHORTEST_START && !self.lines.contains_key(&text) {
            self.starts.entry(start).or_default().push(text.clone());
        }
        for (word, hole) in words.into_iter().zip(&holes) {
            let capitals = word
                .iter()
                .filter(|letter| letter.value.is_ascii_uppercase());
            let first = word
                .first()
                .is_some_and(|letter| letter.value.is_ascii_uppercase());
            let case = match (capitals.count(), first) {
                (count, _) if count == word.len() => Case::Upper,
                (_, true) => Case::Capital,
                _ => Case::Same,
            };
            edit(word, *hole, case, edits);
        }
        self.lines.insert(text, holes);
    }
}

fn start_of(line: &str) -> String {
    line.chars().take(SHORTEST_START).collect()
}

/// Returns a line without the number that tools put before lines of a file.
fn without_number(line: &[Letter]) -> &[Letter] {
    let digits = line
        .iter()
        .take_while(|letter| letter.value.is_ascii_digit() || letter.value == ' ');
    let (number, rest) = line.split_at(digits.count());
    match rest.split_first() {
        Some((tab, rest)) if tab.value == '\t' && !number.is_empty() => rest,
        _ => line,
    }
}

/// Notes that letters give way to a hole's text, a part for each place that they are written at.
fn edit(letters: &[Letter], hole: usize, case: Case, edits: &mut Vec<Edit>) {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for letter in letters {
        match places.last_mut() {
            Some((at, length)) if *at + *length == letter.at => *length += letter.length,
            _ => places.push((letter.at, letter.length)),
        }
    }
    let parts = places.len();
    edits.extend(
        places
            .into_iter()
            .enumerate()
            .map(|(part, (at, length))| Edit {
                at,
                length,
                fill: Fill {
                    hole,
                    part,
                    parts,
                    case,
                },
            }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_stays_repeated() {
        let capture = concat!(
            r#"{"type":"message","delta":true,"content":"Hello wor"}"#,
            "\n",
            r#"{"type":"message","delta":true,"content":"ld of alpha.","id":"msg_fake01"}"#,
            "\n",
            r#"{"type":"x","content":"7\tHello world of alpha.","id":"msg_fake01","name":"Kept"}"#,
            "\n",
        );
        let template = Template::new("gemini", capture.as_bytes(), b"see msg_fake01\n");
        let (stdout, stderr) = template.write(&Words::default(), &mut Random::new(5));
        let stdout = String::from_utf8(stdout).unwrap();
        let lines: Vec<serde_json::Value> = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let text = |line: usize| lines[line]["content"].as_str().unwrap();
        assert_eq!(format!("7\t{}{}", text(0), text(1)), text(2));
        assert!(!stdout.contains("Hello") && !stdout.contains("msg_fake"));
        assert_eq!(lines[1]["id"], lines[2]["id"]);
        assert_eq!(
            format!("see {}\n", lines[1]["id"].as_str().unwrap()).as_bytes(),
            stderr
        );
        assert_eq!(lines[2]["name"], "Kept");
    }

    #[test]
    fn two_replicas_differ() {
        let template = Template::new("gemini", br#"{"type":"x","content":"some words"}"#, b"");
        let (words, mut random) = (Words::default(), Random::new(5));
        let first = template.write(&words, &mut random);
        assert_ne!(first, template.write(&words, &mut random));
    }
}
