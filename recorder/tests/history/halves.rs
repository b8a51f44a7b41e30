//! What an account of a run knows, to be compared with what another one knows.

use std::collections::BTreeMap;

use runtape_core::{Message, RecordKind, RunId, RunSummary, UserPart, summarize};
use runtape_store::Store;

/// What a stored run knows.
pub(crate) struct Knowledge {
    pub(crate) summary: RunSummary,
    pub(crate) prompts: Vec<String>,
    pub(crate) responses: Vec<String>,
}

impl Knowledge {
    pub(crate) fn of(store: &Store, run: &RunId) -> Self {
        let records = store.tree_records(run).unwrap();
        let mut prompts = Vec::new();
        let mut responses = Vec::new();
        for record in &records {
            match &record.kind {
                RecordKind::Message(message) if record.run_id == *run => {
                    if let Message::UserMessage(user) = &message.message {
                        prompts.extend(user.contents.iter().filter_map(|part| match part {
                            UserPart::TextPart(part) => Some(part.text.clone()),
                            _ => None,
                        }));
                    }
                }
                RecordKind::Usage(entry)
                    if !matches!(entry.key.as_str(), "total" | "remainder") =>
                {
                    responses.push(entry.key.clone());
                }
                _ => {}
            }
        }
        Self {
            summary: summarize(&records).unwrap(),
            prompts,
            responses,
        }
    }

    fn counts(&self) -> [usize; 6] {
        let calls = &self.summary.tool_calls;
        [
            self.prompts.len(),
            self.summary
                .texts
                .iter()
                .filter(|text| !text.is_empty())
                .count(),
            self.summary
                .thinking
                .iter()
                .filter(|text| !text.is_empty())
                .count(),
            calls.len(),
            calls.iter().filter(|call| call.output.is_some()).count(),
            self.responses.len(),
        ]
    }

    /// Returns one line of a table.
    pub(crate) fn row(&self) -> String {
        let [prompts, texts, thinking, calls, results, responses] = self.counts();
        let tokens = self.summary.usage.and_then(|usage| usage.total_tokens);
        let tokens = tokens.map_or("-".to_owned(), |tokens| tokens.to_string());
        let cost = if self.summary.cost_usd.is_some() {
            "yes"
        } else {
            "-"
        };
        format!(
            "{prompts:>7} {texts:>5} {thinking:>8} {calls:>5} {results:>7} {responses:>9} {tokens:>8} {cost:>4}"
        )
    }
}

/// The letters and digits of a text.
pub(crate) fn loose(text: &str) -> String {
    let letters: String = text
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect();
    if letters.is_empty() {
        return text.split_whitespace().collect();
    }
    letters
}

fn bag<'a>(texts: impl IntoIterator<Item = &'a String>) -> BTreeMap<String, usize> {
    let mut bag = BTreeMap::new();
    for text in texts {
        let text = loose(text);
        if !text.is_empty() {
            *bag.entry(text).or_default() += 1;
        }
    }
    bag
}

/// Returns which of some texts are not among others, neither as they are nor as a part of one.
pub(crate) fn missing(have: &[String], want: &[String]) -> Vec<String> {
    let have = bag(have);
    let all: String = have.keys().flat_map(|text| [text.as_str(), "\n"]).collect();
    let wanted = bag(want);
    wanted
        .into_iter()
        .filter(|(text, count)| {
            have.get(text).is_none_or(|have| have < count) && !all.contains(text.as_str())
        })
        .map(|(text, _)| text)
        .collect()
}
