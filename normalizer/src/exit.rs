//! How a process ended.

use runtape_core::report::RedactionCounts;

/// How a process ended, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that ended it, by name (`SIGKILL`) or number.
    pub signal: Option<String>,
    /// Whether the recorder ended it because its time was up.
    pub timed_out: bool,
    /// Whether somebody stopped it through the recorder.
    pub stopped: bool,
    /// Whether the recorder itself died: how the process ended, nobody saw.
    pub recorder_lost: bool,
    /// Output that the process printed, and that could be kept nowhere.
    pub missing: Option<MissingOutput>,
    /// How many secrets were taken out of the output before it was kept.
    pub redacted: RedactionCounts,
    /// When it ended, in milliseconds since 1970, if the recorder saw that.
    pub finished_at: Option<i64>,
    /// Bytes of standard input that were passed on and not kept, since there were too many of them.
    pub unkept_input: u64,
}

/// The end of an output that is on no tape, since no disk had room for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingOutput {
    /// How many bytes are missing of both streams together.
    pub bytes: u64,
    /// The first byte of standard output that is missing, if any is.
    pub stdout_from: Option<u64>,
    /// The first byte of standard error that is missing, if any is.
    pub stderr_from: Option<u64>,
}

impl std::fmt::Display for MissingOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes are missing", self.bytes)?;
        let mut word = ", from";
        for (from, stream) in [(self.stdout_from, "stdout"), (self.stderr_from, "stderr")] {
            if let Some(from) = from {
                write!(f, "{word} byte {from} of {stream}")?;
                word = " and";
            }
        }
        f.write_str(" on")
    }
}

impl Exit {
    /// Nothing is known of the exit.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// Creates the exit of a process that ended with a code. A negative one is a signal, as in
    /// the records of many process libraries.
    #[must_use]
    pub fn with_code(code: i32) -> Self {
        if code < 0 {
            return Self::with_signal(signal_name(code.saturating_neg()));
        }
        Self {
            code: Some(code),
            ..Self::default()
        }
    }

    /// Creates the exit of a process that a signal ended.
    #[must_use]
    pub fn with_signal(signal: impl Into<String>) -> Self {
        Self {
            signal: Some(signal.into()),
            ..Self::default()
        }
    }

    /// Creates the exit of a process whose recorder died before it.
    #[must_use]
    pub fn lost() -> Self {
        Self {
            recorder_lost: true,
            ..Self::default()
        }
    }

