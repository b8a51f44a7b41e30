//! What tools are for, and which of their arguments are commands, files and addresses.
//!
//! Each runtime has a table of its tools and one rule for the names of tools that a server of the
//! Model Context Protocol offers. A tool that is in no table may do anything: what its arguments are
//! named says what they are, and that is a guess.

use runtape_core::ToolClass;
use serde_json::Value;

use crate::patch_text::patched_files;
use crate::signal::CallDetail;

/// A tool, or several that are alike.
///
/// Arguments are named by their key, or by a pointer (`/ws/url`) where they lie deeper. Tools of the
/// classes `mcp` and `other` name none: a command, file or address of such a call is known to be a
/// guess by its class.
pub(crate) struct Tool {
    names: &'static [&'static str],
    class: ToolClass,
    command: &'static [&'static str],
    paths: &'static [&'static str],
    url: &'static [&'static str],
    /// Another class where an argument is one of some words.
    when: Option<(&'static str, &'static [&'static str], ToolClass)>,
}

/// Creates a row of a table.
pub(crate) const fn tool(class: ToolClass, names: &'static [&'static str]) -> Tool {
    Tool {
        names,
        class,
        command: &[],
        paths: &[],
        url: &[],
        when: None,
    }
}

impl Tool {
    /// Says which argument is a shell command: the first of these that is there.
    pub(crate) const fn command(mut self, keys: &'static [&'static str]) -> Self {
        self.command = keys;
        self
    }

    /// Says which arguments are files: texts, lists of texts, or patches.
    pub(crate) const fn paths(mut self, keys: &'static [&'static str]) -> Self {
        self.paths = keys;
        self
    }

    /// Says which argument is an address, or has one in it: the first of these that is there.
    pub(crate) const fn url(mut self, keys: &'static [&'static str]) -> Self {
        self.url = keys;
        self
    }

    /// Says that calls with one of these words in an argument are of another class.
    pub(crate) const fn when(
        mut self,
        key: &'static str,
        words: &'static [&'static str],
        class: ToolClass,
    ) -> Self {
        self.when = Some((key, words, class));
        self
    }

    fn detail(&self, input: &Value) -> CallDetail {
        let word = |key| argument(input, key).and_then(Value::as_str);
        let class = match self.when {
            Some((key, words, class)) if word(key).is_some_and(|word| words.contains(&word)) => {
                class
            }
            _ => self.class,
        };
        let mut paths: Vec<String> = Vec::new();
        for path in self.paths.iter().flat_map(|key| texts(input, key)) {
            if path.starts_with(PATCH) {
                paths.extend(patched_files(path));
            } else if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        CallDetail {
            class,
            command: self
                .command
                .iter()
                .find_map(|key| word(key))
                .map(str::to_owned),
            paths,
            url: self
                .url
                .iter()
                .find_map(|key| texts(input, key).next())
                .and_then(address),
        }
    }
}

/// How a patch begins that several CLIs have models write.
const PATCH: &str = "*** Begin Patch";

/// The tools of a runtime.
pub(crate) struct ToolTable {
    pub(crate) tools: &'static [Tool],
    /// Classes of tools that are not in the table, by how their names begin.
    pub(crate) prefixes: &'static [(&'static str, ToolClass)],
    /// Separates a server's name from its tool's, where no other tool has it in its name.
    pub(crate) mcp_separator: Option<&'static str>,
}

/// What most tools call these arguments.
const GUESS: Tool = tool(ToolClass::Other, &[])
    .command(&["command"])
    .paths(&["path", "file_path", "filePath"])
    .url(&["url"]);

impl ToolTable {
    fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.names.contains(&name))
    }

    /// Tells whether the table has a tool.
    #[cfg(test)]
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns what a tool is for, by its name alone.
    pub(crate) fn class(&self, name: &str) -> ToolClass {
        self.find(name)
            .map_or_else(|| self.class_by_form(name), |tool| tool.class)
    }

    /// Returns what a call does. Of a tool that is not in the table, its arguments are guessed by their
    /// names.
    pub(crate) fn detail(&self, name: &str, input: &Value) -> CallDetail {
        if let Some(tool) = self.find(name) {
            return tool.detail(input);
        }
        let class = self.class_by_form(name);
        match class {
            ToolClass::Mcp | ToolClass::Other => CallDetail {
                class,
                ..GUESS.detail(input)
            },
            class => CallDetail::of(class),
        }
    }

    fn class_by_form(&self, name: &str) -> ToolClass {
        let begins = self
            .prefixes
            .iter()
            .find(|(start, _)| name.starts_with(start));
        let is_mcp = || self.mcp_separator.is_some_and(|sign| name.contains(sign));
        match begins {
            Some((_, class)) => *class,
            None if is_mcp() => ToolClass::Mcp,
            None => ToolClass::Other,
        }
    }
}

/// Returns an argument by its key, or by a pointer.
fn argument<'i>(input: &'i Value, key: &str) -> Option<&'i Value> {
    if key.starts_with('/') {
        input.pointer(key)
    } else {
        input.get(key)
    }
}

