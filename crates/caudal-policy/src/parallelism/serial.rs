//! Serial: a request is one task.
//!
//! ## What it does
//! A worker admits the request that has waited longest and does all of it: nothing is ever stolen.
//! ## When it helps
//! Where requests are so short that a fork costs as much as what is forked, and where there are always more requests than
//! cores.
//! ## When it hurts
//! Long requests take as long as they are, even where all other cores idle.
//! ## Parameters
//! None.
//! ## Source
//! The single queue that all of Li et al., PPoPP 2016 is measured against in spirit; Kiefer and Wolfowitz 1955.
//! ## Example
//! `parallelism = { policy = "serial" }`

use super::{Parallelism, Search, Surroundings};
use crate::Picos;

/// The policy's decisions; what they are is in the [module](self). The simulator's engine for requests that fork asks when a request arrives, and
/// when a worker has come to the end of its own tasks. It only answers; the engine moves the tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallelism for Serial {
    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        if surroundings.queued { Search::Queue } else { Search::Wait }
    }

    #[inline]
    fn is_large_when_admitted(&self, _active: u32, _class: u8, _work: Picos) -> bool {
        true
    }
}
