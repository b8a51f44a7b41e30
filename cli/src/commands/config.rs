//! `runtape config`: the configuration file.

use clap::ValueEnum;
use runtape_core::report::ConfigInfo;

use crate::commands::Invocation;
use crate::error::CliError;
use crate::settings::SettingsFile;

/// Show where the configuration file is, and what is set
///
/// The file is TOML, in the platform's configuration directory or where `$RUNTAPE_CONFIG` says. Without one everything is
/// as by default. A key that is not known is an error that names it.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// What to print
    #[arg(value_enum)]
    what: ConfigTask,
}

/// What to print of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConfigTask {
    /// The path of the file, whether it is there or not
    Path,
    /// All settings in force, with what is by default
    Show,
}

pub(crate) fn run(args: &ConfigArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let file = SettingsFile::find();
    let path = file.path().ok_or_else(|| CliError::NotFound {
        what: "a directory for the configuration file ($RUNTAPE_CONFIG names one)".to_owned(),
    })?;
    let path = path.display().to_string();
    // The path is told even where what is there cannot be read.
    if args.what == ConfigTask::Path && !invocation.console.json {
        return invocation.console.line(&path);
    }
    let settings = file.read()?;
    if invocation.console.json {
        return invocation.console.object(&ConfigInfo {
            path,
            is_there: file.is_there(),
            settings: serde_json::to_value(&settings)?,
        });
    }
    let state = if file.is_there() {
        ""
    } else {
        " (not there: as by default)"
    };
    invocation.console.line(&format!("# {path}{state}"))?;
    let text = toml::to_string(&settings).map_err(|error| CliError::Settings {
        path: path.into(),
        fault: error.to_string(),
    })?;
    invocation.console.line(text.trim_end())
}