/// Returns an argument's text, or texts.
fn texts<'i>(input: &'i Value, key: &str) -> impl Iterator<Item = &'i str> {
    let value = argument(input, key);
    let list = value.and_then(Value::as_array).into_iter().flatten();
    let one = value.into_iter().chain(list);
    one.filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// Returns the address that an argument is, or the first one in it where it is prose.
fn address(text: &str) -> Option<String> {
    if !text.contains(char::is_whitespace) {
        return Some(text.to_owned());
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')');
    let starts = ["https://", "http://"]
        .iter()
        .filter_map(|scheme| text.find(scheme));
    let rest = text.get(starts.min()?..)?;
    let url = rest.split(is_end).next()?;
    Some(
        url.trim_end_matches(['.', ',', ';', ':', '!', '?'])
            .to_owned(),
    )
}

/// Holds a table to the names that a version of its CLI has, one a line behind a head.
#[cfg(test)]
#[track_caller]
pub(crate) fn check(table: &ToolTable, names: &str) {
    let (head, names) = names.split_once('\n').unwrap_or_default();
    assert!(head.starts_with("# "), "a list says what it was read from");
    let missing: Vec<&str> = names.lines().filter(|name| !table.knows(name)).collect();
    assert!(missing.is_empty(), "{head}: not in the table: {missing:?}");
    let mut seen = std::collections::HashSet::new();
    for tool in table.tools {
        for name in tool.names {
            assert!(seen.insert(name), "{name} is there twice");
        }
        let is_neutral = matches!(tool.class, ToolClass::Mcp | ToolClass::Other);
        let is_bare = tool.command.is_empty() && tool.paths.is_empty() && tool.url.is_empty();
        assert!(is_bare || !is_neutral, "{:?} names arguments", tool.names);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: ToolTable = ToolTable {
        tools: &[
            tool(ToolClass::Shell, &["run", "watch"])
                .command(&["cmd", "command"])
                .url(&["/ws/url"]),
            tool(ToolClass::Write, &["edit"])
                .paths(&["path", "paths", "patch"])
                .when("mode", &["view"], ToolClass::Read),
            tool(ToolClass::Network, &["fetch"]).url(&["urls", "prompt"]),
            tool(ToolClass::Other, &["plan"]),
        ],
        prefixes: &[("mcp__", ToolClass::Mcp), ("browser_", ToolClass::Network)],
        mcp_separator: Some("::"),
    };

    #[test]
    fn arguments_are_what_the_table_says() {
        let run = TABLE.detail("run", &json!({"command": "ls", "url": "u"}));
        assert_eq!((run.command.as_deref(), run.url), (Some("ls"), None));
        let watch = TABLE.detail("watch", &json!({"ws": {"url": "wss://h"}}));
        assert_eq!(watch.url.as_deref(), Some("wss://h"));
        let patch = "*** Begin Patch\n*** Add File: c\n*** End Patch";
        let input = json!({"path": "a", "paths": ["b", 1, "a"], "patch": patch});
        let edit = TABLE.detail("edit", &input);
        assert_eq!(
            (edit.class, edit.paths),
            (
                ToolClass::Write,
                vec!["a".into(), "b".into(), "c".to_owned()]
            )
        );
        assert_eq!(
            TABLE.detail("edit", &json!({"mode": "view"})).class,
            ToolClass::Read
        );
        let fetch = |input| TABLE.detail("fetch", &input).url;
        assert_eq!(fetch(json!({"urls": ["u", "v"]})).as_deref(), Some("u"));
        let told = json!({"prompt": "Sum up (https://a.example/b?c=1), please."});
        assert_eq!(fetch(told).as_deref(), Some("https://a.example/b?c=1"));
        assert_eq!(fetch(json!({"prompt": "Sum up."})), None);
        for nothing in [json!(null), json!(5), json!({"command": 5, "cmd": null})] {
            let detail = TABLE.detail("run", &nothing);
            assert_eq!(detail, CallDetail::of(ToolClass::Shell), "{nothing}");
        }
    }

    #[test]
    fn of_unknown_tools_the_arguments_are_guessed() {
        let input = json!({"command": "ls", "file_path": "a", "url": "u"});
        for (name, class) in [
            ("x", ToolClass::Other),
            ("mcp__s__t", ToolClass::Mcp),
            ("s::t", ToolClass::Mcp),
        ] {
            let found = TABLE.detail(name, &input);
            assert_eq!(found.class, class, "{name}");
            assert_eq!(found.command.as_deref(), Some("ls"), "{name}");
            assert_eq!(
                (found.paths, found.url.as_deref()),
                (vec!["a".to_owned()], Some("u"))
            );
        }
        assert_eq!(
            TABLE.detail("plan", &input),
            CallDetail::of(ToolClass::Other)
        );
        let other = TABLE.detail("browser_x", &input);
        assert_eq!(other, CallDetail::of(ToolClass::Network));
    }
}
