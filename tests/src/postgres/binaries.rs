//! Where the programs of a `PostgreSQL` server are, and as whom they run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{Gid, Uid, User};

/// A server's programs.
#[derive(Clone, Debug)]
pub(super) struct Binaries {
    directory: PathBuf,
    /// Another user to run them as: a server refuses to run as root.
    user: Option<(Uid, Gid)>,
}

/// A volume for a server that is small, so that it can be full.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    pub(super) path: PathBuf,
    pub(super) kilobytes: u32,
}

const MOUNT: &str = r#"mount -t tmpfs -o "$2" none "$1" && shift 2 && exec "$@""#;

/// What is started: all of it must be there.
const PROGRAMS: [&str; 2] = ["initdb", "pg_ctl"];

fn are_in(directory: &Path) -> bool {
    PROGRAMS
        .iter()
        .all(|program| directory.join(program).is_file())
}

/// Returns Debian's directories, the newest version first.
fn debian() -> Vec<PathBuf> {
    let entries = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let versions =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut versions: Vec<u32> = versions.collect();
    versions.sort_unstable_by(|one, other| other.cmp(one));
    let directory = |version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    versions.into_iter().map(directory).collect()
}

/// Returns where a directory's programs really are: one in `PATH` may have links to some of them, and a copy of a server, or
/// who watches over it, needs others that lie beside them.
fn with_all(directory: PathBuf) -> PathBuf {
    let program = directory.join("initdb").canonicalize();
    let real = program
        .ok()
        .and_then(|path| Some(path.parent()?.to_owned()));
    real.filter(|real| are_in(real)).unwrap_or(directory)
}

impl Binaries {
    /// Finds them: where `RUNTAPE_PG_BIN` says, in `PATH`, or where Debian keeps them.
    pub(super) fn find() -> Option<Self> {
        let named = std::env::var_os("RUNTAPE_PG_BIN").map(PathBuf::from);
        let directory = match named {
            Some(named) => {
                assert!(
                    are_in(&named),
                    "RUNTAPE_PG_BIN={}: no initdb or no pg_ctl there",
                    named.display()
                );
                named
            }
            None => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
                places.extend(debian());
                places.into_iter().find(|place| are_in(place))?
            }
        };
        let directory = with_all(directory);
        let user = Uid::effective().is_root().then(|| {
            let of = |name| User::from_name(name).ok().flatten();
            let user = of("postgres").or_else(|| of("nobody"));
            let user = user.expect("a user to run a server as: root may not");
            (user.uid, user.gid)
        });
        Some(Self { directory, user })
    }

    /// Returns the directory that they are in.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Gives a file or directory to whom the server runs as.
    pub(super) fn give(&self, path: &Path) {
        if let Some((uid, gid)) = self.user {
            nix::unistd::chown(path, Some(uid), Some(gid)).unwrap();
        }
    }

    /// Gets a program of the server ready to be started.
    pub(super) fn command(&self, program: &str, directory: &Path) -> Command {
        self.as_user(self.directory.join(program), directory)
    }

    /// Gets a program ready that may be missing: where the others are, or where those are that these are links to.
    pub(super) fn other_command(&self, program: &str, directory: &Path) -> Option<Command> {
        let beside = fs::canonicalize(self.directory.join("pg_ctl")).ok()?;
        let places = [Some(self.directory.as_path()), beside.parent()];
        let mut found = places
            .into_iter()
            .flatten()
            .map(|place| place.join(program));
        let program = found.find(|path| path.is_file())?;
        Some(self.as_user(program, directory))
    }

    /// Gets a program of the server ready to be started where a small volume is mounted, which goes away with what was
    /// started there. Only root can mount.
    pub(super) fn command_on_volume(
        &self,
        program: &str,
        directory: &Path,
        volume: &Volume,
    ) -> Command {
        let (uid, gid) = self.user.expect("only root can mount");
        let mut command = Command::new("unshare");
        command
            .current_dir(directory)
            .stdin(Stdio::null())
            .env("LC_ALL", "C.UTF-8");
        command
            .args(["--mount", "sh", "-c", MOUNT, "sh"])
            .arg(&volume.path);
        command.arg(format!(
            "size={}k,mode=0700,uid={uid},gid={gid}",
            volume.kilobytes
        ));
        command.args(["setpriv", "--clear-groups"]);
        command
            .arg(format!("--reuid={uid}"))
            .arg(format!("--regid={gid}"));
        command.arg(self.directory.join(program));
        command
    }

    /// Tells whether volumes can be mounted here.
    pub(super) fn can_mount(&self) -> bool {
        let mut probe = Command::new("unshare");
        probe.args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]);
        self.user.is_some() && probe.output().is_ok_and(|output| output.status.success())
    }

    /// Gets any program ready to be started as whom the server runs as.
    pub(super) fn as_user(&self, program: impl AsRef<OsStr>, directory: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(directory).stdin(Stdio::null());
        command.env("LC_ALL", "C.UTF-8");
        if let Some((uid, gid)) = self.user {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
        command
    }
}
