//! The streams of randomness of a run, one for each purpose, so that no decision shifts the draws of another. Loops make their streams
//! once, at the start of a run. Pure.

use caudal_policy::random::hash;

/// Streams of randomness that policies draw from; arrivals and services have others.
#[derive(Clone, Copy)]
pub(in crate::engine) enum Purpose {
    Dispatch = 1,
    Walk = 2,
    Flag = 3,
    Order = 4,
    Thief = 5,
    Graph = 6,
    Stalls = 7,
}

/// Seed of the stream of `purpose` under `seed`.
pub(in crate::engine) fn stream(seed: u64, purpose: Purpose) -> u64 {
    hash(seed, purpose as u64)
}
