//! Runs and jobs.

use runtape_recorder::{Estimates, run_detail};
use runtape_store::Store;
use serde_json::Value;

use super::BASE;
use crate::cursor;
use crate::cut::{cut_object, in_query};
use crate::problem::Problem;
use crate::question::{FILTER, PAGING, Question};

/// Steps in the description of a run; `steps` has all of them.
const STEPS: usize = 500;

/// Estimates what no runtime reported, by the prices that the server was given.
fn estimates(question: &Question) -> Estimates<'_> {
    Estimates::by(&question.settings.prices)
}

/// `runs`: those that began last first.
pub(super) fn list(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[FILTER, PAGING, &["children", "text"]])?;
    let mut filter = question.filter(store)?;
    filter.roots_only = !question.flag("children")?;
    filter.text = question.get("text").map(str::to_owned);
    let after = question
        .mark("runs")?
        .map(|mark| mark.parse())
        .transpose()?;
    let mut page = store.runs(&filter, after.as_ref(), question.limit()?)?;
    estimates(question).of_runs(store, &mut page.items)?;
    let next = page
        .next
        .map(|mark| cursor::write("runs", &mark.to_string()));
    super::list(&page.items, next)
}

/// `runs/{run}`: what is known of it.
pub(super) fn one(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["part", "from"]])?;
    let run = question.run(store)?;
    let mut detail = run_detail(store, &run, STEPS)?;
    let estimates = estimates(question);
    estimates.of_runs(store, std::slice::from_mut(&mut detail.run))?;
    estimates.of_runs(store, &mut detail.children)?;
    let mut detail = serde_json::to_value(detail)?;
    if let Some((part, from)) = question.part()? {
        return super::records::text_part(&detail, part, from);
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
    let mut tree = store.tree(&run)?;
    estimates(question).of_runs(store, &mut tree)?;
    super::list(&tree, None)
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
    let mut page = store.jobs(&question.filter(store)?, after.as_ref(), question.limit()?)?;
    estimates(question).of_jobs(store, &mut page.items)?;
    super::page("jobs", &page)
}

/// `jobs/{job}`: one of them.
pub(super) fn job(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[])?;
    let job = question.job()?;
    let found = store.job(&job)?;
    let mut found = found.ok_or_else(|| Problem::not_found(&format!("job {job}")))?;
    estimates(question).of_jobs(store, std::slice::from_mut(&mut found))?;
    Ok(serde_json::to_value(found)?)
}
