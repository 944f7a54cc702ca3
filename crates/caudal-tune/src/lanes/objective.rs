//! The order of two layouts: which one is better, and whether that is certain. `race` asks after each round of simulations whether one is
//! behind, and the judge of the answer asks at the end. Pure.
//!
//! A percentile that only short requests make does not see what becomes of long ones: of 99.5 % short requests, the
//! p99 is the same whether the long ones take their time or pile up for ever. So the order is lexicographic: no lane
//! overloaded; all further limits met; then the target; then the p99.9 of the slowdown of all requests; then fewer
//! preemptions.
//!
//! **What is certain.** Two layouts meet the same requests, so the ratio of a statistic has a paired interval. There are two:
//! of all replications pooled, and of a typical one. A percentile that rare bursts make is one and the same in a typical
//! replication, and five times as long in all of them; tails that differ by orders of magnitude are told apart by a few
//! short replications, of which the pool knows nothing yet. So the pool decides where it is certain, the typical
//! replication where the pool does not speak against it, and else the interval reaches over both. They
//! *differ* in it if the interval excludes 1 and the estimate is more than 1 % away from 1. They are *alike* if the whole
//! interval is within 1 % of 1. Otherwise it is *open*, and more replications may tell. Of two that differ, one is better;
//! of two that are alike, the next statistic decides.
//!
//! **Where the target is open**, an interval that is wide around 1 must not hand the choice to the slowdown: the target
//! may be far longer. But noise of a few percent must not stop a search either, while the slowdown could be halved. So the
//! slowdown decides if the target's estimate is not more than 1 % against it, and what it gains for certain is more than
//! what the target may lose: the unfavourable ends of both intervals, multiplied, are still a gain. Preemptions decide only between those that
//! are alike in both.
//!
//! **Limits** are compared in the same way, by the limit that each layout misses most, as a multiple of it. Where it is open which
//! layout misses by more, the target decides, but not in favour of the layout that seems to miss by more: step by step, that would
//! lead far beyond a limit.

use caudal_config::Metric as Of;
use caudal_sim::experiment::{Quantity, Results};
use caudal_stats::paired::{Metric, compare, typical_ratio};
use caudal_stats::{Estimate, Replicated};

/// The slowdown that decides between layouts of the same target.
pub(crate) const SLOWDOWN: f64 = 99.9;
/// Ratios nearer to 1 than this are no difference.
const TIE: f64 = 0.01;
/// Preemptions per request that are no difference.
const FEW: f64 = 1e-3;

/// The quantity that is to be short, and the limits that must be kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Objective {
    pub(crate) target: Quantity,
    /// Each with its limit, in ns or as a ratio.
    pub(crate) limits: Vec<(Quantity, f64)>,
    pub(crate) confidence: f64,
}

impl Objective {
    /// Is there anything about waiting in it, which runs record only where they are asked to?
    pub(crate) fn asks_how_long_requests_wait(&self) -> bool {
        let limits = self.limits.iter().map(|(quantity, _)| quantity);
        limits.chain([&self.target]).any(|quantity| quantity.metric == Of::Wait)
    }
}

/// The first of two against the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Better,
    Worse,
    /// Nothing is certain, or there is no difference that matters.
    Same,
}

impl Order {
    /// The second against the first.
    fn reversed(self) -> Order {
        match self {
            Order::Better => Order::Worse,
            Order::Worse => Order::Better,
            Order::Same => Order::Same,
        }
    }
}

/// The order of two layouts, as a ratio tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Differ(Order),
    Alike,
    Open,
}

/// The limit that is missed by most.
#[derive(Clone, Copy)]
pub(crate) struct Missed {
    /// The index of the limit that is missed by most; none if all are met.
    limit: Option<usize>,
    /// Its statistic as a multiple of it; 1 if all are met.
    pub(crate) by: f64,
}

impl Objective {
    /// How `first` compares with `second`, which saw the same requests in as many replications.
    pub(crate) fn order(&self, first: &Results, second: &Results) -> Order {
        match (first.overloaded, second.overloaded) {
            (true, true) => return Order::Same,
            (true, false) => return Order::Worse,
            (false, true) => return Order::Better,
            (false, false) => {}
        }
        let (limits, certain) = self.by_limits(first, second);
        if certain && limits != Order::Same {
            return limits;
        }
        let target = self.ratio(&self.target, first, second);
        let slowdown = || self.ratio(&slowdown(), first, second);
        let rest = decided(&target, slowdown, || by_preemptions(first, second));
        let against_limits = limits != Order::Same && rest == limits.reversed();
        if against_limits { Order::Same } else { rest }
    }

