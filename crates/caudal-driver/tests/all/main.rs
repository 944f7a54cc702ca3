//! Compilers that put probes in, called as users call them.

mod builds;
mod common;
mod errors;
mod habits;
mod hidden_options;
mod links;
mod matrix;
mod symbols;
