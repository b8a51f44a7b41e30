//! One run from two sources: what its process printed, and what its session files say.
//!
//! Either half alone is an account of the same steps. History knows the conversation best: prompts,
//! tokens of each response, arguments, ids, results, a sub-agent's words. The output knows how it went: verdict,
//! totals, cost, notices, durations, text that was cut. So the steps of the history are the backbone, the output
//! is laid along it by keys, calls, or words in order, and what both say is said once. A step that only
//! one half has, stays.
//!
//! Both halves are held until the end, so a run is joined only if they are not too large for that.

mod align;
mod backbone;
mod half;
mod merge;
mod notices;
mod owned;

use runtape_core::Stream;

use self::half::Half;
use self::merge::Merge;
use crate::context::Context;
use crate::exit::Exit;
use crate::framing::lines::Framed;
use crate::history::History;
use crate::parser::{RuntimeParser, SignalSink};
use crate::reducer::Reducer;
use crate::signal::{Emitted, TapePlace};
use crate::times::ToldTimes;

/// Reads both halves of a run, and joins them at the end.
pub(crate) struct Joint {
    printed: Box<dyn RuntimeParser>,
    history: Box<dyn RuntimeParser>,
    printed_half: Half,
    history_half: Half,
    /// The times of the output are those of a file, and say nothing.
    is_timeless: bool,
    prefers_printed_text: bool,
}

impl Joint {
    pub(crate) fn new(
        printed: Box<dyn RuntimeParser>,
        history: &History,
        context: &mut Context,
    ) -> Self {
        let is_timeless = context.metadata.time_source() == Some("file");
        if is_timeless {
            context.metadata.set("timeSource", "history");
        }
        Self {
            printed,
            history: (history.parser)(context),
            printed_half: Half::new(),
            history_half: Half::new(),
            is_timeless,
            prefers_printed_text: history.prefers_printed_text,
        }
    }

    /// Takes a line of any stream.
    pub(crate) fn feed(
        &mut self,
        stream: Stream,
        framed: Framed<'_>,
        told: Option<&mut ToldTimes>,
        reducer: &mut Reducer,
    ) {
        let (parser, half) = match stream {
            Stream::History => (&mut self.history, &mut self.history_half),
            _ => (&mut self.printed, &mut self.printed_half),
        };
        match framed {
            Framed::Line(line) => {
                let place = line.place(stream);
                let mut apply = |emitted: Emitted<'_>| {
                    let is_here = emitted.place.span == place.span;
                    half.push(emitted, Some(line.bytes).filter(|_| is_here));
                };
                let mut sink = SignalSink::new(place, &mut apply).telling(told);
                parser.push_line(stream, &line, &mut sink);
            }
            Framed::TooLong(line) => reducer.too_long(line.bytes, line.place(stream)),
        }
    }

    /// Ends both halves, and gives the reducer what they say together. Returns the parser of the
    /// output, which knows the exit's codes.
    pub(crate) fn finish(
        mut self,
        exit: &Exit,
        place: TapePlace,
        began_at: i64,
        reducer: &mut Reducer,
    ) -> Box<dyn RuntimeParser> {
        for (parser, half) in [
            (&mut self.history, &mut self.history_half),
            (&mut self.printed, &mut self.printed_half),
        ] {
            let mut apply = |emitted: Emitted<'_>| half.push(emitted, None);
            parser.finish(exit, &mut SignalSink::new(place, &mut apply));
        }
        let is_timeless = self.is_timeless;
        let mut merge = Merge::new(self.history_half, self.printed_half, is_timeless, began_at);
        merge.prefers_printed_text = self.prefers_printed_text;
        merge.run(reducer);
        self.printed
    }
}
