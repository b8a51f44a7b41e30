//! `runtape show`: one run.

use clap::ValueEnum;
use runtape_core::report::{
    Cost, OpenStep, RunDetail, RunInfo, RunOrigin, RunRedaction, command_line,
};
use runtape_core::{Outcome, RunId, TokenCounts, ToolClass};
use runtape_recorder::following::{has_lost_its_recorder, is_recorded};
use runtape_recorder::run_detail;
use runtape_store::Store;

use crate::arguments::calls::{about, result_cell, took_cell};
use crate::arguments::filter::FilterWords;
use crate::arguments::place::Place;
use crate::commands::estimates::ListEstimates;
use crate::commands::{Invocation, show_job, show_place, show_summary};
use crate::database::resolve_run;
use crate::error::CliError;
use crate::terminal::console::{Console, Tone};
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::table::{Cell, Table, bytes, plural, thousands};
use crate::terminal::times;

/// Show what is known of a run: what was asked, how it ended, what it used, its steps and its answer
///
/// Without a name, the run that began last. Of a job: its runs, what they come to, and the session to resume.
///
/// With `--as summary`, runs as `normalize --as summary` has them: each with its children in one JSON
/// object a line, those that began first first. Name runs, or filters such as --session, or --all.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The run or job: its id, the beginning of it, or `last`; RUN:STEP or RUN#RECORD for a part of a run; several runs
    /// with --as summary
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// What to print
    #[arg(long = "as", value_name = "SHAPE", value_enum)]
    shape: Option<Shape>,
    /// All runs; with --as summary
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: FilterWords,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// Each run in one object
    Summary,
}

/// Columns of what was asked that are shown to people; `transcript` has all of it.
const ASKED: usize = 400;

/// Steps shown to people; `events` has all of them.
const STEPS: usize = 200;

/// What becomes of a run that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Liveness {
    /// Some process records it right now.
    Recorded,
    /// Its recorder died.
    Lost,
}

impl Liveness {
    /// Returns nothing for a run that has ended, or that session files tell of.
    fn of(store: &Store, run: &RunId) -> Result<Option<Self>, CliError> {
        if is_recorded(store, run)? {
            return Ok(Some(Self::Recorded));
        }
        Ok(has_lost_its_recorder(store, run)?.then_some(Self::Lost))
    }

    /// Says whether a run that began at a time goes on.
    fn text(self, started_at: i64) -> String {
        match self {
            Self::Recorded => format!("for {}", times::elapsed(started_at, times::now())),
            Self::Lost => "no: its recorder died, `runtape recover` closes it".to_owned(),
        }
    }
}

pub(crate) fn run(args: &ShowArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let is_selected = args.all || !args.filter.is_empty();
    let refused = |message: &str| {
        let message = message.to_owned();
        Err(CliError::Usage { message })
    };
    let run = match (args.shape, args.runs.as_slice(), is_selected) {
        (Some(Shape::Summary), [], false) => {
            return refused("name runs, or filters such as --session, or --all");
        }
        (Some(Shape::Summary), [], true) => {
            return show_summary::selected(&args.filter, invocation);
        }
        (Some(Shape::Summary), runs, false) => return show_summary::named(runs, invocation),
        (Some(Shape::Summary), _, true) => {
            return refused("name either runs, or filters and --all");
        }
        (None, [run], false) if Place::is_part(run) => return show_place::run(run, invocation),
        (None, [run], false) => run.as_str(),
        (None, [], false) => "last",
        (None, _, _) => {
            return refused("without --as summary, name one run and nothing else");
        }
    };
    let store = invocation.database.read()?;
    let run_id = match resolve_run(&store, run) {
        Err(CliError::UnknownRun { text }) => match show_job::find(&store, run)? {
            Some(job) => return show_job::show(&store, &job, invocation),
            None => return Err(CliError::UnknownRun { text }),
        },
        resolved => resolved?,
    };
    let mut shown = run_detail(&store, &run_id, usize::MAX)?;
    let estimates = ListEstimates::find(invocation);
    if let Some(estimates) = &estimates {
        estimates.of_runs(&store, std::slice::from_mut(&mut shown.run))?;
        estimates.of_runs(&store, &mut shown.children)?;
    }
    let console = &mut invocation.console;
    if console.json {
        return console.object(&shown);
    }
    let liveness = Liveness::of(&store, &shown.run.run_id)?;
    let about = estimates.as_ref().map(ListEstimates::about);
    facts(console, &shown, liveness, about.as_deref())?;
    if shown.run.steps > 1 || shown.steps_ended.iter().any(|step| step.tool_calls > 0) {
        console.line("")?;
        steps(console, &shown)?;
    }
    if let Some(step) = &shown.open_step {
        console.line("")?;
        return show_open(console, step, liveness == Some(Liveness::Recorded));
    }
    if let Some(text) = shown
        .final_text
        .as_deref()
        .filter(|text| !text.trim().is_empty())
    {
        console.line("")?;
        console.line(&plain::lines(text.trim_end()))?;
    }
    Ok(())
}

