//! Questions of an auditor.

use runtape_core::RuntimeEventKind;
use runtape_recorder::Estimates;
use runtape_store::{Calendar, CallSubject, FileChoice, NamePattern, PathPattern, Store, UsageBy};
use serde_json::{Value, json};

use super::counted;
use crate::problem::Problem;
use crate::question::{FILTER, PAGING, Question};

/// Kinds of notices that are mere lines, shown only if they are asked for.
const LINES: &[&str] = &["stderr", "stdout"];

/// `search`: records in which a text is found, the best first.
pub(super) fn search(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["q"], FILTER, PAGING])?;
    let after = question
        .mark("search")?
        .map(|mark| mark.parse())
        .transpose()?;
    let (query, limit) = (question.need("q")?, question.limit()?);
    let page = store.search(query, &question.filter(store)?, after.as_ref(), limit)?;
    super::page("search", &page)
}

/// `usage`: tokens and cost, added up by one or two things.
pub(super) fn usage(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["by", "utc"], FILTER, PAGING])?;
    let by = usage_by(question.get("by").unwrap_or("runtime"))?;
    let day = &*question.settings.local_day;
    let calendar = if question.flag("utc")? {
        Calendar::Utc
    } else {
        Calendar::Local(day)
    };
    let estimates = Estimates::by(&question.settings.prices);
    counted("usage", question, |_| {
        let sums = store.usage_by(&question.filter(store)?, &by, calendar)?;
        let groups = sums.iter();
        let groups = groups.map(|sum| sum.to_group(&by, estimates.of_sum(sum)));
        Ok(groups.collect())
    })
}

fn usage_by(text: &str) -> Result<Vec<UsageBy>, Problem> {
    let by: Option<Vec<UsageBy>> = text.split(',').map(UsageBy::from_name).collect();
    let refused = || {
        Problem::bad_request(
            "by takes one or two different words, like day,model: day, week, month, runtime, model, job, session, cwd, label, label:NAME",
        )
    };
    match by.as_deref() {
        Some([_]) => {}
        Some([one, other]) if one != other => {}
        _ => return Err(refused()),
    }
    by.ok_or_else(refused)
}

/// `tools`: which tools were called; each call with `calls=1`.
pub(super) fn tools(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["calls", "class", "failed"], FILTER, PAGING])?;
    let filter = question.call_filter(store)?;
    if question.flag("calls")? {
        return counted("calls", question, |limit| {
            Ok(store.tool_calls(&filter, limit)?)
        });
    }
    counted("tools", question, |limit| Ok(store.tools(&filter, limit)?))
}

/// `files`: which files tools read or wrote.
pub(super) fn files(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[
        &["path", "written", "directories", "class", "failed"],
        FILTER,
        PAGING,
    ])?;
    let mut choice = FileChoice::default();
    // There is no current directory here: `./main.rs` fits nothing.
    choice.pattern = question.get("path").map(|path| PathPattern::new(path, ""));
    choice.written_only = question.flag("written")?;
    choice.directories = question.flag("directories")?;
    let filter = question.call_filter(store)?;
    let body = counted("files", question, |limit| {
        Ok(store.files(&filter, &choice, limit)?)
    })?;
    Ok(with_untold(body, store.untold_commands(&filter)?.files))
}

/// `network`: which hosts tools fetched from, and which ones shell commands name; each call with `calls=1`.
pub(super) fn network(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["calls", "host", "class", "failed"], FILTER, PAGING])?;
    let host = question.get("host").map(NamePattern::new);
    let filter = question.call_filter(store)?;
    let body = if question.flag("calls")? {
        counted("networkCalls", question, |limit| {
            let mut calls = Vec::new();
            store.each_network_call(&filter, host.as_ref(), |call| {
                calls.push(call);
                calls.len() < limit
            })?;
            Ok(calls)
        })?
    } else {
        counted("network", question, |limit| {
            Ok(store.hosts(&filter, host.as_ref(), limit)?)
        })?
    };
    Ok(with_untold(body, store.untold_commands(&filter)?.hosts))
}

/// `commands`: which shell commands ran, and what their words tell.
pub(super) fn commands(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["failed"], FILTER, PAGING])?;
    let mut filter = question.call_filter(store)?;
    filter.subject = Some(CallSubject::Command);
    counted("commands", question, |limit| {
        Ok(store.tool_calls(&filter, limit)?)
    })
}

/// Adds to a list how many commands could not be read for it.
fn with_untold(mut body: Value, untold: u64) -> Value {
    if let Some(body) = body.as_object_mut() {
        body.insert("untoldCommands".to_owned(), untold.into());
    }
    body
}

/// `errors`: which runs failed, and why.
pub(super) fn errors(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["unfinished"], FILTER, PAGING])?;
    let mut filter = question.filter(store)?;
    filter.unfinished_too = question.flag("unfinished")?;
    counted("errors", question, |limit| {
        let mut runs = store.errors(&filter, limit)?;
        Estimates::by(&question.settings.prices).of_runs(store, &mut runs)?;
        Ok(runs)
    })
}

/// `notices`: what runtimes reported besides.
pub(super) fn notices(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[&["kind"], FILTER, PAGING])?;
    let all = RuntimeEventKind::NOTICE_KINDS;
    let kinds: Vec<&str> = match question.get("kind") {
        None => all
            .iter()
            .copied()
            .filter(|kind| !LINES.contains(kind))
            .collect(),
        Some(name) => {
            let found = all.iter().find(|kind| kind.eq_ignore_ascii_case(name));
            let refused =
                || Problem::bad_request(format!("kind: expected one of {}", all.join(", ")));
            vec![*found.ok_or_else(refused)?]
        }
    };
    let filter = question.filter(store)?;
    counted("notices", question, |limit| {
        Ok(store.notices(&filter, &kinds, limit)?)
    })
}

/// `drift`: output that was not understood, by kind.
pub(super) fn drift(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[FILTER, PAGING])?;
    let filter = question.filter(store)?;
    counted("drift", question, |limit| Ok(store.drift(&filter, limit)?))
}

/// `head`: the end of the chain of seals, and how many seals no longer cover a run.
pub(super) fn head(store: &Store, question: &Question) -> Result<Value, Problem> {
    question.takes(&[])?;
    let (head, removals) = (store.head()?, store.removals()?.len());
    let database = store.database_id()?;
    Ok(json!({"head": head, "databaseId": database, "removals": removals}))
}
