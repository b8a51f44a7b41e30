//! Bytes in, records out.

use runtape_core::runtime_event::Warning;
use runtape_core::{Runtime, Stream};

use crate::command_line::own_words;
use crate::context::{Context, RunSource};
use crate::detect::SURE_ENOUGH;
use crate::error::NormalizeError;
use crate::exit::Exit;
use crate::foreign_lines::ForeignLines;
use crate::join::Joint;
use crate::lines::{Framed, Line, LineSplitter};
use crate::output::Output;
use crate::parser::{RuntimeParser, SignalSink};
use crate::permissions::permission_mode;
use crate::redact::Kept;
use crate::reducer::Reducer;
use crate::runtimes;
use crate::signal::{Emitted, Scope, Signal, TapePlace};
use crate::standard_input::{StandardInput, StdinUse};
use crate::times::ToldTimes;

/// Turns the output of one process into records, as it arrives.
///
/// Plain and synchronous: no clock, no I/O. The same bytes with the same context give the same
/// records, however they are cut into chunks.
pub struct Normalizer {
    reading: LineParser,
    reducer: Reducer,
    stdout: LineSplitter,
    stderr: LineSplitter,
    history: LineSplitter,
    source: RunSource,
    roles: StreamRoles,
    foreign: Option<ForeignLines>,
    /// What the CLI takes its standard input for, and what came there, if anything did.
    stdin_use: StdinUse,
    stdin: Option<Box<StandardInput>>,
    limit: usize,
    /// When the first bytes came, and the last.
    began_at: Option<i64>,
    last_at: i64,
    clock: ToldClock,
}

/// What is known of times where nobody watched. When such lines were received says nothing: they are read later.
#[derive(Default)]
struct ToldClock {
    told: ToldTimes,
    /// When its first line was written, as far as whoever read the files knows; 0 if that is not known.
    began_at: i64,
    /// The same of its last line.
    ended_at: Option<i64>,
    /// The times of the run are its own: it was not watched.
    is_of_run: bool,
    /// Of the output, too, nothing is known but the date of a file.
    is_of_output: bool,
}

impl ToldClock {
    /// Returns when a line was written that has no time of its own: when the one before was.
    fn now(&self) -> i64 {
        self.told.last().unwrap_or(self.began_at)
    }

    /// Returns when a run ended that nobody watched, if its history tells.
    fn end_of_run(&self) -> Option<i64> {
        let told = self.told.last();
        if self.is_of_output {
            return told;
        }
        self.ended_at.filter(|_| self.is_of_run && told.is_some())
    }

    /// Tells whether the times of the history say how long the run took.
    fn is_measure(&self, source: RunSource) -> bool {
        let is_known = source == RunSource::History;
        let ends_later = is_known && self.ended_at.is_some_and(|at| at > self.began_at);
        self.is_of_run && self.told.is_measure(ends_later)
    }
}

