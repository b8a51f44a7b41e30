//! `runtape sync`: what agent CLIs left on this machine, into the store.

mod changes;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;

use runtape_core::report::SyncLine;
use runtape_core::{RunId, Runtime};
use runtape_recorder::history::{
    HistoryDirectory, SyncEvent, SyncOptions, named_directories, runtimes_with_history, sync,
    usual_directories,
};
use runtape_store::Store;

use self::changes::Changes;
use crate::arguments::redaction::{NewKey, RedactionArgs};
use crate::commands::estimates::ListEstimates;
use crate::commands::{Invocation, search_index};
use crate::error::CliError;
use crate::terminal::progress::bytes_bar;
use crate::terminal::times;

/// Take in what agent CLIs left on this machine
///
/// Finds the session files of agent CLIs in their usual places, takes in what is new, and joins it with runs that
/// were recorded: one execution is one run, whatever it was seen through. Nothing is changed there, and what is
/// taken in goes to the database alone: to its server where it is on one (--db postgres://…). What was read before and has not changed is not read again.
#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// Read only this runtime's history; may be given several times
    #[arg(long, value_name = "RUNTIME")]
    runtime: Vec<Runtime>,
    /// Look in this directory instead: a home directory or, with one --runtime, the one that holds its sessions; may
    /// be given several times
    #[arg(long, value_name = "DIR")]
    from: Vec<PathBuf>,
    /// Leave out what was last written before this time: 2026-01-31, 2h, 7d
    #[arg(long, value_name = "TIME", value_parser = times::parse_time)]
    since: Option<i64>,
    /// Go on, and take in what sessions write as they write it
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// Only say what there is, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    redaction: RedactionArgs,
}

pub(crate) fn run(args: &SyncArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let new_key = if args.dry_run {
        NewKey::Never
    } else {
        NewKey::Make
    };
    let options = SyncOptions {
        directories: directories(args)?,
        rules: args.redaction.rules(invocation, new_key)?,
        since: args.since,
        is_dry_run: args.dry_run,
        memory: Some(memory(invocation)),
        scratch: invocation.database.own_directory(),
        ..SyncOptions::default()
    };
    if invocation.database.is_new() {
        invocation.tell_of_new_database();
    }
    let mut store = invocation.database.open()?;
    // Watched from before the first look on, so that nothing changes unseen between the two.
    let changes = args.watch.then(|| Changes::new(&options.directories));
    sync_once(&mut store, &options, invocation)?;
    let Some(mut changes) = changes else {
        return Ok(());
    };
    loop {
        changes.wait();
        watch_once(&mut store, &options, invocation)?;
    }
}

/// Returns the file that remembers what was read into this database.
pub(crate) fn memory(invocation: &Invocation<'_>) -> PathBuf {
    invocation.database.beside("history")
}

/// Returns the user's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}

/// Finds out where to look.
fn directories(args: &SyncArgs) -> Result<Vec<HistoryDirectory>, CliError> {
    let all: Vec<Runtime> = runtimes_with_history().collect();
    let unknown = args.runtime.iter().find(|runtime| !all.contains(runtime));
    if let Some(runtime) = unknown {
        let names: Vec<&str> = all.iter().map(Runtime::as_str).collect();
        let message = format!(
            "--runtime: the history of {runtime} cannot be read, expected one of: {}",
            names.join(", ")
        );
        return Err(CliError::Usage { message });
    }
    let runtimes = if args.runtime.is_empty() {
        all
    } else {
        args.runtime.clone()
    };
    if args.from.is_empty() {
        let home = home().ok_or_else(|| CliError::Usage {
            message: "HOME is not set: name a home directory with --from".to_owned(),
        })?;
        return Ok(usual_directories(&home, &runtimes, |name| {
            std::env::var_os(name)
        }));
    }
    let mut found = Vec::new();
    for from in &args.from {
        if !from.is_dir() {
            let what = format!("directory {}", from.display());
            return Err(CliError::NotFound { what });
        }
        let directories = named_directories(from, &runtimes);
        if directories.is_empty() {
            let message = format!(
                "{}: holds no history that is known; if it is the directory of one runtime, name that with --runtime",
                from.display()
            );
            return Err(CliError::Usage { message });
        }
        found.extend(directories);
    }
    Ok(found)
}

/// Syncs once, with progress and a table at the end.
pub(crate) fn sync_once(
    store: &mut Store,
    options: &SyncOptions,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let mut bar = bytes_bar(0);
    let mut failed = None;
    let mut changed: BTreeMap<String, Vec<RunId>> = BTreeMap::new();
    let mut each = |event: SyncEvent| match event {
        SyncEvent::Begun { bytes, .. } => bar = bytes_bar(bytes),
        SyncEvent::Read { source, bytes } => {
            bar.inc(bytes);
            let of_runtime = changed.entry(source.runtime.as_str().to_owned());
            let runs = [&source.new, &source.grown, &source.joined];
            of_runtime
                .or_default()
                .extend(runs.into_iter().flatten().cloned());
            let said = bar.suspend(|| report::say(invocation, *source));
            failed = failed.take().or(said.err());
        }
    };
    let mut summary = sync(store, options, times::now, &mut each)?;
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(error);
    }
    if !options.is_dry_run {
        search_index::complete(store, invocation);
    }
    let estimates = ListEstimates::find(invocation).filter(|_| !options.is_dry_run);
    if let Some(estimates) = &estimates {
        for group in &mut summary.groups {
            if let Some(runs) = changed.get(group.runtime.as_str()) {
                group.cost = estimates.of_trees(store, runs, group.cost.reported())?;
            }
        }
    }
    if invocation.console.json {
        return invocation.console.object(&SyncLine::Summary(summary));
    }
    report::finish(invocation, &summary)?;
    if let Some(estimates) = &estimates {
        estimates.tell(&summary.groups, invocation);
    }
    Ok(())
}

/// Syncs again, and says only what is new.
fn watch_once(
    store: &mut Store,
    options: &SyncOptions,
    invocation: &mut Invocation<'_>,
) -> Result<(), CliError> {
    let mut failed = None;
    let mut each = |event: SyncEvent| {
        if let SyncEvent::Read { source, .. } = event {
            let said = report::say_news(invocation, *source);
            failed = failed.take().or(said.err());
        }
    };
    sync(store, options, times::now, &mut each)?;
    search_index::complete(store, invocation);
    failed.map_or(Ok(()), Err)
}
