//! The `search` table: which words are in which stretch of records.

use tokio_postgres::Row;

use super::Postgres;
use super::columns::{count, get, job_id, key, run_id, runtime, signed, size};
use super::condition::{Condition, select};
use crate::backend::{PartlySearched, RunKey, Selection, Stretch};
use crate::derive::words::Words;
use crate::error::Result;
use crate::read::search::WordQuery;

/// Most bytes of words of a stretch. The server has room for twice as many in a row.
const MOST_WORDS: usize = 500 << 10;

/// Tells whether words are too many for a row.
pub(super) fn are_too_many(words: &Words) -> bool {
    words.text().len() > MOST_WORDS
}

/// Adds the words of a stretch.
pub(super) fn insert(pg: &Postgres, run: &RunKey, first: u64, words: &Words) -> Result<()> {
    let words = (!are_too_many(words)).then(|| words.text().trim_end());
    pg.transaction
        .borrow_mut()
        .pending
        .add_words(run, signed(first), words);
    let bytes = words.map_or(0, str::len) + 200;
    pg.flush_much(bytes)
}

/// Empties the index, whatever it holds.
pub(super) fn clear(pg: &Postgres) -> Result<()> {
    pg.execute("DELETE FROM search", &[])?;
    pg.execute("UPDATE run SET searched = 0 WHERE searched <> 0", &[])?;
    Ok(())
}

/// Notes how many records of a run the index has seen.
pub(super) fn set_searched(pg: &Postgres, run: &RunKey, records: u64) {
    pg.transaction
        .borrow_mut()
        .pending
        .set_searched(run, signed(records));
}

/// Returns runs that the index does not know in full, and that nobody else is about to index: they are left to this
/// transaction. A writer of theirs does not wait for that.
pub(super) fn partly_searched(pg: &Postgres, most: usize) -> Result<Vec<PartlySearched>> {
    pg.begin_now()?;
    let sql = "SELECT run.root_id FROM run JOIN root ON root.root_id = run.root_id
               WHERE run.searched < run.records ORDER BY run.root_id, run.run_no LIMIT $1
               FOR NO KEY UPDATE OF root SKIP LOCKED";
    let rows = pg.rows(sql, &[&size(most)])?;
    let roots = rows.iter().map(|row| get::<String>(row, 0));
    let mut roots: Vec<String> = roots.collect::<Result<_>>()?;
    roots.dedup();
    if roots.is_empty() {
        return Ok(Vec::new());
    }
    // Asked again, for somebody may have indexed them just before.
    let sql = "SELECT root_id, run_no, run_id, searched, records FROM run
               WHERE root_id = ANY($1) AND searched < records ORDER BY root_id, run_no LIMIT $2";
    let rows = pg.rows(sql, &[&roots, &size(most)])?;
    let found = rows.iter().map(|row| {
        Ok(PartlySearched {
            key: key(row, 0)?,
            id: run_id(row, 2)?,
            searched: count(row, 3)?,
            records: count(row, 4)?,
        })
    });
    let found: Vec<PartlySearched> = found.collect::<Result<_>>()?;
    // What is there beyond that was left behind, and would be in the way.
    let roots: Vec<&str> = found.iter().map(|run| run.key.root.as_str()).collect();
    let numbers: Vec<i64> = found.iter().map(|run| run.key.number).collect();
    let ends: Vec<i64> = found.iter().map(|run| signed(run.searched)).collect();
    let sql = "DELETE FROM search USING unnest($1::text[], $2::bigint[], $3::bigint[])
                   AS known (root_id, run_no, searched)
               WHERE search.root_id = known.root_id AND search.run_no = known.run_no
                   AND search.first_seq >= known.searched";
    pg.execute(sql, &[&roots, &numbers, &ends])?;
    Ok(found)
}

/// Counts the records that the index does not know.
pub(super) fn unsearched_records(pg: &Postgres) -> Result<u64> {
    let sql = "SELECT coalesce(runtape_sum(sum(records - searched)), 0) FROM run
               WHERE searched < records";
    let row = pg.row(sql, &[])?;
    row.map_or(Ok(0), |row| count(&row, 0))
}

/// What a stretch says of its run.
const RUN: &str = "run.root_id, run.run_no, run.run_id, run.job_id, run.runtime, run.started_at";

fn stretch(row: &Row, from: u64, to: u64) -> Result<Stretch> {
    Ok(Stretch {
        run: key(row, 0)?,
        id: run_id(row, 2)?,
        job: job_id(row, 3)?,
        runtime: runtime(row, 4)?,
        started_at: get(row, 5)?,
        from,
        to,
    })
}

/// Writes a query as the server wants it.
fn compile(query: &WordQuery) -> String {
    match query {
        WordQuery::Word { word, is_prefix } => {
            let star = if *is_prefix { ":*" } else { "" };
            let word = word.replace('\\', "\\\\").replace('\'', "''");
            format!("'{word}'{star}")
        }
        WordQuery::All(parts) => join(parts, " & "),
        WordQuery::Any(parts) => join(parts, " | "),
    }
}

fn join(parts: &[WordQuery], between: &str) -> String {
    let parts: Vec<String> = parts.iter().map(compile).collect();
    format!("({})", parts.join(between))
}

/// Returns the stretches that have words, the latest first. A stretch that has too many may have any.
pub(super) fn find(
    pg: &Postgres,
    words: &WordQuery,
    selection: Selection<'_>,
    most: usize,
) -> Result<Vec<Stretch>> {
    let mut condition = Condition::selecting(selection);
    let words = condition.bind(compile(words).as_str());
    let most = size(most);
    let sql = format!(
        "SELECT {RUN}, found.first_seq, coalesce((
            SELECT next.first_seq FROM search AS next
            WHERE next.root_id = found.root_id AND next.run_no = found.run_no
                AND next.first_seq > found.first_seq
            ORDER BY next.first_seq LIMIT 1
         ), run.searched)
         FROM search AS found
         JOIN run ON run.root_id = found.root_id AND run.run_no = found.run_no
         WHERE (found.words @@ {words}::text::tsquery OR found.words IS NULL) AND {}
         ORDER BY run.started_at DESC, run.run_id DESC, found.first_seq DESC LIMIT {most}",
        condition.sql(),
    );
    select(pg, &sql, &condition, |row| {
        stretch(row, count(row, 6)?, count(row, 7)?)
    })
}

/// Returns all records of runs, or those that the index does not know, the latest first.
pub(super) fn stretches(
    pg: &Postgres,
    selection: Selection<'_>,
    is_unknown: bool,
) -> Result<Vec<Stretch>> {
    let mut condition = Condition::selecting(selection);
    if is_unknown {
        let term = "run.searched < run.records".to_owned();
        condition.terms.push(term);
    }
    let sql = format!(
        "SELECT {RUN}, run.searched, run.records FROM run
         WHERE {} ORDER BY run.started_at DESC, run.run_id DESC",
        condition.sql(),
    );
    select(pg, &sql, &condition, |row| {
        let from = if is_unknown { count(row, 6)? } else { 0 };
        stretch(row, from, count(row, 7)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted() {
        let word = |word: &str, is_prefix| WordQuery::Word {
            word: word.to_owned(),
            is_prefix,
        };
        let query = WordQuery::All(vec![
            word("a", false),
            WordQuery::Any(vec![word("b'\\", true), word("全", false)]),
        ]);
        assert_eq!(compile(&query), "('a' & ('b''\\\\':* | '全'))");
    }
}
