//! M/G/1 under policies that look at attained or remaining service: least attained service (LAS, also called
//! foreground–background, FB) and shortest remaining processing time (SRPT), both preemptive and without cost.
//!
//! Source: Schrage 1967 (FB); Schrage & Miller, *The queue M/G/1 with the shortest remaining processing time
//! discipline* (Operations Research 14, 1966); as in Kleinrock II (1976), sec. 4.6, and Harchol-Balter (2013),
//! ch. 31 and 33. With F̄ the service-time tail, E\[min(S, x)\] = ∫₀ˣ F̄ and E\[min(S, x)²\] = 2 ∫₀ˣ y F̄:
//!
//! ```text
//! FB    T(x) = x / (1 − ρ'(x)) + λ E[min(S, x)²] / (2 (1 − ρ'(x))²)        ρ'(x) = λ E[min(S, x)]
//! SRPT  T(x) = ∫₀ˣ dy / (1 − ρ(y)) + λ E[min(S, x)²] / (2 (1 − ρ(x⁻)) (1 − ρ(x)))   ρ(y) = λ E[S; S ≤ y]
//! ```
//!
//! The SRPT form is for any distribution, with equal sizes served in their order: ρ(x⁻) leaves out the requests
//! of exactly size x, as in a priority queue. Without atoms both factors are equal.

use super::{TheoryError, not_negative, positive, stable};

/// Grid cells per doubling of the size: a relative error of about 1e-6 in the means.
const CELLS_PER_OCTAVE: i32 = 256;
/// The grid starts this many doublings below the median.
const OCTAVES_BELOW: i32 = 32;
/// Doublings above the median at which a tail that is not negligible yet is refused.
const OCTAVES_ABOVE: i32 = 100;

/// A service-time distribution, given by its tail, with its moments integrated numerically.
///
/// ```
/// use caudal_stats::theory::size_based::ServiceTail;
/// let exponential = ServiceTail::new(|x: f64| (-x).exp(), &[]).unwrap();
/// // Exponential service has no memory: attained service tells nothing, and LAS has the mean of M/M/1.
/// assert!((exponential.fb_mean_sojourn(0.8).unwrap() - 5.0).abs() < 1e-4);
/// ```
pub struct ServiceTail<F> {
    tail: F,
    /// Increasing sizes from 0; atoms are among them.
    points: Vec<Point>,
}

/// A size and what is integrated up to it.
#[derive(Clone, Copy, Default)]
struct Point {
    size: f64,
    /// E\[min(S, size)\]
    first: f64,
    /// E\[min(S, size)²\]
    second: f64,
    /// P(S ≥ size)
    tail_left: f64,
    /// P(S > size)
    tail: f64,
}

impl Point {
    /// E\[S; S < size\]
    fn work_below(&self) -> f64 {
        (self.first - self.size * self.tail_left).max(0.0)
    }

    /// E\[S; S ≤ size\]
    fn work_up_to(&self) -> f64 {
        (self.first - self.size * self.tail).max(0.0)
    }
}

impl<F: Fn(f64) -> f64> ServiceTail<F> {
    /// `tail(x)` = P(S > x), from 1 down to 0 and continuous from the right; `atoms` are the sizes at which it
    /// jumps (in any order), empty for a continuous distribution. A jump that is not named costs accuracy.
    ///
    /// # Errors
    /// A tail outside 0 ..= 1, an atom that is not above 0, or [`TheoryError::TailTooHeavy`].
    pub fn new(tail: F, atoms: &[f64]) -> Result<Self, TheoryError> {
        for &atom in atoms {
            positive("atom", atom)?;
        }
        for size in [0.0, 1e-3, 1.0, 1e3] {
            let value = tail(size);
            if !(0.0..=1.0).contains(&value) {
                return Err(TheoryError::OutOfRange { name: "tail", value, expected: "within 0 and 1" });
            }
        }
        let sizes = grid(&tail, atoms)?;
        let mut points: Vec<Point> = Vec::with_capacity(sizes.len());
        for size in sizes {
            let last = points.last().copied();
            points.push(last.map_or_else(|| start(&tail), |from| advance(&tail, from, size)));
        }
        Ok(Self { tail, points })
    }

    /// E\[S\].
    pub fn mean(&self) -> f64 {
        self.last().first
    }

    /// E\[S²\].
    pub fn second_moment(&self) -> f64 {
        self.last().second
    }

