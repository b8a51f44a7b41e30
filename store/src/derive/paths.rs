//! Paths that calls named, as texts: no file system is asked.

/// Returns a path as it stands from the root on, without `.` and `..`, where that can be known.
///
/// A path from a home directory (`~`) stays: whose it is, nobody said. So does a relative one of a
/// run whose directory is not known.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> String {
    let is_whole = is_rooted(path) || path == "~" || path.starts_with("~/");
    match cwd.filter(|cwd| !is_whole && is_rooted(cwd)) {
        Some(cwd) => {
            let separator = separator(cwd);
            normal(&format!("{cwd}{separator}{path}"))
        }
        None if is_rooted(path) => normal(path),
        None => path.to_owned(),
    }
}

/// Tells whether a path begins at a root: `/`, or `C:\` and `\\server` on Windows.
pub(crate) fn is_rooted(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("\\\\") || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

/// Returns what separates the names of a path that begins at a root. On Unix a backslash is a
/// character like any other.
fn separator(path: &str) -> char {
    let is_windows = !path.starts_with('/') && path.contains('\\');
    if is_windows { '\\' } else { '/' }
}

/// Takes `.`, `..` and repeated separators out of a path that begins at a root.
fn normal(path: &str) -> String {
    let separator = separator(path);
    let (root, rest) = match path.strip_prefix("\\\\") {
        Some(rest) => ("\\\\", rest),
        None if has_drive(path) => path.split_at(3),
        None => path.split_at(1),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in rest.split(['/', separator]) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("{root}{}", names.join(separator.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_directory_of_their_run() {
        let table = [
            ("a.txt", Some("/srv"), "/srv/a.txt"),
            ("./src/../a.txt", Some("/srv/"), "/srv/a.txt"),
            ("../../../a", Some("/srv/x"), "/a"),
            (".", Some("/srv"), "/srv"),
            ("/etc//hosts", Some("/srv"), "/etc/hosts"),
            ("/a/./b/", None, "/a/b"),
            ("/", None, "/"),
            ("a.txt", None, "a.txt"),
            ("a.txt", Some("work"), "a.txt"),
            ("~/a", Some("/srv"), "~/a"),
            ("a\\b", Some("/srv"), "/srv/a\\b"),
            ("src\\a.rs", Some("C:\\work"), "C:\\work\\src\\a.rs"),
            ("C:\\work\\..\\a", None, "C:\\a"),
            ("\\\\server\\share\\a", None, "\\\\server\\share\\a"),
            ("", Some("/srv"), "/srv"),
        ];
        for (path, cwd, expected) in table {
            assert_eq!(absolute(path, cwd), expected, "{path} in {cwd:?}");
        }
    }
}
