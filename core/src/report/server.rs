//! What a database is in, and how that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TableStats;
use crate::RunId;

/// What `db status` tells of a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    /// Its path, or the address of its server without the password.
    pub database: String,
    /// The directory on this machine of what lies beside a database file otherwise: the redaction key, spool files; null
    /// for a file.
    pub directory: Option<String>,
    /// The number of its schema; null if it has none yet.
    pub schema: Option<u64>,
    /// Why it cannot be used as it is, and what to do; null if it can.
    pub fault: Option<String>,
    /// Bytes that it takes; null if it cannot be asked.
    pub bytes: Option<u64>,
    /// The server; null for a file, and if it cannot be asked.
    pub server: Option<ServerStatus>,
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells of something else"
)]
pub struct ServerStatus {
    /// Its version, as it tells it.
    pub version: String,
    /// The user that it takes us for.
    pub user: String,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
    /// Whether it is a standby, which cannot be written.
    pub is_standby: bool,
    /// Whether a commit waits for a standby.
    pub is_synchronous: bool,
    /// What a commit waits for, in the server's words: `on`, `local`, `off`, …
    pub synchronous_commit: String,
    /// In how many parts the tables of runs are; null if each is in one piece.
    pub partitions: Option<u64>,
    /// Whether they are spread over machines by Citus.
    pub is_sharded: bool,
    /// By how many milliseconds its clock is ahead of this machine's; behind if negative.
    pub clock_difference_ms: i64,
    /// Runs that somebody writes, or wrote until a minute ago.
    pub leases: Vec<LeaseInfo>,
    /// Bytes of each table with its indexes, largest first.
    pub tables: Vec<TableStats>,
}

/// Who writes a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseInfo {
    /// The root run.
    pub run_id: RunId,
    /// Who writes it: host, process and connection.
    pub owner: String,
    /// For how many milliseconds more it is theirs, unless they renew it; negative if they are gone.
    pub remaining_ms: i64,
    /// Which writer of the run it is: a number that rises with each.
    pub epoch: u64,
}

/// What `db migrate` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MigrationReport {
    /// The path of the database, or the address of its server without the password.
    pub database: String,
    /// The number of its schema before; null if there was none.
    pub before: Option<u64>,
    /// The number of its schema now.
    pub after: u64,
}