/// Who reads the lines.
enum LineParser {
    /// One parser: that of the output, or that of the history.
    One(Box<dyn RuntimeParser>),
    /// Both, whose signals are joined at the end.
    Both(Box<Joint>),
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
        let mut others = context.argv.take();
        let start = others
            .as_deref()
            .and_then(|argv| Some(argv.len() - own_words(argv, entry)?.len()));
        context.argv = match start {
            // Nearly always all words are its own, and stay where they are.
            Some(0) => others.take(),
            Some(start) => others.as_mut().map(|argv| argv.split_off(start)),
            None => None,
        };
        if context.metadata.permission_mode().is_none()
            && let Some(mode) = permission_mode(&context, entry.permissions)
        {
            context.metadata.set("permissionMode", mode);
        }
        let source = context.source;
        let is_timeless = context.metadata.time_source() == Some("file");
        let stdin_use = match (&context.query, (entry.stdin)(&context)) {
            // The caller knows better.
            (Some(_), _) => StdinUse::Unknown,
            // A session file has them as the CLI took them in.
            (None, StdinUse::Messages(_)) if source != RunSource::Live => StdinUse::Unknown,
            (None, known) => known,
        };
        if context.query.is_none() {
            context.query = (entry.query)(&context);
        }
        let reading = match (source, entry.history) {
            (RunSource::Live, _) => LineParser::One((entry.parser)(&context)),
            (_, None) => return Err(NormalizeError::NoHistory { runtime }),
            (RunSource::History, Some(history)) => LineParser::One((history.parser)(&context)),
            (RunSource::Both, Some(history)) => {
                let printed = (entry.parser)(&context);
                LineParser::Both(Box::new(Joint::new(printed, history, &mut context)))
            }
        };
        let limit = context.limit;
        let roles = StreamRoles::new(&context, entry.sniff);
        let foreign = ForeignLines::new(&runtime, &context);
        if source != RunSource::Live {
            context.metadata.set("source", source.as_str());
        }
        if source == RunSource::History {
            context.metadata.set("timeSource", "history");
        }
        let clock = ToldClock {
            is_of_run: match source {
                RunSource::Live => false,
                RunSource::History => true,
                RunSource::Both => is_timeless,
            },
            is_of_output: source == RunSource::Live && is_timeless,
            ..ToldClock::default()
        };
        if let Some(mut argv) = others {
            argv.extend(context.argv.take().into_iter().flatten());
            context.argv = Some(argv);
        }
        let mut reducer = Reducer::new(runtime, context, live);
        if clock.is_of_output {
            reducer.hold_opening();
        }
        Ok(Self {
            reading,
            reducer,
            stdout: LineSplitter::new(limit),
            stderr: LineSplitter::new(limit),
            history: LineSplitter::new(limit),
            source,
            roles,
            foreign,
            stdin_use,
            stdin: None,
            limit,
            began_at: None,
            last_at: 0,
            clock,
        })
    }

    /// Returns the runtime whose output is read.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        self.reducer.runtime()
    }

    /// Takes the next bytes of a stream, received at a time in milliseconds since 1970.
    pub fn push(&mut self, stream: Stream, bytes: Kept<'_>, received_at: i64) -> Output {
        let mut output = Output::default();
        self.push_into(stream, bytes, received_at, &mut output);
        output
    }

    /// Takes the next bytes of a stream and appends what becomes known, for callers who use the
    /// same output over and over.
    pub fn push_into(
        &mut self,
        stream: Stream,
        bytes: Kept<'_>,
        received_at: i64,
        output: &mut Output,
    ) {
        let splitter = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            Stream::History if self.source != RunSource::Live => &mut self.history,
            Stream::Stdin => return self.push_stdin(bytes, received_at, output),
            // It is on the tape, and makes no records.
            Stream::History => return,
        };
        let began_at = *self.began_at.get_or_insert(received_at);
        self.last_at = received_at;
        if stream == Stream::History {
            // Of a run that was joined without being watched, nothing but its history knows when it began.
            let is_known = self.source == RunSource::History || !self.clock.is_of_run;
            self.clock.began_at = if is_known { began_at } else { 0 };
            self.clock.ended_at = self.clock.ended_at.max(Some(received_at));
        }
        self.reducer.swap_output(output);
        if let Some(stdin) = &mut self.stdin {
            stdin.ask(&mut self.reducer);
        }
        let (reading, reducer) = (&mut self.reading, &mut self.reducer);
        let (roles, foreign) = (&mut self.roles, &mut self.foreign);
        let clock = &mut self.clock;
        splitter.push(bytes.bytes(), received_at, |framed| {
            note_foreign(foreign, reducer, stream, &framed);
            feed(reading, reducer, clock, roles, stream, framed);
        });
        self.reducer.swap_output(output);
    }

    /// Takes what the process was given on its standard input.
    fn push_stdin(&mut self, bytes: Kept<'_>, received_at: i64, output: &mut Output) {
        if matches!(self.stdin_use, StdinUse::Unknown) {
            return;
        }
        self.reducer.swap_output(output);
        let (usage, limit, reducer) = (self.stdin_use, self.limit, &self.reducer);
        let made = || Box::new(StandardInput::new(usage, reducer, limit));
        let mut stdin = self.stdin.take().unwrap_or_else(made);
        stdin.push(bytes, received_at, &mut self.reducer);
        self.stdin = Some(stdin);
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
        let (mut reading, reducer) = (self.reading, &mut self.reducer);
        let clock = &mut self.clock;
        if let Some(stdin) = &mut self.stdin {
            stdin.finish(reducer);
        }
        for (mut splitter, stream) in [
            (self.history, Stream::History),
            (self.stdout, Stream::Stdout),
            (self.stderr, Stream::Stderr),
        ] {
            splitter.finish(|framed| {
                note_foreign(&mut self.foreign, reducer, stream, &framed);
                feed(
                    &mut reading,
                    reducer,
                    clock,
                    &mut self.roles,
                    stream,
                    framed,
                );
            });
        }
        let at = clock.end_of_run().unwrap_or(self.last_at);
        let place = TapePlace {
            span: None,
            line: 0,
            at,
        };
        match reading {
            LineParser::One(mut parser) => {
                let mut apply = |emitted: Emitted<'_>| reducer.apply(emitted, None);
                let told = Some(&mut clock.told);
                parser.finish(exit, &mut SignalSink::new(place, &mut apply).telling(told));
                reducer.set_measured(clock.is_measure(self.source));
                reducer.finish(exit, at, |code| parser.exit_is_signal(code));
            }
            LineParser::Both(joint) => {
                reducer.set_measured(clock.is_measure(self.source));
                let began_at = self.began_at.unwrap_or(at);
                let printed = joint.finish(exit, place, began_at, reducer);
                reducer.finish(exit, at, |code| printed.exit_is_signal(code));
            }
        }
        reducer.swap_output(output);
    }

    /// Gives what there is of a session that may go on, and consumes the normalizer: every message and every count that is
    /// there, and no end. When more is there, all of it is read again.
    #[must_use = "the last records are in it"]
    pub fn finish_so_far(mut self) -> Output {
        let mut output = Output::default();
        self.reducer.swap_output(&mut output);
        let place = TapePlace {
            span: None,
            line: 0,
            at: self.clock.now(),
        };
        let reducer = &mut self.reducer;
        if let LineParser::One(mut parser) = self.reading {
            let mut apply = |emitted: Emitted<'_>| {
                if !emitted.signal.is_verdict() {
                    reducer.apply(emitted, None);
                }
            };
            parser.finish(&Exit::unknown(), &mut SignalSink::new(place, &mut apply));
        }
        reducer.flush(place.at);
        reducer.swap_output(&mut output);
        output
    }
}

