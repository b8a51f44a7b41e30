//! runtape for those who embed it: output of agent CLIs in, one normalized history kept.
//!
//! Three ways lead in. [`Recording`] runs a command, listens to it, and keeps what it prints, also when
//! the store fails meanwhile. [`Recorder`] is for those who have the output already: give it the
//! bytes as they come, and tell it how the process ended. [`PipeRecorder`] is the same for output that comes
//! only once: what the store does not take goes to a spool file, as it does for a [`Recording`].
//!
//! ```
//! use runtape_recorder::core::{Runtime, Stream};
//! use runtape_recorder::normalizer::{Context, Exit};
//! use runtape_recorder::store::Store;
//! use runtape_recorder::{Recorder, StoreHandle};
//!
//! # fn main() -> Result<(), runtape_recorder::RecordError> {
//! let store = StoreHandle::from(Store::open_in_memory()?);
//! let context = Context::new("job-1".parse()?, "run-1".parse()?);
//! let mut recorder = Recorder::start(store.clone(), Runtime::ClaudeCode, &context)?;
//! recorder.push(Stream::Stdout, b"Hello.\n")?;
//! let finished = recorder.finish(&Exit::with_code(0))?;
//! assert_eq!(finished.summary.final_text.as_deref(), Some("Hello."));
//! assert!(store.lock().run(&"run-1".parse()?)?.seal.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! Two whole programs are in `examples/`: `record_command` runs a command and shows what it says while it
//! is kept, `feed_bytes` keeps what comes on its standard input.
//!
//! Many finished outputs at a time go through [`store_captures`], runs that come as records through
//! [`store_records`]. [`recover`] closes runs whose recorder died, [`renormalize`] makes a run's records
//! anew from its tape, [`transfer`] copies runs to another store, [`following`] sees runs that other processes record, [`perstack`] writes and reads Perstack's job trees. The parts are in the crates
//! this one re-exports: the model in [`core`], bytes to records in [`normalizer`], persistence in
//! [`store`].
//!
//! Nothing here prints, reads the environment or installs a signal handler.

mod batch_writer;
mod capture;
mod clock;
mod context_and_exit;
mod detached_run;
mod error;
mod estimates;
pub mod following;
mod git_head;
pub mod history;
mod imported;
mod keeping;
mod kept_tape;
mod likeness;
pub mod perstack;
mod private_file;
#[cfg(unix)]
pub mod process;
mod recorder;
mod recover;
mod redaction;
mod redaction_key;
mod replay;
mod run_detail;
mod spool;
mod store_handle;
mod stored_redaction;
mod transfer;
mod undecided;

pub use batch_writer::BatchWriter;
pub use capture::{Capture, FoundCapture, Stored, store_capture_batches, store_captures};
pub use clock::Clock;
pub use context_and_exit::{applied_rules, exit_info, redaction_info};
pub use detached_run::{DetachedRun, Ended, Printed};
pub use error::RecordError;
pub use estimates::Estimates;
pub use git_head::{GitHead, git_head};
pub use imported::{Comparison, StoredAlready, known_records, prepare_records, store_records};
pub use keeping::{Destination, KeepingEnd, PipeOptions, PipeRecorder};
pub use private_file::{
    NewFile, WrittenFile, create_directory as create_private_directory, digest,
    write as write_private,
};
#[cfg(unix)]
pub use process::{Recorded, Recording, RecordingOptions};
pub use recorder::{Finished, Recorder, RecorderOptions};
pub use recover::{Recovered, Recovery, Unrecovered, exit_note, recover, recover_where};
pub use redaction::{begin_redaction, redact_records, rules_applied_to, rules_in_force};
pub use redaction_key::{read_or_make_redaction_key, read_redaction_key, redaction_key_path};
pub use replay::{ReadAs, renormalize, renormalize_as};
pub use run_detail::{RecordOutput, output_of_record, run_detail};
pub use spool::{
    SPOOL_EXTENSION, Spool, SpoolDirectories, SpoolOwner, WaitingSpool, adopt_spool,
    make_private_directory, run_of_spool, take_in_spool, waiting_spool,
};
pub use store_handle::StoreHandle;
pub use stored_redaction::{find_markers, find_secrets, import_bundle, redact_run};
pub use transfer::{Transferred, transfer};
pub use undecided::DecidedRuntime;
pub use {runtape_core as core, runtape_normalizer as normalizer, runtape_store as store};
