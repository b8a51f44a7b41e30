//! An ordered pipeline: several threads work, one takes the results in the order of the jobs.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Returns how many threads there is work for: as many as there are cores, and two at least, so that
/// there is always one that works while another waits for a file.
pub(crate) fn usual_threads() -> usize {
    thread::available_parallelism().map_or(2, |cores| cores.get().max(2))
}

/// Does `work` on each of `jobs` on `threads` threads, while `take` gets the results, in the order of
/// the jobs, on this one.
///
/// Each job comes with its weight. Once jobs of `most_weight` were begun and their results not taken,
/// no further one is begun: so one job of any weight always passes. When `take` returns, no further
/// job is begun, either. When a job panics, the results end before its own, and this panics after
/// `take` has returned.
pub(crate) fn work_in_order<J, R: Send, T>(
    threads: usize,
    most_weight: usize,
    jobs: impl Iterator<Item = (J, usize)> + Send,
    work: impl Fn(J) -> R + Sync,
    take: impl FnOnce(Results<'_, R>) -> T,
) -> T {
    let jobs = Mutex::new(jobs);
    let line = JobLine::new(most_weight);
    thread::scope(|scope| {
        // Dropped when `take` returns or panics, which lets the threads end.
        let results = Results(&line);
        for _ in 0..threads {
            scope.spawn(|| line.work(&jobs, &work));
        }
        take(results)
    })
}

/// The jobs that were begun and whose results were not taken.
struct JobLine<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    most_weight: usize,
}

struct State<R> {
    /// Results by the numbers of their jobs, with the weights of those.
    ready: BTreeMap<u64, (R, usize)>,
    /// The number of the next job.
    next_job: u64,
    /// The number of the next result that is taken.
    next_result: u64,
    /// The weight of jobs that were begun and whose results were not taken.
    weight: usize,
    /// There are no more jobs.
    is_ended: bool,
    /// Nobody takes results any more, or a thread panicked.
    is_broken: bool,
}

impl<R> JobLine<R> {
    fn new(most_weight: usize) -> Self {
        let state = State {
            ready: BTreeMap::new(),
            next_job: 0,
            next_result: 0,
            weight: 0,
            is_ended: false,
            is_broken: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            most_weight,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        // Nothing panics while it holds the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn break_off(&self) {
        self.lock().is_broken = true;
        self.changed.notify_all();
    }

    /// Begins jobs and finishes them until there are no more.
    fn work<J>(&self, jobs: &Mutex<impl Iterator<Item = (J, usize)>>, work: impl Fn(J) -> R) {
        let _panicking = BreaksOffOnPanic(self);
        while let Some((number, job, weight)) = self.begin(jobs) {
            let result = work(job);
            self.lock().ready.insert(number, (result, weight));
            self.changed.notify_all();
        }
    }

    /// Waits until there is room, and takes the next job.
    fn begin<J>(&self, jobs: &Mutex<impl Iterator<Item = (J, usize)>>) -> Option<(u64, J, usize)> {
        // One thread at a time asks for a job, so jobs are numbered in their order. An error means
        // that the jobs panicked.
        let mut jobs = jobs.lock().ok()?;
        let mut state = self.lock();
        while state.weight >= self.most_weight && !state.is_broken {
            state = self.wait(state);
        }
        if state.is_broken || state.is_ended {
            return None;
        }
        drop(state);
        // Reading a file may take long: meanwhile results can be taken.
        let next = jobs.next();
        let mut state = self.lock();
        let Some((job, weight)) = next else {
            state.is_ended = true;
            self.changed.notify_all();
            return None;
        };
        let number = state.next_job;
        state.next_job += 1;
        state.weight += weight;
        Some((number, job, weight))
    }
}

/// Tells the others when its thread panics, so that nobody waits for a result that never comes.
struct BreaksOffOnPanic<'a, R>(&'a JobLine<R>);

impl<R> Drop for BreaksOffOnPanic<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.break_off();
        }
    }
}

