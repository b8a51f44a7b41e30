//! The packages for TypeScript and Python are those of the schemas, and judge values as we do.
//!
//! They need packages of their own, which `.ci/consumers DIR` installs; `RUNTAPE_CONSUMERS=DIR` says
//! where. Without it there is nothing to run them with, and the tests say so; with it, nothing that
//! is missing is passed over.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use runtape_schemas::SchemaKind;
use serde_json::json;

use crate::mutation::judged;

/// Values that are compared at the very least.
const FEWEST_VALUES: usize = 3000;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns where the packages are, or says that the test is skipped.
fn packages(test: &str) -> Option<PathBuf> {
    let directory = std::env::var_os("RUNTAPE_CONSUMERS").map(PathBuf::from);
    if directory.is_none() {
        println!(
            "skipped: {test} needs npm and pip packages: `.ci/consumers DIR` installs them, then RUNTAPE_CONSUMERS=DIR"
        );
    }
    let directory = directory?;
    Some(
        fs::canonicalize(&directory)
            .unwrap_or_else(|error| panic!("RUNTAPE_CONSUMERS={}: {error}", directory.display())),
    )
}

/// Runs a command to its end and returns what it printed; a failure is one of the test.
fn run(command: &mut Command) -> String {
    let output = command
        .env(
            "RUNTAPE_SCHEMAS",
            repository().join("schemas/v1").canonicalize().unwrap(),
        )
        .output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed:\n{printed}\n{errors}"
    );
    printed
}

/// Writes values of every kind, and whether we accept them, as lines.
fn write_samples(path: &Path) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let mut count = 0;
    for kind in SchemaKind::ALL {
        for (accepted, value) in judged(*kind) {
            let line = json!({ "kind": kind.name(), "accepted": accepted, "value": value });
            writeln!(file, "{line}").unwrap();
            count += 1;
        }
    }
    assert!(count >= FEWEST_VALUES, "only {count} values");
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "node_modules" {
                copy_directory(&entry.path(), &target);
            }
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn typescript_has_types_that_compile_and_validators_that_agree_with_ours() {
    let Some(packages) = packages("the TypeScript package") else {
        return;
    };
    // node looks for packages in the directories above, and the repository stays as it is.
    let copy = packages.join(format!("typescript-{}", std::process::id()));
    copy_directory(&repository().join("contrib/typescript"), &copy);
    run(Command::new("node")
        .args(["scripts/generate.mjs", "--check"])
        .current_dir(&copy));
    let compiler = packages.join("node_modules/.bin/tsc");
    run(Command::new(compiler)
        .args(["--project", "."])
        .current_dir(&copy));
    let samples = copy.join("samples.jsonl");
    write_samples(&samples);
    println!(
        "{}",
        run(Command::new("node")
            .args(["scripts/check.mjs", "samples.jsonl"])
            .current_dir(&copy))
    );
    fs::remove_dir_all(copy).unwrap();
}

#[test]
fn python_has_models_that_agree_with_ours() {
    let Some(packages) = packages("the Python package") else {
        return;
    };
    let package = repository().join("contrib/python");
    let python = || {
        let mut command = Command::new(packages.join("python/bin/python"));
        command
            .current_dir(&package)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    run(python().args(["generate.py", "--check"]));
    let samples = packages.join(format!("samples-{}.jsonl", std::process::id()));
    write_samples(&samples);
    println!("{}", run(python().arg("check.py").arg(&samples)));
    fs::remove_file(samples).unwrap();
}
