//! What the user said, and what tools are called.

/// Returns the user's words of a message; none where it is the CLI's context.
pub(super) fn query(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("<user_query>")?;
    let (query, _) = after.split_once("</user_query>").unwrap_or((after, ""));
    let query = query.strip_prefix('\n').unwrap_or(query);
    Some(query.strip_suffix('\n').unwrap_or(query))
}

/// Returns the name that the output has for a tool.
pub(super) fn tool(name: &str) -> &str {
    match name {
        "Shell" => "shell",
        "Read" => "read",
        "Write" | "StrReplace" | "MultiStrReplace" => "edit",
        "Grep" => "grep",
        "Glob" => "glob",
        "LS" => "ls",
        "Delete" => "delete",
        "TodoWrite" => "updateTodos",
        "SemanticSearch" => "semSearch",
        "WebSearch" => "webSearch",
        "WebFetch" => "webFetch",
        "ReadLints" => "readLints",
        "Task" => "task",
        other => other,
    }
}
