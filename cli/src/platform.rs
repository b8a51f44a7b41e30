//! Where programs keep things on this platform.

use std::path::PathBuf;

/// Returns the directory where programs keep their data.
pub(crate) fn data_directory() -> Option<PathBuf> {
    directory("LOCALAPPDATA", "XDG_DATA_HOME", ".local/share")
}

/// Returns the directory where programs keep their configuration.
pub(crate) fn config_directory() -> Option<PathBuf> {
    directory("APPDATA", "XDG_CONFIG_HOME", ".config")
}

/// Returns a directory: the one that a variable of Windows names, macOS' one for both, or elsewhere the one that a
/// variable names, else the usual one below the home directory.
fn directory(on_windows: &str, elsewhere: &str, usual: &str) -> Option<PathBuf> {
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    if cfg!(target_os = "windows") {
        return variable(on_windows);
    }
    let home = || variable("HOME");
    if cfg!(target_os = "macos") {
        return Some(home()?.join("Library").join("Application Support"));
    }
    variable(elsewhere).or_else(|| Some(home()?.join(usual)))
}
