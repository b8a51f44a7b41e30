//! The runs of a session: which are at work, and how they ended.

use std::collections::VecDeque;

use runtape_core::RunError;
use runtape_core::runtime_event::ApiRetry;

use crate::signal::TapePlace;

/// How many runs of a session are remembered: the gateway repeats the last frames of those before.
const MOST_RUNS: usize = 256;

/// Which frames said that a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndSource {
    Lifecycle,
    Chat,
    /// The last answer to `agent`, or the transcript.
    Answer,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct RunEnd {
    pub(super) source: EndSource,
    pub(super) error: Option<RunError>,
    /// Somebody ended it.
    pub(super) is_abort: bool,
    /// The gateway named the kind of failure.
    pub(super) has_detail: bool,
    pub(super) reason: Option<String>,
    pub(super) place: TapePlace,
}

impl RunEnd {
    /// Tells whether this end says more than one that was told before.
    ///
    /// A failure is never taken back by a success of the same attempt. Of two failures that of a
    /// chat frame counts, and of two chat frames the one that names the kind. Who ended a run
    /// tells so in a chat frame; only another chat frame knows better.
    fn outweighs(&self, before: &Self) -> bool {
        match (&before.error, &self.error) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(_), Some(_)) => match (before.is_abort, self.is_abort) {
                (_, true) => false,
                (true, false) => self.source == EndSource::Chat,
                (false, false) => {
                    self.source == EndSource::Chat
                        && (before.source != EndSource::Chat
                            || (self.has_detail && !before.has_detail))
                }
            },
        }
    }
}

/// One run of a session.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is told by a frame of its own"
)]
pub(super) struct GatewayRun {
    pub(super) id: Box<str>,
    /// Its life cycle has begun.
    pub(super) is_started: bool,
    /// An attempt is over, so that the next start is another one.
    pub(super) has_finished: bool,
    pub(super) started_at: Option<u64>,
    pub(super) ended_at: Option<u64>,
    pub(super) end: Option<RunEnd>,
    /// Its end was told, or another run took its place.
    pub(super) is_closed: bool,
    /// The last attempt failed, and will be made again.
    pub(super) retry: Option<ApiRetry>,
    /// A text of it was told.
    pub(super) has_text: bool,
    /// What chat frames said so far, as long as nothing else told a text.
    pub(super) chat_text: Option<(String, TapePlace)>,
    /// The output tokens so far, and how many responses told of them.
    pub(super) output_tokens: u64,
    pub(super) responses: u64,
    /// A fallback to another model was told.
    pub(super) has_fallback: bool,
    last_text: Option<u64>,
    last_thought: Option<u64>,
}

impl GatewayRun {
    /// Tells whether the run is still at work. What has no id, such as a row, is no run.
    pub(super) fn is_open(&self) -> bool {
        self.end.is_none() && !self.is_closed && !self.id.is_empty()
    }

    /// Takes an end. Later frames of the run may know better.
    pub(super) fn on_end(&mut self, end: RunEnd) {
        self.chat_text = None;
        match &mut self.end {
            Some(before) => {
                if end.outweighs(before) {
                    let family = before.error.take().and_then(|error| error.family);
                    let keeps_family = before.has_detail && !end.has_detail;
                    *before = end;
                    if let (true, Some(error)) = (keeps_family, &mut before.error) {
                        error.family = family.or(error.family);
                        before.has_detail = true;
                    }
                }
            }
            None => self.end = Some(end),
        }
    }

    /// Returns how long it took, from its first start to its end.
    pub(super) fn duration(&self) -> Option<u64> {
        self.ended_at?.checked_sub(self.started_at?)
    }

    /// Tells whether a text frame is new. Numbers rise within a run; some are left out.
    pub(super) fn is_new_text(&mut self, seq: Option<u64>) -> bool {
        rises(&mut self.last_text, seq)
    }

    /// Tells whether a frame with reasoning is new.
    pub(super) fn is_new_thought(&mut self, seq: Option<u64>) -> bool {
        rises(&mut self.last_thought, seq)
    }
}

fn rises(last: &mut Option<u64>, seq: Option<u64>) -> bool {
    let Some(seq) = seq else { return true };
    let is_new = last.is_none_or(|last| seq > last);
    if is_new {
        *last = Some(seq);
    }
    is_new
}

/// The runs of one session.
#[derive(Debug, Default)]
pub(super) struct GatewayRuns {
    /// The run that a frame was of last.
    last: GatewayRun,
    /// The others, by when a frame was of them.
    earlier: VecDeque<GatewayRun>,
}