    /// Tells whether nothing is known. What was taken out of the output says nothing of its end.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let Self {
            code,
            signal,
            timed_out,
            stopped,
            recorder_lost,
            missing,
            redacted: _,
            finished_at: _,
            unkept_input: _,
        } = self;
        let is_known = code.is_some() || signal.is_some() || missing.is_some();
        !is_known && !timed_out && !stopped && !recorder_lost
    }

    /// Tells whether the end of the output is not known: what is there may be half an answer,
    /// however the process ended.
    #[must_use]
    pub fn is_output_cut(&self) -> bool {
        self.recorder_lost || self.missing.is_some()
    }

    /// Tells whether the process ended by itself with code 0, and all of its output is known.
    #[must_use]
    pub fn is_success(&self) -> bool {
        let ended_well = self.code == Some(0) && self.signal.is_none() && !self.timed_out;
        ended_well && !self.is_output_cut()
    }

    /// Tells whether the process is known to have failed or been ended, or its output to be cut:
    /// what only an exit can call a success is none then.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !self.is_unknown() && !self.is_success()
    }

    /// Tells whether somebody asked the process to end: through the recorder, or as a signal or the exit code that
    /// stands for one says. SIGKILL says nothing of the kind, since the system sends it where memory is short; nor
    /// does a time limit, which nobody had in mind when it was over.
    #[must_use]
    pub fn was_asked_for(&self) -> bool {
        let is_stop = |number: i32| STOP_SIGNALS.contains(&number);
        let by_signal = match &self.signal {
            Some(signal) => STOP_SIGNALS.iter().any(|n| signal_name(*n) == *signal),
            None => self
                .code
                .is_some_and(|code| is_stop(code.saturating_sub(128))),
        };
        !self.timed_out && !self.recorder_lost && (self.stopped || by_signal)
    }

    /// Names the error of a process that did not end well by itself, and says it in words.
    ///
    /// `is_signal` tells whether an exit code stands for a signal.
    #[must_use]
    pub(crate) fn failure(&self, is_signal: impl Fn(i32) -> bool) -> (&'static str, String) {
        let by_code = self.code.filter(|code| is_signal(*code));
        let signal = self.signal.clone();
        let signal = signal.or_else(|| by_code.map(|code| signal_name(code - 128)));
        let missing = self.missing.as_ref();
        if self.recorder_lost {
            let message = "the recorder died before the process ended";
            ("RecorderLost", message.to_owned())
        } else if self.timed_out {
            ("TimedOut", "the time limit was reached".to_owned())
        } else if let Some(signal) = signal {
            let message = format!("the process was ended by {signal}");
            ("KilledBySignal", message)
        } else if let Some(code) = self.code.filter(|code| *code != 0) {
            let message = format!("the process ended with exit code {code}");
            ("NonZeroExit", message)
        } else if let Some(missing) = missing {
            let how = self
                .code
                .map(|code| format!("; the process ended with exit code {code}"));
            let how = how.unwrap_or_default();
            let message = format!("the end of the output could not be kept: {missing}{how}");
            ("TruncatedOutput", message)
        } else {
            let message = "the output ended without a result";
            ("TruncatedOutput", message.to_owned())
        }
    }

    /// Tells whether the process itself is known to have failed or been ended.
    #[must_use]
    pub fn is_process_failure(&self) -> bool {
        let code = self.code.is_some_and(|code| code != 0);
        code || self.signal.is_some() || self.timed_out
    }

    /// Tells whether the process ended by itself with a code that says it failed. `is_signal` tells
    /// whether a code stands for a signal.
    #[must_use]
    pub fn is_own_failure(&self, is_signal: impl Fn(i32) -> bool) -> bool {
        let by_code = self.code.is_some_and(|code| code != 0 && !is_signal(code));
        by_code && self.signal.is_none() && !self.timed_out && !self.is_output_cut()
    }
}

/// SIGHUP, SIGINT, SIGQUIT and SIGTERM: the signals by which people ask a process to end.
const STOP_SIGNALS: [i32; 4] = [1, 2, 3, 15];

/// Tells whether an exit code stands for a signal, as shells and many programs have it.
#[must_use]
pub(crate) fn code_is_signal(code: i32) -> bool {
    (129..=159).contains(&code)
}

/// Returns the name of a signal's number on Linux, or the number where it has none here.
#[must_use]
pub fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        other => return other.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_code_is_a_signal() {
        assert_eq!(Exit::with_code(-9), Exit::with_signal("SIGKILL"));
        assert!(Exit::with_code(-9).is_failure());
        assert!(Exit::with_code(0).is_success());
        assert!(!Exit::unknown().is_success() && !Exit::unknown().is_failure());
    }

    #[test]
    fn only_what_people_send_is_asking_a_process_to_end() {
        let stopped = Exit {
            stopped: true,
            ..Exit::with_signal("SIGKILL")
        };
        for exit in ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].map(Exit::with_signal) {
            assert!(exit.was_asked_for(), "{exit:?}");
        }
        for exit in [Exit::with_code(130), Exit::with_code(143), stopped.clone()] {
            assert!(exit.was_asked_for(), "{exit:?}");
        }
        let out_of_time = Exit {
            timed_out: true,
            ..Exit::with_signal("SIGTERM")
        };
        let others = [Exit::with_signal("SIGKILL"), Exit::with_signal("SIGSEGV")];
        let codes = [0, 1, 2, 15, 137, 139].map(Exit::with_code);
        let rest = [out_of_time, Exit::lost(), Exit::unknown()];
        for exit in others.into_iter().chain(codes).chain(rest) {
            assert!(!exit.was_asked_for(), "{exit:?}");
        }
    }

    #[test]
    fn with_output_missing_no_exit_is_a_success() {
        let missing = MissingOutput {
            bytes: 7,
            stdout_from: Some(5),
            stderr_from: None,
        };
        let exit = Exit {
            missing: Some(missing),
            ..Exit::with_code(0)
        };
        assert!(!exit.is_success() && exit.is_failure() && !exit.is_process_failure());
        assert_eq!(
            missing.to_string(),
            "7 bytes are missing, from byte 5 of stdout on"
        );
    }
}
