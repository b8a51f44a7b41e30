//! Home of the end-to-end suite; see `suite/`.
