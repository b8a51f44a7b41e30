//! How much history there is in a directory, and what of it is about to be deleted: asked of the
//! directory alone, no file is opened.

use std::time::Duration;

use runtape_core::report::HistoryPlace;
use runtape_normalizer::history::History;
use runtape_normalizer::runtimes::entry_for;

use super::discover::discover;
use super::places::HistoryDirectory;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Files that are deleted within so many days are due.
const SOON: u32 = 7;

/// Looks at a directory; `None` if it is not there, or its runtime's history cannot be read. `now` is in
/// milliseconds since 1970.
#[must_use]
pub fn survey(directory: &HistoryDirectory, now: i64) -> Option<HistoryPlace> {
    let history = entry_for(&directory.runtime)?.history?;
    look(directory, history, now)
}

fn look(directory: &HistoryDirectory, history: &History, now: i64) -> Option<HistoryPlace> {
    if !directory.path.is_dir() {
        return None;
    }
    let found = discover(&directory.path, history);
    let mut place = HistoryPlace {
        runtime: directory.runtime.clone(),
        path: directory.path.display().to_string(),
        files: 0,
        bytes: 0,
        kept_days: history.kept_days,
        due: 0,
    };
    for file in &found.candidates {
        place.files += 1;
        place.bytes = place.bytes.saturating_add(file.stamp.size);
        let is_due = history
            .kept_days
            .is_some_and(|days| is_due(file.stamp.modified, days, now));
        place.due += u64::from(is_due);
    }
    Some(place)
}

/// Tells whether a file that was changed at a time, in nanoseconds, is deleted within the next days. One
/// that is older than the CLI keeps is none of those: the CLI did not run since, or does not delete.
fn is_due(modified: i64, kept_days: u32, now: i64) -> bool {
    let age = now.saturating_sub(modified / 1_000_000);
    let Ok(age) = u64::try_from(age).map(Duration::from_millis) else {
        return false;
    };
    let last = DAY.saturating_mul(kept_days);
    let soon = DAY.saturating_mul(kept_days.saturating_sub(SOON));
    (soon..last).contains(&age)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{SystemTime, UNIX_EPOCH};

    use runtape_core::Runtime;
    use runtape_normalizer::history::{Framing, Source};

    use super::*;

    /// A history of `.jsonl` files, of which nothing may be opened.
    fn history(kept_days: Option<u32>) -> History {
        History {
            places: &[],
            source: |_, _| {
                Some(Source {
                    session: String::new(),
                    framing: Framing::Lines,
                })
            },
            is_candidate: |path| path.contains(".jsonl"),
            database: None,
            reader: || unreachable!("nothing is read"),
            parser: |_| unreachable!("nothing is parsed"),
            prefers_printed_text: false,
            kept_days,
        }
    }

    #[test]
    fn files_are_counted_by_their_age_and_not_opened() {
        let home = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let files = [
            ("a/one.jsonl", 1, 10),
            ("a/two.jsonl", 22, 100),
            ("a/three.jsonl", 24, 1000),
            ("b/c/four.jsonl", 29, 10_000),
            ("b/five.jsonl", 31, 100_000),
            ("b/notes.txt", 25, 7),
        ];
        for (name, days, size) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, vec![b'x'; size]).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(now - DAY * days).unwrap();
        }
        let millis = now.duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now = i64::try_from(millis).unwrap();
        let directory = HistoryDirectory {
            runtime: Runtime::ClaudeCode,
            path: home.path().to_path_buf(),
        };
        let place = look(&directory, &history(Some(30)), now).unwrap();
        assert_eq!((place.files, place.bytes), (5, 111_110));
        // Those of 24 and 29 days; the one of 31 should be gone already.
        assert_eq!((place.kept_days, place.due), (Some(30), 2));
        let place = look(&directory, &history(None), now).unwrap();
        assert_eq!((place.files, place.kept_days, place.due), (5, None, 0));
        let nowhere = HistoryDirectory {
            path: home.path().join("nowhere"),
            ..directory
        };
        assert_eq!(look(&nowhere, &history(Some(30)), now), None);
    }

    #[test]
    fn a_file_is_due_in_its_last_week() {
        let day = 24 * 60 * 60 * 1000_i64;
        let now = 1_800_000_000_000;
        for (days, due) in [(0, false), (22, false), (23, true), (29, true), (30, false)] {
            let modified = (now - days * day) * 1_000_000;
            assert_eq!(is_due(modified, 30, now), due, "{days} days");
        }
        // Where all of it is deleted within days, all of it is due; times to come are no ages.
        assert!(is_due(now * 1_000_000, 3, now));
        assert!(!is_due((now + day) * 1_000_000, 3, now));
    }
}
