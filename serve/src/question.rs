//! What a request asks for: the parts of its address, read strictly.

use std::collections::BTreeMap;

use axum::extract::Query;
use axum::http::Uri;
use runtape_core::{JobId, RunId, Runtime, ToolClass};
use runtape_store::{CallFilter, OutcomeWord, RunFilter, Store, parse_family, parse_label};

use crate::cursor;
use crate::problem::Problem;
use crate::settings::Settings;

/// Items of a page, if a request does not say, and at most.
const PAGE: usize = 50;
pub(crate) const LARGEST_PAGE: usize = 500;

/// Items before a page, where a list is counted through.
const FURTHEST: usize = 100_000;

/// The filter words, the same for every list of runs or calls.
pub(crate) const FILTER: &[&str] = &[
    "runtime", "outcome", "job", "expert", "model", "session", "tool", "cwd", "family", "label",
    "since", "until",
];

/// What every list takes.
pub(crate) const PAGING: &[&str] = &["after", "limit"];

/// A request's parts.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    path: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
    pub(crate) settings: Settings,
}

impl Question {
    /// Reads the parts of an address.
    pub(crate) fn new(
        path: BTreeMap<String, String>,
        uri: &Uri,
        settings: Settings,
    ) -> Result<Self, Problem> {
        let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else {
            return Err(Problem::bad_request(
                "the query of the address cannot be read",
            ));
        };
        let mut query = BTreeMap::new();
        for (name, value) in pairs {
            // Whoever means "any" leaves it out; an empty filter may be a mistake that lets everything through.
            if value.is_empty() {
                let name = shown(&name);
                return Err(Problem::bad_request(format!(
                    "{name} is empty: leave it out"
                )));
            }
            if query.insert(name.clone(), value).is_some() {
                let name = shown(&name);
                return Err(Problem::bad_request(format!("{name} is given twice")));
            }
        }
        Ok(Self {
            path,
            query,
            settings,
        })
    }

    /// Refuses what an endpoint does not take: a misspelt filter would let everything through.
    pub(crate) fn takes(&self, groups: &[&[&str]]) -> Result<(), Problem> {
        let known: Vec<&str> = groups.iter().copied().flatten().copied().collect();
        match self
            .query
            .keys()
            .find(|name| !known.contains(&name.as_str()))
        {
            None => Ok(()),
            Some(name) => {
                let known = known.join(", ");
                let name = shown(name);
                Err(Problem::bad_request(format!(
                    "unknown parameter {name}, expected {known}"
                )))
            }
        }
    }

    /// Returns a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Returns a parameter that must be there.
    pub(crate) fn need(&self, name: &str) -> Result<&str, Problem> {
        self.get(name)
            .ok_or_else(|| Problem::bad_request(format!("{name} is missing")))
    }

