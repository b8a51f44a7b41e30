//! `record` when the store fails: the command lives, what it prints is seen, and nothing is lost.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use runtape_core::Runtime;
use runtape_store::{BeginRun, Options, Store};
use serde_json::Value;

use crate::harness::{Runtape, capture, stderr, stdout};

/// Runs `runtape` in a shell that sets a limit first.
fn limited(runtape: &Runtape, limit: &str, arguments: &[&str]) -> Output {
    let inner = runtape.command(arguments);
    let mut command = Command::new("sh");
    // With the signal ignored, a write beyond the limit fails as on a full disk.
    let script = format!("trap '' XFSZ; {limit}; exec \"$0\" \"$@\"");
    command
        .args(["-c", &script])
        .arg(inner.get_program())
        .args(inner.get_args());
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.stdin(Stdio::null()).output().unwrap()
}

fn runs(runtape: &Runtape) -> Vec<Value> {
    runtape.json(&["runs"])
}

/// A script that prints many different lines, slowly enough for several batches.
fn talker(runtape: &Runtape, lines: usize) -> String {
    let body = format!(
        "i=0; while [ $i -lt {lines} ]; do i=$((i + 1)); \
         head -c 3000 /dev/urandom | od -An -tx1 | tr -d ' \\n'; echo \" $i\"; done; echo the end"
    );
    runtape.script("claude", &body)
}

