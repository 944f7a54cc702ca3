//! The simulator as its users see it, beside plain models of it. One binary for all of it: each that is linked for itself takes seconds,
//! and the engine's own code is compiled once, without the library's unit tests.

mod authors_simulator;
mod common;
mod contexts;
mod engine_against_oracle;
mod forks;
mod forks_model;
mod oracle;
mod properties;
mod rows;
mod sita;
mod sita_model;
mod steady;
mod theory;
