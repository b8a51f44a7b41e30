//! One stream: what was there, then what comes, and a sign of life in between.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::event;
use super::feed::AT_HAND;
use super::follower::{Followed, FollowerOrder, Subscribe, Subscription};
use crate::api::resumed_builder;
use crate::problem::Problem;
use crate::readers::Readers;
use crate::stop::Stop;

/// How often there is a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client may take nothing; then its connection is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Records read at a time while a client catches up.
const PAGE: u64 = 100;

/// The body of a stream: what is put in a channel.
pub(super) struct ChannelBody(Receiver<Bytes>);

impl ChannelBody {
    pub(super) fn new(events: Receiver<Bytes>) -> Self {
        Self(events)
    }
}

impl Body for ChannelBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(context);
        next.map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

/// The stream is over: the client is gone, or takes nothing.
struct Over;

/// Writes one stream.
pub(super) struct Client {
    events: Sender<Bytes>,
    commands: mpsc::Sender<FollowerOrder>,
    readers: Readers,
    /// Held while a page is read to catch up, so that questions need not wait for many who do.
    turn: Arc<Semaphore>,
    stop: Stop,
}

impl Client {
    pub(super) fn new(
        events: Sender<Bytes>,
        commands: mpsc::Sender<FollowerOrder>,
        readers: Readers,
        turn: Arc<Semaphore>,
        stop: Stop,
    ) -> Self {
        Self {
            events,
            commands,
            readers,
            turn,
            stop,
        }
    }

    /// Writes until the client is gone, falls behind, or the server ends.
    pub(super) async fn run(self, runs: Vec<Followed>, list: bool) {
        tokio::select! {
            _ = self.write(runs, list) => {}
            // While nothing happens nothing is sent, and only this tells that nobody is there to take it.
            () = self.events.closed() => {}
            () = self.stop.stopped() => {}
        }
    }

    async fn send(&self, event: Bytes) -> Result<(), Over> {
        match timeout(PATIENCE, self.events.send(event)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Over),
        }
    }

    async fn write(&self, mut runs: Vec<Followed>, list: bool) -> Result<(), Over> {
        // The head of the answer goes out with the first bytes.
        self.send(event::KEEP_ALIVE).await?;
        // Most of what is there is sent before the queue begins to fill, so that it does not run over meanwhile. A few
        // records are at hand where the run is followed, for all who watch it.
        for followed in &mut runs {
            let end = followed.length.saturating_sub(AT_HAND);
            if followed.from < end {
                if self.catch_up(followed.clone(), end).await?.is_err() {
                    return self.send(event::resync("the run cannot be read")).await;
                }
                followed.from = end;
            }
        }
        let Ok(mut subscription) = self.subscribe(runs, list).await else {
            return self.send(event::resync("the run cannot be read")).await;
        };
        if let Some(cards) = subscription.cards.take() {
            for card in cards {
                self.send(card).await?;
            }
            self.send(event::event("listed", None, &serde_json::json!({})))
                .await?;
        }
        for backlog in std::mem::take(&mut subscription.runs) {
            if self
                .catch_up(backlog.followed, backlog.read_until)
                .await?
                .is_err()
            {
                return self.send(event::resync("the run cannot be read")).await;
            }
            for event in backlog.at_hand {
                self.send(event).await?;
            }
        }
        loop {
            match timeout(KEEP_ALIVE, subscription.queue.next()).await {
                Ok(Some(event)) => self.send(event).await?,
                Ok(None) if subscription.queue.is_behind() => {
                    return self
                        .send(event::resync("there is more than was sent"))
                        .await;
                }
                Ok(None) => return Ok(()),
                Err(_) => self.send(event::KEEP_ALIVE).await?,
            }
        }
    }

    /// Has the thread that follows put what comes in a queue.
    async fn subscribe(&self, runs: Vec<Followed>, list: bool) -> Result<Subscription, Problem> {
        let (reply, subscription) = oneshot::channel();
        let subscribe = Subscribe { runs, list, reply };
        let gone = || Problem::busy("nobody follows any more: the server is ending");
        let sent = self.commands.send(FollowerOrder::Subscribe(subscribe));
        sent.map_err(|_| gone())?;
        subscription.await.map_err(|_| gone())?
    }

    /// Sends the records that are there already, up to one of them, as fast as the client takes them.
    async fn catch_up(&self, followed: Followed, end: u64) -> Result<Result<(), Problem>, Over> {
        let mut next = followed.from;
        while next < end {
            // It is never closed, so there is always a turn to wait for.
            let turn = self.turn.acquire().await.map_err(|_| Over)?;
            let run = followed.run.clone();
            let count = usize::try_from((end - next).min(PAGE)).unwrap_or(1);
            let page = self.readers.ask(move |store| {
                let info = store.run(&run)?;
                let mut builder = resumed_builder(store, &info, next)?;
                let records = store.records(&run, next, count)?;
                let events = records
                    .iter()
                    .map(|record| event::record(record, &mut builder));
                events.collect::<Result<Vec<Bytes>, Problem>>()
            });
            let events = match page.await {
                Ok(events) if !events.is_empty() => events,
                Ok(_) => return Ok(Err(Problem::not_found("the next record"))),
                Err(problem) => return Ok(Err(problem)),
            };
            drop(turn);
            next += events.len() as u64;
            for event in events {
                self.send(event).await?;
            }
        }
        Ok(Ok(()))
    }
}
