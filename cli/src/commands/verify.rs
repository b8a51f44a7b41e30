//! `runtape verify`: can this record be trusted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use runtape_core::report::{Removal, RemovalReason};
use runtape_store::Store;

use crate::commands::Invocation;
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
}

/// Refuses what no verify printed: that it is not in the chain would prove nothing.
fn head(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(text.to_owned());
    }
    Err("a head is the 64 hexadecimal digits that verify prints".to_owned())
}

/// Says what was removed. A newer version seals all runs of a database anew at once, and nothing of
/// them is removed: one line is enough for that.
fn removed(removals: &[Removal]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut resealed: BTreeMap<i64, u64> = BTreeMap::new();
    for removal in removals {
        let at = times::local(removal.at);
        if removal.reason == RemovalReason::Resealed {
            *resealed.entry(removal.at).or_default() += 1;
            continue;
        }
        lines.push(format!(
            "removed: run {}, seal {}, {} at {at}",
            removal.run_id,
            removal.seal_name(),
            removal.reason.as_str(),
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
    let report = match (&args.bundle, &args.head) {
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
        for line in removed(&report.removals) {
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
            let text = console.paint(Tone::Good, "intact: all is as it was written");
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
