//! A run that has a word of its own in every field that can hold one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use runtape_core::Record;
use runtape_store::Store;
use runtape_tests::runs::{Dice, Made, Plan, child};
use serde_json::{Value, json};

/// Fields whose text is not free: ids that must fit, and words of the model.
const NOT_FREE: &[&str] = &[
    "type",
    "kind",
    "runId",
    "jobId",
    "id",
    "status",
    "source",
    "stream",
    "role",
    "family",
    "runtime",
    "checkpointId",
];

/// A run and a child that nothing else resembles, and the words by which they can be found.
pub(crate) struct Planted {
    pub(crate) made: Made,
    child: Vec<Record>,
    exit: Value,
    /// Words that only the tape has.
    pub(crate) on_tape: Vec<String>,
    /// Words that only records have, and what is derived from them.
    pub(crate) in_records: Vec<String>,
    /// Words of the job's id, the context and the exit.
    pub(crate) besides: Vec<String>,
}

struct Sower {
    dice: Dice,
    words: BTreeMap<String, String>,
}

impl Sower {
    /// Makes a word that is nowhere else, in letters of both cases.
    fn word(&mut self) -> String {
        let letters = (0..9).map(|place| {
            let letter = char::from(b'a' + u8::try_from(self.dice.roll(26)).unwrap());
            if place == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        });
        letters.collect()
    }

    /// Puts words in the place of texts: the same for the same text.
    fn sow(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let word = match self.words.get(text.as_str()) {
                    Some(word) => word.clone(),
                    None => self.word(),
                };
                self.words
                    .insert(std::mem::replace(text, word.clone()), word);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.sow(item)),
            Value::Object(fields) => fields
                .iter_mut()
                .filter(|(key, _)| !NOT_FREE.contains(&key.as_str()))
                .for_each(|(_, value)| self.sow(value)),
            _ => {}
        }
    }

    fn sow_record(&mut self, record: &mut Record) {
        let mut value = serde_json::to_value(&record).unwrap();
        self.sow(&mut value);
        *record = serde_json::from_value(value).unwrap();
    }
}

impl Planted {
    pub(crate) fn new(run: &str, seed: u64) -> Self {
        let mut sower = Sower {
            dice: Dice::new(seed),
            words: BTreeMap::new(),
        };
        let (job, child_id) = (sower.word(), sower.word());
        let mut made = Plan {
            job: job.clone(),
            fails: true,
            ..Plan::new(run, 12)
        }
        .make();
        let mut childs = child(&made, &child_id);
        for record in made.records.iter_mut().chain(&mut childs) {
            sower.sow_record(record);
        }
        let mut in_records: Vec<String> = sower.words.values().cloned().collect();
        in_records.push(child_id);
        let mut on_tape = Vec::new();
        for chunk in &mut made.chunks {
            let word = sower.word();
            let filled = word
                .bytes()
                .chain(*b" ")
                .cycle()
                .take(chunk.bytes.len() - 1);
            chunk.bytes = filled.chain(*b"\n").collect();
            on_tape.push(word);
        }
        let (context, exit) = (sower.word(), sower.word());
        made.begin.context = json!({"argv": ["claude", context]});
        Self {
            made,
            child: childs,
            exit: json!({"code": 0, "signal": exit}),
            on_tape,
            in_records,
            besides: vec![job, context, exit],
        }
    }

    /// Writes the run as a living one is written: in small batches, which are merged at the end.
    pub(crate) fn store(&self, store: &mut Store) {
        let run = self.made.id();
        store.begin_run(&self.made.begin).unwrap();
        self.made.append_live(store, 7);
        store.append(run, &self.child, &[]).unwrap();
        store.finish_run(run, &self.exit, 1).unwrap();
        store.complete_search().unwrap();
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        let all = [&self.on_tape, &self.in_records, &self.besides];
        all.into_iter().flatten()
    }
}

/// Returns those words of which anything is left in the files of a directory, or in their names.
///
/// The search index keeps words in small letters, and without what they share with the word before:
/// so the end of a word is looked for, in any case.
pub(crate) fn found_in<'a>(
    directory: &Path,
    words: impl IntoIterator<Item = &'a String>,
) -> Vec<&'a String> {
    let mut bytes = Vec::new();
    gather(directory, &mut bytes);
    let mut wanted: HashMap<u64, Vec<&String>> = HashMap::new();
    for word in words {
        let end = word.bytes().skip(word.len() - END).fold(0, shift);
        wanted.entry(end).or_default().push(word);
    }
    let mut found = BTreeSet::new();
    let mut window = 0;
    for byte in bytes {
        window = shift(window, byte);
        if let Some(words) = wanted.get(&window) {
            found.extend(words);
        }
    }
    found.into_iter().collect()
}

/// How many letters at the end of a word are looked for.
const END: usize = 6;

/// Moves a window of as many bytes on by one, in small letters.
fn shift(window: u64, byte: u8) -> u64 {
    (window << 8 | u64::from(byte.to_ascii_lowercase())) & ((1 << (8 * END)) - 1)
}

fn gather(directory: &Path, bytes: &mut Vec<u8>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend_from_slice(path.file_name().unwrap().as_encoded_bytes());
        bytes.push(b'\n');
        if path.is_dir() {
            gather(&path, bytes);
        } else {
            bytes.extend(fs::read(&path).unwrap());
        }
    }
}
