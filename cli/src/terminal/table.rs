//! Aligned tables that fit the width of the terminal.

use runtape_core::report::{Cost, RunInfo};
use runtape_core::{CheckpointId, JobId, Outcome, RunId};
use unicode_width::UnicodeWidthStr;

use crate::error::CliError;
use crate::terminal::column::{self, COST, COST_PARTS, Column, LeaveOut};
use crate::terminal::console::{Console, RowForm, Tone};
use crate::terminal::count::short_count;
use crate::terminal::fit::cut;
use crate::terminal::plain;
use crate::terminal::times;

/// Characters of a random id that are shown: 36 to this power are enough.
const SHORT: usize = 10;
/// Columns between two cells.
const GAP: usize = 2;

/// A cell: its text, made harmless, and its tone.
#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    /// The text where a person looks, if it is another one there.
    brief: Option<String>,
    /// The text where there is no room for the other one.
    short: Option<String>,
    tone: Tone,
    is_number: bool,
    /// Of no use in part: numbers, ids.
    is_whole: bool,
}

impl Cell {
    /// Creates a cell of any text.
    pub(crate) fn text(text: &str) -> Self {
        Self {
            text: plain::one_line(text),
            brief: None,
            short: None,
            tone: Tone::Plain,
            is_number: false,
            is_whole: false,
        }
    }

    /// Creates a cell with a run's id, as short as a person needs it.
    pub(crate) fn run(run: &RunId) -> Self {
        Self::id(short(run))
    }

    /// Creates a cell with a job's id, as short as a person needs it.
    pub(crate) fn job(job: &JobId) -> Self {
        Self::id(short_id(job.as_str()))
    }

    /// Creates a cell with a checkpoint's id, as short as a person needs it.
    pub(crate) fn checkpoint(checkpoint: &CheckpointId) -> Self {
        Self::id(short_id(checkpoint.as_str()))
    }

    /// Creates a cell with a word that is of no use in part.
    pub(crate) fn word(word: &str) -> Self {
        Self {
            is_whole: true,
            ..Self::text(word)
        }
    }

    /// Creates a cell with a time, to the minute: `show` and `events` have the seconds.
    pub(crate) fn time(at: i64) -> Self {
        Self {
            is_whole: true,
            ..Self::text(&times::minute(at))
        }
    }

    /// Creates a cell with how long ago a time was, or its day if that is long ago.
    pub(crate) fn ago(at: i64) -> Self {
        Self {
            is_whole: true,
            ..Self::text(&times::ago(at, times::now()))
        }
    }

    /// Creates a cell with the duration of a run: a dash while it is open, since it is not known yet.
    pub(crate) fn took_of(run: &RunInfo) -> Self {
        if run.outcome == Outcome::Running && run.duration_ms.is_none() {
            return Self::number("–");
        }
        Self::took(run.duration_ms)
    }

    /// Creates a cell with a duration, empty where it is not known.
    pub(crate) fn took(milliseconds: Option<i64>) -> Self {
        Self::number(milliseconds.map(times::took).unwrap_or_default())
    }

    /// Creates a cell with how a run went in one word, which --outcome takes as well.
    pub(crate) fn outcome(outcome: Outcome) -> Self {
        Self {
            is_whole: true,
            ..Self::text(outcome.as_str()).toned(Tone::of_outcome(outcome))
        }
    }

    /// Creates a cell with how a run went, a failure with its error's name; and whether nobody is left to end it.
    pub(crate) fn outcome_of(run: &RunInfo, is_lost: bool) -> Self {
        let label = run.outcome_label();
        if is_lost {
            return Self::text(&format!("{label}, lost")).toned(Tone::Warning);
        }
        // One that may be cut lets the whole column be.
        Self::text(&label).toned(Tone::of_outcome(run.outcome))
    }

    /// Creates a cell with an id, which is never cut: people copy it.
    pub(crate) fn id(id: impl AsRef<str>) -> Self {
        Self {
            tone: Tone::Name,
            is_whole: true,
            ..Self::text(id.as_ref())
        }
    }

    /// Creates a cell that is empty where nothing is known.
    pub(crate) fn maybe(text: Option<&str>) -> Self {
        Self::text(text.unwrap_or_default())
    }

