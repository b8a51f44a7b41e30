//! Names and paths that somebody asks for: as they are, or with `*` and `?` in them.

use crate::derive::paths::{absolute, is_rooted};

/// Tells whether a text is a pattern rather than a name.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Tells whether a text fits a pattern, in which `*` stands for any characters and `?` for any one.
/// Takes time in proportion to both lengths at the worst.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // Where the last star was seen, and how far it reached in the text.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut place) = (0, 0);
    while let Some(byte) = text.get(place) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                place += width(*byte);
            }
            Some(wanted) if wanted == byte => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((starred, reached)) = star else {
                    return false;
                };
                star = Some((starred, reached + 1));
                (at, place) = (starred + 1, reached + 1);
            }
        }
    }
    let rest = pattern.get(at..).unwrap_or_default();
    rest.iter().all(|byte| *byte == b'*')
}

/// Returns how many bytes a character takes that begins with this one.
fn width(first: u8) -> usize {
    match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        _ => 1,
    }
}

/// A name, or a pattern of names: of hosts, for one, where case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// Reads a name or a pattern.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    /// Tells whether a name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        fits(&self.0, &name.to_lowercase())
    }
}

/// A path that somebody asks for.
///
/// - From a root on (`/srv/src`, `./src`, `../src`): that file, or whatever is below that directory.
/// - Any other (`main.rs`, `src/main.rs`): whatever ends so, and whatever is below a directory that does.
/// - With `*` or `?`: whatever fits, from the root or from any directory on. A `*` reaches across
///   directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    /// A pattern for the whole path.
    patterns: Vec<String>,
    /// A path and what is below it.
    root: Option<String>,
}

impl PathPattern {
    /// Reads what somebody typed who works in a directory.
    #[must_use]
    pub fn new(text: &str, directory: &str) -> Self {
        let is_here =
            matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../");
        let whole = absolute(text, Some(directory).filter(|_| is_here));
        let is_rooted = is_here || is_rooted(text);
        if is_pattern(text) {
            let is_anywhere = !is_rooted && !text.starts_with('*');
            let mut patterns = vec![whole.clone()];
            patterns.extend(is_anywhere.then(|| format!("*/{whole}")));
            return Self {
                patterns,
                root: None,
            };
        }
        if is_rooted {
            return Self {
                patterns: Vec::new(),
                root: Some(whole),
            };
        }
        // A name has no star in it, so that these are patterns of it and nothing else.
        let name = text.trim_end_matches('/');
        Self {
            patterns: ["*/{}", "*/{}/*", "{}/*", "*\\{}"]
                .map(|form| form.replace("{}", name))
                .to_vec(),
            root: Some(name.to_owned()),
        }
    }

    /// Tells whether a path is one of those.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let is_below = |root: &str| {
            let rest = path.strip_prefix(root);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(['/', '\\']) || root.ends_with('/')
            })
        };
        self.root.as_deref().is_some_and(is_below)
            || self.patterns.iter().any(|pattern| fits(pattern, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_question_marks_for_one_character() {
        let table = [
            ("mcp*", "mcp__x", true),
            ("mcp*", "amcp", false),
            ("*", "", true),
            ("?", "ä", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("[a]*", "[a]b", true),
            ("**/x", "a/b/x", true),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("*ü", "grün", false),
            ("*ün", "grün", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
        assert!(NamePattern::new("*.Example.com").matches("api.example.COM"));
        let stars = "*a".repeat(50);
        assert!(!fits(&stars, &"b".repeat(100_000)));
    }

    #[test]
    fn a_path_is_found_by_its_end_its_directory_or_a_pattern() {
        let table = [
            ("main.rs", "/w/src/main.rs", true),
            ("main.rs", "main.rs", true),
            ("main.rs", "/w/src/domain.rs", false),
            ("src/main.rs", "/w/src/main.rs", true),
            ("src", "/w/src/main.rs", true),
            ("src/", "/w/src/main.rs", true),
            ("src", "/w/src2/main.rs", false),
            ("/w/src", "/w/src/main.rs", true),
            ("/w/src", "/w/src", true),
            ("/w/sr", "/w/src/main.rs", false),
            ("/", "/w/src", true),
            ("./src", "/here/src/a", true),
            ("./src", "/w/src/a", false),
            ("..", "/here", true),
            ("..", "/a", true),
            ("*.rs", "/w/src/main.rs", true),
            ("*.rs", "/w/src/main.py", false),
            ("src/*.rs", "/w/src/a/main.rs", true),
            ("/w/*.rs", "/w/src/main.rs", true),
            ("/v/*.rs", "/w/src/main.rs", false),
            ("./*.rs", "/here/a.rs", true),
            ("./*.rs", "/w/a.rs", false),
            ("ma?n.rs", "/w/main.rs", true),
        ];
        for (pattern, path, expected) in table {
            let found = PathPattern::new(pattern, "/here").matches(path);
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }
}
