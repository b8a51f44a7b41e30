//! How far long work is.

use std::fmt;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// Makes a bar over bytes that only a person at a terminal sees.
pub(crate) fn bytes_bar(total: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    let template = "{bar:30} {bytes}/{total_bytes} {rate} {time_left} left";
    let Ok(style) = ProgressStyle::with_template(template) else {
        return bar;
    };
    // Averages: the bar's own numbers lag behind by seconds, which is as long as most work takes.
    let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{}/s", BinaryBytes(rate(state)));
    });
    bar.with_style(style.with_key(
        "time_left",
        |state: &ProgressState, out: &mut dyn fmt::Write| {
            let left = state.len().unwrap_or(0).saturating_sub(state.pos());
            let left = Duration::from_secs(left / rate(state).max(1));
            let _ = write!(out, "{}", HumanDuration(left));
        },
    ))
}

/// Returns how many bytes a second were done so far.
fn rate(state: &ProgressState) -> u64 {
    let elapsed = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX);
    state.pos().saturating_mul(1000) / elapsed.max(1)
}

/// Makes a bar over things that are counted, which only a person at a terminal sees.
pub(crate) fn count_bar(total: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total).with_message(what);
    match ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
