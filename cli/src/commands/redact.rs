//! `runtape redact`: secrets out of what is stored.

use std::io::Read;
use std::sync::Arc;

use runtape_core::RunId;
use runtape_core::report::{RedactLine, RedactSummary, RedactedRun};
use runtape_normalizer::redact::RuleSet;
use runtape_store::Store;

use super::gc::spinner;
use super::scan::{place, roots};
use crate::arguments::filter::FilterWords;
use crate::arguments::redaction::{NewKey, TierArgs, key, key_path};
use crate::commands::Invocation;
use crate::error::{CliError, with_causes};
use crate::terminal::progress::count_bar;
use crate::terminal::table::{Cell, Table, plural};
use crate::terminal::{question, times};

/// The longest secret that is asked for.
const LONGEST_SECRET: u64 = 1 << 20;

/// Take secrets out of runs that are stored already
///
/// The tape is filtered as it would be if it were recorded now, the records are made from it anew, and both are replaced in
/// one transaction. The old seal stays as a tombstone with the reason `redacted`. Then the whole file is written
/// anew, so that the old bytes are gone from free pages and the log, too; it takes the time and space of a copy.
/// Backups, exports and bundles are files of their own, and so is what the agent CLI itself keeps.
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// The runs: ids, beginnings of ids, or `last`
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Every finished run
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// Find all places with the marker of the secret that comes on standard input, and change nothing
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    which: bool,
    /// Say what would be taken out, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    tier: TierArgs,
    #[command(flatten)]
    filter: FilterWords,
}

pub(crate) fn run(args: &RedactArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let is_selected = args.all || !args.filter.is_empty();
    if args.runs.is_empty() && !is_selected && !args.which {
        let message = "name runs, or filters such as --since, or --all".to_owned();
        return Err(CliError::Usage { message });
    }
    if args.which {
        return which(args, invocation);
    }
    let mut store = invocation.database.open_existing()?;
    // A run that goes on is filtered as it is recorded.
    let runs = roots(&store, &args.runs, &args.filter, |run| run.seal.is_some())?;
    let rules = args.tier.rules(invocation, NewKey::Make)?;
    let (planned, failed) = look(&mut store, &runs, &rules, args, invocation)?;
    let mut summary = RedactSummary {
        is_dry_run: args.dry_run,
        runs: (runs.len() - failed) as u64,
        changed: planned.len() as u64,
        is_erased: None,
    };
    if !args.dry_run && !planned.is_empty() {
        if !is_confirmed(args, planned.len(), invocation)? {
            invocation.note("nothing was changed");
            return Ok(());
        }
        let changed = replace(&mut store, &planned, &rules, invocation)?;
        summary.changed = changed as u64;
        let bar = spinner("erasing: the file is written anew");
        let erased = store.compact()?;
        bar.finish_and_clear();
        summary.is_erased = Some(erased.is_complete);
    }
    finish(invocation, &summary, planned.len(), failed, runs.len())
}

/// Finds out what would be taken out of each run. Returns the runs that have something, and how many could not be read.
fn look(
    store: &mut Store,
    runs: &[RunId],
    rules: &Arc<RuleSet>,
    args: &RedactArgs,
    invocation: &mut Invocation<'_>,
) -> Result<(Vec<RunId>, usize), CliError> {
    let mut planned = Vec::new();
    let mut failed = 0;
    let mut table = Table::new(&["run", "secrets", "rules"]);
    let bar = count_bar(runs.len() as u64, "runs looked at");
    for run in runs {
        bar.inc(1);
        match runtape_recorder::redact_run(store, None, run, rules, times::now()) {
            Ok(found) if found.counts.total() == 0 => {}
            Ok(found) => {
                planned.push(run.clone());
                if !invocation.console.json {
                    table.row(row(&found));
                } else if args.dry_run {
                    invocation.console.object(&RedactLine::Run(found))?;
                }
            }
            Err(error) => {
                failed += 1;
                bar.suspend(|| invocation.warn(&format!("run {run}: {}", with_causes(&error))));
            }
        }
    }
    bar.finish_and_clear();
    if table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    Ok((planned, failed))
}

