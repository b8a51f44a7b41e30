//! What a person wants to see of a tool's input: what it is about, and what it writes.
//!
//! Runtimes give their tools inputs of many shapes, but the names in them are alike: whatever is named
//! so is shown so, whichever tool it is.

use serde_json::{Map, Value};

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Removed,
    /// Stays as it is, or says where the next lines are.
    Kept,
}

/// A line of what a tool writes.
pub(crate) type WrittenLine<'a> = (Change, &'a str);

/// What a call's command, file, pattern or address is called, the most telling first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "query",
    "url",
    "description",
    "prompt",
    "summary",
    "title",
];

/// What a text or name is called that a tool looks for.
const PATTERNS: &[&str] = &["pattern", "regex", "glob_pattern", "globPattern"];

/// Where a tool looks for it.
const PLACES: &[&str] = &["path", "dir_path", "targetDirectory", "target_directory"];

/// What the text before and after an edit is called.
const EDITS: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
];

/// What the text of a file is called that is written whole.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "fileText",
    "new_source",
    "streamContent",
];

/// What a patch is called.
const PATCHES: &[&str] = &["patch", "patchText", "diff", "unified_diff", "unifiedDiff"];

/// Lines that are shown around an edit.
const AROUND: usize = 2;

fn text<'a>(input: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| input.get(key)?.as_str())
}

/// Returns what a call is about: its only or first telling text.
pub(crate) fn about(input: &Value) -> String {
    if let Some(pattern) = text(input, PATTERNS) {
        let place = text(input, PLACES).filter(|place| !place.is_empty());
        let place = place.map(|place| format!(" in {place}"));
        return format!("{pattern}{}", place.unwrap_or_default());
    }
    if let Some(changes) = input.get("changes") {
        return changed_files(changes).join(", ");
    }
    match (text(input, TELLING), input) {
        (Some(text), _) => text.to_owned(),
        (None, Value::String(text)) => text.lines().next().unwrap_or_default().to_owned(),
        (None, Value::Null) => String::new(),
        (None, Value::Object(fields)) if fields.is_empty() => String::new(),
        // What is written is shown below.
        (None, other) if !written(other).is_empty() => String::new(),
        (None, other) => other.to_string(),
    }
}

/// Names the files of a list of changes, or of a map of them by file.
fn changed_files(changes: &Value) -> Vec<&str> {
    match changes {
        Value::Array(list) => list
            .iter()
            .filter_map(|change| text(change, &["path"]))
            .collect(),
        Value::Object(files) => files.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns what a call writes, line by line; nothing for one that writes nothing.
pub(crate) fn written(input: &Value) -> Vec<WrittenLine<'_>> {
    let mut lines = Vec::new();
    match input {
        Value::String(text) if text.starts_with("*** Begin Patch") => patch(text, &mut lines),
        Value::Object(fields) => of_fields(fields, input, &mut lines),
        _ => {}
    }
    lines
}

fn of_fields<'a>(
    fields: &'a Map<String, Value>,
    input: &'a Value,
    lines: &mut Vec<WrittenLine<'a>>,
) {
    if let Some(Value::Array(edits)) = fields.get("edits") {
        for edit in edits {
            of_edit(edit, lines);
        }
    }
    of_edit(input, lines);
    if let Some(text) = text(input, PATCHES) {
        patch(text, lines);
    }
    match fields.get("input") {
        Some(Value::String(text)) if text.starts_with("*** Begin Patch") => patch(text, lines),
        _ => {}
    }
    match fields.get("changes") {
        Some(Value::Array(changes)) => changes.iter().for_each(|change| of_change(change, lines)),
        Some(Value::Object(files)) => files.values().for_each(|change| of_change(change, lines)),
        _ => {}
    }
    let names_a_file = [
        "file_path",
        "filePath",
        "path",
        "absolute_path",
        "notebook_path",
    ]
    .iter()
    .any(|key| fields.contains_key(*key));
    if let Some(content) = text(input, CONTENTS).filter(|_| names_a_file && lines.is_empty()) {
        lines.extend(content.lines().map(|line| (Change::Added, line)));
    }
}

/// Takes one change of a list.
fn of_change<'a>(change: &'a Value, lines: &mut Vec<WrittenLine<'a>>) {
    if let Some(text) = text(change, PATCHES) {
        patch(text, lines);
    } else if let Some(content) = text(change, CONTENTS) {
        lines.extend(content.lines().map(|line| (Change::Added, line)));
    }
}

/// Takes an edit: a text, and what it is replaced by.
fn of_edit<'a>(edit: &'a Value, lines: &mut Vec<WrittenLine<'a>>) {
    let pair = EDITS.iter().find_map(|(old, new)| {
        let new = edit.get(new)?.as_str()?;
        Some((
            edit.get(old).and_then(Value::as_str).unwrap_or_default(),
            new,
        ))
    });
    if let Some((old, new)) = pair {
        difference(old, new, lines);
    }
}

