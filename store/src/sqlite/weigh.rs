//! Looking at every block of a file from elsewhere before anything is read as what it claims to be.

use runtape_core::RunId;
use rusqlite::Connection;

use super::columns as place;
use super::{records, tape};
use crate::error::{Result, StoreError};
use crate::format::weigh;

/// Refuses a database with a block that would take more than one of ours can.
pub(crate) fn weigh(connection: &Connection) -> Result<()> {
    let refuse = |what: String| {
        move |fault: String| StoreError::Refused {
            path: std::path::PathBuf::new(),
            fault: format!("{what}: {fault}"),
        }
    };
    let mut statement = connection.prepare("SELECT place FROM record_block ORDER BY place")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let place: i64 = row.get(0)?;
        let block = records::at(connection, place)?;
        let (run, seq) = place::split(place);
        let what = format!("records of run {run} from {seq} on");
        weigh::records_fit(&block).map_err(refuse(what))?;
    }
    let mut statement = connection.prepare("SELECT place FROM tape_block ORDER BY place")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (run, number) = place::split(row.get(0)?);
        let what = format!("tape block {number} of run {run}");
        if let Some(block) = tape::one(connection, run, number)? {
            weigh::tape_fits(&block).map_err(refuse(what))?;
        }
    }
    let mut statement = connection
        .prepare("SELECT id, context, exit FROM run WHERE coalesce(context, exit) IS NOT NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        for column in [1, 2] {
            let packed: Option<Vec<u8>> = row.get(column)?;
            let run = RunId::parse(id.as_str())?;
            let what = format!("what is known of run {run}");
            packed
                .as_deref()
                .map_or(Ok(()), weigh::value_fits)
                .map_err(refuse(what))?;
        }
    }
    Ok(())
}
