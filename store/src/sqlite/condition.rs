//! Which runs a query is about, in SQL.

use runtape_core::{ErrorFamily, Outcome, Runtime};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::backend::Selection;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::pattern::is_pattern;
use crate::period::Happening;

/// A condition in SQL over the `run` table, with its parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) terms: Vec<String>,
    pub(crate) values: Vec<Value>,
}

impl Condition {
    /// Makes the condition that a filter stands for, besides its text: the runs are those of what happened in its period.
    pub(crate) fn of(filter: &RunFilter, what: Happening) -> Self {
        let mut condition = Self::at_any_time(filter);
        let [since, until] = condition.bind_period(filter);
        let terms = what.terms(since.as_deref(), until.as_deref());
        condition.terms.extend(terms);
        condition
    }

    /// Makes the same condition without the period.
    pub(crate) fn at_any_time(filter: &RunFilter) -> Self {
        let mut condition = Self::default();
        condition.apply(filter);
        condition
    }

    /// Adds the ends of a filter's period to the values, and returns what stands for them.
    pub(crate) fn bind_period(&mut self, filter: &RunFilter) -> [Option<String>; 2] {
        filter.period().map(|end| {
            self.values.push(end?.into());
            Some(format!("?{}", self.values.len()))
        })
    }

    /// Makes the condition that a selection stands for.
    pub(crate) fn selecting(selection: Selection<'_>) -> Self {
        let mut condition = Self::of(selection.filter, Happening::Run);
        if let Some(runs) = selection.runs {
            let keys = runs.iter().map(|key| key.number);
            let keys = serde_json::Value::from(keys.collect::<Vec<i64>>()).to_string();
            condition.add("run.key IN (SELECT value FROM json_each(?))", keys);
        }
        condition
    }

    /// Lets through only runs that failed: one that stops without proof of an end did not.
    pub(crate) fn add_failed(&mut self, filter: &RunFilter) {
        self.terms.push("run.error_name IS NOT NULL".to_owned());
        if !filter.asks_for_unfinished() {
            let term = "run.outcome IS NOT (SELECT key FROM word WHERE text = ?)";
            self.add(term, Outcome::Unfinished.as_str().to_owned());
        }
    }

    /// Adds a term; `?` in it stands for the value.
    pub(crate) fn add(&mut self, term: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let number = self.values.len();
        self.terms.push(term.replace('?', &format!("?{number}")));
    }

    /// Returns the number of the next parameter.
    pub(crate) fn next(&self) -> usize {
        self.values.len() + 1
    }

    /// Returns the whole condition.
    pub(crate) fn sql(&self) -> String {
        if self.terms.is_empty() {
            return "TRUE".to_owned();
        }
        self.terms.join(" AND ")
    }
}

impl Condition {
    /// Adds a filter's terms, besides the text.
    fn apply(&mut self, filter: &RunFilter) {
        let word = |column: &str| format!("run.{column} = (SELECT key FROM word WHERE text = ?)");
        let words = [
            ("runtime", filter.runtime.as_ref().map(Runtime::as_str)),
            ("expert", filter.expert.as_deref()),
            ("model", filter.model.as_deref()),
            ("session", filter.session.as_deref()),
            ("error_family", filter.error_family.map(ErrorFamily::as_str)),
            ("outcome", filter.outcome.map(Outcome::as_str)),
        ];
        for (column, value) in words {
            if let Some(value) = value {
                self.add(&word(column), value.to_owned());
            }
        }
        if let Some(name) = &filter.error_name {
            let term = "run.error_name IN (SELECT key FROM word
                WHERE substr(text, 1, length(?)) = ? COLLATE NOCASE)";
            self.add(term, name.clone());
        }
        for (label, value) in &filter.labels {
            let number = self.next();
            self.values.push(label.clone().into());
            let value = value.as_ref().map(|value| {
                self.values.push(value.clone().into());
                format!(" AND label.value = ?{}", number + 1)
            });
            self.terms.push(format!(
                "EXISTS (SELECT 1 FROM run AS labelled, json_each(labelled.labels) AS label
                 WHERE labelled.key = coalesce(run.root, run.key) AND label.key = ?{number}{})",
                value.unwrap_or_default()
            ));
        }
        if let Some(job) = &filter.job {
            let term = "run.job = (SELECT key FROM job WHERE id = ?)";
            self.add(term, job.as_str().to_owned());
        }
        if let Some(cwd) = &filter.cwd {
            let term = "run.cwd IN (SELECT key FROM word
                WHERE text = ? OR substr(text, 1, length(?) + 1) = ? || '/')";
            let cwd = if cwd.len() > 1 {
                cwd.trim_end_matches('/')
            } else {
                cwd
            };
            self.add(term, cwd.to_owned());
        }
        if let Some(tool) = &filter.tool {
            let NameTerm { operator, value } = NameTerm::of(tool);
            let term = format!(
                "EXISTS (SELECT 1 FROM tool_call WHERE tool_call.run = run.key
                 AND tool_call.tool IN (SELECT key FROM word WHERE text {operator} ?))"
            );
            self.add(&term, value);
        }
        if filter.roots_only {
            self.terms.push("run.root IS NULL".to_owned());
        }
    }
}

/// Returns how rows that have a time are joined with their runs. Where an index finds the few runs of a job or a session, it
/// may be used; else the rows are read in the order of their own index, as far as need be: nothing is sorted but those of one time.
pub(crate) fn by_time_unless_few(filter: &RunFilter) -> &'static str {
    if is_of_few(filter) {
        "JOIN"
    } else {
        "CROSS JOIN"
    }
}

/// Returns the term for rows that are read so. It is true of any time: an index in whose order only the times stand is taken
/// where a range of times is asked for, and not for the sake of the order alone.
pub(crate) fn any_time(filter: &RunFilter, what: Happening) -> String {
    if is_of_few(filter) {
        return "TRUE".to_owned();
    }
    format!("{} >= -1e300", what.time())
}

fn is_of_few(filter: &RunFilter) -> bool {
    filter.session.is_some() || filter.job.is_some()
}

/// How a name is asked for: as it is, or by a pattern.
pub(crate) struct NameTerm {
    pub(crate) operator: &'static str,
    pub(crate) value: String,
}

impl NameTerm {
    /// Makes the term of a name, in which `*` and `?` stand for any characters and any one.
    pub(crate) fn of(name: &str) -> Self {
        if !is_pattern(name) {
            return Self {
                operator: "=",
                value: name.to_owned(),
            };
        }
        Self {
            operator: "GLOB",
            // To us a bracket stands for itself.
            value: name.replace('[', "[[]"),
        }
    }
}

/// Returns the rows of a query with a condition in it.
pub(crate) fn select<T>(
    connection: &Connection,
    sql: &str,
    condition: &Condition,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params_from_iter(&condition.values), read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
