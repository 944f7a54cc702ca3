//! Compilers that put probes in, called as users call them.

mod builds;
mod common;
mod errors;
mod habits;
mod links;
mod matrix;
mod symbols;
mod ways;
