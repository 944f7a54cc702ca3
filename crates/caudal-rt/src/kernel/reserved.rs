//! Cores that the runtimes of this process have, so that a second runtime takes others. A runtime reserves its cores when it starts, and
//! gives them back when it has stopped; the list is the process's, under a lock.
//!
//! A worker spins for as long as anybody of its runtime is busy. Two workers on one core take it from each other for a time slice
//! of the operating system, which is a thousand quanta long.

use std::sync::{Mutex, PoisonError};

use crate::kernel::error::StartError;

/// The cores of each runtime, by the number of its reservation.
static RESERVED: Mutex<Vec<(u64, Vec<usize>)>> = Mutex::new(Vec::new());

/// The cores of a runtime are its own while this lives.
#[derive(Debug)]
pub(crate) struct Reservation(u64);

impl Reservation {
    /// Reserves the cores that `choose` returns; it is given the cores of other runtimes.
    pub(crate) fn make(
        choose: impl FnOnce(&[usize]) -> Result<Vec<usize>, StartError>,
    ) -> Result<(Reservation, Vec<usize>), StartError> {
        let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: Vec<usize> = reserved.iter().flat_map(|(_, cores)| cores.iter().copied()).collect();
        let cores = choose(&taken)?;
        let number = reserved.last().map_or(0, |(last, _)| last + 1);
        reserved.push((number, cores.clone()));
        Ok((Reservation(number), cores))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        RESERVED.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != self.0);
    }
}
