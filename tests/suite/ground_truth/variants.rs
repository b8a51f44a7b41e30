//! The same runs, framed otherwise or cut short.

use runtape_core::{CheckpointStatus, RunSummary};
use runtape_normalizer::Exit;

use crate::captures::{self, Capture};

/// Captures whose output is one event a line, of runtimes that print a line for everything.
fn streams() -> Vec<Capture> {
    let mut captures = captures::all();
    captures.retain(|capture| {
        let is_stream = matches!(capture.runtime.as_str(), "codex" | "opencode");
        let is_whole = capture.stdout.ends_with(b"\n") && capture.meta["kill"].is_null();
        is_stream && is_whole && capture.format != "text"
    });
    assert!(captures.len() > 40 || std::env::var_os("RUNTAPE_ONLY").is_some());
    captures
}

fn lines(capture: &Capture) -> Vec<&[u8]> {
    let body = capture.stdout.strip_suffix(b"\n").unwrap();
    body.split(|byte| *byte == b'\n').collect()
}

fn is_step_finish(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"step_finish\"")
}

#[test]
fn how_lines_end_and_what_comes_before_the_first_changes_nothing() {
    for capture in streams() {
        let whole = capture.summary();
        let body = capture.stdout.strip_suffix(b"\n").unwrap().to_vec();
        let windows = [lines(&capture).join(b"\r\n".as_slice()), b"\r\n".to_vec()].concat();
        let marked = [b"\xEF\xBB\xBF".as_slice(), &capture.stdout].concat();
        // Two values on one line, and white space around them.
        let glued = [lines(&capture).join(b" ".as_slice()), b"\n".to_vec()].concat();
        for (name, stdout) in [
            ("no newline at the end", body),
            ("CRLF", windows),
            ("a byte order mark", marked),
            ("all on one line", glued),
        ] {
            let summary = capture.summary_of(&stdout, &capture.exit());
            assert_eq!(summary, whole, "{}: {name}", capture.name());
        }
    }
}

#[test]
fn a_banner_before_the_first_event_is_a_notice() {
    for capture in streams() {
        let banner = b"Loaded.\n\x1b[1mReady: 5 [ok]\x1b[0m\n".as_slice();
        let stdout = [banner, &capture.stdout].concat();
        let mut summary = capture.summary_of(&stdout, &capture.exit());
        let notices = summary.notices.len();
        summary.notices.retain(|notice| notice.kind != "stdout");
        assert_eq!(notices - summary.notices.len(), 2, "{}", capture.name());
        let whole = capture.summary();
        assert_eq!(summary.unparsed.len(), whole.unparsed.len());
        let plain = |summary: RunSummary| (summary.texts, summary.tool_calls, summary.error);
        assert_eq!(plain(summary), plain(whole), "{}", capture.name());
    }
}

#[test]
fn a_stream_that_was_cut_is_no_success_wherever_it_was_cut() {
    let mut count = 0;
    for capture in streams() {
        if capture.summary().status != CheckpointStatus::Completed || capture.stdout.len() > 20_000
        {
            continue;
        }
        count += 1;
        let lines = lines(&capture);
        for kept in 0..lines.len() {
            let head = lines[..kept].join(b"\n".as_slice());
            let next = lines[kept];
            // Between two lines, and within the next one.
            for cut in [0, 1, next.len() / 2, next.len() - 1] {
                let stdout = [
                    head.as_slice(),
                    if kept == 0 { b"" } else { b"\n" },
                    &next[..cut],
                ];
                let stdout = stdout.concat();
                let name = format!("{}: {kept} lines and {cut} bytes", capture.name());
                // Exit code 0 after a step that is over is how opencode says that all went well.
                let is_over = cut == 0 && kept > 0 && is_step_finish(lines[kept - 1]);
                let summary = capture.summary_of(&stdout, &Exit::with_code(0));
                let error = summary.error.map(|error| error.name);
                let expected = (!is_over).then_some("TruncatedOutput");
                assert_eq!(error.as_deref(), expected, "{name}");
                let summary = capture.summary_of(&stdout, &Exit::with_code(137));
                let error = summary.error.expect(&name);
                assert_eq!(error.name, "KilledBySignal", "{name}");
            }
        }
    }
    assert!(count > 20 || std::env::var_os("RUNTAPE_ONLY").is_some());
}

#[test]
fn a_line_cut_after_the_end_takes_the_success_back() {
    for capture in streams() {
        if capture.summary().status != CheckpointStatus::Completed {
            continue;
        }
        let stdout = [capture.stdout.as_slice(), b"{\"type\":\"te"].concat();
        let summary = capture.summary_of(&stdout, &Exit::with_code(0));
        let error = summary.error.expect("a failure");
        assert_eq!(error.name, "TruncatedOutput", "{}", capture.name());
        assert_eq!(summary.unparsed.len(), 1);
    }
}
