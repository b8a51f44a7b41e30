//! `runtape validate`: JSON lines against a published schema.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use runtape_core::report::{ValidationCounts, ValidationFault, ValidationLine, ValidationUnknown};
use runtape_schemas::{LineVerdict, SchemaKind, Verdict, validate_jsonl};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::plain;

/// Check JSON lines against a published schema, line by line
///
/// A type that this version does not know is reported and is no fault: a newer version may have
/// written it.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The file with one JSON value a line; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The schema: event, checkpoint, record, transcript-entry, summary, …
    #[arg(long, value_name = "KIND", default_value = "event", value_parser = parse_kind)]
    kind: SchemaKind,
}

pub(super) fn parse_kind(name: &str) -> Result<SchemaKind, String> {
    SchemaKind::from_name(name).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &ValidateArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let reader: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(&args.file).map_err(|error| CliError::Read {
            path: args.file.clone(),
            error,
        })?;
        Box::new(BufReader::new(file))
    };
    let mut result = Ok(());
    let counts = validate_jsonl(reader, args.kind, |line| {
        if result.is_ok() {
            result = report(invocation, &line);
        }
    })?;
    result?;
    if invocation.console.json {
        invocation
            .console
            .object(&ValidationLine::Summary(ValidationCounts {
                valid: counts.valid,
                unknown: counts.unknown,
                invalid: counts.invalid,
            }))?;
    }
    let (valid, unknown) = (counts.valid, counts.unknown);
    invocation.note(&format!(
        "{valid} valid, {unknown} of unknown types, {} invalid",
        counts.invalid
    ));
    if counts.invalid > 0 {
        return Err(CliError::Faults {
            count: usize::try_from(counts.invalid).unwrap_or(usize::MAX),
            what: "invalid lines",
        });
    }
    Ok(())
}

fn report(invocation: &mut Invocation<'_>, line: &LineVerdict) -> Result<(), CliError> {
    let console = &mut invocation.console;
    let number = line.line;
    match &line.verdict {
        Verdict::Valid => Ok(()),
        Verdict::Unknown { tag } if console.json => {
            console.object(&ValidationLine::Unknown(ValidationUnknown {
                line: number,
                tag: tag.clone(),
            }))
        }
        Verdict::Unknown { tag } => {
            let text = format!("line {number}: unknown type {}", plain::one_line(tag));
            let text = console.paint(Tone::Faint, &text);
            console.line(&text)
        }
        Verdict::Invalid(faults) => faults.iter().try_for_each(|fault| {
            if console.json {
                return console.object(&ValidationLine::Invalid(ValidationFault {
                    line: number,
                    tag: fault.tag.map(str::to_owned),
                    path: fault.path.clone(),
                    message: fault.message.clone(),
                    schema_path: fault.schema_path.clone(),
                }));
            }
            let text = plain::one_line(&format!("line {number}: {fault}"));
            let text = console.paint(Tone::Bad, &text);
            console.line(&text)
        }),
    }
}
