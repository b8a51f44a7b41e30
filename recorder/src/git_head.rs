//! At which commit and on which branch a directory is, from git's files alone.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The most bytes of a small file that are read: a reference, a path.
const SMALL: u64 = 16 * 1024;
/// The most bytes of the file of packed references that are read.
const PACKED: u64 = 64 << 20;
/// The most directories that are looked at on the way up.
const HIGHEST: usize = 128;

/// At which commit and on which branch a directory is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitHead {
    /// The commit; none on a branch without one.
    pub commit: Option<String>,
    /// The branch; none if a commit is checked out by itself.
    pub branch: Option<String>,
}

/// Finds out at which commit and on which branch a directory is; `None` if git knows nothing of it. No process is
/// started, and nothing but git's own small files is read.
#[must_use]
pub fn git_head(directory: &Path) -> Option<GitHead> {
    let own = directory
        .ancestors()
        .take(HIGHEST)
        .find_map(git_directory)?;
    // A worktree has a head of its own, and shares the references.
    let shared = match read_small(&own.join("commondir")) {
        Some(path) => own.join(path),
        None => own.clone(),
    };
    let head = read_small(&own.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        let commit = Some(head).filter(|head| is_commit(head))?;
        let commit = Some(commit);
        return Some(GitHead {
            commit,
            branch: None,
        });
    };
    let is_plain = name.starts_with("refs/") && !name.split('/').any(|part| part == "..");
    if !is_plain || name.chars().any(char::is_control) {
        return None;
    }
    let commit = [&own, &shared]
        .into_iter()
        .find_map(|directory| read_small(&directory.join(name)).filter(|text| is_commit(text)))
        .or_else(|| packed(&shared.join("packed-refs"), name));
    let branch = name.strip_prefix("refs/heads/").map(str::to_owned);
    // With references kept in another form, the head names no branch at all.
    let branch = branch.filter(|branch| branch != ".invalid");
    (commit.is_some() || branch.is_some()).then_some(GitHead { commit, branch })
}

/// Returns where git keeps what it knows of a directory that is the top of a working copy.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let path = top.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let link = read_small(&path)?;
    let target = link.strip_prefix("gitdir:")?.trim();
    Some(top.join(target))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads a small file without the line end; `None` if there is none, or it is not small.
fn read_small(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = file.take(SMALL + 1).read_to_string(&mut text).ok()?;
    (u64::try_from(read).ok()? <= SMALL).then(|| text.trim().to_owned())
}

/// Finds a reference among the packed ones.
fn packed(path: &Path, name: &str) -> Option<String> {
    let file = File::open(path).ok()?;
    let lines = BufReader::new(file.take(PACKED)).lines();
    lines.map_while(Result::ok).find_map(|line| {
        let (commit, found) = line.split_once(' ')?;
        (found == name && is_commit(commit)).then(|| commit.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ONE: &str = "0123456789012345678901234567890123456789";
    const TWO: &str = "abcdefabcdefabcdefabcdefabcdefabcdefabcd";

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn head(commit: Option<&str>, branch: Option<&str>) -> GitHead {
        GitHead {
            commit: commit.map(str::to_owned),
            branch: branch.map(str::to_owned),
        }
    }

    #[test]
    fn the_head_is_found_however_git_keeps_it() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        let git = top.join(".git");
        let below = top.join("src/deep");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(git_head(&below), None, "no repository");
        write(&git.join("HEAD"), "ref: refs/heads/main\n");
        assert_eq!(
            git_head(&below),
            Some(head(None, Some("main"))),
            "no commit yet"
        );
        let packed = format!("# pack-refs with: peeled\n{TWO} refs/heads/main\n^{ONE}\n");
        write(&git.join("packed-refs"), &packed);
        assert_eq!(
            git_head(&below),
            Some(head(Some(TWO), Some("main"))),
            "packed"
        );
        write(&git.join("refs/heads/main"), &format!("{ONE}\n"));
        assert_eq!(git_head(top), Some(head(Some(ONE), Some("main"))), "loose");
        write(&git.join("HEAD"), &format!("{TWO}\n"));
        assert_eq!(git_head(top), Some(head(Some(TWO), None)), "detached");
    }

    #[test]
    fn a_worktree_has_its_own_head_and_shares_the_references() {
        let directory = tempfile::tempdir().unwrap();
        let main = directory.path().join("main/.git");
        let own = main.join("worktrees/other");
        write(&own.join("HEAD"), "ref: refs/heads/topic/one\n");
        write(&own.join("commondir"), "../..\n");
        write(&main.join("HEAD"), "ref: refs/heads/main\n");
        write(&main.join("refs/heads/topic/one"), ONE);
        let other = directory.path().join("other");
        write(&other.join(".git"), &format!("gitdir: {}\n", own.display()));
        assert_eq!(git_head(&other), Some(head(Some(ONE), Some("topic/one"))));
        write(
            &other.join(".git"),
            "gitdir: ../main/.git/worktrees/other\n",
        );
        assert_eq!(
            git_head(&other),
            Some(head(Some(ONE), Some("topic/one"))),
            "relative"
        );
    }

    #[test]
    fn what_is_no_head_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let git = directory.path().join(".git");
        for text in [
            "",
            "nonsense",
            "ref: ../../etc/passwd",
            "ref: refs/../../secret",
            "ref: refs/heads/.invalid",
            &"x".repeat(100_000),
        ] {
            write(&git.join("HEAD"), text);
            assert_eq!(git_head(directory.path()), None, "{}", text.len());
        }
    }
}