    /// Returns a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let number = self.get(name).map(|text| {
            let refused = || Problem::bad_request(format!("{name}: {} is no number", shown(text)));
            digits(text).ok_or_else(refused)
        });
        number.transpose()
    }

    /// Returns the part of an answer that is wanted, and the byte of it to begin with.
    pub(crate) fn part(&self) -> Result<Option<(&str, usize)>, Problem> {
        let from = self.number("from")?;
        let Some(part) = self.get("part") else {
            return match from {
                None => Ok(None),
                Some(_) => Err(Problem::bad_request("from: say of which part")),
            };
        };
        let from = usize::try_from(from.unwrap_or(0)).unwrap_or(usize::MAX);
        Ok(Some((part, from)))
    }

    /// Returns whether something is wanted: 1 or 0.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => Err(Problem::bad_request(format!("{name}: expected 1 or 0"))),
        }
    }

    /// Returns how many items are wanted.
    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        let limit = self.number("limit")?;
        let limit = limit.map_or(PAGE, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if limit == 0 || limit > LARGEST_PAGE {
            let message = format!("limit: expected 1 to {LARGEST_PAGE}");
            return Err(Problem::bad_request(message));
        }
        Ok(limit)
    }

    /// Returns what the cursor of a list says.
    pub(crate) fn mark(&self, list: &str) -> Result<Option<String>, Problem> {
        self.get("after")
            .map(|after| cursor::read(list, after))
            .transpose()
    }

    /// Returns how many items of a list came before, where it is counted through.
    pub(crate) fn offset(&self, list: &str) -> Result<usize, Problem> {
        let Some(mark) = self.mark(list)? else {
            return Ok(0);
        };
        let offset: Option<usize> = mark.parse().ok();
        let offset = offset.filter(|offset| *offset <= FURTHEST);
        offset.ok_or_else(|| {
            Problem::bad_request("bad page mark: use the one that came with the last page")
        })
    }

    fn path(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// Returns the run that the path names, by its type: nothing else reaches the store.
    pub(crate) fn run(&self, store: &Store) -> Result<RunId, Problem> {
        let text = self.path("run");
        if text == "last" {
            let mut filter = RunFilter::default();
            filter.roots_only = true;
            let found = store.runs(&filter, None, 1)?.items.into_iter().next();
            return found.map(|run| run.run_id).ok_or_else(|| {
                Problem::new(axum::http::StatusCode::NOT_FOUND, "there are no runs yet")
            });
        }
        let run = RunId::parse(text).map_err(|_| Problem::unknown_run(&shown(text)))?;
        if !store.has_run(&run)? {
            return Err(Problem::unknown_run(run.as_str()));
        }
        Ok(run)
    }

    /// Returns the job that the path names.
    pub(crate) fn job(&self) -> Result<JobId, Problem> {
        let text = self.path("job");
        JobId::parse(text).map_err(|_| Problem::not_found(&format!("job {}", shown(text))))
    }

    /// Returns the number of the record that the path names.
    pub(crate) fn seq(&self) -> Result<u64, Problem> {
        let text = self.path("seq");
        digits(text).ok_or_else(|| Problem::bad_request(format!("{} is no record", shown(text))))
    }

    /// Returns the runs that the filter words let through.
    pub(crate) fn filter(&self, store: &Store) -> Result<RunFilter, Problem> {
        let of = |name: &'static str| {
            move |reason: String| Problem::bad_request(format!("{name}: {reason}"))
        };
        let text = |name: &str| self.get(name).map(str::to_owned);
        let time = |name: &'static str| {
            let time = self.get(name).map(|text| (self.settings.parse_time)(text));
            time.transpose().map_err(of(name))
        };
        let mut filter = RunFilter::default();
        filter.runtime = self.get("runtime").map(Runtime::from_name);
        if let Some(text) = self.get("outcome") {
            let word = OutcomeWord::read(text);
            // A word that no run went by is mistyped.
            if !word.is_known(store)? {
                let known = OutcomeWord::known();
                let reason = format!("no run ended with {}, expected {known}", shown(text));
                return Err(of("outcome")(reason));
            }
            word.add_to(&mut filter);
        }
        if let Some(label) = self.get("label") {
            filter.labels.push(parse_label(label).map_err(of("label"))?);
        }
        filter.job = self.get("job").map(JobId::parse).transpose()?;
        filter.expert = text("expert");
        filter.model = text("model");
        filter.session = text("session");
        filter.tool = text("tool");
        filter.cwd = text("cwd");
        filter.error_family = self
            .get("family")
            .map(parse_family)
            .transpose()
            .map_err(of("family"))?;
        filter.since = time("since")?;
        filter.until = time("until")?;
        Ok(filter)
    }

    /// Returns the calls that the filter words let through.
    pub(crate) fn call_filter(&self, store: &Store) -> Result<CallFilter, Problem> {
        let mut filter = CallFilter::from(self.filter(store)?);
        filter.failed_only = self.flag("failed")?;
        let class = self.get("class").map(|name| {
            ToolClass::from_name(name).ok_or_else(|| {
                let names = ToolClass::ALL.map(ToolClass::as_str);
                Problem::bad_request(format!("class: expected {}", names.join(", ")))
            })
        });
        filter.class = class.transpose()?;
        Ok(filter)
    }
}

/// Reads a number of nothing but digits.
fn digits(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Returns so much of what a request said as an error may repeat.
fn shown(text: &str) -> String {
    text.chars().take(140).collect()
}
