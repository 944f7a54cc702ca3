//! Steal-first: requests that run are helped before others are admitted.
//!
//! ## What it does
//! A worker without tasks of its own tries random victims as long as there is anything to steal, and admits a request
//! from the queue only when there is not: requests are done one after the other, each by as many workers as it can use.
//! ## When it helps
//! Requests of similar work: like first come first served on one very fast core.
//! ## When it hurts
//! A large request takes all cores, and all the small ones behind it wait.
//! ## Parameters
//! None. An attempt to steal takes `costs.steal_check`, a steal `costs.steal` more, a fork `costs.fork`.
//! ## Source
//! Li et al., PPoPP 2016, section 3 and Figure 5.
//! ## Example
//! `parallelism = { policy = "steal-first" }`

use super::{Parallelism, Search, Surroundings};

/// The policy's decisions; what they are is in the [module](self). The simulator's engine for requests that fork asks when a request arrives, and
/// when a worker has come to the end of its own tasks. It only answers; the engine moves the tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct StealFirst;

impl Parallelism for StealFirst {
    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        match surroundings {
            Surroundings { stealable: true, .. } => Search::Victim,
            Surroundings { queued: true, .. } => Search::Queue,
            _ => Search::Wait,
        }
    }
}
