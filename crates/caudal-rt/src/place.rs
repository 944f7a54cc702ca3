//! Where a submission puts its request: to the dispatcher, or straight into the inbox of a worker.
//!
//! Without a dispatcher each submitting thread draws for itself, as receive-side scaling does for each flow: nothing is shared
//! between submitters.

use std::cell::Cell;

use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::random::{Draw, hash};

use crate::shared::{Request, Shared};

thread_local! {
    /// How many requests this thread has placed, and a number that no other thread has.
    static PLACED: Cell<u64> = const { Cell::new(0) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

fn thread_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static THREADS: AtomicU64 = AtomicU64::new(1);
    THREAD.with(|number| {
        if number.get() == 0 {
            number.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

impl Shared {
    /// Hands in a new request; `false` if there is no room where it would go.
    #[inline]
    pub(crate) fn push_new(&self, cell: Request, arrival: u64) -> bool {
        if let Some(entry) = &self.entry {
            return entry.push(cell, arrival).is_ok();
        }
        let worker = self.choose();
        // SAFETY: nobody else has seen the cell.
        cell.place_unshared(worker as u16);
        self.workers[worker].inbox.push(cell, arrival).is_ok()
    }

    fn choose(&self) -> usize {
        let workers = self.workers.len();
        let count = PLACED.with(|placed| placed.replace(placed.get() + 1));
        match self.settings.system.dispatch {
            DispatchConfig::RoundRobin => ((count + thread_number()) % workers as u64) as usize,
            _ => {
                let mut draw = Draw::new(hash(self.settings.seed, 5 + (thread_number() << 8)), count);
                draw.below(workers as u32) as usize
            }
        }
    }
}
