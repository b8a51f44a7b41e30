//! Output on its way from the process to the display and the store.

use std::sync::Arc;

use runtape_core::Stream;

use crate::keeping::{Budget, Room};

/// A chunk of output.
pub(super) struct OutputChunk {
    pub(super) stream: Stream,
    pub(super) bytes: Vec<u8>,
    pub(super) received_at: i64,
    pub(super) room: Room,
}

impl OutputChunk {
    /// Makes a chunk, waiting until there is room for it.
    pub(super) fn new(
        stream: Stream,
        bytes: Vec<u8>,
        received_at: i64,
        budget: &Arc<Budget>,
    ) -> Self {
        let room = Room::take(bytes.len(), budget);
        Self {
            stream,
            bytes,
            received_at,
            room,
        }
    }
}