/// Which stream a parser takes for standard output, and where the runtime's own lines begin there.
#[derive(Clone, Copy, Debug)]
struct StreamRoles {
    is_swapped: bool,
    /// Lines of a wrapper that are still to come at the most.
    lines_before: u64,
    sniff: fn(&[u8]) -> u8,
}

impl StreamRoles {
    fn new(context: &Context, sniff: fn(&[u8]) -> u8) -> Self {
        Self {
            is_swapped: context.output_on == Stream::Stderr,
            lines_before: context.lines_before,
            sniff,
        }
    }

    /// Tells whether a line is a wrapper's, and looks like a message: by it a parser would take the format of the
    /// output for another one.
    fn is_misleading(&mut self, stream: Stream, line: &Line<'_>) -> bool {
        if self.lines_before == 0 || self.role_of(stream) != Stream::Stdout {
            return false;
        }
        // They were counted before secrets were taken out, of which one may have been several lines.
        let is_own = (self.sniff)(line.bytes) >= SURE_ENOUGH;
        if is_own || line.place(stream).line > self.lines_before {
            self.lines_before = 0;
            return false;
        }
        let first = line.bytes.trim_ascii_start().first();
        matches!(first, Some(b'{' | b'}' | b'[' | b']' | b'"'))
    }

    /// Returns what the parser takes a stream for.
    fn role_of(self, stream: Stream) -> Stream {
        match stream {
            Stream::Stdout if self.is_swapped => Stream::Stderr,
            Stream::Stderr if self.is_swapped => Stream::Stdout,
            other => other,
        }
    }
}

/// Tells of a line that another runtime printed.
fn note_foreign(
    foreign: &mut Option<ForeignLines>,
    reducer: &mut Reducer,
    stream: Stream,
    framed: &Framed<'_>,
) {
    let Framed::Line(line) = framed else {
        return;
    };
    if let Some(looking) = foreign
        && let Some(message) = looking.look(stream, line.bytes)
    {
        *foreign = None;
        let place = line.place(stream);
        let event = Signal::Event(Warning { message }.into());
        reducer.apply(
            Emitted {
                scope: Scope::Main,
                place,
                signal: event,
            },
            Some((line, place)),
        );
    }
}

/// Gives one line to the parser, and its signals to the reducer.
fn feed(
    reading: &mut LineParser,
    reducer: &mut Reducer,
    clock: &mut ToldClock,
    roles: &mut StreamRoles,
    stream: Stream,
    mut framed: Framed<'_>,
) {
    if let Framed::Line(line) = &framed
        && roles.is_misleading(stream, line)
    {
        let place = line.place(stream);
        let mut apply = |emitted: Emitted<'_>| reducer.apply(emitted, Some((line, place)));
        return SignalSink::new(place, &mut apply).stdout_text(line.bytes);
    }
    let mut told = None;
    if stream == Stream::History {
        let now = clock.now();
        if now > 0 || matches!(framed, Framed::Line(_)) {
            framed.set_received_at(now);
        }
        told = Some(&mut clock.told);
    } else if clock.is_of_output {
        if let Some(now) = clock.told.last() {
            framed.set_received_at(now);
        }
        told = Some(&mut clock.told);
    }
    let parser = match reading {
        LineParser::One(parser) => parser,
        LineParser::Both(joint) => return joint.feed(stream, framed, told, reducer),
    };
    match framed {
        Framed::Line(line) => {
            let role = roles.role_of(stream);
            if role == Stream::Stdout {
                reducer.deliver_inputs();
            }
            let place = line.place(stream);
            let mut apply = |emitted: Emitted<'_>| reducer.apply(emitted, Some((&line, place)));
            let mut sink = SignalSink::new(place, &mut apply).telling(told);
            parser.push_line(role, &line, &mut sink);
            if clock.is_of_output {
                reducer.date_opening(clock.told.first(), line.bytes.len());
            }
        }
        Framed::TooLong(line) => reducer.too_long(line.bytes, line.place(stream)),
    }
}
