//! What `runtape doctor` says of output that the database did not take.

use runtape_core::report::CheckLevel;
use runtape_recorder::{SpoolOwner, waiting_spool};

use super::doctor::Checks;
use crate::database::Database;
use crate::spool_directory;
use crate::terminal::table::plural;
use crate::terminal::times;

/// Says how many runs wait in spool files, and since when. The database need not be there: it may be why they wait.
pub(super) fn tell(checks: &mut Checks, database: &Database) {
    let asked = database.read().ok();
    let asked = asked.and_then(|store| SpoolOwner::of(&store).ok());
    let owner = asked.unwrap_or_else(|| SpoolOwner::at(database.path()));
    let files = spool_directory::directories(database).files(&owner);
    let waiting = files.iter().filter_map(|path| waiting_spool(path, &owner));
    let waiting: Vec<_> = waiting.collect();
    let Some(since) = waiting.iter().map(|spool| spool.started_at).min() else {
        return;
    };
    let message = format!(
        "{} in spool files, not in the database, since {}",
        plural(waiting.len(), "run"),
        times::minute(since)
    );
    checks.push(
        "runtape_spool_waiting",
        CheckLevel::Error,
        message,
        None,
        Some("`runtape recover` takes them in"),
    );
}
