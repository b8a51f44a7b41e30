//! A writer that slept beyond its lease, while somebody took its run: it wakes up, is refused, and has written nothing.

use std::io::{BufRead, BufReader, Write};
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runtape_store::StoreError;
use runtape_tests::postgres::{Database, Layout, Sql};
use runtape_tests::runs::{Made, Plan};
use serde_json::json;

use crate::writers::{check_exactly, contents, open, start, work};

fn made() -> Made {
    Plan::new("contested", 12).make()
}

/// Writes the first half of a run, or all but its end, and waits to be told to go on.
#[test]
fn process() {
    let Some((work, address)) = work() else {
        return;
    };
    let made = made();
    let (mut half, mut chunks) = (made.records.len() / 2, made.chunks.len() / 2);
    if work == "finish" {
        (half, chunks) = (made.records.len(), made.chunks.len());
    }
    let mut store = open(address.to_str().unwrap());
    store.begin_run(&made.begin).unwrap();
    store
        .append(made.id(), &made.records[..half], &made.chunks[..chunks])
        .unwrap();
    println!("\nhalf");
    std::io::stdin().lock().lines().next().unwrap().unwrap();
    let tell = |what: &str, error: Option<StoreError>| match error {
        None => println!("\n{what}: done"),
        Some(error) => {
            let is_taken = matches!(error, StoreError::TakenOver { .. });
            println!("\n{what}: {is_taken} {error}");
        }
    };
    if work == "append" {
        // Twice, for who is refused once is refused for good.
        for what in ["append", "again"] {
            let appended = store.append(made.id(), &made.records[half..], &made.chunks[chunks..]);
            tell(what, appended.err());
        }
    }
    let noted = store.leave_note(made.id(), &json!({"why": "tired"}));
    tell("note", noted.err());
    let finished = store.finish_run(made.id(), &json!({"code": 0}), 1);
    tell("finish", finished.err());
}

/// A writer that was stopped after the first half.
struct Sleeper {
    child: Child,
}

impl Sleeper {
    fn start(work: &str, database: &Database) -> Self {
        let mut child = start("taken_over::process", work, database.address());
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("half")));
        let sleeper = Self { child };
        sleeper.signal(Signal::SIGSTOP);
        sleeper
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(id, signal).unwrap();
    }

    /// Wakes it up, lets it go on, and returns what it said.
    fn wake(mut self) -> String {
        writeln!(self.child.stdin.take().unwrap(), "go on").unwrap();
        self.signal(Signal::SIGCONT);
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Ends the lease on the run, as a minute would.
fn let_the_lease_end(sql: &Sql) {
    let sql = sql.run("UPDATE lease SET until = clock_timestamp() - interval '1 s'");
    assert_eq!(sql.changed, 1);
}

fn said<'a>(text: &'a str, what: &str) -> &'a str {
    let lines = text.lines();
    let mut told = lines.filter_map(|line| line.strip_prefix(&format!("{what}: ")));
    told.next().unwrap_or_else(|| panic!("no {what} in {text}"))
}

/// What somebody does with the run meanwhile.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    /// It is taken, and its new writer is still there.
    Held,
    /// It is taken, written to its end and sealed: nobody has a lease any more.
    Sealed,
    /// It is taken, and its new writer left.
    Left,
    /// It is deleted.
    Deleted,
}

#[test]
fn a_writer_that_overslept_writes_nothing() {
    for meanwhile in [
        Meanwhile::Held,
        Meanwhile::Sealed,
        Meanwhile::Left,
        Meanwhile::Deleted,
    ] {
        for work in ["append", "finish"] {
            let Some(database) = Database::fresh(Layout::Whole) else {
                return;
            };
            oversleep(&database, meanwhile, work);
        }
    }
}

fn oversleep(database: &Database, meanwhile: Meanwhile, work: &str) {
    let (sql, made) = (database.sql(), made());
    let sleeper = Sleeper::start(work, database);
    let mut other = open(database.address());
    assert!(other.open_runs().unwrap().is_empty());
    let refused = other.resume_run(made.id());
    assert!(matches!(refused, Err(StoreError::Locked { .. })));
    let_the_lease_end(&sql);
    let open_runs = other.open_runs().unwrap();
    assert_eq!(open_runs.len(), 1);
    if !matches!(meanwhile, Meanwhile::Deleted) {
        other.resume_run(made.id()).unwrap();
    }
    match meanwhile {
        Meanwhile::Held | Meanwhile::Left => {
            // A little more than the sleeper wrote, and what it would have written.
            let more = made.records.len() / 2 + 3;
            let append = other.append(made.id(), &made.records[..more], &made.chunks);
            append.unwrap();
        }
        Meanwhile::Sealed => {
            other
                .append(made.id(), &made.records, &made.chunks)
                .unwrap();
            other
                .finish_run(made.id(), &json!({"lost": true}), 1)
                .unwrap();
        }
        Meanwhile::Deleted => {
            other.delete_run(made.id(), 5).unwrap();
        }
    }
    let holder = match meanwhile {
        Meanwhile::Held => Some(other),
        _ => {
            drop(other);
            None
        }
    };
    let before = contents(&sql, &[]);
    let text = sleeper.wake();
    let case = format!("{meanwhile:?}, {work}: {text}");
    assert_eq!(contents(&sql, &[]), before, "{case}");
    let expected = "true run contested was taken over by another process";
    if work == "append" {
        assert!(said(&text, "append").starts_with(expected), "{case}");
        // Where all of it is stored by now, or the run is gone, who appends it again is told just that.
        let again = said(&text, "again");
        let is_told = match meanwhile {
            Meanwhile::Sealed => again == "done",
            Meanwhile::Deleted => again.starts_with("false no run contested"),
            Meanwhile::Held | Meanwhile::Left => false,
        };
        assert!(is_told || again.starts_with(expected), "{case}");
    }
    if work == "finish" {
        assert!(said(&text, "finish").starts_with(expected), "{case}");
    }
    assert_ne!(said(&text, "finish"), "done", "{case}");
    assert_ne!(said(&text, "note"), "done", "{case}");
    match (meanwhile, holder) {
        (Meanwhile::Held, Some(mut holder)) => {
            holder.append(made.id(), &made.records, &[]).unwrap();
            holder
                .finish_run(made.id(), &json!({"lost": true}), 1)
                .unwrap();
            drop(holder);
            check_exactly(database.address(), &[made]);
        }
        (Meanwhile::Sealed, _) => check_exactly(database.address(), &[made]),
        (Meanwhile::Left, _) => {
            let mut store = open(database.address());
            store.resume_run(made.id()).unwrap();
            store.append(made.id(), &made.records, &[]).unwrap();
            store
                .finish_run(made.id(), &json!({"lost": true}), 1)
                .unwrap();
            drop(store);
            check_exactly(database.address(), &[made]);
        }
        _ => {
            let store = open(database.address());
            assert!(matches!(
                store.run(made.id()),
                Err(StoreError::UnknownRun { .. })
            ));
            assert_eq!(store.verify().unwrap().faults, []);
        }
    }
}

#[test]
fn a_writer_that_overslept_and_was_not_missed_goes_on() {
    let Some(database) = Database::fresh(Layout::Whole) else {
        return;
    };
    let sleeper = Sleeper::start("append", &database);
    let_the_lease_end(&database.sql());
    assert_eq!(open(database.address()).open_runs().unwrap().len(), 1);
    let text = sleeper.wake();
    assert_eq!(said(&text, "append"), "done");
    assert_eq!(said(&text, "finish"), "done");
    check_exactly(database.address(), &[made()]);
}
