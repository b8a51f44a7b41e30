//! Which calls of tools a command is about.

use runtape_core::ToolClass;
use runtape_core::report::ToolCallInfo;
use runtape_recorder::following::open_calls;
use runtape_store::{CallFilter, Store};

use crate::arguments::filter::FilterArgs;
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::table::Cell;
use crate::terminal::times;

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
    pub(crate) fn limit(&self, console: &Console<'_>) -> usize {
        self.filter.limit(console)
    }

    /// Returns so many of the calls, or a few more, that a filter lets through, also those of steps that go on, the latest first.
    pub(crate) fn calls(
        store: &Store,
        filter: &CallFilter,
        limit: usize,
    ) -> Result<Vec<ToolCallInfo>, CliError> {
        let open = open_calls(store, filter)?;
        Ok(open.with_stored(store.tool_calls(filter, limit)?))
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
        (_, None) if call.is_running => Cell::word("running").toned(Tone::Name),
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

/// Writes how long a call took, or for how long it goes on.
pub(crate) fn took_cell(call: &ToolCallInfo, now: i64) -> Cell {
    let took = if call.is_running {
        Some(times::elapsed(call.at, now))
    } else {
        call.duration_ms.map(times::duration)
    };
    Cell::number(took.unwrap_or_default())
}

/// Returns what a call is about, as far as it says.
pub(crate) fn about(call: &ToolCallInfo) -> Option<&str> {
    let named = call.command.as_deref().or(call.path.as_deref());
    named.or(call.url.as_deref())
}
