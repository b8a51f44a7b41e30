//! Which runs a query is about, in SQL.

use runtape_core::{ErrorFamily, Outcome, Runtime};
use tokio_postgres::Row;

use super::Postgres;
use super::columns::kept;
use super::connection::Value;
use crate::backend::Selection;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::pattern::is_pattern;
use crate::period::Happening;

/// A value that a condition compares with.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Integer(i64),
    Text(String),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl From<i64> for Operand {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// Texts are compared with what is kept.
impl From<&str> for Operand {
    fn from(text: &str) -> Self {
        Self::Text(kept(text).into_owned())
    }
}

/// A condition in SQL over the `run` table, with its parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    pub(super) terms: Vec<String>,
    values: Vec<Operand>,
}

impl Condition {
    /// Makes the condition that a filter stands for, besides its text: the runs are those of what happened in its period.
    pub(super) fn of(filter: &RunFilter, what: Happening) -> Self {
        let mut condition = Self::at_any_time(filter);
        let [since, until] = condition.bind_period(filter);
        let terms = what.terms(since.as_deref(), until.as_deref());
        condition.terms.extend(terms);
        condition
    }

    /// Makes the same condition without the period.
    pub(super) fn at_any_time(filter: &RunFilter) -> Self {
        let mut condition = Self::default();
        condition.apply(filter);
        condition
    }

    /// Adds the ends of a filter's period to the values, and returns what stands for them.
    pub(super) fn bind_period(&mut self, filter: &RunFilter) -> [Option<String>; 2] {
        // The server knows the type of neither where it is compared with a number of no column.
        filter
            .period()
            .map(|end| Some(format!("{}::bigint", self.bind(end?))))
    }

    /// Makes the condition that a selection stands for.
    pub(super) fn selecting(selection: Selection<'_>) -> Self {
        let mut condition = Self::of(selection.filter, Happening::Run);
        if let Some(runs) = selection.runs {
            let roots = runs.iter().map(|key| key.root.to_string()).collect();
            let roots = condition.bind(Operand::Texts(roots));
            let numbers = runs.iter().map(|key| key.number).collect();
            let numbers = condition.bind(Operand::Integers(numbers));
            condition.terms.push(format!(
                "(run.root_id, run.run_no) IN
                    (SELECT * FROM unnest({roots}::text[], {numbers}::bigint[]))"
            ));
        }
        condition
    }

    /// Adds a value, and returns what stands for it.
    pub(super) fn bind(&mut self, value: impl Into<Operand>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// Adds a term; `?` in it stands for the value.
    pub(super) fn add(&mut self, term: &str, value: impl Into<Operand>) {
        let mark = self.bind(value);
        self.terms.push(term.replace('?', &mark));
    }

    /// Lets through only runs that failed: one that stops without proof of an end did not.
    pub(super) fn add_failed(&mut self, filter: &RunFilter) {
        self.terms.push("run.error_name IS NOT NULL".to_owned());
        if !filter.asks_for_unfinished() {
            let term = "run.outcome IS DISTINCT FROM ?";
            self.add(term, Outcome::Unfinished.as_str());
        }
    }

    /// Adds the term that a column is a session. Sessions are found by what an index can hold of them.
    pub(super) fn add_session(&mut self, session: &str) {
        let term = "md5(run.session) = md5(?::text) AND run.session = ?::text";
        self.add(term, session);
    }

    /// Returns the whole condition.
    pub(super) fn sql(&self) -> String {
        if self.terms.is_empty() {
            return "TRUE".to_owned();
        }
        self.terms.join(" AND ")
    }

    /// Returns the values.
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let values = self.values.iter().map(|value| -> Value<'_> {
            match value {
                Operand::Integer(value) => value,
                Operand::Text(value) => value,
                Operand::Integers(value) => value,
                Operand::Texts(value) => value,
            }
        });
        values.collect()
    }
}

