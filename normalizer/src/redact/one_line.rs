//! A line that stands by itself: of a session file, of an export.

use std::borrow::Cow;

use runtape_core::Stream;

use super::counts::RedactionCounts;
use super::edit::apply_to_line;
use super::kept::KeptLine;
use super::line::LineReader;
use super::look::take_hits;
use super::marker::Markers;
use super::report::FilterReport;
use super::rule_set::RuleSet;
use super::seen::Seen;
use super::stream::StreamFilter;
use super::tier::Tier;

impl RuleSet {
    /// Returns a line, or a whole JSON document, as it may be kept: [without its secrets](Self::redact_line).
    #[must_use]
    pub fn keep_line<'a>(&self, line: &'a [u8], counts: &mut RedactionCounts) -> KeptLine<'a> {
        KeptLine::filtered(self.redact_line(line, counts))
    }

    /// Returns a line, or a whole JSON document, without its secrets. Unlike a [`Redactor`](super::Redactor) it knows no
    /// line before and none after: the same line always gives the same.
    #[must_use]
    pub fn redact_line<'a>(&self, line: &'a [u8], counts: &mut RedactionCounts) -> Cow<'a, [u8]> {
        if self.tier() == Tier::Off {
            return Cow::Borrowed(line);
        }
        let needles = self.needles();
        let reader = LineReader {
            rules: self,
            needles: &needles,
            deltas: &[],
            wraps_words: false,
            markers: &Markers::default(),
        };
        let mut seen = Seen::default();
        let mut search = needles.search(line);
        let (mut from, mut is_worth) = (0, false);
        while let Some(place) = search.next(from) {
            is_worth |= take_hits(&search, place, reader, &mut seen);
            from = place + 1;
        }
        if !is_worth {
            return Cow::Borrowed(line);
        }
        let finds = reader.read(line, Some(&seen));
        if finds.goes_on.is_some() {
            return Cow::Owned(text_of_lines(line, reader, counts));
        }
        if finds.edits.is_empty() {
            return Cow::Borrowed(line);
        }
        for found in &finds.found {
            counts.count(self.name(found.rule), 1);
        }
        Cow::Owned(apply_to_line(line, &finds.edits))
    }
}

/// Filters text in which something begins that may go on in the next line, and nothing comes after it.
fn text_of_lines(text: &[u8], reader: LineReader<'_>, counts: &mut RedactionCounts) -> Vec<u8> {
    let mut filter = StreamFilter::new(Stream::History, usize::MAX / 2);
    let mut report = FilterReport::default();
    let mut kept = Vec::with_capacity(text.len());
    filter.push(text, 0, reader, &mut report, &mut |_, part, _| {
        kept.extend_from_slice(part.bytes());
    });
    filter.finish(reader, &mut report, &mut |_, part, _| {
        kept.extend_from_slice(part.bytes());
    });
    counts.add(&report.counts);
    kept
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn a_line_by_itself_loses_its_secrets_and_nothing_else() {
        let rules = RuleSet::new(Tier::Definite);
        for example in examples(5) {
            if example.tier != Tier::Definite {
                continue;
            }
            let value = serde_json::json!({"text": example.text, "n": [1, "a"]});
            for line in [value.to_string(), format!("{value:#}")] {
                let mut counts = RedactionCounts::default();
                let kept = rules.redact_line(line.as_bytes(), &mut counts);
                let read: serde_json::Value = serde_json::from_slice(&kept).unwrap();
                let text = read["text"].as_str().unwrap();
                assert!(!text.contains(&example.secret), "{}: {text}", example.rule);
                assert_eq!(read["n"], value["n"]);
                assert_eq!(counts.total(), 1, "{}: {counts:?}", example.rule);
                let again = rules.redact_line(&kept, &mut counts);
                assert!(matches!(again, Cow::Borrowed(_)), "{}", example.rule);
            }
            let mut counts = RedactionCounts::default();
            let miss = example.near_miss.as_bytes();
            assert_eq!(
                &*rules.redact_line(miss, &mut counts),
                miss,
                "{}",
                example.rule
            );
        }
    }
}