/// Says how long a run took, and what the runtime says where that is something else.
fn took(run: &RunInfo) -> Option<String> {
    let took = times::duration(run.duration_ms?);
    let reported = run.reported_duration_ms.map(times::duration);
    Some(match reported.filter(|reported| *reported != took) {
        Some(reported) => format!("{took} ({reported} as reported)"),
        None => took,
    })
}

/// Writes what a run used, and what an earlier run of its session counted.
fn tokens_text(run: &RunInfo) -> Option<String> {
    let text = usage_text(&run.usage, &run.cost)?;
    let before = usage_text(&run.cost.counted_before(), &Cost::default());
    Some(match before {
        Some(before) => format!("{text} (counted before, by an earlier run: {before})"),
        None => text,
    })
}

/// Writes a cost, and its parts if there are several.
fn price_text(cost: &Cost, about: Option<&str>) -> Option<String> {
    let text = cost.text();
    if text.is_empty() || cost.is_counted_before() {
        return Some(text).filter(|text| !text.is_empty());
    }
    let reported = cost.reported().filter(|_| cost.is_estimated());
    let reported = reported.map(|dollars| format!("${dollars:.4} reported"));
    let about = about.filter(|_| cost.is_estimated()).map(str::to_owned);
    let parts: Vec<String> = reported.into_iter().chain(about).collect();
    Some(if parts.is_empty() {
        format!("${text}")
    } else {
        format!("${text} ({})", parts.join(", "))
    })
}

