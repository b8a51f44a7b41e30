//! What a transaction is about to write: kept here until somebody asks for it, or it ends.
//!
//! An append is one statement then, and many runs that are stored at once are a statement for each table.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use runtape_core::RunId;

use super::connection::Value;
use super::rows::{Cell, ColumnSpec, Kind, Rows};
use crate::backend::RunKey;
use crate::derive::cells::{self, RUN_COLUMNS, RUN_WIDTH, RunColumn};

/// Texts that runs do not share.
const TEXTS: [&str; 5] = ["error_message", "prompt", "argv", "git_commit", "labels"];

/// Tells how a column of a run is written in SQL, and what it holds.
fn spec(column: &RunColumn) -> ColumnSpec {
    let name = match column.name {
        "user" => "\"user\"",
        name => name,
    };
    let kind = match column.name {
        _ if column.is_word => Kind::Text,
        name if TEXTS.contains(&name) => Kind::Text,
        "cost_usd" => Kind::Double,
        _ => Kind::Bigint,
    };
    (name, kind)
}

/// Puts the columns of `run` that follow from records, in their order, after others.
fn after(first: &[ColumnSpec]) -> Vec<ColumnSpec> {
    let first = first.iter().copied();
    first.chain(RUN_COLUMNS.iter().map(spec)).collect()
}

/// Columns of `run` that follow from records, in their order.
pub(super) static RUN_CELLS: LazyLock<Vec<ColumnSpec>> = LazyLock::new(|| after(&[]));

/// Columns of a run that is added.
static NEW_RUN: LazyLock<Vec<ColumnSpec>> = LazyLock::new(|| {
    after(&[
        ("run_no", Kind::Bigint),
        ("run_id", Kind::Text),
        ("job_id", Kind::Text),
        ("parent_no", Kind::Bigint),
        ("runtime", Kind::Text),
    ])
});

/// Columns of a run that is changed.
static CHANGED_RUN: LazyLock<Vec<ColumnSpec>> =
    LazyLock::new(|| after(&[("run_no", Kind::Bigint)]));

static ROOT: [ColumnSpec; 5] = [
    ("context", Kind::Bytes),
    ("exit", Kind::Bytes),
    ("seal_chain", Kind::Bigint),
    ("seal_number", Kind::Bigint),
    ("summed", Kind::Smallint),
];

static RUN_PLACE: [ColumnSpec; 1] = [("run_id", Kind::Text)];

static RECORD_BLOCK: [ColumnSpec; 7] = [
    ("run_no", Kind::Bigint),
    ("first_seq", Kind::Bigint),
    ("count", Kind::Bigint),
    ("length", Kind::Bigint),
    ("hash", Kind::Bytes),
    ("marks", Kind::Bytes),
    ("body", Kind::Bytes),
];

static TAPE_BLOCK: [ColumnSpec; 14] = [
    ("number", Kind::Bigint),
    ("first_at", Kind::Bigint),
    ("last_at", Kind::Bigint),
    ("length", Kind::Bigint),
    ("hash", Kind::Bytes),
    ("body", Kind::Bytes),
    ("stdout_start", Kind::Bigint),
    ("stdout_length", Kind::Bigint),
    ("stderr_start", Kind::Bigint),
    ("stderr_length", Kind::Bigint),
    ("stdin_start", Kind::Bigint),
    ("stdin_length", Kind::Bigint),
    ("history_start", Kind::Bigint),
    ("history_length", Kind::Bigint),
];

