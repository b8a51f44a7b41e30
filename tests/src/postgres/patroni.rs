//! Two servers that Patroni watches over: when the first one is lost, the other one takes its place.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::binaries::Binaries;
use super::server::free_port;

/// Starts etcd and two Patronis, and notes their ids. When nobody holds the other end of its standard input, which is when
/// the test has ended, was killed or gave the cluster up, it ends them by their ids and removes what they left: Patroni
/// before its server, which it would start again.
const SUPERVISE: &str = r#"cd "$1" || exit
etcd --data-dir etcd --listen-client-urls "$3" --advertise-client-urls "$3" --listen-peer-urls "$4" \
  --initial-advertise-peer-urls "$4" --initial-cluster "default=$4" >etcd.log 2>&1 &
etcd=$!
for name in one two; do
  "$2/bin/patroni" "$name.yml" >"$name.log" 2>&1 &
  echo $! >"$name.pid"
done
cat >/dev/null
for name in one two; do
  if [ -s "$name.pid" ]; then kill -KILL "$(cat "$name.pid")" 2>/dev/null; fi
done
for name in one two; do
  server=$(head -n 1 "$name/postmaster.pid" 2>/dev/null)
  if [ -n "$server" ]; then
    kill -QUIT "$server" 2>/dev/null
    turn=0
    while kill -0 "$server" 2>/dev/null && [ $turn -lt 300 ]; do sleep 0.1; turn=$((turn + 1)); done
  fi
done
kill -KILL "$etcd" 2>/dev/null
wait
rm -rf "$1""#;

/// How long a cluster may take to be set up, or to have another leader.
const PATIENCE: Duration = Duration::from_secs(120);

/// One of the servers.
#[derive(Debug)]
struct Node {
    name: &'static str,
    /// Where the server listens.
    port: u16,
    /// Where its Patroni answers.
    control_port: u16,
}

impl Node {
    /// Asks its Patroni whether it is something: `primary`, or `sync`, a standby that every commit waits for.
    fn is(&self, role: &str) -> bool {
        let answer = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.control_port))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            write!(stream, "GET /{role} HTTP/1.0\r\n\r\n")?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        };
        answer().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
    }
}

/// Two servers of a test's own, one of which is the standby of the other, with all that watches over them.
#[derive(Debug)]
pub struct Cluster {
    /// Data, configurations and logs. Who supervises removes it.
    directory: PathBuf,
    nodes: [Node; 2],
    supervisor: Child,
}

impl Cluster {
    /// Starts two servers; `programs` is the directory that `.ci/patroni` made. There is none where the programs of a
    /// server are missing.
    #[must_use]
    pub fn start(programs: &Path) -> Option<Self> {
        let binaries = Binaries::find()?;
        let directory = tempfile::Builder::new()
            .prefix("runtape-patroni-")
            .tempdir()
            .unwrap()
            .keep();
        let nodes = ["one", "two"].map(|name| Node {
            name,
            port: free_port(),
            control_port: free_port(),
        });
        let (clients, peers) = (free_port(), free_port());
        for node in &nodes {
            let path = directory.join(format!("{}.yml", node.name));
            fs::write(&path, settings(&binaries, &directory, node, clients)).unwrap();
            binaries.give(&path);
        }
        binaries.give(&directory);
        let mut supervisor = binaries.as_user("sh", &directory);
        supervisor.args(["-c", SUPERVISE, "sh"]);
        supervisor.arg(&directory).arg(programs);
        supervisor.arg(format!("http://127.0.0.1:{clients}"));
        supervisor.arg(format!("http://127.0.0.1:{peers}"));
        // Not of this terminal's processes: who interrupts the test must not interrupt who cleans up.
        supervisor.process_group(0).stdin(Stdio::piped());
        supervisor.stdout(Stdio::null()).stderr(Stdio::null());
        let cluster = Self {
            supervisor: supervisor.spawn().unwrap(),
            directory,
            nodes,
        };
        cluster.wait("a leader whose commits wait for the other server", || {
            let is_leader = cluster.nodes.iter().any(|node| node.is("primary"));
            is_leader && cluster.nodes.iter().any(|node| node.is("sync"))
        });
        Some(cluster)
    }

    /// Returns the address of a database: that of both servers, of which the one is meant that can be written.
    #[must_use]
    pub fn address(&self, database: &str) -> String {
        let [one, two] = &self.nodes;
        format!(
            "postgres://runtape@127.0.0.1:{},127.0.0.1:{}/{database}?target_session_attrs=read-write",
            one.port, two.port
        )
    }

    /// Kills the server that is written to, and who watches over it: they get no chance to say a word to anybody.
    pub fn kill_leader(&self) {
        let leader = self.nodes.iter().find(|node| node.is("primary"));
        let leader = leader.expect("a server that is written to");
        let patroni = self.directory.join(format!("{}.pid", leader.name));
        let postmaster = self.directory.join(leader.name).join("postmaster.pid");
        for path in [patroni, postmaster] {
            let text = fs::read_to_string(&path).unwrap();
            let id = text.lines().next().unwrap().trim().parse().unwrap();
            kill(Pid::from_raw(id), Signal::SIGKILL).unwrap();
            // By the time at which the rest is ended, its number may be a stranger's.
            fs::remove_file(&path).unwrap();
        }
    }

    /// Waits until a server can be written again; returns how long that took.
    #[must_use]
    pub fn wait_for_leader(&self) -> Duration {
        let begin = Instant::now();
        self.wait("another server to be written to", || {
            self.nodes.iter().any(|node| node.is("primary"))
        });
        begin.elapsed()
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(
                begin.elapsed() < PATIENCE,
                "there is not {what}:\n{}",
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn logs(&self) -> String {
        let logs = ["etcd.log", "one.log", "two.log"].map(|name| {
            let text = fs::read_to_string(self.directory.join(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(15)..].join("\n");
            format!("{name}:\n{last}\n")
        });
        logs.concat()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Returns Patroni's settings for a server. What is acknowledged is on both: that is what `synchronous_mode` is for.
fn settings(binaries: &Binaries, directory: &Path, node: &Node, etcd: u16) -> String {
    let Node {
        name,
        port,
        control_port,
    } = node;
    // In a directory of `PATH` there may be links to some of the programs: Patroni wants the one that has all.
    let programs = binaries.directory().join("pg_ctl").canonicalize().unwrap();
    let programs = programs.parent().unwrap().display();
    let directory = directory.display();
    format!(
        r#"scope: runtape
name: {name}
restapi: {{listen: "127.0.0.1:{control_port}", connect_address: "127.0.0.1:{control_port}"}}
etcd3: {{host: "127.0.0.1:{etcd}"}}
bootstrap:
  dcs:
    # The least that Patroni takes: so long a leader is waited for that says nothing.
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      parameters: {{max_connections: 200, shared_buffers: 64MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C.UTF-8}}]
postgresql:
  listen: "127.0.0.1:{port}"
  connect_address: "127.0.0.1:{port}"
  data_dir: "{directory}/{name}"
  bin_dir: "{programs}"
  pgpass: "{directory}/{name}.pgpass"
  authentication: {{superuser: {{username: runtape}}, replication: {{username: replicator}}}}
  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
  parameters: {{unix_socket_directories: "{directory}"}}
"#
    )
}
