//! What a user of the crate sees: files that are read, refused, written and swept.

mod bad_input;
mod coherence;
mod round_trip;
mod sweeps;
