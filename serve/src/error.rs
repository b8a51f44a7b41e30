//! What can go wrong before anything is served.

use std::io;
use std::net::SocketAddr;

use runtape_store::StoreError;

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The system refused something that serving needs.
    #[error("failed to {doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        error: io::Error,
    },
    /// There is no randomness to make a token of.
    #[error("the system gives no random bytes for a token: {reason}")]
    NoRandomness {
        /// What it said.
        reason: String,
    },
    /// A text is no token.
    #[error(
        "a token is {} or more of A-Z, a-z, 0-9, - and _",
        crate::token::SHORTEST
    )]
    BadToken,
    /// A name that requests may have in `Host` is none.
    #[error("{name:?} is no host: write a name or an address, without a port")]
    BadHost {
        /// The name.
        name: String,
    },
    /// The database cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}