    /// The limit that is missed by most.
    pub(crate) fn missed(&self, results: &Results) -> Missed {
        let by = |(quantity, limit): &(Quantity, f64)| {
            let estimate = results.estimate(quantity, self.confidence).estimate;
            // Of whom nobody was seen, nobody kept it.
            if estimate.is_nan() { f64::INFINITY } else { estimate / limit }
        };
        let none = Missed { limit: None, by: 1.0 };
        self.limits.iter().map(by).enumerate().fold(none, |most, (limit, by)| {
            if by > most.by { Missed { limit: Some(limit), by } } else { most }
        })
    }

    /// The order of two layouts by their limits: the first is better if it misses one by less; and whether that is certain.
    fn by_limits(&self, first: &Results, second: &Results) -> (Order, bool) {
        let (own, other) = (self.missed(first), self.missed(second));
        if own.by > other.by * (1.0 + TIE) {
            (Order::Worse, self.misses_more((first, own), (second, other)))
        } else if other.by > own.by * (1.0 + TIE) {
            (Order::Better, self.misses_more((second, other), (first, own)))
        } else {
            (Order::Same, true)
        }
    }

    /// Does `worse`, which misses a limit, certainly do so by more than `better`?
    fn misses_more(&self, worse: (&Results, Missed), better: (&Results, Missed)) -> bool {
        let Some(missed) = worse.1.limit.filter(|_| worse.1.by.is_finite()) else { return true };
        let (quantity, limit) = &self.limits[missed];
        // Who misses another limit by most misses this one by a part of that.
        let part = match better.1.limit {
            Some(_) => better.0.estimate(quantity, self.confidence).estimate / limit / better.1.by,
            None => 1.0,
        };
        self.ratio(quantity, worse.0, better.0).low * part > 1.0
    }

    /// `first` over `second` in what `quantity` is, with its paired interval.
    pub(crate) fn ratio(&self, quantity: &Quantity, first: &Results, second: &Results) -> Estimate {
        let (first, second) = (values(quantity, first), values(quantity, second));
        let pooled = pooled_ratio(first, second, metric(quantity), self.confidence);
        let typical = typical_ratio(first, second, metric(quantity), self.confidence);
        joined(pooled, typical.unwrap_or(Estimate::MISSING))
    }
}

/// Of all replications together, over whichever of the two is better known.
fn pooled_ratio(first: &Replicated, second: &Replicated, metric: Metric, confidence: f64) -> Estimate {
    let ratio = |a, b| compare(a, b, metric, confidence).map_or(Estimate::MISSING, |compared| compared.ratio);
    let forth = ratio(first, second);
    if forth.low.is_finite() && forth.high.is_finite() {
        return forth;
    }
    let back = ratio(second, first);
    if back.low.is_finite() && back.high.is_finite() && back.low > 0.0 {
        return Estimate { estimate: 1.0 / back.estimate, low: 1.0 / back.high, high: 1.0 / back.low };
    }
    forth
}

/// The estimate that joins the pooled values and a typical replication.
fn joined(pooled: Estimate, typical: Estimate) -> Estimate {
    let excludes_1 = |of: &Estimate| of.high < 1.0 || of.low > 1.0;
    let known = |of: &Estimate| of.low.is_finite() && of.high.is_finite();
    if known(&pooled) && excludes_1(&pooled) || typical.is_missing() {
        return pooled;
    }
    let same_side = (pooled.estimate < 1.0) == (typical.estimate < 1.0);
    if pooled.is_missing() || known(&typical) && excludes_1(&typical) && same_side {
        return typical;
    }
    Estimate {
        estimate: pooled.estimate,
        low: if known(&pooled) { pooled.low.min(typical.low) } else { pooled.estimate.min(typical.low) },
        high: if known(&pooled) { pooled.high.max(typical.high) } else { pooled.estimate.max(typical.high) },
    }
}

/// The first of two against the second, by their `target` and what decides where that does not.
fn decided(
    target: &Estimate,
    slowdown: impl FnOnce() -> Estimate,
    preemptions: impl FnOnce() -> Order,
) -> Order {
    match told(target) {
        Told::Differ(order) => order,
        Told::Alike => match told(&slowdown()) {
            Told::Differ(order) => order,
            Told::Alike => preemptions(),
            Told::Open => Order::Same,
        },
        Told::Open => outweighed(target, &slowdown()),
    }
}

fn told(ratio: &Estimate) -> Told {
    let far = !is_near(ratio.estimate);
    if far && ratio.high < 1.0 {
        Told::Differ(Order::Better)
    } else if far && ratio.low > 1.0 {
        Told::Differ(Order::Worse)
    } else if is_near(ratio.low) && is_near(ratio.high) {
        Told::Alike
    } else {
        Told::Open
    }
}

/// Is `ratio` no difference, whichever of the two comes first?
fn is_near(ratio: f64) -> bool {
    ratio.ln().abs() <= TIE.ln_1p()
}

