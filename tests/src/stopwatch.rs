//! How long this thread worked.

use std::time::{Duration, Instant};

/// Measures how long this thread works, where the system tells; time in which others did does not count then.
#[derive(Debug)]
pub struct Stopwatch {
    began: Instant,
    worked: Option<Duration>,
}

impl Stopwatch {
    /// Starts to measure.
    #[must_use]
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
            worked: worked(),
        }
    }

    /// Returns how long this thread worked since then; how long it is ago where nobody tells.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match (self.worked, worked()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.began.elapsed(),
        }
    }
}

/// Returns how long this thread has worked in all. Asked of the clock: what `/proc` tells of a thread that runs is as old
/// as the last tick, which is some milliseconds.
#[cfg(unix)]
fn worked() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(time.into())
}

#[cfg(not(unix))]
fn worked() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_no_work_and_work_is_seen_at_once() {
        let stopwatch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(50));
        assert!(stopwatch.elapsed() < Duration::from_millis(40));
        let (stopwatch, began) = (Stopwatch::start(), Instant::now());
        while began.elapsed() < Duration::from_micros(500) {
            std::hint::black_box(0);
        }
        assert!(stopwatch.elapsed() > Duration::ZERO);
    }
}
