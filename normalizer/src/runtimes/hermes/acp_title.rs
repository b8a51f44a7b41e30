//! The titles of calls in `hermes acp`: the only place where a tool is named.

use std::borrow::Cow;

/// Returns the tool that a title names.
///
/// Most titles are words for people. Any other tool, and in later versions every tool, is called
/// by its own name, alone or before a colon.
pub(super) fn tool_of_title(title: &str) -> Cow<'_, str> {
    if let Some((_, tool)) = EXACT.iter().find(|(known, _)| *known == title) {
        return Cow::Borrowed(tool);
    }
    if let Some((_, tool)) = BEGINNINGS
        .iter()
        .find(|(known, _)| title.starts_with(known))
    {
        return Cow::Borrowed(tool);
    }
    let name = title.split_once(": ").map_or(title, |(name, _)| name);
    let is_name = !name.is_empty() && !name.contains(' ');
    Cow::Borrowed(if is_name { name } else { title })
}

const EXACT: &[(&str, &str)] = &[
    ("recent sessions", "session_search"),
    ("todo", "todo"),
    ("skills list", "skills_list"),
    ("browser snapshot", "browser_snapshot"),
    ("browser vision", "browser_vision"),
    ("browser images", "browser_get_images"),
    ("analyze image", "vision_analyze"),
    ("generate image", "image_generate"),
];

const BEGINNINGS: &[(&str, &str)] = &[
    ("terminal: ", "terminal"),
    ("read: ", "read_file"),
    ("write: ", "write_file"),
    ("patch (", "patch"),
    ("patch: ", "patch"),
    ("search: ", "search_files"),
    ("web search: ", "web_search"),
    ("extract: ", "web_extract"),
    ("process ", "process"),
    ("delegate: ", "delegate_task"),
    ("delegate batch (", "delegate_task"),
    ("session search: ", "session_search"),
    ("memory ", "memory"),
    ("python: ", "execute_code"),
    ("todo (", "todo"),
    ("skill view (", "skill_view"),
    ("skills list ", "skills_list"),
    ("skill ", "skill_manage"),
    ("navigate: ", "browser_navigate"),
    ("browser snapshot ", "browser_snapshot"),
    ("browser vision: ", "browser_vision"),
    ("analyze image: ", "vision_analyze"),
    ("generate image: ", "image_generate"),
    ("cron ", "cronjob"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_tools() {
        let table = [
            ("terminal: sleep 0.6; echo slow", "terminal"),
            ("patch (replace): notes.txt", "patch"),
            ("search: line", "search_files"),
            ("todo", "todo"),
            ("todo (1 item)", "todo"),
            ("skill view (x)", "skill_view"),
            ("skill create: x", "skill_manage"),
            ("skills list", "skills_list"),
            ("memory add: user", "memory"),
            ("delegate batch (2 tasks)", "delegate_task"),
            ("clarify", "clarify"),
            ("read_file: a.txt", "read_file"),
            ("mcp_github_list: x", "mcp_github_list"),
            ("something for people", "something for people"),
            ("", ""),
        ];
        for (title, tool) in table {
            assert_eq!(tool_of_title(title), tool, "{title}");
        }
    }
}
