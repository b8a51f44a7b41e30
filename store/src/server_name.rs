//! What a database on a server is called: told from its address alone.

use std::fmt;

/// A database on a server, as its address names it.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerName {
    /// The address without the password: what to print.
    pub name: String,
    /// Hosts and ports, and the directories of Unix sockets.
    pub hosts: Vec<(String, u16)>,
    /// The database.
    pub database: String,
    /// The user; whoever runs the process if none is named.
    pub user: Option<String>,
    /// The password, if the address has one.
    pub password: Option<String>,
}

/// The password is not for logs.
impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerName").field(&self.name).finish()
    }
}

impl ServerName {
    /// Takes an address apart. Nobody is connected to.
    #[cfg(feature = "postgres")]
    pub fn parse(address: &str) -> Result<Self, crate::StoreError> {
        crate::postgres::name_of(address)
    }

    /// Takes an address apart, which needs the feature `postgres`.
    #[cfg(not(feature = "postgres"))]
    pub fn parse(_: &str) -> Result<Self, crate::StoreError> {
        Err(crate::StoreError::NoServers)
    }

    /// Returns the same for whoever connects: hosts, ports and database. It tells the databases of servers apart, by the
    /// names that they are reached by.
    #[must_use]
    pub fn place(&self) -> String {
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|(host, port)| format!("{host}:{port}"))
            .collect();
        format!("postgres://{}/{}", hosts.join(","), self.database)
    }
}