    /// Creates a cell that is aligned to the right.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers are given as they are, and are small"
    )]
    pub(crate) fn number(text: impl ToString) -> Self {
        Self {
            is_number: true,
            is_whole: true,
            ..Self::text(&text.to_string())
        }
    }

    /// Creates a cell with a count, empty where it is not known.
    pub(crate) fn count(count: Option<i64>) -> Self {
        Self {
            short: count.and_then(short_count),
            ..Self::number(count.map(thousands).unwrap_or_default())
        }
    }

    /// Creates a cell with an amount of money, empty where it is not known.
    pub(crate) fn dollars(dollars: Option<f64>) -> Self {
        Self::cost(&Cost::of_reported(dollars))
    }

    /// Creates a cell with a cost, empty where it is not known.
    pub(crate) fn cost(cost: &Cost) -> Self {
        Self {
            brief: Some(cost.short_text()),
            short: cost.is_counted_before().then(|| "before".to_owned()),
            ..Self::number(cost.text())
        }
    }

    /// Gives the cell a tone.
    pub(crate) fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// Returns the beginning of a run's id, which is as good as all of it on a command line. Ids that
/// a person chose may begin alike, and stay whole.
pub(crate) fn short(run: &RunId) -> &str {
    short_id(run.as_str())
}

fn short_id(id: &str) -> &str {
    let is_random = id.len() == 24
        && id
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    id.get(..SHORT).filter(|_| is_random).unwrap_or(id)
}

/// Writes a count with its noun.
pub(crate) fn plural(count: impl TryInto<i64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(i64::MAX);
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// Writes a number with its thousands apart.
pub(crate) fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// Writes a number of bytes for people.
pub(crate) fn bytes(bytes: u64) -> String {
    let mut unit = "B";
    let mut whole = bytes;
    let mut tenths = 0;
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if whole < 1024 {
            break;
        }
        tenths = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit = next;
    }
    if unit == "B" {
        format!("{whole} B")
    } else {
        format!("{whole}.{tenths} {unit}")
    }
}

/// A table: columns, which say how they give way where there is not enough room, and rows.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Every column is shown that there is room for, and where nobody looks, every value whole.
    is_whole: bool,
}

impl Table {
    /// Creates a table with the names of its columns.
    pub(crate) fn new(head: &[&str]) -> Self {
        Self::with_head(head)
    }

    /// Creates a table whose columns are named by what was found.
    pub(crate) fn with_head(head: &[impl AsRef<str>]) -> Self {
        let columns = head.iter().map(|name| Column::new(name.as_ref()));
        Self::with_columns(columns.collect())
    }

