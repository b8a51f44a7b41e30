//! One rule: what a kind of secret looks like.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::alphabet::{Alphabet, is_word};
use super::matchers;
use super::plausible::{has_entropy, is_stand_in};
use super::shape::{Shape, ShapeOutcome};
use super::text::Text;
use super::tier::Tier;

/// What the random part of a secret tells at the least, in bits a character: less is a row of `x`.
const LEAST_ENTROPY: f64 = 2.0;

/// What a kind of secret looks like.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: Cow<'static, str>,
    pub(super) tier: Tier,
    pub(super) needles: Vec<Needle>,
    /// As it is written; made ready when one of the needles is first seen.
    pattern: Cow<'static, str>,
    check: Check,
    ready: OnceLock<Option<Matcher>>,
}

/// A text that stands wherever a rule finds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needle {
    pub(super) text: Cow<'static, [u8]>,
    /// How far from the beginning of what the rule looks for.
    pub(super) distance: usize,
    /// What the rule looks for begins with it, and is a run of some length.
    pub(super) begins_run: bool,
}

/// What a secret must fulfil besides its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Check {
    None,
    Entropy(f64),
}

#[derive(Debug)]
enum Matcher {
    Shape(Shape),
    PrivateKey,
    UrlCredentials,
    Authorization,
    Cookie,
    Environment,
    Named,
    Value(Box<[u8]>),
}

impl Rule {
    pub(super) fn new(
        name: Cow<'static, str>,
        tier: Tier,
        needles: Vec<Needle>,
        pattern: Cow<'static, str>,
        check: Check,
    ) -> Self {
        Self {
            name,
            tier,
            needles,
            pattern,
            check,
            ready: OnceLock::new(),
        }
    }

    /// Creates a rule of one's own.
    pub(super) fn own(name: &str, pattern: &str) -> Result<Self, String> {
        let shape = Shape::parse(pattern)?;
        let (text, distance) = shape
            .needle()
            .filter(|(text, _)| text.len() >= 3)
            .ok_or("it needs three literal characters at a fixed distance from its beginning")?;
        let needle = Needle {
            text: text.into(),
            distance,
            begins_run: false,
        };
        let (name, pattern) = (name.to_owned().into(), pattern.to_owned().into());
        Ok(
            Self::new(name, Tier::Definite, vec![needle], pattern, Check::None)
                .with_matcher(Matcher::Shape(shape)),
        )
    }

    /// Creates a rule for one value, which is looked for as it is.
    pub(super) fn value(name: &str, value: &str) -> Self {
        let (text, distance) = value_needle(value.as_bytes());
        let needle = Needle {
            text: text.to_vec().into(),
            distance,
            begins_run: false,
        };
        let name = name.to_owned().into();
        Self::new(name, Tier::Definite, vec![needle], "".into(), Check::None)
            .with_matcher(Matcher::Value(value.as_bytes().into()))
    }

    fn with_matcher(self, matcher: Matcher) -> Self {
        // A rule that was just made has none yet.
        let _ = self.ready.set(Some(matcher));
        self
    }

    /// Returns the pattern as it is written.
    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Tells whether the rule knows a secret by its own shape, rather than by what is around it.
    pub(super) fn is_shape(&self) -> bool {
        matches!(self.matcher(), Some(Matcher::Shape(_)))
    }

    /// Tells whether the rule finds private keys, the only secrets that have lines.
    pub(super) fn is_private_key(&self) -> bool {
        matches!(self.matcher(), Some(Matcher::PrivateKey))
    }

    /// Tells whether the rule finds values by the names before them.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.matcher(), Some(Matcher::Environment | Matcher::Named))
    }

    /// Tells what the rule finds, one of whose needles is at a place.
    pub(super) fn at(&self, text: &Text<'_>, place: usize, distance: usize) -> ShapeOutcome {
        match self.shape_at(text, place, distance) {
            ShapeOutcome::Found { start, end } if !self.passes(text, start, end) => {
                ShapeOutcome::No
            }
            other => other,
        }
    }

    /// Tells the same by the shape alone.
    pub(super) fn shape_at(&self, text: &Text<'_>, place: usize, distance: usize) -> ShapeOutcome {
        let Some(place) = place.checked_sub(distance) else {
            return ShapeOutcome::No;
        };
        match self.matcher() {
            None => ShapeOutcome::No,
            Some(Matcher::Shape(shape)) => {
                // What begins with no part of a word may stand anywhere.
                if text.byte(place).is_some_and(is_word) && !text.begins_word(place) {
                    return ShapeOutcome::No;
                }
                shape.at(text, place)
            }
            Some(Matcher::PrivateKey) => matchers::private_key(text, place),
            Some(Matcher::UrlCredentials) => matchers::url_credentials(text, place),
            Some(Matcher::Authorization) => matchers::authorization(text, place),
            Some(Matcher::Cookie) => matchers::cookie(text, place),
            Some(Matcher::Environment) => matchers::environment(text, place),
            Some(Matcher::Named) => matchers::named(text, place),
            Some(Matcher::Value(value)) => find_value(text, place, value),
        }
    }

    pub(super) fn passes(&self, text: &Text<'_>, start: usize, end: usize) -> bool {
        let secret = text.slice(start, end);
        if !self.is_shape() {
            return true;
        }
        let least = match self.check {
            Check::Entropy(least) => least,
            Check::None => LEAST_ENTROPY,
        };
        has_entropy(secret, least) && !is_stand_in(secret)
    }

    fn matcher(&self) -> Option<&Matcher> {
        let make = || match &*self.pattern {
            "@private-key" => Some(Matcher::PrivateKey),
            "@url-credentials" => Some(Matcher::UrlCredentials),
            "@authorization" => Some(Matcher::Authorization),
            "@cookie" => Some(Matcher::Cookie),
            "@environment" => Some(Matcher::Environment),
            "@named" => Some(Matcher::Named),
            pattern => Shape::parse(pattern).ok().map(Matcher::Shape),
        };
        self.ready.get_or_init(make).as_ref()
    }
}

fn find_value(text: &Text<'_>, start: usize, value: &[u8]) -> ShapeOutcome {
    let end = start + value.len();
    if text.has(value, start) {
        return ShapeOutcome::Found { start, end };
    }
    let rest = text.slice(start, text.len());
    if text.is_open && rest.len() < value.len() && value.starts_with(rest) {
        return ShapeOutcome::Undecided { start };
    }
    ShapeOutcome::No
}

/// Returns the part of a value by which it is looked for, and its distance: the first characters that no
/// format escapes.
fn value_needle(value: &[u8]) -> (&[u8], usize) {
    let plain = Alphabet::of(b"-.~=+:,;!@#%*()[]{}").with_words();
    let mut best: (&[u8], usize) = (&[], 0);
    let mut start = 0;
    while start < value.len() {
        let end = plain.run_end(value, start);
        let run = value.get(start..end.min(start + 8)).unwrap_or_default();
        if run.len() > best.0.len() {
            best = (run, start);
        }
        start = end + 1;
    }
    best
}
