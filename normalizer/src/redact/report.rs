//! What a filter found, told without the secrets.

use runtape_core::Stream;

use super::counts::RedactionCounts;
use super::line::FoundSecret;
use super::redactor::Found;
use super::rule_set::RuleSet;

/// What a filter reports.
#[derive(Debug, Default)]
pub(super) struct FilterReport {
    pub(super) counts: RedactionCounts,
    /// What each rule found since it was counted last, by its number.
    fresh: Vec<u64>,
    /// What was found, if anybody wants to know.
    pub(super) finds: Option<Vec<Found>>,
}

impl FilterReport {
    /// Takes note of secrets that were found in a line, which begins at a place of its stream.
    pub(super) fn note(
        &mut self,
        found: &[FoundSecret],
        stream: Stream,
        line_start: u64,
        rules: &RuleSet,
    ) {
        for FoundSecret { rule, secret } in found {
            self.found(*rule);
            if let Some(finds) = &mut self.finds {
                finds.push(Found {
                    stream,
                    line_start,
                    rule: rules.name(*rule).to_owned(),
                    masked: masked(secret),
                    commitment: rules.key().map(|key| key.commitment(secret)),
                });
            }
        }
    }

    fn found(&mut self, rule: u16) {
        let rule = usize::from(rule);
        if rule >= self.fresh.len() {
            self.fresh.resize(rule + 1, 0);
        }
        if let Some(count) = self.fresh.get_mut(rule) {
            *count += 1;
        }
    }

    /// Counts what was found by the names of the rules.
    pub(super) fn count(&mut self, rules: &RuleSet) {
        for (rule, count) in (0_u16..).zip(self.fresh.drain(..)) {
            if count > 0 {
                self.counts.count(rules.name(rule), count);
            }
        }
    }
}

/// Shows the beginning of a secret, and how long it is.
fn masked(secret: &[u8]) -> String {
    let text = String::from_utf8_lossy(secret);
    let count = text.chars().count();
    let shown: String = text.chars().take((count / 4).min(6)).collect();
    let shown: String = shown
        .chars()
        .map(|character| {
            if character.is_control() {
                '?'
            } else {
                character
            }
        })
        .collect();
    format!("{shown}… ({count} characters)")
}
