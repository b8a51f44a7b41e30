//! Sessions written by hand.
