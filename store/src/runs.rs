//! The `job` and `run` tables.

use std::sync::LazyLock;

use runtape_core::report::{Failure, RunInfo};
use runtape_core::{CheckpointStatus, ErrorFamily, JobId, RunId, Runtime};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::{Result, StoreError};
use crate::facts::RunFacts;
use crate::keys::Counted;
use crate::place::{COUNTERS, counted_of_run, signed, unsigned};
use crate::steps::counts;
use crate::words::Words;

/// Where a run stands in the table.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) key: i64,
    pub(crate) id: RunId,
    pub(crate) root: Option<i64>,
    pub(crate) job: JobId,
    pub(crate) runtime: Runtime,
    pub(crate) records: u64,
    pub(crate) seal: Option<i64>,
    pub(crate) context: Option<Vec<u8>>,
    pub(crate) exit: Option<Vec<u8>>,
    pub(crate) started_at: i64,
}

const ROW: &str = "SELECT run.key, run.id, run.root, job.id, word.text, run.records, run.seal, \
     run.context, run.exit, run.started_at FROM run JOIN job ON job.key = run.job \
     JOIN word ON word.key = run.runtime";

/// Reads an id; what stands in the table was checked when it was written.
fn id<T>(
    text: &str,
    parse: impl Fn(&str) -> std::result::Result<T, runtape_core::CoreError>,
) -> rusqlite::Result<T> {
    parse(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

pub(crate) fn run_id(text: &str) -> rusqlite::Result<RunId> {
    id(text, |text| RunId::parse(text))
}

pub(crate) fn job_id(text: &str) -> rusqlite::Result<JobId> {
    id(text, |text| JobId::parse(text))
}

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        key: row.get(0)?,
        id: run_id(row.get_ref(1)?.as_str()?)?,
        root: row.get(2)?,
        job: job_id(row.get_ref(3)?.as_str()?)?,
        runtime: Runtime::from_name(row.get_ref(4)?.as_str()?),
        records: row.get(5).map(unsigned)?,
        seal: row.get(6)?,
        context: row.get(7)?,
        exit: row.get(8)?,
        started_at: row.get(9)?,
    })
}

/// Returns a run by its id.
pub(crate) fn find(connection: &Connection, run: &RunId) -> Result<Option<RunRow>> {
    Ok(connection
        .prepare_cached(&format!("{ROW} WHERE run.id = ?1"))?
        .query_row([run.as_str()], row)
        .optional()?)
}

/// Returns a run by its id, or an error that names it.
pub(crate) fn get(connection: &Connection, run: &RunId) -> Result<RunRow> {
    find(connection, run)?.ok_or_else(|| StoreError::UnknownRun {
        run: run.to_string(),
    })
}

/// Returns a run by its key.
pub(crate) fn by_key(connection: &Connection, key: i64) -> Result<Option<RunRow>> {
    Ok(connection
        .prepare_cached(&format!("{ROW} WHERE run.key = ?1"))?
        .query_row([key], row)
        .optional()?)
}

/// Returns a root run and its children, the root first.
pub(crate) fn tree(connection: &Connection, root: i64) -> Result<Vec<RunRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "{ROW} WHERE run.key = ?1 OR run.root = ?1 ORDER BY run.key"
    ))?;
    let rows = statement.query_map([root], row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the root runs that are not sealed.
pub(crate) fn open(connection: &Connection) -> Result<Vec<RunRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "{ROW} WHERE run.root IS NULL AND run.seal IS NULL ORDER BY run.key"
    ))?;
    let rows = statement.query_map([], row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A run that is about to be added.
pub(crate) struct NewRun<'a> {
    pub(crate) id: &'a RunId,
    pub(crate) job: &'a JobId,
    pub(crate) runtime: &'a Runtime,
    pub(crate) root: Option<i64>,
    pub(crate) parent: Option<i64>,
    pub(crate) started_at: i64,
    pub(crate) context: Option<&'a [u8]>,
}

