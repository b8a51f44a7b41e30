//! `runtape db`: the database itself.

use clap::ValueEnum;
use runtape_core::report::{DatabaseStatus, Document, MigrationReport, ServerStatus};
use runtape_store::{Store, StoreError};

use crate::commands::Invocation;
use crate::database::Database;
use crate::error::{CliError, with_causes};
use crate::terminal::console::{Console, Tone};
use crate::terminal::table::{Cell, Table, bytes, plural};
use crate::terminal::{plain, times};

/// Make a database on a server ready, or show how the database is
///
/// A database file is made and brought up to date by whatever writes to it. One on a server (--db postgres://…) is changed by
/// `db migrate` and by nothing else, so that an updated recorder never holds up those who read: run it once before the
/// first run is recorded, and after an update that asks for it, with a user who may create tables.
#[derive(Debug, clap::Args)]
pub(crate) struct DbArgs {
    /// What to do
    #[arg(value_enum)]
    what: DatabaseTask,
}

/// What to do with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DatabaseTask {
    /// Make its tables, or bring them up to date
    Migrate,
    /// Say which version it has, how its server is, and who writes there
    Status,
    /// Print the statements that spread its tables over the machines of a Citus cluster
    ShardSql,
    /// Print the script that makes roles for recorders and readers with the least rights, for psql
    RolesSql,
}

pub(crate) fn run(args: &DbArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    match args.what {
        DatabaseTask::Migrate => migrate(invocation),
        DatabaseTask::Status => status(invocation),
        DatabaseTask::ShardSql => script(&mut invocation.console, "shard-sql", Store::shard_sql()?),
        DatabaseTask::RolesSql => script(&mut invocation.console, "roles-sql", Store::roles_sql()?),
    }
}

/// Prints statements for the owner of a database on a server.
fn script(console: &mut Console<'_>, name: &str, text: String) -> Result<(), CliError> {
    if console.json {
        return console.object(&Document {
            name: name.to_owned(),
            file: None,
            text: Some(text),
        });
    }
    console.line(text.trim_end())
}

/// Makes a database, or brings it up to date; says what was done.
fn migrate(invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let (before, after) = match &invocation.database {
        Database::Server(server) => {
            let (before, after) = Store::migrate(server.address())?;
            (known(before), known(after).unwrap_or_default())
        }
        Database::File(_) => {
            let before = schema_of_file(&invocation.database)?;
            (before, invocation.database.open()?.schema_version()?)
        }
    };
    let database = invocation.database.name();
    let console = &mut invocation.console;
    if console.json {
        return console.object(&MigrationReport {
            database,
            before,
            after,
        });
    }
    let done = match before {
        None => format!("made, with schema {after}"),
        Some(before) if before == after => format!("up to date: schema {after}"),
        Some(before) => format!("schema {before} -> {after}"),
    };
    console.line(&plain::one_line(&format!("{database}: {done}")))
}

/// Returns the number of a schema, of which 0 is none.
fn known(schema: i64) -> Option<u64> {
    u64::try_from(schema).ok().filter(|schema| *schema > 0)
}

/// Returns the schema that a database file has, before anything is done to it.
fn schema_of_file(database: &Database) -> Result<Option<u64>, CliError> {
    if database.is_new() {
        return Ok(None);
    }
    match database.read() {
        Ok(store) => Ok(Some(store.schema_version()?)),
        Err(CliError::Store(StoreError::TooOld { found, .. })) => Ok(known(found)),
        Err(error) => Err(error),
    }
}

fn status(invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let status = status_of(&invocation.database)?;
    let console = &mut invocation.console;
    if console.json {
        console.object(&status)?;
    } else {
        show(&status, console)?;
    }
    match status.fault {
        None => Ok(()),
        Some(_) => Err(CliError::Faults {
            count: 1,
            what: "fault: the database cannot be used as it is",
        }),
    }
}

