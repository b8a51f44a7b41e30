//! What happens now, as server-sent events.
//!
//! `live?runs=a:120,b&list=1` sends the records of run `a` from 120 on and of `b` from its beginning, and
//! the runs that are open. Events:
//!
//! - `record`, with `id: RUN.SEQ`: a record and the transcript entries it makes. Of each run every record is
//!   sent once and in order, so whoever comes back with the number after its last one misses nothing.
//! - `open`: what the step has so far that a run is in, whenever more was printed. It becomes records when it is over,
//!   so it has no id, and each one takes the place of the one before.
//! - `run`: an open run, with what it is doing, whenever that changed; once more when it ends. `listed` says
//!   that all of them were sent.
//! - `resync`: the client fell behind, or a run was made anew. The stream ends; the client comes back.
//!
//! One thread follows, however many watch: `follower` has a store of its own and asks it for each run that
//! somebody watches. A client has a queue with room for so many events; who does not empty it falls behind,
//! and costs nothing more.

mod cards;
mod client;
mod event;
mod feed;
mod follower;
mod open_step;
mod watcher;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use runtape_core::RunId;
use runtape_core::prices::PriceTable;
use runtape_store::Store;
use tokio::sync::Semaphore;

use crate::answer;
use crate::error::ServeError;
use crate::opener::Opener;
use crate::problem::Problem;
use crate::question::Question;
use crate::readers::Readers;
use crate::stop::Stop;
use client::{ChannelBody, Client};
use follower::{Followed, FollowerOrder, LiveFollower};

/// Streams at once.
const STREAMS: usize = 64;

/// Clients that are read to at once while they catch up; the other readers are for questions.
const CATCHING_UP: usize = 2;

/// Runs that one stream follows.
const RUNS: usize = 64;

/// Events that wait for the connection of a client, apart from its queue.
const CONNECTION_ROOM: usize = 4;

/// The live streams.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    commands: Sender<FollowerOrder>,
    readers: Readers,
    stop: Stop,
    room: Arc<Semaphore>,
    catching_up: Arc<Semaphore>,
}

impl Live {
    /// Starts the thread that follows. It ends when all of these are dropped.
    pub(crate) fn start(
        open: &Opener,
        readers: Readers,
        stop: Stop,
        prices: Arc<PriceTable>,
    ) -> Result<Self, ServeError> {
        let (commands, received) = channel();
        let open = Arc::clone(open);
        thread::Builder::new()
            .name("follower".to_owned())
            .spawn(move || LiveFollower::new(open, prices).run(&received))
            .map_err(|error| ServeError::System {
                doing: "start the thread that follows",
                error,
            })?;
        Ok(Self {
            commands,
            readers,
            stop,
            room: Arc::new(Semaphore::new(STREAMS)),
            catching_up: Arc::new(Semaphore::new(CATCHING_UP)),
        })
    }

    /// Answers with a stream.
    pub(crate) async fn stream(
        &self,
        question: Result<Question, Problem>,
        headers: HeaderMap,
    ) -> Response<Body> {
        let begun = match question {
            Ok(question) => self.begin(&question, &headers).await,
            Err(problem) => Err(problem),
        };
        match begun {
            Ok(body) => answer::events(body),
            Err(problem) => answer::problem(&problem),
        }
    }

    async fn begin(&self, question: &Question, headers: &HeaderMap) -> Result<Body, Problem> {
        question.takes(&[&["runs", "list"]])?;
        let seat = Arc::clone(&self.room).try_acquire_owned();
        let full = |_| Problem::busy("too many live streams are open: close some");
        let seat = seat.map_err(full)?;
        let mut runs = wanted_runs(question.get("runs").unwrap_or_default())?;
        if let Some((run, seq)) = last_event(headers) {
            let same = runs.iter_mut().filter(|followed| followed.run == run);
            same.for_each(|followed| followed.from = seq.saturating_add(1));
        }
        let list = question.flag("list")?;
        // Who names a run that is not there is told so before the stream begins.
        let named: Vec<RunId> = runs.iter().map(|followed| followed.run.clone()).collect();
        let lengths = move |store: &Store| {
            let lengths = named.iter().map(|run| Ok(store.run(run)?.records));
            lengths.collect::<Result<Vec<u64>, Problem>>()
        };
        let lengths = self.readers.ask(lengths).await?;
        for (followed, length) in runs.iter_mut().zip(lengths) {
            followed.length = length;
        }
        let (sender, receiver) = tokio::sync::mpsc::channel(CONNECTION_ROOM);
        let client = Client::new(
            sender,
            self.commands.clone(),
            self.readers.clone(),
            Arc::clone(&self.catching_up),
            self.stop.clone(),
        );
        tokio::spawn(async move {
            client.run(runs, list).await;
            drop(seat);
        });
        Ok(Body::new(ChannelBody::new(receiver)))
    }
}

/// Reads `a:120,b`: runs, each with the record to begin with.
fn wanted_runs(text: &str) -> Result<Vec<Followed>, Problem> {
    let mut runs: Vec<Followed> = Vec::new();
    for item in text.split(',').filter(|item| !item.is_empty()) {
        let (run, from) = item.split_once(':').unwrap_or((item, "0"));
        let refused = || Problem::bad_request("runs: expected RUN or RUN:RECORD, joined by commas");
        let from = from.parse().map_err(|_| refused())?;
        let run = RunId::parse(run).map_err(|_| refused())?;
        if !runs.iter().any(|followed| followed.run == run) {
            runs.push(Followed {
                run,
                from,
                length: 0,
            });
        }
    }
    if runs.len() > RUNS {
        return Err(Problem::bad_request(format!(
            "runs: at most {RUNS} at once"
        )));
    }
    Ok(runs)
}

/// Reads the id of the last event that a client has: `RUN.SEQ`.
fn last_event(headers: &HeaderMap) -> Option<(RunId, u64)> {
    let id = headers.get("last-event-id")?.to_str().ok()?;
    let (run, seq) = id.rsplit_once('.')?;
    Some((RunId::parse(run).ok()?, seq.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_with_the_record_to_begin_with() {
        let runs = wanted_runs("a.b:12,c,,c:3").unwrap();
        let runs: Vec<_> = runs
            .iter()
            .map(|run| (run.run.as_str(), run.from))
            .collect();
        assert_eq!(runs, [("a.b", 12), ("c", 0)]);
        assert!(wanted_runs("a:x").is_err());
        assert!(wanted_runs("../x").is_err());
        let many: Vec<String> = (0..65).map(|number| format!("r{number}")).collect();
        assert!(wanted_runs(&many.join(",")).is_err());
    }

    #[test]
    fn the_last_event_says_run_and_record() {
        let mut headers = HeaderMap::new();
        assert_eq!(last_event(&headers), None);
        headers.insert("last-event-id", "run.1.42".parse().unwrap());
        let (run, seq) = last_event(&headers).unwrap();
        assert_eq!((run.as_str(), seq), ("run.1", 42));
    }
}
