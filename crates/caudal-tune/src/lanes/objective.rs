//! Which of two layouts is better.
//!
//! A percentile that only short requests make does not see what becomes of long ones: of 99.5 % short requests, the
//! p99 is the same whether the long ones take their time or pile up for ever. So the order is lexicographic: no lane
//! overloaded; all further limits met; then the target; then the p99.9 of the slowdown of all requests; then fewer
//! preemptions.
//!
//! **What is certain.** Two layouts meet the same requests, so the ratio of a statistic has a paired interval. They
//! *differ* in it if the interval excludes 1 and the estimate is more than 1 % away from 1. They are *alike* if the whole
//! interval is within 1 % of 1. Otherwise it is *open*, and more replications may tell. Who differs is better or worse; of
//! those that are alike, the next statistic decides.
//!
//! **Where the target is open**, an interval that is wide around 1 must not hand the choice to the slowdown: the target
//! may be far longer. But noise of a few percent must not stop a search either, while the slowdown could be halved. So the
//! slowdown decides if the target's estimate is within 1 %, and what it gains for certain is more than what the target may
//! lose: the unfavourable ends of both intervals, multiplied, are still a gain. Preemptions decide only between those that
//! are alike in both.

use caudal_sim::experiment::{Quantity, Results};
use caudal_stats::paired::{Metric, typical_ratio};
use caudal_stats::{Estimate, Replicated};

/// The slowdown that decides between layouts of the same target.
pub(crate) const SLOWDOWN: f64 = 99.9;
/// Ratios nearer to 1 than this are no difference.
const TIE: f64 = 0.01;
/// Preemptions per request that are no difference.
const FEW: f64 = 1e-3;

/// What is to be short, and what must be kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Objective {
    pub(crate) target: Quantity,
    /// Each with its limit, in ns or as a ratio.
    pub(crate) limits: Vec<(Quantity, f64)>,
    pub(crate) confidence: f64,
}

/// The first of two against the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Better,
    Worse,
    /// Nothing is certain, or there is no difference that matters.
    Same,
}

/// What a ratio says of two layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Differ(Order),
    Alike,
    Open,
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
        let limits = self.by_limits(first, second);
        if limits != Order::Same {
            return limits;
        }
        let target = self.ratio(&self.target, first, second);
        let slowdown = || self.ratio(&slowdown(), first, second);
        decided(&target, slowdown, || by_preemptions(first, second))
    }

    /// How far the worst limit is missed; 1 and less if all are met.
    fn missed(&self, results: &Results) -> f64 {
        let ratio = |(quantity, limit): &(Quantity, f64)| {
            let estimate = results.estimate(quantity, self.confidence).estimate;
            // Of whom nobody was seen, nobody kept it.
            if estimate.is_nan() { f64::INFINITY } else { estimate / limit }
        };
        self.limits.iter().map(ratio).fold(1.0, f64::max)
    }

    fn by_limits(&self, first: &Results, second: &Results) -> Order {
        let (first, second) = (self.missed(first), self.missed(second));
        if first > second * (1.0 + TIE) {
            Order::Worse
        } else if second > first * (1.0 + TIE) {
            Order::Better
        } else {
            Order::Same
        }
    }

    /// `first` over `second` in what `quantity` is, with its paired interval.
    pub(crate) fn ratio(&self, quantity: &Quantity, first: &Results, second: &Results) -> Estimate {
        let sides = [values(quantity, first), values(quantity, second)];
        typical_ratio(sides[0], sides[1], metric(quantity), self.confidence).unwrap_or(Estimate::MISSING)
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
        Told::Open if is_near(target.estimate) => outweighed(target, &slowdown()),
        Told::Open => Order::Same,
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

/// Is what the slowdown gains for certain more than what the target may lose?
fn outweighed(target: &Estimate, slowdown: &Estimate) -> Order {
    match told(slowdown) {
        Told::Differ(Order::Better) if target.high * slowdown.high < 1.0 => Order::Better,
        Told::Differ(Order::Worse) if target.low * slowdown.low > 1.0 => Order::Worse,
        _ => Order::Same,
    }
}

/// What decides where the target does not.
pub(crate) fn slowdown() -> Quantity {
    Quantity { class: None, slowdown: true, percentile: Some(SLOWDOWN) }
}

fn metric(quantity: &Quantity) -> Metric {
    quantity.percentile.map_or(Metric::Mean, Metric::Percentile)
}

fn values<'a>(quantity: &Quantity, results: &'a Results) -> &'a Replicated {
    let class = quantity.class.map_or(&results.all, |class| &results.classes[class]);
    if quantity.slowdown { &class.slowdown } else { &class.latency_ps }
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

    fn ratio(estimate: f64, low: f64, high: f64) -> Estimate {
        Estimate { estimate, low, high }
    }

    impl Order {
        fn reversed(self) -> Order {
            match self {
                Order::Better => Order::Worse,
                Order::Worse => Order::Better,
                Order::Same => Order::Same,
            }
        }
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
    fn what_is_certain_of_the_target_decides() {
        let longer_tail = ratio(3.0, 2.0, 4.0);
        assert_eq!(told_by(ratio(0.8, 0.7, 0.9), longer_tail, Order::Same), Order::Better);
        // Certainly different, but by less than anybody cares for.
        assert_eq!(told_by(ratio(0.995, 0.991, 0.999), longer_tail, Order::Same), Order::Worse);
        // Nothing is certain, and the estimates are far apart.
        assert_eq!(told_by(ratio(0.8, 0.6, 1.1), ratio(0.5, 0.4, 0.6), Order::Better), Order::Same);
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
}
