//! runtape for those who embed it.
//!
//! [`Recorder`] joins the normalizer and the store: give it what a process prints, and its run is
//! normalized and kept as it goes. [`recover`] closes runs whose recorder died, [`renormalize`]
//! makes a run's records anew from its tape. [`perstack`] writes and reads Perstack's job trees. The
//! parts are in the crates this one re-exports: the
//! model in [`core`], bytes to records in [`normalizer`], persistence in [`store`].

mod capture;
mod context;
mod detached;
mod imported;
pub mod perstack;
mod private;
mod record_error;
mod recorder;
mod recover;
mod replay;
mod shared_line;
mod spool;
mod spool_file;
mod spool_owner;
mod writer;

pub use capture::{Capture, Found, Stored, store_captures};
pub use context::{RunContext, exit_info};
pub use detached::{Detached, Ended, Printed};
pub use imported::{Comparison, Known, known_records, prepare_records, store_records};
pub use private::{
    NewFile, Written, create_directory as create_private_directory, digest, write as write_private,
};
pub use record_error::RecordError;
pub use recorder::{Finished, Recorder};
pub use recover::{Recovered, Recovery, Unrecovered, exit_note, recover, recover_where};
pub use replay::renormalize;
pub use spool::{SPOOL_EXTENSION, Spool, adopt_spool, run_of_spool, take_in_spool};
pub use spool_file::make_private_directory;
pub use spool_owner::SpoolOwner;
pub use writer::Writer;
pub use {runtape_core as core, runtape_normalizer as normalizer, runtape_store as store};