/// Is what the slowdown gains for certain more than what the target may lose, whose estimate does not speak against it?
fn outweighed(target: &Estimate, slowdown: &Estimate) -> Order {
    let near = 1.0 + TIE;
    match told(slowdown) {
        Told::Differ(Order::Better) if target.estimate <= near && target.high * slowdown.high < 1.0 => {
            Order::Better
        }
        Told::Differ(Order::Worse) if target.estimate >= 1.0 / near && target.low * slowdown.low > 1.0 => {
            Order::Worse
        }
        _ => Order::Same,
    }
}

/// The slowdown's percentile, which decides where the target does not.
pub(crate) fn slowdown() -> Quantity {
    Quantity { class: None, metric: Of::Slowdown, percentile: Some(SLOWDOWN), ..Quantity::default() }
}

fn metric(quantity: &Quantity) -> Metric {
    quantity.percentile.map_or(Metric::Mean, Metric::Percentile)
}

fn values<'a>(quantity: &Quantity, results: &'a Results) -> &'a Replicated {
    let class = quantity.class.map_or(&results.all, |class| &results.classes[class]);
    class.recorded(quantity.metric)
}

/// Preemptions per request.
pub(crate) fn preemptions(results: &Results) -> f64 {
    let of = |count: fn(&caudal_sim::engine::Account) -> u64| -> f64 {
        results.accounts.iter().map(|(account, _)| count(account) as f64).sum()
    };
    of(|account| account.preemptions) / of(|account| account.completed).max(1.0)
}

