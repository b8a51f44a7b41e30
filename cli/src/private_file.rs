//! Files that hold what an agent said: nobody but their owner reads them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file that only its owner may read, whole or not at all.
///
/// What stands at the path is replaced, never written into: a link there is not followed. A device
/// or a pipe cannot be replaced, and is written to as it is.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_special = std::fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_file() && !meta.is_symlink() && !meta.is_dir());
    if is_special {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let temporary = beside(path);
    let written = create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    });
    if written.is_err() {
        // What is left of it is of no use to anyone.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Makes a directory, and those above it, that only its owner may look into.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Creates a file that only its owner may read; it must not be there.
fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Returns a name in the same directory that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_private_whole_and_no_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (
            directory.path().join("report"),
            directory.path().join("other"),
        );
        std::fs::write(&other, "untouched").unwrap();
        symlink(&other, &path).unwrap();
        for text in ["first", "second, longer", "3"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            let meta = std::fs::symlink_metadata(&path).unwrap();
            assert!(meta.is_file());
            assert_eq!(meta.permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "untouched");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
        // A directory is in the way, and stays.
        std::fs::create_dir(directory.path().join("taken")).unwrap();
        assert!(write(&directory.path().join("taken"), b"x").is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
    }
}
