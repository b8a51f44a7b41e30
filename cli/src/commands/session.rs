//! `runtape session`: the session to resume.

use runtape_core::ErrorFamily;
use runtape_core::report::{RunInfo, SessionAnswer};
use runtape_normalizer::runtimes;

use crate::arguments::filter::FilterArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::table::short;

/// Print the session to resume, or why there is none
///
/// The session of the latest run that the filters let through: usually --job, --runtime and
/// --cwd. A run that failed because its session is not known any more clears it.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

/// Finds the session among runs, the latest first.
pub(super) fn find(runs: &[RunInfo]) -> Result<(&RunInfo, &str), String> {
    let Some(latest) = runs
        .iter()
        .find(|run| run.session_id.is_some() || is_unknown_session(run))
    else {
        return Err(if runs.is_empty() {
            "no run fits".to_owned()
        } else {
            "no run that fits printed a session".to_owned()
        });
    };
    if is_unknown_session(latest) {
        return Err(format!(
            "run {} failed: its session is not known any more",
            latest.run_id
        ));
    }
    match latest.session_id.as_deref() {
        Some(id) if runtimes::is_session_id(&latest.runtime, id) => Ok((latest, id)),
        _ => Err(format!(
            "the session of run {} has an id that is not safe to pass on",
            latest.run_id
        )),
    }
}

fn is_unknown_session(run: &RunInfo) -> bool {
    let family = run.error.as_ref().and_then(|error| error.family);
    family == Some(ErrorFamily::UnknownSession)
}

pub(crate) fn run(args: &SessionArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    let store = invocation.database.read()?;
    let mut filter = args.filter.to_filter(&store)?;
    filter.roots_only = true;
    let runs = store
        .runs(&filter, None, args.filter.limit(&invocation.console))?
        .items;
    let console = &mut invocation.console;
    match find(&runs) {
        Ok((run, id)) if console.json => console.object(&SessionAnswer {
            session_id: Some(id.to_owned()),
            run_id: Some(run.run_id.clone()),
            job_id: Some(run.job_id.clone()),
            runtime: Some(run.runtime.clone()),
            cwd: run.cwd.clone(),
            status: Some(run.status),
            outcome: Some(run.outcome),
            started_at: Some(run.started_at),
            reason: None,
        }),
        Ok((run, id)) => {
            console.line(id)?;
            invocation.note(&format!("of run {}, {}", short(&run.run_id), run.runtime));
            Ok(())
        }
        Err(reason) => {
            if console.json {
                console.object(&SessionAnswer {
                    session_id: None,
                    run_id: None,
                    job_id: None,
                    runtime: None,
                    cwd: None,
                    status: None,
                    outcome: None,
                    started_at: None,
                    reason: Some(reason.clone()),
                })?;
            }
            Err(CliError::NoSession { reason })
        }
    }
}
