//! A server that is started by a test and ends with it, whatever happens to the test.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::binaries::{Binaries, Volume};
use super::sql::Sql;

/// Waits until nobody holds the other end of its standard input, which is when the test has ended, was killed or gave
/// the server up. Then it ends the server and removes what it left. A server that was just being started is waited for.
const WATCH: &str = r#"cat >/dev/null
for turn in 1 2 3 4; do
  if server=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && [ -n "$server" ]; then
    kill -QUIT "$server" 2>/dev/null
    while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
    break
  fi
  sleep 0.5
done
rm -rf "$1""#;

/// How a server is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Nothing is lost that was acknowledged, as by default: for tests of faults.
    AsByDefault,
    /// It need not survive its machine: for tests that are many.
    Quick,
}

/// A server of a test's own.
#[derive(Debug)]
pub struct Server {
    binaries: Binaries,
    /// Data, socket and log. Who watches removes it.
    directory: PathBuf,
    port: u16,
    settings: Vec<String>,
    volume: Option<Volume>,
    /// Who ends the server with us.
    watch: Child,
}

/// Returns a port that nobody listens on just now.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn succeed(command: &mut Command, log: &Path) {
    let output = command.stderr(Stdio::piped()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let log = fs::read_to_string(log).unwrap_or_default();
        panic!("{command:?}: {}: {said}{log}", output.status);
    }
}

impl Server {
    /// Starts a server with nothing in it; `settings` are given as `name=value`. There is none where its programs are
    /// missing.
    #[must_use]
    pub fn start(care: Care, settings: &[&str]) -> Option<Self> {
        Some(Self::start_at(Binaries::find()?, care, settings, None))
    }

    /// Starts a server that has a small volume of its own, in the directory [`volume`](Self::volume). There is none where
    /// no volume can be mounted.
    #[must_use]
    pub fn start_with_volume(care: Care, settings: &[&str], kilobytes: u32) -> Option<Self> {
        let binaries = Binaries::find().filter(Binaries::can_mount)?;
        Some(Self::start_at(binaries, care, settings, Some(kilobytes)))
    }

    fn start_at(binaries: Binaries, care: Care, settings: &[&str], kilobytes: Option<u32>) -> Self {
        let mut all: Vec<String> = ["max_connections=200", "shared_buffers=64MB"]
            .map(str::to_owned)
            .into();
        if care == Care::Quick {
            all.extend(
                [
                    "fsync=off",
                    "full_page_writes=off",
                    "synchronous_commit=off",
                ]
                .map(str::to_owned),
            );
        }
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let mut server = Self::prepare(binaries, all);
        server.volume = kilobytes.map(|kilobytes| Volume {
            path: server.directory.join("volume"),
            kilobytes,
        });
        if let Some(volume) = &server.volume {
            fs::create_dir(&volume.path).unwrap();
        }
        let mut initdb = server.binaries.command("initdb", &server.directory);
        initdb.args([
            "--auth=trust",
            "--username=runtape",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]);
        succeed(
            initdb
                .arg("--pgdata")
                .arg(server.data())
                .stdout(Stdio::null()),
            &server.log(),
        );
        server.start_again();
        server
    }

    /// Makes a directory for a server, and has somebody watch over it.
    fn prepare(binaries: Binaries, settings: Vec<String>) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("runtape-pg-")
            .tempdir()
            .unwrap()
            .keep();
        binaries.give(&directory);
        let mut watch = binaries.as_user("sh", &directory);
        watch.args(["-c", WATCH, "sh"]).arg(&directory);
        // Not of this terminal's processes: who interrupts the test must not interrupt who cleans up.
        watch.process_group(0).stdin(Stdio::piped());
        let watch = watch
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            binaries,
            directory,
            volume: None,
            port: free_port(),
            settings,
            watch,
        }
    }

    /// Starts a standby that takes part in every commit: what is acknowledged is on both. It reaches this server through
    /// a port, which may be that of a proxy. There is none where the program is missing that copies a server.
    #[must_use]
    pub fn start_standby(&self, port: u16) -> Option<Self> {
        let standby = Self::prepare(self.binaries.clone(), self.settings.clone());
        let binaries = &standby.binaries;
        let mut copy = binaries.other_command("pg_basebackup", &standby.directory)?;
        copy.args([
            "--write-recovery-conf",
            "--checkpoint=fast",
            "--no-sync",
            "--dbname",
        ]);
        copy.arg(format!("host=127.0.0.1 port={port} user=runtape"));
        let copy = copy.arg("--pgdata").arg(standby.data());
        succeed(copy.stdout(Stdio::null()), &self.log());
        standby.start_again();
        let sql = self.sql("postgres");
        sql.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        sql.run("SELECT pg_reload_conf()");
        let asked = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        for _ in 0..600 {
            if sql.value(asked) == "1" {
                return Some(standby);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the standby takes no part in commits");
    }

    /// Returns the directory that all it has is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory of its data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Returns the file that it writes down in what it does not like.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Returns the loopback port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it, once it was stopped.
    pub fn start_again(&self) {
        let mut options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1",
            self.port,
            self.directory.display()
        );
        for setting in &self.settings {
            options.push_str(&format!(" -c {setting}"));
        }
        let mut start = match &self.volume {
            Some(volume) => self
                .binaries
                .command_on_volume("pg_ctl", &self.directory, volume),
            None => self.binaries.command("pg_ctl", &self.directory),
        };
        start.args([
            "start",
            "--wait",
            "--silent",
            "--timeout=120",
            "--options",
            &options,
        ]);
        start
            .arg("--pgdata")
            .arg(self.data())
            .arg("--log")
            .arg(self.log());
        succeed(start.stdout(Stdio::null()), &self.log());
    }

    /// Stops it as if its machine had lost power, but for what the disk has.
    pub fn stop_at_once(&self) {
        let mut stop = self.binaries.command("pg_ctl", &self.directory);
        stop.args(["stop", "--mode=immediate", "--wait", "--silent"]);
        succeed(
            stop.arg("--pgdata").arg(self.data()).stdout(Stdio::null()),
            &self.log(),
        );
    }

    /// Writes a file that belongs to the server, for nobody else to read.
    pub fn write_file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.directory.join(name);
        let mut file = fs::File::create(&path).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .unwrap();
        file.write_all(content.as_bytes()).unwrap();
        self.binaries.give(&path);
        path
    }

    /// Returns where the small volume is, for those that have one.
    #[must_use]
    pub fn volume(&self) -> Option<&Path> {
        self.volume.as_ref().map(|volume| volume.path.as_path())
    }

    /// Returns the address of a database, through a socket that is a file.
    #[must_use]
    pub fn address(&self, database: &str) -> String {
        let directory = self.directory.display().to_string().replace('/', "%2F");
        format!("postgres://runtape@{directory}:{}/{database}", self.port)
    }

    /// Returns the address of a database, through the loopback.
    #[must_use]
    pub fn tcp_address(&self, database: &str) -> String {
        format!("postgres://runtape@127.0.0.1:{}/{database}", self.port)
    }

    /// Connects to a database, past the store.
    #[must_use]
    pub fn sql(&self, database: &str) -> Sql {
        match Sql::connect(&self.address(database)) {
            Ok(sql) => sql,
            Err(refusal) => panic!("{database}: {}", refusal.text),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}
