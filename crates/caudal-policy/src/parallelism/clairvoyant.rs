//! Clairvoyant tail-control: as tail-control, but it knows from the start which requests are large.
//!
//! ## What it does
//! As steal-first. A request with more work than the threshold of the number of active requests is marked when it is
//! admitted: one worker does all of it. The table is another one, because nothing of a large request is done in parallel.
//! ## When it helps
//! As a bound of what tail-control can do: nobody knows the work of a request beforehand. It is ahead where targets are
//! short, because requests of medium work are given up before they have taken all cores.
//! ## When it hurts
//! It can not be deployed.
//! ## Parameters
//! `target` or `thresholds`, `classes` and `scale`, as those of tail-control.
//! ## Source
//! Li et al., PPoPP 2016, section 5.6: TC-Clairvoyant.
//! ## Example
//! `parallelism = { policy = "clairvoyant", target = "25ms" }`

use super::{ClassTables, Parallelism, Search, StealFirst, Surroundings};
use crate::Picos;

/// The policy's decisions; what they are is in the [module](self). The simulator's engine for requests that fork asks when a request arrives, and
/// when a worker has come to the end of its own tasks. It only answers; the engine moves the tasks.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    tables: ClassTables,
}

impl Clairvoyant {
    /// The policy with `tables`, which are those for [`super::thresholds::Knowledge::Clairvoyant`].
    pub fn new(tables: ClassTables) -> Clairvoyant {
        Clairvoyant { tables }
    }
}

impl Parallelism for Clairvoyant {
    #[inline]
    fn next(&self, surroundings: Surroundings) -> Search {
        StealFirst.next(surroundings)
    }

    #[inline]
    fn is_large_when_admitted(&self, active: u32, class: u8, work: Picos) -> bool {
        work > self.tables.at(class, active)
    }

    fn set_tables(&mut self, tables: ClassTables) {
        self.tables = tables;
    }
}
