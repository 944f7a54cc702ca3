//! The dispatcher's log: what it saw of the workers, and where it placed each request. The dispatcher writes it as it places requests, if
//! decisions are logged.

use caudal_log::Entry;

use super::view::WorkersView;
use crate::board::log::Writer;

/// Writes the dispatcher's log: counts of workers where they have changed since the last placement, then the placement.
pub(crate) struct DispatchLog {
    writer: Writer,
    /// By worker: unfinished requests and quanta, as the log has them.
    known: Box<[Option<(u32, u64)>]>,
    /// The request that was held last.
    held: Option<u64>,
}

impl DispatchLog {
    pub(crate) fn new(writer: Writer, workers: usize) -> DispatchLog {
        DispatchLog { writer, known: vec![None; workers].into(), held: None }
    }

    /// Request `number` goes to `pool`, or is held, because of what the policy sees in `view`.
    #[cold]
    pub(crate) fn decided(&mut self, view: &WorkersView, number: u64, pool: Option<u32>) {
        for (worker, known) in self.known.iter_mut().enumerate() {
            let seen = view.counts(worker);
            if *known != Some(seen) {
                *known = Some(seen);
                let (unfinished, quanta) = seen;
                self.writer.push(Entry::Seen { worker: worker as u32, unfinished, quanta });
            }
        }
        match pool {
            Some(pool) => self.writer.push(Entry::Placed { number, pool }),
            // The dispatcher asks again and again.
            None if self.held == Some(number) && self.writer.pending() == 0 => return,
            None => self.writer.push(Entry::Held { number }),
        }
        self.held = pool.is_none().then_some(number);
        self.writer.publish();
    }
}
