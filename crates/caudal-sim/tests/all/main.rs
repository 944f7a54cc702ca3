//! The simulator as its users see it, beside plain models of it.
//!
//! Tests that simulate are here and not in the library's unit tests: those would have the engine compiled a second time.

mod authors_simulator;
mod common;
mod contexts;
mod engine_against_oracle;
mod forks;
mod forks_model;
mod forks_shared;
mod grid;
mod in_order;
mod oracle;
mod properties;
mod rows;
mod short_cuts;
mod sita;
mod sita_model;
mod steady;
mod stopping;
mod theory;
