//! Who may ask, by raw sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::harness::{Runtape, stderr};
use crate::server::Server;

fn problem(answer: &crate::server::Answer) -> String {
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    let problem = answer.json();
    assert_eq!(problem["status"], answer.status);
    problem["detail"].as_str().unwrap().to_owned()
}

#[test]
fn every_answer_has_the_headers_that_keep_others_out() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let evil = server.request("GET", "/", &[("Host", "evil.test")]);
    for (answer, caching) in [
        (server.request("GET", "/", &[]), "no-cache"),
        (server.request("GET", "/style.css", &[]), "no-cache"),
        (server.get("/api/v1/runs"), "no-store"),
        (server.get("/api/v1/nothing"), "no-store"),
        (server.request("GET", "/nothing", &[]), "no-store"),
        (server.request("GET", "/api/v1/runs", &[]), "no-store"),
        (evil, "no-store"),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", caching),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
        for name in ["access-control-allow-origin", "set-cookie", "server"] {
            assert_eq!(answer.header(name), None, "{}", answer.head);
        }
    }
}

#[test]
fn another_host_is_refused_before_anything_else() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &["--allow-host", "box.lan"]);
    let token = format!("Bearer {}", server.token);
    let port = server.port;
    for host in [
        format!("evil.test:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:{port}.evil.test"),
        format!("0.0.0.0:{port}"),
    ] {
        for (method, path) in [
            ("GET", "/"),
            ("GET", "/api/v1/runs"),
            ("DELETE", "/nothing"),
        ] {
            let headers = [("Host", host.as_str()), ("Authorization", &token)];
            let answer = server.request(method, path, &headers);
            assert_eq!(answer.status, 403, "{host} {method} {path}");
            assert!(problem(&answer).starts_with("this host is not ours"));
        }
    }
    for host in ["localhost", "[::1]", "box.lan", "LOCALHOST"] {
        let host = format!("{host}:{port}");
        let headers = [("Host", host.as_str()), ("Authorization", &token)];
        assert_eq!(
            server.request("GET", "/api/v1/runs", &headers).status,
            200,
            "{host}"
        );
    }
    // Without a host, with two, and with one in the address that is not the one in the header.
    let none = format!("GET /api/v1/runs HTTP/1.0\r\nAuthorization: {token}\r\n\r\n");
    let two = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.test\r\nConnection: close\r\n\r\n"
    );
    let absolute = format!(
        "GET http://evil.test/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    for request in [none, two, absolute] {
        let status = server.send(request.as_bytes()).status;
        assert!([400, 403].contains(&status), "{status}: {request}");
    }
}

#[test]
fn other_methods_origins_and_sites_are_refused() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let token = format!("Bearer {}", server.token);
    let token = ("Authorization", token.as_str());
    for method in [
        "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW",
    ] {
        for path in ["/", "/api/v1/runs", "/nothing"] {
            let answer = server.request(method, path, &[token]);
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET"), "{method} {path}");
        }
    }
    let verify = server.request("GET", "/api/v1/verify", &[token]);
    assert_eq!((verify.status, verify.header("allow")), (405, Some("POST")));
    let ours = format!("http://127.0.0.1:{}", server.port);
    assert_eq!(
        server
            .request("GET", "/api/v1/runs", &[token, ("Origin", &ours)])
            .status,
        200
    );
    for origin in [
        "http://evil.test",
        "null",
        "",
        "http://127.0.0.1:1",
        "file://",
    ] {
        let answer = server.request("GET", "/api/v1/runs", &[token, ("Origin", origin)]);
        assert_eq!(answer.status, 403, "{origin:?}");
    }
    for (site, status) in [
        ("same-origin", 200),
        ("none", 200),
        ("same-site", 403),
        ("cross-site", 403),
    ] {
        for path in ["/", "/api/v1/runs"] {
            let answer = server.request("GET", path, &[token, ("Sec-Fetch-Site", site)]);
            assert_eq!(answer.status, status, "{site} {path}");
        }
    }
}

#[test]
fn data_needs_the_token() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let token = &server.token;
    let most = token.get(..token.len() - 1).unwrap();
    for wrong in [
        None,
        Some(String::new()),
        Some("Bearer ".to_owned()),
        Some(token.clone()),
        Some(format!("Bearer {most}")),
        Some(format!("Bearer {token}0")),
        Some(format!("Basic {token}")),
    ] {
        for path in [
            "/api/v1/runs",
            "/api/v1/live?list=1",
            "/api/v1/openapi.json",
            "/api/v1/token",
            "/api/v1/nothing",
            "/api",
        ] {
            let headers = wrong.as_deref().map(|wrong| ("Authorization", wrong));
            let answer = server.request("GET", path, headers.as_slice());
            assert_eq!(answer.status, 401, "{wrong:?} {path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert!(!problem(&answer).contains(token.as_str()));
        }
    }
    // Not in the address, where it would be written down on the way.
    assert_eq!(
        server
            .request("GET", &format!("/api/v1/runs?t={token}"), &[])
            .status,
        401
    );
    assert_eq!(server.request("POST", "/api/v1/verify", &[]).status, 401);
    // The page itself holds no data.
    let page = server.request("GET", "/", &[]);
    assert_eq!(page.status, 200);
    assert!(!String::from_utf8_lossy(&page.body).contains(token.as_str()));
    assert!(
        server.url.ends_with(&format!("/#t={token}")),
        "{}",
        server.url
    );
}

