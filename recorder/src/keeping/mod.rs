//! Keeping output that comes only once: in the store, and where that fails in a spool file.
//!
//! A process does not print again what was lost, and a pipe cannot be read twice. So a thread of its own stores what
//! arrives; from the moment at which the store fails, or if it could not be opened at all, that thread spools. Commands
//! that are [run](crate::Recording) and [pipes](PipeRecorder) are kept in the same way.

mod destination;
mod keeper;
mod pipe_recorder;
mod room;
mod spooler;

pub use self::destination::Destination;
pub(crate) use self::keeper::Keeper;
pub use self::pipe_recorder::{PipeOptions, PipeRecorder};
pub(crate) use self::room::{Budget, Room};
pub use self::spooler::KeepingEnd;
