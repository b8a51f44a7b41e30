//! Tests of the published schemas as their readers see them.
// `cfg(test)` tells clippy that helpers, too, are tests.

#[cfg(test)]
mod committed;
#[cfg(test)]
mod verdicts;
