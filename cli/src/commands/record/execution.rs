//! The run as the result of an adapter's execution, for Paperclip's host.

use std::path::Path;

use runtape_core::RunSummary;
use runtape_normalizer::Exit;
use runtape_normalizer::paperclip::ExecutionResult;

use crate::error::CliError;

/// Writes one JSON object to a file.
pub(super) fn write(path: &Path, summary: &RunSummary, exit: &Exit) -> Result<(), CliError> {
    let mut text = serde_json::to_vec(&ExecutionResult::new(summary, exit))?;
    text.push(b'\n');
    runtape::write_private(path, &text).map_err(|error| CliError::WriteFile {
        path: path.into(),
        error,
    })
}
