//! `runtape verify`: can this record be trusted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use runtape_core::report::{Removal, RemovalReason};
use runtape_store::Store;

use crate::arguments::filter::FilterWords;
use crate::commands::Invocation;
use crate::commands::scan::roots;
use crate::digest::Digest;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::plain;
use crate::terminal::table::{bytes, plural};
use crate::terminal::times;

/// Prove that nothing was changed since it was written, or name what was
///
/// Everything is computed anew: hashes, seals, every row that follows from records, indexes, the
/// search index; and the schema is compared with ours. Without --head two things cannot be seen:
/// that the last runs were cut off together with their seals, and that someone computed all hashes
/// anew. Keep the head that this prints elsewhere, and give it to --head later.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Check only these runs, without the chain of seals: ids, beginnings of ids, or `last`
    #[arg(value_name = "RUN", conflicts_with_all = ["head", "bundle"])]
    runs: Vec<String>,
    /// A head that an earlier verify printed: nothing before it may have changed. For a bundle the
    /// hash of a seal that export printed: it must cover each run
    #[arg(long, value_name = "HASH", value_parser = head)]
    head: Option<String>,
    /// Check this bundle instead of the database
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// The bundle must have this digest, which export printed
    #[arg(long, value_name = "DIGEST", requires = "bundle")]
    digest: Option<Digest>,
    /// List everything that was removed, which is counted otherwise
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    filter: FilterWords,
}

/// Refuses what no verify printed: that it is not in the chain would prove nothing.
fn head(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(text.to_owned());
    }
    Err("a head is the 64 hexadecimal digits that verify prints".to_owned())
}

/// Says what was removed: in numbers, or one by one. A newer version seals all runs of a database anew at once, and
/// nothing of them is removed: one line is enough for that.
fn removed(removals: &[Removal], is_verbose: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut resealed: BTreeMap<i64, u64> = BTreeMap::new();
    for removal in removals {
        let at = times::local(removal.at);
        if removal.reason == RemovalReason::Resealed {
            *resealed.entry(removal.at).or_default() += 1;
            continue;
        }
        *counts.entry(removal.reason.as_str()).or_default() += 1;
        if is_verbose {
            lines.push(format!(
                "removed: run {}, seal {}, {} at {at}",
                removal.run_id,
                removal.seal_name(),
                removal.reason.as_str(),
            ));
        }
    }
    if !counts.is_empty() && !is_verbose {
        let counts = counts.into_iter();
        let counts: Vec<String> = counts.map(|(why, n)| format!("{n} {why}")).collect();
        lines.push(format!(
            "removed: {}; --verbose lists them",
            counts.join(", ")
        ));
    }
    let resealed = resealed.into_iter().map(|(at, runs)| {
        let (runs, at) = (plural(runs, "run"), times::local(at));
        format!("sealed anew: {runs} at {at}, to cover receive times; the old seals are kept")
    });
    lines.extend(resealed);
    lines
}

pub(crate) fn run(args: &VerifyArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let is_partial = !args.runs.is_empty() || !args.filter.is_empty();
    if is_partial && (args.bundle.is_some() || args.head.is_some()) {
        let message = "--bundle and --head are about all runs there are".to_owned();
        return Err(CliError::Usage { message });
    }
    let report = match (&args.bundle, &args.head) {
        (None, None) if is_partial => {
            let store = invocation.database.read()?;
            let runs = roots(&store, &args.runs, &args.filter, |_| true)?;
            invocation.found("runs", &runs)?;
            store.verify_runs(&runs)?
        }
        (Some(bundle), head) => {
            if let Some(digest) = &args.digest {
                digest.check(bundle)?;
            }
            Store::open_bundle(bundle)?.verify_bundle(head.as_deref())?
        }
        (None, Some(head)) => invocation.database.read()?.verify_head(head)?,
        (None, None) => invocation.database.read()?.verify()?,
    };
    let console = &mut invocation.console;
    if console.json {
        console.object(&report)?;
    } else {
        for line in removed(&report.removals, args.verbose) {
            let text = console.paint(Tone::Faint, &plain::one_line(&line));
            console.line(&text)?;
        }
        for fault in &report.faults {
            let text = console.paint(Tone::Bad, &plain::one_line(&format!("fault: {fault}")));
            console.line(&text)?;
        }
        let open = match report.open_runs {
            0 => String::new(),
            open => format!(" ({open} still open, not yet sealed)"),
        };
        console.line(&format!(
            "{}{open}, {}, {} of output read",
            plural(report.runs, "run"),
            plural(report.records, "record"),
            bytes(report.tape_bytes)
        ))?;
        for seal in report.bundle.iter().flatten() {
            let text = format!("run {}: seal {} {}", seal.run_id, seal.name, seal.hash);
            console.line(&text)?;
        }
        if let (Some(head), None) = (&report.head, &report.bundle) {
            console.line(&format!("head {} {}", head.name, head.hash))?;
        }
        if !report.unseen.is_empty() {
            let unseen: Vec<&str> = report
                .unseen
                .iter()
                .map(|unseen| unseen.as_text())
                .collect();
            let text = format!("not seen without --head: {}", unseen.join("; "));
            let text = console.paint(Tone::Faint, &text);
            console.line(&text)?;
        }
        if report.is_intact() {
            let text = if is_partial {
                "intact: these runs are as they were written; the chain of seals was not followed"
            } else {
                "intact: all is as it was written"
            };
            let text = console.paint(Tone::Good, text);
            console.line(&text)?;
        }
    }
    if report.is_intact() {
        return Ok(());
    }
    Err(CliError::Faults {
        count: report.faults.len(),
        what: "faults found: this is not what was written",
    })
}
