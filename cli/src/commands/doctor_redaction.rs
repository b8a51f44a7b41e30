//! What `runtape doctor` says of the secrets that are taken out.

use std::fmt::Write as _;

use runtape_core::report::CheckLevel;
use runtape_normalizer::redact::Tier;

use super::doctor::Checks;
use crate::arguments::redaction::{NewKey, key, key_path};
use crate::database::Database;
use crate::error::with_causes;
use crate::settings::SettingsFile;

/// Says what is on by default, where the key is, and what is wrong with either.
pub(super) fn tell(checks: &mut Checks, database: &Database) {
    let file = SettingsFile::find();
    let settings = match file.read() {
        Ok(settings) => settings.redact,
        Err(error) => {
            let text = with_causes(&error);
            return checks.add("runtape_config", CheckLevel::Error, text);
        }
    };
    let place = file.path().map(|path| path.display().to_string());
    let place = place.filter(|_| file.is_there());
    if settings.tier == Tier::Off {
        let hint = "secrets that agents print are kept; `runtape config show` says where it is set";
        let message = "redaction is off";
        let code = "runtape_redaction_off";
        return checks.push(code, CheckLevel::Warn, message, place, Some(hint));
    }
    let mut message = format!("redaction: {}", settings.tier);
    for (count, what) in [
        (settings.rules.len(), "of its own rules"),
        (settings.allow.len(), "allowed"),
        (settings.env.len(), "named variables"),
    ] {
        if count > 0 {
            let _ = write!(message, ", {count} {what}");
        }
    }
    checks.push("runtape_redaction", CheckLevel::Info, message, place, None);
    checks.neutral();
    let path = key_path(database);
    let place = Some(path.display().to_string());
    let code = "runtape_redaction_key";
    match key(database, NewKey::Never) {
        Ok(Some(key)) => {
            let message = format!("redaction key {}", key.id());
            checks.push(code, CheckLevel::Info, message, place, None);
            mode(checks, &path);
        }
        Ok(None) => {
            let message = "no redaction key yet";
            let hint = "the first command that keeps something makes it";
            checks.push(code, CheckLevel::Info, message, place, Some(hint));
            checks.neutral();
        }
        Err(error) => {
            let hint = "without it markers only name their rules";
            let message = format!("the redaction key cannot be read: {error}");
            checks.push(code, CheckLevel::Warn, message, place, Some(hint));
        }
    }
}

#[cfg(unix)]
fn mode(checks: &mut Checks, path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().map_or(0, |meta| meta.permissions().mode()) & 0o777;
    if mode & 0o077 != 0 {
        let message = format!("others can read the redaction key (mode {mode:o})");
        let hint = "whoever has it can test guesses of a secret: chmod 600";
        let code = "runtape_redaction_key_mode";
        checks.push(code, CheckLevel::Warn, message, None, Some(hint));
    }
}

#[cfg(not(unix))]
fn mode(_: &mut Checks, _: &std::path::Path) {}
