//! Frames that come before it is known which session was asked.

use super::wire::OwnerFrame;
use crate::framing::held_lines::HeldLines;
use crate::json::decode;
use crate::lines::Ending;
use crate::signal::TapePlace;

/// How many bytes are held: few, since an answer that names a run has all of them searched.
const MOST_HELD: usize = 256 * 1024;

/// The frames that are held.
#[derive(Debug)]
pub(super) struct HeldFrames {
    frames: HeldLines,
}

impl Default for HeldFrames {
    fn default() -> Self {
        Self {
            frames: HeldLines::new(MOST_HELD),
        }
    }
}

impl HeldFrames {
    pub(super) fn push(&mut self, bytes: &[u8], place: TapePlace) {
        self.frames.push(bytes, Ending::Lf, place);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Tells whether no more can be held.
    pub(super) fn is_full(&self) -> bool {
        self.frames.is_full()
    }

    pub(super) fn take(&mut self) -> HeldLines {
        self.frames.take()
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
            let owner = decode::<OwnerFrame<'_>>(frame.bytes).ok()?.value.payload?;
            let session = owner.session.filter(|session| !session.is_empty())?;
            let is_child = owner.spawned_by.is_some() || session.contains(":subagent:");
            is_meant(owner.run.as_deref(), is_child).then(|| session.into_owned())
        })
    }
}
