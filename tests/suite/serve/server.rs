//! A server of the real binary, and a client that sends exactly the bytes that it is told to.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use runtape_schemas::{SchemaKind, Validator};
use serde_json::Value;

use crate::harness::Runtape;

/// A server that ends with the test.
pub(crate) struct Server {
    process: Child,
    /// Kept open: the server may print to it.
    _stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Returns a header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Server {
    pub(crate) fn start(runtape: &Runtape, arguments: &[&str]) -> Self {
        let arguments = [&["--json", "serve", "--port", "0"], arguments].concat();
        Self::spawn(runtape, &arguments)
    }

    pub(crate) fn spawn(runtape: &Runtape, arguments: &[&str]) -> Self {
        let mut command = runtape.command(arguments);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let info: Value = serde_json::from_str(&line).unwrap();
        let verdict = Validator::for_kind(SchemaKind::ServeInfo).validate(&info);
        assert!(verdict.is_valid(), "{:#?}", verdict.faults());
        Self {
            process,
            _stdout: stdout,
            url: info["url"].as_str().unwrap().to_owned(),
            port: u16::try_from(info["port"].as_u64().unwrap()).unwrap(),
            token: info["token"].as_str().unwrap().to_owned(),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends bytes, and reads until the server closes the connection.
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is sent.
        let _ = stream.write_all(bytes);
        read_answer(&mut stream)
    }

    /// Sends a request with some headers; `Host` and the end of the connection are added.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(text, "Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        self.send(format!("{text}\r\n").as_bytes())
    }

    /// Asks with the token.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.request("GET", path, &[("Authorization", &token)])
    }

    /// Asks the API, which must have an answer.
    pub(crate) fn api(&self, path: &str) -> Value {
        let answer = self.get(&format!("/api/v1/{path}"));
        assert_eq!(
            answer.status,
            200,
            "{path}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        answer.json()
    }

    /// Asks for all pages of a list.
    pub(crate) fn all(&self, path: &str, limit: usize) -> Vec<Value> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.api(&format!("{path}{joint}limit={limit}{after}"));
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return items,
            }
        }
    }

    /// Tells the server to end, and returns whether it did so by itself.
    pub(crate) fn end(mut self) -> bool {
        let process = self.process.id().to_string();
        let told = std::process::Command::new("kill")
            .arg(&process)
            .status()
            .unwrap();
        assert!(told.success());
        self.process.wait().unwrap().success()
    }

    /// Kills the server.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads an answer to the end of the connection.
pub(crate) fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 65536];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
    }
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let Some(end) = end else {
        return Answer {
            status: 0,
            head: String::new(),
            body: bytes,
        };
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = bytes[end + 4..].to_vec();
    Answer { status, head, body }
}
