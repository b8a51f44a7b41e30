//! The picture of a terminal in the README is drawn from what the binary prints. `RUNTAPE_DOCS=write` draws it anew; look
//! at it before it is committed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sample::Sample;

/// What is typed in the picture.
const COMMANDS: &[&str] = &[
    "runtape runs --exact --limit 6",
    "runtape transcript last",
    "runtape usage --by runtime",
];
/// Columns of the terminal in the picture.
const COLUMNS: usize = 100;
/// Pixels from one line to the next, and hundredths of a pixel from one column to the next.
const LINE: usize = 20;
const COLUMN: usize = 843;
const MARGIN: usize = 16;

fn picture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/terminal.svg")
}

/// A piece of a line in one style: the names of its classes.
struct StyledText {
    classes: Vec<&'static str>,
    text: String,
}

/// Returns the class for a number of a style sequence; `None` for one that ends all styles.
fn class(number: &str) -> Option<&'static str> {
    match number {
        "1" => Some("bold"),
        "2" => Some("faint"),
        "3" => Some("italic"),
        "31" | "91" => Some("red"),
        "32" | "92" => Some("green"),
        "33" | "93" => Some("yellow"),
        "34" | "94" => Some("blue"),
        "35" | "95" => Some("magenta"),
        "36" | "96" => Some("cyan"),
        "" | "0" => None,
        other => panic!("a style that the picture does not know: {other}"),
    }
}

/// Cuts a line with style sequences into pieces.
fn pieces(line: &str) -> Vec<StyledText> {
    let mut pieces = Vec::new();
    let mut classes: Vec<&'static str> = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = if index == 0 {
            part
        } else {
            let (numbers, text) = part.split_once('m').expect("a sequence sets a style");
            for number in numbers.split(';') {
                match class(number) {
                    Some(class) => classes.push(class),
                    None => classes.clear(),
                }
            }
            text
        };
        if !text.is_empty() {
            pieces.push(StyledText {
                classes: classes.clone(),
                text: text.to_owned(),
            });
        }
    }
    pieces
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Draws lines as they are on a terminal, dark or light as the reader's system is.
fn draw(lines: &[String]) -> String {
    let width = COLUMNS * COLUMN / 100 + 2 * MARGIN;
    let height = LINE * lines.len() + 2 * MARGIN;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="A terminal with runtape's lists of runs, a transcript and a table of usage">
<style>
svg {{ font: 14px/{LINE}px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace }}
rect {{ fill: #fbfbfa; stroke: #d7d7d2 }}
text {{ fill: #24292f; white-space: pre }}
.bold {{ font-weight: 700 }} .faint {{ fill: #6e7781 }} .italic {{ font-style: italic }}
.red {{ fill: #b3261e }} .green {{ fill: #1a7f37 }} .yellow {{ fill: #855600 }}
.blue {{ fill: #0550ae }} .magenta {{ fill: #8250df }} .cyan {{ fill: #086b74 }}
@media (prefers-color-scheme: dark) {{
rect {{ fill: #16191d; stroke: #30363d }} text {{ fill: #d9dee3 }}
.faint {{ fill: #8b949e }} .red {{ fill: #ff7b72 }} .green {{ fill: #56d364 }} .yellow {{ fill: #e3b341 }}
.blue {{ fill: #79c0ff }} .magenta {{ fill: #d2a8ff }} .cyan {{ fill: #76e3ea }}
}}
</style>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="8"/>
"#,
        width - 1,
        height - 1
    );
    for (index, line) in lines.iter().enumerate() {
        let y = MARGIN + LINE * index + 14;
        let _ = write!(svg, r#"<text x="{MARGIN}" y="{y}" xml:space="preserve">"#);
        for piece in pieces(line) {
            let text = escaped(&piece.text);
            if piece.classes.is_empty() {
                svg.push_str(&text);
            } else {
                let classes = piece.classes.join(" ");
                let _ = write!(svg, r#"<tspan class="{classes}">{text}</tspan>"#);
            }
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Breaks a line where a terminal would. Only lines without styles are longer than it is wide.
fn wrapped(line: &str) -> Vec<String> {
    if line.contains('\u{1b}') {
        return vec![line.to_owned()];
    }
    let characters: Vec<char> = line.chars().collect();
    let rows = characters.chunks(COLUMNS).map(|row| row.iter().collect());
    let rows: Vec<String> = rows.collect();
    if rows.is_empty() {
        vec![String::new()]
    } else {
        rows
    }
}

/// Returns the lines of the picture: each command with what it prints.
fn lines(sample: &Sample) -> Vec<String> {
    let directory = sample.runtape.path("picture-bin");
    fs::create_dir_all(&directory).unwrap();
    let binary = env!("CARGO_BIN_EXE_runtape");
    std::os::unix::fs::symlink(binary, directory.join("runtape")).unwrap();
    let mut lines = Vec::new();
    for line in COMMANDS {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {line}; }} 2>&1")]);
        let output = sample
            .prepare(command)
            .env("PATH", format!("{}:/usr/bin:/bin", directory.display()))
            .env("CLICOLOR_FORCE", "1")
            .env("TERM", "xterm-256color")
            .env("COLUMNS", COLUMNS.to_string())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}");
        let text = sample.plain(&String::from_utf8(output.stdout).unwrap());
        lines.push(format!("\u{1b}[32m$\u{1b}[0m \u{1b}[1m{line}\u{1b}[0m"));
        lines.extend(text.lines().flat_map(wrapped));
        lines.push(String::new());
    }
    lines.pop();
    lines
}

#[test]
fn the_picture_of_a_terminal_is_what_the_binary_prints() {
    let sample = Sample::new();
    let current = draw(&lines(&sample));
    assert!(current.contains("class=\"green\""), "it has colours");
    if std::env::var_os("RUNTAPE_DOCS").is_some_and(|what| what == "write") {
        fs::write(picture(), current).unwrap();
        return;
    }
    let committed = fs::read_to_string(picture()).unwrap();
    assert_eq!(committed, current, "RUNTAPE_DOCS=write draws it anew");
}
