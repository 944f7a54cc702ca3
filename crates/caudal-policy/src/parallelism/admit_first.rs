//! Admit-first: requests are admitted before others are helped.
//!
//! ## What it does
//! A worker without tasks of its own admits the request that has waited longest, and tries random victims only while none
//! waits. It checks the queue again before each attempt.
//! ## When it helps
//! Requests of very different work, and short targets: nobody waits for a core while another request has several.
//! ## When it hurts
//! Under load, each request gets one core: what could be done in parallel is not.
//! ## Parameters
//! None.
//! ## Source
//! Li et al., PPoPP 2016, section 3; steal-first with lines 24 and 26 of Figure 5 exchanged.
//! ## Example
//! `parallelism = { policy = "admit-first" }`

use super::{Parallelism, Search, Surroundings};

/// The policy's decisions; what they are is in the [module](self). The simulator's engine for requests that fork asks when a request arrives, and
/// when a worker has come to the end of its own tasks. It only answers; the engine moves the tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmitFirst;

impl Parallelism for AdmitFirst {
    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        match surroundings {
            Surroundings { queued: true, .. } => Search::Queue,
            Surroundings { stealable: true, .. } => Search::Victim,
            _ => Search::Wait,
        }
    }
}