/// Returns the key of a job, adding it if there is none.
pub(crate) fn job_key(connection: &Connection, job: &JobId) -> Result<i64> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT key FROM job WHERE id = ?1")?
        .query_row([job.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(key) = found {
        return Ok(key);
    }
    let key = Counted::Job.next(connection)?;
    connection
        .prepare_cached("INSERT INTO job (key, id) VALUES (?1, ?2)")?
        .execute(params![key, job.as_str()])?;
    Ok(key)
}

/// Adds a run, and its job if there is none.
pub(crate) fn insert(connection: &Connection, words: &mut Words, run: &NewRun<'_>) -> Result<i64> {
    let job = job_key(connection, run.job)?;
    let runtime = words.key(connection, run.runtime.as_str())?;
    let key = Counted::Run.next(connection)?;
    connection
        .prepare_cached(
            "INSERT INTO run (key, id, job, root, parent, runtime, started_at, steps, messages,
                unparsed, records, context)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, 0, ?8)",
        )?
        .execute(params![
            key,
            run.id.as_str(),
            job,
            run.root,
            run.parent,
            runtime,
            run.started_at,
            run.context
        ])?;
    Ok(key)
}

/// How a run ended that is added only then.
pub(crate) struct Ended<'a> {
    pub(crate) facts: &'a RunFacts,
    pub(crate) exit: Option<&'a [u8]>,
    pub(crate) seal: Option<u64>,
}

/// Adds a run that has ended, and its job if there is none.
pub(crate) fn insert_ended(
    connection: &Connection,
    words: &mut Words,
    run: &NewRun<'_>,
    ended: &Ended<'_>,
) -> Result<i64> {
    let job = job_key(connection, run.job)?;
    let runtime = words.key(connection, run.runtime.as_str())?;
    let key = Counted::Run.next(connection)?;
    let facts = ended.facts;
    let keys = WordKeys::new(connection, words, facts)?;
    let error = facts.error.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO run (id, job, root, parent, runtime, context, exit, seal, expert, model,
                session, cwd, cli_version, status, started_at, finished_at, steps, messages,
                unparsed, records, input_tokens, output_tokens, reasoning_tokens,
                cached_input_tokens, cost_usd, duration_ms, error_name, error_family,
                error_message, error_status, error_retryable, error_retry_at, key)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)",
        )?
        .execute(params![
            run.id.as_str(),
            job,
            run.root,
            run.parent,
            runtime,
            run.context,
            ended.exit,
            ended.seal.map(signed),
            keys.expert,
            keys.model,
            keys.session,
            keys.cwd,
            keys.cli_version,
            keys.status,
            facts.started_at.unwrap_or(run.started_at),
            facts.finished_at,
            signed(facts.steps),
            signed(facts.messages),
            signed(facts.unparsed),
            signed(facts.records),
            facts.usage.input_tokens,
            facts.usage.output_tokens,
            facts.usage.reasoning_tokens,
            facts.usage.cached_input_tokens,
            facts.cost_usd,
            facts.duration_ms,
            keys.error_name,
            keys.error_family,
            error.map(|error| error.message.as_str()),
            error.and_then(|error| error.status_code),
            error.map(|error| error.is_retryable),
            error.and_then(|error| error.retry_at),
            key,
        ])?;
    Ok(key)
}

/// The words that a run's row refers to.
struct WordKeys {
    expert: Option<i64>,
    model: Option<i64>,
    session: Option<i64>,
    cwd: Option<i64>,
    cli_version: Option<i64>,
    status: Option<i64>,
    error_name: Option<i64>,
    error_family: Option<i64>,
}

