//! Thieves that look at one queue after the other, in order of time.
//!
//! Every check takes the same time, so the checks under way are already in order: a thief whose check
//! found nothing goes from the front of the line to its back. Most checks find nothing; [`WalkLane::skip`]
//! passes over those in a tight loop and stops at the first that needs a decision.
//!
//! ```text
//!   order:   a fixed permutation of the pools, written twice, so that no walk wraps
//!   at:      place in `order` of the queue that the current check looks at
//!   left:    places up to the next at which something else happens: the thief's own pool, the walk's end
//!
//!   line:    |  done  | head: next to end … tail: last to end |  room  |
//!            when the room is used up, what is live moves to the front
//! ```

use super::keys::Keys;
use super::tree::NEVER;

/// A check under way: when it ends and whose it is, as in the winner tree; and, in one word, the worker,
/// the place that it looks at, and the places left.
///
/// ```text
///   rest: left 32 | at 16 | worker 16
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub(super) key: u64,
    rest: u64,
}

/// Taken from `rest`, this moves a check on by one place.
const ONE_PLACE: u64 = (1 << 32) - (1 << 16);

impl Check {
    pub(super) fn new(key: u64, worker: u16, at: u16, left: u16) -> Check {
        Check { key, rest: u64::from(worker) | u64::from(at) << 16 | u64::from(left) << 32 }
    }

    #[inline(always)]
    pub(super) fn worker(self) -> u16 {
        self.rest as u16
    }

    #[inline(always)]
    pub(super) fn at(self) -> u16 {
        (self.rest >> 16) as u16
    }
}

/// Tables have an entry for every `u16`, so that looking something up needs no check of bounds.
const TABLE: usize = 1 << 16;

/// What a check sees, kept up to date by the engine. Tables are longer than needed; see [`TABLE`].
pub(super) struct Looks {
    /// By place in the doubled order: does this pool have tasks to steal?
    pub(super) stealable: Box<[bool; TABLE]>,
    /// By worker: does it have something better to do than to go on (own tasks, a flag)? The entry after
    /// the last worker's is always set: it marks checks that have been taken out of the line.
    pub(super) attention: Box<[u8; TABLE]>,
    /// By place: how many places on the next held pool is.
    pub(super) step: Box<[u16; TABLE]>,
    /// By place: is its pool held?
    pub(super) held: Box<[bool; TABLE]>,
    /// Are all pools held? Then every step is 1.
    pub(super) all_held: bool,
}

fn table<T: Copy + std::fmt::Debug>(fill: T) -> Box<[T; TABLE]> {
    vec![fill; TABLE].into_boxed_slice().try_into().expect("it has that length")
}

impl Looks {
    /// Nothing to see, for so many workers.
    pub(super) fn new(workers: usize) -> Looks {
        let mut attention = table(0);
        attention[workers] = u8::MAX;
        Looks { stealable: table(false), attention, step: table(0), held: table(false), all_held: false }
    }

    /// The next place after `at` with a held pool; beyond all places if there is none.
    #[inline]
    pub(super) fn next(&self, at: u16) -> u16 {
        at.saturating_add(self.step[at as usize])
    }
}

pub(super) struct WalkLane {
    line: Box<[Check]>,
    head: usize,
    tail: usize,
    /// Time of one check, shifted as in keys.
    check_key: u64,
    /// Index of the entry of `attention` that is always set.
    nobody: u16,
}

impl WalkLane {
    pub(super) fn new(workers: usize, check_key: u64) -> WalkLane {
        // Half of the line is room at least, holes left by checks that were taken out included.
        let line = vec![Check::new(0, 0, 0, 0); (8 * workers).max(64)].into_boxed_slice();
        let nobody = u16::try_from(workers).expect("at most 4096 workers");
        WalkLane { line, head: 0, tail: 0, check_key, nobody }
    }

    /// Puts a check at the back; of those that end at the same time, before workers with higher ids.
    #[inline(always)]
    pub(super) fn push(&mut self, check: Check) {
        if self.tail == self.line.len() {
            self.make_room();
        }
        let mut at = self.tail;
        while at > self.head && self.line[at - 1].key > check.key {
            self.line[at] = self.line[at - 1];
            at -= 1;
        }
        self.line[at] = check;
        self.tail += 1;
    }

