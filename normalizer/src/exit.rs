//! How a process ended.

/// How a process ended, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that ended it, by name (`SIGKILL`) or number.
    pub signal: Option<String>,
    /// Whether the recorder ended it because its time was up.
    pub timed_out: bool,
    /// Whether the recorder itself died: how the process ended, nobody saw.
    pub recorder_lost: bool,
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

    /// Tells whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether the process ended by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0) && self.signal.is_none() && !self.timed_out && !self.recorder_lost
    }

    /// Tells whether the process is known to have failed or been ended.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !self.is_unknown() && !self.is_success() && !self.recorder_lost
    }
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
}
