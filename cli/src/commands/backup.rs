//! `runtape backup`: a copy of the database.

use std::path::PathBuf;

use runtape_core::report::BackupReport;

use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::bytes;

/// Write a copy of the database, as it is at one moment, to a new file
///
/// Others may go on writing meanwhile.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: &BackupArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    store.backup(&args.file)?;
    let size = std::fs::metadata(&args.file).map_or(0, |meta| meta.len());
    let file = args.file.display().to_string();
    let console = &mut invocation.console;
    if console.json {
        return console.object(&BackupReport { file, bytes: size });
    }
    console.line(&format!(
        "{}: {}",
        crate::terminal::plain::one_line(&file),
        bytes(size)
    ))
}
