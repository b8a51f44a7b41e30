//! The files that words name.

use std::collections::BTreeSet;

use super::MOST;
use super::reader::{Base, Reader};
use super::word::Word;
use crate::derive::paths::is_rooted;

/// Longest path that is taken for one.
const LONGEST: usize = 4096;

/// Places that are no files.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

impl Reader {
    pub(super) fn reads(&mut self, word: &Word, base: &Base) {
        if let Some(path) = self.place(word, base) {
            let list = &mut self.effects.read;
            self.is_untold.0 |= !add(list, path);
        }
    }

    pub(super) fn writes(&mut self, word: &Word, base: &Base) {
        if let Some(path) = self.place(word, base) {
            let list = &mut self.effects.written;
            self.is_untold.0 |= !add(list, path);
        }
    }

    pub(super) fn deletes(&mut self, word: &Word, base: &Base) {
        if let Some(path) = self.place(word, base) {
            let list = &mut self.effects.deleted;
            self.is_untold.0 |= !add(list, path);
        }
    }

    /// Returns the place that a word names; none where it is no file, or cannot be told.
    fn place(&mut self, word: &Word, base: &Base) -> Option<String> {
        if let Some(address) = word
            .text
            .strip_prefix("/dev/tcp/")
            .or(word.text.strip_prefix("/dev/udp/"))
        {
            let host = address.split('/').next().unwrap_or_default();
            self.reaches(&Word::of(host.to_owned()), false);
            return None;
        }
        let path = word.told().filter(|_| !word.is_pattern && !word.is_odd);
        let path = path.filter(|path| path.len() <= LONGEST);
        let is_users = |path: &str| path.starts_with('~') && path != "~" && !path.starts_with("~/");
        let Some(path) = path.filter(|path| !is_users(path)) else {
            self.is_untold.0 = true;
            return None;
        };
        if path.is_empty() || path == "-" || DEVICES.contains(&path) || path.starts_with("/dev/fd/")
        {
            return None;
        }
        let place = joined(base, path);
        self.is_untold.0 |= place.is_none();
        place
    }
}

/// Adds a name to a list; `false` where the list is full.
pub(super) fn add(list: &mut BTreeSet<String>, name: String) -> bool {
    let has_room = list.len() < MOST || list.contains(&name);
    if has_room {
        list.insert(name);
    }
    has_room
}

/// Returns a path from the directory on in which the script ran.
fn joined(base: &Base, path: &str) -> Option<String> {
    if is_rooted(path) || path == "~" || path.starts_with("~/") {
        return Some(path.to_owned());
    }
    let base = base.as_deref()?;
    let path = path
        .strip_prefix("./")
        .filter(|path| !path.is_empty())
        .unwrap_or(path);
    Some(match base {
        "" => path.to_owned(),
        base if base.ends_with('/') => format!("{base}{path}"),
        base => format!("{base}/{path}"),
    })
}

/// Goes to another directory, as `cd` does.
pub(super) fn change_directory(words: &[Word], base: &mut Base) {
    let is_option = |word: &&Word| word.text.len() > 1 && word.text.starts_with('-');
    let mut operands = words.iter().filter(|word| !is_option(word));
    *base = match operands.next() {
        None => Some("~".into()),
        Some(word) => word
            .told()
            .filter(|path| !word.is_pattern && !word.is_odd && *path != "-")
            .filter(|path| !path.starts_with('~') || *path == "~" || path.starts_with("~/"))
            .filter(|path| !path.is_empty())
            .and_then(|path| match path.trim_end_matches('/') {
                "" => Some("/".to_owned()),
                path => joined(base, path),
            })
            .filter(|path| path.len() <= LONGEST)
            .map(Into::into),
    };
}
