//! Library errors to message, hint and exit code: here and only here.

use std::io::{self, Write};
use std::path::PathBuf;

use runtape_core::prices::PriceFault;
use runtape_core::{CoreError, RunId};
use runtape_normalizer::NormalizeError;
use runtape_normalizer::redact::RuleError;
use runtape_recorder::RecordError;
use runtape_recorder::perstack::PerstackError;
use runtape_schemas::SchemaError;
use runtape_store::StoreError;

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
    #[error("failed to write {}", path.display())]
    WriteFile {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("failed to make the directory {}", path.display())]
    Directory {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("there is no directory for the database")]
    NoDatabase,
    #[error("there is no directory for what lies beside the database {name} on this machine")]
    NoServerDirectory { name: String },
    #[error("there is no database at {}", path.display())]
    Empty { path: PathBuf },
    #[error("no run {text:?}")]
    UnknownRun { text: String },
    #[error("no run or job {text:?}")]
    UnknownTarget { text: String },
    #[error("no run or checkpoint {text:?}")]
    UnknownCheckpoint { text: String },
    #[error("{text:?} is the beginning of several {what}: {}", candidates.join(", "))]
    Ambiguous {
        text: String,
        what: &'static str,
        candidates: Vec<String>,
    },
    #[error("{what} not found")]
    NotFound { what: String },
    #[error(
        "no output stands behind record {record}: it was made from the command line or the exit"
    )]
    NotPrinted { record: String },
    #[error("no {what} found")]
    NothingFound { what: &'static str },
    #[error("the tape of run {run} was dropped: what it printed is gone, its records are not")]
    TapeDropped { run: RunId },
    #[error("there are no runs yet")]
    NoRuns,
    #[error("the recorder of run {run} died: it will not go on")]
    RecorderDied { run: RunId },
    #[error("{what} goes on: waited for {waited}")]
    StillRunning { what: String, waited: String },
    #[error("{count} of {of} hold nothing usable")]
    Unusable { count: usize, of: usize },
    #[error("{count} of {of} could not be stored")]
    NotStored { count: usize, of: usize },
    #[error("{count} of {of} could not be recovered")]
    Unrecovered { count: usize, of: usize },
    #[error("{count} of {of} could not be read again, and are as they were")]
    Unread { count: usize, of: usize },
    #[error("{count} of {of} could not be rebuilt, and are as they were")]
    NotRebuilt { count: usize, of: usize },
    #[error("{count} of {of} could not be given up, and are as they were")]
    Kept { count: usize, of: usize },
    #[error("bytes of what was given up may still be in the files: somebody reads from the log")]
    NotErased,
    #[error("nothing to ingest: no file that ends in .stdout")]
    NothingToIngest,
    #[error("{count} {what}")]
    Faults { count: usize, what: &'static str },
    #[error("{count} {} found", if *count == 1 { "secret" } else { "secrets" })]
    Secrets { count: usize },
    #[error("{}: {fault}", path.display())]
    Settings { path: PathBuf, fault: String },
    #[error(transparent)]
    Rule(#[from] RuleError),
    #[error("{} has another digest: {found}", path.display())]
    OtherDigest { path: PathBuf, found: String },
    #[error("no session to resume: {reason}")]
    NoSession { reason: String },
    #[error("{}, line {line}: neither a record nor an event", path.display())]
    BadLine {
        path: PathBuf,
        line: usize,
        #[source]
        error: serde_json::Error,
    },
    #[error("cannot take the prices in {}", path.display())]
    Prices {
        path: PathBuf,
        #[source]
        error: PriceFault,
    },
    #[error("{message}")]
    Usage { message: String },
    #[error("cannot start {program:?}")]
    Spawn {
        program: String,
        #[source]
        error: io::Error,
    },
    #[error("{what}")]
    System {
        what: &'static str,
        #[source]
        error: io::Error,
    },
    #[error(transparent)]
    Normalize(#[from] NormalizeError),
    #[error(transparent)]
    Core(#[from] CoreError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Perstack(#[from] PerstackError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(#[from] runtape_serve::ServeError),
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Html(#[from] runtape_serve::HtmlError),
    #[error("others may read the token in {}", path.display())]
    #[cfg(feature = "serve")]
    OpenToken { path: PathBuf },
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
            Self::Argv(_) | Self::Usage { .. } => exit_codes::USAGE,
            Self::StillRunning { .. } => exit_codes::TIMED_OUT,
            Self::Faults { .. }
            | Self::Secrets { .. }
            | Self::OtherDigest { .. }
            | Self::Store(StoreError::Refused { .. } | StoreError::Conflict { .. }) => {
                exit_codes::FAULTS
            }
            _ => exit_codes::FAILED,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Argv(_) => r#"write it like --argv '["claude","-p","hello"]'"#,
            Self::NoDatabase => "name one with --db or $RUNTAPE_DB",
            Self::NoServerDirectory { .. } => "set HOME, or XDG_DATA_HOME",
            Self::Empty { .. } | Self::NoRuns => {
                "record something first: `runtape record -- COMMAND` or `runtape ingest FILE`"
            }
            Self::UnknownRun { text } | Self::UnknownTarget { text } if is_almost_last(text) => {
                "the run that began last is `last`; `runtape runs` lists the runs there are"
            }
            Self::TapeDropped { .. } => {
                "`runtape transcript` and `runtape events` show the records"
            }
            Self::RecorderDied { .. } => "`runtape recover` closes it with what was printed",
            Self::UnknownTarget { .. } => {
                "`runtape runs` lists the runs there are, `runtape jobs` the jobs"
            }
            Self::UnknownRun { .. } => "`runtape runs` lists the runs there are",
            Self::UnknownCheckpoint { .. } => {
                "`runtape runs` lists the runs there are, `runtape show RUN` the checkpoints of one"
            }
            Self::Ambiguous { .. } => "type more of it",
            Self::Unrecovered { .. } => {
                "what is stored of them stays; `runtape verify` names damage"
            }
            Self::NotErased => "run `runtape gc` again once nobody reads for long",
            Self::NotRebuilt { .. } => "`runtape verify` names damage",
            Self::BadLine { .. } => "import reads what `runtape export` wrote",
            Self::OtherDigest { .. } => "it is not the file that was written, or was changed since",
            Self::Perstack(PerstackError::Link { .. }) => {
                "name the directory that it leads to, or remove the link"
            }
            Self::Perstack(PerstackError::NotOurs { .. }) => {
                "name another directory, or remove it yourself"
            }
            #[cfg(feature = "serve")]
            Self::Serve(runtape_serve::ServeError::Listen { .. }) => {
                "name another port: --port 0 picks one that is free"
            }
            #[cfg(feature = "serve")]
            Self::OpenToken { .. } => "make it the owner's only: chmod 600, or name another file",
            Self::NoSession { .. } => "start without a session",
            Self::Secrets { .. } => {
                "`runtape redact` takes them out; `--dry-run` shows how many of which"
            }
            Self::Settings { .. } => {
                "`runtape config path` says where the file is, docs/redaction.md what can be set"
            }
            Self::Rule(_) => {
                "the rules are in the configuration file: `runtape config path` says where"
            }
            Self::Prices { .. } => "`runtape prices --json` shows what a price has",
            Self::Perstack(PerstackError::UnknownJob { .. }) => {
                "`runtape jobs` lists the jobs there are"
            }
            Self::Perstack(PerstackError::Exists { .. }) => {
                "name another directory, or put the new tree in its place with --replace"
            }
            Self::Spawn { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                "is it installed, and in a directory of $PATH?"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Writes the error, its causes and a hint.
    pub(crate) fn report(&self, out: &mut impl Write) -> io::Result<()> {
        let text = with_causes(self);
        // Messages may quote file names and what agents printed: a line break in one must not look
        // like the end of the message.
        writeln!(out, "runtape: {}", crate::terminal::plain::name(&text))?;
        match self.hint() {
            Some(hint) => writeln!(out, "hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Tells whether somebody wanted to write `last`.
fn is_almost_last(text: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_cut = text.len() > 1 && "last".starts_with(text);
    is_cut || text == "latest" || sorted(text) == sorted("last")
}

/// Returns an error with its causes. One that repeats what was said is left out.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        let last = reason.rsplit(": ").next().unwrap_or_default();
        if !text.contains(last) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = error.source();
    }
    text
}
