//! `runtape notices`: what runtimes reported besides.

use runtape_core::RuntimeEventKind;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::console::Tone;
use crate::terminal::table::{Cell, Table};

/// Show what runtimes reported besides: denied permissions, retries, rate limits, warnings
///
/// Lines on standard error or output that are nothing else are shown only if they are asked for:
/// `--kind stderr`, `--kind stdout`.
#[derive(Debug, clap::Args)]
pub(crate) struct NoticesArgs {
    /// Only notices of this kind: permissionDenied, retry, rateLimit, warning, … (can be repeated)
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Vec<&'static str>,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Kinds that are mere lines, shown only if they are asked for.
const LINES: &[&str] = &["stderr", "stdout"];

fn parse_kind(name: &str) -> Result<&'static str, String> {
    let kinds = RuntimeEventKind::NOTICE_KINDS;
    let found = kinds.iter().find(|kind| kind.eq_ignore_ascii_case(name));
    let found = found.copied();
    found.ok_or_else(|| format!("expected one of {}", kinds.join(", ")))
}

pub(crate) fn run(args: &NoticesArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let filter = args.filter.to_filter(&store)?;
    let mut kinds = args.kind.clone();
    if kinds.is_empty() {
        let all = RuntimeEventKind::NOTICE_KINDS.iter().copied();
        kinds = all.filter(|kind| !LINES.contains(kind)).collect();
    }
    let limit = args.filter.limit(&invocation.console);
    let mut notices = store.notices(&filter, &kinds, limit.saturating_add(1))?;
    let has_more = invocation.cut(&mut notices, limit);
    invocation.found("notices", &notices)?;
    let console = &mut invocation.console;
    if console.json {
        return notices.iter().try_for_each(|notice| console.object(notice));
    }
    let mut table = Table::new(&["at", "run", "step", "runtime", "kind", "notice"]);
    for notice in &notices {
        let tone = match notice.kind.as_str() {
            "permissionDenied" | "exitMismatch" | "historyMismatch" => Tone::Bad,
            "retry" | "rateLimit" | "warning" | "modelFallback" => Tone::Warning,
            _ => Tone::Plain,
        };
        table.row(vec![
            Cell::time(notice.at),
            Cell::run(&notice.run_id),
            Cell::number(notice.step),
            Cell::text(notice.runtime.as_str()),
            Cell::text(&notice.kind).toned(tone),
            Cell::text(&notice.text),
        ]);
    }
    table.print(console)?;
    if has_more {
        invocation.more();
    }
    Ok(())
}