impl Condition {
    /// Adds a filter's terms, besides the text.
    fn apply(&mut self, filter: &RunFilter) {
        let words = [
            ("runtime", filter.runtime.as_ref().map(Runtime::as_str)),
            ("expert", filter.expert.as_deref()),
            ("model", filter.model.as_deref()),
            ("error_family", filter.error_family.map(ErrorFamily::as_str)),
            ("outcome", filter.outcome.map(Outcome::as_str)),
        ];
        for (column, value) in words {
            if let Some(value) = value {
                self.add(&format!("run.{column} = ?"), value);
            }
        }
        if let Some(session) = &filter.session {
            self.add_session(session);
        }
        if let Some(name) = &filter.error_name {
            // In this order of letters only those of ASCII have a case.
            let term = "lower(left(run.error_name, length(?::text)) COLLATE \"C\")
                = lower(?::text COLLATE \"C\")";
            self.add(term, name.as_str());
        }
        for (label, value) in &filter.labels {
            let name = self.bind(label.as_str());
            let is_it = match value {
                None => format!("label.label = {name}"),
                Some(value) => {
                    let value = self.bind(value.as_str());
                    format!("label.label = {name} AND label.value = {value}")
                }
            };
            self.terms.push(format!(
                "EXISTS (SELECT 1 FROM run AS labelled, runtape_labels(labelled.labels) AS label
                 WHERE labelled.root_id = run.root_id AND labelled.run_no = 0
                    AND labelled.labels IS NOT NULL AND {is_it})"
            ));
        }
        if let Some(job) = &filter.job {
            self.add("run.job_id = ?", job.as_str());
        }
        if let Some(cwd) = &filter.cwd {
            let cwd = if cwd.len() > 1 {
                cwd.trim_end_matches('/')
            } else {
                cwd
            };
            let term = "(run.cwd = ?::text OR starts_with(run.cwd, ?::text || '/'))";
            self.add(term, cwd);
        }
        if let Some(tool) = &filter.tool {
            let NameTerm { operator, value } = NameTerm::of(tool);
            let term = format!(
                "EXISTS (SELECT 1 FROM tool_call WHERE tool_call.root_id = run.root_id
                 AND tool_call.run_no = run.run_no AND tool_call.tool {operator} ?)"
            );
            self.add(&term, value.as_str());
        }
        if filter.roots_only {
            self.terms.push("run.run_no = 0".to_owned());
        }
    }
}

/// How a name is asked for: as it is, or by a pattern.
pub(super) struct NameTerm {
    pub(super) operator: &'static str,
    pub(super) value: String,
}

impl NameTerm {
    /// Makes the term of a name, in which `*` and `?` stand for any characters and any one.
    pub(super) fn of(name: &str) -> Self {
        if !is_pattern(name) {
            return Self {
                operator: "=",
                value: name.to_owned(),
            };
        }
        let mut value = String::with_capacity(name.len() + 8);
        for letter in name.chars() {
            match letter {
                '*' => value.push('%'),
                '?' => value.push('_'),
                '%' | '_' | '\\' => value.extend(['\\', letter]),
                other => value.push(other),
            }
        }
        Self {
            operator: "LIKE",
            value,
        }
    }
}

/// Returns the rows of a query with a condition in it.
pub(super) fn select<T>(
    pg: &Postgres,
    sql: &str,
    condition: &Condition,
    mut read: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    let rows = pg.rows(sql, &condition.values())?;
    rows.iter().map(&mut read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stars_and_question_marks_are_patterns() {
        let cases = [
            ("Bash", "=", "Bash"),
            ("100%", "=", "100%"),
            ("mcp__*", "LIKE", "mcp\\_\\_%"),
            ("a?%*", "LIKE", "a_\\%%"),
            ("[a]\\*", "LIKE", "[a]\\\\%"),
        ];
        for (name, operator, value) in cases {
            let term = NameTerm::of(name);
            assert_eq!((term.operator, term.value.as_str()), (operator, value));
        }
    }

    #[test]
    fn every_value_has_a_mark_of_its_own() {
        let mut filter = RunFilter {
            session: Some("s".to_owned()),
            cwd: Some("/w/".to_owned()),
            since: Some(1),
            until: Some(2),
            tool: Some("mcp*".to_owned()),
            ..RunFilter::default()
        };
        filter.labels.push(("a".to_owned(), Some("b".to_owned())));
        let condition = Condition::of(&filter, Happening::Run);
        let count = condition.values().len();
        assert_eq!(count, 7);
        for number in 1..=count {
            assert!(condition.sql().contains(&format!("${number}")), "{number}");
        }
    }
}
