//! When a thing happened: the one place that says with which time of each table a question's period is compared.
//!
//! A row that has a time of its own is selected by that time, whatever its run did then. Runs have two times, and so
//! have their jobs and sessions: they are selected if they were active in the period.

/// What a period selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// A run was active, and so were its job and its session.
    Run,
    /// A run ended: it failed then, or told then what it counted.
    End,
    /// A tool was called.
    Call,
    /// A runtime reported something.
    Notice,
    /// Output came that no parser understood.
    Unparsed,
    /// Tokens were used, by what counts of the ledger.
    Entry,
    /// The same, by its table.
    StoredEntry,
    /// A cost was reported: that of a run counts when the run ends, or while it is open, when it began.
    Cost,
}

impl Happening {
    /// Returns its time in SQL, by the names that queries of both backends give to their tables.
    pub(crate) fn time(self) -> &'static str {
        match self {
            Self::Run => "run.started_at",
            Self::End => "run.finished_at",
            Self::Call => "call.at",
            Self::Notice => "notice.at",
            Self::Unparsed => "output.at",
            Self::Entry => "entry.at_ms",
            Self::StoredEntry => "entry.at",
            Self::Cost => "coalesce(run.finished_at, run.started_at)",
        }
    }

    /// Returns the terms in SQL that it happened in a period. Each end comes as what stands for its value.
    pub(crate) fn terms(self, since: Option<&str>, until: Option<&str>) -> Vec<String> {
        let mut terms = Vec::new();
        // Who reports a cost was active. That is said for the sake of the indexes of runs.
        let is_of_run = matches!(self, Self::Run | Self::Cost);
        if let Some(since) = since.filter(|_| is_of_run) {
            terms.push(active_from(since));
            terms.push(not_before_active(since));
        }
        let time = self.time();
        if let Some(since) = since.filter(|_| self != Self::Run) {
            terms.push(format!("{time} >= {since}"));
        }
        if let Some(until) = until {
            terms.push(format!("{time} < {until}"));
        }
        terms
    }
}

/// The period of which usage is added up, as what stands for its ends in SQL.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsagePeriod {
    since: Option<String>,
    until: Option<String>,
}

impl UsagePeriod {
    /// Makes the period between what stands for its ends.
    pub(crate) fn new([since, until]: [Option<String>; 2]) -> Self {
        Self { since, until }
    }

    /// Tells whether it has no end.
    pub(crate) fn is_all(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    /// Writes that something happened in it.
    pub(crate) fn sql(&self, what: Happening) -> String {
        let terms = what.terms(self.since.as_deref(), self.until.as_deref());
        if terms.is_empty() {
            return "TRUE".to_owned();
        }
        terms.join(" AND ")
    }

    /// Writes that an entry of the ledger is of it, by its row in the table.
    pub(crate) fn stored_entry(&self) -> String {
        self.sql(Happening::StoredEntry)
    }

    /// Writes when a run that used something in it began, or, if that was before, when it began itself: each run counts once,
    /// and on no day outside. The functions are those of the greatest and the least of several numbers.
    pub(crate) fn began(&self, greatest: &str, least: &str) -> String {
        let mut began = Happening::Run.time().to_owned();
        if let Some(until) = &self.until {
            began = format!("{least}({began}, {until} - 1)");
        }
        if let Some(since) = &self.since {
            began = format!("{greatest}({began}, {since})");
        }
        began
    }
}

/// Writes that a run was active at a time or later. An open one has no end yet, which comes after any time.
fn active_from(since: &str) -> String {
    format!("coalesce(run.finished_at, {}) >= {since}", i64::MAX)
}

/// Writes that a run did not begin before all that were active at a time or later. It follows from the term above: but an
/// index in the order of beginnings can be read from there on, while one of ends finds where that is. The first beginning is that
/// of a sum: else a database would look for it from the first run of all on.
fn not_before_active(since: &str) -> String {
    format!(
        "run.started_at >= (SELECT min(began) FROM (
            SELECT min(started_at + 0) AS began FROM run AS ended WHERE finished_at >= {since}
            UNION ALL SELECT min(started_at + 0) FROM run AS ongoing WHERE finished_at IS NULL
         ) AS active)"
    )
}
