//! `runtape show RUN:STEP` and `RUN#RECORD`: a part of a run.

use runtape_core::TranscriptBuilder;

use crate::arguments::place::{Place, step_of};
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::times;
use crate::terminal::transcript::TranscriptPrinter;

/// Shows the records of a step, or one record, in full.
pub(super) fn run(text: &str, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let place = Place::resolve(&store, text)?;
    let mut builder = TranscriptBuilder::new();
    let mut printer = TranscriptPrinter::default();
    printer.full = true;
    let console = &mut invocation.console;
    let mut has_begun = false;
    place.each_record(&store, |record, is_part| {
        printer.learn(&record);
        // What came before says what a call was, which its result does not.
        let entries = builder.push(&record);
        if !is_part {
            return Ok(());
        }
        if console.json {
            return console.object(&record);
        }
        if !has_begun {
            has_begun = true;
            let run = console.paint(Tone::Name, place.run.as_str());
            let step = step_of(&record).map(|step| format!(", step {step}"));
            let about = format!("{}, {}", step.unwrap_or_default(), times::local(record.at));
            let about = console.paint(Tone::Faint, &about);
            console.line(&format!("run {run}{about}"))?;
        }
        entries
            .iter()
            .try_for_each(|entry| printer.print(console, entry))
    })?;
    if !console.json {
        printer.close(console)?;
    }
    Ok(())
}
