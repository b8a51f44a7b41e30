//! Whole outputs, from bytes to the summary.

mod acp;
mod chat;
mod library;
mod quiet;
