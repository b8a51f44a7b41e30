//! Patches as several CLIs have them written: `*** Begin Patch` and the files that follow.

/// Returns the files that a patch changes.
pub(crate) fn patched_files(text: &str) -> impl Iterator<Item = String> + '_ {
    const STARTS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let changed = |line: &str| {
        let file = STARTS.iter().find_map(|start| line.strip_prefix(start))?;
        Some(file.trim_end().to_owned())
    };
    text.lines().filter_map(changed)
}
