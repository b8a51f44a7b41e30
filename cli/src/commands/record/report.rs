//! How a recorded run went: a line for people, an object for programs, an exit code.

use nix::sys::signal::Signal;
use runtape_core::report::{Cost, ExitInfo, Failure, RecordReport};
use runtape_core::{RunSummary, SummaryUsage, TokenCounts};
use runtape_normalizer::{Context, Exit};
use runtape_recorder::KeepingEnd;

use super::screen::Unshown;
use crate::commands::Invocation;
use crate::commands::estimates::ListEstimates;
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
    cost: &Cost,
) {
    invocation.note(&line(context, summary, cost));
}

/// Returns what the run cost; if it is stored, with an estimate of what the runtime did not report.
pub(super) fn cost(
    invocation: &mut Invocation<'_>,
    context: &Context,
    summary: Option<&RunSummary>,
    kept: &KeepingEnd,
) -> Cost {
    let reported = summary.and_then(|summary| summary.cost_usd);
    let is_stored = kept.fault.is_none();
    if !is_stored || summary.is_none_or(|summary| summary.usage.is_none()) {
        return Cost::of_reported(reported);
    }
    let Some(estimates) = ListEstimates::find(invocation) else {
        return Cost::of_reported(reported);
    };
    // The run is over and kept: what it may have cost is no reason to complain.
    let store = invocation.database.read();
    let roots = std::slice::from_ref(&context.run_id);
    let cost = store.and_then(|store| estimates.of_trees(&store, roots, reported));
    cost.unwrap_or_else(|_| Cost::of_reported(reported))
}

/// Returns the tokens of a run that no earlier run of its session counted.
fn counted(summary: &RunSummary, cost: &Cost) -> Option<TokenCounts> {
    let usage = summary.usage.as_ref()?;
    let printed = TokenCounts {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        ..TokenCounts::default()
    };
    Some(printed.beyond(cost.counted_before()))
}

/// Writes the tokens of a prompt and an answer in a few words.
fn tokens_text(usage: &TokenCounts) -> Vec<String> {
    let counts = [
        (usage.input_tokens, "in"),
        (usage.cached_input_tokens, "cached"),
        (usage.output_tokens, "out"),
    ];
    let counts = counts.into_iter();
    counts
        .filter_map(|(count, name)| Some(format!("{} {name}", thousands(count?))))
        .collect()
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
    cost: Cost,
    kept: &KeepingEnd,
    exit: &Exit,
) -> RecordReport {
    let usage = counted(summary, &cost).and_then(SummaryUsage::known);
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
        usage,
        cost,
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
fn line(context: &Context, summary: Option<&RunSummary>, cost: &Cost) -> String {
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
    if let Some(usage) = counted(summary, cost) {
        parts.extend(tokens_text(&usage));
    }
    let before = tokens_text(&cost.counted_before());
    if !before.is_empty() {
        let before = before.join(", ");
        parts.push(format!("counted before, by an earlier run: {before}"));
    }
    match cost.total() {
        Some(_) if cost.is_counted_before() => {}
        Some(_) if cost.is_estimated() => parts.push(format!("${} estimated", cost.text())),
        Some(_) => parts.push(format!("${}", cost.text())),
        None => {}
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
