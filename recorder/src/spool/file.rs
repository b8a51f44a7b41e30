//! Files that may be trusted to be spool files of this user's, and directories to keep them in.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Returns what speaks against reading a file, besides what it says.
#[cfg(unix)]
fn fault(metadata: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_file() {
        return Some("it is no regular file");
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Some("it is somebody else's");
    }
    (metadata.nlink() != 1).then_some("it has a second name (hard link)")
}

#[cfg(not(unix))]
fn fault(metadata: &Metadata) -> Option<&'static str> {
    (!metadata.is_file()).then_some("it is no regular file")
}

/// Opens a spool file, without waiting for anything and without following links. The inner error
/// says why the file must not be read.
pub(crate) fn open(path: &Path) -> io::Result<Result<File, &'static str>> {
    // The file is looked at before it is opened: opening a pipe or a device is noticed at its other
    // end.
    if let Some(fault) = fault(&path.symlink_metadata()?) {
        return Ok(Err(fault));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    let file = options.open(path)?;
    // What was opened is looked at once more: the file may have been exchanged in between.
    Ok(match fault(&file.metadata()?) {
        Some(fault) => Err(fault),
        None => Ok(file),
    })
}

/// Makes a new file that only its owner can read.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Makes a directory that only its owner can enter, or makes sure that it is one.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_private(path),
        made => made,
    }
}

#[cfg(unix)]
fn check_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let metadata = path.symlink_metadata()?;
    if !metadata.is_dir() || metadata.uid() != nix::unistd::geteuid().as_raw() {
        let text = "it is no directory, or somebody else's";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    if metadata.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(path: &Path) -> io::Result<()> {
    match path.symlink_metadata()?.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}
