//! Columns of a table, and which of them give way where there is no room for all.

use crate::terminal::plain;

/// A column that has to give way keeps at least so many characters.
const NARROWEST: usize = 8;

/// A key that has to give way keeps at least so many: two of them and a cost fit into 60 columns.
const NARROWEST_KEY: usize = 20;

/// The column that every list of costs has right after its keys.
pub(super) const COST: &str = "cost $";

/// The parts of a cost, which `--fields` offers.
pub(super) const COST_PARTS: [&str; 2] = ["reported $", "estimate $"];

/// Columns that follow from others, or say little: these are left out before any other, in this order.
const LEFT_OUT_FIRST: [&str; 4] = ["share", "reasoning", "total", "cached"];

/// When a column is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeaveOut {
    /// Before columns with a higher number.
    Early(usize),
    /// From the last column on.
    Late,
    /// Never: it is cut if it must be.
    Never,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The width down to which its texts may be cut.
    pub(super) narrowest: usize,
    pub(super) leave_out: LeaveOut,
    /// It is shown only to those who ask for it by its name.
    pub(super) is_on_request: bool,
}

impl Column {
    /// Creates a column that is left out after those before it.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: plain::one_line(name),
            narrowest: NARROWEST,
            leave_out: LeaveOut::Late,
            is_on_request: false,
        }
    }

    /// Creates a column that is never left out.
    pub(super) fn kept(name: &str) -> Self {
        Self {
            leave_out: LeaveOut::Never,
            narrowest: NARROWEST_KEY,
            ..Self::new(name)
        }
    }

    /// Creates a column of a list of costs.
    pub(super) fn fact(name: &str) -> Self {
        let early = LEFT_OUT_FIRST.iter().position(|first| *first == name);
        Self {
            leave_out: early.map_or(LeaveOut::Late, LeaveOut::Early),
            ..Self::new(name)
        }
    }

    /// Creates a column that is shown only on request.
    pub(super) fn on_request(name: &str) -> Self {
        Self {
            is_on_request: true,
            ..Self::new(name)
        }
    }
}

/// Returns the column to leave out next, if one may be.
pub(super) fn next_to_leave_out(columns: &[Column]) -> Option<usize> {
    let may_go = columns.iter().enumerate();
    let may_go = may_go.filter(|(_, column)| column.leave_out != LeaveOut::Never);
    // Of columns that go at the same time, the last one goes first.
    let next = may_go.min_by_key(|(place, column)| (column.leave_out, std::cmp::Reverse(*place)));
    next.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_follow_from_others_are_left_out_first_and_keys_never() {
        let mut columns = vec![Column::kept("day"), Column::kept(COST)];
        let facts = [
            "runs",
            "input",
            "cached",
            "output",
            "reasoning",
            "total",
            "share",
        ];
        columns.extend(facts.map(Column::fact));
        let mut order = Vec::new();
        while let Some(place) = next_to_leave_out(&columns) {
            order.push(columns.remove(place).name);
        }
        let expected = [
            "share",
            "reasoning",
            "total",
            "cached",
            "output",
            "input",
            "runs",
        ];
        assert_eq!(order, expected);
        assert_eq!(columns.len(), 2);
    }
}
