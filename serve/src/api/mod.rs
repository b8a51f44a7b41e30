//! The API: `/api/v1`. Bodies are what the commands print with `--json`; a list is an object with the
//! items and the cursor of the next page.

mod audit;
mod openapi;
mod records;
mod runs;
mod transcript;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::RawPathParams;
use axum::http::Uri;
use axum::routing::{get, post};
use runtape_store::{Page, Store};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answer;
use crate::cursor;
use crate::live::Live;
use crate::opener::Opener;
use crate::problem::Problem;
use crate::question::Question;
use crate::readers::Readers;
use crate::settings::Settings;

pub(crate) use transcript::{resumed_builder, written};

/// Where the API is.
pub(crate) const BASE: &str = "/api/v1";

/// Answers a question from a store.
type Endpoint = fn(&Store, &Question) -> Result<Value, Problem>;

/// What can be asked, and who answers.
const ENDPOINTS: &[(&str, Endpoint)] = &[
    ("/runs", runs::list),
    ("/runs/{run}", runs::one),
    ("/runs/{run}/tree", runs::tree),
    ("/runs/{run}/steps", runs::steps),
    ("/runs/{run}/transcript", transcript::page),
    ("/runs/{run}/records/{seq}", records::one),
    ("/runs/{run}/raw", records::raw),
    ("/runs/{run}/events", records::events),
    ("/jobs", runs::jobs),
    ("/jobs/{job}", runs::job),
    ("/search", audit::search),
    ("/usage", audit::usage),
    ("/tools", audit::tools),
    ("/commands", audit::commands),
    ("/files", audit::files),
    ("/network", audit::network),
    ("/errors", audit::errors),
    ("/notices", audit::notices),
    ("/drift", audit::drift),
    ("/head", audit::head),
    ("/openapi.json", |_, question| {
        question.takes(&[&["bundled"]])?;
        Ok(openapi::document(question.flag("bundled")?))
    }),
];

/// Makes the routes.
pub(crate) fn router(readers: &Readers, live: Live, settings: Settings, open: Opener) -> Router {
    let mut router = Router::new();
    for (path, endpoint) in ENDPOINTS {
        let (readers, settings) = (readers.clone(), settings.clone());
        let handler = move |params: Result<RawPathParams, _>, uri: Uri| {
            let (readers, settings) = (readers.clone(), settings.clone());
            let question = Question::new(named(params), &uri, settings);
            async move {
                let question = match question {
                    Ok(question) => question,
                    Err(problem) => return answer::problem(&problem),
                };
                answer::of(readers.ask(move |store| endpoint(store, &question)).await)
            }
        };
        router = router.route(&format!("{BASE}{path}"), get(handler));
    }
    // Only who has the token, or a code for it, gets here.
    let token = json!({"token": settings.token.reveal()});
    let tell_token = move || async move { answer::json(&token) };
    let streams = move |headers, uri: Uri| {
        let live = live.clone();
        let question = Question::new(BTreeMap::new(), &uri, settings.clone());
        async move { live.stream(question, headers).await }
    };
    let verifier = verify::VerifyTurn::new(open);
    let verify = move || {
        let verifier = Arc::clone(&verifier);
        async move { answer::of(verifier.verify().await) }
    };
    router
        .route(&format!("{BASE}/live"), get(streams))
        .route(crate::gate::TOKEN, get(tell_token))
        .route(crate::gate::VERIFY, post(verify))
}

/// Returns the named parts of a path.
fn named<E>(params: Result<RawPathParams, E>) -> BTreeMap<String, String> {
    let Ok(params) = params else {
        return BTreeMap::new();
    };
    let named = params.iter();
    named
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Makes the body of a list.
fn list<T: Serialize>(items: &[T], next: Option<String>) -> Result<Value, Problem> {
    let mut body = Map::new();
    body.insert("items".to_owned(), serde_json::to_value(items)?);
    if let Some(next) = next {
        body.insert("next".to_owned(), next.into());
    }
    Ok(Value::Object(body))
}

/// Makes the body of a list that the store has pages of.
fn page<T: Serialize>(name: &str, page: &Page<T>) -> Result<Value, Problem> {
    let next = page
        .next
        .as_ref()
        .map(|mark| cursor::write(name, &mark.to_string()));
    list(&page.items, next)
}

/// Makes the body of a list that is counted through: `ask` returns at most so many from the start.
fn counted<T: Serialize>(
    name: &str,
    question: &Question,
    ask: impl FnOnce(usize) -> Result<Vec<T>, Problem>,
) -> Result<Value, Problem> {
    let (offset, limit) = (question.offset(name)?, question.limit()?);
    let mut found = ask(offset.saturating_add(limit).saturating_add(1))?;
    let mut items = found.split_off(offset.min(found.len()));
    let more = items.len() > limit;
    items.truncate(limit);
    let next = more.then(|| cursor::write(name, &(offset + limit).to_string()));
    list(&items, next)
}
