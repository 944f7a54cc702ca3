//! Costs that rule an answer out: what each request pays whatever the policy is, held against what the targets allow.
//! The explanation of a plan calls it when the search has ended, for the sentences that apply. Pure.

use caudal_config::{Costs, Metric};
use caudal_policy::Picos;

use crate::aims::Aim;
use crate::show::{digits, percent, time};

/// A cost that takes this part of what a target allows is named.
const PART: f64 = 0.5;

/// Sentences about the costs, as files of `[costs]` name them, that no policy can do anything about where `aims` are missed.
pub(super) fn limits(costs: &Costs, aims: &[Aim]) -> Vec<String> {
    fixed(costs, aims).into_iter().chain(stalls(costs)).collect()
}

/// The largest cost of a single request, if it takes much of what the strictest target in time allows.
fn fixed(costs: &Costs, aims: &[Aim]) -> Option<String> {
    let in_time = |aim: &&Aim| aim.target.limit.metric() != Metric::Slowdown;
    // The limit of a share of misses is none in time; what it is above is.
    let limit_ns = |aim: &Aim| aim.quantity.above_ps.map_or(aim.limit, |ps| ps as f64 / 1e3);
    let strictest_ns = aims.iter().filter(in_time).map(limit_ns).min_by(f64::total_cmp)?;
    let each: [(&str, Picos); 6] = [
        ("hop", costs.hop),
        ("wake_up", costs.wake_up),
        ("start", costs.start),
        ("finish", costs.finish),
        ("dispatcher", costs.dispatcher),
        ("preemption", costs.preemption),
    ];
    let (key, cost) = each.into_iter().max_by_key(|(_, cost)| *cost)?;
    let cost_ns = cost.0 as f64 / 1e3;
    (cost_ns >= PART * strictest_ns).then(|| {
        format!(
            "The costs say `{key} = {}`, which is {} times what the targets allow ({}): no policy helps against that. Is it what this machine \
             takes when it is quiet? `caudal calibrate --real-time` measures it while others are kept off.",
            time(cost_ns),
            digits(cost_ns / strictest_ns),
            time(strictest_ns),
        )
    })
}

fn stalls(costs: &Costs) -> Option<String> {
    let stalls = costs.stalls.as_ref()?;
    Some(format!(
        "The costs have the machine's stalls: {} of the time of each core, {}/s of them, half of which take {} or longer. No policy helps \
         against those; take the key `stalls` out of the costs to see what a system does without them.",
        percent(stalls.share()),
        digits(stalls.rate.per_s()),
        time(stalls.length(0.5).0 as f64 / 1e3),
    ))
}
