//! The requests that were sent and wait for their answers: found by number, and given up in the order in which they were due.
//! A run's generator owns one, on its thread: it begins a request when it sends it, ends it when its answer comes, and gives up old ones once
//! in each turn of its loop.
//!
//! ```text
//!  free     [7, 2, 9, …]            numbers, that which has been free for longest first
//!  slots    0   1   2   3   4 …     a list from the request that was due first to the one that was due last
//!           └───┘   ╳   └───┘       links both ways: an answer takes its slot out of the middle
//! ```
//!
//! A number that has become free is used again as late as possible, so that an answer that comes after its time-out, or twice, seldom
//! meets another request of the same number.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Intended send time, in ns after the run's start.
    pub(crate) at_ns: u64,
    /// Class in the results.
    pub(crate) class: u8,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    waiting: Option<Waiting>,
    before: u32,
    behind: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Flight {
    slots: Vec<Slot>,
    free: VecDeque<u32>,
    oldest: u32,
    newest: u32,
}

impl Flight {
    /// Room for `capacity` requests at a time.
    pub(crate) fn new(capacity: u32) -> Flight {
        let slot = Slot { waiting: None, before: NONE, behind: NONE };
        Flight {
            slots: vec![slot; capacity as usize],
            free: (0..capacity).collect(),
            oldest: NONE,
            newest: NONE,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.oldest == NONE
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The number of a request that is sent now; none if as many wait as there is room for.
    #[inline]
    pub(crate) fn begin(&mut self, waiting: Waiting) -> Option<u32> {
        let id = self.free.pop_front()?;
        self.slots[id as usize] = Slot { waiting: Some(waiting), before: self.newest, behind: NONE };
        match self.newest {
            NONE => self.oldest = id,
            newest => self.slots[newest as usize].behind = id,
        }
        self.newest = id;
        Some(id)
    }

    /// The request of this number, which waits no longer; none if none waits.
    #[inline]
    pub(crate) fn end(&mut self, id: u32) -> Option<Waiting> {
        let slot = self.slots.get_mut(id as usize)?;
        let waiting = slot.waiting.take()?;
        let (before, behind) = (slot.before, slot.behind);
        match before {
            NONE => self.oldest = behind,
            before => self.slots[before as usize].behind = behind,
        }
        match behind {
            NONE => self.newest = before,
            behind => self.slots[behind as usize].before = before,
        }
        self.free.push_back(id);
        Some(waiting)
    }

    /// The oldest request, if it was due at `until_ns` or before; it waits no longer.
    #[inline]
    pub(crate) fn give_up(&mut self, until_ns: u64) -> Option<(u32, Waiting)> {
        let id = self.oldest;
        let due_ns = self.slots.get(id as usize)?.waiting?.at_ns;
        if due_ns > until_ns {
            return None;
        }
        Some((id, self.end(id)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(at_ns: u64) -> Waiting {
        Waiting { at_ns, class: 0 }
    }

    #[test]
    fn answers_in_any_order_and_time_outs_in_theirs() {
        let mut flight = Flight::new(4);
        let ids: Vec<u32> = (0..4).map(|at| flight.begin(waiting(at)).unwrap()).collect();
        assert_eq!((flight.begin(waiting(9)), flight.len()), (None, 4));
        assert_eq!(flight.end(ids[2]), Some(waiting(2)));
        assert_eq!((flight.end(ids[2]), flight.end(77)), (None, None));
        assert_eq!(flight.end(ids[0]), Some(waiting(0)));
        assert_eq!(flight.give_up(0), None);
        assert_eq!(flight.give_up(5), Some((ids[1], waiting(1))));
        assert_eq!(flight.give_up(5), Some((ids[3], waiting(3))));
        assert!(flight.give_up(5).is_none() && flight.is_empty());
        // The number that has been free for longest is the next.
        assert_eq!(flight.begin(waiting(6)), Some(ids[2]));
    }
}
