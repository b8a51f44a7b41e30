//! A query of somebody's own, in SQL.
//!
//! It is answered inside of a transaction that only reads, and that is rolled back afterwards. Nothing can be written to
//! tables there, and no statement may leave it:
//!
//! - the server is asked what the query is before it is run, in the way that takes one statement only;
//! - only what begins as a question is taken (`SELECT`, `WITH`, `VALUES`, `TABLE`, `EXPLAIN`, `SHOW`): no `COMMIT`, no
//!   `SET`, no `COPY`;
//! - what changes rows in the middle of one (`WITH … DELETE`, `EXPLAIN ANALYZE DELETE`) is refused by the server, and so
//!   is a function that would make the transaction one that writes.
//!
//! What a role may do besides (read files of the server, end other connections) is the role's matter: an auditor's should
//! be allowed to read and nothing else.

use serde_json::{Map, Number, Value};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::Type;

use super::columns::told;
use super::fault::is_away;
use super::{Postgres, hold};
use crate::error::{Result, StoreError};
use crate::read::audit::unlike;

/// How many rows are read at once.
const PAGE: usize = 500;

fn bad(fault: impl Into<String>) -> StoreError {
    StoreError::BadSql {
        fault: fault.into(),
    }
}

/// What texts there are only in a file, where our own connection can read the records.
const NO_TEXTS: &str = "what messages, calls and results say is in compressed records, which a server cannot read: \
    v_messages, and `input` and `result` in v_tool_calls, are there only for a database in a file";

/// Says what is wrong with a query; what is wrong with the connection stays what it is.
fn blamed(error: StoreError) -> StoreError {
    let StoreError::Database { source, .. } = &error else {
        return error;
    };
    let mut fault = source.to_string();
    // Elsewhere that only reading is allowed means that the server is another one's standby now. Here it was asked for.
    if is_away(&error) && !fault.contains("[25006]") {
        return error;
    }
    let is_text = fault.contains("\"v_messages\"")
        || fault.contains("column \"input\"")
        || fault.contains("column \"result\"")
        || fault.contains(".input does not exist")
        || fault.contains(".result does not exist");
    if is_text {
        fault = format!("{fault}: {NO_TEXTS}");
    }
    bad(fault)
}

/// How a question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// For rows, which can be read a page at a time.
    Rows,
    /// For a few lines about the server or a query.
    Lines,
}

/// Returns the first word of a statement, after comments and brackets, in small letters.
fn first_word(sql: &str) -> String {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '(');
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            // Comments may have comments in them.
            let mut depth = 1_u32;
            rest = comment;
            while depth > 0 && !rest.is_empty() {
                let (step, change) = match rest {
                    _ if rest.starts_with("/*") => (2, 1),
                    _ if rest.starts_with("*/") => (2, -1),
                    _ => (rest.chars().next().map_or(1, char::len_utf8), 0),
                };
                depth = depth.saturating_add_signed(change);
                rest = rest.get(step..).unwrap_or("");
            }
        } else {
            break;
        }
    }
    let word = rest.chars().take_while(char::is_ascii_alphabetic);
    word.collect::<String>().to_ascii_lowercase()
}

fn question(sql: &str) -> Result<Question> {
    match first_word(sql).as_str() {
        "select" | "with" | "values" | "table" => Ok(Question::Rows),
        "explain" | "show" => Ok(Question::Lines),
        _ => Err(bad(
            "only reading is allowed: it must begin with SELECT, WITH, VALUES, TABLE, EXPLAIN or SHOW",
        )),
    }
}

