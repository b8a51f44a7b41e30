//! Helpers for the tests of this runtime.

use runtape_core::{JobId, RunId, Span, Stream};

use crate::context::Context;
use crate::exit::Exit;
use crate::lines::{DEFAULT_LIMIT, Framed, LineSplitter};
use crate::parser::SignalSink;
use crate::signal::{Emitted, Place, Scope};

/// Collects what a piece of a parser emits, one line per signal.
pub(super) fn collect(work: impl FnOnce(&mut SignalSink<'_>)) -> Vec<String> {
    let mut seen = Vec::new();
    let mut apply = |emitted: Emitted<'_>| seen.push(show(&emitted));
    let place = Place {
        span: None,
        line: 0,
        at: 0,
    };
    work(&mut SignalSink::new(place, &mut apply));
    seen
}

fn show(emitted: &Emitted<'_>) -> String {
    match emitted.scope {
        Scope::Main => format!("{:?}", emitted.signal),
        Scope::Child(_) => format!("child {:?}", emitted.signal),
    }
}

/// A context that knows only its ids, and the command line if given.
pub(super) fn context(argv: &[&str]) -> Context {
    let mut context = Context::new(
        JobId::parse("job-1").unwrap(),
        RunId::parse("run-1").unwrap(),
    );
    if !argv.is_empty() {
        context.argv = Some(argv.iter().map(|word| (*word).to_owned()).collect());
    }
    context
}

/// Returns the signals of an output, without those about the format.
pub(super) fn signals(stdout: &str, stderr: &str, exit: &Exit) -> Vec<String> {
    signals_of(&context(&[]), stdout, stderr, exit)
}

/// Returns the signals of an output in a context.
pub(super) fn signals_of(
    context: &Context,
    stdout: &str,
    stderr: &str,
    exit: &Exit,
) -> Vec<String> {
    let mut parser = (super::ENTRY.parser)(context);
    let mut seen = Vec::new();
    let mut apply = |emitted: Emitted<'_>| seen.push(show(&emitted));
    for (stream, text) in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)] {
        let mut each = |framed: Framed<'_>| {
            let Framed::Line(line) = framed else { return };
            let span = Some(Span {
                stream,
                start: line.start,
                end: line.end,
            });
            let place = Place {
                span,
                line: line.number,
                at: line.received_at,
            };
            parser.push_line(stream, &line, &mut SignalSink::new(place, &mut apply));
        };
        let mut splitter = LineSplitter::new(DEFAULT_LIMIT);
        splitter.push(text.as_bytes(), 0, &mut each);
        splitter.finish(&mut each);
    }
    let place = Place {
        span: None,
        line: 0,
        at: 0,
    };
    parser.finish(exit, &mut SignalSink::new(place, &mut apply));
    seen
}