/// Writes counters for people; what is not known is left out.
fn usage_text(usage: &TokenCounts, cost: &Cost) -> Option<String> {
    let parts = [
        (cost.input_without_writes(usage), "input"),
        (cost.cache_write_tokens(), "cache writes"),
        (usage.cached_input_tokens, "cached"),
        (usage.output_tokens, "output"),
        (usage.reasoning_tokens.filter(|n| *n > 0), "of it reasoning"),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(count, name)| Some(format!("{} {name}", thousands(count?))));
    let text = parts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

#[expect(clippy::too_many_lines, reason = "one row a fact")]
fn facts(
    console: &mut Console<'_>,
    shown: &RunDetail,
    liveness: Option<Liveness>,
    about_estimates: Option<&str>,
) -> Result<(), CliError> {
    let run = &shown.run;
    let text = |text: Option<&str>| text.map(str::to_owned);
    let label = run.outcome_label();
    let outcome = if liveness == Some(Liveness::Lost) {
        format!("{label}: the recorder died, `runtape recover` closes the run")
    } else {
        label.into_owned()
    };
    let commit = run.git_commit.as_deref();
    let git = match (commit, run.git_branch.as_deref()) {
        (Some(commit), Some(branch)) => Some(format!("{commit} on {branch}")),
        (commit, branch) => commit.or(branch).map(str::to_owned),
    };
    let who = match (run.user.as_deref(), run.host.as_deref()) {
        (Some(user), Some(host)) => Some(format!("{user} on {host}")),
        (user, host) => user.or(host).map(str::to_owned),
    };
    let labels = run.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let stdin = (shown.stdin_bytes > 0).then(|| bytes(shown.stdin_bytes));
    let error = run.error.as_ref().map(|error| {
        // Of a failure the outcome has the name.
        match run.outcome {
            Outcome::Failed => error.message.clone(),
            _ => format!("{}: {}", error.name, error.message),
        }
    });
    let retry = run
        .error
        .as_ref()
        .and_then(|error| error.retry_at)
        .map(times::local);
    let exit = shown
        .exit
        .as_ref()
        .map(|exit| match (&exit.signal, exit.code) {
            (Some(signal), _) => signal.clone(),
            (None, Some(code)) => format!("code {code}"),
            (None, None) if exit.recorder_lost => "not seen: the recorder died".to_owned(),
            (None, None) => "not known".to_owned(),
        });
    let children = shown.children.iter().map(|child| child.run_id.to_string());
    let children = children.collect::<Vec<_>>().join(", ");
    let output = format!(
        "{} stdout, {} stderr",
        bytes(shown.stdout_bytes),
        bytes(shown.stderr_bytes)
    );
    let is_doubtful = shown.origin.as_ref().is_some_and(|from| !from.is_verified);
    let origin_tone = if is_doubtful {
        Tone::Warning
    } else {
        Tone::Plain
    };
    let running = liveness.map(|liveness| liveness.text(run.started_at));
    let rows = [
        ("run", Some(run.run_id.to_string()), Tone::Name),
        ("job", Some(run.job_id.to_string()), Tone::Plain),
        (
            "parent",
            run.parent_run_id.as_ref().map(ToString::to_string),
            Tone::Plain,
        ),
        (
            "children",
            (!children.is_empty()).then_some(children),
            Tone::Plain,
        ),
        ("runtime", Some(run.runtime.to_string()), Tone::Plain),
        ("version", text(run.cli_version.as_deref()), Tone::Plain),
        ("model", text(run.model.as_deref()), Tone::Plain),
        ("expert", text(run.expert_key.as_deref()), Tone::Plain),
        ("session", text(run.session_id.as_deref()), Tone::Plain),
        ("directory", text(run.cwd.as_deref()), Tone::Plain),
        ("git", git, Tone::Plain),
        ("who", who, Tone::Plain),
        (
            "command",
            run.argv.as_deref().map(command_line),
            Tone::Plain,
        ),
        (
            "permission",
            text(run.permission_mode.as_deref()),
            Tone::Plain,
        ),
        (
            "labels",
            (!labels.is_empty()).then(|| labels.join(" ")),
            Tone::Plain,
        ),
        (
            "asked",
            shown.query.as_deref().map(|query| cut(query.trim(), ASKED)),
            Tone::Plain,
        ),
        ("outcome", Some(outcome), Tone::of_outcome(run.outcome)),
        ("error", error, Tone::of_outcome(run.outcome)),
        ("retry at", retry, Tone::Plain),
        ("exit", exit, Tone::Plain),
        ("started", Some(times::local(run.started_at)), Tone::Plain),
        ("took", took(run), Tone::Plain),
        ("running", running, Tone::Name),
        ("steps", Some(run.steps.to_string()), Tone::Plain),
        ("records", Some(run.records.to_string()), Tone::Plain),
        (
            "unparsed",
            (run.unparsed > 0).then(|| run.unparsed.to_string()),
            Tone::Warning,
        ),
        ("tokens", tokens_text(run), Tone::Plain),
        ("cost", price_text(&run.cost, about_estimates), Tone::Plain),
        ("input", stdin, Tone::Plain),
        ("output", Some(output), Tone::Plain),
        (
            "seal",
            run.seal_name().map(|seal| seal.to_string()),
            Tone::Plain,
        ),
        ("imported", shown.origin.as_ref().map(imported), origin_tone),
        (
            "redacted",
            shown.redaction.as_ref().and_then(redacted),
            Tone::Plain,
        ),
    ];
    for (name, value, tone) in rows {
        if let Some(value) = value {
            let name = console.paint(Tone::Faint, &format!("{name:>10}"));
            let value = console.paint(tone, &plain::one_line(&value));
            console.line(&format!("{name}  {value}"))?;
        }
    }
    Ok(())
}

/// Says what was taken out of a run, if anything was, or that nothing was looked for.
fn redacted(redaction: &RunRedaction) -> Option<String> {
    if !redaction.applied.is_on() {
        return Some("off: secrets are kept as they were printed".to_owned());
    }
    let counts = &redaction.counts;
    let found = counts.by_rule.iter();
    let mut found: Vec<String> = found.map(|(rule, n)| format!("{n} {rule}")).collect();
    if counts.unfinished > 0 {
        found.push(format!("{} unfinished", counts.unfinished));
    }
    (!found.is_empty()).then(|| format!("{} ({})", found.join(", "), redaction.applied.tier))
}

/// Says where a run was before.
fn imported(origin: &RunOrigin) -> String {
    let seal = match &origin.seal {
        Some(seal) => format!("seal {} {}", seal.name, seal.hash),
        None => "no seal".to_owned(),
    };
    let doubt = if origin.is_verified {
        ""
    } else {
        ", not verified"
    };
    format!("{}, {seal}{doubt}", times::local(origin.imported_at))
}

fn steps(console: &mut Console<'_>, shown: &RunDetail) -> Result<(), CliError> {
    let mut table = Table::new(&[
        "step",
        "outcome",
        "calls",
        "pending",
        "messages",
        "input",
        "output",
        "checkpoint",
    ]);
    for step in shown.steps_ended.iter().take(STEPS) {
        table.row(vec![
            Cell::number(step.step),
            if step.status.is_terminal() {
                Cell::outcome(shown.run.outcome)
            } else {
                Cell::text("")
            },
            Cell::number(step.tool_calls),
            Cell::number(if step.pending_tool_calls > 0 {
                step.pending_tool_calls.to_string()
            } else {
                String::new()
            }),
            Cell::number(step.messages),
            Cell::count(step.usage.input_tokens),
            Cell::count(step.usage.output_tokens),
            Cell::checkpoint(&step.checkpoint_id),
        ]);
    }
    table.print(console)?;
    let unshown = shown.steps_ended.len().saturating_sub(STEPS);
    if unshown > 0 {
        let steps = plural(unshown, "step");
        console.line(&format!("… {steps} more: --json has all of them"))?;
    }
    Ok(())
}

/// Shows the step that a run is in.
fn show_open(console: &mut Console<'_>, step: &OpenStep, goes_on: bool) -> Result<(), CliError> {
    let now = times::now();
    let state = if goes_on {
        format!("running for {}", times::elapsed(step.started_at, now))
    } else {
        "not over".to_owned()
    };
    console.line(&format!("step {}, {state}", step.step))?;
    if let Some(text) = step.text.as_deref().filter(|text| !text.trim().is_empty()) {
        console.line(&plain::lines(text.trim_end()))?;
    }
    if step.calls.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["call", "class", "result", "took", "about"]);
    for call in &step.calls {
        table.row(vec![
            Cell::text(&call.tool).toned(Tone::Name),
            Cell::maybe(call.class.map(ToolClass::as_str)),
            result_cell(call),
            took_cell(call, now),
            Cell::maybe(about(call)),
        ]);
    }
    table.print(console)
}
