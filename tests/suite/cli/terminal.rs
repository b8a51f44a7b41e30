//! On a real terminal: what is typed there reaches the command and what it started, and the recorder hears of it.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::harness::Runtape;

/// Long enough for a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// What the key combination sends.
const CONTROL_C: &[u8] = b"\x03";
const CONTROL_BACKSLASH: &[u8] = b"\x1c";

/// A terminal with a keyboard and a screen, made by `script`.
struct Terminal {
    process: Child,
    keyboard: ChildStdin,
    shown: Receiver<Vec<u8>>,
    screen: String,
}

impl Terminal {
    /// Starts a command of the shell on a terminal; none where there is no `script`, but in the gate.
    fn start(runtape: &Runtape, command: &str) -> Option<Self> {
        let mut script = Command::new("script");
        for (key, value) in runtape.command(&[]).get_envs() {
            match value {
                Some(value) => script.env(key, value),
                None => script.env_remove(key),
            };
        }
        let started = script
            .args(["-qec", command, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut process) = started else {
            assert!(
                std::env::var_os("RUNTAPE_CONSUMERS").is_none(),
                "no `script`"
            );
            eprintln!("skipped: there is no `script` (util-linux) to make a terminal with");
            return None;
        };
        let keyboard = process.stdin.take().unwrap();
        let mut output = process.stdout.take().unwrap();
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            process,
            keyboard,
            shown,
            screen: String::new(),
        })
    }

    /// Waits until the command is there and the recorder hears what it is sent. The command says `started`, its process id and
    /// a full stop.
    fn wait_for_start(&mut self) {
        self.wait_for(".", 1);
        let (_, rest) = self.screen.split_once("started ").unwrap();
        let group = rest.split('.').next().unwrap().to_owned();
        let begin = Instant::now();
        while !is_heard(&group) {
            assert!(begin.elapsed() < SOON, "nobody listens: {}", self.screen);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until a text was shown so often.
    fn wait_for(&mut self, text: &str, times: usize) {
        let begin = Instant::now();
        while self.screen.matches(text).count() < times {
            let left = SOON.saturating_sub(begin.elapsed());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{error}, waiting for {text:?} in\n{}", self.screen),
            }
        }
    }

    /// Waits for the end; returns the exit code and all that was shown.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.process.wait().unwrap().code();
        while let Ok(bytes) = self.shown.recv_timeout(Duration::from_millis(500)) {
            self.screen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (code, self.screen)
    }
}

/// Tells whether a process of a group listens for interrupts, which it blocks then.
fn is_heard(group: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.filter_map(Result::ok).any(|process| {
        let read = |name| std::fs::read_to_string(process.path().join(name)).unwrap_or_default();
        let fields = read("stat");
        let mut fields = fields.rsplit(')').next().unwrap().split_whitespace();
        let is_of_group = fields.nth(2) == Some(group);
        let status = read("status");
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // The bit of SIGINT, which is 2.
        is_of_group
            && read("cmdline").contains("__listen")
            && blocked.is_some_and(|mask| mask & 2 != 0)
    })
}

fn record(runtape: &Runtape, body: &str) -> Option<Terminal> {
    let script = runtape.script("agent", body);
    let binary = env!("CARGO_BIN_EXE_runtape");
    Terminal::start(
        runtape,
        &format!("'{binary}' record --run-id typed --show raw -- '{script}'"),
    )
}

const INTERRUPTED: &str = "runtape: interrupted";

#[test]
fn control_c_on_a_terminal_is_told_then_asks_then_kills() {
    for (times, traps, signal, code) in [
        (1, "", "SIGINT", 130),
        (2, "trap '' INT", "SIGTERM", 143),
        (3, "trap '' INT TERM", "SIGKILL", 137),
    ] {
        let runtape = Runtape::new();
        let Some(mut terminal) = record(
            &runtape,
            &format!("{traps}\ntest -t 0 && echo \"started $$.\"\nwhile :; do sleep 0.05; done"),
        ) else {
            return;
        };
        terminal.wait_for_start();
        for pressed in 1..=times {
            terminal.press(CONTROL_C);
            terminal.wait_for(INTERRUPTED, pressed);
        }
        let (exit, screen) = terminal.end();
        assert_eq!(exit, Some(code), "{screen}");
        assert_eq!(screen.matches(INTERRUPTED).count(), times, "{screen}");
        let shown = &runtape.json(&["show", "typed"])[0];
        assert_eq!(shown["exit"]["signal"], signal, "{screen}");
        assert!(shown["seal"].is_u64());
    }
}

#[test]
fn an_interrupt_counts_once_whether_it_is_typed_or_sent_to_the_recorder() {
    let runtape = Runtape::new();
    let Some(mut terminal) = record(
        &runtape,
        "trap '' INT\ntest -t 0 && echo \"by $PPID, started $$.\"\nwhile :; do sleep 0.05; done",
    ) else {
        return;
    };
    terminal.wait_for_start();
    let (_, rest) = terminal.screen.split_once("by ").unwrap();
    let recorder: i32 = rest.split(',').next().unwrap().parse().unwrap();
    let recorder = nix::unistd::Pid::from_raw(recorder);
    nix::sys::signal::kill(recorder, nix::sys::signal::Signal::SIGINT).unwrap();
    terminal.wait_for(INTERRUPTED, 1);
    terminal.press(CONTROL_C);
    let (exit, screen) = terminal.end();
    assert_eq!(exit, Some(143), "{screen}");
    assert_eq!(screen.matches(INTERRUPTED).count(), 2, "{screen}");
}

#[test]
fn a_command_that_reads_keys_by_itself_is_left_alone() {
    let runtape = Runtape::new();
    let Some(mut terminal) = record(
        &runtape,
        "stty raw -echo; echo ready; key=$(dd bs=1 count=1 2>/dev/null | od -An -tx1); stty sane; echo \"key:$key\"",
    ) else {
        return;
    };
    terminal.wait_for("ready", 1);
    terminal.press(CONTROL_C);
    let (exit, screen) = terminal.end();
    assert_eq!(exit, Some(0), "{screen}");
    assert!(screen.contains("key: 03"), "{screen}");
    assert!(!screen.contains(INTERRUPTED), "{screen}");
}

#[test]
fn other_keys_do_not_deafen_the_recorder() {
    let runtape = Runtape::new();
    let Some(mut terminal) = record(
        &runtape,
        "trap 'echo quit' QUIT\ntrap '' INT TSTP\necho \"started $$.\"\nwhile :; do sleep 0.05; done",
    ) else {
        return;
    };
    terminal.wait_for_start();
    terminal.press(CONTROL_BACKSLASH);
    terminal.wait_for("quit", 1);
    for pressed in 1..=2 {
        terminal.press(CONTROL_C);
        terminal.wait_for(INTERRUPTED, pressed);
    }
    let (exit, screen) = terminal.end();
    assert_eq!(exit, Some(143), "{screen}");
}
