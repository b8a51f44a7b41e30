//! `runtape transcript`: a run to read.

use runtape_core::TranscriptBuilder;

use crate::arguments::place::{Part, Place};
use crate::commands::Invocation;
use crate::commands::follow::each_record;
use crate::error::CliError;
use crate::terminal::transcript::TranscriptPrinter;

/// Show a run as a conversation: what the model thought, said and did
///
/// Reasoning has a ~ before each line. Of what a tool writes, as of what it gives back, the first lines
/// are shown. With --json, entries in Paperclip's shape.
#[derive(Debug, clap::Args)]
pub(crate) struct TranscriptArgs {
    /// The run: its id, the beginning of it, or `last`; RUN:STEP or RUN#RECORD for a part of it
    #[arg(value_name = "RUN", default_value = "last", hide_default_value = true)]
    run: String,
    /// Go on while the run goes on
    #[arg(long)]
    follow: bool,
    /// Show what tools were given and gave back in full
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(args: &TranscriptArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let place = Place::resolve(&store, &args.run)?;
    let mut builder = TranscriptBuilder::new();
    let mut printer = TranscriptPrinter::default();
    printer.full = args.full || matches!(place.part, Part::Record(_));
    let mut is_found = false;
    let console = &mut invocation.console;
    each_record(&store, &place.run, args.follow, |record| {
        printer.learn(&record);
        let entries = builder.push(&record);
        if !place.has(&record) {
            return Ok(());
        }
        is_found = true;
        for entry in entries {
            if console.json {
                console.object(&entry)?;
            } else {
                printer.print(console, &entry)?;
            }
        }
        if args.follow {
            console.out.flush()?;
        }
        Ok(())
    })?;
    if !is_found && place.part != Part::Whole {
        return Err(place.not_found());
    }
    if !console.json {
        printer.close(console)?;
    }
    Ok(())
}
