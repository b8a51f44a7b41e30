//! `runtape schema`: the published schemas.

use std::fs;
use std::path::{Path, PathBuf};

use runtape_core::report::SchemaInfo;
use runtape_schemas::{BUNDLE_FILE, SchemaFile, SchemaKind, bundle, bundle_id, files};
use serde_json::Value;

use super::validate::parse_kind;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// Print or write JSON Schemas, or list those there are
///
/// With a name it prints that schema, with `bundle` the one document that holds all of them. To
/// generate types for another language, take the bundle; to validate, the schema of the kind.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The schema: event, checkpoint, record, transcript-entry, summary, … or `bundle` for all in one
    #[arg(value_name = "KIND", value_parser = parse_choice)]
    choice: Option<SchemaChoice>,
    /// Print every schema, one after the other
    #[arg(long, conflicts_with = "choice")]
    all: bool,
    /// Write the schema, or all of them and the bundle, to files in this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// A schema by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaChoice {
    Kind(SchemaKind),
    Bundle,
}

impl SchemaChoice {
    fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Bundle => "bundle",
        }
    }

    fn id(self) -> String {
        match self {
            Self::Kind(kind) => kind.id(),
            Self::Bundle => bundle_id(),
        }
    }

    fn file_name(self) -> String {
        match self {
            Self::Kind(kind) => kind.file_name(),
            Self::Bundle => BUNDLE_FILE.to_owned(),
        }
    }
}

fn parse_choice(name: &str) -> Result<SchemaChoice, String> {
    if name == SchemaChoice::Bundle.name() {
        return Ok(SchemaChoice::Bundle);
    }
    parse_kind(name).map(SchemaChoice::Kind)
}

pub(crate) fn run(args: &SchemaArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    if let Some(directory) = &args.output {
        return write(directory, args.choice, invocation);
    }
    match args.choice {
        Some(SchemaChoice::Kind(kind)) => print(kind.schema(), invocation),
        Some(SchemaChoice::Bundle) => print(&bundle(), invocation),
        None if args.all => SchemaKind::ALL
            .iter()
            .try_for_each(|kind| print(kind.schema(), invocation)),
        None => list(invocation),
    }
}

fn print(schema: &Value, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let console = &mut invocation.console;
    if console.json {
        return console.object(schema);
    }
    let text = serde_json::to_string_pretty(schema)?;
    console.line(&text)
}

fn list(invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let console = &mut invocation.console;
    let mut table = Table::new(&["kind", "id"]);
    for kind in SchemaKind::ALL {
        if console.json {
            console.object(&SchemaInfo {
                kind: kind.name().to_owned(),
                id: kind.id(),
                path: None,
            })?;
        } else {
            table.row(vec![Cell::id(kind.name()), Cell::word(&kind.id())]);
        }
    }
    if console.json {
        Ok(())
    } else {
        table.print(console)
    }
}

/// Writes the chosen schema, or all of them, to files that are named as the published ones are.
fn write(
    directory: &Path,
    choice: Option<SchemaChoice>,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    fs::create_dir_all(directory).map_err(|error| CliError::Directory {
        path: directory.to_owned(),
        error,
    })?;
    let all = SchemaKind::ALL.iter().copied().map(SchemaChoice::Kind);
    let all = all.chain([SchemaChoice::Bundle]);
    let chosen: Vec<SchemaChoice> = all
        .filter(|each| choice.is_none_or(|choice| choice == *each))
        .collect();
    let files = files();
    for each in &chosen {
        let name = each.file_name();
        let Some(SchemaFile { text, .. }) = files.iter().find(|file| file.name == name) else {
            return Err(CliError::NotFound { what: name });
        };
        let path = directory.join(&name);
        fs::write(&path, text).map_err(|error| CliError::WriteFile {
            path: path.clone(),
            error,
        })?;
        if invocation.console.json {
            invocation.console.object(&SchemaInfo {
                kind: each.name().to_owned(),
                id: each.id(),
                path: Some(path.to_string_lossy().into_owned()),
            })?;
        }
    }
    let count = chosen.len();
    let files = if count == 1 { "file" } else { "files" };
    invocation.note(&format!(
        "{count} {files} written to {}",
        directory.display()
    ));
    Ok(())
}
