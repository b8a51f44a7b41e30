//! What programs fetch from hosts and send there, and where they put it.

use super::options::Arguments;
use super::places::{add, change_directory};
use super::reader::{Base, Input, Reader};
use super::word::Word;
use crate::derive::hosts;

/// Programs whose operands are addresses or hosts.
const CLIENTS: &[&str] = &[
    "http",
    "https",
    "xh",
    "aria2c",
    "dig",
    "nslookup",
    "host",
    "traceroute",
    "whois",
];

/// Programs whose first operand is a host, and which of their options have values.
const CONNECTORS: &[(&[&str], &str)] = &[
    (&["ssh", "mosh", "autossh"], "bcDEeFIiJLlmOopQRSWw"),
    (&["sftp"], "BbcDFiJloPRSs"),
    (&["ping", "ping6"], "cIiWwstmQlpM"),
    (&["telnet", "ftp"], ""),
    (&["nc", "ncat"], "IiMmOPpqsTVWwXx"),
];

/// Options of curl behind which a value comes.
const CURL_LETTERS: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";
const CURL_NAMES: &[&str] = &[
    "output",
    "output-dir",
    "header",
    "data",
    "data-raw",
    "data-binary",
    "data-ascii",
    "data-urlencode",
    "json",
    "request",
    "user",
    "user-agent",
    "cookie",
    "cookie-jar",
    "form",
    "form-string",
    "upload-file",
    "max-time",
    "connect-timeout",
    "write-out",
    "cacert",
    "cert",
    "key",
    "retry",
    "retry-delay",
    "retry-max-time",
    "proxy",
    "url",
    "config",
    "dump-header",
    "referer",
    "range",
    "resolve",
    "interface",
    "limit-rate",
    "max-redirs",
    "trace",
    "trace-ascii",
    "stderr",
    "oauth2-bearer",
    "ciphers",
    "capath",
    "pass",
    "unix-socket",
    "netrc-file",
    "time-cond",
    "connect-to",
];

impl Reader {
    /// Takes a program that has to do with hosts, if it is one.
    pub(super) fn transfer(&mut self, name: &str, words: &[Word], base: &Base) {
        if CLIENTS.contains(&name) {
            for word in Arguments::of(words, "taX", &["auth"]).operands {
                let text = word.text.strip_prefix('@').unwrap_or(&word.text);
                if word.told().is_none() || text.contains("://") || hosts::is_full_host(text) {
                    self.reaches(&Word::of(text.to_owned()), true);
                }
            }
        } else if let Some((_, letters)) =
            CONNECTORS.iter().find(|(names, _)| names.contains(&name))
            && let Some(word) = Arguments::of(words, letters, &[]).operands.first()
        {
            self.reaches(word, false);
        }
        match name {
            "scp" | "rsync" => self.copy_far(name, words, base),
            "curl" => self.curl(words, base),
            "wget" => self.wget(words, base),
            "openssl" => {
                let arguments = words.iter().skip_while(|word| word.text != "-connect");
                arguments
                    .skip(1)
                    .take(1)
                    .for_each(|word| self.reaches(word, false));
            }
            _ => {}
        }
    }

    /// Notes a host by its name or an address; where it must be written out, a word that is not one is
    /// something else.
    pub(super) fn reaches(&mut self, word: &Word, is_full: bool) {
        match hosts::of_url(&word.text) {
            Some(host)
                if !is_full || word.text.contains("://") || hosts::is_full_host(&word.text) =>
            {
                self.is_untold.1 |= !add(&mut self.effects.hosts, host);
            }
            _ => self.is_untold.1 |= word.told().is_none(),
        }
    }

    fn copy_far(&mut self, name: &str, words: &[Word], base: &Base) {
        let letters = if name == "scp" { "cDFiJloPSX" } else { "efTBM" };
        let names = [
            "rsh",
            "exclude",
            "include",
            "filter",
            "exclude-from",
            "include-from",
            "files-from",
        ];
        let arguments = Arguments::of(words, letters, &names);
        let Some((target, sources)) = arguments.operands.split_last() else {
            return;
        };
        for (word, is_target) in sources
            .iter()
            .map(|word| (word, false))
            .chain([(target, true)])
        {
            let is_near = match word.text.split_once(':') {
                Some((place, _)) => place.contains('/') || place.len() < 2,
                None => true,
            };
            match (is_near, is_target) {
                (false, _) => {
                    let place = hosts::remote(&word.text).unwrap_or_default();
                    self.reaches(&Word::of(place.to_owned()), false);
                }
                (true, false) => self.reads(word, base),
                (true, true) => self.writes(word, base),
            }
        }
        self.is_untold.0 |= arguments.has(&["delete", "remove-source-files", "files-from"]);
    }

