//! Exit codes, with a sentence each.

/// The command failed, or found nothing.
pub(crate) const FAILED: u8 = 1;
/// The command line cannot be understood. clap exits with the same.
pub(crate) const USAGE: u8 = 2;
/// Data is not as it should be: `validate`, `verify`, `doctor`, `scan`, `import`, `push` and `pull` say what.
pub(crate) const FAULTS: u8 = 3;
/// `wait` has waited for as long as it was told to. `timeout` exits with the same.
pub(crate) const TIMED_OUT: u8 = 124;

/// What `--help` says of them.
pub(crate) const HELP: &str = "\
Examples:
  runtape record -- claude -p 'fix the test' --output-format stream-json --verbose
  runtape ingest captures/          every X.stdout in a directory
  runtape runs --since 2d           what ran
  runtape transcript last           what it said and did
  runtape usage --by day            what it took

Exit codes:
  0  done
  1  failed, or nothing found
  2  the command line cannot be understood
  3  data faults found (validate, verify, doctor, import, push), secrets found (scan)
`wait` exits with 0 if the run completed, 1 if not, 124 if it goes on after --timeout.
`record` exits as the command it records did: its code, or 128 and the signal's number.";
