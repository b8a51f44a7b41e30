//! The store through its public API.

mod append;
mod crash;
mod damage;
mod migrations;
mod queries;
mod retention;
mod synthetic;
mod tamper;
mod views;
mod writers;
