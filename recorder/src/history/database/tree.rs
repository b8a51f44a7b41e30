//! Which sessions a database has, which of them belong together, and where their rows are.

use std::collections::{HashMap, VecDeque};

use runtape_normalizer::history::{Database, SessionTable};

use super::error::DatabaseError;
use super::rows::{DatabaseCopy, ReadTable};

/// A session, and where its rows are.
#[derive(Debug, Default)]
struct SessionNode {
    id: String,
    /// Its row in the table of sessions; none where the whole file is one.
    row: Option<i64>,
    parent: Option<String>,
    /// How sessions that it started name it, where that is not its id.
    name: Option<String>,
    /// Its rows in each other table.
    rows: Vec<Vec<i64>>,
}

/// All sessions of a database.
#[derive(Debug, Default)]
pub(super) struct SessionTrees {
    sessions: Option<ReadTable>,
    tables: Vec<ReadTable>,
    nodes: Vec<SessionNode>,
}

impl SessionTrees {
    /// Takes the whole file as one session.
    pub(super) fn whole_file(
        rows: &DatabaseCopy<'_>,
        database: &Database,
        id: String,
    ) -> Result<Self, DatabaseError> {
        let mut trees = Self {
            nodes: vec![SessionNode {
                id,
                ..SessionNode::default()
            }],
            ..Self::default()
        };
        trees.read_tables(rows, database)?;
        Ok(trees)
    }

    /// Finds the sessions and their rows.
    pub(super) fn read(
        rows: &DatabaseCopy<'_>,
        database: &Database,
        table: ReadTable,
        sessions: &SessionTable,
    ) -> Result<Self, DatabaseError> {
        let mut trees = Self::default();
        let columns = [sessions.id, sessions.parent];
        rows.each_key(table.name, columns, "", |row, id, parent| {
            if let Some(id) = id {
                trees.nodes.push(SessionNode {
                    id,
                    row: Some(row),
                    parent,
                    ..SessionNode::default()
                });
            }
        })?;
        if sessions.named_by != sessions.id {
            let mut names = HashMap::new();
            let columns = [sessions.named_by, ""];
            rows.each_key(table.name, columns, "", |row, name, _| {
                names.insert(row, name);
            })?;
            for node in &mut trees.nodes {
                node.name = node.row.and_then(|row| names.remove(&row)).flatten();
            }
        }
        trees.sessions = Some(table);
        trees.read_tables(rows, database)?;
        Ok(trees)
    }

    fn read_tables(
        &mut self,
        rows: &DatabaseCopy<'_>,
        database: &Database,
    ) -> Result<(), DatabaseError> {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            numbers.entry(node.id.clone()).or_insert(number);
        }
        for table in database.tables {
            let needed = [table.session, table.order];
            let Some(found) = rows.table(table.name, &needed, table.without)? else {
                continue;
            };
            for node in &mut self.nodes {
                node.rows.push(Vec::new());
            }
            let nodes = &mut self.nodes;
            rows.each_key(
                table.name,
                [table.session, ""],
                table.order,
                |row, session, _| {
                    let number = match session {
                        Some(session) => numbers.get(&session).copied(),
                        None => table.session.is_empty().then_some(0),
                    };
                    let node = number.and_then(|number| nodes.get_mut(number));
                    if let Some(list) = node.and_then(|node| node.rows.last_mut()) {
                        list.push(row);
                    }
                },
            )?;
            self.tables.push(found.unpacking(table.packed));
        }
        Ok(())
    }

    /// Returns the id of a session.
    pub(super) fn id(&self, number: usize) -> &str {
        self.nodes.get(number).map_or("", |node| node.id.as_str())
    }

    /// Gives the rows of a session: its own, then those of each table.
    pub(super) fn each_row(
        &self,
        number: usize,
        mut each: impl FnMut(&ReadTable, i64) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let Some(node) = self.nodes.get(number) else {
            return Ok(());
        };
        if let (Some(table), Some(row)) = (&self.sessions, node.row) {
            each(table, row)?;
        }
        for (table, rows) in self.tables.iter().zip(&node.rows) {
            for row in rows {
                each(table, *row)?;
            }
        }
        Ok(())
    }

    /// Gives out the sessions tree by tree, root first. What nobody here started is a root; of sessions
    /// that started each other, the first one is.
    pub(super) fn each(
        &self,
        mut each: impl FnMut(&[usize]) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let name = node.name.as_ref().unwrap_or(&node.id);
            named.entry(name).or_default().push(number);
        }
        let parent_of = |number: usize, node: &SessionNode| {
            let known = named.get(node.parent.as_deref()?)?;
            let before = known.iter().rev().find(|other| **other < number);
            before.or(known.first()).copied()
        };
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut roots = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            match parent_of(number, node) {
                Some(parent) => children.entry(parent).or_default().push(number),
                None => roots.push(number),
            }
        }
        roots.extend(0..self.nodes.len());
        let mut is_taken = vec![false; self.nodes.len()];
        for root in roots {
            let mut tree = Vec::new();
            let mut waiting = VecDeque::from([root]);
            while let Some(number) = waiting.pop_front() {
                let Some(taken) = is_taken.get_mut(number).filter(|taken| !**taken) else {
                    continue;
                };
                *taken = true;
                tree.push(number);
                waiting.extend(children.get(&number).into_iter().flatten());
            }
            if !tree.is_empty() {
                each(&tree)?;
            }
        }
        Ok(())
    }
}
