//! The processes of a session: where each begins, and what it left.
//!
//! | mark | what it means |
//! |---|---|
//! | `cost-state` | the process ended: whatever comes next is of another one |
//! | a prompt that was queued while nothing else was going on | print mode began; see [`SessionRuns::begins_run`] |
//! | another `entrypoint` or `version` | another process |
//! | a result that says its call was interrupted by the end of the session | the process was killed, and the session taken up again |
//! | a line that was cut, with more lines after it | the process died while it wrote, and a queued prompt after it is another one's |
//! | 1.0, whose print mode leaves no mark: a prompt | print mode began |

use super::super::conversation::version_of;
use super::line_head::LineHead;
use super::weave::ThreadLine;
use super::word::{NOTIFICATION, Word, is_synthetic};
use crate::json::Str;

/// The first version that was seen to end each process with its totals.
const TOTALS_AT_END: [u32; 3] = [2, 1, 325];
/// The versions before this one have no queue lines in print mode.
const QUEUES_PROMPTS: [u32; 3] = [2, 0, 0];

/// The most bytes that are held of the prompts and answers of all processes together: they help to
/// find a process's output, and a session may have any number of long ones.
const MOST_TEXTS: usize = 16 << 20;

/// What one process left.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are independent of each other"
)]
pub(super) struct SessionRun {
    pub(super) key: String,
    pub(super) is_copy: bool,
    pub(super) is_resumed: bool,
    pub(super) is_over: bool,
    pub(super) lines: Vec<ThreadLine>,
    pub(super) started_at: Option<i64>,
    pub(super) last_at: Option<i64>,
    pub(super) cwd: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) last_text: Option<String>,
    pub(super) unreadable: u64,
    /// The totals of the session when it began, where they are known.
    pub(super) cost_before: Option<CostBefore>,
    /// The prompt as it was queued.
    queued: Option<String>,
    entrypoint: Option<String>,
    version: Option<String>,
    /// Something that wants an answer stands last.
    is_open: bool,
    /// One of its lines was cut: nobody wrote its rest.
    is_cut: bool,
}

/// The totals of a session when a process began.
#[derive(Clone, Debug)]
pub(super) enum CostBefore {
    /// The session began with the process.
    Nothing,
    /// The line that has them.
    Line(ThreadLine),
}

/// A prompt that was queued, which may be the beginning of a process.
#[derive(Debug)]
struct Queued {
    line: ThreadLine,
    content: Option<String>,
    is_taken: bool,
}

/// The processes of a session, in order.
#[derive(Debug, Default)]
pub(super) struct SessionRuns {
    pub(super) copied: Vec<SessionRun>,
    pub(super) own: Vec<SessionRun>,
    /// When the first queue line was written: lines of the conversation that are older are copies.
    own_since: Option<i64>,
    /// Something was said in this session that is no copy.
    has_spoken: bool,
    queued: Option<Queued>,
    /// Prompts in the queue of the process that is at work.
    waiting: u32,
    last_cost: Option<ThreadLine>,
    /// The session was used in the terminal.
    is_terminal: bool,
    /// Lines that came before the first process, and are no JSON.
    strays: Vec<ThreadLine>,
    /// How many bytes of prompts and answers are held.
    held_texts: usize,
}

/// Where a line of the conversation belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunIndex {
    /// A process of a session that this one is a fork of.
    Copied(usize),
    /// A process of this session.
    Own(usize),
}

impl SessionRuns {
    /// Returns a process.
    pub(super) fn get_mut(&mut self, index: RunIndex) -> Option<&mut SessionRun> {
        match index {
            RunIndex::Copied(at) => self.copied.get_mut(at),
            RunIndex::Own(at) => self.own.get_mut(at),
        }
    }

    /// Takes a line of a queue. Returns whether it is kept.
    pub(super) fn on_queue(&mut self, head: &LineHead<'_>, line: ThreadLine) {
        self.own_since = self.own_since.or(line.at);
        if let Some(run) = self.own.last_mut().filter(|run| !run.is_over) {
            run.last_at = run.last_at.max(line.at);
        }
        let content = head.content.0.as_ref().map(Str::as_str);
        if content.is_some_and(|content| content.starts_with(NOTIFICATION)) {
            return;
        }
        match head.operation.as_deref() {
            Some("enqueue") if self.queued.is_none() => {
                self.queued = Some(Queued {
                    line,
                    content: content.map(str::to_owned),
                    is_taken: false,
                });
            }
            Some("enqueue") => self.waiting = self.waiting.saturating_add(1),
            Some("dequeue") => match &mut self.queued {
                Some(queued) if !queued.is_taken => queued.is_taken = true,
                _ if self.waiting > 0 => self.waiting -= 1,
                Some(_) => {}
                // 2.0 writes no more than this.
                None => {
                    self.queued = Some(Queued {
                        line,
                        content: None,
                        is_taken: true,
                    });
                }
            },
            Some(_) => self.waiting = self.waiting.saturating_sub(1),
            None => {}
        }
    }

