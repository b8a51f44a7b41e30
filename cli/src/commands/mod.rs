//! The subcommands, one file each.

mod backup;
mod checkpoint;
mod completions;
mod config;
mod db;
mod diff;
mod doctor;
mod doctor_history;
mod doctor_redaction;
mod doctor_server;
mod doctor_spool;
mod drift;
mod errors;
mod estimates;
mod events;
mod export;
mod files;
mod follow;
mod gc;
mod import;
mod ingest;
mod jobs;
mod man;
mod network;
mod normalize;
mod notices;
mod overview;
mod paperclip;
mod perstack_files;
mod prices;
mod push;
mod raw;
mod rebuild;
#[cfg(unix)]
pub(crate) mod record;
mod recover;
mod redact;
mod renormalize;
mod runs;
mod runtimes;
mod scan;
mod schema;
mod search;
mod search_index;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod sessions;
mod shell_commands;
mod show;
mod show_job;
mod show_place;
mod show_summary;
mod sql;
mod stats;
pub(crate) mod sync;
mod tools;
mod transcript;
mod unkept;
mod usage;
mod usage_explain;
mod validate;
mod verify;
mod wait;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Subcommand;

use crate::database::Database;
use crate::error::CliError;
use crate::server::Server;
use crate::terminal::console::Console;
use crate::terminal::plain;

/// One run of the program: what its command works with.
pub(crate) struct Invocation<'a> {
    pub(crate) console: Console<'a>,
    pub(crate) database: Database,
}

