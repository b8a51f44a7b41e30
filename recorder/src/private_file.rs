//! Files for their owner alone: what agents print, others need not read.
//!
//! A new file is written under another name beside its own, and gets that only when it is whole
//! and on the disk: who dies in between leaves a file whose name begins with a dot and ends in
//! `.writing-` and a number, which nobody reads and anybody may delete. Links are not followed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Files under a number of their own that are tried, when some were left behind.
const TRIES: u32 = 100;

/// A file while it is being written.
///
/// Dropped before it is finished, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    staging: PathBuf,
    target: PathBuf,
    /// It is whole, and in its place.
    is_named: bool,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its bytes.
    pub bytes: u64,
    /// Their BLAKE3 digest, in hexadecimal digits.
    pub digest: String,
}

impl NewFile {
    /// Begins a file that must not be there, not even as a link.
    pub fn begin(target: &Path) -> io::Result<Self> {
        must_be_new(target)?;
        Self::stage(target)
    }

    /// Begins a file beside its place, whatever is there.
    fn stage(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        for number in 0..TRIES {
            let mut staging = std::ffi::OsString::from(".");
            staging.push(name);
            staging.push(format!(".writing-{}", std::process::id()));
            if number > 0 {
                staging.push(format!("-{number}"));
            }
            let staging = target.with_file_name(staging);
            match create(&staging) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => {
                    return Ok(Self {
                        file: created?,
                        staging,
                        target: target.to_owned(),
                        is_named: false,
                    });
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns where it is until it is whole.
    #[must_use]
    pub fn staging(&self) -> &Path {
        &self.staging
    }

    /// Puts it on the disk and in the place of what is there.
    fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.staging, &self.target)?;
        self.is_named = true;
        sync_directory(parent(&self.target))
    }

    /// Puts it on the disk and gives it its name, unless that is taken by now.
    pub fn finish(mut self) -> io::Result<WrittenFile> {
        self.file.sync_all()?;
        let written = digest(&self.staging)?;
        match fs::hard_link(&self.staging, &self.target) {
            Ok(()) => fs::remove_file(&self.staging)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has links: there the name is taken first.
            Err(_) => {
                create(&self.target)?;
                fs::rename(&self.staging, &self.target)?;
            }
        }
        self.is_named = true;
        sync_directory(parent(&self.target))?;
        Ok(written)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a failure it is of no use. Once it has its name, another file may be begun under the same one.
        if !self.is_named {
            let _ = fs::remove_file(&self.staging);
        }
    }
}

/// Refuses a path where anything is, be it a link that leads nowhere.
fn must_be_new(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Options that make a file which only its owner reads.
fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Makes a file that must not be there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    owner_only(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes a directory, and those above it if they may be missing.
pub fn create_directory(path: &Path, with_parents: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Writes a file that may be there, or be a pipe or a terminal: where a program expects a report.
///
/// A file is replaced, whole or not at all, and a link that is there is replaced by it instead of
/// followed. What is neither cannot be replaced, and is written to as it is.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_special = fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_file() && !meta.is_symlink() && !meta.is_dir());
    if is_special {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut file = NewFile::stage(path)?;
    file.write_all(bytes)?;
    file.replace()
}

/// Returns the length of a file and the BLAKE3 digest of its bytes.
pub fn digest(path: &Path) -> io::Result<WrittenFile> {
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    let mut piece = vec![0; 64 << 10];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            let digest = hasher.finalize().to_hex().to_string();
            return Ok(WrittenFile { bytes, digest });
        }
        hasher.update(piece.get(..length).unwrap_or_default());
        bytes += u64::try_from(length).unwrap_or(u64::MAX);
    }
}

/// Returns the directory that a path is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Puts the names in a directory on the disk, where directories can be asked to.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(path)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_whole_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let mut file = NewFile::begin(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        let mut file = NewFile::begin(&path).unwrap();
        file.write_all(b"whole").unwrap();
        let written = file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(written, digest(&path).unwrap());
        assert_eq!(written.digest, blake3::hash(b"whole").to_hex().as_str());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_never_takes_the_place_of_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let (mut first, second) = (NewFile::begin(&path), NewFile::begin(&path));
        first.as_mut().unwrap().write_all(b"first").unwrap();
        first.unwrap().finish().unwrap();
        let error = second.unwrap().finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let error = NewFile::begin(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_for_its_owner_and_no_link_is_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = directory.path().join("a");
        NewFile::begin(&path).unwrap().finish().unwrap();
        assert_eq!(mode(&path), 0o600);
        for target in ["a", "nowhere"] {
            let link = directory.path().join(format!("link-to-{target}"));
            symlink(target, &link).unwrap();
            assert!(NewFile::begin(&link).is_err());
        }
        assert!(!directory.path().join("nowhere").exists());

        let report = directory.path().join("report");
        fs::write(&report, "an earlier, longer one").unwrap();
        fs::set_permissions(&report, fs::Permissions::from_mode(0o644)).unwrap();
        write(&report, b"now").unwrap();
        assert_eq!(
            (mode(&report), fs::read(&report).unwrap()),
            (0o600, b"now".to_vec())
        );
        create_directory(&directory.path().join("d/e"), true).unwrap();
        assert_eq!(mode(&directory.path().join("d")), 0o700);
    }
}
