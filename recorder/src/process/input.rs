//! Standard input on its way to the command: all of it is passed on, and its beginning is kept.

use std::io::{ErrorKind, Read, Write};
use std::process::ChildStdin;
use std::sync::mpsc::Sender;
use std::thread;

use super::child::Happening;
use crate::clock::Clock;

/// The most bytes that are kept. A prompt is far shorter; whatever is longer is a file to work on.
pub(super) const LONGEST: usize = 4 << 20;
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Passes on what comes, on a thread of its own: nobody waits for an input that never ends.
pub(super) fn pass_on(
    mut from: impl Read + Send + 'static,
    mut to: ChildStdin,
    sender: Sender<Happening>,
    clock: Clock,
) {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        let (mut room, mut unkept) = (LONGEST, 0);
        loop {
            let read = match from.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(read) => read,
            };
            let bytes = buffer.get(..read).unwrap_or_default();
            let (kept, beyond) = bytes.split_at(room.min(read));
            room -= kept.len();
            unkept += u64::try_from(beyond.len()).unwrap_or_default();
            // Before the command can see it, so that whatever it answers comes later. Nobody listens any more once
            // the command has ended.
            if !kept.is_empty() {
                let _ = sender.send(Happening::Input(kept.to_vec(), clock.now()));
            }
            // A command may close its input or end whenever it wants.
            if to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = sender.send(Happening::InputEnded { unkept });
    });
}
