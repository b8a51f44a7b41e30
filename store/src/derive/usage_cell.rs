//! What was used, added up: the smallest sums that usage is told by.

use runtape_core::TokenCounts;
use runtape_core::prices::CacheWrite;

/// How many quarters of an hour a day has.
pub(crate) const QUARTERS_OF_DAY: i64 = 96;

/// Milliseconds of a quarter of an hour. Local days begin at one in every time zone.
pub(crate) const QUARTER_MS: i64 = 15 * 60 * 1000;

/// The first and the last time of the calendar, about: one beyond them is that of its first or last day.
pub(crate) const LAST_MS: i64 = 8_200_000_000_000_000;

/// Returns the quarter of an hour of a time in milliseconds since 1970.
pub(crate) fn quarter_of(at: i64) -> i64 {
    at.clamp(-LAST_MS, LAST_MS).div_euclid(QUARTER_MS)
}

/// What cells can be told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageDimension {
    /// The quarter of an hour.
    Quarter,
    Runtime,
    /// That of the entry, else that of its run.
    Model,
    Job,
    /// That of the root run.
    Session,
    /// That of the run, else that of its root run.
    Cwd,
    /// Those of the root run, as JSON.
    Labels,
    /// The run itself, by its id.
    Run,
    /// Its root run, by its id.
    Root,
}

/// What sums are kept by.
pub(crate) const KEPT_DIMENSIONS: [UsageDimension; 3] = [
    UsageDimension::Quarter,
    UsageDimension::Runtime,
    UsageDimension::Model,
];

/// How long the times are that sums are kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UsageSpan {
    Quarter,
    /// In UTC.
    Day,
}

impl UsageSpan {
    pub(crate) const ALL: [Self; 2] = [Self::Quarter, Self::Day];

    /// Returns how many quarters of an hour it has.
    pub(crate) fn quarters(self) -> i64 {
        match self {
            Self::Quarter => 1,
            Self::Day => QUARTERS_OF_DAY,
        }
    }

    /// Returns the first quarter of the span that a quarter belongs to.
    pub(crate) fn start(self, quarter: i64) -> i64 {
        let length = self.quarters();
        quarter.div_euclid(length) * length
    }
}

/// What tokens are worth telling apart for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageKind {
    /// The runtime reported what they cost, of the run or of its root run.
    pub(crate) is_reported: bool,
    /// They are of a response with a long prompt.
    pub(crate) is_long: bool,
    /// The input tokens were written to a cache. There are no others among these then, and none of these among the others.
    pub(crate) write: CacheWrite,
    /// An earlier run of the session counted them: they are told beside the sums, and are in none.
    pub(crate) is_repeated: bool,
}

impl UsageKind {
    /// The number of repeated tokens. Their price does not matter.
    pub(crate) const REPEATED: i64 = 16;

    /// Returns the number that stands for it in a table.
    pub(crate) fn number(self) -> i64 {
        i64::from(self.is_reported)
            + 2 * i64::from(self.is_long)
            + Self::number_of(self.write)
            + Self::REPEATED * i64::from(self.is_repeated)
    }

    /// Returns what is added to that number for input that was written to a cache.
    pub(crate) fn number_of(write: CacheWrite) -> i64 {
        4 * match write {
            CacheWrite::None => 0,
            CacheWrite::Minutes => 1,
            CacheWrite::Hour => 2,
        }
    }

    /// Reads such a number.
    pub(crate) fn from_number(number: i64) -> Self {
        Self {
            is_reported: number & 1 != 0,
            is_long: number & 2 != 0,
            is_repeated: number & Self::REPEATED != 0,
            write: match (number & 0b1100) / 4 {
                1 => CacheWrite::Minutes,
                2 => CacheWrite::Hour,
                _ => CacheWrite::None,
            },
        }
    }
}

/// The columns of a table that hold sums, in the order of [`UsageAmounts::in_order`].
pub(crate) const SUM_COLUMNS: [&str; 11] = [
    "runs",
    "costs",
    "cost",
    "input_tokens",
    "inputs",
    "output_tokens",
    "outputs",
    "reasoning_tokens",
    "reasonings",
    "cached_input_tokens",
    "cached_inputs",
];

/// Sums that can be added and taken away again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsageAmounts {
    /// Root runs that began.
    pub(crate) runs: i64,
    /// Runs that reported a cost, and the cost in thousand millionths of a dollar.
    pub(crate) costs: i64,
    pub(crate) cost: i64,
    /// Input, output, reasoning and cached input tokens, and how many entries know each.
    pub(crate) tokens: [i64; 4],
    pub(crate) known: [i64; 4],
}

/// The most tokens or thousand millionths of a dollar of a cell that is kept: so many of them fit into a
/// column that no database has as many runs.
const MOST_TOKENS: i64 = 1_000_000_000_000;
const MOST_COST: i64 = 10_000_000_000_000;

impl UsageAmounts {
    /// Returns the sums in the order of their columns.
    pub(crate) fn in_order(&self) -> [i64; 11] {
        let [input, output, reasoning, cached] = self.tokens;
        let [inputs, outputs, reasonings, cached_inputs] = self.known;
        [
            self.runs,
            self.costs,
            self.cost,
            input,
            inputs,
            output,
            outputs,
            reasoning,
            reasonings,
            cached,
            cached_inputs,
        ]
    }

    /// Adds other sums.
    pub(crate) fn add(&mut self, other: &Self) {
        let add = |one: &mut i64, other: i64| *one = one.saturating_add(other);
        add(&mut self.runs, other.runs);
        add(&mut self.costs, other.costs);
        add(&mut self.cost, other.cost);
        for (one, other) in self.tokens.iter_mut().zip(other.tokens) {
            add(one, other);
        }
        for (one, other) in self.known.iter_mut().zip(other.known) {
            add(one, other);
        }
    }

    /// Tells whether there is nothing to add.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether they can be kept: absurd ones could overflow a column.
    pub(crate) fn can_be_kept(&self) -> bool {
        let is_small = |tokens: &i64| tokens.unsigned_abs() <= MOST_TOKENS.unsigned_abs();
        self.tokens.iter().all(is_small) && self.cost.unsigned_abs() <= MOST_COST.unsigned_abs()
    }

    /// Returns the tokens; absent is what no entry knows.
    pub(crate) fn counts(&self) -> TokenCounts {
        let [input, output, reasoning, cached] = self.tokens;
        let [inputs, outputs, reasonings, cached_inputs] = self.known;
        let known = |tokens, count: i64| (count != 0).then_some(tokens);
        TokenCounts {
            input_tokens: known(input, inputs),
            output_tokens: known(output, outputs),
            reasoning_tokens: known(reasoning, reasonings),
            cached_input_tokens: known(cached, cached_inputs),
            ..TokenCounts::default()
        }
    }
}

/// What was used in one cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UsageCell {
    /// The first quarter of an hour, counted from 1970 in UTC; 0 where it was not asked for.
    pub(crate) quarter: i64,
    /// What stands for the other dimensions, in the order they were asked for.
    pub(crate) names: Vec<Option<String>>,
    pub(crate) kind: UsageKind,
    pub(crate) amounts: UsageAmounts,
}