    /// Mean sojourn time under LAS of a request of size `size`.
    ///
    /// # Errors
    /// A negative rate or size; [`TheoryError::Unstable`] if λ E\[S\] ≥ 1.
    pub fn fb_sojourn_of(&self, arrival_rate: f64, size: f64) -> Result<f64, TheoryError> {
        self.check(arrival_rate)?;
        Ok(fb_at(arrival_rate, &self.at(not_negative("size", size)?)))
    }

    /// Mean sojourn time under LAS over all requests.
    ///
    /// # Errors
    /// As [`Self::fb_sojourn_of`].
    pub fn fb_mean_sojourn(&self, arrival_rate: f64) -> Result<f64, TheoryError> {
        self.check(arrival_rate)?;
        let mut mean = 0.0;
        for pair in self.points.windows(2) {
            let (from, to) = (fb_at(arrival_rate, &pair[0]), fb_at(arrival_rate, &pair[1]));
            mean += f64::midpoint(from, to) * (pair[0].tail - pair[1].tail_left);
            mean += to * (pair[1].tail_left - pair[1].tail);
        }
        Ok(mean)
    }

    /// Mean sojourn time under SRPT of a request of size `size`.
    ///
    /// # Errors
    /// As [`Self::fb_sojourn_of`].
    pub fn srpt_sojourn_of(&self, arrival_rate: f64, size: f64) -> Result<f64, TheoryError> {
        self.check(arrival_rate)?;
        let target = self.at(not_negative("size", size)?);
        let before = self.points.partition_point(|point| point.size < target.size);
        let path = self.points[..before].iter().chain([&target]);
        let residence: f64 =
            path.clone().zip(path.skip(1)).map(|(from, to)| residence(arrival_rate, from, to)).sum();
        let (below, up_to) = (target.work_below(), target.work_up_to());
        Ok(residence + srpt_wait(arrival_rate, &target, below, up_to))
    }

    /// Mean sojourn time under SRPT over all requests: the smallest that any policy reaches.
    ///
    /// # Errors
    /// As [`Self::fb_sojourn_of`].
    pub fn srpt_mean_sojourn(&self, arrival_rate: f64) -> Result<f64, TheoryError> {
        self.check(arrival_rate)?;
        let (mut mean, mut inside) = (0.0, 0.0);
        for pair in self.points.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            // Just above `from`, just below `to`, and at `to` for those of exactly that size.
            let start = inside + srpt_wait(arrival_rate, from, from.work_up_to(), from.work_up_to());
            inside += residence(arrival_rate, from, to);
            let end = inside + srpt_wait(arrival_rate, to, to.work_below(), to.work_below());
            let at = inside + srpt_wait(arrival_rate, to, to.work_below(), to.work_up_to());
            mean += f64::midpoint(start, end) * (from.tail - to.tail_left) + at * (to.tail_left - to.tail);
        }
        Ok(mean)
    }

    fn last(&self) -> &Point {
        self.points.last().expect("a grid has points")
    }

    fn check(&self, arrival_rate: f64) -> Result<f64, TheoryError> {
        stable(not_negative("arrival rate", arrival_rate)? * self.mean())
    }

    /// The integrals up to any size.
    fn at(&self, size: f64) -> Point {
        let next = self.points.partition_point(|point| point.size <= size);
        // The grid starts at 0, so there is a point at or below every size.
        let from = self.points[next - 1];
        if from.size == size { from } else { advance(&self.tail, from, size) }
    }
}

/// The point at size 0.
fn start(tail: &impl Fn(f64) -> f64) -> Point {
    Point { tail_left: 1.0, tail: tail(0.0), ..Point::default() }
}

/// Integrates the tail from a point to `size` by three-point Gauss–Legendre: inner nodes only, so that a jump at
/// the ends does no harm.
fn advance(tail: &impl Fn(f64) -> f64, from: Point, size: f64) -> Point {
    const NODES: [(f64, f64); 3] =
        [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];
    let (middle, half) = (f64::midpoint(from.size, size), (size - from.size) / 2.0);
    let (mut first, mut second) = (from.first, from.second);
    for (node, weight) in NODES {
        let x = middle + half * node;
        let mass = weight * half * tail(x);
        first += mass;
        second += 2.0 * x * mass;
    }
    Point { size, first, second, tail_left: tail(size.next_down()), tail: tail(size) }
}

