//! The time that requests wait behind long ones, for the short cut of one central queue, which has no events to count it at. [`super`]
//! calls it for each batch of requests that has started.

use std::ops::Range;

use super::Ring;

/// How many cores run long requests, integrated over time: *behind*, by the starts of requests.
///
/// From one start to the next, the integral is a straight line. It is right while a request waits, because then no core idles, and
/// each completion is followed by a start. At other times a core counts by its last request, and the integral is not read. It may
/// wrap: only differences count, and no request waits that long.
#[derive(Default)]
pub(super) struct Behind {
    /// At the last start, and when that was.
    behind_ps: u64,
    last_ps: u64,
    /// Cores whose last request is a long one.
    long: u64,
    /// A start that is not after the last arrival.
    before: usize,
    /// Time that requests waited, in ps, by class, times the cores.
    sums_ps: Vec<u128>,
}

impl Behind {
    pub(super) fn new(classes: usize) -> Behind {
        Behind { sums_ps: vec![0; classes], ..Behind::default() }
    }

    /// Requests before this one are not read any more.
    pub(super) fn before(&self) -> usize {
        self.before
    }

    /// Counts requests that have started; `change` is what each makes of the number of long ones. Their places in
    /// the ring are next to each other.
    pub(super) fn count(&mut self, ring: &mut Ring, requests: Range<usize>, change: &[i8]) {
        let at = requests.start & ring.mask();
        let places = at..at + requests.len();
        let starts_ps = &ring.start_ps[places.clone()];
        let out = ring.behind_ps[places.clone()].iter_mut().zip(&mut ring.long[places]);
        for ((&start_ps, &change), (behind_ps, long)) in starts_ps.iter().zip(change).zip(out) {
            self.behind_ps = self.behind_ps.wrapping_add(self.long.wrapping_mul(start_ps - self.last_ps));
            self.long = self.long.wrapping_add_signed(i64::from(change));
            self.last_ps = start_ps;
            (*behind_ps, *long) = (self.behind_ps, self.long);
        }
        let mut sums_ps = std::mem::take(&mut self.sums_ps);
        if let [sum_ps] = &mut sums_ps[..] {
            // Local: what is behind a reference would be in memory at every step.
            let mut local_ps = 0;
            self.each_wait(ring, requests, |_, waited_ps| local_ps += u128::from(waited_ps));
            *sum_ps += local_ps;
        } else {
            self.each_wait(ring, requests, |at, waited_ps| {
                sums_ps[ring.demand[at].class as usize] += u128::from(waited_ps);
            });
        }
        self.sums_ps = sums_ps;
    }

    /// Hands over the place of each request that waited, and what it waited behind long ones, times the cores.
    #[inline(always)]
    fn each_wait(&mut self, ring: &Ring, requests: Range<usize>, mut take: impl FnMut(usize, u64)) {
        let mask = ring.mask();
        // Slices of one length: the compiler then sees that `i & mask` lies in all of them.
        let (arrivals_ps, starts_ps) = (&ring.arrival_ps[..=mask], &ring.start_ps[..=mask]);
        let (behinds_ps, longs) = (&ring.behind_ps[..=mask], &ring.long[..=mask]);
        let mut before = self.before;
        for number in requests {
            let at = number & mask;
            let arrival_ps = arrivals_ps[at];
            if starts_ps[at] == arrival_ps {
                before = number;
                continue;
            }
            while starts_ps[(before + 1) & mask] < arrival_ps {
                before += 1;
            }
            let since_ps = arrival_ps - starts_ps[before & mask];
            let behind_ps =
                behinds_ps[before & mask].wrapping_add(longs[before & mask].wrapping_mul(since_ps));
            take(at, behinds_ps[at].wrapping_sub(behind_ps));
        }
        self.before = before;
    }

    /// Time that requests have waited, in ps, until `now_ps`, the arrival of request `next`, by class, times the cores.
    pub(super) fn until(&self, ring: &Ring, next: usize, now_ps: u64) -> Vec<u128> {
        let mask = ring.mask();
        let mut sums_ps = self.sums_ps.clone();
        // From the last one on, those that wait; then one that runs.
        let mut later_ps = Vec::new();
        let mut number = next;
        while number > 0 && ring.start_ps[(number - 1) & mask] > now_ps {
            number -= 1;
            later_ps.push(number & mask);
        }
        let Some(last) = number.checked_sub(1).map(|last| last & mask).filter(|_| !later_ps.is_empty())
        else {
            return sums_ps;
        };
        let since_ps = now_ps - ring.start_ps[last];
        let behind_ps = ring.behind_ps[last].wrapping_add(ring.long[last].wrapping_mul(since_ps));
        for at in later_ps {
            let later_ps = ring.behind_ps[at].wrapping_sub(behind_ps);
            sums_ps[ring.demand[at].class as usize] -= u128::from(later_ps);
        }
        sums_ps
    }
}