impl WordKeys {
    fn new(connection: &Connection, words: &mut Words, facts: &RunFacts) -> Result<Self> {
        let mut word = |text: Option<&str>| words.maybe(connection, text);
        let error = facts.error.as_ref();
        let family = error.and_then(|error| error.family);
        Ok(Self {
            expert: word(facts.expert.as_deref())?,
            model: word(facts.model.as_deref())?,
            session: word(facts.session.as_deref())?,
            cwd: word(facts.cwd.as_deref())?,
            cli_version: word(facts.cli_version.as_deref())?,
            status: word(facts.status.map(CheckpointStatus::as_str))?,
            error_name: word(error.map(|error| error.name.as_str()))?,
            error_family: word(family.map(ErrorFamily::as_str))?,
        })
    }
}

/// Writes what the records say of a run as a whole.
pub(crate) fn update(
    connection: &Connection,
    words: &mut Words,
    run: i64,
    facts: &RunFacts,
) -> Result<()> {
    let keys = WordKeys::new(connection, words, facts)?;
    let error = facts.error.as_ref();
    connection
        .prepare_cached(
            "UPDATE run SET expert = ?2, model = ?3, session = ?4, cwd = ?5, cli_version = ?6,
                status = ?7, started_at = coalesce(?8, started_at), finished_at = ?9, steps = ?10,
                messages = ?11, unparsed = ?12, records = ?13, input_tokens = ?14,
                output_tokens = ?15, reasoning_tokens = ?16, cached_input_tokens = ?17,
                cost_usd = ?18, duration_ms = ?19, error_name = ?20, error_family = ?21,
                error_message = ?22, error_status = ?23, error_retryable = ?24,
                error_retry_at = ?25
             WHERE key = ?1",
        )?
        .execute(params![
            run,
            keys.expert,
            keys.model,
            keys.session,
            keys.cwd,
            keys.cli_version,
            keys.status,
            facts.started_at,
            facts.finished_at,
            signed(facts.steps),
            signed(facts.messages),
            signed(facts.unparsed),
            signed(facts.records),
            facts.usage.input_tokens,
            facts.usage.output_tokens,
            facts.usage.reasoning_tokens,
            facts.usage.cached_input_tokens,
            facts.cost_usd,
            facts.duration_ms,
            keys.error_name,
            keys.error_family,
            error.map(|error| error.message.as_str()),
            error.and_then(|error| error.status_code),
            error.map(|error| error.is_retryable),
            error.and_then(|error| error.retry_at),
        ])?;
    Ok(())
}

/// Columns of [`info`], over the tables that [`INFO_FROM`] joins.
pub(crate) static INFO: LazyLock<String> = LazyLock::new(|| {
    let usage = COUNTERS.map(counted_of_run).join(", ");
    format!(
        "job.id, run.id, root.id, parent.id, runtime.text, status.text, expert.text, model.text, \
         session.text, cwd.text, cli_version.text, run.started_at, run.finished_at, \
         run.duration_ms, run.steps, run.messages, run.records, run.unparsed, {usage}, \
         run.cost_usd, error_name.text, error_family.text, run.error_message, run.error_status, \
         run.error_retryable, run.error_retry_at, coalesce(run.seal, root.seal), run.key"
    )
});

/// Joins what a run refers to.
pub(crate) const INFO_FROM: &str = "run JOIN job ON job.key = run.job
     JOIN word AS runtime ON runtime.key = run.runtime
     LEFT JOIN run AS root ON root.key = run.root
     LEFT JOIN run AS parent ON parent.key = run.parent
     LEFT JOIN word AS status ON status.key = run.status
     LEFT JOIN word AS expert ON expert.key = run.expert
     LEFT JOIN word AS model ON model.key = run.model
     LEFT JOIN word AS session ON session.key = run.session
     LEFT JOIN word AS cwd ON cwd.key = run.cwd
     LEFT JOIN word AS cli_version ON cli_version.key = run.cli_version
     LEFT JOIN word AS error_name ON error_name.key = run.error_name
     LEFT JOIN word AS error_family ON error_family.key = run.error_family";

/// Returns the status of a name; what is not known is taken for open.
pub(crate) fn status(name: Option<&str>) -> CheckpointStatus {
    name.and_then(|name| serde_json::from_value(name.into()).ok())
        .unwrap_or(CheckpointStatus::Proceeding)
}