    /// Takes the totals with which a process ends.
    pub(super) fn on_cost(&mut self, line: ThreadLine) {
        self.last_cost = Some(line.clone());
        if let Some(run) = self.own.last_mut() {
            run.is_over = true;
            run.lines.push(line);
        }
    }

    /// Notes a line that only the terminal writes.
    pub(super) fn on_terminal(&mut self) {
        self.is_terminal = true;
    }

    /// Notes that a line was cut.
    pub(super) fn on_cut(&mut self) {
        if let Some(run) = self.own.last_mut() {
            run.is_cut = true;
        }
    }

    /// Takes a line that is no JSON, or of a type that is not known.
    pub(super) fn on_stray(&mut self, line: ThreadLine, is_readable: bool) {
        if !is_readable {
            self.on_cut();
        }
        if let Some(run) = self.own.last_mut() {
            run.unreadable += u64::from(!is_readable);
            run.lines.push(line);
        } else if !is_readable {
            self.strays.push(line);
        }
    }

    /// Takes a line of the main conversation, and tells where it belongs. `session` is that of the file.
    pub(super) fn on_chain(
        &mut self,
        head: &LineHead<'_>,
        session: &str,
        at: Option<i64>,
    ) -> RunIndex {
        let word = Word::of(head);
        self.is_terminal |= head.entrypoint.as_deref() == Some("cli");
        let index = if self.is_copied(head, session, word, at) {
            if self.begins_copied_run(head, word) {
                let is_resumed = !self.copied.is_empty();
                settle_texts(self.copied.last_mut(), &mut self.held_texts);
                self.copied.push(SessionRun {
                    key: text(head.uuid.as_ref()).unwrap_or_default(),
                    is_copy: true,
                    is_resumed,
                    started_at: at,
                    ..SessionRun::default()
                });
            }
            RunIndex::Copied(self.copied.len().saturating_sub(1))
        } else {
            if self.begins_run(head, word) {
                self.begin(head, at);
            }
            self.settle_queue();
            self.has_spoken |= !matches!(word, Word::Aside | Word::Recovery);
            RunIndex::Own(self.own.len().saturating_sub(1))
        };
        if let Some(run) = self.get_mut(index) {
            run.take(head, word, at);
        }
        index
    }

    /// Tells whether a line was copied from the session that this one is a fork of.
    fn is_copied(&self, head: &LineHead<'_>, session: &str, word: Word, at: Option<i64>) -> bool {
        let of_other = head.session.as_deref().is_some_and(|id| id != session);
        let is_older = self.own_since.zip(at).is_some_and(|(own, at)| at < own);
        // What is written when a killed session is taken up is a little older than the queue line
        // before it.
        let is_before = !self.has_spoken && is_older && word != Word::Recovery;
        // So may be what hooks had to say when the process began; a conversation begins with a prompt.
        let is_before = is_before && (word != Word::Aside || !self.copied.is_empty());
        of_other || head.forked_from.is_some() || is_before
    }

    /// Forks copy no marks: in print mode each prompt is taken for a process.
    fn begins_copied_run(&self, head: &LineHead<'_>, word: Word) -> bool {
        let Some(run) = self.copied.last() else {
            return true;
        };
        let is_typed = head.entrypoint.as_deref() == Some("cli");
        run.is_another(head)
            || word == Word::Recovery && !run.is_recovering()
            || word == Word::Prompt && !is_typed && !run.is_recovering()
    }

    /// Tells whether a line is the first of another process.
    fn begins_run(&self, head: &LineHead<'_>, word: Word) -> bool {
        let Some(run) = self.own.last() else {
            return true;
        };
        if run.is_over || run.is_another(head) {
            return true;
        }
        let version = head.version.as_deref().and_then(version_of);
        if let Some(queued) = &self.queued {
            let is_terminal = head.entrypoint.as_deref() == Some("cli");
            let is_first = matches!(word, Word::Prompt | Word::Cli | Word::Recovery);
            // A prompt that is queued while a turn goes on is one more of the same process. Between
            // two turns it may be (prompts that are streamed in), or the session was taken up again:
            // a process that ended by itself would have said so, by the versions that do.
            let has_ended = run.is_open
                || run.is_cut
                || word == Word::Recovery
                || version.is_none_or(|version| version < TOTALS_AT_END)
                    && self.last_cost.is_none();
            return queued.is_taken && !is_terminal && is_first && has_ended;
        }
        match word {
            Word::Recovery => !run.is_recovering(),
            Word::Prompt => {
                let has_no_queue = version.is_some_and(|version| version < QUEUES_PROMPTS);
                (has_no_queue || run.is_cut) && !self.is_terminal && !run.lines.is_empty()
            }
            _ => false,
        }
    }

