//! A line of work between two threads: one makes things, either of them finishes what was made, the
//! other takes what is finished, in the order it was made.
//!
//! A channel would leave one thread waiting while the other has too much to do. Here, the maker
//! finishes things when it is far enough ahead, the taker when what comes next is not finished, so
//! both have work as long as there is any.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One thing in the line.
enum Place<M, R> {
    Made(M),
    /// One of the threads is finishing it.
    Busy,
    Ready(R),
}

struct State<M, R> {
    /// With how much each thing weighs.
    places: VecDeque<(Place<M, R>, usize)>,
    /// How many things were taken before the first one in the line.
    taken: usize,
    weight: usize,
    /// The weight of what nobody has begun to finish.
    unfinished: usize,
    /// Nothing more is made.
    is_ended: bool,
    /// The maker does not finish things any more, either.
    is_alone: bool,
    /// Nothing more is taken.
    is_left: bool,
}

impl<M, R> State<M, R> {
    /// Takes the first thing that nobody has begun to finish; returns its number, too.
    fn begin(&mut self) -> Option<(usize, M)> {
        for (at, (place, weight)) in self.places.iter_mut().enumerate() {
            match std::mem::replace(place, Place::Busy) {
                Place::Made(made) => {
                    self.unfinished -= *weight;
                    return Some((self.taken + at, made));
                }
                other => *place = other,
            }
        }
        None
    }

    fn finish(&mut self, number: usize, ready: R) {
        // It is still there: only what is ready is taken.
        let at = number.checked_sub(self.taken);
        if let Some((place, _)) = at.and_then(|at| self.places.get_mut(at)) {
            *place = Place::Ready(ready);
        }
    }
}

/// A line of things that are made (`M`) and finished (`R`).
pub(crate) struct SharedLine<M, R> {
    state: Mutex<State<M, R>>,
    changed: Condvar,
    most: Most,
    finish: fn(M) -> R,
}

/// How much a line holds; one thing more is let in, however heavy it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// In all: how far the taker may fall behind.
    pub(crate) waiting: usize,
    /// Not finished: if there is more, the maker finishes some of it first. What it leaves to the
    /// taker keeps that from what only the taker can do.
    pub(crate) unfinished: usize,
}

type Guard<'a, M, R> = MutexGuard<'a, State<M, R>>;

impl<M, R> SharedLine<M, R> {
    /// Makes a line.
    pub(crate) fn new(most: Most, finish: fn(M) -> R) -> Self {
        let state = State {
            places: VecDeque::new(),
            taken: 0,
            weight: 0,
            unfinished: 0,
            is_ended: false,
            is_alone: false,
            is_left: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            most,
            finish,
        }
    }

    /// Returns the end where things are put; for one thread.
    pub(crate) fn maker(&self) -> Maker<'_, M, R> {
        Maker(self)
    }

    /// Returns the end where things are taken; for one thread.
    pub(crate) fn taker(&self) -> Taker<'_, M, R> {
        Taker(self)
    }

    fn lock(&self) -> Guard<'_, M, R> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes one thing; gives the state back as an error if there is none to be finished.
    fn finish_one<'a>(
        &'a self,
        mut state: Guard<'a, M, R>,
    ) -> Result<Guard<'a, M, R>, Guard<'a, M, R>> {
        let Some((number, made)) = state.begin() else {
            return Err(state);
        };
        drop(state);
        let ready = (self.finish)(made);
        let mut state = self.lock();
        state.finish(number, ready);
        self.changed.notify_one();
        Ok(state)
    }

    /// Finishes one thing, or waits until something changes.
    fn help<'a>(&'a self, state: Guard<'a, M, R>) -> Guard<'a, M, R> {
        self.finish_one(state).unwrap_or_else(|state| {
            let waited = self.changed.wait(state);
            waited.unwrap_or_else(PoisonError::into_inner)
        })
    }
}

/// The end of a line where things are put. Dropped, nothing more is made.
pub(crate) struct Maker<'a, M, R>(&'a SharedLine<M, R>);

