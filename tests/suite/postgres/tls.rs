//! Encrypted connections: the server's certificate is checked, and no word goes to another host in plain text.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use runtape_store::{Options, Store, StoreError};
use runtape_tests::postgres::{Care, Layout, Server, own_server};
use runtape_tests::runs::Plan;

use crate::writers::check_exactly;

/// Somebody who signs certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
        }
    }

    /// Signs a certificate for a host; returns it and its key.
    fn sign(&self, host: &str, is_over: bool) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        if is_over {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        }
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

/// Gives the server a certificate, from now on.
fn equip(server: &Server, (certificate, key): &(String, String)) {
    let (certificate, key) = (
        server.write_file("server.crt", certificate),
        server.write_file("server.key", key),
    );
    let sql = server.sql("postgres");
    sql.run(&format!(
        "ALTER SYSTEM SET ssl_cert_file = '{}'",
        certificate.display()
    ));
    sql.run(&format!(
        "ALTER SYSTEM SET ssl_key_file = '{}'",
        key.display()
    ));
    sql.run("ALTER SYSTEM SET ssl = on");
    sql.run("SELECT pg_reload_conf()");
    // A reload is done by and by: a new connection has it when the server says so, and the file was read after.
    let begin = Instant::now();
    while server.sql("postgres").value("SHOW ssl") != "on" {
        assert!(begin.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(300));
}

fn open(address: &str) -> Result<Store, StoreError> {
    Store::open(address, &Options::default())
}

/// Opens what must be refused, and soon; returns what was said.
fn refused(address: &str) -> String {
    let begin = Instant::now();
    let error = match open(address) {
        Ok(_) => panic!("{address}: connected"),
        Err(error) => error.to_string(),
    };
    assert!(
        begin.elapsed() < Duration::from_secs(15),
        "{address}: {error}"
    );
    error
}

fn percent(path: &Path) -> String {
    path.display().to_string().replace('/', "%2F")
}

#[test]
fn a_certificate_is_checked() {
    let Some(server) = own_server(Care::Quick, &[]) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let (ours, other) = (Authority::new(), Authority::new());
    let write = |name: &str, text: &str| -> PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let right = percent(&write("right.pem", &ours.certificate));
    let wrong = percent(&write("wrong.pem", &other.certificate));
    let missing = percent(&directory.path().join("missing.pem"));
    let empty = percent(&write("empty.pem", ""));
    server.sql("postgres").run("CREATE DATABASE history");
    Layout::Whole.migrate(&server.address("history"));
    let port = server.port();
    let at =
        |host: &str, settings: &str| format!("postgres://runtape@{host}:{port}/history?{settings}");

    // A server that has no certificate, where one is asked for.
    let said = refused(&at(
        "localhost",
        &format!("sslmode=verify-full&sslrootcert={right}"),
    ));
    assert!(said.contains("TLS"), "{said}");

    equip(&server, &ours.sign("localhost", false));
    for mode in ["require", "verify-ca", "verify-full"] {
        let address = at("localhost", &format!("sslmode={mode}&sslrootcert={right}"));
        let mut store = open(&address).unwrap_or_else(|error| panic!("{mode}: {error}"));
        let made = Plan::new(mode, 2).make();
        made.store(&mut store);
        let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
             WHERE ssl AND application_name = 'runtape'";
        assert_eq!(server.sql("postgres").value(encrypted), "1", "{mode}");
        drop(store);
        for (name, settings) in [
            (
                "somebody else signed it",
                format!("sslmode={mode}&sslrootcert={wrong}"),
            ),
            ("nobody we know signed it", format!("sslmode={mode}")),
            (
                "there is nobody to trust",
                format!("sslmode={mode}&sslrootcert={empty}"),
            ),
            (
                "who to trust cannot be read",
                format!("sslmode={mode}&sslrootcert={missing}"),
            ),
        ] {
            let said = refused(&at("localhost", &settings));
            assert!(said.contains("certificate"), "{name}: {said}");
            println!("{mode}, {name}: {said}");
        }
        // The certificate is one of another name.
        let said = refused(&at(
            "127.0.0.1",
            &format!("sslmode={mode}&sslrootcert={right}"),
        ));
        assert!(said.contains("certificate"), "{said}");
    }
    // A host that is not this machine, as far as its name goes.
    let far = |settings: &str| at("db.example.com", &format!("hostaddr=127.0.0.1&{settings}"));
    let said = refused(&far(&format!("sslrootcert={right}")));
    assert!(said.contains("certificate"), "{said}");
    equip(&server, &ours.sign("db.example.com", false));
    open(&far(&format!("sslrootcert={right}"))).unwrap();
    let said = refused(&far(&format!("sslrootcert={wrong}")));
    assert!(said.contains("certificate"), "{said}");
    let said = refused(&at(
        "localhost",
        &format!("sslmode=require&sslrootcert={right}"),
    ));
    assert!(said.contains("certificate"), "{said}");
    // One that is too old.
    equip(&server, &ours.sign("localhost", true));
    let said = refused(&at(
        "localhost",
        &format!("sslmode=require&sslrootcert={right}"),
    ));
    assert!(said.contains("xpired"), "{said}");
    let runs: Vec<_> = ["require", "verify-ca", "verify-full"]
        .map(|mode| Plan::new(mode, 2).make())
        .into();
    check_exactly(&server.address("history"), &runs);
}

/// What a client says to a server that has no encryption: all that came before it hung up.
fn overheard(settings: &str) -> (Vec<u8>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ear = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut heard = vec![0; 8];
        stream.read_exact(&mut heard).unwrap();
        // "No."
        stream.write_all(b"N").unwrap();
        let mut rest = [0; 4096];
        let count = stream.read(&mut rest).unwrap_or(0);
        heard.extend_from_slice(&rest[..count]);
        heard
    });
    let password = ":s3cret";
    let address = format!(
        "postgres://somebody{password}@db.example.com:{port}/history?hostaddr=127.0.0.1{settings}"
    );
    let said = refused(&address);
    (ear.join().unwrap(), said)
}

