//! What a shell completes: words of the command line, and what is in the database.
//!
//! A script that `runtape completions` prints asks this binary, with the line so far as its arguments and a variable of the
//! environment set. The database is only read; where it cannot be, there is nothing to offer, and no complaint in the middle of
//! somebody's line.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use runtape_core::report::RunInfo;
use runtape_normalizer::runtimes::RUNTIMES;
use runtape_store::{RunFilter, Store};

use crate::Arguments;
use crate::arguments::outcome;
use crate::database::Database;
use crate::terminal::plain;

/// The variable that asks for completions.
pub(crate) const VARIABLE: &str = "RUNTAPE_COMPLETE";

/// How many runs are looked at, the latest first, and how many ids are offered.
const LATEST: usize = 200;

/// How much of what was asked is shown beside a run's id.
const HELP: usize = 60;

/// Answers a shell that asks what could come next, and ends the process then.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_completers(Arguments::command()))
        .var(VARIABLE)
        .complete();
}

/// Finds what an argument may be, given what was typed of it.
type Completer = fn(&Store, &str) -> Vec<CompletionCandidate>;

/// Which arguments are completed from the database, by the name of their value.
const COMPLETERS: [(&str, Completer); 12] = [
    ("RUN", runs_and_jobs),
    ("RUN|JOB", runs_and_jobs),
    ("RUN|DIR", runs),
    ("CHECKPOINT", runs),
    ("FROM", runs),
    ("TO", runs),
    ("EVENT", runs),
    ("JOB", jobs),
    ("SESSION", |store, typed| {
        of_runs(store, typed, |run| run.session_id.iter().cloned().collect())
    }),
    ("MODEL", |store, typed| {
        of_runs(store, typed, |run| run.model.iter().cloned().collect())
    }),
    ("LABEL", |store, typed| of_runs(store, typed, labels)),
    ("OUTCOME", outcomes),
];

/// Says of each argument how it is completed.
fn with_completers(command: Command) -> Command {
    command
        .mut_args(with_completer)
        .mut_subcommands(with_completers)
}

fn with_completer(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let Some(name) = names.first().map(ToString::to_string) else {
        return arg;
    };
    if name == "RUNTIME" {
        return arg.add(ArgValueCompleter::new(runtimes));
    }
    let known = COMPLETERS.iter().find(|(known, _)| *known == name);
    let Some((_, completer)) = known else {
        return arg;
    };
    let completer = *completer;
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
        from_database(typed, completer).unwrap_or_default()
    }))
}

/// Asks the database that the line names, else the usual one.
fn from_database(typed: &OsStr, completer: Completer) -> Option<Vec<CompletionCandidate>> {
    let typed = typed.to_str()?;
    let database = Database::find(named_database(std::env::args_os())).ok()?;
    let store = database.read().ok()?;
    Some(completer(&store, typed))
}

/// Finds the database that a line names.
fn named_database(arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut is_next = false;
    // What comes first are the program and the mark before the line.
    for argument in arguments.skip(2) {
        if is_next {
            return Some(argument.into());
        }
        is_next = argument == "--db";
        let text = argument.to_str();
        if let Some(path) = text.and_then(|text| text.strip_prefix("--db=")) {
            return Some(path.into());
        }
    }
    std::env::var_os("RUNTAPE_DB").map(PathBuf::from)
}

fn runtimes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let names = RUNTIMES.iter().map(|entry| entry.runtime.as_str());
    let fitting = names.filter(|name| name.starts_with(&*typed));
    fitting.map(CompletionCandidate::new).collect()
}

/// Returns the latest runs; none where they cannot be read.
fn latest(store: &Store) -> Vec<RunInfo> {
    let found = store.runs(&RunFilter::default(), None, LATEST);
    found.map(|page| page.items).unwrap_or_default()
}

/// Returns the ids of runs that begin as typed: the latest, each with what was asked, then others.
fn runs(store: &Store, typed: &str) -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for run in latest(store) {
        if run.run_id.as_str().starts_with(typed) && seen.insert(run.run_id.to_string()) {
            let candidate = CompletionCandidate::new(run.run_id.as_str());
            found.push(candidate.help(Some(about(&run).into())));
        }
    }
    // Nobody wants to see all ids of a large database; the beginning of an older one finds it.
    if !typed.is_empty() {
        let others = store.runs_by_prefix(typed, LATEST).unwrap_or_default();
        let others = others.iter().filter(|id| !seen.contains(id.as_str()));
        found.extend(others.map(|id| CompletionCandidate::new(id.as_str())));
    }
    if "last".starts_with(typed) {
        let help = "the run that began last".into();
        found.insert(0, CompletionCandidate::new("last").help(Some(help)));
    }
    found
}

/// Says of a run in a few words what it was.
fn about(run: &RunInfo) -> String {
    let outcome = run.outcome_label();
    let title = run.title.as_deref().unwrap_or_default();
    let words: String = plain::name(title).chars().take(HELP).collect();
    let text = format!("{} {outcome} {words}", run.runtime.as_str());
    text.trim_end().to_owned()
}

fn jobs(store: &Store, typed: &str) -> Vec<CompletionCandidate> {
    let mut found = of_runs(store, typed, |run| vec![run.job_id.to_string()]);
    if !typed.is_empty() {
        let others = store.jobs_by_prefix(typed, LATEST).unwrap_or_default();
        let seen: BTreeSet<OsString> = values(&found);
        let others = others
            .iter()
            .filter(|id| !seen.contains(OsStr::new(id.as_str())));
        found.extend(others.map(|id| CompletionCandidate::new(id.as_str())));
    }
    found
}

/// Returns runs, then jobs that are no run's namesake.
fn runs_and_jobs(store: &Store, typed: &str) -> Vec<CompletionCandidate> {
    let mut found = runs(store, typed);
    let seen = values(&found);
    let jobs = jobs(store, typed).into_iter();
    found.extend(jobs.filter(|job| !seen.contains(job.get_value())));
    found
}

fn values(candidates: &[CompletionCandidate]) -> BTreeSet<OsString> {
    let values = candidates.iter().map(CompletionCandidate::get_value);
    values.map(OsStr::to_owned).collect()
}

/// Returns the words that `--outcome` takes: those that are always there, and the names of errors that runs ended with.
fn outcomes(store: &Store, typed: &str) -> Vec<CompletionCandidate> {
    let known = outcome::known_words().into_iter();
    let known = known.filter(|word| word.starts_with(typed));
    let mut found: Vec<CompletionCandidate> = known.map(CompletionCandidate::new).collect();
    let seen = values(&found);
    let names = of_runs(store, typed, |run| {
        run.error.iter().map(|error| error.name.clone()).collect()
    });
    found.extend(
        names
            .into_iter()
            .filter(|name| !seen.contains(name.get_value())),
    );
    found
}

fn labels(run: &RunInfo) -> Vec<String> {
    let labels = run.labels.iter();
    labels
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// Tells whether a shell takes a word as it stands. Agents name models and sessions, and what a shell completes is not always quoted: a
/// name such as `$(reboot)` is not put on anybody's line.
fn is_harmless(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@=+,-".contains(&byte);
    !word.starts_with('-') && word.bytes().all(is_plain)
}

/// Returns what the latest runs have that begins as typed, each once, in their order.
fn of_runs(
    store: &Store,
    typed: &str,
    words: fn(&RunInfo) -> Vec<String>,
) -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for word in latest(store).iter().flat_map(words) {
        if word.starts_with(typed) && is_harmless(&word) && seen.insert(word.clone()) {
            found.push(CompletionCandidate::new(word));
        }
    }
    found
}