static STEP: [ColumnSpec; 14] = [
    ("run_no", Kind::Bigint),
    ("step", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("checkpoint_id", Kind::Text),
    ("status", Kind::Text),
    ("started_at", Kind::Bigint),
    ("finished_at", Kind::Bigint),
    ("messages", Kind::Bigint),
    ("tool_calls", Kind::Bigint),
    ("pending", Kind::Bigint),
    ("input_tokens", Kind::Bigint),
    ("output_tokens", Kind::Bigint),
    ("reasoning_tokens", Kind::Bigint),
    ("cached_input_tokens", Kind::Bigint),
];

static TOOL_CALL: [ColumnSpec; 13] = [
    ("run_no", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("part", Kind::Bigint),
    ("step", Kind::Bigint),
    ("at", Kind::Bigint),
    ("tool", Kind::Text),
    ("command", Kind::Text),
    ("paths", Kind::Text),
    ("url", Kind::Text),
    ("result_seq", Kind::Bigint),
    ("is_error", Kind::Boolean),
    ("duration_ms", Kind::Bigint),
    ("class", Kind::Text),
];

static CALL_RESULT: [ColumnSpec; 6] = [
    ("run_no", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("part", Kind::Bigint),
    ("result_seq", Kind::Bigint),
    ("is_error", Kind::Boolean),
    ("duration_ms", Kind::Bigint),
];

static NOTICE: [ColumnSpec; 6] = [
    ("run_no", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("step", Kind::Bigint),
    ("at", Kind::Bigint),
    ("kind", Kind::Text),
    ("text", Kind::Text),
];

static UNPARSED: [ColumnSpec; 8] = [
    ("run_no", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("at", Kind::Bigint),
    ("stream", Kind::Smallint),
    ("line", Kind::Bigint),
    ("tag", Kind::Text),
    ("reason", Kind::Text),
    ("excerpt", Kind::Text),
];

static USAGE: [ColumnSpec; 15] = [
    ("run_no", Kind::Bigint),
    ("seq", Kind::Bigint),
    ("at", Kind::Bigint),
    ("key", Kind::Text),
    ("source", Kind::Text),
    ("step", Kind::Bigint),
    ("model", Kind::Text),
    ("input_tokens", Kind::Bigint),
    ("output_tokens", Kind::Bigint),
    ("reasoning_tokens", Kind::Bigint),
    ("cached_input_tokens", Kind::Bigint),
    ("session_key", Kind::Bigint),
    ("of_session", Kind::Boolean),
    ("cache_write_tokens", Kind::Bigint),
    ("cache_write_1h_tokens", Kind::Bigint),
];

/// Tables that rows are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Into {
    Root,
    Run,
    RunPlace,
    RecordBlock,
    TapeBlock,
    Step,
    ToolCall,
    Notice,
    Unparsed,
    Usage,
}

impl Into {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Run => "run",
            Self::RunPlace => "run_place",
            Self::RecordBlock => "record_block",
            Self::TapeBlock => "tape_block",
            Self::Step => "step",
            Self::ToolCall => "tool_call",
            Self::Notice => "notice",
            Self::Unparsed => "unparsed",
            Self::Usage => "usage",
        }
    }

    fn columns(self) -> &'static [ColumnSpec] {
        match self {
            Self::Root => &ROOT,
            Self::Run => &NEW_RUN,
            Self::RunPlace => &RUN_PLACE,
            Self::RecordBlock => &RECORD_BLOCK,
            Self::TapeBlock => &TAPE_BLOCK,
            Self::Step => &STEP,
            Self::ToolCall => &TOOL_CALL,
            Self::Notice => &NOTICE,
            Self::Unparsed => &UNPARSED,
            Self::Usage => &USAGE,
        }
    }
}

/// What stands in a run's columns, to be written later.
pub(super) type RunCells = [cells::Cell<'static>; RUN_WIDTH];

/// A statement, as it is put together.
pub(super) struct Part<'a> {
    pub(super) sql: String,
    pub(super) values: Vec<Value<'a>>,
}

/// What is not written yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    added: BTreeMap<Into, Rows>,
    /// Runs whose columns changed; of one that changed twice, the last ones count.
    changed: BTreeMap<(String, i64), RunCells>,
    changed_rows: Option<Rows>,
    results: Option<Rows>,
    /// Ids of runs that are added, and sessions that runs are of: what is asked without writing it all.
    pub(super) runs: HashSet<RunId>,
    pub(super) sessions: HashSet<String>,
    /// The trees that it is about.
    pub(super) roots: BTreeSet<RunId>,
    /// Rough size, so that it is written before it takes too much memory.
    pub(super) bytes: usize,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Adds a row to a table.
    pub(super) fn add<'a>(
        &mut self,
        table: Into,
        root: &RunId,
        cells: impl IntoIterator<Item = Cell<'a>>,
    ) {
        let rows = self
            .added
            .entry(table)
            .or_insert_with(|| Rows::new(table.columns()));
        rows.push(root.as_str(), cells);
        if !self.roots.contains(root) {
            self.roots.insert(root.clone());
        }
    }

    /// Notes what stands in a run's columns now.
    pub(super) fn change_run(&mut self, run: &RunKey, cells: RunCells) {
        self.roots.insert(run.root.clone());
        self.changed
            .insert((run.root.to_string(), run.number), cells);
    }

    /// Notes what came of a call.
    pub(super) fn answer_call<'a>(
        &mut self,
        root: &RunId,
        cells: impl IntoIterator<Item = Cell<'a>>,
    ) {
        self.roots.insert(root.clone());
        let rows = self.results.get_or_insert_with(|| Rows::new(&CALL_RESULT));
        rows.push(root.as_str(), cells);
    }

    /// Tells whether rows are to be added to a table.
    pub(super) fn adds(&self, table: Into) -> bool {
        self.added.get(&table).is_some_and(|rows| !rows.is_empty())
    }

    /// Gets ready to be written.
    fn settle(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        if changed.is_empty() {
            return;
        }
        let rows = self
            .changed_rows
            .get_or_insert_with(|| Rows::new(&CHANGED_RUN));
        for ((root, number), cells) in changed {
            let number = std::iter::once(Cell::Integer(number));
            rows.push(&root, number.chain(cells.into_iter().map(cell)));
        }
    }

    /// Returns the statements that write it all, each by itself. Those that change rows come after those that add them.
    pub(super) fn statements(&mut self) -> Vec<Part<'_>> {
        self.settle();
        let mut parts = Vec::new();
        for (table, rows) in &self.added {
            let mut values = Vec::new();
            let from = rows.bind(&mut values, None);
            let sql = insert(*table, rows, &from);
            parts.push(Part { sql, values });
        }
        if let Some(rows) = &self.changed_rows {
            let mut values = Vec::new();
            let sql = change(&rows.bind(&mut values, None));
            parts.push(Part { sql, values });
        }
        if let Some(rows) = &self.results {
            let mut values = Vec::new();
            let sql = answer(&rows.bind(&mut values, None));
            parts.push(Part { sql, values });
        }
        parts
    }

    /// Returns one statement that writes it all, if a fence lets it: it is about one tree. A run that is added and changed
    /// in the same statement would not be found, and neither would a call; so there is none then.
    pub(super) fn fenced<'a>(
        &'a mut self,
        fence: &str,
        mut values: Vec<Value<'a>>,
    ) -> Option<Part<'a>> {
        let changes_added = !self.changed.is_empty() && self.adds(Into::Run);
        let answers_added = self.results.is_some() && self.adds(Into::ToolCall);
        if self.roots.len() != 1 || changes_added || answers_added {
            return None;
        }
        self.settle();
        let mut sql = format!("WITH fence AS ({fence})");
        for (number, (table, rows)) in self.added.iter().enumerate() {
            let from = rows.bind(&mut values, Some("fence"));
            let insert = insert(*table, rows, &from);
            // Writing to a string cannot fail.
            let _ = write!(sql, ", w{number} AS ({insert})");
        }
        if let Some(rows) = &self.changed_rows {
            let from = rows.bind(&mut values, Some("fence"));
            let _ = write!(sql, ", changed AS ({})", change(&from));
        }
        if let Some(rows) = &self.results {
            let from = rows.bind(&mut values, Some("fence"));
            let _ = write!(sql, ", answered AS ({})", answer(&from));
        }
        sql.push_str(" SELECT writes FROM fence");
        Some(Part { sql, values })
    }
}

