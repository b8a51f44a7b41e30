//! What those who embed the recorder may count on.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use runtape_recorder::{BatchWriter, DetachedRun, Recorder, StoreHandle};

/// Checked when this is compiled: each can be moved to a thread that outlives the caller.
const _: () = {
    const fn is_owned_and_sendable<T: Send + 'static>() {}
    is_owned_and_sendable::<Recorder>();
    is_owned_and_sendable::<DetachedRun>();
    is_owned_and_sendable::<BatchWriter>();
    is_owned_and_sendable::<StoreHandle>();
    #[cfg(unix)]
    is_owned_and_sendable::<runtape_recorder::Recording>();
    #[cfg(unix)]
    is_owned_and_sendable::<runtape_recorder::process::Control>();
};

/// Crates that belong to the binary: parsing of arguments, a progress bar, validation, an allocator,
/// signal handlers; and those that only a database on a server needs (feature `postgres`).
const ONLY_IN_THE_BINARY: &[&str] = &[
    "clap",
    "clap_builder",
    "indicatif",
    "jsonschema",
    "mimalloc",
    "libmimalloc-sys",
    "signal-hook",
    "tokio",
    "tokio-postgres",
    "rustls",
    "runtape",
    "runtape-schemas",
    "runtape-tests",
];

#[test]
fn whoever_embeds_the_recorder_gets_no_crate_of_the_binary() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--edges", "normal"])
        .args(["--package", "runtape-recorder"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let tree = String::from_utf8(output.stdout).unwrap();
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = names.collect();
    for expected in ["runtape-recorder", "runtape-core", "rusqlite"] {
        assert!(names.contains(&expected), "{tree}");
    }
    for name in ONLY_IN_THE_BINARY {
        assert!(!names.contains(name), "{name} is in\n{tree}");
    }
}

/// The kernel's masks of signals that this process ignores and handles.
#[cfg(target_os = "linux")]
fn signal_masks() -> Vec<String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let lines = status.lines().map(str::to_owned);
    lines
        .filter(|line| line.starts_with("SigIgn:") || line.starts_with("SigCgt:"))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn recording_installs_no_signal_handler() {
    use runtape_recorder::core::Runtime;
    use runtape_recorder::normalizer::Context;
    use runtape_recorder::store::Store;
    use runtape_recorder::{Recording, RecordingOptions};

    let before = signal_masks();
    assert_eq!(before.len(), 2);
    let mut command = Command::new("sleep");
    command.arg("60");
    let recording = Recording::spawn(
        command,
        StoreHandle::from(Store::open_in_memory().unwrap()),
        Runtime::ClaudeCode,
        Context::new("job".parse().unwrap(), "run".parse().unwrap()),
        RecordingOptions::default(),
    )
    .unwrap();
    assert_eq!(signal_masks(), before, "while it records");
    recording.stop();
    let recorded = recording.wait();
    assert_eq!(recorded.exit.signal.as_deref(), Some("SIGTERM"));
    assert_eq!(signal_masks(), before, "after it recorded");
}
