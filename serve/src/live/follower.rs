//! The thread that follows what is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use runtape_core::RunId;
use runtape_core::prices::PriceTable;
use runtape_store::Store;
use tokio::sync::oneshot;

use super::cards::Cards;
use super::feed::Feed;
use super::watcher::{Queue, queue};
use crate::opener::{Access, Opener};
use crate::problem::Problem;

/// How often runs are looked at.
const INTERVAL: Duration = Duration::from_millis(150);

/// How often the list of open runs is.
const LIST_INTERVAL: Duration = Duration::from_millis(500);

/// A run that a client follows, and the record that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Followed {
    pub(super) run: RunId,
    pub(super) from: u64,
    /// How many records there were when it was asked for.
    pub(super) length: u64,
}

/// What the thread is told.
pub(super) enum FollowerOrder {
    /// Somebody watches.
    Subscribe(Subscribe),
}

/// Somebody watches.
pub(super) struct Subscribe {
    pub(super) runs: Vec<Followed>,
    pub(super) list: bool,
    pub(super) reply: oneshot::Sender<Result<Subscription, Problem>>,
}

/// What comes before the queue, of one run.
pub(super) struct Backlog {
    pub(super) followed: Followed,
    /// Records before this one have to be read.
    pub(super) read_until: u64,
    /// The events of those from there on.
    pub(super) at_hand: Vec<Bytes>,
}

/// What a client gets: first what is there, then what comes.
pub(super) struct Subscription {
    /// The runs, each with what has to be sent before what the queue brings.
    pub(super) runs: Vec<Backlog>,
    /// The open runs, if they were asked for.
    pub(super) cards: Option<Vec<Bytes>>,
    pub(super) queue: Queue,
}

/// Follows the runs that somebody watches.
pub(super) struct LiveFollower {
    open: Opener,
    store: Option<Store>,
    feeds: BTreeMap<RunId, Feed>,
    cards: Cards,
    listed_at: Instant,
}

impl LiveFollower {
    pub(super) fn new(open: Opener, prices: Arc<PriceTable>) -> Self {
        Self {
            open,
            store: None,
            feeds: BTreeMap::new(),
            cards: Cards::new(prices),
            listed_at: Instant::now(),
        }
    }

    /// Works until nobody can tell it anything any more.
    pub(super) fn run(mut self, commands: &Receiver<FollowerOrder>) {
        loop {
            let command = if self.is_idle() {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                commands.recv_timeout(INTERVAL)
            };
            match command {
                Ok(FollowerOrder::Subscribe(subscribe)) => {
                    let subscription = self.subscribe(&subscribe);
                    let _ = subscribe.reply.send(subscription);
                }
                Err(RecvTimeoutError::Timeout) => self.poll(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn is_idle(&mut self) -> bool {
        self.feeds.retain(|_, feed| !feed.is_idle());
        self.feeds.is_empty() && self.cards.is_idle()
    }

    fn subscribe(&mut self, subscribe: &Subscribe) -> Result<Subscription, Problem> {
        let store = match self.store.take() {
            Some(store) => store,
            None => (self.open)(Access::Read)?,
        };
        let subscribed = self.subscribe_with(&store, subscribe);
        self.store = Some(store);
        subscribed
    }

    fn subscribe_with(
        &mut self,
        store: &Store,
        subscribe: &Subscribe,
    ) -> Result<Subscription, Problem> {
        let (watcher, queue) = queue();
        let mut runs = Vec::new();
        for followed in &subscribe.runs {
            let run = &followed.run;
            if !self.feeds.contains_key(run) {
                let mut feed = Feed::new(store, run, followed.from)?;
                feed.poll(store)?;
                self.feeds.insert(run.clone(), feed);
            }
            if let Some(feed) = self.feeds.get_mut(run) {
                // Who caught up may know records that were not looked for here yet.
                if followed.from > feed.next() {
                    feed.poll(store)?;
                }
                let (read_until, at_hand) = feed.watch(watcher.clone(), followed.from);
                runs.push(Backlog {
                    followed: followed.clone(),
                    read_until,
                    at_hand,
                });
            }
        }
        let cards = if subscribe.list {
            Some(self.cards.watch(store, watcher)?)
        } else {
            None
        };
        Ok(Subscription { runs, cards, queue })
    }

    fn poll(&mut self) {
        let Some(store) = self.store.take() else {
            // The last look failed; if the next does, too, everybody has to come back.
            match (self.open)(Access::Read) {
                Ok(store) => self.store = Some(store),
                Err(_) => self.feeds.values_mut().for_each(Feed::give_up),
            }
            return;
        };
        let mut is_lost = false;
        for feed in self.feeds.values_mut() {
            if let Err(problem) = feed.poll(&store) {
                is_lost |= problem.status().is_server_error();
                feed.give_up();
            }
        }
        if !self.cards.is_idle() && self.listed_at.elapsed() >= LIST_INTERVAL {
            is_lost |= self.cards.poll(&store).is_err();
            self.listed_at = Instant::now();
        }
        if !is_lost {
            self.store = Some(store);
        }
    }
}