/// Takes out what was found. Returns how many runs were replaced.
fn replace(
    store: &mut Store,
    runs: &[RunId],
    rules: &Arc<RuleSet>,
    invocation: &mut Invocation<'_>,
) -> Result<usize, CliError> {
    let source = invocation.database.read()?;
    let mut changed = 0;
    let bar = count_bar(runs.len() as u64, "runs replaced");
    for run in runs {
        bar.inc(1);
        match runtape_recorder::redact_run(store, Some(&source), run, rules, times::now()) {
            Ok(redacted) => {
                changed += 1;
                if invocation.console.json {
                    invocation.console.object(&RedactLine::Run(redacted))?;
                }
            }
            // A run that cannot be replaced stays as it is, and the others need not wait for it.
            Err(error) => {
                bar.suspend(|| invocation.warn(&format!("run {run}: {}", with_causes(&error))));
            }
        }
    }
    bar.finish_and_clear();
    Ok(changed)
}

fn row(found: &RedactedRun) -> Vec<Cell> {
    let rules = found.counts.by_rule.iter();
    let rules: Vec<String> = rules
        .map(|(rule, count)| match count {
            1 => rule.clone(),
            count => format!("{rule} ({count})"),
        })
        .collect();
    vec![
        Cell::run(&found.run_id),
        Cell::number(found.counts.total()),
        Cell::text(&rules.join(", ")),
    ]
}

/// Asks the person at the terminal; where there is none, only `--yes` is a yes.
fn is_confirmed(
    args: &RedactArgs,
    runs: usize,
    invocation: &mut Invocation<'_>,
) -> Result<bool, CliError> {
    if args.yes {
        return Ok(true);
    }
    if !question::can_be_asked() {
        let message = "nobody can be asked here: --yes goes on, --dry-run only looks".to_owned();
        return Err(CliError::Usage { message });
    }
    invocation.console.out.flush()?;
    let runs = plural(runs, "run");
    question::is_yes(&format!("replace {runs}, which cannot be undone?"))
}

fn finish(
    invocation: &mut Invocation<'_>,
    summary: &RedactSummary,
    planned: usize,
    failed: usize,
    of: usize,
) -> Result<(), CliError> {
    if invocation.console.json {
        let line = RedactLine::Summary(summary.clone());
        invocation.console.object(&line)?;
    }
    let runs = plural(summary.runs, "run");
    let changed = summary.changed;
    let verb = if summary.is_dry_run {
        "would be replaced"
    } else {
        "replaced"
    };
    invocation.note(&format!("{runs} looked at, {changed} {verb}"));
    if summary.is_erased == Some(false) {
        return Err(CliError::NotErased);
    }
    let kept = planned - usize::try_from(changed).unwrap_or(planned) + failed;
    if kept > 0 {
        return Err(CliError::Unread { count: kept, of });
    }
    Ok(())
}

/// Finds the places with the marker of a secret.
fn which(args: &RedactArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let path = key_path(&invocation.database);
    let failed = |error| CliError::Read {
        path: path.clone(),
        error,
    };
    let key = key(&invocation.database, NewKey::Never).map_err(failed)?;
    let key = key.ok_or_else(|| CliError::NotFound {
        what: format!(
            "the key {}: without it no marker can be told from another",
            path.display()
        ),
    })?;
    let mut secret = Vec::new();
    std::io::stdin()
        .take(LONGEST_SECRET)
        .read_to_end(&mut secret)?;
    // Whoever types or echoes it ends it with a line break.
    let secret = secret.strip_suffix(b"\n").unwrap_or(&secret);
    let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
    if secret.is_empty() {
        let message = "--which reads the secret from standard input, which is empty".to_owned();
        return Err(CliError::Usage { message });
    }
    let commitment = key.commitment(secret);
    let store = invocation.database.read()?;
    let runs = roots(&store, &args.runs, &args.filter, |_| true)?;
    let mut table = Table::new(&["run", "where", "marker"]);
    let mut found = Vec::new();
    let bar = count_bar(runs.len() as u64, "runs");
    for run in &runs {
        bar.inc(1);
        found.extend(runtape_recorder::find_markers(&store, run, &commitment)?);
    }
    bar.finish_and_clear();
    invocation.found("markers of it", &found)?;
    for marker in found {
        if invocation.console.json {
            invocation.console.object(&RedactLine::Marker(marker))?;
            continue;
        }
        table.row(vec![
            Cell::run(&marker.run_id),
            Cell::text(&place(&marker.place)),
            Cell::text(&marker.marker),
        ]);
    }
    if table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    Ok(())
}
