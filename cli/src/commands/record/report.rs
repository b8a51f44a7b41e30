//! How a recorded run went: a line for people, an object for programs, an exit code.

use nix::sys::signal::Signal;
use runtape_core::RunSummary;
use runtape_core::report::{CostEstimate, ExitInfo, Failure, RecordReport};
use runtape_normalizer::{Context, Exit};
use runtape_recorder::KeepingEnd;

use super::screen::Unshown;
use crate::commands::Invocation;
use crate::commands::estimates::{ListEstimates, cost_text};
use crate::exit_codes;
use crate::terminal::table::{bytes, plural, thousands};

/// Returns the exit code that tells how the command ended.
pub(super) fn exit_code(exit: &Exit) -> u8 {
    let from_signal = exit.signal.as_deref().map(|name| {
        let number = name.parse::<Signal>().map(|signal| signal as i32);
        number.or_else(|_| name.parse::<i32>()).unwrap_or(0) + 128
    });
    let code = from_signal
        .or(exit.code)
        .unwrap_or(i32::from(exit_codes::FAILED));
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Tells a person how the run went.
pub(super) fn say(
    invocation: &mut Invocation<'_>,
    context: &Context,
    summary: Option<&RunSummary>,
    estimate: &CostEstimate,
) {
    invocation.note(&line(context, summary, estimate));
}

/// Estimates what the run cost, if the runtime did not say and it is stored.
pub(super) fn estimate(
    invocation: &mut Invocation<'_>,
    context: &Context,
    summary: Option<&RunSummary>,
    kept: &KeepingEnd,
) -> CostEstimate {
    let is_wanted = |summary: &RunSummary| summary.cost_usd.is_none() && summary.usage.is_some();
    if kept.fault.is_some() || !summary.is_some_and(is_wanted) {
        return CostEstimate::default();
    }
    let Some(estimates) = ListEstimates::find(invocation) else {
        return CostEstimate::default();
    };
    // The run is over and kept: what it may have cost is no reason to complain.
    let store = invocation.database.read();
    let estimate =
        store.and_then(|store| estimates.of_trees(&store, std::slice::from_ref(&context.run_id)));
    estimate.unwrap_or_default()
}

/// Tells a person what could not be shown.
pub(super) fn say_unshown(
    invocation: &mut Invocation<'_>,
    context: &Context,
    unshown: &Unshown,
    kept: &KeepingEnd,
) {
    invocation.warn(&format!(
        "{} of output could not be shown: {}",
        bytes(unshown.bytes),
        unshown.reason
    ));
    if kept.fault.is_none() {
        let run = &context.run_id;
        invocation.note(&format!(
            "hint: it is stored; `runtape transcript {run}` shows it"
        ));
    }
}

/// Returns the run in one object.
pub(super) fn report(
    context: &Context,
    summary: &RunSummary,
    estimate: CostEstimate,
    kept: &KeepingEnd,
    exit: &Exit,
) -> RecordReport {
    RecordReport {
        run_id: context.run_id.clone(),
        job_id: context.job_id.clone(),
        runtime: summary.runtime.clone(),
        session_id: summary.session_id.clone(),
        model: summary.model.clone(),
        status: summary.status,
        outcome: summary.outcome,
        error: summary.error.clone().map(Failure::from),
        steps: summary.steps,
        usage: summary.usage,
        cost_usd: summary.cost_usd,
        estimate,
        duration_ms: summary.duration_ms,
        final_text: summary.final_text.clone(),
        exit: ExitInfo {
            code: exit.code,
            signal: exit.signal.clone(),
            timed_out: exit.timed_out,
            recorder_lost: exit.recorder_lost,
        },
        is_stored: kept.fault.is_none(),
        spool: kept.spool.as_ref().map(|path| path.display().to_string()),
        lost_bytes: kept.missing.map_or(0, |missing| missing.bytes),
    }
}

/// Returns the run in one line.
fn line(context: &Context, summary: Option<&RunSummary>, estimate: &CostEstimate) -> String {
    let Some(summary) = summary else {
        return format!("run {} has no end", context.run_id);
    };
    let error = summary.error.as_ref();
    let label = summary
        .outcome
        .label(error.map(|error| error.name.as_str()));
    let message = error.map(|error| format!(": {}", error.message));
    let how = format!("{label}{}", message.unwrap_or_default());
    let mut parts = vec![crate::terminal::plain::one_line(&how)];
    // Nothing was said: what ended then is not called a step.
    if summary.steps > 0 {
        parts.push(plural(summary.steps, "step"));
    }
    if let Some(usage) = &summary.usage {
        let counts = [
            (usage.input_tokens, "in"),
            (usage.cached_input_tokens, "cached"),
            (usage.output_tokens, "out"),
        ];
        let counts = counts
            .into_iter()
            .filter_map(|(count, name)| Some(format!("{} {name}", thousands(count?))));
        parts.extend(counts);
    }
    if let Some(cost) = summary.cost_usd {
        parts.push(format!("${cost:.4}"));
    }
    if estimate.estimated_cost_usd.is_some() {
        parts.push(format!("${} estimated", cost_text(None, estimate)));
    }
    format!("run {}: {}", context.run_id, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_a_shells() {
        assert_eq!(exit_code(&Exit::with_code(3)), 3);
        assert_eq!(exit_code(&Exit::with_signal("SIGKILL")), 137);
        assert_eq!(exit_code(&Exit::with_signal("34")), 162);
        assert_eq!(exit_code(&Exit::unknown()), 1);
    }
}
