//! What a process used, from the session's totals before it and after it.

use runtape_core::TokenCounts;

use super::super::usage::of_models;
use super::super::wire::ByModel;

/// Totals of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SessionTotals {
    counts: TokenCounts,
    /// `None` where the CLI does not know the price of a model.
    dollars: Option<f64>,
}

/// The totals of a session before and after a process.
#[derive(Debug, Default)]
pub(super) struct Costs {
    before: Option<SessionTotals>,
    after: Option<SessionTotals>,
}

impl Costs {
    /// Takes totals; those before the first line of the conversation are what the process began with.
    pub(super) fn push(
        &mut self,
        models: &ByModel<'_>,
        dollars: Option<f64>,
        is_unknown: bool,
        is_before: bool,
    ) {
        let totals = Some(SessionTotals {
            counts: of_models(models, TokenCounts::default()),
            dollars: dollars.filter(|_| !is_unknown),
        });
        if is_before {
            self.before = totals;
        } else {
            self.after = totals;
        }
    }

    /// Returns what the process used, where both totals are known and one continues the other.
    pub(super) fn counts(&self) -> Option<TokenCounts> {
        let (before, after) = self.before.zip(self.after)?;
        let counts = after.counts.beyond(before.counts);
        let known = [
            counts.input_tokens,
            counts.cached_input_tokens,
            counts.output_tokens,
        ];
        let is_sound = known.iter().flatten().all(|count| *count >= 0);
        is_sound.then_some(counts)
    }

    /// Returns what the process cost.
    pub(super) fn dollars(&self) -> Option<f64> {
        self.counts()?;
        let (before, after) = self.before.zip(self.after)?;
        let dollars = after.dollars? - before.dollars?;
        // A sum of small amounts is off by far less than a thousandth of a cent.
        let rounded = (dollars * 1e9).round() / 1e9;
        (rounded >= 0.0).then_some(rounded)
    }
}
