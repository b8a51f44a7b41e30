//! Tests of the published schemas as their readers see them.
// `cfg(test)` tells clippy that helpers, too, are tests.

#[cfg(test)]
mod committed;
#[cfg(test)]
mod consumers;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod perstack;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod verdicts;
