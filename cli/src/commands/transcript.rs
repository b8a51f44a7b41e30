//! `runtape transcript`: a run to read.

use std::collections::BTreeMap;

use runtape_core::{RunId, TranscriptBuilder, TranscriptEntry};
use runtape_normalizer::LiveItem;
use runtape_recorder::following::is_recorded;
use runtape_store::Store;

use crate::arguments::place::{Place, RunPart};
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
use crate::commands::follow::{Early, FollowArgs, SeenOfRun, Target, each_seen};
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::times;
use crate::terminal::transcript::TranscriptPrinter;

/// Show a run as a conversation: what the model thought, said and did
///
/// Reasoning has a ~ before each line. Of what a tool writes, as of what it gives back, the first lines
/// are shown. With --json, entries in Paperclip's shape.
#[derive(Debug, clap::Args)]
pub(crate) struct TranscriptArgs {
    /// The run: its id, the beginning of it, or `last`, which is the usual one; RUN:STEP or RUN#RECORD for a part of it;
    /// or a job
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    follow: FollowArgs,
    /// Show what tools were given and gave back in full
    #[arg(long)]
    full: bool,
}

impl TranscriptArgs {
    /// Tells whether it goes on while the run does.
    pub(crate) fn is_followed(&self) -> bool {
        self.follow.follow
    }
}

pub(crate) fn run(args: &TranscriptArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let named = args.run.as_deref().unwrap_or("last");
    if Place::is_part(named) && !args.follow.follow {
        return show_part(args, named, &store, invocation);
    }
    let target = args.follow.target(&store, named)?;
    let mut runs: BTreeMap<RunId, ShownRun> = BTreeMap::new();
    let mut last: Option<RunId> = None;
    let is_one = matches!(target, Target::Run(_));
    each_seen(
        &store,
        &target,
        (args.follow.follow, Early::Everything),
        invocation,
        |console, run, seen| {
            if !is_one && last.as_ref() != Some(run) {
                if let Some(shown) = last.as_ref().and_then(|last| runs.get_mut(last)) {
                    shown.close(console)?;
                }
                last = Some(run.clone());
                begin(console, run)?;
            }
            let shown = runs
                .entry(run.clone())
                .or_insert_with(|| ShownRun::new(args.full));
            // Which run an entry is of has to be said where there are several.
            let of = (!is_one).then_some(run);
            shown.take(console, of, seen)
        },
    )?;
    let console = &mut invocation.console;
    if let (Target::Run(run), false) = (&target, args.follow.follow) {
        let info = store.run(run)?;
        if let (false, true, Some(shown)) =
            (console.json, is_recorded(&store, run)?, runs.get_mut(run))
        {
            shown.close(console)?;
            let for_long = times::elapsed(info.started_at, times::now());
            let text = console.paint(Tone::Faint, &format!("… running for {for_long}"));
            console.line(&text)?;
        }
    }
    for shown in runs.values_mut() {
        shown.close(console)?;
    }
    match &target {
        Target::Run(run) if !invocation.console.json => say_estimate(&store, run, invocation),
        _ => Ok(()),
    }
}

/// Says what a run cost whose runtime reported nothing: the result that it printed does not.
fn say_estimate(
    store: &Store,
    run: &RunId,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let mut info = store.run(run)?;
    if !info.status.is_terminal() || info.cost.reported().is_some() {
        return Ok(());
    }
    if let Some(estimates) = ListEstimates::find(invocation) {
        estimates.of_runs(store, std::slice::from_mut(&mut info))?;
    }
    let text = info.cost.text();
    if text.is_empty() {
        return Ok(());
    }
    let text = if info.cost.is_counted_before() {
        format!("cost: {text}, by an earlier run")
    } else {
        format!("cost: ${text} estimated")
    };
    let console = &mut invocation.console;
    let text = console.paint(Tone::Faint, &text);
    console.line(&text)
}

/// Shows a step, or what one record says.
fn show_part(
    args: &TranscriptArgs,
    named: &str,
    store: &Store,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let place = Place::resolve(store, named)?;
    let mut shown = ShownRun::new(args.full || matches!(place.part, RunPart::Record(_)));
    let console = &mut invocation.console;
    place.each_record(store, |record, is_part| {
        shown.printer.learn(&record);
        // What came before says what a call was, which its result does not.
        let entries = shown.builder.push(&record);
        let entries = entries.into_iter().filter(|_| is_part);
        entries
            .into_iter()
            .try_for_each(|entry| shown.print(console, None, &entry))
    })?;
    shown.close(console)
}

/// Says which run goes on here.
fn begin(console: &mut Console<'_>, run: &RunId) -> Result<(), CliError> {
    if console.json {
        return Ok(());
    }
    let text = console.paint(Tone::Strong, &format!("run {run}"));
    console.line(&text)
}

/// A run whose transcript is shown.
struct ShownRun {
    builder: TranscriptBuilder,
    printer: TranscriptPrinter,
}

impl ShownRun {
    fn new(full: bool) -> Self {
        let mut printer = TranscriptPrinter::default();
        printer.full = full;
        Self {
            builder: TranscriptBuilder::new(),
            printer,
        }
    }

    fn take(
        &mut self,
        console: &mut Console<'_>,
        of: Option<&RunId>,
        seen: SeenOfRun,
    ) -> Result<(), CliError> {
        match seen {
            SeenOfRun::Record {
                record,
                was_live: false,
            } => {
                self.printer.learn(&record);
                let entries = self.builder.push(&record);
                entries
                    .into_iter()
                    .try_for_each(|entry| self.print(console, of, &entry))
            }
            SeenOfRun::Live(LiveItem::Transcript { entry, .. }) => self.print(console, of, &entry),
            // Entries came as they became known: those made of records would say the same again.
            SeenOfRun::Record { .. } | SeenOfRun::Live(LiveItem::Event(_)) => Ok(()),
        }
    }

    fn print(
        &mut self,
        console: &mut Console<'_>,
        of: Option<&RunId>,
        entry: &TranscriptEntry,
    ) -> Result<(), CliError> {
        match of {
            _ if !console.json => self.printer.print(console, entry),
            None => console.object(entry),
            Some(run) => {
                let mut value = serde_json::to_value(entry)?;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("runId".to_owned(), run.as_str().into());
                }
                console.object(&value)
            }
        }
    }

    fn close(&mut self, console: &mut Console<'_>) -> Result<(), CliError> {
        if console.json {
            return Ok(());
        }
        self.printer.close(console)
    }
}
