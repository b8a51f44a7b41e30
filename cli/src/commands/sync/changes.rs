//! Waiting until something changes below the directories that agent CLIs keep their sessions in.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use runtape_recorder::history::HistoryDirectory;

/// How long it takes at most until a change is looked for where nothing tells of changes: a directory that is not
/// there yet, a network's file system, a system that has no more watches to give.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The same where every directory is watched. Sessions become quiet without a change, and events may be lost.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(10);
/// How long more is waited for after a change: lines come in bursts.
const BURST: Duration = Duration::from_millis(100);

/// Changes below some directories.
pub(super) struct Changes {
    /// Kept, since dropping it ends the watching.
    watcher: Option<RecommendedWatcher>,
    events: Receiver<()>,
    /// Directories that nothing tells about so far.
    unwatched: Vec<HistoryDirectory>,
}

impl Changes {
    /// Watches directories, as far as the system lets itself be asked to.
    pub(super) fn new(directories: &[HistoryDirectory]) -> Self {
        let (sender, events) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // Reading a file is an event, too, and this is what follows each change.
            if event.is_ok_and(|event| event.kind.is_access()) {
                return;
            }
            // Nobody waits any more when the program ends.
            let _ = sender.send(());
        });
        let mut changes = Self {
            watcher: watcher.ok(),
            events,
            unwatched: directories.to_vec(),
        };
        changes.watch_more();
        changes
    }

    /// Watches what could not be watched before: directories appear with the first session.
    fn watch_more(&mut self) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        self.unwatched.retain(|directory| {
            let begun = watcher.watch(&directory.path, RecursiveMode::Recursive);
            begun.is_err()
        });
    }

    /// Waits until something has changed, or it is time to look all the same.
    pub(super) fn wait(&mut self) {
        self.watch_more();
        let at_most = if self.unwatched.is_empty() {
            LOOK_AT_LEAST_EVERY
        } else {
            LOOK_EVERY
        };
        match self.events.recv_timeout(at_most) {
            Ok(()) => {
                std::thread::sleep(BURST);
                while self.events.try_recv().is_ok() {}
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Without a watcher there is no sender, and receiving does not wait.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK_EVERY),
        }
    }
}
