//! Exit codes, with a sentence each.

/// The command failed, or found nothing.
pub(crate) const FAILED: u8 = 1;
/// The command line cannot be understood. clap exits with the same.
pub(crate) const USAGE: u8 = 2;

/// What `--help` says of them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  failed, or nothing found
  2  the command line cannot be understood";
