//! The password of a server where its address has none: from the places where other programs for `PostgreSQL` look, too.

use std::path::{Path, PathBuf};

use runtape_store::ServerName;

/// What was found of a password.
#[derive(Debug, Default)]
pub(super) struct FoundPassword {
    pub(super) password: Option<String>,
    /// Why a file is not used.
    pub(super) warning: Option<String>,
}

/// Looks for the password of a server: in `$PGPASSWORD`, then in the file that `$PGPASSFILE` names, else in `~/.pgpass`.
pub(super) fn find(name: &ServerName) -> FoundPassword {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(password) = variable("PGPASSWORD") {
        return FoundPassword {
            password: Some(password),
            warning: None,
        };
    }
    let usual = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
    let Some(path) = variable("PGPASSFILE").map(PathBuf::from).or_else(usual) else {
        return FoundPassword::default();
    };
    let Ok(text) = std::fs::read_to_string(&path) else {
        return FoundPassword::default();
    };
    let user = name.user.clone().or_else(this_user).unwrap_or_default();
    let password = in_file(&text, name, &user);
    if password.is_some()
        && let Some(warning) = readable_by_others(&path)
    {
        return FoundPassword {
            password: None,
            warning: Some(warning),
        };
    }
    FoundPassword {
        password,
        warning: None,
    }
}

/// Returns who runs this process, who is the user where an address names none.
#[cfg(unix)]
fn this_user() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid());
    user.ok().flatten().map(|user| user.name)
}

#[cfg(not(unix))]
fn this_user() -> Option<String> {
    std::env::var("USERNAME").ok()
}

/// Says that a file with passwords can be read by others, if it can.
#[cfg(unix)]
fn readable_by_others(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        format!(
            "the password in {} is not used: others may read the file (mode {mode:o}); chmod 600",
            path.display()
        )
    })
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> Option<String> {
    None
}

/// Returns the password of the first line that fits: host:port:database:user:password, where `*` is anything.
fn in_file(text: &str, name: &ServerName, user: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let [host, port, database, of_user, password] = fields(line)?;
        let fits = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        // A socket in any directory goes by the name of this machine, too.
        let is_host = name.hosts.iter().any(|(named, number)| {
            let is_local = named.starts_with('/') && host == "localhost";
            (fits(&host, named) || is_local) && fits(&port, &number.to_string())
        });
        let is_it = is_host && fits(&database, &name.database) && fits(&of_user, user);
        is_it.then_some(password)
    })
}

/// Cuts a line into its five fields; a colon or backslash in one has a backslash before it.
fn fields(line: &str) -> Option<[String; 5]> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields: [String; 5] = Default::default();
    let mut at = fields.iter_mut();
    let mut field = at.next()?;
    let mut letters = line.chars();
    let mut is_last = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => field.extend(letters.next()),
            // All that comes after the fourth colon is the password.
            ':' if !is_last => {
                field = at.next()?;
                is_last = at.len() == 0;
            }
            other => field.push(other),
        }
    }
    is_last.then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(host: &str, port: u16, database: &str) -> ServerName {
        ServerName {
            name: String::new(),
            hosts: vec![(host.to_owned(), port)],
            database: database.to_owned(),
            user: None,
            password: None,
        }
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "\
# host:port:database:user:password
other:5432:runs:me:not this
db.example.com:5433:runs:me:nor this
db.example.com:5432:*:you:somebody else's
db.example.com:5432:runs:me:a\\:b\\\\c:d
*:*:*:*:the last
short:line
";
        let found = |host, port, user| in_file(file, &name(host, port, "runs"), user);
        assert_eq!(found("db.example.com", 5432, "me").unwrap(), "a:b\\c:d");
        assert_eq!(
            found("db.example.com", 5432, "you").unwrap(),
            "somebody else's"
        );
        assert_eq!(found("elsewhere", 1, "x").unwrap(), "the last");
        let local = "localhost:5432:runs:me:by socket";
        let socket = name("/run/postgresql", 5432, "runs");
        assert_eq!(in_file(local, &socket, "me").unwrap(), "by socket");
        assert_eq!(in_file(local, &name("h", 5432, "runs"), "me"), None);
        assert_eq!(in_file("", &socket, "me"), None);
    }
}