    /// Begins a process with a line, or with the prompt that was queued before it.
    fn begin(&mut self, head: &LineHead<'_>, at: Option<i64>) {
        let queued = self.queued.take();
        let begun = queued.as_ref().and_then(|queued| queued.line.at);
        let uuid = || text(head.uuid.as_ref()).unwrap_or_default();
        let mut run = self.new_run(begun.map_or_else(uuid, |at| at.to_string()));
        run.started_at = begun.or(at);
        if let Some(queued) = queued {
            run.queued = queued.content;
            run.lines.push(queued.line);
        }
        self.own.push(run);
        self.waiting = 0;
    }

    fn new_run(&mut self, key: String) -> SessionRun {
        settle_texts(self.own.last_mut(), &mut self.held_texts);
        let lines = std::mem::take(&mut self.strays);
        // A fork begins with its parent's totals, which stand in the parent's file alone.
        let cost_before = match &self.last_cost {
            Some(line) => Some(CostBefore::Line(line.clone())),
            None if !self.copied.is_empty() => None,
            None => Some(CostBefore::Nothing),
        };
        SessionRun {
            key,
            is_resumed: !self.own.is_empty(),
            unreadable: u64::try_from(lines.len()).unwrap_or(u64::MAX),
            lines,
            cost_before,
            ..SessionRun::default()
        }
    }

    /// What is queued when a line of a turn comes belongs to the process that is at work.
    fn settle_queue(&mut self) {
        if let Some(queued) = self.queued.take()
            && !queued.is_taken
        {
            self.waiting = self.waiting.saturating_add(1);
        }
    }

    /// Ends the session: a prompt that was queued and never stored is all that is left of a process.
    pub(super) fn finish(&mut self) {
        let is_free = self.own.last().is_none_or(|run| run.is_over);
        if let Some(queued) = self
            .queued
            .take_if(|queued| is_free && queued.content.is_some())
        {
            let at = queued.line.at;
            let mut run = self.new_run(at.unwrap_or_default().to_string());
            (run.started_at, run.last_at) = (at, at);
            run.queued = queued.content;
            run.lines.push(queued.line);
            self.own.push(run);
        }
        for run in &mut self.own {
            run.prompt = run.prompt.take().or(run.queued.take());
        }
    }
}

impl SessionRun {
    /// Tells whether a line is by its marks of another process.
    fn is_another(&self, head: &LineHead<'_>) -> bool {
        let differs = |known: &Option<String>, found: Option<&str>| {
            known.as_deref().zip(found).is_some_and(|(a, b)| a != b)
        };
        differs(&self.entrypoint, head.entrypoint.as_deref())
            || differs(&self.version, head.version.as_deref())
    }

    /// Tells whether nothing was said but that the session was taken up again.
    fn is_recovering(&self) -> bool {
        self.prompt.is_none() && self.last_text.is_none()
    }

    fn take(&mut self, head: &LineHead<'_>, word: Word, at: Option<i64>) {
        self.last_at = self.last_at.max(at);
        fill(&mut self.cwd, head.cwd.as_deref());
        fill(&mut self.entrypoint, head.entrypoint.as_deref());
        fill(&mut self.version, head.version.as_deref());
        match word {
            Word::Prompt => {
                self.is_open = true;
                if self.prompt.is_none() {
                    self.prompt = head.message.content.text();
                }
            }
            Word::Result | Word::Call => self.is_open = true,
            Word::Answer | Word::Cli => self.is_open = false,
            Word::Recovery | Word::Aside => {}
        }
        let is_model = head.kind.as_deref() == Some("assistant") && !is_synthetic(head);
        if is_model && head.is_aborted != Some(true) {
            let blocks = head.message.content.blocks().iter().rev();
            let mut texts = blocks.filter_map(|block| block.0.text.as_deref());
            if let Some(last) = texts.next() {
                let kept = self.last_text.get_or_insert_default();
                last.clone_into(kept);
            }
        }
    }
}

/// Lets go of a process's prompt and answer where too much is held of those before it.
fn settle_texts(run: Option<&mut SessionRun>, held: &mut usize) {
    let Some(run) = run else { return };
    let texts = [&mut run.prompt, &mut run.queued, &mut run.last_text];
    for text in texts {
        let length = text.as_ref().map_or(0, String::len);
        if held.saturating_add(length) > MOST_TEXTS {
            *text = None;
        } else {
            *held += length;
        }
    }
}

fn fill(known: &mut Option<String>, found: Option<&str>) {
    if known.is_none() {
        *known = found.map(str::to_owned);
    }
}

fn text(found: Option<&Str<'_>>) -> Option<String> {
    found.map(|text| text.as_str().to_owned())
}
