//! What `runtape doctor` says of the sessions that agent CLIs keep on disk.

use runtape_core::report::{CheckLevel, HistoryPlace};
use runtape_normalizer::runtimes::RuntimeEntry;
use runtape_recorder::history::{survey, usual_directories};

use super::doctor::Checks;
use crate::terminal::table::{bytes, plural};
use crate::terminal::times;

/// Looks for the sessions of a runtime: where they are, how many, and which are about to be deleted. No
/// file is opened.
pub(super) fn look(entry: &RuntimeEntry) -> Vec<HistoryPlace> {
    let Some(home) = std::env::home_dir() else {
        return Vec::new();
    };
    let runtimes = [entry.runtime.clone()];
    let directories = usual_directories(&home, &runtimes, |name| std::env::var_os(name));
    let now = times::now();
    directories
        .iter()
        .filter_map(|directory| survey(directory, now))
        .collect()
}

/// Says what was found.
pub(super) fn tell(checks: &mut Checks, entry: &RuntimeEntry, places: &[HistoryPlace]) {
    let name = entry.runtime.as_str();
    let prefix = entry.paperclip.code_prefix;
    for place in places {
        let message = format!(
            "{name} history: {}, {}",
            plural(place.files, "session file"),
            bytes(place.bytes)
        );
        let code = format!("{prefix}_history_found");
        let path = Some(place.path.clone());
        checks.push(&code, CheckLevel::Info, message, path, None);
        if place.files == 0 {
            checks.neutral();
        }
    }
    let Some(days) = places.iter().find_map(|place| place.kept_days) else {
        return;
    };
    let due: u64 = places.iter().map(|place| place.due).sum();
    let rule = format!("{name} deletes sessions after {}", plural(days, "day"));
    let (message, hint) = if due == 0 {
        (format!("{rule}: none is due this week"), None)
    } else {
        let verb = if due == 1 { "is" } else { "are" };
        let files = plural(due, "session file");
        let message = format!("{rule}: {files} {verb} due this week");
        (message, Some("`runtape sync` takes them in before that"))
    };
    let code = format!("{prefix}_history_due");
    checks.push(&code, CheckLevel::Info, message, None, hint);
    checks.neutral();
}

#[cfg(test)]
mod tests {
    use runtape_core::Runtime;
    use runtape_normalizer::runtimes::entry_for;

    use super::*;

    fn told(places: &[HistoryPlace]) -> Vec<(String, String, Option<String>)> {
        let mut checks = Checks::default();
        tell(
            &mut checks,
            entry_for(&Runtime::ClaudeCode).unwrap(),
            places,
        );
        let checks = checks.into_checks().into_iter();
        checks
            .map(|check| (check.code, check.message, check.hint))
            .collect()
    }

    #[test]
    fn what_is_due_is_told_once_for_all_places() {
        let place = |path: &str, files, due, kept_days| HistoryPlace {
            runtime: Runtime::ClaudeCode,
            path: path.to_owned(),
            files,
            bytes: files * 1024,
            kept_days,
            due,
        };
        assert_eq!(told(&[]), []);
        let said = told(&[place("/a", 3, 1, Some(30)), place("/b", 1, 1, Some(30))]);
        let messages: Vec<&str> = said
            .iter()
            .map(|(_, message, _)| message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "claude-code history: 3 session files, 3.0 KiB",
                "claude-code history: 1 session file, 1.0 KiB",
                "claude-code deletes sessions after 30 days: 2 session files are due this week",
            ]
        );
        assert_eq!(said[2].0, "claude_history_due");
        assert!(said[2].2.as_ref().unwrap().contains("runtape sync"));
        let said = told(&[place("/a", 3, 0, Some(30))]);
        assert!(said[1].1.ends_with("none is due this week") && said[1].2.is_none());
        assert_eq!(told(&[place("/a", 3, 0, None)]).len(), 1);
    }
}
