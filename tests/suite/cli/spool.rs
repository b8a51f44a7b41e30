//! Spool files: where they lie, what they say, and which of them `recover` takes in.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use runtape_core::Runtime;
use runtape_store::{BeginRun, Options, Store, TapeChunk};
use serde_json::{Value, json};

use crate::harness::{Runtape, capture, is_root, stderr, stdout};
use crate::piped::{self, Piped, assert_not_stored, recover_and_compare, wait_until_printed};

const NO_DATABASE: &str = "this is no database, but long enough to be taken for one";

/// Records a script into a file that is no database; so its output goes to a spool file. Returns
/// the spool file. The file that is no database is gone afterwards.
fn spooled(runtape: &Runtape, database: &Path, run: &str, spool: Option<&Path>) -> PathBuf {
    fs::write(database, NO_DATABASE).unwrap();
    let script = runtape.script("claude", "echo hello");
    let database_name = database.to_str().unwrap();
    let mut command = runtape.command(&[
        "record",
        "--run-id",
        run,
        "--db",
        database_name,
        "--",
        &script,
    ]);
    if let Some(spool) = spool {
        command.env("RUNTAPE_SPOOL", spool);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    fs::remove_file(database).unwrap();
    let directory = spool.map_or_else(|| beside(database), Path::to_owned);
    directory.join(format!("{run}.runtape-spool"))
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".spool");
    name.into()
}

fn recover(runtape: &Runtape, database: &Path, more: &[&str]) -> Output {
    // Whoever opened a pipe that nobody writes would wait for ever.
    let inner = runtape.command(&[&["--db", database.to_str().unwrap(), "recover"], more].concat());
    let mut command = Command::new("timeout");
    command
        .arg("30")
        .arg(inner.get_program())
        .args(inner.get_args());
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.output().unwrap()
}

