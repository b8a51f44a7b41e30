//! Runs and jobs.

use runtape_core::report::RunInfo;
use runtape_core::{Message, RecordKind, RunId};
use runtape_recorder::run_detail;
use runtape_store::{Store, StoreError};
use serde::Serialize;
use serde_json::Value;

use super::BASE;
use crate::cursor;
use crate::cut::{beginning, cut_object, in_query};
use crate::problem::Problem;
use crate::question::{FILTER, PAGING, Question};

/// Steps in the description of a run; `steps` has all of them.
const STEPS: usize = 500;

/// Bytes of a prompt in a list.
const LONGEST_PROMPT: usize = 400;

/// Records among which the first word of a run's user is looked for.
const FIRST_RECORDS: u64 = 8;

/// A run in a list, with what it was asked.
#[derive(Debug, Serialize)]
pub(crate) struct RunRow {
    #[serde(flatten)]
    pub(crate) run: RunInfo,
    /// The beginning of what the user said first; null where nobody knows.
    pub(crate) prompt: Option<String>,
}

impl RunRow {
    pub(crate) fn new(store: &Store, run: RunInfo) -> Result<Self, StoreError> {
        let prompt = prompt(store, &run.run_id)?;
        Ok(Self { run, prompt })
    }
}

/// Returns the beginning of what the user said first.
fn prompt(store: &Store, run: &RunId) -> Result<Option<String>, StoreError> {
    for seq in 0..FIRST_RECORDS {
        let Some(record) = store.record(run, seq)? else {
            break;
        };
        if let RecordKind::Message(message) = &record.kind
            && let Message::UserMessage(user) = &message.message
        {
            let text = user.text();
            return Ok(Some(beginning(text.trim(), LONGEST_PROMPT).to_owned()));
        }
    }
    Ok(None)
}

/// `runs`: those that began last first.
pub(super) fn list(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[FILTER, PAGING, &["children", "text"]])?;
    let mut filter = question.filter()?;
    filter.roots_only = !question.flag("children")?;
    filter.text = question.get("text").map(str::to_owned);
    let after = question
        .mark("runs")?
        .map(|mark| mark.parse())
        .transpose()?;
    let page = store.runs(&filter, after.as_ref(), question.limit()?)?;
    let next = page
        .next
        .map(|mark| cursor::write("runs", &mark.to_string()));
    let rows = page.items.into_iter().map(|run| RunRow::new(store, run));
    super::list(&rows.collect::<Result<Vec<_>, _>>()?, next)
}

/// `runs/{run}`: what is known of it.
pub(super) fn one(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["part", "from"]])?;
    let run = question.run(store)?;
    let mut detail = serde_json::to_value(run_detail(store, &run, STEPS)?)?;
    if let Value::Object(fields) = &mut detail {
        fields.insert("prompt".to_owned(), prompt(store, &run)?.into());
    }
    if let Some(part) = question.get("part") {
        return super::records::text_part(&detail, part, question);
    }
    cut_object(&mut detail, &|pointer, from| {
        format!("{BASE}/runs/{run}?part={}&from={from}", in_query(pointer))
    });
    Ok(detail)
}

/// `runs/{run}/tree`: the run and all that it started.
pub(super) fn tree(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[])?;
    let run = question.run(store)?;
    super::list(&store.tree(&run)?, None)
}

/// `runs/{run}/steps`: the steps that ended, in order.
pub(super) fn steps(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[PAGING])?;
    let run = question.run(store)?;
    let after = question.mark("steps")?;
    let after = after.map_or(Ok(0), |mark| mark.parse());
    let after = after.map_err(|_| {
        Problem::bad_request("bad page mark: use the one that came with the last page")
    })?;
    let limit = question.limit()?;
    let mut steps = store.steps(&run, after, limit + 1)?;
    let more = steps.len() > limit;
    steps.truncate(limit);
    let last = steps.last().filter(|_| more);
    let next = last.map(|step| cursor::write("steps", &step.step.to_string()));
    super::list(&steps, next)
}

/// `jobs`: those that began last first.
pub(super) fn jobs(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[FILTER, PAGING])?;
    let after = question
        .mark("jobs")?
        .map(|mark| mark.parse())
        .transpose()?;
    let page = store.jobs(&question.filter()?, after.as_ref(), question.limit()?)?;
    super::page("jobs", &page)
}

/// `jobs/{job}`: one of them.
pub(super) fn job(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[])?;
    let job = question.job()?;
    let found = store.job(&job)?;
    let found = found.ok_or_else(|| Problem::not_found(&format!("job {job}")))?;
    Ok(serde_json::to_value(found)?)
}
