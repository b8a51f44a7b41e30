//! Questions of an auditor, in SQL.

use runtape_core::report::{Drift, DriftKind, NoticeInfo, RunInfo};

use super::columns::{count, get, job_id, key, maybe_text, run_id, runtime, size, text};
use super::condition::{Condition, Operand, select};
use super::{Postgres, list};
use crate::backend::EndedRoot;
use crate::error::Result;
use crate::filter::RunFilter;
use crate::period::Happening;

/// Returns what runtimes reported besides, the latest first; of some kinds only if any is named.
pub(super) fn notices(
    pg: &Postgres,
    filter: &RunFilter,
    kinds: &[&str],
    limit: usize,
) -> Result<Vec<NoticeInfo>> {
    let mut condition = Condition::of(filter, Happening::Notice);
    if !kinds.is_empty() {
        let kinds = kinds
            .iter()
            .map(|kind| super::columns::kept(kind).into_owned());
        condition.add("notice.kind = ANY(?)", Operand::Texts(kinds.collect()));
    }
    let sql = format!(
        "SELECT run.job_id, run.run_id, run.runtime, notice.step, notice.seq, notice.at,
            notice.kind, notice.text
         FROM notice JOIN run ON run.root_id = notice.root_id AND run.run_no = notice.run_no
         WHERE {} ORDER BY notice.at DESC, run.run_id DESC, notice.seq DESC LIMIT {}",
        condition.sql(),
        size(limit),
    );
    select(pg, &sql, &condition, |row| {
        Ok(NoticeInfo {
            job_id: job_id(row, 0)?,
            run_id: run_id(row, 1)?,
            runtime: runtime(row, 2)?,
            step: count(row, 3)?,
            seq: count(row, 4)?,
            at: get(row, 5)?,
            kind: text(row, 6)?,
            text: text(row, 7)?,
        })
    })
}

/// Returns runs that failed, the latest first.
pub(super) fn errors(pg: &Postgres, filter: &RunFilter, limit: usize) -> Result<Vec<RunInfo>> {
    let mut condition = Condition::of(filter, Happening::End);
    condition.add_failed(filter);
    list::latest(pg, &condition, Happening::End, limit)
}

/// Returns lines that were not understood, by kind, the most frequent first. The first one is shown.
pub(super) fn unparsed_lines(
    pg: &Postgres,
    filter: &RunFilter,
    limit: usize,
) -> Result<Vec<Drift>> {
    let condition = Condition::of(filter, Happening::Unparsed);
    let sql = format!(
        "WITH line AS (
            SELECT run.runtime, run.cli_version, output.tag, output.reason, run.run_id, output.seq,
                output.excerpt, row_number() OVER (
                    PARTITION BY run.runtime, run.cli_version, output.tag, output.reason
                    ORDER BY run.started_at, run.run_id, output.seq
                ) AS place
            FROM unparsed AS output
            JOIN run ON run.root_id = output.root_id AND run.run_no = output.run_no
            WHERE {}
         )
         SELECT runtime, cli_version, tag, reason, count(*), count(DISTINCT run_id),
            max(run_id) FILTER (WHERE place = 1), max(seq) FILTER (WHERE place = 1),
            max(excerpt) FILTER (WHERE place = 1)
         FROM line GROUP BY runtime, cli_version, tag, reason
         ORDER BY count(*) DESC, runtime, cli_version NULLS FIRST, tag NULLS FIRST, reason LIMIT {}",
        condition.sql(),
        size(limit),
    );
    select(pg, &sql, &condition, |row| {
        Ok(Drift {
            kind: DriftKind::Line,
            runtime: runtime(row, 0)?,
            cli_version: maybe_text(row, 1)?,
            tag: maybe_text(row, 2)?,
            reason: text(row, 3)?,
            lines: count(row, 4)?,
            runs: count(row, 5)?,
            run_id: run_id(row, 6)?,
            seq: count(row, 7)?,
            excerpt: maybe_text(row, 8)?,
        })
    })
}

/// Returns the root runs that have ended, the latest first.
pub(super) fn ended_roots(pg: &Postgres, filter: &RunFilter) -> Result<Vec<EndedRoot>> {
    let mut condition = Condition::of(filter, Happening::End);
    condition.terms.push("run.run_no = 0".to_owned());
    condition.terms.push("run.status IS NOT NULL".to_owned());
    let sql = format!(
        "SELECT run.root_id, run.run_no, run.run_id, run.runtime, run.cli_version, coalesce((
            SELECT step.seq FROM step WHERE step.root_id = run.root_id AND step.run_no = run.run_no
            ORDER BY step.step DESC LIMIT 1 OFFSET 1
         ), 0)
         FROM run WHERE {} ORDER BY run.started_at DESC, run.run_id DESC",
        condition.sql(),
    );
    select(pg, &sql, &condition, |row| {
        Ok(EndedRoot {
            key: key(row, 0)?,
            id: run_id(row, 2)?,
            runtime: runtime(row, 3)?,
            cli_version: maybe_text(row, 4)?,
            last_step_after: count(row, 5)?,
        })
    })
}