    fn curl(&mut self, words: &[Word], base: &Base) {
        let arguments = Arguments::of(words, CURL_LETTERS, CURL_NAMES);
        let urls: Vec<&Word> = arguments
            .values(&["url"])
            .chain(&arguments.operands)
            .collect();
        for url in &urls {
            self.reaches(url, false);
        }
        for word in arguments.values(&["T", "upload-file", "K", "config", "netrc-file"]) {
            self.reads(word, base);
        }
        self.is_untold.1 |= arguments.has(&["K", "config"]);
        for word in arguments.values(&["d", "data", "data-binary", "data-ascii", "json"]) {
            if let Some(file) = word.text.strip_prefix('@') {
                self.reads(&Word::of(file.to_owned()), base);
            }
        }
        for word in arguments.values(&["F", "form"]) {
            let file = word
                .text
                .split_once('=')
                .and_then(|(_, value)| value.strip_prefix(['@', '<']));
            if let Some(file) = file {
                let file = file.split(';').next().unwrap_or_default();
                self.reads(&Word::of(file.to_owned()), base);
            }
        }
        for word in arguments.values(&[
            "c",
            "cookie-jar",
            "D",
            "dump-header",
            "trace",
            "trace-ascii",
            "stderr",
        ]) {
            self.writes(word, base);
        }
        let mut base = base.clone();
        if let Some(directory) = arguments.value(&["output-dir"]) {
            change_directory(std::slice::from_ref(directory), &mut base);
        }
        for word in arguments.values(&["o", "output"]) {
            self.writes(word, &base);
        }
        if arguments.has(&["O", "remote-name", "remote-name-all"]) {
            for url in urls {
                let path = url.text.split(['?', '#']).next().unwrap_or_default();
                self.writes(&file_of(path, None), &base);
            }
        }
    }

    fn wget(&mut self, words: &[Word], base: &Base) {
        const NAMES: &[&str] = &[
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "input-file",
            "user-agent",
            "header",
            "timeout",
            "tries",
            "wait",
            "post-data",
            "post-file",
            "user",
            "password",
            "level",
            "accept",
            "reject",
            "domains",
            "ca-certificate",
            "method",
            "body-data",
            "referer",
            "limit-rate",
        ];
        let arguments = Arguments::of(words, "OoaPiUtTeARXIlDQwB", NAMES);
        arguments
            .operands
            .iter()
            .for_each(|url| self.reaches(url, false));
        for word in arguments.values(&["o", "output-file", "a", "append-output"]) {
            self.writes(word, base);
        }
        for word in arguments.values(&["i", "input-file", "post-file"]) {
            self.reads(word, base);
        }
        let has_list = arguments.has(&["i", "input-file"]);
        self.is_untold.1 |= has_list;
        let outputs = ["O", "output-document"];
        if arguments.has(&outputs) {
            arguments
                .values(&outputs)
                .for_each(|word| self.writes(word, base));
            return;
        }
        if arguments.has(&["spider"]) {
            return;
        }
        self.is_untold.0 |=
            has_list || arguments.has(&["r", "recursive", "m", "mirror", "p", "page-requisites"]);
        let mut base = base.clone();
        if let Some(directory) = arguments.value(&["P", "directory-prefix"]) {
            change_directory(std::slice::from_ref(directory), &mut base);
        }
        for url in &arguments.operands {
            let path = url.text.split('#').next().unwrap_or_default();
            self.writes(&file_of(path, Some("index.html")), &base);
        }
    }

    pub(super) fn git(&mut self, words: &[Word], input: &Input, base: &Base) {
        let mut base = base.clone();
        let mut words = words;
        while let [first, rest @ ..] = words {
            match first.text.as_str() {
                "-C" => {
                    change_directory(rest.get(..1).unwrap_or_default(), &mut base);
                    words = rest.get(1..).unwrap_or_default();
                }
                "-c" | "--git-dir" | "--work-tree" => words = rest.get(1..).unwrap_or_default(),
                text if text.starts_with('-') => words = rest,
                _ => break,
            }
        }
        let Some((command, words)) = words.split_first() else {
            return;
        };
        let Some(command) = command.told() else {
            self.is_untold = (true, true);
            return;
        };
        self.git_command(command, words, input, &base);
    }

