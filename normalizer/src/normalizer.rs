//! Bytes in, records out.

use runtape_core::{Runtime, Stream};

use crate::command_line::own_words;
use crate::context::Context;
use crate::error::NormalizeError;
use crate::exit::Exit;
use crate::lines::{Framed, LineSplitter};
use crate::output::Output;
use crate::parser::{RuntimeParser, SignalSink};
use crate::reducer::Reducer;
use crate::runtimes;
use crate::signal::{Emitted, TapePlace};

/// Turns the output of one process into records, as it arrives.
///
/// Plain and synchronous: no clock, no I/O. The same bytes with the same context give the same
/// records, however they are cut into chunks.
pub struct Normalizer {
    parser: Box<dyn RuntimeParser>,
    reducer: Reducer,
    stdout: LineSplitter,
    stderr: LineSplitter,
    last_at: i64,
}

impl Normalizer {
    /// Creates a normalizer that yields records only.
    pub fn new(runtime: Runtime, context: Context) -> Result<Self, NormalizeError> {
        Self::create(runtime, context, false)
    }

    /// Creates a normalizer that also yields what can be shown at once.
    pub fn with_live(runtime: Runtime, context: Context) -> Result<Self, NormalizeError> {
        Self::create(runtime, context, true)
    }

    fn create(runtime: Runtime, mut context: Context, live: bool) -> Result<Self, NormalizeError> {
        let entry = runtimes::entry_for(&runtime).ok_or_else(|| NormalizeError::Unreadable {
            runtime: runtime.clone(),
        })?;
        // The parser is told of the runtime's own words; the run keeps all of them.
        let mut argv = context.argv.take();
        let start = argv
            .as_deref()
            .and_then(|argv| Some(argv.len() - own_words(argv, entry)?.len()));
        context.argv = start.and_then(|start| Some(argv.as_mut()?.split_off(start)));
        if context.query.is_none() {
            context.query = (entry.query)(&context);
        }
        let (limit, parser) = (context.limit, (entry.parser)(&context));
        let own = context.argv.take();
        context.argv = argv.map(|mut argv| {
            argv.extend(own.into_iter().flatten());
            argv
        });
        Ok(Self {
            parser,
            reducer: Reducer::new(runtime, context, live),
            stdout: LineSplitter::new(limit),
            stderr: LineSplitter::new(limit),
            last_at: 0,
        })
    }

    /// Takes the next bytes of a stream, received at a time in milliseconds since 1970.
    pub fn push(&mut self, stream: Stream, bytes: &[u8], received_at: i64) -> Output {
        let mut output = Output::default();
        self.push_into(stream, bytes, received_at, &mut output);
        output
    }

    /// Takes the next bytes of a stream and appends what becomes known, for callers who use the
    /// same output over and over.
    pub fn push_into(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        received_at: i64,
        output: &mut Output,
    ) {
        let splitter = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            // No parser reads these: they are on the tape, and make no records.
            Stream::Stdin | Stream::History => return,
        };
        self.last_at = received_at;
        self.reducer.swap_output(output);
        let (parser, reducer) = (&mut self.parser, &mut self.reducer);
        splitter.push(bytes, received_at, |framed| {
            feed(parser.as_mut(), reducer, stream, framed);
        });
        self.reducer.swap_output(output);
    }

    /// Ends the run: whatever is still held becomes records, and the last one is terminal.
    #[must_use = "the last records are in it"]
    pub fn finish(self, exit: &Exit) -> Output {
        let mut output = Output::default();
        self.finish_into(exit, &mut output);
        output
    }

    /// Ends the run and appends what becomes known by that.
    pub fn finish_into(mut self, exit: &Exit, output: &mut Output) {
        self.reducer.swap_output(output);
        let (parser, reducer) = (&mut self.parser, &mut self.reducer);
        self.stdout
            .finish(|framed| feed(parser.as_mut(), reducer, Stream::Stdout, framed));
        self.stderr
            .finish(|framed| feed(parser.as_mut(), reducer, Stream::Stderr, framed));
        let place = TapePlace {
            span: None,
            line: 0,
            at: self.last_at,
        };
        parser.finish(
            exit,
            &mut SignalSink::new(place, &mut |emitted| reducer.apply(emitted, None)),
        );
        reducer.finish(exit, self.last_at, |code| parser.exit_is_signal(code));
        reducer.swap_output(output);
    }
}

/// Gives one line to the parser, and its signals to the reducer.
fn feed(parser: &mut dyn RuntimeParser, reducer: &mut Reducer, stream: Stream, framed: Framed<'_>) {
    match framed {
        Framed::Line(line) => {
            let place = line.place(stream);
            let mut apply = |emitted: Emitted<'_>| reducer.apply(emitted, Some((&line, place)));
            parser.push_line(stream, &line, &mut SignalSink::new(place, &mut apply));
        }
        Framed::TooLong(line) => reducer.too_long(line.bytes, line.place(stream)),
    }
}