/// Calls `each` with the rows of a query until it returns `false`. Only reading is possible.
pub(super) fn query(
    pg: &Postgres,
    sql: &str,
    each: &mut dyn FnMut(Map<String, Value>) -> bool,
) -> Result<()> {
    if sql.contains('\0') {
        return Err(bad("it has a NUL in it"));
    }
    let question = question(sql)?;
    pg.begin_now()?;
    let described = hold(&pg.link).connection.describe(sql);
    let columns = described.map_err(blamed)?;
    let (names, types): (Vec<String>, Vec<Type>) = columns.into_iter().unzip();
    let names = unlike(names);
    let mut hand_out = |messages: Vec<SimpleQueryMessage>| {
        let mut count = 0;
        for message in messages {
            let SimpleQueryMessage::Row(row) = message else {
                continue;
            };
            count += 1;
            let mut object = Map::new();
            for (at, (name, kind)) in names.iter().zip(&types).enumerate() {
                let value = row.try_get(at).map_err(StoreError::from)?;
                object.insert(name.clone(), json(value, kind));
            }
            if !each(object) {
                return Ok(0);
            }
        }
        Ok::<usize, StoreError>(count)
    };
    let ask = |sql: &str| hold(&pg.link).connection.texts(sql).map_err(blamed);
    if question == Question::Lines {
        hand_out(ask(sql)?)?;
        return Ok(());
    }
    // A comment at its end must not take what follows with it, so nothing follows.
    ask(&format!("DECLARE asked NO SCROLL CURSOR FOR {sql}"))?;
    let fetch = format!("FETCH {PAGE} FROM asked");
    while hand_out(ask(&fetch)?)? == PAGE {}
    ask("CLOSE asked")?;
    Ok(())
}

/// Makes JSON of a column as it is written in text, as it would be of a database in a file.
fn json(value: Option<&str>, kind: &Type) -> Value {
    let Some(text) = value else {
        return Value::Null;
    };
    let own = || Value::from(told(text.to_owned()));
    match *kind {
        Type::BOOL => i64::from(text == "t").into(),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => {
            text.parse::<i64>().map_or_else(|_| own(), Value::from)
        }
        // Sums of whole numbers are such numbers, too.
        Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC => {
            if let (Type::NUMERIC, Ok(whole)) = (kind.clone(), text.parse::<i64>()) {
                return whole.into();
            }
            let number = text.parse().ok().and_then(Number::from_f64);
            number.map_or(Value::Null, Value::Number)
        }
        Type::BYTEA => text.strip_prefix("\\x").unwrap_or(text).into(),
        _ => own(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_are_taken() {
        for sql in [
            "SELECT 1",
            " -- a comment\n/* and /* another */ ; COMMIT */ with x as (select 1) table x",
            "((values (1)))",
            "TABLE v_runs",
        ] {
            assert_eq!(question(sql).unwrap(), Question::Rows, "{sql}");
        }
        for sql in ["explain analyze select 1", "SHOW all"] {
            assert_eq!(question(sql).unwrap(), Question::Lines, "{sql}");
        }
        for sql in [
            "",
            "COMMIT",
            "-- SELECT 1",
            "/* SELECT 1",
            "/* x */ COPY run TO PROGRAM 'x'",
            "SET TRANSACTION READ WRITE",
            "selected",
            "DO $$ BEGIN END $$",
        ] {
            assert!(question(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn values_are_what_a_file_would_give() {
        let cases = [
            (None, Type::INT8, Value::Null),
            (Some("7"), Type::INT8, 7.into()),
            (Some("7"), Type::NUMERIC, 7.into()),
            (Some("7.50"), Type::NUMERIC, 7.5.into()),
            (Some("0.1"), Type::FLOAT8, 0.1.into()),
            (Some("NaN"), Type::FLOAT8, Value::Null),
            (Some("t"), Type::BOOL, 1.into()),
            (Some("f"), Type::BOOL, 0.into()),
            (Some("\\x00ff"), Type::BYTEA, "00ff".into()),
            (Some("a\u{fdd0}0b"), Type::TEXT, "a\0b".into()),
            (Some("{1,2}"), Type::INT8_ARRAY, "{1,2}".into()),
        ];
        for (text, kind, expected) in cases {
            assert_eq!(json(text, &kind), expected, "{text:?}");
        }
    }
}