    fn git_command(&mut self, command: &str, words: &[Word], input: &Input, base: &Base) {
        let arguments = Arguments::of(
            words,
            "mFbBcCoj",
            &[
                "message",
                "file",
                "branch",
                "depth",
                "origin",
                "source",
                "reference",
                "author",
                "date",
            ],
        );
        let operands = arguments.operands.as_slice();
        match command {
            "push" | "fetch" | "pull" | "clone" | "ls-remote" => {
                match operands.first() {
                    Some(Word { text, .. }) if hosts::remote(text).is_some() => {
                        let host = hosts::remote(text).unwrap_or_default();
                        self.reaches(&Word::of(host.to_owned()), false);
                    }
                    // A directory is a remote, too.
                    Some(remote) if remote.told().is_some() && is_local(&remote.text) => {}
                    // Where a name leads, the repository's settings say.
                    _ => self.is_untold.1 = true,
                }
                if command == "clone" {
                    let into = operands.get(1).cloned();
                    let own = operands.first().map(|remote| {
                        let remote = remote.text.trim_end_matches('/').trim_end_matches(".git");
                        let name = remote.rsplit(['/', ':']).next().unwrap_or_default();
                        Word::of(name.to_owned())
                    });
                    into.or(own).iter().for_each(|word| self.writes(word, base));
                }
                self.is_untold.0 |= command == "pull";
            }
            "checkout" | "restore" | "switch" => {
                self.git_checkout(command, words, &arguments, base);
            }
            "rm" if !arguments.has(&["cached"]) => {
                for word in operands {
                    self.deletes(word, base);
                }
            }
            "mv" => {
                if let Some((target, sources)) = operands.split_last() {
                    for word in sources {
                        self.deletes(word, base);
                    }
                    let is_known = sources.len() == 1 && !target.text.ends_with('/');
                    let target = if is_known {
                        target.clone()
                    } else {
                        Word::untold()
                    };
                    self.writes(&target, base);
                }
            }
            "add" | "stage" => operands.iter().for_each(|word| self.reads(word, base)),
            "commit" => arguments
                .values(&["F", "file"])
                .for_each(|word| self.reads(word, base)),
            "apply" | "am" => {
                for word in operands {
                    self.reads(word, base);
                }
                match input {
                    Input::Text(text) if operands.is_empty() => self.difference(text, 1, base),
                    _ => self.is_untold.0 = true,
                }
            }
            "init" => operands.iter().for_each(|word| self.writes(word, base)),
            "merge" | "rebase" | "stash" | "cherry-pick" | "revert" | "clean" | "worktree" => {
                self.is_untold.0 = true;
            }
            "reset" => self.is_untold.0 |= arguments.has(&["hard", "merge", "keep"]),
            "submodule" => self.is_untold = (true, true),
            _ => {}
        }
    }

    /// Files that come back from a commit: those behind `--`, or all that differ.
    fn git_checkout(&mut self, command: &str, words: &[Word], arguments: &Arguments, base: &Base) {
        let files = words.iter().position(|word| word.text == "--");
        let files = files.and_then(|at| words.get(at + 1..));
        let is_new =
            command != "restore" && arguments.has(&["b", "B", "c", "C", "create", "orphan"]);
        match files {
            Some(files) => files.iter().for_each(|word| self.writes(word, base)),
            None if command == "restore" => {
                if !arguments.has(&["staged", "S"]) || arguments.has(&["worktree", "W"]) {
                    arguments
                        .operands
                        .iter()
                        .for_each(|word| self.writes(word, base));
                }
            }
            // A new branch begins with the files that are there, if no other place is named.
            None if is_new && arguments.operands.is_empty() => {}
            None => {
                let is_all = arguments.operands.iter().any(|word| word.text == ".");
                if is_all {
                    self.writes(&Word::of(".".to_owned()), base);
                } else {
                    self.is_untold.0 = true;
                }
            }
        }
    }
}

/// Tells whether a remote is a directory.
fn is_local(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) || text.starts_with("file://")
}

/// Returns the last name in an address's path; another name, if there is one, where the path is empty.
fn file_of(address: &str, default: Option<&str>) -> Word {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let name = match path.split_once('/') {
        Some((_, path)) => path.rsplit('/').next().unwrap_or_default(),
        None => "",
    };
    match (name, default) {
        ("", Some(default)) => Word::of(default.to_owned()),
        ("", None) => Word::untold(),
        (name, _) => Word::of(name.to_owned()),
    }
}
