//! What the client asked for, until the answer comes.

use std::collections::VecDeque;

/// How many requests are remembered until they are answered.
const MOST_REQUESTS: usize = 64;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// A run: `chat.send` or `agent`.
    Run,
    Connect,
    Other(Box<str>),
}

/// A request that may still be answered; `agent` is answered twice.
#[derive(Clone, Debug)]
pub(super) struct PendingRequest {
    id: Box<str>,
    pub(super) method: Method,
    /// The run that it asks for.
    pub(super) run: Option<Box<str>>,
    /// The session that it names.
    pub(super) session: Option<Box<str>>,
}

/// The last requests.
#[derive(Debug, Default)]
pub(super) struct Requests(VecDeque<PendingRequest>);

impl Requests {
    pub(super) fn push(
        &mut self,
        id: &str,
        method: Method,
        run: Option<&str>,
        session: Option<&str>,
    ) {
        if self.0.len() == MOST_REQUESTS {
            self.0.pop_front();
        }
        self.0.push_back(PendingRequest {
            id: id.into(),
            method,
            run: run.map(Into::into),
            session: session.map(Into::into),
        });
    }

    /// Returns the last request with an id: another connection may use the same ones again.
    pub(super) fn find(&self, id: &str) -> Option<PendingRequest> {
        self.0
            .iter()
            .rev()
            .find(|request| &*request.id == id)
            .cloned()
    }
}