    fn with_columns(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            is_whole: false,
        }
    }

    /// Creates a table of things that cost something: the cost comes right after the keys and is never left out, and
    /// its parts are there for who asks for them.
    pub(crate) fn of_costs(keys: &[&str], facts: &[&str]) -> Self {
        let keys = keys.iter().map(|name| Column::kept(name));
        let columns = keys
            .chain([Column::kept(COST)])
            .chain(facts.iter().map(|name| Column::fact(name)))
            .chain(COST_PARTS.map(Column::on_request));
        Self::with_columns(columns.collect())
    }

    /// Lets a column keep at least so much: cut any shorter, it would say nothing.
    pub(crate) fn keep(mut self, name: &str, width: usize) -> Self {
        for column in self.columns.iter_mut().filter(|column| column.name == name) {
            column.narrowest = width;
        }
        self
    }

    /// Shows also columns without any content, and in a pipe values of any length.
    pub(crate) fn with_all_columns(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Tells whether there is anything to show.
    pub(crate) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Adds a row to a table of costs: the cells of its keys, its cost, and the cells of its facts.
    pub(crate) fn cost_row(&mut self, keys: Vec<Cell>, cost: &Cost, facts: Vec<Cell>) {
        let mut cells = keys;
        cells.push(Cell::cost(cost));
        cells.extend(facts);
        cells.push(Cell::dollars(cost.reported()));
        let estimate = Cost::new(None, cost.estimate().clone());
        cells.push(Cell::cost(&estimate));
        self.rows.push(cells);
    }

    /// Adds a row of sums to a table of costs.
    pub(crate) fn total_row(&mut self, keys: Vec<Cell>, cost: &Cost, facts: Vec<Cell>) {
        self.cost_row(keys, cost, facts);
        for cell in self.rows.last_mut().into_iter().flatten() {
            cell.tone = Tone::Strong;
        }
    }

    /// Returns how wide the columns would like to be, and to which width they may be cut, if at all.
    fn wishes(&self) -> Vec<(usize, Option<usize>)> {
        let wish = |(index, column): (usize, &Column)| {
            let cells = || self.rows.iter().filter_map(move |row| row.get(index));
            let width = cells().map(|cell| cell.text.width()).max();
            let gives_way = cells().all(|cell| !cell.is_whole);
            let width = width.unwrap_or(0).max(column.name.width());
            (width, gives_way.then_some(column.narrowest))
        };
        self.columns.iter().enumerate().map(wish).collect()
    }

    /// Returns how wide the table is with its texts cut as far as they may be.
    fn needed(&self) -> usize {
        let wishes = self.wishes();
        let gaps = GAP * wishes.len().saturating_sub(1);
        let widths = wishes.into_iter();
        let widths =
            widths.map(|(width, gives_way)| gives_way.map_or(width, |least| least.min(width)));
        widths.sum::<usize>() + gaps
    }

    /// Makes the table fit: first numbers are shortened, then columns are left out, at last keys are cut. Returns the names
    /// of the columns that are left out.
    fn fit(&mut self, room: usize) -> Vec<String> {
        let take = |cell: &mut Cell, text: Option<String>| {
            if let Some(text) = text {
                cell.text = text;
            }
        };
        for cell in self.rows.iter_mut().flatten() {
            let brief = cell.brief.take();
            take(cell, brief);
        }
        if self.needed() <= room {
            return Vec::new();
        }
        for cell in self.rows.iter_mut().flatten() {
            let short = cell.short.take();
            take(cell, short);
        }
        let mut left_out = Vec::new();
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        while self.needed() > room && self.columns.len() > 1 {
            let Some(place) = column::next_to_leave_out(&self.columns) else {
                break;
            };
            left_out.push(self.columns.remove(place).name);
            for row in self.rows.iter_mut().filter(|row| place < row.len()) {
                row.remove(place);
            }
        }
        // Half an id beside its cost says more than an id whose cost is in the next line.
        if self.needed() > room {
            for row in &mut self.rows {
                let kept = row.iter_mut().zip(&self.columns);
                let kept = kept.filter(|(_, column)| column.leave_out == LeaveOut::Never);
                for (cell, _) in kept.filter(|(cell, _)| !cell.is_number) {
                    cell.is_whole = false;
                }
            }
        }
        names
            .into_iter()
            .filter(|name| left_out.contains(name))
            .collect()
    }

    fn widths(&self, room: usize) -> Vec<usize> {
        let (mut widths, gives_way): (Vec<usize>, Vec<Option<usize>>) =
            self.wishes().into_iter().unzip();
        let room = room.saturating_sub(GAP * widths.len().saturating_sub(1));
        // The widest column gives way first, for it has the most to say less of.
        let mut over = widths.iter().sum::<usize>().saturating_sub(room);
        while over > 0 {
            let flexible = widths.iter_mut().zip(&gives_way);
            let flexible = flexible.filter(|(width, narrowest)| {
                narrowest.is_some_and(|narrowest| **width > narrowest)
            });
            let widest = flexible.map(|(width, _)| width).max_by_key(|width| **width);
            match widest {
                Some(width) => *width -= 1,
                None => break,
            }
            over -= 1;
        }
        widths
    }

    /// Returns the place of a column, whose name may be written without its blanks and signs.
    fn place_of(&self, name: &str) -> Result<usize, CliError> {
        let plain = |name: &str| -> String {
            let letters = name.chars().filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        let mut columns = self.columns.iter();
        columns
            .position(|column| plain(&column.name) == plain(name))
            .ok_or_else(|| {
                let names = self.columns.iter().map(|column| column.name.as_str());
                let names: Vec<&str> = names.collect();
                CliError::Usage {
                    message: format!(
                        "there is no column {name:?}: there are {}",
                        names.join(", ")
                    ),
                }
            })
    }

    /// Keeps these columns, in this order.
    fn choose(&mut self, names: &[String]) -> Result<(), CliError> {
        let places = names.iter().map(|name| self.place_of(name.trim()));
        let places: Vec<usize> = places.collect::<Result<_, _>>()?;
        let columns = places.iter().filter_map(|place| self.columns.get(*place));
        let columns = columns.map(|column| Column {
            is_on_request: false,
            ..column.clone()
        });
        self.columns = columns.collect();
        for row in &mut self.rows {
            let cells = places.iter().filter_map(|place| row.get(*place));
            *row = cells.cloned().collect();
        }
        Ok(())
    }

    /// Writes each row as a text in which `{column}` stands for a value, `\\t` and `\\n` for tab and line break.
    fn print_template(&self, console: &mut Console<'_>, template: &str) -> Result<(), CliError> {
        let template = template.replace("\\t", "\t").replace("\\n", "\n");
        let mut pieces: Vec<(&str, Option<usize>)> = Vec::new();
        let mut rest = template.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or_else(|| CliError::Usage {
                message: format!("{template:?} has a brace that is not closed"),
            })?;
            pieces.push((before, Some(self.place_of(name)?)));
            rest = after;
        }
        pieces.push((rest, None));
        for row in &self.rows {
            let mut line = String::new();
            for (before, place) in &pieces {
                line.push_str(before);
                let cell = place.and_then(|place| row.get(place));
                line.push_str(cell.map_or("", |cell| cell.text.as_str()));
            }
            console.line(&line)?;
        }
        Ok(())
    }

    /// Writes the table; columns without any content are left out, and the last ones where somebody
    /// looks at it and has no room for them.
    pub(crate) fn print(mut self, console: &mut Console<'_>) -> Result<(), CliError> {
        match console.rows.clone() {
            RowForm::Table => {}
            RowForm::Fields(names) => {
                self.choose(&names)?;
                self.is_whole = true;
            }
            RowForm::Template(template) => return self.print_template(console, &template),
        }
        let is_used = |(index, column): (usize, &Column)| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(index));
            let has_content = self.is_whole || cells.any(|cell| !cell.text.is_empty());
            let is_kept = column.leave_out == LeaveOut::Never;
            (has_content || is_kept) && !column.is_on_request
        };
        let is_used: Vec<bool> = self.columns.iter().enumerate().map(is_used).collect();
        let mut used = is_used.iter();
        self.columns
            .retain(|_| used.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut used = is_used.iter();
            row.retain(|_| used.next().copied().unwrap_or(true));
        }
        let is_uncut = self.is_whole && !console.is_terminal;
        let limit = console.limit.filter(|_| !is_uncut);
        let left_out = limit.map(|limit| self.fit(limit));
        // In a pipe that nobody gave a width, values are whole.
        let room = limit.unwrap_or(usize::MAX);
        let widths = self.widths(room);
        let is_number: Vec<bool> = (0..self.columns.len())
            .map(|index| {
                let cell = self.rows.first().and_then(|row| row.get(index));
                cell.is_some_and(|cell| cell.is_number)
            })
            .collect();
        let head = self.columns.iter().zip(&is_number);
        let head = head.map(|(column, is_number)| Cell {
            tone: Tone::Strong,
            is_number: *is_number,
            ..Cell::text(&column.name)
        });
        let head: Vec<Cell> = head.collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let line = line(console, row, &widths);
            console.line(&line)?;
        }
        if let Some(left_out) = left_out.filter(|names| !names.is_empty()) {
            let text = format!("no room for: {}", left_out.join(", "));
            let text = console.paint(Tone::Faint, &text);
            console.line(&text)?;
        }
        Ok(())
    }
}