/// Sizes from 0 to where the tail is negligible, evenly spaced on a log scale around the median, atoms included.
fn grid(tail: &impl Fn(f64) -> f64, atoms: &[f64]) -> Result<Vec<f64>, TheoryError> {
    let mut median = 1.0;
    while tail(median) > 0.5 && median < 1e150 {
        median *= 2.0;
    }
    while tail(median) <= 0.5 && median > 1e-150 {
        median /= 2.0;
    }
    // Up to where what is left out of the second moment no longer counts.
    let negligible = |octave: &i32| {
        let x = median * 2f64.powi(*octave);
        x / median * (x / median) * tail(x) < 1e-13
    };
    let top = (0..OCTAVES_ABOVE).find(negligible).ok_or(TheoryError::TailTooHeavy)?;
    let cells = -OCTAVES_BELOW * CELLS_PER_OCTAVE..=top * CELLS_PER_OCTAVE;
    let mut sizes: Vec<f64> = vec![0.0];
    sizes.extend(cells.map(|cell| median * (f64::from(cell) / f64::from(CELLS_PER_OCTAVE)).exp2()));
    sizes.extend_from_slice(atoms);
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    Ok(sizes)
}

fn fb_at(arrival_rate: f64, point: &Point) -> f64 {
    let free = 1.0 - arrival_rate * point.first;
    point.size / free + arrival_rate * point.second / (2.0 * free * free)
}

/// Time until a request is served for the first time, given the work of those that go before it.
fn srpt_wait(arrival_rate: f64, point: &Point, below: f64, up_to: f64) -> f64 {
    arrival_rate * point.second / (2.0 * (1.0 - arrival_rate * below) * (1.0 - arrival_rate * up_to))
}

