//! Where results go: one place that knows the terminal's width, colour and the form asked for.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use runtape_core::Outcome;
use serde::Serialize;

use crate::error::CliError;
use crate::settings::ColorChoice;
use crate::terminal::plain;

/// Columns assumed where nobody says how wide the output may be.
const DEFAULT_WIDTH: usize = 120;
/// Fewer columns than this are nobody's wish.
const NARROWEST: usize = 20;

/// Where results go, and in which form.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about who reads the results"
)]
pub(crate) struct Console<'a> {
    /// Results; everything else goes to standard error.
    pub(crate) out: &'a mut dyn Write,
    /// One JSON object a line instead of text for people.
    pub(crate) json: bool,
    /// Columns that a line of text may take.
    pub(crate) width: usize,
    /// Columns that a line takes at the very most, where somebody looks or said so. In a pipe it may
    /// take more than fits: nobody would see what is left out.
    pub(crate) limit: Option<usize>,
    /// Whether to use colour.
    pub(crate) colour: bool,
    /// Whether a person looks at the output as it comes.
    pub(crate) is_terminal: bool,
    /// In which form rows of tables are wanted.
    pub(crate) rows: RowForm,
    /// Whether results may be held for a pager: what is said besides has to stay behind them.
    pub(crate) is_paged: bool,
}

/// In which form rows of tables are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// Aligned, with all columns that there is room for.
    #[default]
    Table,
    /// Aligned, with these columns.
    Fields(Vec<String>),
    /// Each as a line made of a text in which `{column}` stands for a value.
    Template(String),
}

/// What colours mean here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Warning,
    Name,
}

impl Tone {
    /// Returns the tone of how a run or a job went.
    pub(crate) fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed => Self::Good,
            Outcome::Running => Self::Name,
            Outcome::Failed => Self::Bad,
            Outcome::Limit | Outcome::Interrupted => Self::Warning,
            Outcome::Unfinished => Self::Faint,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Name => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Returns how many columns somebody wants a line of text to take at most.
fn wanted_width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok()?;
    Some(columns).filter(|columns| *columns >= NARROWEST)
}

/// Returns how many columns the terminal has.
fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
    Some(usize::from(width).max(NARROWEST))
}

impl<'a> Console<'a> {
    /// Creates a console that writes to `out`, which stands for standard output.
    pub(crate) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        let stdout = io::stdout();
        let (wanted, is_terminal) = (wanted_width(), stdout.is_terminal());
        let width = wanted.or_else(terminal_width).unwrap_or(DEFAULT_WIDTH);
        Self {
            out,
            json,
            width,
            limit: (is_terminal || wanted.is_some()).then_some(width),
            colour: anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
            is_terminal,
            rows: RowForm::default(),
            is_paged: false,
        }
    }

    /// Uses colour or not, whatever the terminal is.
    pub(crate) fn with_color(mut self, choice: ColorChoice) -> Self {
        match choice {
            ColorChoice::Auto => {}
            ColorChoice::Always => self.colour = true,
            ColorChoice::Never => self.colour = false,
        }
        self
    }

    /// Paints a text; without colour it stays as it is.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let style = tone.style();
        if !self.colour || style == Style::new() || text.is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    /// Writes one line for people.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), CliError> {
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Writes one object for programs, of a shape that has a published schema.
    pub(crate) fn object(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        if self.is_terminal {
            return self.json_text(&serde_json::to_string(value)?);
        }
        serde_json::to_writer(&mut self.out, value)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Writes one line of JSON; on a terminal nothing in it is harmful.
    pub(crate) fn json_text(&mut self, text: &str) -> Result<(), CliError> {
        if self.is_terminal {
            return self.line(&plain::json(text));
        }
        self.line(text)
    }
}
