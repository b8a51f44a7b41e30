//! What `runtape doctor` says of a database on a server.

use runtape_core::report::{CheckLevel, ServerStatus};

use super::db;
use super::doctor::{Checks, lost_runs};
use crate::database::Database;
use crate::error::{CliError, with_causes};
use crate::server::Server;
use crate::terminal::table::{bytes, plural};
use crate::terminal::times;

/// More difference than this between two clocks makes times of runs of two machines hard to compare.
const MUCH_DIFFERENCE: i64 = 5_000;

/// Says how the server is, and what is wrong with it.
pub(super) fn tell(checks: &mut Checks, database: &Database, server: &Server) {
    let name = server.name();
    let store = match database.read() {
        Ok(store) => store,
        Err(error) => {
            let text = with_causes(&error);
            return checks.add("runtape_database_open", CheckLevel::Error, text);
        }
    };
    let place = server.directory().display().to_string();
    let size = store.size().map(|size| format!(", {}", bytes(size)));
    let message = format!("database {name}{}", size.unwrap_or_default());
    let code = "runtape_database_path";
    checks.push(code, CheckLevel::Info, message, Some(place), None);
    match store.schema_version() {
        Ok(version) => {
            let message = format!("schema version {version}");
            checks.add("runtape_database_version", CheckLevel::Info, message);
        }
        Err(error) => {
            let text = with_causes(&error);
            checks.add("runtape_database_version", CheckLevel::Error, text);
        }
    }
    match store.server_status(&times::now) {
        Ok(Some(status)) => about(checks, &status),
        Ok(None) => {}
        Err(error) => {
            let text = with_causes(&CliError::from(error));
            checks.add("runtape_server", CheckLevel::Error, text);
        }
    }
    lost_runs(checks, &store);
}

fn about(checks: &mut Checks, status: &ServerStatus) {
    let message = format!("PostgreSQL {}, as {}", status.version, status.user);
    checks.add("runtape_server_version", CheckLevel::Info, message);
    let message = format!("connection {}", db::connection(status));
    checks.add("runtape_server_tls", CheckLevel::Info, message);
    if !status.is_encrypted {
        checks.neutral();
    }
    let message = format!("commits {}", db::commits(status));
    let code = "runtape_server_commits";
    if status.is_standby {
        let hint = "name the server that is written, or all of them: postgres://one,other/…?target_session_attrs=read-write";
        checks.push(code, CheckLevel::Warn, message, None, Some(hint));
    } else if status.synchronous_commit == "off" {
        let hint = "what was acknowledged may be gone after a crash of the server";
        checks.push(code, CheckLevel::Warn, message, None, Some(hint));
    } else {
        checks.add(code, CheckLevel::Info, message);
        if !status.is_synchronous {
            checks.neutral();
        }
    }
    let message = format!("tables {}", db::layout(status));
    checks.add("runtape_server_layout", CheckLevel::Info, message);
    checks.neutral();
    let message = format!("clock {}", db::clock(status.clock_difference_ms));
    let code = "runtape_server_clock";
    if status.clock_difference_ms.abs() > MUCH_DIFFERENCE {
        let hint = "times of runs are those of the machine that recorded them: let both follow one clock (NTP)";
        checks.push(code, CheckLevel::Warn, message, None, Some(hint));
    } else {
        checks.add(code, CheckLevel::Info, message);
    }
    let held = status.leases.iter().filter(|lease| lease.remaining_ms >= 0);
    let message = format!("{} written right now", plural(held.count(), "run"));
    checks.add("runtape_server_leases", CheckLevel::Info, message);
    checks.neutral();
}
