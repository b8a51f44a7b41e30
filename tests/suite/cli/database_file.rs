//! The database as a file: by whatever name it is opened, deleted or replaced under a recorder, and
//! where it may only be read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use runtape_store::{Options, Store};
use serde_json::Value;

use crate::harness::{Runtape, capture, is_root, stderr, stdout};

/// Records a script that prints a line, waits until the file `go` is there, and prints another; and
/// waits until the first line is stored.
fn living(runtape: &Runtape) -> Child {
    let script = runtape.waiting("echo before", "echo after");
    let child = runtape
        .command(&[
            "record", "--show", "raw", "--run-id", "living", "--", &script,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let is_stored = || {
        let store = Store::open(runtape.path("runtape.db"), &Options::read_only()).ok()?;
        let lengths = store.tape_lengths(&"living".parse().unwrap()).ok()?;
        (lengths.total() == 7).then_some(())
    };
    while is_stored().is_none() {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "nothing is stored"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn go(runtape: &Runtape, child: Child) -> Output {
    fs::write(runtape.path("go"), "").unwrap();
    child.wait_with_output().unwrap()
}

fn status(runtape: &Runtape, run: &str) -> Value {
    runtape.json(&["show", run])[0]["status"].clone()
}

#[test]
fn recover_by_any_other_name_leaves_a_living_run_alone() {
    let runtape = Runtape::new();
    let child = living(&runtape);
    let database = runtape.path("runtape.db");
    let inside = runtape.path("inside");
    fs::create_dir(&inside).unwrap();
    symlink(&database, runtape.path("link.db")).unwrap();
    symlink("../link.db", inside.join("second.db")).unwrap();
    symlink(runtape.directory.path(), runtape.path("directory")).unwrap();
    for (name, is_accepted) in [
        ("runtape.db", true),
        ("inside/../runtape.db", true),
        ("link.db", true),
        ("inside/second.db", true),
        ("directory/runtape.db", true),
        // The log lies beside the name, so a second name is a second log: that is no way to write.
        ("hard.db", false),
        ("inside/hard.db", false),
    ] {
        if !is_accepted {
            fs::hard_link(&database, runtape.path(name)).unwrap();
        }
        let output = runtape
            .command(&["--db", name, "recover"])
            .current_dir(runtape.directory.path())
            .output()
            .unwrap();
        assert_eq!(
            output.status.success(),
            is_accepted,
            "{name}: {}",
            stderr(&output)
        );
        if !is_accepted {
            let said = stderr(&output);
            assert!(said.contains("2 names (hard links)"), "{said}");
            fs::remove_file(runtape.path(name)).unwrap();
        }
        assert_eq!(status(&runtape, "living"), "proceeding", "{name}");
    }
    let output = go(&runtape, child);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("not stored"),
        "{}",
        stderr(&output)
    );
    assert_eq!(status(&runtape, "living"), "completed");
    assert!(runtape.run(&["verify"]).status.success());
}

/// Removes a database with its log.
fn delete(database: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[test]
fn a_database_that_is_deleted_or_replaced_under_a_recorder_is_noticed_and_nothing_is_lost() {
    type Deed = fn(&Path);
    let table: [(&str, Deed); 4] = [
        ("deleted", delete),
        ("replaced by another one", |database| {
            let other = Runtape::with_fixtures();
            delete(database);
            fs::copy(other.path("runtape.db"), database).unwrap();
        }),
        ("replaced by something else", |database| {
            fs::write(database.with_extension("new"), "hello").unwrap();
            delete(database);
            fs::rename(database.with_extension("new"), database).unwrap();
        }),
        ("moved away", |database| {
            fs::rename(database, database.with_extension("old")).unwrap();
        }),
    ];
    for (name, deed) in table {
        let runtape = Runtape::new();
        let child = living(&runtape);
        let database = runtape.path("runtape.db");
        deed(&database);
        let output = go(&runtape, child);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains("not stored") && said.contains("deleted or replaced"),
            "{name}: {said}"
        );
        assert!(said.contains("`runtape recover`"), "{name}: {said}");
        assert!(!said.contains("nowhere"), "{name}: {said}");
        if name == "replaced by something else" {
            fs::remove_file(&database).unwrap();
        }
        if name == "moved away" {
            delete(&database);
        }
        let output = runtape.run(&["recover"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert_eq!(
            stdout(&runtape.run(&["raw", "living"])),
            "before\nafter\n",
            "{name}"
        );
        assert_eq!(status(&runtape, "living"), "completed", "{name}");
        assert!(runtape.run(&["verify"]).status.success(), "{name}");
    }
}

#[test]
fn what_is_no_path_to_a_file_is_refused_before_the_command_runs() {
    let runtape = Runtape::new();
    let script = runtape.script("claude", "touch ran");
    fs::create_dir(runtape.path("directory")).unwrap();
    let made = Command::new("mkfifo")
        .arg(runtape.path("fifo"))
        .status()
        .unwrap();
    assert!(made.success());
    let before = names(runtape.directory.path());
    for name in [
        "",
        ":memory:",
        "file:x.db",
        "file::memory:?cache=shared",
        "file:///tmp/x.db",
        "directory",
        "fifo",
        "/dev/null",
    ] {
        for arguments in [
            &["record", "--", &script][..],
            &["ingest", capture().to_str().unwrap()],
            &["recover"],
        ] {
            let output = runtape
                .command(&[&["--db", name], arguments].concat())
                .current_dir(runtape.directory.path())
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
            assert!(
                stderr(&output).contains("--db"),
                "{name}: {}",
                stderr(&output)
            );
        }
        assert_eq!(names(runtape.directory.path()), before, "{name}");
    }
}

/// What is in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What is in a directory, and when it was last written.
fn state(directory: &Path) -> Vec<(String, u64, i64, i64)> {
    let stat = |name: String| {
        let meta = fs::metadata(directory.join(&name)).unwrap();
        (name, meta.len(), meta.mtime(), meta.mtime_nsec())
    };
    names(directory).into_iter().map(stat).collect()
}

/// How a database is kept from being written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Guard {
    /// The file's mode is 0444.
    File,
    /// The directory's mode is 0555.
    Directory,
    /// Both lie on a volume that is mounted for reading.
    Mount,
}

impl Guard {
    /// Makes a command that works on a database in a directory which it may only read.
    fn command(self, runtape: &Runtape, directory: &Path, arguments: &[&str]) -> Command {
        let database = directory.join("runtape.db");
        let inner = runtape.command(&[&["--db", database.to_str().unwrap()], arguments].concat());
        let script = match self {
            Self::File | Self::Directory if !is_root() => "exec \"$@\"".to_owned(),
            Self::File | Self::Directory => {
                "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"".to_owned()
            }
            Self::Mount => {
                let directory = directory.to_str().unwrap();
                format!(
                    "mount --bind '{directory}' '{directory}' && \
                     mount -o remount,bind,ro '{directory}' && exec \"$@\""
                )
            }
        };
        let mut command = match self {
            Self::Mount => {
                let mut command = Command::new("unshare");
                command.args(["-m", "sh"]);
                command
            }
            Self::File | Self::Directory => Command::new("sh"),
        };
        command
            .args(["-c", &script, "sh"])
            .arg(inner.get_program())
            .args(inner.get_args());
        for (key, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command.stdin(Stdio::null());
        command
    }

    /// Tells whether this machine and this user can arrange it.
    fn is_possible(self) -> bool {
        let works = |script: &str| {
            let run = Command::new("sh")
                .args(["-c", script])
                .stderr(Stdio::null())
                .status();
            run.is_ok_and(|status| status.success())
        };
        match self {
            Self::Mount => works("unshare -m mount --bind /tmp /tmp"),
            Self::File | Self::Directory => {
                !is_root() || works("setpriv --reuid=65534 --regid=65534 --clear-groups true")
            }
        }
    }
}

/// What lies beside the database.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Log {
    /// It was closed in good order.
    None,
    /// A writer is at it.
    Written,
    /// A writer died, and its log is still there.
    Left,
    /// The same, without the index of the log: as if somebody had copied the other two files.
    Alone,
}

#[test]
fn a_database_that_may_only_be_read_is_read_and_verified_and_nothing_is_written_beside_it() {
    for guard in [Guard::File, Guard::Directory, Guard::Mount] {
        if !guard.is_possible() {
            eprintln!("skipped: {guard:?}: neither mount nor another user is to be had here");
            continue;
        }
        for log in [Log::None, Log::Written, Log::Left, Log::Alone] {
            read_only(guard, log);
        }
    }
}

fn read_only(guard: Guard, log: Log) {
    let runtape = Runtape::new();
    let output = runtape.run(&["ingest", capture().to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let directory = runtape.path("kept");
    fs::create_dir(&directory).unwrap();
    let database = directory.join("runtape.db");
    fs::copy(runtape.path("runtape.db"), &database).unwrap();
    // A run that only the log knows of.
    let writer = (log != Log::None).then(|| {
        let mut store = Store::open(&database, &Options::default()).unwrap();
        let begin = runtape_store::BeginRun {
            job_id: "job".parse().unwrap(),
            run_id: "in-the-log".parse().unwrap(),
            runtime: runtape_core::Runtime::Hermes,
            started_at: 1,
            context: Value::Null,
        };
        store.begin_run(&begin).unwrap();
        store
    });
    if log == Log::Left || log == Log::Alone {
        // As they are in the midst of it, under another name, which is then put in its place.
        let copy = runtape.path("copy");
        fs::create_dir(&copy).unwrap();
        for name in names(&directory) {
            if directory.join(&name).is_file() && !(log == Log::Alone && name.ends_with("-shm")) {
                fs::copy(directory.join(&name), copy.join(&name)).unwrap();
            }
        }
        drop(writer);
        fs::remove_dir_all(&directory).unwrap();
        fs::rename(&copy, &directory).unwrap();
        check_read_only(&runtape, &directory, guard, log);
    } else {
        check_read_only(&runtape, &directory, guard, log);
        drop(writer);
    }
}

fn check_read_only(runtape: &Runtape, directory: &Path, guard: Guard, log: Log) {
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(runtape.directory.path(), 0o755);
    let (file, around) = match guard {
        Guard::File => (0o444, 0o777),
        Guard::Directory => (0o666, 0o555),
        Guard::Mount => (0o600, 0o700),
    };
    for name in names(directory) {
        let path = directory.join(name);
        mode(&path, if path.is_dir() { 0o755 } else { file });
    }
    mode(directory, around);
    let before = state(directory);
    for arguments in [
        &["runs"][..],
        &["runs", "--text", "line"],
        &["show", "last"],
        &["search", "line"],
        &["verify"],
        &["sql", "SELECT count(*) FROM v_runs"],
    ] {
        let mut command = guard.command(runtape, directory, arguments);
        let output = command.output().unwrap();
        let said = stderr(&output);
        let case = format!("{guard:?} {log:?} {arguments:?}: {said}");
        if log == Log::Alone {
            assert_eq!(output.status.code(), Some(1), "{case}");
            assert!(
                said.contains("runtape.db-wal") && said.contains("copy"),
                "{case}"
            );
        } else {
            assert!(output.status.success(), "{case}");
            assert!(!output.stdout.is_empty(), "{case}");
        }
        assert_eq!(state(directory), before, "{case}");
    }
    if matches!(log, Log::Written | Log::Left) {
        let mut command = guard.command(runtape, directory, &["show", "in-the-log"]);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{guard:?} {log:?}: {}",
            stderr(&output)
        );
    }
    // What is to be written is refused, and says why.
    let output = guard
        .command(runtape, directory, &["recover"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{guard:?} {log:?}");
    let said = stderr(&output);
    assert!(
        said.contains("may not be written"),
        "{guard:?} {log:?}: {said}"
    );
    assert_eq!(state(directory), before, "{guard:?} {log:?}");
    mode(directory, 0o755);
}
