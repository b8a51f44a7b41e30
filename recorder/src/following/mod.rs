//! Runs that go on, seen from elsewhere: what is on the tape of an open run and in no record yet.
//!
//! A step becomes records when it is over. Its output is on the tape long before, and the tape with what the
//! run was begun with gives all there is to know of it. So whoever reads an open run makes a normalizer
//! of their own: nothing is written, and what is sealed later does not depend on who watched.

mod follower;
mod open_step;

pub use follower::{Follower, has_lost_its_recorder, is_recorded};
pub use open_step::{OpenCalls, open_calls, open_step};
