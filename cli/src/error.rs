//! Library errors to message, hint and exit code: here and only here.

use std::io::{self, Write};
use std::path::PathBuf;

use runtape_core::CoreError;
use runtape_normalizer::NormalizeError;

use crate::exit_codes;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("failed to read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("cannot tell which runtime printed {what}")]
    Undetected { what: String },
    #[error(transparent)]
    Normalize(#[from] NormalizeError),
    #[error(transparent)]
    Core(#[from] CoreError),
    #[error("--argv is not a JSON list of strings")]
    Argv(#[source] serde_json::Error),
    #[error("failed to write")]
    Write(#[from] io::Error),
    #[error("failed to write JSON")]
    Json(#[from] serde_json::Error),
}

impl CliError {
    /// Tells whether nobody reads our output any more, which is no failure.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Write(error) => error.kind() == io::ErrorKind::BrokenPipe,
            Self::Json(error) => error.io_error_kind() == Some(io::ErrorKind::BrokenPipe),
            _ => false,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Argv(_) => exit_codes::USAGE,
            _ => exit_codes::FAILED,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Undetected { .. } => Some(format!(
                "name it with --runtime, one of: {}",
                runtape_normalizer::runtimes::readable()
            )),
            Self::Argv(_) => Some(r#"write it like --argv '["claude","-p","hello"]'"#.to_owned()),
            _ => None,
        }
    }

    /// Writes the error, its causes and a hint.
    pub(crate) fn report(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "runtape: {self}")?;
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            write!(out, ": {error}")?;
            cause = error.source();
        }
        writeln!(out)?;
        match self.hint() {
            Some(hint) => writeln!(out, "hint: {hint}"),
            None => Ok(()),
        }
    }
}
