//! Measurements in turns, so that a bad minute of the machine hits all of them, and their summaries. The rows about speed call [`alternate`],
//! which runs on the calling thread; all rows sum up their values as a [`Figure`].

use caudal_stats::Median;
use serde::Serialize;

use crate::case::Case;
use crate::limit;
use crate::machine::{Took, timed};

/// A program of those that alternate.
pub(crate) enum Contender {
    /// The engine.
    Engine(Box<Case>),
    /// The hand-written loop, at this load.
    Limit(f64),
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Requests that were simulated, those outside the statistics included.
    requests: u64,
    quanta_per_request: f64,
    took: Took,
}

/// The clock of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// CPU time of the thread.
    Cpu,
    /// The time on the wall.
    Wall,
}

impl Clock {
    pub(crate) fn of(self, took: Took) -> f64 {
        match self {
            Clock::Cpu => took.cpu_s,
            Clock::Wall => took.wall_s,
        }
    }
}

impl Sample {
    /// Seconds a request.
    pub(crate) fn cost_s(&self, clock: Clock) -> f64 {
        clock.of(self.took) / self.requests as f64
    }

    /// Quanta a second.
    pub(crate) fn quanta_per_s(&self, clock: Clock) -> f64 {
        self.quanta_per_request / self.cost_s(clock)
    }
}

impl Contender {
    pub(crate) fn engine(case: Case) -> Contender {
        Contender::Engine(Box::new(case))
    }

    fn run(&self, requests: u64, seed: u64) -> Sample {
        match self {
            Contender::Engine(case) => {
                let (outcome, took) = timed(|| case.simulate(requests, seed));
                let quanta_per_request = case.quanta_per_request(&outcome).unwrap_or(1.0);
                Sample { requests: case.arrivals_until(outcome.end_ps, seed), quanta_per_request, took }
            }
            Contender::Limit(load) => {
                let service = Case::single_queue(limit::SERVERS as u32, *load).service;
                let warm_up = requests / 10;
                let (found, took) =
                    timed(|| limit::simulate(&service, *load, seed, warm_up, requests - warm_up));
                Sample { requests: found.arrived, quanta_per_request: 1.0, took }
            }
        }
    }
}

/// Runs each contender once in each round, one after the other, all with the seed of the round, so that a slow minute
/// of the machine hits all of them. The result is `[round][contender]`.
pub(crate) fn alternate(contenders: &[Contender], rounds: u32, requests: u64, seed: u64) -> Vec<Vec<Sample>> {
    let round = |round: u32| {
        contenders.iter().map(|contender| contender.run(requests, seed + u64::from(round))).collect()
    };
    (0..rounds).map(round).collect()
}

/// A figure over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The median; the best, in a row that says so.
    pub(crate) value: f64,
    /// Interval of the median, 95 %, from the order of the values alone. Of fewer than six, the least and the
    /// greatest: that is 94 % of five.
    pub(crate) low: f64,
    /// See `low`.
    pub(crate) high: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Figure {
    /// The figure of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Figure {
        let values: Vec<f64> = values.into_iter().collect();
        let median = Median::of(&values).expect("a figure is of at least one number");
        Figure {
            value: median.value,
            low: median.low,
            high: median.high,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Greatest minus least, as a share of the value: how much the machine's noise is worth.
    pub(crate) fn spread(&self) -> f64 {
        (self.max - self.min) / self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_with_their_spread() {
        let three = Figure { value: 2.0, low: 1.0, high: 3.0, min: 1.0, max: 3.0 };
        assert_eq!(Figure::of([3.0, 1.0, 2.0]), three);
        assert_eq!(Figure::of([4.0, 1.0, 2.0, 3.0]).value, 2.5);
        assert_eq!(Figure::of([3.0, 1.0, 2.0]).spread(), 1.0);
        assert_eq!(Figure::of([7.0]).spread(), 0.0);
    }

    #[test]
    fn all_contenders_of_a_round_meet_the_same_requests() {
        let contenders = [Contender::engine(Case::single_queue(16, 0.8)), Contender::Limit(0.8)];
        let rounds = alternate(&contenders, 2, 20_000, 9);
        assert_eq!((rounds.len(), rounds[0].len()), (2, 2));
        for round in rounds {
            let [engine, limit] = [round[0].requests, round[1].requests];
            assert!(engine >= 20_000 && limit.abs_diff(engine) < 600, "{engine} {limit}");
            assert!(round.iter().all(|sample| sample.cost_s(Clock::Cpu) > 0.0));
            assert_eq!(round[0].quanta_per_s(Clock::Wall), 1.0 / round[0].cost_s(Clock::Wall));
        }
    }
}
