//! Hosts in addresses, and hosts that shell commands name.

use std::collections::BTreeSet;

/// Most hosts that are named of one command.
const MOST: usize = 100;

/// Longest name of a host.
const LONGEST: usize = 253;

/// What a word without an address ends in if it is a file rather than a host.
const FILE_ENDINGS: &[&str] = &[
    "json", "txt", "html", "htm", "md", "sh", "py", "js", "ts", "gz", "tgz", "zip", "tar", "log",
    "xml", "yml", "yaml", "csv", "png", "jpg", "pdf", "rs", "toml", "conf", "pem", "key", "crt",
    "sql", "db", "bin", "out",
];

/// Returns the host of an address, if it has one that can be read.
pub(crate) fn of_url(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest,
        None => url.strip_prefix("//").unwrap_or(url),
    };
    of_authority(rest)
}

/// Returns the hosts in addresses that a shell command has anywhere, each once, in order of their
/// names. A guess: nothing says what the command does with them.
pub(crate) fn in_command(command: &str) -> BTreeSet<String> {
    let mut hosts = BTreeSet::new();
    for (at, _) in command.match_indices("://") {
        let (before, after) = command.split_at(at);
        let is_scheme =
            |character: char| character.is_ascii_alphanumeric() || "+.-".contains(character);
        let scheme = before
            .rsplit(|character| !is_scheme(character))
            .next()
            .unwrap_or_default();
        let is_local = scheme.is_empty() || ["file", "sqlite"].contains(&scheme);
        let host = after.get(3..).and_then(of_authority);
        hosts.extend(host.filter(|_| !is_local));
        if hosts.len() >= MOST {
            return hosts;
        }
    }
    let ends = |c: char| c.is_whitespace() || ";|&()`\"'<>".contains(c);
    hosts.extend(command.split(ends).filter_map(of_remote).take(MOST));
    hosts
}

/// Tells whether a word is a host that is written out: a name with a dot that is no file's, or an
/// address.
pub(crate) fn is_full_host(text: &str) -> bool {
    of_authority(text).is_some_and(|host| is_full(&host))
}

/// Returns the part with the host of what git takes for a remote one: an address, or `HOST:PATH`.
pub(crate) fn remote(text: &str) -> Option<&str> {
    if text.contains("://") {
        return (!text.starts_with("file://")).then_some(text);
    }
    let (place, _) = text.split_once(':')?;
    (!place.contains('/') && place.len() > 1).then_some(place)
}

/// Returns the host of `git@HOST:PATH`, which any program may take.
fn of_remote(word: &str) -> Option<String> {
    let (user, place) = word.split_once('@')?;
    let (host, path) = place.split_once(':')?;
    let is_user = !user.is_empty()
        && user
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let is_path = !path.is_empty() && !path.starts_with(':');
    of_authority(host).filter(|host| is_user && is_path && is_full(host))
}

/// Tells whether a host is written out: a name with a dot that is no file's, or an address.
fn is_full(host: &str) -> bool {
    let Some((_, last)) = host.rsplit_once('.') else {
        return host == "localhost" || host.starts_with('[');
    };
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_number
        && host
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.'))
        || (is_name && !FILE_ENDINGS.contains(&last))
}

/// Returns the host at the beginning of a text, after a user and before a port or a path.
fn of_authority(text: &str) -> Option<String> {
    let ends =
        |character: char| character.is_whitespace() || "/?#\"'`<>()|;&,\\".contains(character);
    let authority = text.split(ends).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, _) = rest.split_once(']')?;
            let is_address = address.contains(':')
                && address
                    .bytes()
                    .all(|b| b.is_ascii_hexdigit() || b":.%".contains(&b));
            return is_address.then(|| format!("[{}]", address.to_lowercase()));
        }
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.');
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte) || byte >= 0x80;
    let is_host = !host.is_empty()
        && host.len() <= LONGEST
        && !host.starts_with(['-', '.'])
        && !host.contains("..")
        && host.bytes().all(is_allowed);
    is_host.then(|| host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host() {
        let table = [
            ("https://Example.com/a?b", Some("example.com")),
            ("http://user:pass@h.example:8080", Some("h.example")),
            ("example.com/path", Some("example.com")),
            ("http://[::1]:80/", Some("[::1]")),
            ("http://", None),
            ("https://$HOST/", None),
            ("", None),
        ];
        for (url, expected) in table {
            assert_eq!(of_url(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn hosts_in_commands_are_guessed() {
        let table: &[(&str, &[&str])] = &[
            ("make URL=https://a.example/x", &["a.example"]),
            ("./clone git@github.com:a/b.git", &["github.com"]),
            ("ls -l a.example", &[]),
            ("python -c 'open(\"file:///etc/passwd\")'", &[]),
            ("echo a@b.example", &[]),
            ("x http://x.example http://x.example/2", &["x.example"]),
            ("psql postgres://u:p@db.example:5432/x", &["db.example"]),
        ];
        for (command, expected) in table {
            let found = in_command(command);
            assert_eq!(
                found.iter().map(String::as_str).collect::<Vec<_>>(),
                *expected,
                "{command}"
            );
        }
        let many: Vec<String> = (0..1000).map(|n| format!("http://h{n}.example")).collect();
        assert_eq!(in_command(&many.join(" ")).len(), MOST);
    }
}
