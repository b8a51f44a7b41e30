//! A database on a server: its address, and the directory of what lies beside a database file otherwise.

mod password;

use std::fmt;
use std::path::{Path, PathBuf};

use runtape_store::ServerName;

use crate::error::CliError;
use crate::platform::data_directory;

/// How many digits of the hash of a server's place name its directory.
const DIGITS: usize = 16;

/// A database on a server.
#[derive(Clone)]
pub(crate) struct Server {
    /// The address, with the password if there is one.
    address: String,
    name: ServerName,
    /// What lies beside a database file otherwise: the key, spool files, the memory of `sync`.
    directory: PathBuf,
    /// Why a password that may have been meant is not used.
    warning: Option<String>,
}

/// The password is not for logs.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.name.name).finish()
    }
}

impl Server {
    /// Takes an address apart. Where it has no password, one is looked for as other programs for `PostgreSQL` do: in
    /// `$PGPASSWORD`, then in `~/.pgpass`.
    pub(crate) fn new(address: &str) -> Result<Self, CliError> {
        let mut name = ServerName::parse(address).map_err(|error| CliError::Usage {
            message: error.to_string(),
        })?;
        let mut address = address.to_owned();
        let mut warning = None;
        if name.password.is_none() {
            let found = password::find(&name);
            warning = found.warning;
            if let Some(password) = &found.password {
                let mark = if address.contains('?') { '&' } else { '?' };
                address.push(mark);
                address.push_str("password=");
                address.push_str(&encoded(password));
            }
            name.password = found.password;
        }
        let above = data_directory().ok_or_else(|| CliError::NoServerDirectory {
            name: name.name.clone(),
        })?;
        let hash = blake3::hash(name.place().as_bytes()).to_hex();
        let hash: String = hash.chars().take(DIGITS).collect();
        let directory = above.join("runtape").join("servers").join(hash);
        Ok(Self {
            address,
            name,
            directory,
            warning,
        })
    }

    /// Returns the address to connect to, with the password: not to be printed.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns what to print.
    pub(crate) fn name(&self) -> &str {
        &self.name.name
    }

    /// Returns the password, so that it can be taken out of what is recorded.
    pub(crate) fn password(&self) -> Option<&str> {
        self.name.password.as_deref()
    }

    /// Returns where the database is, the same for whoever connects.
    pub(crate) fn place(&self) -> String {
        self.name.place()
    }

    /// Returns the directory of what lies beside a database file otherwise.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns what a person should know of the password.
    pub(crate) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Writes a text as it stands in an address.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn any_password_comes_through_an_address() {
        for password in ["plain", "a b&c=d?e#f%20", "ümläut/@:", "'\"\\"] {
            let address = format!(
                "postgres://me@localhost/runs?password={}",
                encoded(password)
            );
            let name = ServerName::parse(&address).unwrap();
            assert_eq!(name.password.as_deref(), Some(password));
            assert_eq!(name.name, "postgres://me@localhost/runs");
        }
    }
}
