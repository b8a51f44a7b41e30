//! The borders of boxes and panels.

/// Tells whether a line is the upper border of an answer box; its label depends on the skin.
pub(super) fn is_answer_top(line: &str) -> bool {
    line.starts_with("╭─ ") && line.ends_with('╮')
}

/// Tells whether a line is the lower border of an answer box.
pub(super) fn is_answer_bottom(line: &str) -> bool {
    line.starts_with("╰─") && line.ends_with('╯')
}

/// Returns the width of the reasoning box that a line opens.
pub(super) fn reasoning_top(line: &str) -> Option<usize> {
    let opens = line.starts_with("┌─ Reasoning ") && line.ends_with('┐');
    opens.then(|| line.chars().count())
}

/// Tells whether a line is the lower border of a reasoning box of this width.
pub(super) fn is_reasoning_bottom(line: &str, width: usize) -> bool {
    let inner = line
        .strip_prefix('└')
        .and_then(|rest| rest.strip_suffix('┘'));
    inner.is_some_and(|inner| is_rule(inner) && inner.chars().count() + 2 == width)
}

/// Tells whether a line opens a panel: ` ─  ⚕ Hermes  ───… `.
pub(super) fn is_panel_top(line: &str) -> bool {
    let rest = line
        .strip_prefix(" ─  ")
        .and_then(|rest| rest.trim_end().strip_suffix('─'));
    rest.is_some_and(|rest| rest.contains("  ─") || rest.ends_with("  "))
}

/// Tells whether a line closes a panel: ` ───…─── `.
pub(super) fn is_panel_bottom(line: &str) -> bool {
    let rest = line.strip_prefix(' ').map(str::trim_end);
    rest.is_some_and(|rest| rest.len() > 30 && is_rule(rest))
}

/// Tells whether a line is nothing but a rule.
pub(super) fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| c == '─')
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    #[test]
    fn borders_are_told_from_what_looks_like_them() {
        assert!(is_answer_top(&tests::answer_top()));
        assert!(is_answer_top("╭─ ⚔ Ares ────╮"));
        assert!(is_answer_bottom(&tests::answer_bottom()));
        assert!(!is_answer_top("╭─ half"));
        let width = reasoning_top(&tests::reasoning_top()).unwrap();
        assert_eq!(width, 80);
        assert!(is_reasoning_bottom(&format!("└{}┘", "─".repeat(78)), width));
        assert!(!is_reasoning_bottom("└────┘", width));
        assert!(!is_rule(""));
    }

    #[test]
    fn panels_stand_one_column_in() {
        let panel = tests::panel(&["a"]);
        let lines: Vec<&str> = panel.lines().collect();
        assert!(is_panel_top(lines[0]));
        assert!(is_panel_bottom(lines[4]));
        assert!(!is_panel_top(lines[4]));
        assert!(!is_panel_bottom(lines[0]));
        assert!(!is_panel_bottom(" ─── "));
    }
}
