//! How to serve.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use runtape_core::prices::PriceTable;

use crate::token::Token;

/// Reads a time as people write it, in milliseconds since 1970.
pub(crate) type ParseTime = Arc<dyn Fn(&str) -> Result<i64, String> + Send + Sync>;

/// Returns on which day, counted from 1970, a time is that is given in milliseconds since 1970.
pub(crate) type LocalDay = Arc<dyn Fn(i64) -> i64 + Send + Sync>;

/// How to serve. The clock and the calendar are the caller's.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The address to listen on.
    pub bind: IpAddr,
    /// The port; 0 picks one.
    pub port: u16,
    /// Further names or addresses that requests may have in `Host`.
    pub allowed_hosts: Vec<String>,
    /// Whether the page is served, or the API only.
    pub has_page: bool,
    /// What requests for data must have.
    pub token: Token,
    /// How long the head of a request may take to arrive.
    pub head_time: Duration,
    /// How long an answer may take to be made.
    pub answer_time: Duration,
    /// Prices for estimates.
    pub prices: Arc<PriceTable>,
    pub(crate) parse_time: ParseTime,
    pub(crate) local_day: LocalDay,
}

impl Settings {
    /// Serves the page and the API on loopback, at a port that is free.
    #[must_use]
    pub fn new(token: Token) -> Self {
        Self {
            bind: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            allowed_hosts: Vec::new(),
            has_page: true,
            token,
            head_time: Duration::from_secs(10),
            answer_time: Duration::from_secs(30),
            prices: Arc::new(PriceTable::built_in().clone()),
            parse_time: Arc::new(|text| {
                let milliseconds = text.parse();
                milliseconds.map_err(|_| "expected milliseconds since 1970".to_owned())
            }),
            local_day: Arc::new(|at| at.div_euclid(86_400_000)),
        }
    }

    /// Reads times the way that a function does.
    #[must_use]
    pub fn with_times(
        mut self,
        parse: impl Fn(&str) -> Result<i64, String> + Send + Sync + 'static,
        local_day: impl Fn(i64) -> i64 + Send + Sync + 'static,
    ) -> Self {
        self.parse_time = Arc::new(parse);
        self.local_day = Arc::new(local_day);
        self
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("bind", &self.bind)
            .field("port", &self.port)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("has_page", &self.has_page)
            .finish_non_exhaustive()
    }
}
