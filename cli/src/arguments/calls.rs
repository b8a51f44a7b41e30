//! Which calls of tools a command is about.

use runtape_core::ToolClass;
use runtape_core::report::ToolCallInfo;
use runtape_store::{CallFilter, Store};

use crate::arguments::filter::FilterArgs;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::Cell;

/// Which calls a command is about, and how many of them it shows.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CallArgs {
    /// Only calls that failed
    #[arg(long)]
    failed: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

impl CallArgs {
    /// Returns the store's filter.
    pub(crate) fn to_filter(&self, store: &Store) -> Result<CallFilter, CliError> {
        let mut filter = CallFilter::from(self.filter.to_filter(store)?);
        filter.failed_only = self.failed;
        Ok(filter)
    }

    /// Returns how many to show at most.
    pub(crate) fn limit(&self) -> usize {
        self.filter.limit()
    }
}

/// Reads a class.
pub(crate) fn parse_class(name: &str) -> Result<ToolClass, String> {
    ToolClass::from_name(name).ok_or_else(|| {
        let names = ToolClass::ALL.map(ToolClass::as_str);
        format!("expected {}", names.join(", "))
    })
}

/// Writes how a call went in one word.
pub(crate) fn result_cell(call: &ToolCallInfo) -> Cell {
    match (call.is_error, call.result_seq) {
        (Some(true), _) => Cell::word("failed").toned(Tone::Bad),
        (_, None) => Cell::word("none").toned(Tone::Warning),
        (Some(false), _) => Cell::word("done").toned(Tone::Good),
        (None, _) => Cell::word("ended"),
    }
}

/// Writes how often calls failed.
pub(crate) fn errors_cell(errors: u64) -> Cell {
    let tone = if errors > 0 { Tone::Bad } else { Tone::Plain };
    Cell::number(errors).toned(tone)
}
