//! `runtape schema`: the published schemas.

use runtape_core::report::SchemaInfo;
use runtape_schemas::SchemaKind;

use super::validate::parse_kind;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::{Cell, Table};

/// Print a JSON Schema, or list those there are
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The schema: event, checkpoint, record, transcript-entry, summary, …
    #[arg(value_name = "KIND", value_parser = parse_kind)]
    kind: Option<SchemaKind>,
}

pub(crate) fn run(args: &SchemaArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let console = &mut invocation.console;
    if let Some(kind) = args.kind {
        if console.json {
            return console.object(kind.schema());
        }
        let text = serde_json::to_string_pretty(kind.schema())?;
        return console.line(&text);
    }
    let mut table = Table::new(&["kind", "id"]);
    for kind in SchemaKind::ALL {
        if console.json {
            console.object(&SchemaInfo {
                kind: kind.name().to_owned(),
                id: kind.id(),
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