impl<M, R> Maker<'_, M, R> {
    /// Adds a thing; tells whether anybody takes it.
    pub(crate) fn put(&self, made: M, weight: usize) -> bool {
        let mut state = self.0.lock();
        let most = self.0.most;
        while (state.unfinished >= most.unfinished || state.weight >= most.waiting)
            && !state.is_left
        {
            state = self.0.help(state);
        }
        state.places.push_back((Place::Made(made), weight));
        state.weight += weight;
        state.unfinished += weight;
        self.0.changed.notify_one();
        !state.is_left
    }
}

impl<M, R> Drop for Maker<'_, M, R> {
    fn drop(&mut self) {
        // Said even if finishing fails.
        let _alone = Alone(self.0);
        let mut state = self.0.lock();
        state.is_ended = true;
        self.0.changed.notify_one();
        while !state.is_left {
            match self.0.finish_one(state) {
                Ok(after) => state = after,
                Err(_) => return,
            }
        }
    }
}

/// Dropped, the maker does nothing more.
struct Alone<'a, M, R>(&'a SharedLine<M, R>);

impl<M, R> Drop for Alone<'_, M, R> {
    fn drop(&mut self) {
        self.0.lock().is_alone = true;
        self.0.changed.notify_one();
    }
}

/// The end of a line where things are taken, until there are no more. Dropped, none is.
pub(crate) struct Taker<'a, M, R>(&'a SharedLine<M, R>);

impl<M, R> Iterator for Taker<'_, M, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let mut state = self.0.lock();
        loop {
            match state.places.pop_front() {
                Some((Place::Ready(ready), weight)) => {
                    state.taken += 1;
                    state.weight -= weight;
                    self.0.changed.notify_one();
                    return Some(ready);
                }
                // Whoever was to finish it never will.
                Some((Place::Busy, _)) if state.is_alone => return None,
                Some(unready) => state.places.push_front(unready),
                None if state.is_ended => return None,
                None => {}
            }
            state = self.0.help(state);
        }
    }
}

impl<M, R> Drop for Taker<'_, M, R> {
    fn drop(&mut self) {
        self.0.lock().is_left = true;
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;
    use std::thread::ThreadId;
    use std::time::Duration;

    use super::*;

    const SHORT: Most = Most {
        waiting: 4,
        unfinished: 2,
    };
    const LONG: Most = Most {
        waiting: 100,
        unfinished: 100,
    };

    fn finish(number: u64) -> (u64, ThreadId) {
        // Some take much longer than others.
        if number.is_multiple_of(7) {
            thread::sleep(Duration::from_millis(1));
        }
        (number, thread::current().id())
    }

    #[test]
    fn all_that_is_made_is_taken_in_order_and_both_threads_finish_some() {
        let line = SharedLine::new(SHORT, finish);
        let mut finishers = HashSet::new();
        thread::scope(|scope| {
            let maker = line.maker();
            scope.spawn(move || assert!((0..500).all(|number| maker.put(number, 1))));
            for (expected, (number, thread)) in (0..).zip(line.taker()) {
                assert_eq!(number, expected);
                finishers.insert(thread);
            }
        });
        assert_eq!(finishers.len(), 2);
        assert_eq!(line.lock().taken, 500);
    }

    #[test]
    fn a_thing_heavier_than_the_line_passes() {
        let line = SharedLine::new(SHORT, finish);
        let maker = line.maker();
        assert!(maker.put(1, 100));
        drop(maker);
        assert_eq!(
            line.taker().map(|(number, _)| number).collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn the_maker_is_told_when_nobody_takes_any_more() {
        let line = SharedLine::new(SHORT, finish);
        thread::scope(|scope| {
            let maker = line.maker();
            let making =
                scope.spawn(move || (0..u64::MAX).take_while(|n| maker.put(*n, 1)).count());
            assert_eq!(line.taker().next().unwrap().0, 0);
            assert!(making.join().unwrap() < 10);
        });
    }

    #[test]
    fn the_taker_does_not_wait_for_a_thread_that_failed() {
        let line = SharedLine::new(LONG, |number: u64| match number {
            3 => panic!("on purpose"),
            number => number,
        });
        let maker = line.maker();
        assert!((0..5).all(|number| maker.put(number, 1)));
        let failed = thread::scope(|scope| scope.spawn(move || drop(maker)).join().is_err());
        assert!(failed);
        assert_eq!(line.taker().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