/// Reads a row of [`INFO`].
pub(crate) fn info(row: &Row<'_>) -> rusqlite::Result<RunInfo> {
    let number = |column| row.get::<_, i64>(column).map(unsigned);
    let maybe_run = |column| -> rusqlite::Result<Option<RunId>> {
        let text: Option<String> = row.get(column)?;
        text.map(|text| run_id(&text)).transpose()
    };
    let status_name: Option<String> = row.get(5)?;
    let error_name: Option<String> = row.get(23)?;
    let family: Option<String> = row.get(24)?;
    let error = match error_name {
        None => None,
        Some(name) => Some(Failure {
            name,
            message: row.get::<_, Option<String>>(25)?.unwrap_or_default(),
            status_code: row.get(26)?,
            is_retryable: row.get::<_, Option<bool>>(27)?.unwrap_or_default(),
            family: family.and_then(|name| serde_json::from_value(name.into()).ok()),
            retry_at: row.get(28)?,
        }),
    };
    Ok(RunInfo {
        job_id: job_id(row.get_ref(0)?.as_str()?)?,
        run_id: run_id(row.get_ref(1)?.as_str()?)?,
        root_run_id: maybe_run(2)?,
        parent_run_id: maybe_run(3)?,
        runtime: Runtime::from_name(row.get_ref(4)?.as_str()?),
        status: status(status_name.as_deref()),
        expert_key: row.get(6)?,
        model: row.get(7)?,
        session_id: row.get(8)?,
        cwd: row.get(9)?,
        cli_version: row.get(10)?,
        started_at: row.get(11)?,
        finished_at: row.get(12)?,
        duration_ms: row.get(13)?,
        steps: number(14)?,
        messages: number(15)?,
        records: number(16)?,
        unparsed: number(17)?,
        usage: counts(row, 18)?,
        cost_usd: row.get(22)?,
        error,
        seal: row.get::<_, Option<i64>>(29)?.map(unsigned),
    })
}

/// Returns what is known of a run.
pub(crate) fn one_info(connection: &Connection, key: i64) -> Result<RunInfo> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {} FROM {INFO_FROM} WHERE run.key = ?1",
            *INFO
        ))?
        .query_row([key], info)?)
}

/// Forgets what the records of a run said of it; they were deleted.
pub(crate) fn forget(connection: &Connection, run: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE run SET expert = NULL, model = NULL, session = NULL, cwd = NULL,
                cli_version = NULL, status = NULL, finished_at = NULL, steps = 0, messages = 0,
                unparsed = 0, records = 0, input_tokens = NULL, output_tokens = NULL,
                reasoning_tokens = NULL, cached_input_tokens = NULL, cost_usd = NULL,
                duration_ms = NULL, error_name = NULL, error_family = NULL, error_message = NULL,
                error_status = NULL, error_retryable = NULL, error_retry_at = NULL, searched = 0
             WHERE key = ?1",
        )?
        .execute([run])?;
    Ok(())
}

/// Deletes the row of a run, and its job if that was the last one.
pub(crate) fn delete(connection: &Connection, run: i64) -> Result<()> {
    let job: i64 = connection
        .prepare_cached("SELECT job FROM run WHERE key = ?1")?
        .query_row([run], |row| row.get(0))?;
    connection
        .prepare_cached("DELETE FROM run WHERE key = ?1")?
        .execute([run])?;
    connection
        .prepare_cached(
            "DELETE FROM job WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE job = ?1)",
        )?
        .execute([job])?;
    Ok(())
}

/// Deletes jobs that have no run. Deleting the last run of a job deletes the job, so there are
/// none unless somebody changed a row.
pub(crate) fn delete_unused_jobs(connection: &Connection) -> Result<()> {
    connection.execute("DELETE FROM job WHERE key NOT IN (SELECT job FROM run)", [])?;
    Ok(())
}
