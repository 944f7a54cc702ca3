//! Discrete-event simulation of scheduling policies.
pub mod engine;
