//! What is looked for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use runtape_core::Runtime;

use super::counts::RedactionCounts;
use super::delta::DeltaShape;
use super::edit::{Edit, apply};
use super::key::RedactionKey;
use super::marker::{is_name, marker};
use super::needles::{Needles, Owner};
use super::rule::Rule;
use super::rule_file::{FILE, built_in};
use super::scan::Scanner;
use super::text::Text;
use super::tier::Tier;
use crate::runtimes::entry_for;

/// The least number of characters of a value that is looked for because somebody said so.
const SHORTEST_VALUE: usize = 6;
/// The least number of characters of a value that is looked for because its name looks secret.
const SHORTEST_GUESS: usize = 12;

/// How an escape of ASCII begins: a line with one that is printable is always read, since it may hide a needle.
pub(super) const ESCAPE: &[u8] = br"\u00";

/// A rule that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The rule's name does not fit into a marker.
    #[error("rule {name:?}: a name has 1 to 80 letters, digits, '.', '_' and '-'")]
    Name {
        /// The name.
        name: String,
    },
    /// The rule's pattern cannot be read.
    #[error("rule {name:?}: pattern {pattern:?}: {reason}")]
    Pattern {
        /// The rule's name.
        name: String,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A value that is so short that it would be found where it is none.
    #[error("the value of {name} is too short to be looked for: {least} characters are the least")]
    Short {
        /// The value's name.
        name: String,
        /// The least number of characters.
        least: usize,
    },
}

/// What is looked for: built-in rules of a tier, rules of one's own, values, and what is allowed.
///
/// Made once and shared. Nothing is read or compiled before the first line is looked at, and a rule is
/// made ready when one of its needles is first seen.
#[derive(Debug, Default)]
pub struct RuleSet {
    tier: Tier,
    key: Option<RedactionKey>,
    /// Rules of one's own and values: their numbers follow those of the built-in ones.
    own: Vec<Rule>,
    allowed: BTreeSet<String>,
    /// The needles, for text and for each runtime that prints pieces.
    needles: OnceLock<Arc<Needles>>,
    of_runtimes: Mutex<Vec<(Runtime, Arc<Needles>)>>,
}

impl RuleSet {
    /// Creates the set of the built-in rules of a tier.
    #[must_use]
    pub fn new(tier: Tier) -> Self {
        Self {
            tier,
            ..Self::default()
        }
    }

    /// Lets markers commit to their secrets with a key. Without one they name the rule only.
    #[must_use]
    pub fn with_key(mut self, key: RedactionKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Adds a rule: a pattern of literal text, alphabets and lengths such as `acme_[A-Za-z0-9]{32}`.
    ///
    /// The pattern is a part of regular expressions: literal characters, classes, `\w`, `\d`, `\s`, counts, groups with `|`, and
    /// `\K` before the secret where other text comes first.
    pub fn with_rule(self, name: &str, pattern: &str) -> Result<Self, RuleError> {
        if !is_name(name) {
            let name = name.to_owned();
            return Err(RuleError::Name { name });
        }
        let rule = Rule::own(name, pattern).map_err(|reason| RuleError::Pattern {
            name: name.to_owned(),
            pattern: pattern.to_owned(),
            reason,
        })?;
        Ok(self.with(rule))
    }

    /// Leaves a text alone that a rule finds: exactly this, or what begins with it if it ends in `*`.
    #[must_use]
    pub fn with_allowed(mut self, text: &str) -> Self {
        self.allowed.insert(text.to_owned());
        self
    }

    /// Looks for a value wherever it stands. Its name goes into the marker.
    pub fn with_value(self, name: &str, value: &str) -> Result<Self, RuleError> {
        if value.chars().count() < SHORTEST_VALUE {
            return Err(RuleError::Short {
                name: name.to_owned(),
                least: SHORTEST_VALUE,
            });
        }
        let marked = format!("env.{name}");
        if !is_name(&marked) {
            let name = name.to_owned();
            return Err(RuleError::Name { name });
        }
        Ok(self.with(Rule::value(&marked, value)))
    }

    /// Looks for the values of those variables whose names look secret, if they have 12 or more
    /// characters and are no paths.
    #[must_use]
    pub fn with_environment<'a>(
        mut self,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        for (name, value) in variables {
            let is_path = value.starts_with(['/', '~', '.']);
            let is_long = value.chars().count() >= SHORTEST_GUESS;
            let marked = format!("env.{name}");
            if crate::paperclip::is_secret(name) && is_long && !is_path && is_name(&marked) {
                self = self.with(Rule::value(&marked, value));
            }
        }
        self
    }

