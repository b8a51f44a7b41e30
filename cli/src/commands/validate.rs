//! `runtape validate`: JSON lines against a published schema.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use runtape_core::report::{ValidationCounts, ValidationFault, ValidationLine, ValidationUnknown};
use runtape_schemas::{Fault, KindSuggestion, LineVerdict, SchemaKind, Verdict, validate_jsonl};

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::plain;

/// How often the same is said of different lines.
const REPEATS: u64 = 3;

/// How many different things are counted; a hostile file can have as many as it has lines.
const MOST_DIFFERENT: usize = 10_000;

/// Check JSON lines against a published schema, line by line
///
/// A type that this version does not know is reported and is no fault, unless `--strict` is given:
/// a newer version may have written it. What is wrong with many lines in the same way is printed
/// for the first three of them and then counted; `--json` prints all.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The file with one JSON value a line; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The schema: event, checkpoint, record, transcript-entry, summary, …
    #[arg(long, value_name = "KIND", default_value = "event", value_parser = parse_kind)]
    kind: SchemaKind,
    /// Refuse types that this version does not know, too
    #[arg(long)]
    strict: bool,
    /// Print what is wrong with every line, however often it repeats
    #[arg(long)]
    full: bool,
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
    let mut report = Report {
        strict: args.strict,
        full: args.full,
        repeats: BTreeMap::new(),
        uncounted: 0,
    };
    let mut suggestion = KindSuggestion::default();
    let counts = validate_jsonl(reader, args.kind, |line| {
        if let Some(value) = &line.value {
            suggestion.add(value);
        }
        if result.is_ok() {
            result = report.line(invocation, &line);
        }
    })?;
    result?;
    report.repeated(invocation)?;
    // Where most lines are as they should be, the kind is not what is wrong.
    let suggested = suggestion
        .kind()
        .filter(|kind| *kind != args.kind && counts.valid < counts.invalid + counts.unknown);
    if invocation.console.json {
        invocation
            .console
            .object(&ValidationLine::Summary(ValidationCounts {
                valid: counts.valid,
                unknown: counts.unknown,
                invalid: counts.invalid,
                suggested_kind: suggested.map(|kind| kind.name().to_owned()),
            }))?;
    }
    let (valid, unknown) = (counts.valid, counts.unknown);
    invocation.note(&format!(
        "{valid} valid, {unknown} of unknown types, {} invalid",
        counts.invalid
    ));
    if let Some(kind) = suggested {
        invocation.note(&format!("they look like {kind}: try --kind {kind}"));
    }
    let refused = if args.strict { unknown } else { 0 };
    if counts.invalid + refused > 0 {
        return Err(CliError::Faults {
            count: usize::try_from(counts.invalid + refused).unwrap_or(usize::MAX),
            what: if counts.invalid == 0 {
                "lines of unknown types"
            } else if refused == 0 {
                "invalid lines"
            } else {
                "lines that are invalid or of unknown types"
            },
        });
    }
    Ok(())
}

/// Prints what was found, the same thing a few times only.
struct Report {
    strict: bool,
    full: bool,
    /// How often each thing was found, and how it was said for the first line.
    repeats: BTreeMap<String, (u64, String)>,
    /// How often something was found that is not counted by itself, since there are too many.
    uncounted: u64,
}

impl Report {
    fn line(
        &mut self,
        invocation: &mut Invocation<'_>,
        line: &LineVerdict,
    ) -> Result<(), CliError> {
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
                let text = format!("unknown type {}", plain::one_line(tag));
                if self.is_repeated(&text, &text) {
                    return Ok(());
                }
                let tone = if self.strict { Tone::Bad } else { Tone::Faint };
                let text = console.paint(tone, &format!("line {number}: {text}"));
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
                let text = plain::one_line(&fault.to_string());
                if self.is_repeated(&cause(fault), &text) {
                    return Ok(());
                }
                let text = console.paint(Tone::Bad, &format!("line {number}: {text}"));
                console.line(&text)
            }),
        }
    }

    /// Counts something, and tells whether it was said often enough.
    fn is_repeated(&mut self, cause: &str, text: &str) -> bool {
        if self.full {
            return false;
        }
        if let Some((times, _)) = self.repeats.get_mut(cause) {
            *times += 1;
            return *times > REPEATS;
        }
        if self.repeats.len() == MOST_DIFFERENT {
            self.uncounted += 1;
            return true;
        }
        self.repeats.insert(cause.to_owned(), (1, text.to_owned()));
        false
    }

    /// Says what was left out.
    fn repeated(&self, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
        let console = &mut invocation.console;
        let mut left_out = false;
        for (times, text) in self.repeats.values().filter(|(times, _)| *times > REPEATS) {
            left_out = true;
            let text = format!("{} more like: {text}", times - REPEATS);
            let text = console.paint(Tone::Faint, &text);
            console.line(&text)?;
        }
        if self.uncounted > 0 {
            left_out = true;
            let text = console.paint(
                Tone::Faint,
                &format!("{} more of other sorts", self.uncounted),
            );
            console.line(&text)?;
        }
        if left_out {
            invocation.note("--full prints every one of them");
        }
        Ok(())
    }
}

/// Returns what faults of the same cause have in common: the type, the rule, and the missing field.
fn cause(fault: &Fault) -> String {
    let tag = fault.tag.unwrap_or_default();
    let missing = if fault.schema_path.ends_with("/required") {
        fault.message.as_str()
    } else {
        ""
    };
    format!("{tag} {} {missing}", fault.schema_path)
}
