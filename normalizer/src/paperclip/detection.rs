//! What an adapter must find out about a run that failed, from the runtime's error channels only.

use runtape_core::summarize;
use runtape_core::{
    ErrorFamily, IdSource, JobId, RandomIds, RunSummary, Runtime, Stream, SummaryError,
};
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::normalizer::Normalizer;
use crate::redact::Kept;

/// What an adapter must act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The session to be resumed is not known: forget it, and try again with a new one.
    UnknownSession,
    /// Somebody must log in.
    AuthRequired,
    /// A limit of the account was reached; trying again before it is lifted is no use.
    QuotaExhausted,
    /// The same run may succeed in a moment.
    Transient,
}

/// What was found out about a run.
///
/// Words of the model or of a tool never count: the runtime's parser decides what is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detection {
    /// What to act on; `None` for a success, and for a failure of another kind.
    pub kind: Option<FailureKind>,
    /// Not before this time, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<i64>,
}

/// What a process left behind.
#[derive(Clone, Copy, Debug)]
pub struct ProcessOutput<'a> {
    /// Its command line.
    pub argv: &'a [String],
    /// What it printed.
    pub stdout: &'a [u8],
    /// What it printed on standard error.
    pub stderr: &'a [u8],
    /// How it ended.
    pub exit: &'a Exit,
}

impl Detection {
    /// Judges a finished run.
    #[must_use]
    pub fn of(summary: &RunSummary) -> Self {
        let Some(error) = &summary.error else {
            return Self::default();
        };
        let kind = match error.family {
            Some(ErrorFamily::UnknownSession) => Some(FailureKind::UnknownSession),
            Some(ErrorFamily::Auth) => Some(FailureKind::AuthRequired),
            _ if is_quota(error) => Some(FailureKind::QuotaExhausted),
            family => is_transient(family).then_some(FailureKind::Transient),
        };
        Self {
            kind,
            retry_at: error.retry_at,
        }
    }

    /// Judges what a process left behind; nothing is detected for a runtime that cannot be read.
    #[must_use]
    pub fn of_output(runtime: &Runtime, output: &ProcessOutput<'_>) -> Self {
        let run_id = RandomIds.run_id();
        let job_id = JobId::parse(run_id.as_str()).unwrap_or_else(|_| RandomIds.job_id());
        let mut context = Context::new(job_id, run_id);
        context.argv = Some(output.argv.to_vec());
        let Ok(mut normalizer) = Normalizer::new(runtime.clone(), context) else {
            return Self::default();
        };
        let mut records = normalizer
            .push(Stream::Stdout, Kept::as_given(output.stdout), 0)
            .records;
        records.extend(
            normalizer
                .push(Stream::Stderr, Kept::as_given(output.stderr), 0)
                .records,
        );
        records.extend(normalizer.finish(output.exit).records);
        summarize(&records).map_or_else(Self::default, |summary| Self::of(&summary))
    }
}

/// Tells whether a limit of the account was reached, rather than one of the moment: it names the
/// time when it is lifted, or money is missing, or the API itself did not answer with a status.
pub(super) fn is_quota(error: &SummaryError) -> bool {
    match error.family {
        Some(ErrorFamily::Billing) => true,
        Some(ErrorFamily::RateLimit) => error.retry_at.is_some() || error.status_code.is_none(),
        _ => false,
    }
}

/// Tells whether the same run may succeed in a moment.
pub(super) fn is_transient(family: Option<ErrorFamily>) -> bool {
    matches!(
        family,
        Some(ErrorFamily::RateLimit | ErrorFamily::Overload | ErrorFamily::Network)
    )
}
