//! `docs/contracts.md` against the tests that it names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Collects files with an ending below a directory, without what is built or installed.
fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// Returns the names of all tests: functions in Rust, sentences in JavaScript.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut sources = Vec::new();
    files(&root(), ".rs", &mut sources);
    for path in sources {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line != "#[test]" {
                continue;
            }
            // Other attributes may stand between.
            let function = lines.by_ref().find_map(|line| line.strip_prefix("fn "));
            let name = function.and_then(|function| function.split_once('('));
            names.extend(name.map(|(name, _)| name.to_owned()));
        }
    }
    let mut sources = Vec::new();
    files(&root().join("contrib"), ".test.mjs", &mut sources);
    for path in sources {
        let text = fs::read_to_string(path).unwrap();
        for line in text.lines().map(str::trim) {
            let Some(rest) = line.strip_prefix("test(") else {
                continue;
            };
            let quote = rest.chars().next().filter(|quote| "\"`".contains(*quote));
            let name = quote.and_then(|quote| rest.get(1..)?.split_once(quote));
            names.extend(name.map(|(name, _)| name.replace("${", "<").replace('}', ">")));
        }
    }
    names
}

/// Returns the cells of a row of a table; `None` for any other line, a head or a rule.
fn row(line: &str) -> Option<Vec<&str>> {
    let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
    (cells.last() != Some(&"test")).then_some(cells)
}

/// Returns what stands in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_test_that_the_contracts_name_exists() {
    let page = fs::read_to_string(root().join("docs/contracts.md")).unwrap();
    let tests = tests();
    assert!(tests.len() > 500, "{} tests", tests.len());
    let mut faults = Vec::new();
    let (mut rows, mut mentions) = (0, 0);
    for (number, line) in (1..).zip(page.lines()) {
        let Some(cells) = row(line) else {
            continue;
        };
        rows += 1;
        let [requirement, how, test] = cells[..] else {
            faults.push(format!("line {number}: {} cells", cells.len()));
            continue;
        };
        if test == "not met" || test == "not ours" {
            if how.is_empty() {
                faults.push(format!("line {number}: {requirement}: no reason"));
            }
            continue;
        }
        let names = quoted(test);
        if names.is_empty() {
            faults.push(format!("line {number}: {requirement}: no test"));
        }
        for name in names {
            mentions += 1;
            if !tests.contains(name) {
                faults.push(format!("line {number}: there is no test {name:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(
        rows > 120 && mentions > 200,
        "{rows} rows, {mentions} tests"
    );
}

#[test]
fn rows_and_names_are_read_as_they_are_written() {
    assert_eq!(row("| a | b | `c` |"), Some(vec!["a", "b", "`c`"]));
    assert_eq!(row("| a | | `c` |"), Some(vec!["a", "", "`c`"]));
    assert_eq!(row("| requirement | how | test |"), None);
    assert_eq!(row("|---|---|---|"), None);
    assert_eq!(quoted("`one`, `two words`"), ["one", "two words"]);
    let tests = tests();
    for name in [
        "rows_and_names_are_read_as_they_are_written",
        "every kind is passed on with the time of the host",
    ] {
        assert!(tests.contains(name), "{name}");
    }
    assert!(!tests.contains("no_such_test"));
}