/// Finds out how a database is. One that has to be migrated first is told, and no error.
fn status_of(database: &Database) -> Result<DatabaseStatus, CliError> {
    let directory = database
        .server()
        .map(|server| server.directory().display().to_string());
    let mut status = DatabaseStatus {
        database: database.name(),
        directory,
        schema: None,
        fault: None,
        bytes: None,
        server: None,
    };
    let store = match database.read() {
        Ok(store) => store,
        Err(CliError::Store(error)) => {
            status.schema = match &error {
                StoreError::TooOld { found, .. }
                | StoreError::TooNew { found, .. }
                | StoreError::NotMigratedTo { found, .. } => known(*found),
                StoreError::NotMigrated { .. } => None,
                _ => return Err(error.into()),
            };
            status.fault = Some(with_causes(&error));
            return Ok(status);
        }
        Err(error) => return Err(error),
    };
    status.schema = Some(store.schema_version()?);
    status.bytes = Some(store.size()?);
    status.server = store.server_status(&times::now)?;
    Ok(status)
}

/// Shows a database to a person.
fn show(status: &DatabaseStatus, console: &mut Console<'_>) -> Result<(), CliError> {
    let schema = status
        .schema
        .map_or("none".to_owned(), |schema| schema.to_string());
    let mut rows = vec![("database", status.database.clone()), ("schema", schema)];
    rows.extend(status.bytes.map(|size| ("size", bytes(size))));
    if let Some(server) = &status.server {
        rows.extend(about(server));
    }
    let directory = status.directory.clone();
    rows.extend(directory.map(|path| ("on this machine", path)));
    for (name, value) in rows {
        let name = console.paint(Tone::Faint, &format!("{name:>16}"));
        console.line(&format!("{name}  {}", plain::one_line(&value)))?;
    }
    if let Some(fault) = &status.fault {
        console.line(&plain::one_line(fault))?;
    }
    let Some(server) = &status.server else {
        return Ok(());
    };
    if !server.leases.is_empty() {
        console.line("")?;
        let mut table = Table::new(&["run", "writer", "lease"]);
        for lease in &server.leases {
            table.row(vec![
                Cell::id(&lease.run_id),
                Cell::text(&lease.owner),
                Cell::text(&left(lease.remaining_ms)),
            ]);
        }
        table.print(console)?;
    }
    console.line("")?;
    let mut table = Table::new(&["table", "size"]);
    for entry in &server.tables {
        table.row(vec![
            Cell::text(&entry.name),
            Cell::number(bytes(entry.bytes)),
        ]);
    }
    table.print(console)
}

/// Returns what is to be said of a server, line by line.
fn about(server: &ServerStatus) -> Vec<(&'static str, String)> {
    vec![
        ("server", format!("PostgreSQL {}", server.version)),
        ("user", server.user.clone()),
        ("connection", connection(server).to_owned()),
        ("commits", commits(server)),
        ("tables", layout(server)),
        ("clock", clock(server.clock_difference_ms)),
    ]
}

/// Says whether a connection is encrypted.
pub(super) fn connection(server: &ServerStatus) -> &'static str {
    if server.is_encrypted {
        "encrypted (TLS)"
    } else {
        "not encrypted"
    }
}

/// Says what a commit waits for.
pub(super) fn commits(server: &ServerStatus) -> String {
    let setting = &server.synchronous_commit;
    if server.is_standby {
        "none: it is a standby, which cannot be written".to_owned()
    } else if server.is_synchronous {
        format!("wait for a standby (synchronous_commit = {setting})")
    } else if setting == "off" {
        "may be lost when the server fails (synchronous_commit = off)".to_owned()
    } else {
        format!("wait for no standby (synchronous_commit = {setting})")
    }
}

/// Says how the tables lie.
pub(super) fn layout(server: &ServerStatus) -> String {
    match server.partitions {
        _ if server.is_sharded => "spread over machines (Citus)".to_owned(),
        Some(parts) => format!("in {}", plural(parts, "part")),
        None => "in one piece".to_owned(),
    }
}

/// Says how far a server's clock is off.
pub(super) fn clock(difference: i64) -> String {
    let amount = times::duration(difference.saturating_abs());
    match difference {
        -999..=999 => "as this machine's, within a second".to_owned(),
        ahead if ahead > 0 => format!("{amount} ahead of this machine's"),
        _ => format!("{amount} behind this machine's"),
    }
}

/// Says how long a lease lasts.
fn left(remaining: i64) -> String {
    let amount = times::duration(remaining.saturating_abs());
    if remaining < 0 {
        format!("over since {amount}: its writer is gone")
    } else {
        format!("{amount} left")
    }
}
