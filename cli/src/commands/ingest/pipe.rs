//! Standard input and other pipes: what comes there comes only once, so it is read once, and what the database does not
//! take is spooled.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use runtape_core::{IdSource, RandomIds, RunId, Stream};
use runtape_normalizer::Exit;
use runtape_normalizer::redact::RuleSet;
use runtape_recorder::{PipeOptions, PipeRecorder};

use super::source::CaptureSource;
use super::{IngestArgs, context};
use crate::arguments::input::Input;
use crate::commands::{Invocation, unkept};
use crate::error::CliError;
use crate::spool_directory;

/// How long it is waited for more before the recorder is asked what is due.
const TICK: Duration = Duration::from_millis(50);

/// Keeps a pipe as it arrives, and what was printed beside it. Returns its run if that is stored; if it is not, what
/// became of it was said.
pub(super) fn keep(
    args: &IngestArgs,
    rules: &Arc<RuleSet>,
    invocation: &mut Invocation<'_>,
    source: &CaptureSource,
) -> Result<Option<RunId>, CliError> {
    let input = Input::open(&source.stdout)?;
    let runtime = source.told_runtime(args.runtime.as_ref());
    let run_id = RandomIds.run_id();
    let context = context(args, source, &run_id)?;
    let options = PipeOptions {
        spool: spool_directory::directories(&invocation.database),
        rules: Arc::clone(rules),
        ..PipeOptions::default()
    };
    let destination = invocation.database.destination();
    let mut recorder = PipeRecorder::start(destination, runtime, &context, options)?;
    let read = follow(&mut recorder, input).and_then(|()| add_stderr(&mut recorder, source));
    let exit = match read {
        Ok(()) => source.exit(args.exit_code),
        // Nobody knows what else was printed.
        Err(_) => Exit::lost(),
    };
    let kept = recorder.finish(&exit);
    unkept::say(invocation, &kept);
    read?;
    Ok(kept.fault.is_none().then_some(run_id))
}

/// Adds the file that holds the standard error, if there is one.
fn add_stderr(recorder: &mut PipeRecorder, source: &CaptureSource) -> Result<(), CliError> {
    let Some(path) = &source.stderr else {
        return Ok(());
    };
    Input::open(path)?.read_all(|bytes, at| {
        recorder.push_received(Stream::Stderr, bytes, at);
        Ok(())
    })
}

/// Hands on what comes until the pipe is closed: what came is kept even while nothing more comes.
fn follow(recorder: &mut PipeRecorder, mut input: Input) -> Result<(), CliError> {
    // A few chunks at most, so that a fast pipe waits for the store instead of filling memory.
    let (sender, receiver) = sync_channel(4);
    std::thread::spawn(move || {
        let mut buffer = Vec::new();
        loop {
            let piece = input.read_some(&mut buffer).map(|_| buffer.clone());
            let is_last = piece.as_ref().map_or(true, Vec::is_empty);
            if sender.send(piece).is_err() || is_last {
                return;
            }
        }
    });
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(piece) => {
                let piece = piece?;
                if piece.is_empty() {
                    return Ok(());
                }
                recorder.push(Stream::Stdout, &piece);
            }
            Err(RecvTimeoutError::Timeout) => recorder.tick(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