/// Time from remaining service `to` down to `from`, with smaller arrivals in between.
fn residence(arrival_rate: f64, from: &Point, to: &Point) -> f64 {
    let slowness = |work: f64| 1.0 / (1.0 - arrival_rate * work);
    (to.size - from.size) * f64::midpoint(slowness(from.work_up_to()), slowness(to.work_below()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{close, mg1::MG1};

    fn exponential() -> ServiceTail<impl Fn(f64) -> f64> {
        ServiceTail::new(|x: f64| (-x).exp(), &[]).unwrap()
    }

    /// `short` with probability `1 − p`, else `long`.
    fn bimodal(short: f64, long: f64, p: f64) -> ServiceTail<impl Fn(f64) -> f64> {
        let tail = move |x: f64| {
            if x < short {
                1.0
            } else if x < long {
                p
            } else {
                0.0
            }
        };
        ServiceTail::new(tail, &[short, long]).unwrap()
    }

    #[test]
    fn moments() {
        close(exponential().mean(), 1.0, 1e-10);
        close(exponential().second_moment(), 2.0, 1e-10);
        let two = bimodal(0.5, 500.0, 0.005);
        close(two.mean(), 0.4975 + 2.5, 1e-10);
        close(two.second_moment(), 0.25 * 0.995 + 250_000.0 * 0.005, 1e-10);
        // Bounded Pareto, α = 1.5 on 1 … 1000: E[S] = 3 (1 − 1000^−0.5) / (1 − 1000^−1.5).
        let cut = 1000f64.powf(-1.5);
        let tail = move |x: f64| if x < 1.0 { 1.0 } else { ((x.powf(-1.5) - cut) / (1.0 - cut)).max(0.0) };
        let pareto = ServiceTail::new(tail, &[1.0]).unwrap();
        close(pareto.mean(), 3.0 * (1.0 - 1000f64.powf(-0.5)) / (1.0 - cut), 1e-9);
    }

    /// No memory: a policy that knows only attained service has the mean of M/M/1.
    #[test]
    fn fb_of_exponential_is_m_m_1() {
        for load in [0.1, 0.5, 0.9] {
            close(exponential().fb_mean_sojourn(load).unwrap(), 1.0 / (1.0 - load), 1e-5);
        }
    }

    /// Equal sizes: LAS ends all of them with the busy period, SRPT is first come first served.
    #[test]
    fn deterministic_service() {
        let fixed = ServiceTail::new(|x: f64| if x < 2.0 { 1.0 } else { 0.0 }, &[2.0]).unwrap();
        let (rate, load) = (0.4, 0.8);
        let fcfs = MG1::new(rate, 2.0, 4.0).unwrap().fcfs_mean_sojourn();
        close(fixed.srpt_mean_sojourn(rate).unwrap(), fcfs, 1e-6);
        close(fixed.srpt_sojourn_of(rate, 2.0).unwrap(), fcfs, 1e-6);
        let all_at_the_end = 2.0 / (1.0 - load) + rate * 4.0 / (2.0 * (1.0 - load) * (1.0 - load));
        close(fixed.fb_mean_sojourn(rate).unwrap(), all_at_the_end, 1e-6);
    }

    /// Two sizes under SRPT, by hand: small ones wait for the small ones before them and the last bit of a large.
    #[test]
    fn two_sizes_by_hand() {
        let two = bimodal(1.0, 10.0, 0.1);
        let rate = 0.4;
        let small_load = rate * 0.9;
        let small = 1.0 + rate * 1.0 / (2.0 * (1.0 - small_load));
        let second = 0.9 + 0.1 * 100.0;
        let wait = rate * second / (2.0 * (1.0 - small_load) * (1.0 - small_load - rate));
        let large = 1.0 + 9.0 / (1.0 - small_load) + wait;
        close(two.srpt_sojourn_of(rate, 1.0).unwrap(), small, 1e-9);
        close(two.srpt_sojourn_of(rate, 10.0).unwrap(), large, 1e-9);
        close(two.srpt_mean_sojourn(rate).unwrap(), 0.9 * small + 0.1 * large, 1e-6);
    }

    /// The double integral of the textbook for exponential service, by plain sums.
    #[test]
    fn srpt_of_exponential_by_another_integral() {
        let rate = 0.7;
        let load = |x: f64| rate * (1.0 - (1.0 + x) * (-x).exp());
        let second = |x: f64| 2.0 - (2.0 + 2.0 * x) * (-x).exp();
        let step = 1e-3;
        let (mut mean, mut inside) = (0.0, 0.0);
        for i in 0..40_000 {
            let x = (f64::from(i) + 0.5) * step;
            let cell = step / (1.0 - load(x));
            inside += cell;
            let sojourn = inside - cell / 2.0 + rate * second(x) / (2.0 * (1.0 - load(x)).powi(2));
            mean += sojourn * (-x).exp() * step;
        }
        close(exponential().srpt_mean_sojourn(rate).unwrap(), mean, 1e-5);
        close(exponential().srpt_sojourn_of(rate, 1e-9).unwrap(), 1e-9, 1e-6);
    }

    #[test]
    fn order_of_the_policies() {
        for load in [0.3, 0.8, 0.95] {
            // Decreasing hazard rate (two exponentials): knowing the attained service helps.
            let two =
                ServiceTail::new(|x: f64| 0.9 * (-2.0 * x).exp() + 0.1 * (-x / 5.5).exp(), &[]).unwrap();
            let rate = load / two.mean();
            let queue = MG1::new(rate, two.mean(), two.second_moment()).unwrap();
            let (srpt, fb) = (two.srpt_mean_sojourn(rate).unwrap(), two.fb_mean_sojourn(rate).unwrap());
            assert!(two.mean() < srpt && srpt < fb);
            assert!(fb < queue.ps_mean_sojourn() && queue.ps_mean_sojourn() < queue.fcfs_mean_sojourn());
        }
    }

    #[test]
    fn small_requests_gain_and_the_unit_does_not_matter() {
        let (ns, ps) = (exponential(), ServiceTail::new(|x: f64| (-x / 1e6).exp(), &[]).unwrap());
        close(ps.fb_mean_sojourn(0.8e-6).unwrap(), 1e6 * ns.fb_mean_sojourn(0.8).unwrap(), 1e-5);
        for size in [0.1, 1.0, 4.0] {
            let (fb, srpt) = (ns.fb_sojourn_of(0.8, size).unwrap(), ns.srpt_sojourn_of(0.8, size).unwrap());
            assert!(size < srpt && srpt < fb);
            close(ps.srpt_sojourn_of(0.8e-6, size * 1e6).unwrap(), 1e6 * srpt, 1e-5);
        }
        assert!(ns.fb_sojourn_of(0.8, 0.1).unwrap() < 0.5, "processor sharing takes 0.5");
    }

    #[test]
    fn refuses_nonsense() {
        assert!(matches!(exponential().fb_mean_sojourn(1.01), Err(TheoryError::Unstable { .. })));
        assert!(exponential().srpt_sojourn_of(0.5, -1.0).is_err());
        assert!(exponential().srpt_mean_sojourn(-0.5).is_err());
        let heavy = ServiceTail::new(|x: f64| x.max(1.0).powf(-1.5), &[]);
        assert!(matches!(heavy, Err(TheoryError::TailTooHeavy)));
        assert!(matches!(ServiceTail::new(|_| 1.5, &[]), Err(TheoryError::OutOfRange { .. })));
        assert!(matches!(ServiceTail::new(|x: f64| (-x).exp(), &[0.0]), Err(TheoryError::OutOfRange { .. })));
    }
}
