//! The page in a real browser. Needs chromium and playwright-core: `.ci/browser DIR` gets both, and
//! `RUNTAPE_BROWSER=DIR` names them; while it is set, a test that does not find them fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::browser_runs;
use crate::harness::{Runtape, stderr};

fn chromium() -> Option<PathBuf> {
    let names = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    names.iter().map(PathBuf::from).find(|path| path.exists())
}

/// Returns the directory of the packages and the browser, or says why the test is skipped.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let named = std::env::var_os("RUNTAPE_BROWSER").map(PathBuf::from);
    let has_packages =
        |directory: &PathBuf| directory.join("node_modules/playwright-core").is_dir();
    let packages = named.clone().filter(has_packages);
    match (packages, chromium()) {
        (Some(packages), Some(chromium)) => Some((packages, chromium)),
        (packages, chromium) => {
            let missing = format!("playwright-core {packages:?}, chromium {chromium:?}");
            assert!(
                named.is_none(),
                "RUNTAPE_BROWSER is set, but something is missing: {missing}"
            );
            println!(
                "skipped: no browser to test the page with ({missing}); .ci/browser installs one"
            );
            None
        }
    }
}

/// Files with scenarios: those of the page, and those that compare it with the file of a run, which takes as long.
const OF_PAGE: [&str; 7] = [
    "token", "lists", "reading", "hostile", "images", "live", "screens",
];
const OF_FILE: [&str; 1] = ["file"];

#[test]
fn the_page_works_in_a_real_browser() {
    try_in_browser("page", &OF_PAGE);
}

#[test]
fn the_page_and_the_file_of_a_run_are_alike_in_a_real_browser() {
    try_in_browser("file", &OF_FILE);
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite/serve/browser")
}

#[test]
fn every_file_with_scenarios_is_run() {
    let names = fs::read_dir(scripts()).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".mjs").map(str::to_owned)
    });
    let mut names: Vec<String> = names
        .filter(|name| !["main", "harness"].contains(&name.as_str()))
        .collect();
    names.sort();
    let mut run = [&OF_PAGE[..], &OF_FILE].concat();
    run.sort_unstable();
    assert_eq!(names, run);
}

/// Runs some of the files with scenarios.
fn try_in_browser(name: &str, files: &[&str]) {
    let Some((packages, chromium)) = browser() else {
        return;
    };
    let runtape = Runtape::with_fixtures();
    browser_runs::make(&runtape);
    fs::rename(runtape.path("runtape.db"), runtape.path("page.db")).unwrap();
    // Databases in which something happens have runs, too, that are over.
    for name in ["live.db", "hostile.db", "cards.db"] {
        fs::copy(runtape.path("page.db"), runtape.path(name)).unwrap();
    }
    let directory = match std::env::var_os("RUNTAPE_SCREENSHOTS") {
        Some(kept) => copy_to(&runtape, &Path::new(&kept).join(name)),
        None => runtape.directory.path().to_owned(),
    };
    let mut command = Command::new("node");
    command
        .arg(scripts().join("main.mjs"))
        .args([&packages, &chromium])
        .arg(env!("CARGO_BIN_EXE_runtape"))
        .arg(&directory)
        .args(files);
    let environment = runtape.command(&[]);
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{told}");
    assert!(output.status.success(), "{told}\n{}", stderr(&output));
}

/// Puts what the browser works with where its screenshots can be looked at afterwards.
fn copy_to(runtape: &Runtape, directory: &Path) -> PathBuf {
    fs::create_dir_all(directory).unwrap();
    let from = runtape.directory.path().join(".");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(from)
        .arg(directory)
        .status()
        .unwrap();
    assert!(copied.success());
    directory.to_owned()
}
