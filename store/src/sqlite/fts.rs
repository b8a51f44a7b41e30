//! Queries in the words of FTS5.

use crate::read::search::WordQuery;

/// Writes a query as FTS5 wants it.
pub(crate) fn compile(query: &WordQuery) -> String {
    match query {
        WordQuery::Word { word, is_prefix } => {
            let star = if *is_prefix { "*" } else { "" };
            // A word has no quotation mark in it.
            format!("\"{word}\"{star}")
        }
        WordQuery::All(parts) => join(parts, " AND "),
        WordQuery::Any(parts) => join(parts, " OR "),
    }
}

fn join(parts: &[WordQuery], between: &str) -> String {
    let parts: Vec<String> = parts.iter().map(compile).collect();
    format!("({})", parts.join(between))
}