    /// The key of the check that ends first; [`NEVER`] if there is none.
    pub(super) fn first_key(&self) -> u64 {
        let mut live = self.line[self.head..self.tail].iter();
        live.find(|check| check.worker() != self.nobody).map_or(NEVER, |check| check.key)
    }

    /// Passes over all checks that end before `horizon` and find nothing; returns the first that needs a
    /// decision, taken out of the line.
    #[inline(always)]
    pub(super) fn skip(&mut self, horizon: u64, looks: &Looks) -> Option<Check> {
        if self.head == self.tail || self.line[self.head].key >= horizon {
            return None;
        }
        if looks.all_held {
            self.skip_by::<true>(horizon, looks)
        } else {
            self.skip_by::<false>(horizon, looks)
        }
    }

    // A function of its own: within the event loop, the compiler would keep half of this in memory.
    #[inline(never)]
    fn skip_by<const ALL_HELD: bool>(&mut self, horizon: u64, looks: &Looks) -> Option<Check> {
        loop {
            if self.tail == self.line.len() {
                self.make_room();
            }
            let (check, head, tail) = self.pass::<ALL_HELD>(horizon, looks);
            (self.head, self.tail) = (head, tail);
            match check {
                // Out of room, not at the horizon yet.
                None if head != tail && tail == self.line.len() && self.line[head].key < horizon => {}
                Some(check) if check.worker() == self.nobody => {}
                found => return found,
            }
        }
    }

    /// Passes over checks until one needs a decision, the horizon or the end of the room.
    #[inline(always)]
    fn pass<const ALL_HELD: bool>(&mut self, horizon: u64, looks: &Looks) -> (Option<Check>, usize, usize) {
        let (stealable, attention, steps) = (&*looks.stealable, &*looks.attention, &*looks.step);
        let check_key = self.check_key;
        let line = &mut self.line[..];
        let (mut head, mut tail) = (self.head, self.tail);
        assert!(head <= tail && tail <= line.len());
        while head != tail && tail != line.len() {
            // SAFETY: `head < tail < line.len()`: it was asserted that they start in this order, `head`
            // goes up by one and stops at `tail`, which goes up by one and stops at the length.
            let check = unsafe { *line.get_unchecked(head) };
            if check.key >= horizon {
                break;
            }
            head += 1;
            let step = if ALL_HELD { 1 } else { u64::from(steps[check.at() as usize]) };
            let found = u8::from(stealable[check.at() as usize]) | attention[check.worker() as usize];
            if found != 0 || check.rest >> 32 <= step {
                return (Some(check), head, tail);
            }
            let on = Check { key: check.key + check_key, rest: check.rest - step * ONE_PLACE };
            // SAFETY: as above.
            unsafe { *line.get_unchecked_mut(tail) = on };
            tail += 1;
        }
        (None, head, tail)
    }

    /// Takes the check of `worker` out of the line.
    pub(super) fn remove(&mut self, worker: u16) -> Option<Check> {
        let live = &mut self.line[self.head..self.tail];
        let check = live.iter_mut().find(|check| check.worker() == worker)?;
        let found = *check;
        *check = Check::new(found.key, self.nobody, found.at(), 0);
        Some(found)
    }

    /// Moves what is live to the front, without holes.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let mut tail = 0;
        for at in self.head..self.tail {
            if self.line[at].worker() != self.nobody {
                self.line[tail] = self.line[at];
                tail += 1;
            }
        }
        (self.head, self.tail) = (0, tail);
        assert!(2 * tail <= self.line.len(), "more checks under way than workers");
    }

    /// When the first check ends.
    pub(super) fn first_ps(&self, keys: Keys) -> Option<u64> {
        Some(self.first_key()).filter(|&key| key != NEVER).map(|key| keys.time_ps(key))
    }

    /// The base of keys has moved.
    pub(super) fn rebase(&mut self, before: Keys, now: Keys) {
        for check in &mut self.line[self.head..self.tail] {
            check.key = now.of(before.worker(check.key), before.time_ps(check.key));
        }
    }
}