/// Takes the lines of a patch as they are marked.
fn patch<'a>(text: &'a str, lines: &mut Vec<WrittenLine<'a>>) {
    for line in text.lines() {
        let is_head = line.starts_with("+++") || line.starts_with("---");
        lines.push(match line.split_at_checked(1) {
            Some(("+", rest)) if !is_head => (Change::Added, rest),
            Some(("-", rest)) if !is_head => (Change::Removed, rest),
            Some((" ", rest)) => (Change::Kept, rest),
            _ => (Change::Kept, line),
        });
    }
}

/// Takes what two texts do not have in common: all between the lines that they begin and end with.
fn difference<'a>(old: &'a str, new: &'a str, lines: &mut Vec<WrittenLine<'a>>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let before = same(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()) - before;
    let after = same(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    let part = |lines: &[&'a str], from: usize, to: usize| -> Vec<&'a str> {
        lines.get(from..to).unwrap_or_default().to_vec()
    };
    let end = old.len() - after;
    let kept = |line| (Change::Kept, line);
    lines.extend(
        part(&old, before.saturating_sub(AROUND), before)
            .into_iter()
            .map(kept),
    );
    let removed = part(&old, before, end).into_iter();
    lines.extend(removed.map(|line| (Change::Removed, line)));
    let added = part(&new, before, new.len() - after).into_iter();
    lines.extend(added.map(|line| (Change::Added, line)));
    let following = part(&old, end, (end + AROUND).min(old.len())).into_iter();
    lines.extend(following.map(kept));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Writes lines as a diff does.
    fn shown(input: &Value) -> Vec<String> {
        let mark = |change| match change {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Kept => ' ',
        };
        let lines = written(input).into_iter();
        lines
            .map(|(change, line)| format!("{}{line}", mark(change)))
            .collect()
    }

    #[test]
    fn a_call_is_about_its_command_file_pattern_or_address() {
        let table = [
            (json!({"command": "ls", "description": "List"}), "ls"),
            (json!({"pattern": "TODO", "path": "src"}), "TODO in src"),
            (json!({"pattern": "*.rs"}), "*.rs"),
            (json!({"pattern": "x", "dir_path": ""}), "x"),
            (json!({"filePath": "/a", "content": "x"}), "/a"),
            (
                json!({"changes": [{"path": "/a", "kind": "add"}, {"path": "/b"}]}),
                "/a, /b",
            ),
            (json!({"changes": {"/a": {"content": "x"}}}), "/a"),
            (json!({"patchText": "*** Begin Patch"}), ""),
            (json!({"url": "http://x", "prompt": "Sum up"}), "http://x"),
            (json!({"todos": [1]}), r#"{"todos":[1]}"#),
            (json!({}), ""),
            (Value::Null, ""),
        ];
        for (input, expected) in table {
            assert_eq!(about(&input), expected, "{input}");
        }
    }

    #[test]
    fn what_is_written_is_shown_whatever_it_is_called() {
        let edit = json!({"file_path": "/a", "old_string": "1\n2\n3\nx\n5", "new_string": "1\n2\n3\ny\nz\n5"});
        assert_eq!(shown(&edit), [" 2", " 3", "-x", "+y", "+z", " 5"]);
        let edits = json!({"path": "a", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": ""}]});
        assert_eq!(shown(&edits), ["-a", "+b", "-c"]);
        let whole = json!({"filePath": "a", "content": "x\ny\n"});
        assert_eq!(shown(&whole), ["+x", "+y"]);
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n z";
        let expected = [
            " *** Begin Patch",
            " *** Update File: a",
            " @@",
            "-x",
            "+y",
            " z",
        ];
        assert_eq!(shown(&json!({"patchText": patch})), expected);
        assert_eq!(shown(&json!({"input": patch})), expected);
        assert_eq!(shown(&json!(patch)), expected);
        let changes =
            json!({"changes": [{"path": "a", "diff": "--- a\n+b"}, {"path": "b", "content": "c"}]});
        assert_eq!(shown(&changes), [" --- a", "+b", "+c"]);
        for nothing in [
            json!({"content": "a message to somebody"}),
            json!({"file_path": "/a"}),
            json!({"old_string": "x"}),
            json!({"old_string": "x", "new_string": "x"}),
            json!({"command": "cat"}),
        ] {
            let lines = written(&nothing);
            assert!(
                lines.iter().all(|(change, _)| *change == Change::Kept),
                "{nothing}: {lines:?}"
            );
        }
    }
}
