//! Values in columns: places (a run's key and a number within the run, or a chain and a number within
//! the chain, in one integer), hashes, ids, numbers.

use runtape_core::report::SealName;
use runtape_core::{JobId, RunId, Runtime, TokenCounts};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::error::{Result, StoreError};
use crate::format::chain::Hash;

/// Puts a run's key and a number within the run together.
pub(crate) fn place(run: i64, number: u64) -> Result<i64> {
    let number = u32::try_from(number).ok();
    let upper = i32::try_from(run).ok().filter(|run| *run >= 0);
    match (upper, number) {
        (Some(_), Some(number)) => Ok((run << 32) | i64::from(number)),
        _ => Err(StoreError::damaged(
            format!("run with key {run}"),
            "a run holds at most 4 billion records, a database 2 billion runs",
        )),
    }
}

/// Returns the first and last place of a run.
pub(crate) fn range(run: i64) -> (i64, i64) {
    (run << 32, (run << 32) | 0xffff_ffff)
}

/// Returns the run's key and the number within the run.
pub(crate) fn split(place: i64) -> (i64, u64) {
    (place >> 32, place.cast_unsigned() & 0xffff_ffff)
}

/// The bits of a column that hold a seal's number; its chain is in those above.
const NUMBER_BITS: u32 = 48;

/// The largest number that a seal has in its chain.
pub(crate) const MOST_SEALS: u64 = (1 << NUMBER_BITS) - 1;

/// Puts the chain and the number of a seal together: in the first chain, the only one of a database
/// file, that is the number.
pub(crate) fn place_of_seal(seal: SealName) -> Result<i64> {
    let chain = u16::try_from(seal.chain).ok();
    let chain = chain.and_then(|chain| i64::from(chain).checked_mul(1 << NUMBER_BITS));
    match chain {
        Some(chain) if seal.number <= MOST_SEALS => Ok(chain | signed(seal.number)),
        _ => Err(StoreError::damaged(
            format!("seal {seal}"),
            "a database file holds at most 32,768 chains of 281 trillion seals",
        )),
    }
}

/// Returns the chain and the number of a seal.
pub(crate) fn seal_name(place: i64) -> SealName {
    let place = unsigned(place);
    SealName {
        chain: u32::try_from(place >> NUMBER_BITS).unwrap_or(0),
        number: place & MOST_SEALS,
    }
}

/// Reads a column that is never negative; a damaged one is as good as none.
pub(crate) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Reads a column that is never negative; a damaged one is an error.
pub(crate) fn not_negative(column: usize, value: i64) -> rusqlite::Result<u64> {
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// Writes a number into a column; what is larger than a column holds was never counted.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads a hash; one of a wrong length is a wrong hash, and need not keep a row from being read.
pub(crate) fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Hash> {
    let hash = row.get_ref(column)?.as_blob()?;
    Ok(hash.try_into().unwrap_or([0; 32]))
}

/// Reads four counters from neighbouring columns.
pub(crate) fn counts(row: &Row<'_>, first: usize) -> rusqlite::Result<TokenCounts> {
    Ok(TokenCounts {
        input_tokens: row.get(first)?,
        output_tokens: row.get(first + 1)?,
        reasoning_tokens: row.get(first + 2)?,
        cached_input_tokens: row.get(first + 3)?,
        ..TokenCounts::default()
    })
}

/// Reads an id; what stands in the table was checked when it was written.
fn id<T>(
    text: &str,
    parse: impl Fn(&str) -> std::result::Result<T, runtape_core::CoreError>,
) -> rusqlite::Result<T> {
    parse(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// Reads the id of a run.
pub(crate) fn run_id(row: &Row<'_>, column: usize) -> rusqlite::Result<RunId> {
    id(row.get_ref(column)?.as_str()?, |text| RunId::parse(text))
}

/// Reads the id of a run that may be absent.
pub(crate) fn maybe_run_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RunId>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => run_id(row, column).map(Some),
    }
}

/// Reads the id of a job.
pub(crate) fn job_id(row: &Row<'_>, column: usize) -> rusqlite::Result<JobId> {
    id(row.get_ref(column)?.as_str()?, |text| JobId::parse(text))
}

/// Reads the name of a runtime.
pub(crate) fn runtime(row: &Row<'_>, column: usize) -> rusqlite::Result<Runtime> {
    Ok(Runtime::from_name(row.get_ref(column)?.as_str()?))
}

/// Writes how many rows a query may give.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_apart_again() {
        for (run, number) in [(1, 0), (1, 4_294_967_295), (2_147_483_647, 7)] {
            let place = place(run, number).unwrap();
            assert_eq!(split(place), (run, number));
            let (first, last) = range(run);
            assert!(first <= place && place <= last);
        }
        assert!(place(1, 1 << 32).is_err());
        assert!(place(1 << 31, 0).is_err());
    }

    #[test]
    fn seals_of_any_chain_come_apart_again_and_those_of_the_first_are_their_numbers() {
        for (chain, number) in [
            (0, 1),
            (0, MOST_SEALS),
            (1, 0),
            (63, 7),
            (0x7fff, MOST_SEALS),
        ] {
            let name = SealName { chain, number };
            assert_eq!(seal_name(place_of_seal(name).unwrap()), name);
        }
        assert_eq!(place_of_seal(SealName::in_first_chain(7)).unwrap(), 7);
        for (chain, number) in [(0x8000, 1), (0, MOST_SEALS + 1)] {
            assert!(place_of_seal(SealName { chain, number }).is_err());
        }
        assert_eq!(seal_name(-1), SealName::in_first_chain(0));
    }
}