impl Invocation<'_> {
    /// Refuses to claim success where nothing was found.
    #[expect(clippy::unused_self, reason = "reads as a step of the invocation")]
    pub(crate) fn found<T>(&self, what: &'static str, items: &[T]) -> Result<(), CliError> {
        if items.is_empty() {
            return Err(CliError::NothingFound { what });
        }
        Ok(())
    }

    /// Tells a person something that is no result, on one line, after the results so far.
    pub(crate) fn note(&mut self, text: &str) {
        // Either may be closed; there is nobody left to tell then.
        if self.console.is_paged && std::io::stderr().is_terminal() {
            let _ = writeln!(self.console.out, "{}", plain::name(text));
            return;
        }
        let _ = self.console.out.flush();
        let _ = writeln!(std::io::stderr(), "{}", plain::name(text));
    }

    /// Cuts a list of which one more was asked for than is shown. Tells whether there are more.
    #[expect(clippy::unused_self, reason = "reads as a step of the invocation")]
    pub(crate) fn cut<T>(&self, items: &mut Vec<T>, limit: usize) -> bool {
        let has_more = items.len() > limit;
        items.truncate(limit);
        has_more
    }

    /// Tells that a list goes on.
    pub(crate) fn more(&mut self) {
        self.note("there are more: --limit 0 shows all");
    }

    /// Tells of a database that this command makes: somebody may have mistyped the name of another.
    pub(crate) fn tell_of_new_database(&mut self) {
        let name = self.database.name();
        self.note(&format!("new database: {name}"));
    }

    /// Tells of a password that is not used, though it may have been meant.
    pub(crate) fn warn_of_password(&mut self, database: &Database) {
        if let Some(warning) = database.server().and_then(Server::warning) {
            self.warn(warning);
        }
    }

    /// Tells a person that something is wrong, though the command goes on.
    pub(crate) fn warn(&mut self, text: &str) {
        self.note(&format!("runtape: {text}"));
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(unix)]
    Record(record::RecordArgs),
    Sync(sync::SyncArgs),
    Ingest(ingest::IngestArgs),
    Normalize(normalize::NormalizeArgs),
    Runs(runs::RunsArgs),
    Jobs(jobs::JobsArgs),
    Sessions(sessions::SessionsArgs),
    Show(show::ShowArgs),
    Transcript(transcript::TranscriptArgs),
    Events(events::EventsArgs),
    Wait(wait::WaitArgs),
    Checkpoint(checkpoint::CheckpointArgs),
    Search(search::SearchArgs),
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    Usage(usage::UsageArgs),
    Prices(prices::PricesArgs),
    Tools(tools::ToolsArgs),
    Files(files::FilesArgs),
    Commands(shell_commands::CommandsArgs),
    Network(network::NetworkArgs),
    Notices(notices::NoticesArgs),
    Errors(errors::ErrorsArgs),
    Drift(drift::DriftArgs),
    Raw(raw::RawArgs),
    Sql(sql::SqlArgs),
    Verify(verify::VerifyArgs),
    Recover(recover::RecoverArgs),
    Renormalize(renormalize::RenormalizeArgs),
    Scan(scan::ScanArgs),
    Redact(redact::RedactArgs),
    Rebuild(rebuild::RebuildArgs),
    Stats(stats::StatsArgs),
    Backup(backup::BackupArgs),
    Gc(gc::GcArgs),
    Diff(diff::DiffArgs),
    Session(session::SessionArgs),
    Push(push::PushArgs),
    Pull(push::PullArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Validate(validate::ValidateArgs),
    Schema(schema::SchemaArgs),
    Runtimes(runtimes::RuntimesArgs),
    Db(db::DbArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Paperclip(paperclip::PaperclipArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Tells whether what the command prints is there to be read, and ends by itself.
    pub(crate) fn is_read(&self) -> bool {
        match self {
            Self::Transcript(args) => !args.is_followed(),
            Self::Events(args) => !args.is_followed(),
            Self::Runs(_)
            | Self::Jobs(_)
            | Self::Sessions(_)
            | Self::Show(_)
            | Self::Checkpoint(_)
            | Self::Search(_)
            | Self::Usage(_)
            | Self::Prices(_)
            | Self::Tools(_)
            | Self::Files(_)
            | Self::Commands(_)
            | Self::Network(_)
            | Self::Notices(_)
            | Self::Errors(_)
            | Self::Drift(_)
            | Self::Raw(_)
            | Self::Sql(_)
            | Self::Stats(_)
            | Self::Diff(_)
            | Self::Schema(_)
            | Self::Runtimes(_) => true,
            _ => false,
        }
    }
}

/// Shows what happened lately, and what to type next: for whoever types nothing but the program's name.
pub(crate) fn overview(invocation: &mut Invocation<'_>) -> Result<ExitCode, CliError> {
    overview::run(invocation)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a subcommand, writing its results to its console.
pub(crate) fn run(command: Command, invocation: &mut Invocation<'_>) -> Result<ExitCode, CliError> {
    match command {
        #[cfg(unix)]
        Command::Record(args) => return record::run(&args, invocation),
        Command::Sync(args) => sync::run(&args, invocation)?,
        Command::Ingest(args) => ingest::run(&args, invocation)?,
        Command::Normalize(args) => normalize::run(args, invocation)?,
        Command::Runs(args) => runs::run(&args, invocation)?,
        Command::Jobs(args) => jobs::run(&args, invocation)?,
        Command::Sessions(args) => sessions::run(&args, invocation)?,
        Command::Show(args) => show::run(&args, invocation)?,
        Command::Transcript(args) => transcript::run(&args, invocation)?,
        Command::Events(args) => events::run(&args, invocation)?,
        Command::Wait(args) => return wait::run(&args, invocation),
        Command::Checkpoint(args) => checkpoint::run(&args, invocation)?,
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, invocation)?,
        Command::Search(args) => search::run(&args, invocation)?,
        Command::Usage(args) => usage::run(&args, invocation)?,
        Command::Prices(args) => prices::run(&args, invocation)?,
        Command::Tools(args) => tools::run(&args, invocation)?,
        Command::Files(args) => files::run(&args, invocation)?,
        Command::Commands(args) => shell_commands::run(&args, invocation)?,
        Command::Network(args) => network::run(&args, invocation)?,
        Command::Notices(args) => notices::run(&args, invocation)?,
        Command::Errors(args) => errors::run(&args, invocation)?,
        Command::Drift(args) => drift::run(&args, invocation)?,
        Command::Raw(args) => raw::run(&args, invocation)?,
        Command::Sql(args) => sql::run(&args, invocation)?,
        Command::Verify(args) => verify::run(&args, invocation)?,
        Command::Recover(args) => recover::run(&args, invocation)?,
        Command::Renormalize(args) => renormalize::run(&args, invocation)?,
        Command::Scan(args) => scan::run(&args, invocation)?,
        Command::Redact(args) => redact::run(&args, invocation)?,
        Command::Rebuild(args) => rebuild::run(&args, invocation)?,
        Command::Stats(args) => stats::run(&args, invocation)?,
        Command::Backup(args) => backup::run(&args, invocation)?,
        Command::Gc(args) => gc::run(&args, invocation)?,
        Command::Diff(args) => diff::run(&args, invocation)?,
        Command::Session(args) => session::run(&args, invocation)?,
        Command::Push(args) => push::push(&args, invocation)?,
        Command::Pull(args) => push::pull(&args, invocation)?,
        Command::Export(args) => export::run(&args, invocation)?,
        Command::Import(args) => import::run(&args, invocation)?,
        Command::Validate(args) => validate::run(&args, invocation)?,
        Command::Schema(args) => schema::run(&args, invocation)?,
        Command::Runtimes(args) => runtimes::run(&args, invocation)?,
        Command::Db(args) => db::run(&args, invocation)?,
        Command::Doctor(args) => doctor::run(&args, invocation)?,
        Command::Config(args) => config::run(&args, invocation)?,
        Command::Paperclip(args) => paperclip::run(&args, invocation)?,
        Command::Completions(args) => completions::run(&args, invocation)?,
        Command::Man(args) => man::run(&args, invocation)?,
    }
    Ok(ExitCode::SUCCESS)
}
