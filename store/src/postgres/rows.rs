//! Rows that are about to be written: a column at a time, as a statement takes many rows at once.

use std::borrow::Cow;
use std::fmt::Write as _;

use tokio_postgres::types::ToSql;

use super::columns::kept;
use super::connection::Value;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bigint,
    Smallint,
    Double,
    Boolean,
    Text,
    Bytes,
}

impl Kind {
    /// Returns the type's name.
    fn name(self) -> &'static str {
        match self {
            Self::Bigint => "bigint",
            Self::Smallint => "smallint",
            Self::Double => "double precision",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Bytes => "bytea",
        }
    }
}

/// A column of a table: its name as it is written in SQL, and what it holds.
pub(super) type ColumnSpec = (&'static str, Kind);

/// A value of a row.
#[derive(Clone, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Truth(bool),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn maybe_text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    pub(super) fn maybe(number: Option<i64>) -> Self {
        number.map_or(Self::Null, Self::Integer)
    }

    pub(super) fn maybe_truth(truth: Option<bool>) -> Self {
        truth.map_or(Self::Null, Self::Truth)
    }

    pub(super) fn bytes(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }

    pub(super) fn maybe_bytes(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::Null, Self::bytes)
    }
}

/// The values of one column.
#[derive(Clone, Debug)]
enum Column {
    Bigint(Vec<Option<i64>>),
    Smallint(Vec<Option<i16>>),
    Double(Vec<Option<f64>>),
    Boolean(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bigint => Self::Bigint(Vec::new()),
            Kind::Smallint => Self::Smallint(Vec::new()),
            Kind::Double => Self::Double(Vec::new()),
            Kind::Boolean => Self::Boolean(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
            Kind::Bytes => Self::Bytes(Vec::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Bigint(values), Cell::Integer(value)) => values.push(Some(value)),
            (Self::Bigint(values), _) => values.push(None),
            (Self::Smallint(values), Cell::Integer(value)) => values.push(value.try_into().ok()),
            (Self::Smallint(values), _) => values.push(None),
            (Self::Double(values), Cell::Real(value)) => values.push(Some(value)),
            (Self::Double(values), _) => values.push(None),
            (Self::Boolean(values), Cell::Truth(value)) => values.push(Some(value)),
            (Self::Boolean(values), _) => values.push(None),
            (Self::Text(values), Cell::Text(Cow::Owned(text))) if !text.contains('\0') => {
                values.push(Some(match kept(&text) {
                    Cow::Borrowed(_) => text,
                    Cow::Owned(kept) => kept,
                }));
            }
            (Self::Text(values), Cell::Text(text)) => values.push(Some(kept(&text).into_owned())),
            (Self::Text(values), _) => values.push(None),
            (Self::Bytes(values), Cell::Bytes(bytes)) => values.push(Some(bytes.into_owned())),
            (Self::Bytes(values), _) => values.push(None),
        }
    }

    /// Returns all values, as an array.
    fn value(&self) -> Value<'_> {
        match self {
            Self::Bigint(values) => values,
            Self::Smallint(values) => values,
            Self::Double(values) => values,
            Self::Boolean(values) => values,
            Self::Text(values) => values,
            Self::Bytes(values) => values,
        }
    }

    /// Returns the first value by itself, if there is one.
    fn first(&self) -> Option<Value<'_>> {
        fn of<T: ToSql + Sync>(values: &[T]) -> Option<Value<'_>> {
            values.first().map(|value| value as Value<'_>)
        }
        match self {
            Self::Bigint(values) => of(values),
            Self::Smallint(values) => of(values),
            Self::Double(values) => of(values),
            Self::Boolean(values) => of(values),
            Self::Text(values) => of(values),
            Self::Bytes(values) => of(values),
        }
    }

    /// Returns a number of a row.
    fn number(&self, row: usize) -> Option<i64> {
        match self {
            Self::Bigint(values) => values.get(row).copied().flatten(),
            _ => None,
        }
    }
}

/// Rows of one table, or of one kind of change to it. The first column of each is the id of the tree.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    specs: &'static [ColumnSpec],
    roots: Vec<String>,
    columns: Vec<Column>,
}

impl Rows {
    /// Makes room for rows that have these columns besides the tree's id.
    pub(super) fn new(specs: &'static [ColumnSpec]) -> Self {
        Self {
            specs,
            roots: Vec::new(),
            columns: specs.iter().map(|(_, kind)| Column::new(*kind)).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Adds a row, whose values come in the order of the columns.
    pub(super) fn push<'a>(&mut self, root: &str, cells: impl IntoIterator<Item = Cell<'a>>) {
        self.roots.push(root.to_owned());
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            column.push(cells.next().unwrap_or(Cell::Null));
        }
    }

    /// Returns the names of the columns, the tree's id first.
    pub(super) fn names(&self) -> String {
        let mut names = "root_id".to_owned();
        for (name, _) in self.specs {
            // Writing to a string cannot fail.
            let _ = write!(names, ", {name}");
        }
        names
    }

    /// Returns the numbers in the first columns of each row, which are its key in its tree.
    pub(super) fn keys<const WIDTH: usize>(&self) -> impl Iterator<Item = [Option<i64>; WIDTH]> {
        (0..self.roots.len())
            .map(|row| std::array::from_fn(|column| self.columns.get(column)?.number(row)))
    }

    /// Adds the values to those of a statement, and returns the rows as a table of it, named `x`. With a fence, the rows
    /// are of the one tree that it is about, and there are none where it holds.
    pub(super) fn bind<'a>(&'a self, values: &mut Vec<Value<'a>>, fence: Option<&str>) -> String {
        match self.roots.as_slice() {
            [root] => self.bind_one(root, values, fence),
            _ => self.bind_many(values, fence),
        }
    }

    /// Binds a row by its values. A row that is taken from arrays costs the server about four times as much: it makes a
    /// table of each of them.
    fn bind_one<'a>(
        &'a self,
        root: &'a String,
        values: &mut Vec<Value<'a>>,
        fence: Option<&str>,
    ) -> String {
        let mut table = if let Some(fence) = fence {
            format!("(SELECT {fence}.root_id")
        } else {
            values.push(root);
            format!("(SELECT ${}::text AS root_id", values.len())
        };
        for ((name, kind), column) in self.specs.iter().zip(&self.columns) {
            values.extend(column.first());
            let (number, kind) = (values.len(), kind.name());
            // Writing to a string cannot fail.
            let _ = write!(table, ", ${number}::{kind} AS {name}");
        }
        if let Some(fence) = fence {
            let _ = write!(table, " FROM {fence}");
        }
        table.push_str(") AS x");
        table
    }

    fn bind_many<'a>(&'a self, values: &mut Vec<Value<'a>>, fence: Option<&str>) -> String {
        let mut arrays = Vec::with_capacity(self.specs.len() + 1);
        let mut names = Vec::with_capacity(self.specs.len() + 1);
        if fence.is_none() {
            values.push(&self.roots);
            arrays.push(format!("${}::text[]", values.len()));
            names.push("root_id");
        }
        for ((name, kind), column) in self.specs.iter().zip(&self.columns) {
            values.push(column.value());
            arrays.push(format!("${}::{}[]", values.len(), kind.name()));
            names.push(name);
        }
        let (arrays, names) = (arrays.join(", "), names.join(", "));
        match fence {
            None => format!("unnest({arrays}) AS x ({names})"),
            Some(fence) => format!(
                "(SELECT {fence}.root_id, y.* FROM {fence}, unnest({arrays}) AS y ({names})) AS x"
            ),
        }
    }
}
