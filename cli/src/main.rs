//! The `runtape` binary.
fn main() {}
