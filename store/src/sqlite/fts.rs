//! Queries in the words of FTS5.

use std::fmt::Write as _;

use crate::search_query::SearchQuery;

/// Writes a query as FTS5 wants it.
pub(crate) fn compile(query: &SearchQuery) -> String {
    let mut text = String::new();
    write(&mut text, query);
    text
}

fn write(text: &mut String, query: &SearchQuery) {
    match query {
        // A phrase without words is found nowhere.
        SearchQuery::Nothing => text.push_str("\"\""),
        SearchQuery::Words {
            text: words,
            is_prefix,
        } => {
            let star = if *is_prefix { "*" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(text, "\"{}\"{star}", words.replace('"', "\"\""));
        }
        SearchQuery::All(parts) => join(text, parts, " AND "),
        SearchQuery::Any(parts) => join(text, parts, " OR "),
        SearchQuery::Without(kept, left_out) => {
            text.push('(');
            write(text, kept);
            text.push_str(" NOT ");
            write(text, left_out);
            text.push(')');
        }
        SearchQuery::In(field, part) => {
            text.push_str(field);
            text.push_str(" : (");
            write(text, part);
            text.push(')');
        }
    }
}

fn join(text: &mut String, parts: &[SearchQuery], between: &str) {
    text.push('(');
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            text.push_str(between);
        }
        write(text, part);
    }
    text.push(')');
}
