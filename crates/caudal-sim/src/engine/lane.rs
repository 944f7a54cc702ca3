//! Thieves that look at one queue after the other, in a ring.
//!
//! Every check takes the same time, so the checks under way are already in order: a thief whose check
//! found nothing goes from the front of the ring to its back. Most checks find nothing; [`WalkLane::skip`]
//! passes over those in a tight loop and stops at the first that needs a decision.
//!
//! ```text
//!   order:  a fixed permutation of the pools, written twice, so that no walk wraps
//!   at:     place in `order` of the queue that the current check looks at
//!   bound:  first place at which something else happens: the end of the walk, or the thief's own pool
//! ```

/// A check under way: when it ends and whose it is, as in the winner tree; and, in one word, the worker,
/// the place that it looks at, and the bound.
///
/// ```text
///   rest: 0 | bound 16 | at 16 | worker 16
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub(super) key: u64,
    rest: u64,
}

impl Check {
    pub(super) fn new(key: u64, worker: u16, at: u16, bound: u16) -> Check {
        Check { key, rest: u64::from(worker) | u64::from(at) << 16 | u64::from(bound) << 32 }
    }

    #[inline]
    pub(super) fn worker(self) -> u16 {
        self.rest as u16
    }

    #[inline]
    pub(super) fn at(self) -> u16 {
        (self.rest >> 16) as u16
    }

    #[inline]
    fn bound(self) -> u16 {
        (self.rest >> 32) as u16
    }

    /// The next check of the same walk.
    #[inline(always)]
    fn moved_on(self, check_key: u64, at: u16) -> Check {
        Check { key: self.key + check_key, rest: self.rest & !(0xFFFF << 16) | u64::from(at) << 16 }
    }
}

/// Places and workers are below this, so that tables of this size need no check of bounds.
const TABLE: usize = 8192;

/// What a check sees, kept up to date by the engine. Tables are longer than needed; see [`TABLE`].
pub(super) struct Looks {
    /// By place in the doubled order: does this pool have tasks to steal?
    pub(super) stealable: Box<[bool; TABLE]>,
    /// By worker: does it have something better to do than to go on (own tasks, a flag)? The entry after
    /// the last worker's is always set: it marks checks that have been taken out of the ring.
    pub(super) attention: Box<[u8; TABLE]>,
    /// By place: the next place with a held pool.
    pub(super) next: Box<[u16; TABLE]>,
    /// By place: is its pool held?
    pub(super) held: Box<[bool; TABLE]>,
}

impl Looks {
    /// Nothing to see, for so many workers.
    pub(super) fn new(workers: usize) -> Looks {
        let mut attention = Box::new([0; TABLE]);
        attention[workers] = u8::MAX;
        Looks {
            stealable: Box::new([false; TABLE]),
            attention,
            next: Box::new([u16::MAX; TABLE]),
            held: Box::new([false; TABLE]),
        }
    }

    /// Does this check find nothing, and the walk just go on?
    #[inline(always)]
    fn goes_on(&self, check: Check, next: u16) -> bool {
        let some = self.stealable[check.at() as usize % TABLE];
        let attention = self.attention[check.worker() as usize % TABLE];
        !some & (attention == 0) & (next < check.bound())
    }
}

pub(super) struct WalkLane {
    ring: Box<[Check]>,
    mask: u32,
    head: u32,
    tail: u32,
    /// Time of one check, shifted as in keys.
    check_key: u64,
    /// Index of the entry of `attention` that is always set.
    nobody: u16,
}

impl WalkLane {
    pub(super) fn new(workers: usize, check_key: u64) -> WalkLane {
        // Checks that were taken out stay as holes until they come to the front, so leave room for them.
        let capacity = (2 * workers).next_power_of_two().max(64);
        let empty = Check::new(0, 0, 0, 0);
        WalkLane {
            ring: vec![empty; capacity].into_boxed_slice(),
            mask: capacity as u32 - 1,
            head: 0,
            tail: 0,
            check_key,
            nobody: u16::try_from(workers).expect("at most 4096 workers"),
        }
    }

    /// Puts a check at the back; its end must not be before that of any other in the ring.
    #[inline(always)]
    pub(super) fn push(&mut self, check: Check) {
        if self.tail.wrapping_sub(self.head) > self.mask {
            self.drop_holes();
        }
        self.ring[(self.tail & self.mask) as usize] = check;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Passes over all checks that end before `horizon` and find nothing; returns the first that needs a
    /// decision, taken out of the ring.
    #[inline(always)]
    pub(super) fn skip(&mut self, horizon: u64, looks: &Looks) -> Option<Check> {
        let (ring, mask) = (&mut self.ring[..], self.mask);
        let (mut head, mut tail) = (self.head, self.tail);
        let mut found = None;
        while head != tail {
            let check = ring[(head & mask) as usize];
            if check.key >= horizon {
                break;
            }
            head = head.wrapping_add(1);
            let next = looks.next[check.at() as usize % TABLE];
            if looks.goes_on(check, next) {
                ring[(tail & mask) as usize] = check.moved_on(self.check_key, next);
                tail = tail.wrapping_add(1);
            } else if check.worker() != self.nobody {
                found = Some(check);
                break;
            }
        }
        (self.head, self.tail) = (head, tail);
        found
    }

    /// Takes the check of `worker` out of the ring.
    pub(super) fn remove(&mut self, worker: u16) -> Option<Check> {
        let mut at = self.head;
        while at != self.tail {
            let check = &mut self.ring[(at & self.mask) as usize];
            if check.worker() == worker {
                let found = *check;
                *check = Check::new(found.key, self.nobody, found.at(), 0);
                return Some(found);
            }
            at = at.wrapping_add(1);
        }
        None
    }

    /// The checks under way, the one that ends first in front.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Check> {
        let nobody = self.nobody;
        let (first, len) = ((self.head & self.mask) as usize, self.tail.wrapping_sub(self.head) as usize);
        let (back, front) = self.ring.split_at_mut(first);
        front.iter_mut().chain(back).take(len).filter(move |check| check.worker() != nobody)
    }

    fn drop_holes(&mut self) {
        let live: Vec<Check> = self.iter_mut().map(|check| *check).collect();
        self.ring[..live.len()].copy_from_slice(&live);
        (self.head, self.tail) = (0, live.len() as u32);
        assert!(self.tail <= self.mask, "more checks under way than workers");
    }

    /// Moves all keys `by` earlier, as the base moves on.
    pub(super) fn rebase(&mut self, by: u64) {
        for check in self.iter_mut() {
            check.key -= by;
        }
    }
}