#[test]
fn no_word_goes_to_another_host_in_plain_text() {
    // The request for encryption, which has nothing of ours in it.
    let request = [0, 0, 0, 8, 4, 210, 22, 47];
    for settings in ["", "&sslmode=prefer", "&sslmode=allow", "&sslmode=require"] {
        let (heard, said) = overheard(settings);
        assert_eq!(heard, request, "{settings}");
        assert!(said.contains("TLS"), "{settings}: {said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    // Unless somebody says that it may: then the first word is who it is.
    let (heard, said) = overheard("&sslmode=disable");
    assert_ne!(heard[..8], request);
    let heard = String::from_utf8_lossy(&heard).into_owned();
    assert!(heard.contains("somebody"), "{heard}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn a_password_is_asked_for_and_told_to_nobody() {
    let Some(server) = own_server(Care::Quick, &[]) else {
        return;
    };
    server.sql("postgres").run("CREATE DATABASE history");
    Layout::Whole.migrate(&server.address("history"));
    let sql = server.sql("history");
    sql.run("CREATE ROLE watched SUPERUSER LOGIN PASSWORD 's3cret'");
    server.write_file(
        "data/pg_hba.conf",
        "host all watched all scram-sha-256\nlocal all all trust\nhost all all all trust\n",
    );
    sql.run("SELECT pg_reload_conf()");
    thread::sleep(Duration::from_millis(300));
    let at = |who: &str| format!("postgres://{who}@127.0.0.1:{}/history", server.port());
    let store = open(&at("watched:s3cret")).unwrap();
    assert!(!format!("{store:?}").contains("s3cret"));
    assert_eq!(store.verify().unwrap().faults, []);
    for wrong in ["watched:hunter2", "watched", "nobody:hunter2"] {
        let said = refused(&at(wrong));
        assert!(said.contains("check user, password"), "{wrong}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    // Nor does it stand where anybody who lists connections can see it.
    let seen = sql.value("SELECT string_agg(application_name || query, ' ') FROM pg_stat_activity");
    assert!(!seen.contains("s3cret"), "{seen}");
}