fn line(console: &Console<'_>, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let text = cut(&cell.text, *width);
        let space = " ".repeat(width.saturating_sub(text.width()));
        if index > 0 {
            line.push_str(&" ".repeat(GAP));
        }
        if cell.is_number {
            line.push_str(&space);
        }
        line.push_str(&console.paint(cell.tone, &text));
        if !cell.is_number && index + 1 < row.len() {
            line.push_str(&space);
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(table: Table, width: usize) -> String {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out, false);
        (console.width, console.limit, console.colour) = (width, Some(width), false);
        table.print(&mut console).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned_cut_and_left_out() {
        let mut table = Table::new(&["run", "steps", "empty", "text"]);
        table.row(vec![
            Cell::text("a"),
            Cell::number(10),
            Cell::text(""),
            Cell::text("a text\nthat is too long for the room there is"),
        ]);
        table.row(vec![
            Cell::text("bcd"),
            Cell::number(7),
            Cell::text(""),
            Cell::text("\u{1b}[2J"),
        ]);
        let expected = "run  steps  text\na       10  a text that i…\nbcd      7  ␛[2J\n";
        assert_eq!(printed(table, 26), expected);
    }

    #[test]
    fn what_has_no_room_is_named() {
        let table = || {
            let mut table = Table::new(&["run", "model", "input", "output", "cost $"]);
            table.row(vec![
                Cell::id("k3v9x2m7q1"),
                Cell::text("a-model-of-some-length"),
                Cell::number("1,234"),
                Cell::number("56,789"),
                Cell::dollars(Some(0.5)),
            ]);
            table
        };
        let narrow = "run         model     input\nk3v9x2m7q1  a-model…  1,234\n\
                      no room for: output, cost $\n";
        assert_eq!(printed(table(), 27), narrow);
        assert!(!printed(table(), 43).contains("no room"));
        let narrowest = "run\nk3v9x2m7q1\nno room for: model, input, output, cost $\n";
        assert_eq!(printed(table(), 5), narrowest);
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(-999), "-999");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(12), "12 B");
    }
}
