//! `runtape scan`: what looks like a secret in what is stored.

use std::collections::BTreeMap;

use runtape_core::RunId;
use runtape_core::report::{FoundSecret, ScanLine, ScanSummary, SecretPlace};
use runtape_store::{RunFilter, RunInfo, Store};

use crate::arguments::filter::FilterWords;
use crate::arguments::redaction::{NewKey, TierArgs};
use crate::commands::Invocation;
use crate::database::resolve_run;
use crate::error::{CliError, with_causes};
use crate::terminal::console::Tone;
use crate::terminal::progress::count_bar;
use crate::terminal::table::{Cell, Table, plural};

/// How many runs are asked for at once.
const PAGE: usize = 500;

/// Look for secrets in what is stored, and change nothing
///
/// Says the rule, the run, the record and the secret without most of its characters. What was recorded since
/// secrets are taken out has none that the same rules find; earlier runs may, and so may runs that were kept
/// with --redact=off. Exits with 3 if something is found. `runtape redact` takes it out.
#[derive(Debug, clap::Args)]
pub(crate) struct ScanArgs {
    /// The runs: ids, beginnings of ids, or `last`; by default all that the filters let through
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    tier: TierArgs,
    #[command(flatten)]
    filter: FilterWords,
}

pub(crate) fn run(args: &ScanArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let roots = roots(&store, &args.runs, &args.filter, |_| true)?;
    let rules = args.tier.rules(invocation, NewKey::Never)?;
    let mut summary = ScanSummary {
        tier: rules.tier().as_str().to_owned(),
        ..ScanSummary::default()
    };
    let mut table = Table::new(&["rule", "run", "where", "secret"]);
    let mut failed = 0;
    let bar = count_bar(roots.len() as u64, "runs");
    for root in &roots {
        bar.inc(1);
        let found = match runtape_recorder::find_secrets(&store, root, &rules) {
            Ok(found) => found,
            Err(error) => {
                failed += 1;
                bar.suspend(|| invocation.warn(&format!("run {root}: {}", with_causes(&error))));
                continue;
            }
        };
        summary.runs += 1;
        summary.runs_with_secrets += u64::from(!found.is_empty());
        for secret in found {
            *summary.by_rule.entry(secret.rule.clone()).or_default() += 1;
            if invocation.console.json {
                invocation.console.object(&ScanLine::Found(secret))?;
            } else {
                table.row(row(&secret));
            }
        }
    }
    bar.finish_and_clear();
    let count = places(&summary.by_rule);
    let runs = plural(summary.runs, "run");
    let with = plural(summary.runs_with_secrets, "run");
    if invocation.console.json {
        invocation.console.object(&ScanLine::Summary(summary))?;
    } else if table.has_rows() {
        table.print(&mut invocation.console)?;
    }
    if failed > 0 {
        return Err(CliError::Unread {
            count: failed,
            of: roots.len(),
        });
    }
    if count > 0 {
        invocation.note(&format!("{runs} looked at, secrets in {with}"));
        return Err(CliError::Secrets { count });
    }
    invocation.note(&format!("{runs} looked at, no secrets found"));
    Ok(())
}

fn places(by_rule: &BTreeMap<String, u64>) -> usize {
    let total = by_rule.values().sum::<u64>();
    usize::try_from(total).unwrap_or(usize::MAX)
}

fn row(secret: &FoundSecret) -> Vec<Cell> {
    vec![
        Cell::word(&secret.rule).toned(Tone::Warning),
        Cell::run(&secret.run_id),
        Cell::text(&place(&secret.place)),
        Cell::text(&secret.masked),
    ]
}

/// Says where something was found.
pub(super) fn place(place: &SecretPlace) -> String {
    match place {
        SecretPlace::Context => "command line or prompt".to_owned(),
        SecretPlace::Record { seq } => format!("record {seq}"),
        SecretPlace::Tape { stream, start } => {
            format!("{} from byte {start}", stream.as_str())
        }
        _ => String::new(),
    }
}

/// Returns the runs that were named, or those root runs that the filters let through and are wanted, those that began
/// first first.
pub(super) fn roots(
    store: &Store,
    named: &[String],
    words: &FilterWords,
    is_wanted: fn(&RunInfo) -> bool,
) -> Result<Vec<RunId>, CliError> {
    if !named.is_empty() {
        if !words.is_empty() {
            let message = "name either runs, or filters".to_owned();
            return Err(CliError::Usage { message });
        }
        let runs = named.iter().map(|run| resolve_run(store, run));
        return runs.collect();
    }
    let mut filter: RunFilter = words.to_filter(store)?;
    filter.roots_only = true;
    let mut roots = Vec::new();
    let mut next = None;
    loop {
        let page = store.runs(&filter, next.as_ref(), PAGE)?;
        let wanted = page.items.into_iter().filter(is_wanted);
        roots.extend(wanted.map(|run| run.run_id));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    roots.reverse();
    Ok(roots)
}
