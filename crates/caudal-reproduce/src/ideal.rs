//! The single queue's curve between whole numbers of cores, and below the fewest that carry the load. `compare` and the figures with core
//! allocation hold their points against it. Pure arithmetic.
//!
//! Points whose cores come and go hold 16.8 cores, say, of which a single queue can not be simulated. It costs nothing
//! and its service times are exponential in all figures that ask, so it is M/M/c, and Erlang's formula is one for any
//! real number of servers (Jagerman, *Some properties of the Erlang loss function*, Bell System Technical Journal 53,
//! 1974).

use caudal_stats::Linear;

use super::cell::{Cell, Stat};

/// The direction in which the distance to the single queue's curve is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The latency over the single queue's on as many cores.
    Latency,
    /// The factor by which both the latency and the cores would have to shrink.
    Both,
}

/// The single queue that carries a point's load.
pub(crate) struct Ideal {
    /// Cores that work.
    work: f64,
    /// Mean service time.
    mean_ns: f64,
}

/// Step of the numerical derivative of the curve's logarithm along that of the cores.
const STEP: f64 = 1e-5;

impl Ideal {
    /// The one with the load of this point.
    pub(crate) fn of(point: &Cell) -> Ideal {
        let work = point.load * f64::from(point.cores);
        Ideal { work, mean_ns: work / point.rate_per_s * 1e9 }
    }

    /// The logarithm of how far a point lies from the curve in one direction; negative below it.
    pub(crate) fn log_distance(
        &self,
        point: &Cell,
        stat: Stat,
        direction: Direction,
        replications: usize,
    ) -> Option<Linear> {
        let (own, cores) = (stat.log(point, replications)?, point.cores(replications).ln());
        let p = stat.percentile();
        let curve = |log_cores: f64| self.percentile_ns(log_cores.exp(), p).ln();
        let moved = match direction {
            Direction::Latency => 0.0,
            Direction::Both => {
                let above = |by: f64| own.value() - by > curve(cores.value() - by);
                let (mut low, mut high) = (-3.0, 3.0);
                for _ in 0..50 {
                    let middle = f64::midpoint(low, high);
                    if above(middle) { low = middle } else { high = middle }
                }
                low
            }
        };
        let there = cores.value() - moved;
        let slope = (curve(there + STEP) - curve(there - STEP)) / (2.0 * STEP);
        // The rest is 0 but for the errors where the point was moved onto the curve.
        let rest = own.plus(-1.0, &cores.mapped(curve(there), slope));
        let steepness = if direction == Direction::Both { 1.0 - slope } else { 1.0 };
        let distance = if direction == Direction::Both { moved } else { rest.value() };
        Some(rest.mapped(distance, 1.0 / steepness)).filter(|distance| distance.value().is_finite())
    }

    /// A percentile of the sojourn time on so many cores; infinite where they do not carry the load.
    fn percentile_ns(&self, cores: f64, p: f64) -> f64 {
        if cores <= self.work {
            return f64::INFINITY;
        }
        let waits = waiting(cores, self.work);
        let spare = cores - self.work;
        // In units of the mean service time: the service, and with probability `waits` a wait of mean 1/spare before.
        let tail = |t: f64| {
            let apart = spare - 1.0;
            let convolved = if apart.abs() < 1e-9 { t } else { -(-apart * t).exp_m1() / apart };
            (-t).exp() * (1.0 + waits * convolved)
        };
        let (mut low, mut high) = (0.0, 1.0);
        while tail(high) > 1.0 - p / 100.0 {
            high *= 2.0;
        }
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if tail(middle) > 1.0 - p / 100.0 { low = middle } else { high = middle }
        }
        self.mean_ns * high
    }
}

/// Probability of waiting with so many servers, of which `work` work: Erlang C from Erlang B, whose inverse is
/// work · ∫ e^(−work·t) (1 + t)^servers dt from 0 on.
fn waiting(servers: f64, work: f64) -> f64 {
    const STEPS: u32 = 4_000;
    // The integrand's logarithm has its maximum at servers/work − 1 and falls like e^(−work·t) far beyond.
    let end = (servers / work - 1.0).max(0.0) + 60.0 / work.sqrt().min(work);
    let step = end / f64::from(STEPS);
    let at = |i: u32| {
        let t = step * f64::from(i);
        (servers * t.ln_1p() - work * t).exp()
    };
    // Simpson's rule.
    let inner: f64 = (1..STEPS).map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    let blocked = 1.0 / (work * step / 3.0 * (at(0) + inner + at(STEPS)));
    let share = work / servers;
    blocked / (1.0 - share * (1.0 - blocked))
}

#[cfg(test)]
mod tests {
    use caudal_stats::theory::mmk::MMk;

    use super::super::synthetic::{dynamic, point};
    use super::*;

    fn ideal() -> Ideal {
        Ideal { work: 16.0, mean_ns: 1_000.0 }
    }

    #[test]
    fn whole_numbers_of_cores_are_those_of_the_theory() {
        for cores in [17, 18, 24, 32] {
            let theory = MMk::new(cores, 16.0, 1.0).unwrap();
            for p in [50.0, 99.0, 99.9] {
                let (own, theirs) =
                    (ideal().percentile_ns(f64::from(cores), p), 1e3 * theory.sojourn_percentile(p));
                assert!((own / theirs - 1.0).abs() < 1e-6, "{cores} cores, p{p}: {own}, {theirs}");
            }
        }
    }

    #[test]
    fn fewer_cores_are_slower_without_a_jump_between_whole_numbers() {
        let ns: Vec<f64> =
            (161..=200).map(|tenths| ideal().percentile_ns(f64::from(tenths) / 10.0, 99.9)).collect();
        assert!(ns.windows(2).all(|pair| pair[0] > pair[1]), "{ns:?}");
        let steps: Vec<f64> = ns.windows(2).map(|pair| pair[0] / pair[1]).collect();
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "convex: {steps:?}");
        assert!(ideal().percentile_ns(16.0, 99.9).is_infinite());
    }

    #[test]
    fn both_distances_to_the_curve_are_nothing_on_it_and_positive_above() {
        let distance = |latency_ns: f64, direction| {
            let point = dynamic(point("a", 32, latency_ns, 0.01), "caladan", 18.0, 0.1);
            Ideal::of(&point)
                .log_distance(&point, Stat::Latency(50.0), direction, 16)
                .unwrap()
                .exp_interval(0.95)
        };
        let on = ideal().percentile_ns(18.0, 50.0);
        for direction in [Direction::Latency, Direction::Both] {
            assert!(distance(on, direction).contains(1.0), "{direction:?}: {:?}", distance(on, direction));
            assert!(distance(1.2 * on, direction).low > 1.0 && distance(0.95 * on, direction).high < 1.0);
        }
        assert!((distance(2.0 * on, Direction::Latency).estimate - 2.0).abs() < 0.02);
    }
}
