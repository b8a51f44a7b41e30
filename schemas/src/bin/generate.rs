//! Writes the schema files, or with `--check` compares them.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use runtape_schemas::{REGENERATE, SchemaFile, files};

const USAGE: &str = "usage: generate [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        [] => write(&directory()),
        ["--check"] => check(&directory()),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns where the files are: cargo tells where this package is, else it is below here.
fn directory() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| "schemas".into(), PathBuf::from);
    package.join("v1")
}

fn write(directory: &Path) -> io::Result<bool> {
    fs::create_dir_all(directory)?;
    let files = files();
    for SchemaFile { name, text } in &files {
        let path = directory.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        fs::write(&path, text)?;
        say(&format!("wrote v1/{name}"));
    }
    for name in stale(directory, &files)? {
        fs::remove_file(directory.join(&name))?;
        say(&format!("removed v1/{name}"));
    }
    Ok(true)
}

fn check(directory: &Path) -> io::Result<bool> {
    let files = files();
    let mut differing: Vec<String> = files
        .iter()
        .filter(|file| {
            let committed = fs::read_to_string(directory.join(&file.name));
            !committed.is_ok_and(|text| text == file.text)
        })
        .map(|file| file.name.clone())
        .collect();
    differing.extend(stale(directory, &files)?);
    for name in &differing {
        say(&format!("v1/{name} differs from the types"));
    }
    if !differing.is_empty() {
        say(&format!("to write the files anew: {REGENERATE}"));
    }
    Ok(differing.is_empty())
}

/// Returns the schema files that no kind stands behind.
fn stale(directory: &Path, files: &[SchemaFile]) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".schema.json") && files.iter().all(|file| file.name != name) {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Prints a line; who closed the output does not want it.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