    fn with(mut self, rule: Rule) -> Self {
        self.own.push(rule);
        self.needles = OnceLock::new();
        self.of_runtimes = Mutex::default();
        self
    }

    /// Returns the tier.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Returns the key of the commitments.
    #[must_use]
    pub fn key(&self) -> Option<&RedactionKey> {
        self.key.as_ref()
    }

    /// Returns the edition of the built-in rules.
    #[must_use]
    pub fn edition(&self) -> &'static str {
        "2026-11"
    }

    /// Returns a digest of all that decides what is found, in 32 digits: built-in rules, tier, own
    /// rules, allowed texts, and the names of values (not the values).
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &str| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        add(FILE);
        add(self.tier.as_str());
        for rule in &self.own {
            add(&rule.name);
            add(rule.pattern());
        }
        add("allowed");
        for text in &self.allowed {
            add(text);
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }

    /// Returns a text that the caller gave, such as a word of a command line, without its secrets.
    #[must_use]
    pub fn redact_text<'a>(&self, text: &'a str, counts: &mut RedactionCounts) -> Cow<'a, str> {
        if self.tier == Tier::Off {
            return Cow::Borrowed(text);
        }
        let needles = self.needles();
        let rules = Scanner {
            rules: self,
            needles: &needles,
        };
        let scanned = rules.scan(&Text::new(text.as_bytes()));
        if scanned.secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        let edits = scanned.secrets.iter().map(|secret| {
            let bytes = text
                .as_bytes()
                .get(secret.place.clone())
                .unwrap_or_default();
            counts.count(self.name(secret.rule), 1);
            Edit {
                place: secret.place.clone(),
                text: marker(self.name(secret.rule), self.key.as_ref(), bytes),
            }
        });
        let edits: Vec<Edit> = edits.collect();
        let bytes = apply(text.as_bytes(), &edits);
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the rule with a number.
    pub(super) fn rule(&self, number: u16) -> Option<&Rule> {
        let built_in = built_in();
        let number = usize::from(number);
        match number.checked_sub(built_in.len()) {
            None => built_in.get(number),
            Some(own) => self.own.get(own),
        }
    }

    /// Tells whether a needle is that of private keys.
    pub(super) fn is_key(&self, owner: Owner) -> bool {
        let rule = owner.rule.and_then(|rule| self.rule(rule));
        rule.is_some_and(Rule::is_private_key)
    }

    /// Returns the name of the rule with a number.
    pub(super) fn name(&self, number: u16) -> &str {
        self.rule(number).map_or("unknown", |rule| &rule.name)
    }

    /// Returns the number of a rule that is in force, by its name.
    pub(super) fn number(&self, name: &str) -> Option<u16> {
        let mut numbered = (0..).zip(built_in());
        numbered.find_map(|(number, rule)| {
            (rule.name == name && rule.tier <= self.tier).then_some(number)
        })
    }

    /// Tells whether a text is left alone.
    pub(super) fn is_allowed(&self, secret: &[u8]) -> bool {
        self.allowed
            .iter()
            .any(|allowed| match allowed.strip_suffix('*') {
                Some(beginning) => secret.starts_with(beginning.as_bytes()),
                None => secret == allowed.as_bytes(),
            })
    }

    /// Returns the needles of all rules.
    pub(super) fn needles(&self) -> Arc<Needles> {
        Arc::clone(
            self.needles
                .get_or_init(|| Arc::new(self.make_needles(&[]))),
        )
    }

    /// Returns the needles of all rules and of the pieces that a runtime prints.
    pub(super) fn needles_of(&self, runtime: &Runtime) -> Arc<Needles> {
        let deltas = entry_for(runtime).map_or(&[][..], |entry| entry.deltas);
        if deltas.is_empty() {
            return self.needles();
        }
        let mut known = self
            .of_runtimes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, needles)) = known.iter().find(|(known, _)| known == runtime) {
            return Arc::clone(needles);
        }
        let needles = Arc::new(self.make_needles(deltas));
        known.push((runtime.clone(), Arc::clone(&needles)));
        needles
    }

    fn make_needles(&self, deltas: &'static [DeltaShape]) -> Needles {
        let rules = built_in().iter().chain(&self.own);
        let of_rules = (0..).zip(rules).filter(|(_, rule)| rule.tier <= self.tier);
        let of_rules = of_rules.flat_map(|(number, rule)| {
            rule.needles.iter().map(move |needle| {
                let owner = Owner {
                    rule: Some(number),
                    distance: needle.distance,
                    begins_run: needle.begins_run,
                    delta: None,
                };
                (needle.text.to_vec(), owner)
            })
        });
        let escape = (ESCAPE.to_vec(), Owner::READER);
        Needles::new(of_rules.chain([escape]), deltas)
    }
}