impl GatewayRuns {
    /// Returns a run, which may be a new one.
    pub(super) fn get(&mut self, id: &str) -> &mut GatewayRun {
        if &*self.last.id != id {
            let at = self.earlier.iter().rposition(|run| &*run.id == id);
            let run = at.and_then(|at| self.earlier.remove(at));
            let run = run.unwrap_or_else(|| GatewayRun {
                id: id.into(),
                ..GatewayRun::default()
            });
            let before = std::mem::replace(&mut self.last, run);
            if !before.id.is_empty() {
                self.earlier.push_back(before);
            }
            if self.earlier.len() == MOST_RUNS {
                self.earlier.pop_front();
            }
        }
        &mut self.last
    }

    fn iter(&self) -> impl Iterator<Item = &GatewayRun> {
        std::iter::once(&self.last).chain(self.earlier.iter().rev())
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut GatewayRun> {
        std::iter::once(&mut self.last).chain(&mut self.earlier)
    }

    /// Returns the run with an id, if it is known.
    pub(super) fn known(&self, id: &str) -> Option<&GatewayRun> {
        self.iter().find(|run| &*run.id == id && !id.is_empty())
    }

    /// Tells whether any run is at work.
    pub(super) fn any_open(&self) -> bool {
        self.iter().any(GatewayRun::is_open)
    }

    /// A session works on one run at a time: when one starts, those that started before are over,
    /// also where nobody saw their end.
    pub(super) fn supersede(&mut self, id: &str) {
        for run in self.iter_mut() {
            if &*run.id != id && run.is_started && run.is_open() {
                run.is_closed = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use runtape_core::ErrorFamily;

    use super::*;
    use crate::failure::error;

    /// Who told of an end, and the name of the failure.
    type End = (EndSource, Option<&'static str>);

    fn end(source: EndSource, name: Option<&str>) -> RunEnd {
        RunEnd {
            source,
            error: name.map(|name| error(name, name, ErrorFamily::Other)),
            is_abort: name == Some("Aborted"),
            has_detail: name == Some("Detailed"),
            reason: None,
            place: TapePlace {
                span: None,
                line: 0,
                at: 0,
            },
        }
    }

    #[test]
    fn the_end_that_knows_most_counts() {
        use EndSource::{Chat, Lifecycle};
        let table: [(&[End], Option<&str>); 9] = [
            (&[(Lifecycle, None), (Chat, None)], None),
            (&[(Lifecycle, None), (Chat, Some("Late"))], Some("Late")),
            (&[(Lifecycle, Some("Failed")), (Chat, None)], Some("Failed")),
            (&[(Lifecycle, Some("L")), (Chat, Some("C"))], Some("C")),
            (
                &[(Chat, Some("Detailed")), (Chat, Some("C"))],
                Some("Detailed"),
            ),
            (
                &[(Chat, Some("C")), (Chat, Some("Detailed"))],
                Some("Detailed"),
            ),
            (
                &[(Chat, Some("Aborted")), (Lifecycle, Some("L"))],
                Some("Aborted"),
            ),
            (&[(Chat, Some("Aborted")), (Chat, Some("C"))], Some("C")),
            (
                &[(Lifecycle, Some("L")), (Chat, Some("Aborted"))],
                Some("L"),
            ),
        ];
        for (ends, expected) in table {
            let mut run = GatewayRun::default();
            for (source, name) in ends {
                run.on_end(end(*source, *name));
            }
            let name = run.end.unwrap().error.map(|error| error.name);
            assert_eq!(name.as_deref(), expected, "{ends:?}");
        }
    }

    #[test]
    fn the_kind_of_failure_stays_with_other_words() {
        let mut run = GatewayRun::default();
        let mut first = end(EndSource::Lifecycle, Some("L"));
        first.error = Some(error("L", "L", ErrorFamily::Auth));
        first.has_detail = true;
        run.on_end(first);
        run.on_end(end(EndSource::Chat, Some("C")));
        let error = run.end.unwrap().error.unwrap();
        assert_eq!(
            (error.name.as_str(), error.family),
            ("C", Some(ErrorFamily::Auth))
        );
    }

    #[test]
    fn runs_are_remembered_up_to_a_number() {
        let mut runs = GatewayRuns::default();
        for n in 0..3 * MOST_RUNS {
            runs.get(&n.to_string());
        }
        assert!(runs.earlier.len() < MOST_RUNS);
        assert!(runs.known("0").is_none() && runs.known("767").is_some());
    }

    #[test]
    fn numbers_of_frames_rise() {
        let mut run = GatewayRun::default();
        let news: Vec<bool> = [Some(2), Some(2), Some(5), Some(4), None]
            .map(|seq| run.is_new_text(seq))
            .into();
        assert_eq!(news, [true, false, true, false, true]);
    }
}
