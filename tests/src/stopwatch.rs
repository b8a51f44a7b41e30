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

/// Holds work to take less than `most` times as long as other work, whoever does it: a server is no thread of ours.
///
/// Both are measured in turn. What else a busy machine does makes either slower now and then; what grows too fast does so each
/// time it is tried.
///
/// # Panics
///
/// If it took longer each time.
pub fn assert_growth(most: u32, mut less: impl FnMut(), mut more: impl FnMut()) {
    let time = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    let mut seen = Vec::new();
    for _ in 0..5 {
        let times = (0..3).map(|_| (time(&mut less), time(&mut more)));
        let best = |(one, two): (Duration, Duration), (less, more): (Duration, Duration)| {
            (one.min(less), two.min(more))
        };
        let (less, more) = times.fold((Duration::MAX, Duration::MAX), best);
        if more < less * most {
            return;
        }
        seen.push((less, more));
    }
    panic!("it should take less than {most} times as long: {seen:?}");
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
    fn work_that_grows_too_fast_is_found_and_other_work_is_not() {
        let sleep = |time: u64| move || std::thread::sleep(Duration::from_millis(time));
        assert_growth(3, sleep(5), sleep(10));
        let grown = std::panic::catch_unwind(|| assert_growth(3, sleep(1), sleep(20)));
        assert!(grown.is_err());
    }

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