/// Makes a value of what stands in a run's column.
pub(super) fn cell(cell: cells::Cell<'_>) -> Cell<'_> {
    match cell {
        cells::Cell::Null => Cell::Null,
        cells::Cell::Integer(number) => Cell::Integer(number),
        cells::Cell::Real(number) => Cell::Real(number),
        cells::Cell::Text(text) | cells::Cell::Word(text) => Cell::Text(text),
    }
}

fn insert(table: Into, rows: &Rows, from: &str) -> String {
    let (name, columns) = (table.name(), rows.names());
    // The root's number of a chain is small; the column has the type that says so.
    let picked = columns.replace("seal_chain", "seal_chain::integer");
    format!("INSERT INTO {name} ({columns}) SELECT {picked} FROM {from}")
}

fn change(from: &str) -> String {
    let set: Vec<String> = RUN_CELLS
        .iter()
        .map(|(name, _)| format!("{name} = x.{name}"))
        .collect();
    format!(
        "UPDATE run SET {} FROM {from} WHERE run.root_id = x.root_id AND run.run_no = x.run_no",
        set.join(", ")
    )
}

fn answer(from: &str) -> String {
    format!(
        "UPDATE tool_call AS call SET result_seq = x.result_seq, is_error = x.is_error,
            duration_ms = x.duration_ms
         FROM {from} WHERE call.root_id = x.root_id AND call.run_no = x.run_no
            AND call.seq = x.seq AND call.part = x.part"
    )
}
