//! Values in columns: texts, hashes, ids, numbers.

use std::borrow::Cow;

use runtape_core::report::SealName;
use runtape_core::{JobId, RunId, Runtime, TokenCounts};
use tokio_postgres::Row;

use crate::backend::RunKey;
use crate::error::{Result, StoreError};
use crate::format::chain::Hash;

/// Stands for what a text on the server cannot have, or for itself: a number that is no character, and that nobody may
/// exchange with others. What comes after it says which.
const ESCAPE: char = '\u{fdd0}';

/// Writes a text as it can be kept: those of the server have no NUL.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\0' => kept.extend([ESCAPE, '0']),
            ESCAPE => kept.extend([ESCAPE, '1']),
            other => kept.push(other),
        }
    }
    kept.into()
}

/// Reads a text as it was before it was kept.
pub(super) fn told(text: String) -> String {
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut told = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == ESCAPE) {
            (_, true) => match letters.next() {
                Some('0') => told.push('\0'),
                Some('1') => told.push(ESCAPE),
                // Nobody wrote that: it is left as it is, and is not what was derived.
                other => told.extend([Some(ESCAPE), other].into_iter().flatten()),
            },
            (letter, false) => told.push(letter),
        }
    }
    told
}

/// Reads a column.
pub(super) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    column: usize,
) -> Result<T> {
    Ok(row.try_get(column)?)
}

/// Reads a text.
pub(super) fn text(row: &Row, column: usize) -> Result<String> {
    get(row, column).map(told)
}

/// Reads a text that may be absent.
pub(super) fn maybe_text(row: &Row, column: usize) -> Result<Option<String>> {
    let text: Option<String> = get(row, column)?;
    Ok(text.map(told))
}

/// Makes a number of one that is never negative; a damaged one is as good as none.
pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Reads a number that is never negative; a damaged one is as good as none.
pub(super) fn count(row: &Row, column: usize) -> Result<u64> {
    get(row, column).map(unsigned)
}

/// Reads a number that is never negative; a damaged one is an error.
pub(super) fn number(row: &Row, column: usize) -> Result<u64> {
    let value: i64 = get(row, column)?;
    not_negative(row, column, value)
}

/// Reads a number that may be absent and is never negative.
pub(super) fn maybe_number(row: &Row, column: usize) -> Result<Option<u64>> {
    let value: Option<i64> = get(row, column)?;
    value
        .map(|value| not_negative(row, column, value))
        .transpose()
}

fn not_negative(row: &Row, column: usize, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| {
        let name = row.columns().get(column).map(tokio_postgres::Column::name);
        let place = format!("a row's {}", name.unwrap_or("column"));
        StoreError::damaged(place, format!("it is {value}"))
    })
}

/// Writes a number into a column; what is larger than a column holds was never counted.
pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Writes a length, or a limit, into a column.
pub(super) fn size(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads a length.
pub(super) fn length(row: &Row, column: usize) -> Result<usize> {
    let length: i64 = get(row, column)?;
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Reads a hash; one of a wrong length is a wrong hash, and need not keep a row from being read.
pub(super) fn hash(row: &Row, column: usize) -> Result<Hash> {
    get(row, column).map(hash_of)
}

/// Makes a hash of its bytes.
pub(super) fn hash_of(bytes: &[u8]) -> Hash {
    // One of another length is none of ours: zeros would be the end of a chain without entries.
    bytes.try_into().unwrap_or([0xff; 32])
}

/// Reads four counters from neighbouring columns.
pub(super) fn counts(row: &Row, first: usize) -> Result<TokenCounts> {
    Ok(TokenCounts {
        input_tokens: get(row, first)?,
        output_tokens: get(row, first + 1)?,
        reasoning_tokens: get(row, first + 2)?,
        cached_input_tokens: get(row, first + 3)?,
        ..TokenCounts::default()
    })
}

/// Reads the id of a run.
pub(super) fn run_id(row: &Row, column: usize) -> Result<RunId> {
    let id: &str = get(row, column)?;
    RunId::parse(id).map_err(|error| StoreError::damaged("the id of a run", error.to_string()))
}

/// Reads the id of a run that may be absent.
pub(super) fn maybe_run_id(row: &Row, column: usize) -> Result<Option<RunId>> {
    match get::<Option<&str>>(row, column)? {
        None => Ok(None),
        Some(_) => run_id(row, column).map(Some),
    }
}

/// Reads the id of a job.
pub(super) fn job_id(row: &Row, column: usize) -> Result<JobId> {
    let id: &str = get(row, column)?;
    JobId::parse(id).map_err(|error| StoreError::damaged("the id of a job", error.to_string()))
}

/// Reads the name of a runtime.
pub(super) fn runtime(row: &Row, column: usize) -> Result<Runtime> {
    Ok(Runtime::from_name(&text(row, column)?))
}

/// Reads the key of a run: its root's id, and its number in the tree beside it.
pub(super) fn key(row: &Row, root: usize) -> Result<RunKey> {
    Ok(RunKey {
        root: run_id(row, root)?,
        number: get(row, root + 1)?,
    })
}

/// Reads the name of a seal that may be absent: its chain, and its number beside it.
pub(super) fn maybe_seal(row: &Row, chain: usize) -> Result<Option<SealName>> {
    let chain_number: Option<i32> = get(row, chain)?;
    let number: Option<i64> = get(row, chain + 1)?;
    Ok(chain_number.zip(number).map(|(chain, number)| SealName {
        chain: u32::try_from(chain).unwrap_or(u32::MAX),
        number: unsigned(number),
    }))
}

/// Writes the chain of a seal.
pub(super) fn chain(seal: SealName) -> i32 {
    i32::try_from(seal.chain).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_has_no_nul_meanwhile() {
        for text in [
            "",
            "plain",
            "a\0b",
            "\0",
            "\u{fdd0}",
            "\u{fdd0}0",
            "x\u{fdd0}1\0\0é",
        ] {
            let kept = kept(text);
            assert!(!kept.contains('\0'), "{text:?}");
            assert_eq!(told(kept.into_owned()), text);
        }
    }
}
