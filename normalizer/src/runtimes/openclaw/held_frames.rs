//! Frames that come before it is known which session was asked.

use super::wire::OwnerFrame;
use crate::json::decode;
use crate::signal::TapePlace;

/// How much is held.
const MOST_BYTES: usize = 256 << 10;
const MOST_FRAMES: usize = 1024;

/// A frame and its place.
#[derive(Debug)]
pub(super) struct HeldFrame {
    pub(super) bytes: Box<[u8]>,
    pub(super) place: TapePlace,
}

/// The frames that are held.
#[derive(Debug, Default)]
pub(super) struct HeldFrames {
    frames: Vec<HeldFrame>,
    bytes: usize,
}

impl HeldFrames {
    pub(super) fn push(&mut self, bytes: &[u8], place: TapePlace) {
        self.bytes += bytes.len();
        self.frames.push(HeldFrame {
            bytes: bytes.into(),
            place,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Tells whether no more can be held.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES || self.frames.len() > MOST_FRAMES
    }

    pub(super) fn take(&mut self) -> Vec<HeldFrame> {
        self.bytes = 0;
        std::mem::take(&mut self.frames)
    }

    /// Returns the session of the first frame of a run.
    pub(super) fn session_of(&self, run: &str) -> Option<String> {
        self.find(|owner_run, _| owner_run == Some(run))
    }

    /// Returns the session of the first frame that is no sub-agent's.
    pub(super) fn first_session(&self) -> Option<String> {
        self.find(|_, is_child| !is_child)
            .or_else(|| self.find(|_, _| true))
    }

    fn find(&self, is_meant: impl Fn(Option<&str>, bool) -> bool) -> Option<String> {
        self.frames.iter().find_map(|frame| {
            let owner = decode::<OwnerFrame<'_>>(&frame.bytes).ok()?.value.payload?;
            let session = owner.session.filter(|session| !session.is_empty())?;
            let is_child = owner.spawned_by.is_some() || session.contains(":subagent:");
            is_meant(owner.run.as_deref(), is_child).then(|| session.into_owned())
        })
    }
}