#[test]
fn no_path_leads_to_a_file_of_this_machine() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/./style.css",
        "/assets/../../Cargo.toml",
        "/style.css%00.js",
        "/runtape.db",
        "/api/v1/../../etc/passwd",
        "/api/v1/runs/..%2f..%2fruntape.db",
        "/api/v1/runs/%2e%2e",
        "/api/v1/runs/..%5c..",
        "/api/v1/runs/%00",
        "/api/v1/runs/a%0d%0aSet-Cookie:x",
        "/api/v1/jobs/..%2fx",
        "/api/v1/runs/%ff",
        "/api/v1/runs//raw",
        "/api/v1/runs/last%27%20OR%201=1--",
    ] {
        let answer = server.get(path);
        assert!(
            [400, 404].contains(&answer.status),
            "{path}: {}",
            answer.status
        );
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("root:"),
            "{path}"
        );
        assert_eq!(answer.header("set-cookie"), None);
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let long = "x".repeat(100_000);
    assert_eq!(server.request("GET", "/", &[("X", &long)]).status, 431);
    let status = server.get(&format!("/api/v1/search?q={long}")).status;
    assert!([414, 431].contains(&status), "{status}");
    let many: Vec<(&str, &str)> = (0..500).map(|_| ("X", "y")).collect();
    assert_eq!(server.request("GET", "/", &many).status, 431);
    for path in [
        "runs?limit=501",
        "runs?limit=0",
        "runs?limit=-1",
        "runs?limit=1e3",
        "runs?limit=%2B1",
        "runs?limit=",
        "runs?model=",
        "runs?model",
        "runs?after=zz",
        "runs?no=1",
        "runs?limit=1&limit=2",
        "runs?outcome=fine",
        "search",
        "usage?by=day,day",
        "live?runs=../x",
    ] {
        let answer = server.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, 400, "{path}");
        assert!(!problem(&answer).is_empty());
    }
    assert_eq!(server.get("/api/v1/runs").status, 200, "it still answers");
}

#[test]
fn slow_and_idle_clients_keep_nobody_waiting() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
    let mut slow = server.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let begun = Instant::now();
    assert_eq!(server.get("/api/v1/runs").status, 200);
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    // Who never sends a whole head is sent away.
    let mut rest = Vec::new();
    slow.set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    slow.read_to_end(&mut rest).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(40));
    let text = String::from_utf8_lossy(&rest);
    assert!(
        rest.is_empty() || text.starts_with("HTTP/1.1 408"),
        "{text}"
    );
    drop(idle);
}

#[test]
fn streams_are_counted_and_nobody_gets_all_of_them() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let request = format!(
        "GET /api/v1/live?list=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    let mut streams: Vec<_> = (0..64).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }
    let refused = server.get("/api/v1/live?list=1");
    assert_eq!(refused.status, 503);
    assert!(problem(&refused).contains("too many live streams"));
    assert_eq!(server.get("/api/v1/runs").status, 200);
    drop(streams);
    // Their seats are free again at once, and not when they are next sent a sign of life, after 15 seconds.
    let begun = Instant::now();
    loop {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        if &first == b"HTTP/1.1 200" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(8), "{first:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn it_ends_when_it_is_told_to_also_with_streams_open() {
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let mut stream = server.connect();
    let request = format!(
        "GET /api/v1/live?list=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.port, server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert!(server.end(), "it exits with 0");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(
        rest.ends_with(b"0\r\n\r\n"),
        "the stream is ended as HTTP asks for"
    );
}

#[test]
fn a_token_file_is_made_for_its_owner_and_kept() {
    use std::os::unix::fs::PermissionsExt;
    let runtape = Runtape::with_fixtures();
    let path = runtape.path("token");
    let file = path.to_str().unwrap();
    let first = Server::start(&runtape, &["--token-file", file])
        .token
        .clone();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end(), first);
    assert_eq!(
        Server::start(&runtape, &["--token-file", file]).token,
        first
    );
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = runtape.run(&["serve", "--port", "0", "--token-file", file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("others may read the token"),
        "{}",
        stderr(&output)
    );
    std::fs::write(&path, "short\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = runtape.run(&["serve", "--port", "0", "--token-file", file]);
    assert!(
        stderr(&output).contains("a token is 32 or more"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_cannot_be_served_is_said() {
    let runtape = Runtape::new();
    let output = runtape.run(&["serve", "--port", "0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("there is no database"),
        "{}",
        stderr(&output)
    );
    let runtape = Runtape::with_fixtures();
    let server = Server::start(&runtape, &[]);
    let output = runtape.run(&["serve", "--port", &server.port.to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("cannot listen on 127.0.0.1:") && said.contains("--port 0"),
        "{said}"
    );
    let output = runtape.run(&["serve", "--port", "0", "--allow-host", "http://x"]);
    assert!(
        stderr(&output).contains("is no host"),
        "{}",
        stderr(&output)
    );
}

/// Whoever lets other machines in is told that what they see is not encrypted, and nobody else is.
#[test]
fn an_address_that_others_reach_comes_with_a_warning() {
    let runtape = Runtape::with_fixtures();
    for (bind, is_reached) in [("0.0.0.0", true), ("127.0.0.1", false), ("::1", false)] {
        let mut command = runtape.command(&["serve", "--port", "0", "--bind", bind]);
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        // What it has to say is said when it begins to answer; a machine without such an address ends by itself.
        let port = line.rsplit_once(':').and_then(|(_, rest)| {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
            rest.get(..digits)?.parse::<u16>().ok()
        });
        if let Some(port) = port {
            let host = if bind == "0.0.0.0" { "127.0.0.1" } else { bind };
            let mut stream = TcpStream::connect((host, port)).unwrap();
            stream
                .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        }
        process.kill().unwrap();
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if port.is_none() {
            assert!(bind == "::1" && said.contains("cannot listen"), "{said}");
            continue;
        }
        assert_eq!(said.contains("no TLS"), is_reached, "{bind}: {said}");
    }
}
