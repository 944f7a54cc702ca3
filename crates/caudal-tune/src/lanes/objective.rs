//! Which of two layouts is better.
//!
//! A percentile that only short requests make does not see what becomes of long ones: of 99.5 % short requests, the
//! p99 is the same whether the long ones take their time or pile up for ever. So the order is lexicographic: no lane
//! overloaded; all further limits met; then the target; within 1 % of that, the p99.9 of the slowdown of all requests;
//! then fewer preemptions. A difference counts where the paired interval of the same requests excludes none, and it is more
//! than 1 %.

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

impl Objective {
    /// How `first` compares with `second`, which saw the same requests in as many replications.
    pub(crate) fn order(&self, first: &Results, second: &Results) -> Order {
        match (first.overloaded, second.overloaded) {
            (true, true) => return Order::Same,
            (true, false) => return Order::Worse,
            (false, true) => return Order::Better,
            (false, false) => {}
        }
        let decides = |order: &Order| *order != Order::Same;
        if let Some(order) = Some(self.by_limits(first, second)).filter(decides) {
            return order;
        }
        for quantity in [&self.target, &slowdown()] {
            match self.by(quantity, first, second) {
                None => return Order::Same,
                Some(Order::Same) => {}
                Some(order) => return order,
            }
        }
        by_preemptions(first, second)
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

    /// None where nothing is certain: then what would decide between equals does not count.
    fn by(&self, quantity: &Quantity, first: &Results, second: &Results) -> Option<Order> {
        let sides = [values(quantity, first), values(quantity, second)];
        let found = typical_ratio(sides[0], sides[1], metric(quantity), self.confidence)?;
        if (1.0 - TIE..=1.0 + TIE).contains(&found.estimate) {
            Some(Order::Same)
        } else if found.high < 1.0 {
            Some(Order::Better)
        } else {
            (found.low > 1.0).then_some(Order::Worse)
        }
    }

    /// `first` over `second` in what `quantity` is, with its paired interval.
    pub(crate) fn ratio(&self, quantity: &Quantity, first: &Results, second: &Results) -> Estimate {
        let sides = [values(quantity, first), values(quantity, second)];
        typical_ratio(sides[0], sides[1], metric(quantity), self.confidence).unwrap_or(Estimate::MISSING)
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
