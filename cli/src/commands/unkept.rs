//! What is said where the database did not take what was recorded.

use runtape_recorder::KeepingEnd;

use crate::commands::Invocation;
use crate::terminal::table::bytes;

/// Tells a person what could not be stored.
pub(super) fn say(invocation: &mut Invocation<'_>, kept: &KeepingEnd) {
    if let Some(fault) = &kept.fault {
        invocation.warn(&format!("not stored: {fault}"));
        if let Some(spool) = &kept.spool {
            invocation.note(&format!(
                "hint: the output is in {}; `runtape recover` takes it in",
                spool.display()
            ));
        }
    }
    if let Some(missing) = &kept.missing {
        invocation.warn(&format!(
            "{} of output are stored nowhere: {missing}",
            bytes(missing.bytes)
        ));
    }
}