#[test]
fn a_database_that_is_none_loses_nothing() {
    let runtape = Runtape::new();
    let broken = runtape.path("broken.db");
    let text = "this is no database, but long enough to be taken for one";
    fs::write(&broken, text).unwrap();
    let script = runtape.script("claude", &format!("cat {}", capture().display()));
    let output = runtape.run(&["record", "--db", broken.to_str().unwrap(), "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("┌ Bash"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("`runtape recover`"),
        "{}",
        stderr(&output)
    );
    fs::remove_file(&broken).unwrap();
    let broken = ["--db", broken.to_str().unwrap()];
    assert!(
        runtape
            .run(&[&broken[..], &["recover"]].concat())
            .status
            .success()
    );
    let runs = runtape.json(&[&broken[..], &["runs"]].concat());
    assert_eq!((runs.len(), &runs[0]["status"]), (1, &"completed".into()));
    assert!(
        runtape
            .run(&[&broken[..], &["verify"]].concat())
            .status
            .success()
    );
}

#[test]
fn a_full_disk_in_mid_run_loses_nothing() {
    let runtape = Runtape::new();
    let script = talker(&runtape, 150);
    let arguments = ["record", "--show", "raw", "--run-id", "full", "--", &script];
    // Blocks of 512 bytes: room for a part of what is printed.
    let output = limited(&runtape, "ulimit -f 1400", &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(shown.ends_with("the end\n"), "the output goes on");
    let said = stderr(&output);
    assert!(
        said.contains("not stored") && said.contains("`runtape recover`"),
        "{said}"
    );
    assert!(!said.contains("nowhere"), "{said}");

    let stored = stdout(&runtape.run(&["raw", "full"]));
    assert!(
        !stored.is_empty() && stored.len() < shown.len(),
        "a part was stored before"
    );
    let output = runtape.run(&["recover"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&runtape.run(&["raw", "full"])), shown);
    let run = &runs(&runtape)[0];
    assert_eq!(
        (&run["status"], run["seal"].is_u64()),
        (&"completed".into(), true)
    );
    assert!(runtape.run(&["verify"]).status.success());
    assert!(!runtape.path("runtape.db.spool").exists());
}

#[test]
fn a_database_locked_in_mid_run_loses_nothing() {
    let runtape = Runtape::new();
    let go = runtape.path("go");
    let script = runtape.waiting("echo before", &format!("cat {}", capture().display()));
    let child = runtape
        .command(&[
            "record", "--show", "raw", "--run-id", "locked", "--", &script,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let database = runtape.path("runtape.db");
    let begin = Instant::now();
    let mut store = loop {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(50));
        let mut options = Options::default();
        options.create = false;
        if let Ok(store) = Store::open(&database, &options)
            && store
                .tape_lengths(&"locked".parse().unwrap())
                .is_ok_and(|kept| kept.total() == 7)
        {
            break store;
        }
    };
    let output = store
        .batch(|_| {
            fs::write(&go, "").unwrap();
            Ok(child.wait_with_output().unwrap())
        })
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    assert_eq!(
        shown.len() as u64,
        7 + fs::metadata(capture()).unwrap().len()
    );
    assert!(
        stderr(&output).contains("`runtape recover`"),
        "{}",
        stderr(&output)
    );
    drop(store);
    let output = runtape.run(&["recover"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&runtape.run(&["raw", "locked"])), shown);
    assert!(runtape.run(&["verify"]).status.success());
}

#[test]
fn where_nothing_can_be_kept_the_last_line_says_how_much_is_lost() {
    let runtape = Runtape::new();
    let broken = runtape.path("broken.db");
    fs::write(
        &broken,
        "this is no database, but long enough to be taken for one",
    )
    .unwrap();
    let script = runtape.script("claude", "printf 0123456789; exit 4");
    let output = runtape
        .command(&["record", "--db", broken.to_str().unwrap(), "--", &script])
        .env("RUNTAPE_SPOOL", runtape.path("no/such/directory"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(stdout(&output).contains("0123456789"));
    let said = stderr(&output);
    let last = said.lines().last().unwrap();
    assert!(last.contains("10 B of output are stored nowhere"), "{said}");
}

#[test]
fn a_spool_file_that_is_still_written_is_left_alone() {
    let runtape = Runtape::new();
    let (broken, go) = (runtape.path("broken.db"), runtape.path("go"));
    fs::write(
        &broken,
        "this is no database, but long enough to be taken for one",
    )
    .unwrap();
    let script = runtape.waiting("echo one", "echo two");
    let child = runtape
        .command(&[
            "record",
            "--run-id",
            "alive",
            "--db",
            broken.to_str().unwrap(),
            "--",
            &script,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let spool = runtape.path("broken.db.spool/alive.runtape-spool");
    let begin = Instant::now();
    while !fs::read(&spool).is_ok_and(|bytes| bytes.ends_with(b"one\n\n")) {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    // The database can be used again while the recorder still goes on with its spool file.
    fs::remove_file(&broken).unwrap();
    let on_it = |arguments: &[&str]| {
        let output = runtape.run(&[&["--db", broken.to_str().unwrap()], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        output
    };
    let said = stderr(&on_it(&["recover"]));
    assert!(said.contains("1 spool file left alone"), "{said}");
    fs::write(&go, "").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    on_it(&["recover"]);
    assert_eq!(stdout(&on_it(&["raw", "alive"])), "one\ntwo\n");
    assert!(stdout(&on_it(&["runs"])).contains("completed"));
}

#[test]
fn one_run_that_cannot_be_closed_does_not_keep_recover_from_the_others() {
    let runtape = Runtape::new();
    let mut store = Store::open(runtape.path("runtape.db"), &Options::default()).unwrap();
    for (name, runtime) in [("first", "nobody-knows"), ("second", "hermes")] {
        let begin = BeginRun {
            job_id: name.parse().unwrap(),
            run_id: name.parse().unwrap(),
            runtime: Runtime::from_name(runtime),
            started_at: 1,
            context: Value::Null,
        };
        store.begin_run(&begin).unwrap();
    }
    drop(store);
    // Its run is not closed without it either.
    fs::create_dir(runtape.path("runtape.db.spool")).unwrap();
    let spool = runtape.path("runtape.db.spool/third.runtape-spool");
    fs::write(&spool, "no spool file\n").unwrap();
    let output = runtape.run(&["--json", "recover"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    let named = |text: &str| said.lines().any(|line| line.contains(text));
    assert!(
        named("runtape: run first: ") && named("nobody-knows"),
        "{said}"
    );
    assert!(named("third.runtape-spool: "), "{said}");
    assert!(named("2 of 3 could not be recovered"), "{said}");
    let closed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(closed["runId"], "second");
    assert!(spool.exists());
    let open = runtape.json(&["runs", "--outcome", "running"]);
    assert_eq!((open.len(), &open[0]["runId"]), (1, &"first".into()));
}

#[test]
fn one_run_that_cannot_be_read_again_does_not_keep_renormalize_from_the_others() {
    let runtape = Runtape::new();
    let script = runtape.script("hermes", "echo hello");
    let output = runtape.run(&["record", "--run-id", "sound", "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    let other = Runtape::new();
    let output = other.run(&["record", "--run-id", "broken", "--", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    // The same run, as if a runtime had printed it that this version cannot read.
    let from = Store::open(other.path("runtape.db"), &Options::read_only()).unwrap();
    let mut to = Store::open(runtape.path("runtape.db"), &Options::default()).unwrap();
    let run = "broken".parse().unwrap();
    let mut begin = from.begin_of(&run).unwrap();
    begin.runtime = Runtime::from_name("nobody-knows");
    // The last one, so that it is read first.
    begin.started_at += 60_000;
    to.begin_run(&begin).unwrap();
    let records = from.records(&run, 0, usize::MAX).unwrap();
    to.append(&run, &records, &from.tape(&run).unwrap())
        .unwrap();
    to.finish_run(&run, &from.exit(&run).unwrap().unwrap(), 1)
        .unwrap();
    drop(to);
    let output = runtape.run(&["renormalize", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    let expected = "1 run read again, 0 replaced\n\
                    runtape: 1 of 2 could not be read again, and are as they were\n";
    assert!(said.starts_with("runtape: run broken: "), "{said}");
    assert!(said.ends_with(expected), "{said}");
}
