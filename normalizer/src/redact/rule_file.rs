//! The built-in rules, as they stand in the file.

use std::sync::OnceLock;

use super::rule::{Check, Needle, Rule};
use super::tier::Tier;

/// The file. Its head says what is in it.
pub(super) const FILE: &str = include_str!("rules.tsv");

/// One line of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) tier: Tier,
    needles: &'static str,
    shape: &'static str,
    check: &'static str,
    pub(super) example: &'static str,
    pub(super) near_miss: &'static str,
}

/// Reads the rows of the file.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    let lines = FILE.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some(Row {
            name: next()?,
            tier: next()?.parse().ok()?,
            needles: next()?,
            shape: next()?,
            check: next()?,
            example: next()?,
            near_miss: next()?,
        })
    })
}

/// Returns the built-in rules. The file is read once, and no shape of it.
pub(super) fn built_in() -> &'static [Rule] {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(|| rows().map(Row::rule).collect())
}

impl Row {
    fn rule(self) -> Rule {
        let needles = self.needles.split(',').map(|needle| {
            let placed = needle.rsplit_once('@');
            let (text, distance) = placed.unwrap_or((needle, "0"));
            Needle {
                text: text.as_bytes().into(),
                distance: distance.parse().unwrap_or_default(),
                begins_run: placed.is_none() && !self.shape.starts_with('@'),
            }
        });
        let needles = needles.collect();
        let check = match self.check.split_once(':') {
            Some((_, bits)) => Check::Entropy(bits.parse().unwrap_or_default()),
            None => Check::None,
        };
        Rule::new(
            self.name.into(),
            self.tier,
            needles,
            self.shape.into(),
            check,
        )
    }
}