fn runs(runtape: &Runtape, database: &Path) -> Vec<String> {
    let runs = runtape.json(&["--db", database.to_str().unwrap(), "runs"]);
    let mut ids: Vec<String> = runs
        .iter()
        .map(|run| run["runId"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn a_spool_file_lies_beside_its_database_is_private_and_names_it() {
    let runtape = Runtape::new();
    let database = runtape.path("runtape.db");
    symlink(&database, runtape.path("link.db")).unwrap();
    // By another name it is the same database.
    let spool = spooled(&runtape, &runtape.path("link.db"), "spooled", None);
    assert!(!spool.exists());
    symlink(&database, runtape.path("link.db")).unwrap();
    let spool = beside(&database).join(spool.file_name().unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&beside(&database)), mode(&spool)), (0o700, 0o600));
    let text = fs::read_to_string(&spool).unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let real = fs::canonicalize(runtape.directory.path())
        .unwrap()
        .join("runtape.db");
    assert_eq!(head["runId"], "spooled");
    assert_eq!(head["databasePath"], real.to_str().unwrap());
    let _ = fs::remove_file(&database);
    let output = recover(&runtape, &runtape.path("link.db"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(runs(&runtape, &database), ["spooled"]);
    assert!(!spool.exists());
    // From now on the database can be told from others: its first seal is in the head.
    let script = runtape.script("claude", "echo hello");
    let store = Store::open(&database, &Options::default()).unwrap();
    let id = store.database_id().unwrap().unwrap();
    drop(store);
    let output = runtape
        .command(&["record", "--run-id", "second", "--", &script])
        .output()
        .unwrap();
    assert!(output.status.success());
    let store = Store::open(&database, &Options::read_only()).unwrap();
    assert_eq!(store.database_id().unwrap().unwrap(), id);
}

#[test]
fn what_is_no_spool_file_of_ours_neither_hangs_nor_blocks_recover() {
    let runtape = Runtape::new();
    let database = runtape.path("runtape.db");
    let good = spooled(&runtape, &database, "good", None);
    let directory = beside(&database);
    let place = |name: &str| directory.join(format!("{name}.runtape-spool"));
    let text = fs::read_to_string(&good).unwrap();
    let other = |name: &str| text.replace("good", name);
    let mut misfits = vec![
        "fifo",
        "symlink",
        "linked",
        "directory",
        "elsewhere",
        "stolen",
    ];
    assert!(
        Command::new("mkfifo")
            .arg(place("fifo"))
            .status()
            .unwrap()
            .success()
    );
    fs::write(runtape.path("target"), other("symlink")).unwrap();
    symlink(runtape.path("target"), place("symlink")).unwrap();
    fs::write(place("linked"), other("linked")).unwrap();
    fs::hard_link(place("linked"), runtape.path("second-name")).unwrap();
    fs::create_dir(place("directory")).unwrap();
    // Of another database, by its path and by its id.
    fs::write(runtape.path("other.db"), "").unwrap();
    fs::write(
        place("elsewhere"),
        other("elsewhere").replace("/runtape.db", "/other.db"),
    )
    .unwrap();
    let stolen = other("stolen").replacen(
        "\"databasePath\"",
        "\"databaseId\":\"00\",\"databasePath\"",
        1,
    );
    fs::write(place("stolen"), stolen).unwrap();
    if is_root() {
        fs::write(place("foreign"), other("foreign")).unwrap();
        std::os::unix::fs::chown(place("foreign"), Some(65534), Some(65534)).unwrap();
        misfits.push("foreign");
    } else {
        eprintln!("skipped: only root can make a file of somebody else");
    }
    let output = recover(&runtape, &database, &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for name in &misfits {
        let is_named = |line: &str| {
            line.contains(&format!("/{name}.runtape-spool: ")) && line.contains("left alone")
        };
        assert_eq!(
            said.lines().filter(|line| is_named(line)).count(),
            1,
            "{name}: {said}"
        );
        assert!(fs::symlink_metadata(place(name)).is_ok(), "{name}");
    }
    assert_eq!(runs(&runtape, &database), ["good"]);
    assert!(!good.exists());
}

#[test]
fn a_spool_file_is_only_taken_into_its_own_database() {
    let runtape = Runtape::new();
    let shared = runtape.path("shared");
    fs::create_dir(&shared).unwrap();
    let (first, second) = (runtape.path("first.db"), runtape.path("second.db"));
    let spool = spooled(&runtape, &first, "of-first", Some(&shared));
    let recover_shared = |database: &Path, more: &[&str]| {
        let arguments = [&["--db", database.to_str().unwrap(), "recover"], more].concat();
        let output = runtape
            .command(&arguments)
            .env("RUNTAPE_SPOOL", &shared)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let said = recover_shared(&second, &[]);
    assert!(
        said.contains("of-first.runtape-spool: ") && said.contains("first.db"),
        "{said}"
    );
    assert!(spool.exists());
    recover_shared(&first, &[]);
    assert_eq!(runs(&runtape, &first), ["of-first"]);
    assert!(!spool.exists());
    // A copy of a database has its id: as long as the first one is there, it is not the copy's.
    let spool = {
        let kept = fs::read(&first).unwrap();
        let spool = spooled(&runtape, &first, "again", Some(&shared));
        fs::write(&first, kept).unwrap();
        spool
    };
    fs::copy(&first, &second).unwrap();
    recover_shared(&second, &[]);
    assert!(spool.exists());
    assert_eq!(runs(&runtape, &second), ["of-first"]);
    // Who names the file means it.
    recover_shared(&second, &["--spool", spool.to_str().unwrap()]);
    assert_eq!(runs(&runtape, &second), ["again", "of-first"]);
    assert!(!spool.exists());
}

/// A spool file as it was before spool files named their database.
fn former(path: &Path, run: &str) {
    let head = json!({
        "jobId": run, "runId": run, "runtime": "hermes", "startedAt": 1, "context": {},
    });
    let piece = json!({"stream": "stdout", "start": 0, "receivedAt": 2, "length": 6});
    let exit = json!({"exit": {"code": 0}});
    fs::write(path, format!("{head}\n{piece}\nHello.\n{exit}\n")).unwrap();
}

#[test]
fn spool_files_of_the_former_place_are_taken_in_where_their_run_is_known_else_named() {
    let runtape = Runtape::new();
    let database = runtape.path("runtape.db");
    let mut store = Store::open(&database, &Options::default()).unwrap();
    let begin = BeginRun {
        job_id: "known".parse().unwrap(),
        run_id: "known".parse().unwrap(),
        runtime: Runtime::Hermes,
        started_at: 1,
        context: json!({}),
    };
    store.begin_run(&begin).unwrap();
    let chunk = TapeChunk {
        stream: runtape_core::Stream::Stdout,
        start: 0,
        received_at: 2,
        bytes: b"Hel".to_vec(),
    };
    store.append(&begin.run_id, &[], &[chunk]).unwrap();
    drop(store);
    // The temporary directory, which is this one here.
    let place = |run: &str| runtape.path(&format!("{run}.runtape-spool"));
    for run in ["known", "unknown"] {
        former(&place(run), run);
    }
    let output = recover(&runtape, &database, &[]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("unknown.runtape-spool: left alone"), "{said}");
    assert!(said.contains("--spool"), "{said}");
    assert_eq!(runs(&runtape, &database), ["known"]);
    assert_eq!(stdout(&runtape.run(&["raw", "known"])), "Hello.");
    assert!(!place("known").exists() && place("unknown").exists());
    let unknown = place("unknown");
    let output = recover(&runtape, &database, &["--spool", unknown.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(runs(&runtape, &database), ["known", "unknown"]);
    assert!(!unknown.exists());
}

/// Runs a script where volumes can be mounted that go away with it.
fn with_mounts(runtape: &Runtape, script: &str) -> Option<Output> {
    let probe = Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no volume can be mounted here, so none can be full");
        return None;
    }
    let inner = runtape.command(&[]);
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(inner.get_program());
    command
        .current_dir(runtape.directory.path())
        .env_remove("RUNTAPE_SPOOL");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    Some(output)
}

#[test]
fn when_both_disks_were_full_recover_says_what_was_lost_and_how_the_process_ended() {
    for (code, runtime, name) in [
        (0, "claude", "TruncatedOutput"),
        (7, "claude", "NonZeroExit"),
        // A text without its end is no answer.
        (0, "hermes", "TruncatedOutput"),
    ] {
        let runtape = Runtape::new();
        let body = format!(
            "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); \
             head -c 1500 /dev/urandom | od -An -tx1 | tr -d ' \\n'; echo \" $i\"; done; exit {code}"
        );
        runtape.script(runtime, &body);
        let script = format!(
            r#"set -e
            mkdir disk other
            mount -t tmpfs -o size=700k none disk; mount -t tmpfs -o size=100k none other
            export RUNTAPE_DB="$PWD/disk/runtape.db" TMPDIR="$PWD/other"
            "$1" record --show raw --run-id full --report report.json -- ./{runtime} >shown 2>said || echo $? >code
            mount -o remount,size=20m disk; mount -o remount,size=20m other
            "$1" recover >recovered 2>recover-said
            "$1" raw full >raw
            "$1" --json show full >show
            "$1" --json events full >events
            "$1" verify >verified
            find disk other >left"#
        );
        let Some(_) = with_mounts(&runtape, &script) else {
            return;
        };
        let read = |name: &str| fs::read_to_string(runtape.path(name)).unwrap_or_default();
        let (shown, raw, said) = (read("shown"), read("raw"), read("said"));
        assert_eq!(read("code").trim(), if code == 0 { "" } else { "7" });
        assert!(!raw.is_empty() && raw.len() < shown.len() && shown.starts_with(&raw));
        let lost = shown.len() - raw.len();
        let report: Value = serde_json::from_str(&read("report.json")).unwrap();
        assert_eq!(report["lostBytes"], lost, "{said}");
        let place = format!("byte {} of stdout", raw.len());
        assert!(
            said.contains("stored nowhere") && said.contains(&place),
            "{said}"
        );
        let run: Value = serde_json::from_str(&read("show")).unwrap();
        let error = &run["error"];
        assert_eq!(run["status"], "stoppedByError", "{run}");
        assert_eq!(error["name"], name, "{run}");
        let events = read("events");
        let warning = events
            .lines()
            .find(|line| line.contains("could not be kept"));
        let warning = warning.unwrap_or_else(|| panic!("nothing tells of the loss: {events}"));
        assert!(
            warning.contains(&format!("{lost} bytes")) && warning.contains(&place),
            "{warning}"
        );
        if code == 0 {
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains(&place) && message.contains("exit code 0"),
                "{message}"
            );
        }
        assert!(!events.contains("RecorderLost") && !read("recovered").contains("RecorderLost"));
        assert!(read("verified").contains("intact"));
        assert!(!read("left").contains(".runtape-spool"), "{}", read("left"));
    }
}

#[test]
fn where_there_is_no_room_beside_the_database_the_temporary_directory_takes_the_rest() {
    let runtape = Runtape::new();
    let body = "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); \
         head -c 1500 /dev/urandom | od -An -tx1 | tr -d ' \\n'; echo \" $i\"; done";
    runtape.script("claude", body);
    let script = r#"set -e
        mkdir disk other
        mount -t tmpfs -o size=700k none disk; mount -t tmpfs -o size=20m none other
        export RUNTAPE_DB="$PWD/disk/runtape.db" TMPDIR="$PWD/other"
        "$1" record --show raw --run-id full -- ./claude >shown 2>said
        find other -type d -perm 700 >private; find other -name '*.runtape-spool' >spooled
        mount -o remount,size=20m disk
        "$1" recover >recovered 2>recover-said
        "$1" raw full >raw
        "$1" verify >verified
        find disk other -name '*.runtape-spool' >left"#;
    let Some(_) = with_mounts(&runtape, script) else {
        return;
    };
    let read = |name: &str| fs::read_to_string(runtape.path(name)).unwrap();
    assert!(!read("said").contains("nowhere"), "{}", read("said"));
    assert_eq!(read("spooled").lines().count(), 1);
    assert_eq!(read("private").lines().count(), 1);
    assert!(read("shown") == read("raw"));
    assert!(read("verified").contains("intact"));
    assert_eq!(read("left"), "");
}

/// Returns the spool files beside a database.
fn spool_files(database: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(beside(database)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_pipe_whose_database_cannot_be_opened_is_kept_and_becomes_the_same_records() {
    let (bytes, middle) = piped::bytes();
    for more in [&[][..], &["--exit-code", "0"], &["--exit-code", "3"]] {
        let runtape = Runtape::new();
        let database = runtape.path("runtape.db");
        fs::write(&database, NO_DATABASE).unwrap();
        let arguments = [&["ingest", "-"], more].concat();
        let mut piped = Piped::start(runtape.command(&arguments));
        piped.write(&bytes[..middle]);
        piped.write(&bytes[middle..]);
        assert_not_stored(&piped.close(), "is no database");
        assert_eq!(fs::read_to_string(&database).unwrap(), NO_DATABASE);
        let spooled = spool_files(&database);
        let [spool] = spooled.as_slice() else {
            panic!("{spooled:?}");
        };
        let mode = fs::metadata(spool).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        fs::remove_file(&database).unwrap();
        recover_and_compare(|arguments| runtape.command(arguments), &bytes, more);
        assert_eq!(spool_files(&database), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_file_is_not_spooled_for_it_can_be_read_again() {
    let runtape = Runtape::new();
    let database = runtape.path("runtape.db");
    fs::write(&database, NO_DATABASE).unwrap();
    let capture = capture();
    let file = capture.to_str().unwrap();
    let output = runtape.run(&["ingest", file]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!beside(&database).exists());
    // Beside a pipe it is stored, or not, on its own account.
    let (bytes, _) = piped::bytes();
    let mut piped = Piped::start(runtape.command(&["ingest", file, "-"]));
    piped.write(&bytes);
    let output = piped.close();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("`runtape recover` takes it in"), "{said}");
    assert_eq!(spool_files(&database).len(), 1, "{said}");
    fs::remove_file(&database).unwrap();
    recover_and_compare(|arguments| runtape.command(arguments), &bytes, &[]);
}

#[test]
fn a_pipe_whose_database_is_deleted_in_the_middle_is_kept_from_its_first_byte() {
    let (bytes, middle) = piped::bytes();
    let runtape = Runtape::new();
    let database = runtape.path("runtape.db");
    let mut piped = Piped::start(runtape.command(&["ingest", "-", "--exit-code", "0"]));
    piped.write(&bytes[..middle]);
    wait_until_printed(|| runtape.command(&["raw", "last"]));
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(runtape.path(&format!("runtape.db{ending}")));
    }
    piped.write(&bytes[middle..]);
    assert_not_stored(&piped.close(), "deleted or replaced");
    assert_eq!(spool_files(&database).len(), 1);
    recover_and_compare(
        |arguments| runtape.command(arguments),
        &bytes,
        &["--exit-code", "0"],
    );
    assert_eq!(spool_files(&database), Vec::<PathBuf>::new());
}

#[test]
fn a_pipe_goes_on_when_the_disk_of_its_database_is_full() {
    let runtape = Runtape::new();
    let script = r#"set -e
        mkdir disk other
        mount -t tmpfs -o size=700k none disk; mount -t tmpfs -o size=20m none other
        export RUNTAPE_DB="$PWD/disk/runtape.db" TMPDIR="$PWD/other"
        i=0; while [ $i -lt 300 ]; do i=$((i + 1))
            head -c 1500 /dev/urandom | od -An -tx1 | tr -d ' \n'; echo " $i"; done >printed
        "$1" ingest --runtime hermes --exit-code 0 - <printed >out 2>said || echo $? >code
        find disk other -name '*.runtape-spool' >spooled
        mount -o remount,size=20m disk
        "$1" recover >recovered 2>recover-said
        "$1" raw last >raw
        "$1" --json runs >runs
        "$1" verify >verified
        find disk other -name '*.runtape-spool' >left"#;
    let Some(_) = with_mounts(&runtape, script) else {
        return;
    };
    let read = |name: &str| fs::read_to_string(runtape.path(name)).unwrap();
    assert_eq!(read("code").trim(), "1", "{}", read("said"));
    assert!(read("said").contains("not stored"), "{}", read("said"));
    assert!(!read("said").contains("nowhere"), "{}", read("said"));
    assert_eq!(read("spooled").lines().count(), 1);
    assert!(read("printed") == read("raw"));
    assert_eq!(read("runs").lines().count(), 1);
    let run: Value = serde_json::from_str(read("runs").lines().next().unwrap()).unwrap();
    assert_eq!(run["status"], "completed", "{run}");
    assert!(read("verified").contains("intact"));
    assert_eq!(read("left"), "");
}

#[test]
fn doctor_tells_of_runs_that_wait() {
    let runtape = Runtape::new();
    let database = runtape.path("runs.db");
    let spool = spooled(&runtape, &database, "waits", None);
    assert!(spool.exists());
    let doctor = || runtape.run(&["doctor", "--db", database.to_str().unwrap()]);
    let output = doctor();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(
        said.contains("1 run in spool files, not in the database, since 2"),
        "{said}"
    );
    assert!(said.contains("`runtape recover` takes them in"), "{said}");
    let recovered = recover(&runtape, &database, &[]);
    assert!(recovered.status.success(), "{}", stderr(&recovered));
    let output = doctor();
    assert!(!stdout(&output).contains("spool"), "{}", stdout(&output));
}