fn by_preemptions(first: &Results, second: &Results) -> Order {
    let (first, second) = (preemptions(first), preemptions(second));
    let fewer = |a: f64, b: f64| a + FEW < b * (1.0 - TIE);
    if fewer(first, second) {
        Order::Better
    } else if fewer(second, first) {
        Order::Worse
    } else {
        Order::Same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::trials::tests::mould;

    fn ratio(estimate: f64, low: f64, high: f64) -> Estimate {
        Estimate { estimate, low, high }
    }

    /// Both ways round; they have to agree.
    fn told_by(target: Estimate, slowdown: Estimate, preemptions: Order) -> Order {
        let inverse = |of: Estimate| ratio(1.0 / of.estimate, 1.0 / of.high, 1.0 / of.low);
        let order = decided(&target, || slowdown, || preemptions);
        let other = decided(&inverse(target), || inverse(slowdown), || preemptions.reversed());
        assert_eq!(order, other.reversed(), "{target:?} {slowdown:?}");
        order
    }

    #[test]
    fn rare_bursts_count_and_few_replications_do() {
        let alike = ratio(1.0, 0.992, 1.008);
        // Bursts: the pool is certain, a typical replication knows of nothing.
        assert_eq!(joined(ratio(0.2, 0.1, 0.4), alike), ratio(0.2, 0.1, 0.4));
        // The pool is not certain, but far off: open.
        assert_eq!(told(&joined(ratio(0.5, 0.2, 1.5), alike)), Told::Open);
        assert_eq!(told(&joined(ratio(0.5, f64::NEG_INFINITY, f64::INFINITY), alike)), Told::Open);
        // Orders of magnitude in a few replications.
        let unknown = ratio(0.01, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(joined(unknown, ratio(0.02, 0.01, 0.03)), ratio(0.02, 0.01, 0.03));
        // Each says something else.
        assert_eq!(told(&joined(ratio(1.1, 0.9, 1.3), ratio(0.8, 0.7, 0.9))), Told::Open);
        assert_eq!(told(&joined(alike, ratio(1.001, 0.999, 1.003))), Told::Alike);
    }

    #[test]
    fn what_is_certain_of_the_target_decides() {
        let longer_tail = ratio(3.0, 2.0, 4.0);
        assert_eq!(told_by(ratio(0.8, 0.7, 0.9), longer_tail, Order::Same), Order::Better);
        // Certainly different, but by less than anybody cares for.
        assert_eq!(told_by(ratio(0.995, 0.991, 0.999), longer_tail, Order::Same), Order::Worse);
        // Nothing is certain of the target, whose estimate is for the one with the lower slowdown, or against it.
        assert_eq!(told_by(ratio(0.8, 0.6, 1.1), ratio(0.5, 0.4, 0.6), Order::Worse), Order::Better);
        assert_eq!(told_by(ratio(1.05, 0.9, 1.2), ratio(0.5, 0.4, 0.6), Order::Better), Order::Same);
        assert_eq!(told_by(Estimate::MISSING, ratio(0.5, 0.4, 0.6), Order::Better), Order::Same);
    }

    #[test]
    fn who_is_alike_in_the_target_differs_in_the_slowdown_or_in_preemptions() {
        let alike = ratio(1.002, 0.995, 1.009);
        assert_eq!(told_by(alike, ratio(0.9, 0.85, 0.95), Order::Worse), Order::Better);
        assert_eq!(told_by(alike, ratio(0.9, 0.75, 1.05), Order::Worse), Order::Same);
        assert_eq!(told_by(alike, alike, Order::Worse), Order::Worse);
        assert_eq!(told_by(alike, ratio(1.0, 0.9, 1.1), Order::Worse), Order::Same, "open in the slowdown");
    }

    #[test]
    fn an_open_target_lets_the_slowdown_decide_if_that_gains_more_than_it_may_lose() {
        let (half, little) = (ratio(0.5, 0.4, 0.6), ratio(0.95, 0.92, 0.98));
        assert_eq!(told_by(ratio(1.005, 0.96, 1.05), half, Order::Same), Order::Better);
        assert_eq!(told_by(ratio(1.005, 0.96, 1.05), little, Order::Same), Order::Same, "5 % against 2 %");
        // Four replications that differ by chance: the target may be twice as long.
        assert_eq!(told_by(ratio(1.005, 0.5, 2.0), half, Order::Same), Order::Same);
        assert_eq!(told_by(ratio(1.0, 0.9, 1.1), ratio(1.0, 1.0, 1.0), Order::Better), Order::Same);
    }

    /// Sixteen replications whose p99 is each of these times `scale`, in ns.
    fn results(base: &Results, scale: f64, p99_ns: impl Fn(u32) -> f64) -> Results {
        let mut latency_ps = Replicated::default();
        for run in 0..16 {
            let mut values = caudal_stats::Histogram::default();
            (0..100).for_each(|_| values.record((scale * p99_ns(run) * 1e3) as u64));
            latency_ps.push(&values);
        }
        let mut results = base.clone();
        results.all.latency_ps = latency_ps;
        results
    }

    #[test]
    fn a_limit_that_is_missed_by_chance_decides_nothing() {
        let base = mould();
        let p99 =
            Quantity { class: None, metric: Of::Latency, percentile: Some(99.0), ..Quantity::default() };
        let objective = Objective { target: p99.clone(), limits: vec![(p99, 1_000.0)], confidence: 0.95 };
        let even = |_: u32| 1_000.0;
        // Every other replication is much longer or shorter, and the one with more long ones seems to miss by more.
        let noisy = |run: u32| if run.is_multiple_of(3) { 2_000.0 } else { 700.0 };
        let of = |scale: f64, p99_ns: &dyn Fn(u32) -> f64| results(&base, scale, p99_ns);
        let limits = |first: &Results, second: &Results| objective.by_limits(first, second);
        assert_eq!(limits(&of(1.2, &even), &of(1.1, &even)), (Order::Worse, true));
        assert_eq!(limits(&of(1.1, &even), &of(1.2, &even)), (Order::Better, true));
        assert_eq!(limits(&of(0.8, &even), &of(0.9, &even)), (Order::Same, true), "both are kept");
        assert_eq!(limits(&of(1.3, &even), &of(1.3, &noisy)), (Order::Better, false));
        assert_eq!(objective.order(&of(1.3, &even), &of(1.3, &noisy)), Order::Same);
        // On the same requests, noise is no excuse.
        assert_eq!(limits(&of(1.3, &noisy), &of(1.2, &noisy)), (Order::Worse, true));
    }

    #[test]
    fn the_target_does_not_decide_for_who_seems_to_miss_a_limit_by_more() {
        let base = mould();
        let p = |percentile| Quantity {
            class: None,
            metric: Of::Latency,
            percentile: Some(percentile),
            ..Quantity::default()
        };
        let objective = Objective { target: p(50.0), limits: vec![(p(99.0), 1_000.0)], confidence: 0.95 };
        // Half of the values are short.
        let of = |half_ns: u64, p99_ns: &dyn Fn(u32) -> u64| {
            let mut latency_ps = Replicated::default();
            for run in 0..16 {
                let mut values = caudal_stats::Histogram::default();
                (0..60).for_each(|_| values.record(half_ns * 1_000));
                (0..40).for_each(|_| values.record(p99_ns(run) * 1_000));
                latency_ps.push(&values);
            }
            let mut results = base.clone();
            results.all.latency_ps = latency_ps;
            results
        };
        let noisy = |run: u32| if run.is_multiple_of(3) { 2_000 } else { 900 };
        let (even, worse) = (of(200, &|_| 1_200), of(100, &noisy));
        assert_eq!(objective.by_limits(&worse, &even), (Order::Worse, false));
        assert_eq!(objective.order(&worse, &even), Order::Same, "its target is half as long");
        assert_eq!(objective.order(&of(200, &noisy), &of(100, &|_| 1_200)), Order::Worse, "they agree");
        let kept = of(100, &|_| 900);
        assert_eq!(objective.order(&kept, &even), Order::Better);
    }
}