/// The results, in the order of their jobs.
pub(crate) struct Results<'a, R>(&'a JobLine<R>);

impl<R> Iterator for Results<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let mut state = self.0.lock();
        loop {
            let number = state.next_result;
            if let Some((result, weight)) = state.ready.remove(&number) {
                state.next_result += 1;
                state.weight -= weight;
                self.0.changed.notify_all();
                return Some(result);
            }
            let is_last = state.is_ended && number == state.next_job;
            if is_last || state.is_broken {
                return None;
            }
            state = self.0.wait(state);
        }
    }
}

impl<R> Drop for Results<'_, R> {
    fn drop(&mut self) {
        self.0.break_off();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn light(numbers: std::ops::Range<u64>) -> impl Iterator<Item = (u64, usize)> {
        numbers.map(|number| (number, 1))
    }

    /// Takes longer for some jobs than for others.
    fn work(number: u64) -> u64 {
        if number.is_multiple_of(7) {
            thread::sleep(Duration::from_millis(1));
        }
        number
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs_from_every_thread() {
        for threads in [1, 2, 3, 8] {
            // Each thread waits with its first job until every other one has one, too.
            let all = Barrier::new(threads);
            let work = |number| {
                if number < threads as u64 {
                    all.wait();
                }
                (work(number), thread::current().id())
            };
            let (numbers, workers): (Vec<u64>, HashSet<_>) =
                work_in_order(threads, 20, light(0..1_000), work, |results| {
                    results.unzip()
                });
            assert!(numbers.into_iter().eq(0..1_000));
            assert_eq!(workers.len(), threads);
        }
    }

    #[test]
    fn no_more_is_begun_than_may_wait_and_one_heavy_job_passes() {
        for weight in [1, 3, 100] {
            let begun = AtomicUsize::new(0);
            let jobs = (0..50_usize).map(|number| {
                begun.fetch_add(1, Ordering::SeqCst);
                (number, weight)
            });
            let taken = work_in_order(
                4,
                10,
                jobs,
                |number| number,
                |results| {
                    let mut taken = 0;
                    for number in results {
                        assert_eq!(number, taken);
                        taken += 1;
                        thread::sleep(Duration::from_micros(200));
                        let ahead = begun.load(Ordering::SeqCst) - taken;
                        assert!(ahead <= 10_usize.div_ceil(weight), "{ahead} of {weight}");
                    }
                    taken
                },
            );
            assert_eq!(taken, 50);
        }
    }

    #[test]
    fn no_job_is_begun_once_nobody_takes_results() {
        let first = |results: Results<'_, u64>| results.take(3).collect::<Vec<_>>();
        let taken = work_in_order(4, 4, light(0..u64::MAX), work, first);
        assert_eq!(taken, [0, 1, 2]);
        work_in_order(4, 4, light(0..u64::MAX), work, |results| drop(results));
    }

    #[test]
    fn nothing_to_do_ends_at_once() {
        let count = work_in_order(4, 4, light(0..0), work, |results| results.count());
        assert_eq!(count, 0);
    }

    #[test]
    fn a_panic_on_any_side_ends_everything() {
        let panics = |jobs: fn(u64) -> (u64, usize), work: fn(u64) -> u64, most: u64| {
            catch_unwind(AssertUnwindSafe(|| {
                work_in_order(3, 4, (0..1_000).map(jobs), work, |results| {
                    for number in results {
                        assert!(number < most, "the one who takes panics");
                    }
                });
            }))
            .is_err()
        };
        let job = |number| (number, 1);
        let bad_job = |number| (number, 1 / usize::from(number != 100));
        let bad_work = |number| number / u64::from(number != 100);
        assert!(!panics(job, work, u64::MAX));
        assert!(panics(bad_job, work, u64::MAX));
        assert!(panics(job, bad_work, u64::MAX));
        assert!(panics(job, work, 100));
    }
}
