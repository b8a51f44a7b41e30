//! `runtape transcript`: a run to read.

use runtape_core::TranscriptBuilder;

use crate::commands::Invocation;
use crate::commands::follow::each_record;
use crate::database::resolve_run;
use crate::error::CliError;
use crate::terminal::transcript::TranscriptPrinter;

/// Show a run as a conversation: what the model thought, said and did
///
/// Reasoning has a ~ before each line. Of what a tool writes, as of what it gives back, the first lines
/// are shown. With --json, entries in Paperclip's shape.
#[derive(Debug, clap::Args)]
pub(crate) struct TranscriptArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
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
    let run_id = resolve_run(&store, &args.run)?;
    let mut builder = TranscriptBuilder::new();
    let mut printer = TranscriptPrinter::default();
    printer.full = args.full;
    let console = &mut invocation.console;
    each_record(&store, &run_id, args.follow, |record| {
        printer.learn(&record);
        for entry in builder.push(&record) {
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
    if !console.json {
        printer.close(console)?;
    }
    Ok(())
}
