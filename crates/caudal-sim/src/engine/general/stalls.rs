//! The stalls of the general loop, in which the machine takes a core away: a process of its own for each core, from streams of its own.
//! `host` draws the next stall of a core when the last one ends.
//!
//! Stalls come at times that depend on the seed and the core alone, so that systems which are held against each other lose the
//! same cores at the same times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use caudal_config::Stalls;
use caudal_policy::random::{Draw, hash};

use crate::engine::kernel::streams::{Purpose, stream};

/// The core that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Stalled {
    /// A worker's core.
    Worker(usize),
    /// The core of the dispatcher.
    Dispatcher,
}

/// The next stall of every core.
pub(in crate::engine) struct StallTimes {
    process: Stalls,
    /// Seed of a core's stream, by core; that of the dispatcher is the last.
    seeds: Box<[u64]>,
    /// By core: stalls drawn so far.
    drawn: Box<[u64]>,
    /// (begin, core, length), the next one first.
    next: BinaryHeap<Reverse<(u64, u32, u64)>>,
}

/// Stands for the dispatcher's core in the choice of a stream.
const DISPATCHER: u64 = u64::MAX;

impl StallTimes {
    /// The stalls of `workers` cores and, if there is one, of a dispatcher's.
    pub(in crate::engine) fn new(process: Stalls, seed: u64, workers: usize, dispatcher: bool) -> StallTimes {
        let purpose = stream(seed, Purpose::Stalls);
        // The dispatcher's does not depend on how many cores the machine has.
        let streams = (0..workers as u64).chain([DISPATCHER]);
        let seeds: Box<[u64]> = streams.map(|core| hash(purpose, core)).collect();
        let drawn = vec![0; seeds.len()].into_boxed_slice();
        let mut times = StallTimes { process, seeds, drawn, next: BinaryHeap::new() };
        let cores = workers + usize::from(dispatcher);
        (0..cores).for_each(|core| times.draw(core, 0));
        times
    }

    /// When the next one begins.
    pub(in crate::engine) fn peek_ps(&self) -> Option<u64> {
        self.next.peek().map(|Reverse(first)| first.0)
    }

    /// The stall of [`StallTimes::peek_ps`]: whose, and how long.
    pub(in crate::engine) fn take(&mut self) -> Option<(Stalled, u64)> {
        let Reverse((begin_ps, core, length_ps)) = self.next.pop()?;
        let core = core as usize;
        self.draw(core, begin_ps + length_ps);
        let dispatcher = core + 1 == self.seeds.len();
        Some((if dispatcher { Stalled::Dispatcher } else { Stalled::Worker(core) }, length_ps))
    }

    /// The next stall of `core`, whose last one has ended at `from_ps`.
    fn draw(&mut self, core: usize, from_ps: u64) {
        let mut draw = Draw::new(self.seeds[core], self.drawn[core]);
        self.drawn[core] += 1;
        let gap_ps = (-(1.0 - unit(&mut draw)).ln() * self.process.mean_gap_ps()).round() as u64;
        let length_ps = self.process.length(unit(&mut draw)).0;
        self.next.push(Reverse((from_ps.saturating_add(gap_ps), core as u32, length_ps)));
    }
}

/// Uniform in [0, 1).
fn unit(draw: &mut Draw) -> f64 {
    (draw.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use caudal_config::Rate;
    use caudal_policy::{List, Picos};

    use super::*;

    fn process() -> Stalls {
        let lengths =
            [(0.0, Picos::from_micros(2)), (0.9, Picos::from_micros(20)), (1.0, Picos::from_micros(100))];
        Stalls { rate: Rate::per_second(1200.0).unwrap(), lengths: List::new(&lengths).unwrap() }
    }

    #[test]
    fn stalls_come_as_often_and_last_as_long_as_the_table_says() {
        let (process, workers) = (process(), 3);
        let mut times = StallTimes::new(process, 7, workers, true);
        let (mut counts, mut stalled_ps, mut last_ps) = ([0_u64; 4], 0.0, 0);
        while last_ps < 20_000_000_000_000 {
            last_ps = times.peek_ps().unwrap();
            let (who, length_ps) = times.take().unwrap();
            let core = match who {
                Stalled::Worker(core) => core,
                Stalled::Dispatcher => workers,
            };
            counts[core] += 1;
            stalled_ps += length_ps as f64;
        }
        // 24,000 in 20 s; a standard deviation is 155.
        assert!(counts.iter().all(|count| count.abs_diff(24_000) < 5 * 155), "{counts:?}");
        let share = stalled_ps / 4.0 / last_ps as f64;
        assert!((share / process.share() - 1.0).abs() < 0.02, "{share} instead of {}", process.share());
    }

    #[test]
    fn a_core_has_its_stalls_however_many_cores_there_are() {
        let of_first = |workers| {
            let mut times = StallTimes::new(process(), 7, workers, false);
            let mut found = Vec::new();
            while found.len() < 20 {
                let at_ps = times.peek_ps().unwrap();
                if let Some((Stalled::Worker(0), length_ps)) = times.take() {
                    found.push((at_ps, length_ps));
                }
            }
            found
        };
        assert_eq!(of_first(1), of_first(16));
    }
}
