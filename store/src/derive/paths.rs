//! Paths that calls named, as texts: no file system is asked.

/// Returns the files that a call named, each once and as it stands from the root on: so a file has one path, whichever way it
/// was named. `cwd` is the directory that the run worked in, and `user` who it ran as.
///
/// A path from a home directory (`~`) is known where the run worked below its user's. Where not, it stays, and so does a
/// relative one of a run whose directory is not known. Letters stay as they are: some file systems tell `A` from `a`.
#[must_use]
pub fn resolved_paths(named: &[String], cwd: Option<&str>, user: Option<&str>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::with_capacity(named.len());
    for path in named {
        let at_home = from_home(path, cwd, user);
        let path = absolute(at_home.as_deref().unwrap_or(path), cwd);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns a path that is given from a home directory as it stands from the root on, where that can be known.
fn from_home(path: &str, cwd: Option<&str>, user: Option<&str>) -> Option<String> {
    let rest = path.strip_prefix('~')?;
    if !(rest.is_empty() || rest.starts_with(['/', '\\'])) {
        return None;
    }
    Some(format!("{}{rest}", home(cwd?, user)?))
}

/// Returns the home directory that a directory is in or below, unless it is that of somebody else.
fn home<'a>(cwd: &'a str, user: Option<&str>) -> Option<&'a str> {
    // Windows says `DOMAIN\name`.
    let user = user.and_then(|user| user.rsplit('\\').next());
    let is_separator = |letter: char| letter == separator(cwd);
    let ends = |from: usize| {
        let rest = cwd.get(from..)?;
        let length = rest.find(is_separator).unwrap_or(rest.len());
        Some(from + length).filter(|_| length > 0)
    };
    if cwd == "/root" || cwd.starts_with("/root/") {
        return cwd
            .get(..5)
            .filter(|_| user.is_none_or(|user| user == "root"));
    }
    let mut below = ["/home/", "/Users/"].into_iter();
    let below = below.find(|place| cwd.starts_with(place)).map(str::len);
    let is_users = |cwd: &str| has_drive(cwd) && cwd.get(2..9) == Some("\\Users\\");
    let from = below.or_else(|| is_users(cwd).then_some(9))?;
    let end = ends(from)?;
    let name = cwd.get(from..end)?;
    cwd.get(..end)
        .filter(|_| user.is_none_or(|user| user == name))
}

/// Returns a path as it stands from the root on, without `.` and `..`, where that can be known without knowing whose home
/// directory `~` is.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> String {
    let is_whole =
        is_rooted(path) || path == "~" || path.starts_with("~/") || path.starts_with("~\\");
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
    fn a_file_has_one_path_whichever_way_it_is_named() {
        let named = |paths: &[&str], cwd, user| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            resolved_paths(&paths, cwd, user)
        };
        let ways = [
            "notes.txt",
            "./notes.txt",
            "/home/dev/ws/notes.txt",
            "../ws//notes.txt",
            "~/ws/notes.txt",
            "/home/dev/ws/../ws/./notes.txt",
        ];
        let cwd = Some("/home/dev/ws");
        assert_eq!(named(&ways, cwd, Some("dev")), ["/home/dev/ws/notes.txt"]);
        assert_eq!(named(&ways, cwd, None), ["/home/dev/ws/notes.txt"]);
        assert_eq!(
            named(&["a", "A", "a"], cwd, None),
            ["/home/dev/ws/a", "/home/dev/ws/A"]
        );
        let table = [
            ("~/a", Some("/root/x"), Some("root"), "/root/a"),
            ("~/a", Some("/root"), None, "/root/a"),
            ("~", Some("/home/dev/ws"), None, "/home/dev"),
            ("~/../b", Some("/Users/dev"), None, "/Users/b"),
            (
                "~\\a",
                Some("C:\\Users\\dev\\ws"),
                Some("PC\\dev"),
                "C:\\Users\\dev\\a",
            ),
            // Nobody knows whose home it is.
            ("~/a", Some("/home/dev/ws"), Some("root"), "~/a"),
            ("~/a", Some("/root/x"), Some("dev"), "~/a"),
            ("~/a", Some("/rooted/x"), None, "~/a"),
            ("~/a", Some("/home"), None, "~/a"),
            ("~/a", Some("/home/"), None, "~/a"),
            ("~/a", Some("/srv/home/dev"), Some("dev"), "~/a"),
            ("~/a", None, Some("dev"), "~/a"),
            // That of another user, and names that only look like it.
            ("~bob/a", Some("/home/dev"), None, "/home/dev/~bob/a"),
            ("~a", Some("/home/dev"), None, "/home/dev/~a"),
        ];
        for (path, cwd, user, expected) in table {
            assert_eq!(
                named(&[path], cwd, user),
                [expected],
                "{path} in {cwd:?} of {user:?}"
            );
        }
    }

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
