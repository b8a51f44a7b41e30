//! What a transaction is about to write: kept here until somebody asks for it, or it ends.
//!
//! An append is one statement then, and many runs that are stored at once are a statement for each table.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use runtape_core::RunId;

use super::connection::{Part, Value};
use super::rows::{Cell, ColumnSpec, Kind, Rows};
use crate::backend::RunKey;
use crate::derive::cells::{self, RUN_COLUMNS, RUN_WIDTH, RunColumn};

/// Texts that runs do not share.
const TEXTS: [&str; 6] = [
    "error_message",
    "prompt",
    "argv",
    "git_commit",
    "labels",
    "session_title",
];

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

static SEARCH: [ColumnSpec; 3] = [
    ("run_no", Kind::Bigint),
    ("first_seq", Kind::Bigint),
    ("words", Kind::Text),
];

static SEARCHED: [ColumnSpec; 2] = [("run_no", Kind::Bigint), ("searched", Kind::Bigint)];

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
    Search,
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
            Self::Search => "search",
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
            Self::Search => &SEARCH,
        }
    }
}

/// What stands in a run's columns, to be written later.
pub(super) type RunCells = [cells::Cell<'static>; RUN_WIDTH];

/// What changes in the row of a tree; absent is what stays as it is.
#[derive(Debug, Default)]
struct RootChange {
    exit: Option<Vec<u8>>,
    /// Chain and number of the seal, which may be none.
    seal: Option<(Option<i32>, Option<i64>)>,
    /// The epoch of a lease that ends with it.
    lease: Option<i64>,
}

impl RootChange {
    fn statement<'a>(&'a self, root: &'a String) -> Part<'a> {
        let mut values: Vec<Value<'a>> = vec![root];
        let mut set = Vec::new();
        if let Some(exit) = &self.exit {
            values.push(exit);
            set.push(format!("exit = ${}", values.len()));
        }
        if let Some((chain, number)) = &self.seal {
            values.extend([chain as Value<'a>, number]);
            let last = values.len();
            set.push(format!("seal_chain = ${}, seal_number = ${last}", last - 1));
        }
        let mut sql = format!("UPDATE root SET {} WHERE root_id = $1", set.join(", "));
        if let Some(epoch) = &self.lease {
            values.push(epoch);
            let last = values.len();
            let ended = format!("DELETE FROM lease WHERE root_id = $1 AND epoch = ${last}");
            sql = if set.is_empty() {
                ended
            } else {
                format!("WITH ended AS ({ended}) {sql}")
            };
        }
        Part {
            sql: sql.into(),
            values,
        }
    }
}

/// What is not written yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    added: BTreeMap<Into, Rows>,
    /// Runs whose columns changed; of one that changed twice, the last ones count.
    changed: BTreeMap<(String, i64), RunCells>,
    changed_rows: Option<Rows>,
    results: Option<Rows>,
    changed_roots: BTreeMap<String, RootChange>,
    /// How many records of runs the search index knows.
    searched: Option<Rows>,
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
        self.roots.is_empty() && self.searched.is_none() && !self.adds(Into::Search)
    }

    /// Adds a row to a table.
    pub(super) fn add<'a>(
        &mut self,
        table: Into,
        root: &RunId,
        cells: impl IntoIterator<Item = Cell<'a>>,
    ) {
        self.add_row(table, root, cells);
        if !self.roots.contains(root) {
            self.roots.insert(root.clone());
        }
    }

    fn add_row<'a>(
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
    }

    /// Adds words of a stretch to the search index. Who does that need not be who writes the tree.
    pub(super) fn add_words(&mut self, run: &RunKey, first: i64, words: Option<&str>) {
        let cells = [
            Cell::Integer(run.number),
            Cell::Integer(first),
            Cell::maybe_text(words),
        ];
        self.add_row(Into::Search, &run.root, cells);
    }

    /// Notes how many records of a run the search index knows.
    pub(super) fn set_searched(&mut self, run: &RunKey, records: i64) {
        let rows = self.searched.get_or_insert_with(|| Rows::new(&SEARCHED));
        rows.push(run.root.as_str(), [run.number, records].map(Cell::Integer));
    }

    /// Notes what stands in a run's columns now.
    pub(super) fn change_run(&mut self, run: &RunKey, cells: RunCells) {
        self.roots.insert(run.root.clone());
        self.changed
            .insert((run.root.to_string(), run.number), cells);
    }

    /// Notes how the process of a tree ended.
    pub(super) fn set_exit(&mut self, root: &RunId, exit: &[u8]) {
        self.root_change(root).exit = Some(exit.to_vec());
    }

    /// Notes which seal covers a tree.
    pub(super) fn set_seal(&mut self, root: &RunId, chain: Option<i32>, number: Option<i64>) {
        self.root_change(root).seal = Some((chain, number));
    }

    /// Notes that a lease ends with what else changes in the row of its tree.
    pub(super) fn end_lease(&mut self, root: &RunId, epoch: i64) {
        self.root_change(root).lease = Some(epoch);
    }

    fn root_change(&mut self, root: &RunId) -> &mut RootChange {
        self.roots.insert(root.clone());
        self.changed_roots.entry(root.to_string()).or_default()
    }

    /// Tells whether rows of trees change.
    pub(super) fn changes_roots(&self) -> bool {
        !self.changed_roots.is_empty()
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
            let sql = insert(*table, rows, &from).into();
            parts.push(Part { sql, values });
        }
        if let Some(rows) = &self.changed_rows {
            let mut values = Vec::new();
            let sql = change(&rows.bind(&mut values, None)).into();
            parts.push(Part { sql, values });
        }
        if let Some(rows) = &self.results {
            let mut values = Vec::new();
            let sql = answer(&rows.bind(&mut values, None)).into();
            parts.push(Part { sql, values });
        }
        if let Some(rows) = &self.searched {
            let mut values = Vec::new();
            let sql = set_searched(&rows.bind(&mut values, None)).into();
            parts.push(Part { sql, values });
        }
        let changed = self.changed_roots.iter();
        parts.extend(changed.map(|(root, change)| change.statement(root)));
        parts
    }

    /// Tells whether something came of a call that is about to be added itself.
    fn answers_added(&self) -> bool {
        let calls = self.added.get(&Into::ToolCall);
        let (Some(calls), Some(results)) = (calls, &self.results) else {
            return false;
        };
        let calls: HashSet<[_; 3]> = calls.keys().collect();
        results.keys().any(|call| calls.contains(&call))
    }

    /// Returns one statement that writes it all, if a fence lets it: it is about one tree. A run that is added and changed
    /// in the same statement would not be found, and neither would a call; so there is none then.
    pub(super) fn fenced<'a>(
        &'a mut self,
        fence: &str,
        mut values: Vec<Value<'a>>,
    ) -> Option<Part<'a>> {
        let changes_added = !self.changed.is_empty() && self.adds(Into::Run);
        let is_simple = self.roots.len() == 1
            && self.changed_roots.is_empty()
            && self.searched.is_none()
            && !self.adds(Into::Search);
        if !is_simple || changes_added || self.answers_added() {
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
        Some(Part {
            sql: sql.into(),
            values,
        })
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
    // Words come with spaces between.
    let picked = match table {
        Into::Search => picked.replace("words", "array_to_tsvector(string_to_array(words, ' '))"),
        _ => picked,
    };
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

fn set_searched(from: &str) -> String {
    format!(
        "UPDATE run SET searched = x.searched FROM {from}
         WHERE run.root_id = x.root_id AND run.run_no = x.run_no"
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

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pending: &mut Pending, seq: i64) {
        let root = RunId::parse("root").unwrap();
        let cells = [0, seq, 0].map(Cell::Integer);
        pending.add(Into::ToolCall, &root, cells);
    }

    fn result(pending: &mut Pending, seq: i64) {
        let root = RunId::parse("root").unwrap();
        pending.answer_call(&root, [0, seq, 0].map(Cell::Integer));
    }

    #[test]
    fn a_call_and_the_result_of_another_one_are_written_by_one_statement() {
        let mut pending = Pending::default();
        call(&mut pending, 2);
        result(&mut pending, 1);
        assert!(pending.fenced("SELECT 1", Vec::new()).is_some());
        result(&mut pending, 2);
        assert!(pending.fenced("SELECT 1", Vec::new()).is_none());
    }

    #[test]
    fn one_row_is_bound_by_its_values_and_many_by_their_columns() {
        let mut pending = Pending::default();
        call(&mut pending, 1);
        let part = pending.fenced("SELECT 1", Vec::new()).unwrap();
        assert!(part.sql.contains("$1::bigint AS run_no"), "{}", part.sql);
        assert_eq!(part.values.len(), TOOL_CALL.len());
        drop(part);
        call(&mut pending, 2);
        let part = pending.fenced("SELECT 1", Vec::new()).unwrap();
        assert!(part.sql.contains("unnest($1::bigint[]"), "{}", part.sql);
        assert_eq!(part.values.len(), TOOL_CALL.len());
    }

    #[test]
    fn exit_and_seal_of_a_tree_are_one_change() {
        let root = RunId::parse("root").unwrap();
        let mut pending = Pending::default();
        pending.set_seal(&root, Some(3), Some(4));
        pending.set_exit(&root, b"{}");
        let parts = pending.statements();
        assert_eq!(parts.len(), 1);
        assert_eq!(
            parts[0].sql,
            "UPDATE root SET exit = $2, seal_chain = $3, seal_number = $4 WHERE root_id = $1"
        );
    }
}
