//! The `runtape` binary: parse, dispatch, exit code.

mod arguments;
mod commands;
mod completion;
mod database;
mod digest;
mod error;
mod exit_codes;
mod platform;
mod server;
mod settings;
mod spool_directory;
mod terminal;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::commands::Invocation;
use crate::database::Database;
use crate::error::CliError;
use crate::settings::{ColorChoice, SettingsFile, ShowSettings};
use crate::terminal::console::{Console, RowForm};
use crate::terminal::pager::{self, PagedOutput, ScreenSize};

/// Records are made on one thread and freed on another, where the system's allocator has them wait
/// for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Records what agent CLIs print as one normalized history
#[derive(Debug, Parser)]
#[command(name = "runtape", version, after_help = exit_codes::HELP)]
pub(crate) struct Arguments {
    /// The database: a file, or postgres://… for one on a server; by default a file in the platform's data directory
    // The address of a server may have its password in it: help does not repeat the variable.
    #[arg(
        long,
        global = true,
        value_name = "FILE|URL",
        env = "RUNTAPE_DB",
        hide_env_values = true
    )]
    db: Option<PathBuf>,
    /// Print one JSON object a line instead of text for people
    #[arg(long, global = true)]
    json: bool,
    /// When to use colour; by default where a person looks, unless the configuration says otherwise
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    color: Option<ColorChoice>,
    /// Show these columns of a table, in this order, such as run,status
    #[arg(long, global = true, value_name = "COLUMNS", value_delimiter = ',', conflicts_with_all = ["json", "template"])]
    fields: Vec<String>,
    /// Write each row of a table as this text, with `{column}` for a value: '{run} {outcome}'
    #[arg(long, global = true, value_name = "TEXT", conflicts_with = "json")]
    template: Option<String>,
    /// Do not hand what is longer than the screen to a pager
    #[arg(long, global = true)]
    no_pager: bool,
    #[command(subcommand)]
    command: Option<commands::Command>,
}

impl Arguments {
    fn rows(&self) -> RowForm {
        match &self.template {
            Some(template) => RowForm::Template(template.clone()),
            None if self.fields.is_empty() => RowForm::Table,
            None => RowForm::Fields(self.fields.clone()),
        }
    }

    /// Tells whether what is longer than the screen may be handed to a pager: not what goes on, asks or has to be seen at
    /// once.
    fn may_be_paged(&self) -> bool {
        let is_long = self
            .command
            .as_ref()
            .is_some_and(commands::Command::is_read);
        is_long && !self.no_pager && !self.json
    }
}

fn run(
    arguments: Arguments,
    show: &ShowSettings,
    out: &mut dyn Write,
    is_paged: bool,
) -> Result<ExitCode, CliError> {
    let rows = arguments.rows();
    let database = Database::find(arguments.db)?;
    let mut console = Console::new(out, arguments.json);
    console = console.with_color(arguments.color.unwrap_or(show.color));
    console.rows = rows;
    console.is_paged = is_paged;
    let mut invocation = Invocation {
        console,
        database: database.clone(),
    };
    invocation.warn_of_password(&database);
    let code = match arguments.command {
        Some(command) => commands::run(command, &mut invocation)?,
        None => commands::overview(&mut invocation)?,
    };
    // Not `out` itself: `record` turns away from an output that cannot be written.
    invocation.console.out.flush()?;
    Ok(code)
}

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(code) = commands::record::run_mode() {
        return code;
    }
    completion::answer();
    let arguments = Arguments::parse();
    let show = match SettingsFile::find().read() {
        Ok(settings) => settings.show,
        Err(error) => {
            // How things are shown is no reason to fail, nor one to be silent. Standard error may be closed.
            let _ = error.report(&mut io::stderr().lock());
            ShowSettings::default()
        }
    };
    // A lock would keep `record` from writing in between; it flushes as it goes.
    let mut stdout = io::BufWriter::new(io::stdout());
    let screen = ScreenSize::find().filter(|_| arguments.may_be_paged());
    let result = match screen {
        None => run(arguments, &show, &mut stdout, false),
        Some(screen) => {
            let command = pager::command(show.pager.as_deref());
            let mut output = PagedOutput::new(&mut stdout, screen, command);
            let result = run(arguments, &show, &mut output, true);
            let finished = output.finish();
            result.and_then(|code| Ok(finished.map(|()| code)?))
        }
    };
    if result.is_err() {
        // What was found before the failure is still of use.
        let _ = stdout.flush();
    }
    match result {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed too; there is nobody left to tell then.
            let _ = error.report(&mut io::stderr().lock());
            ExitCode::from(error.exit_code())
        }
    }
}
