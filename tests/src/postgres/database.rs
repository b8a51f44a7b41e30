//! A database for each test.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, OnceLock};

use runtape_store::Store;

use super::server::{Care, Server};
use super::sql::Sql;

/// How the tables of a database lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Each in one piece.
    Whole,
    /// In eight parts, by a hash of the root run's id: what a server that shards would refuse is refused there.
    Partitioned,
}

impl Layout {
    /// Makes the tables.
    pub fn migrate(self, address: &str) {
        let migrated = match self {
            Self::Whole => Store::migrate(address),
            Self::Partitioned => Store::migrate_partitioned(address, 8),
        };
        migrated.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Where databases are made.
#[derive(Debug)]
enum TestServer {
    /// On a server that we started: each is a copy of one that has the tables.
    Own(Box<Server>, Mutex<HashMap<Layout, String>>),
    /// On one that somebody named, where we may have rights in one database only: each is a schema of its own.
    Given(String),
}

static PLACE: OnceLock<Option<TestServer>> = OnceLock::new();
static COUNT: AtomicU32 = AtomicU32::new(1);

/// Tells once that tests are skipped; fails where they must not be.
fn tell_of_skipping() {
    let missing = "no PostgreSQL server to test with: install one (Debian: postgresql), or name its programs \
                   (RUNTAPE_PG_BIN=DIR) or a server (RUNTAPE_TEST_PG_URL=postgres://…)";
    let is_required = std::env::var_os("RUNTAPE_POSTGRES").is_some_and(|value| value == "required");
    assert!(
        !is_required,
        "RUNTAPE_POSTGRES=required, but there is {missing}"
    );
    static ONCE: Once = Once::new();
    // Past what the test harness catches.
    ONCE.call_once(|| drop(writeln!(std::io::stderr(), "skipped: {missing}")));
}

fn place() -> Option<&'static TestServer> {
    let place = PLACE.get_or_init(|| {
        if let Ok(address) = std::env::var("RUNTAPE_TEST_PG_URL") {
            return Some(TestServer::Given(address));
        }
        let server = Server::start(Care::Quick, &[])?;
        Some(TestServer::Own(Box::new(server), Mutex::default()))
    });
    if place.is_none() {
        tell_of_skipping();
    }
    place.as_ref()
}

/// Tells whether there is a server to test with. If there is none, that was said.
#[must_use]
pub fn is_there() -> bool {
    place().is_some()
}

/// Starts a server of a test's own, whose faults are no other test's. There is none where somebody named a server to
/// use, which is not ours to stop.
#[must_use]
pub fn own_server(care: Care, settings: &[&str]) -> Option<Server> {
    if std::env::var_os("RUNTAPE_TEST_PG_URL").is_some() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the server that RUNTAPE_TEST_PG_URL names is not ours to stop"
        );
        return None;
    }
    let server = Server::start(care, settings);
    if server.is_none() {
        tell_of_skipping();
    }
    server
}

/// A database that is gone when it is dropped.
#[derive(Debug)]
pub struct Database {
    place: &'static TestServer,
    name: String,
    address: String,
}

impl Database {
    /// Makes a database that has the tables and nothing in them.
    #[must_use]
    pub fn fresh(layout: Layout) -> Option<Self> {
        let place = place()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let address = match place {
            TestServer::Own(server, templates) => {
                let template = template(server, templates, layout);
                let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
                server.sql("postgres").run(&sql);
                server.address(&name)
            }
            TestServer::Given(address) => {
                connect(address).run(&format!("CREATE SCHEMA {name}"));
                let join = if address.contains('?') { '&' } else { '?' };
                let address = format!("{address}{join}options=-csearch_path%3D{name}");
                layout.migrate(&address);
                address
            }
        };
        Some(Self {
            place,
            name,
            address,
        })
    }

    /// Copies a database, to which nobody may be connected. Only a server of our own can.
    #[must_use]
    pub fn copy(&self) -> Option<Self> {
        let TestServer::Own(server, _) = self.place else {
            return None;
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let sql = format!("CREATE DATABASE {name} TEMPLATE {}", self.name);
        server.sql("postgres").run(&sql);
        let address = server.address(&name);
        Some(Self {
            place: self.place,
            name,
            address,
        })
    }

    /// Returns its address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns its address through a port of the loopback, if it is on a server of our own.
    #[must_use]
    pub fn tcp_address(&self, port: Option<u16>) -> Option<String> {
        let TestServer::Own(server, _) = self.place else {
            return None;
        };
        let port = port.unwrap_or_else(|| server.port());
        Some(format!("postgres://runtape@127.0.0.1:{port}/{}", self.name))
    }

    /// Returns the port that its server listens on, if it is of our own.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self.place {
            TestServer::Own(server, _) => Some(server.port()),
            TestServer::Given(_) => None,
        }
    }

    /// Connects to it, past the store.
    #[must_use]
    pub fn sql(&self) -> Sql {
        connect(&self.address)
    }
}

fn connect(address: &str) -> Sql {
    match Sql::connect(address) {
        Ok(sql) => sql,
        Err(refusal) => panic!("{}", refusal.text),
    }
}

/// Returns a database of a layout that others are copies of.
fn template(server: &Server, templates: &Mutex<HashMap<Layout, String>>, layout: Layout) -> String {
    let mut templates = templates.lock().unwrap();
    let made = templates.entry(layout).or_insert_with(|| {
        let name = format!("template_{layout:?}").to_lowercase();
        server
            .sql("postgres")
            .run(&format!("CREATE DATABASE {name}"));
        layout.migrate(&server.address(&name));
        name
    });
    made.clone()
}

impl Drop for Database {
    fn drop(&mut self) {
        let (address, sql) = match self.place {
            TestServer::Own(server, _) => (
                server.address("postgres"),
                format!("DROP DATABASE {} WITH (FORCE)", self.name),
            ),
            TestServer::Given(address) => (
                address.clone(),
                format!("DROP SCHEMA {} CASCADE", self.name),
            ),
        };
        // What cannot be dropped now is gone with the server.
        let _ = Sql::connect(&address).map(|connection| connection.ask(&sql));
    }
}
