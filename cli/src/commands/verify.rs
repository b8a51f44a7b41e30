//! `runtape verify`: can this record be trusted.

use std::path::PathBuf;

use crate::commands::Session;
use crate::console::Tone;
use crate::database::Database;
use crate::error::CliError;
use crate::plain;
use crate::table::{bytes, plural};
use crate::times;

/// Prove that nothing was changed since it was written, or name what was
///
/// Everything is computed anew: hashes, seals, every row that follows from records, indexes, the
/// search index; and the schema is compared with ours. Without --head two things cannot be seen:
/// that the last runs were cut off together with their seals, and that someone computed all hashes
/// anew. Keep the head that this prints elsewhere, and give it to --head later.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// A head that an earlier verify printed: nothing before it may have changed
    #[arg(long, value_name = "HASH", value_parser = head)]
    head: Option<String>,
    /// Check this bundle instead of the database
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// Refuses what no verify printed: that it is not in the chain would prove nothing.
fn head(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(text.to_owned());
    }
    Err("a head is the 64 hexadecimal digits that verify prints".to_owned())
}

pub(crate) fn run(args: &VerifyArgs, session: &mut Session<'_>) -> Result<(), CliError> {
    let store = match &args.bundle {
        Some(bundle) => Database::find(Some(bundle.clone()))?.read()?,
        None => session.database.read()?,
    };
    let report = match &args.head {
        Some(head) => store.verify_head(head)?,
        None => store.verify()?,
    };
    let console = &mut session.console;
    if console.json {
        console.object(&report)?;
    } else {
        for removal in &report.removals {
            let text = format!(
                "removed: run {}, seal {}, {} at {}",
                removal.run_id,
                removal.seal,
                removal.reason.as_str(),
                times::local(removal.at)
            );
            let text = console.paint(Tone::Faint, &plain::one_line(&text));
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
        if let Some(head) = &report.head {
            console.line(&format!("head {} {}", head.number, head.hash))?;
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
