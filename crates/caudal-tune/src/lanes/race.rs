//! A race between layouts on the same requests: a layout that is certainly worse than the best drops out, and the others are simulated for
//! longer. `climb` calls [`race`] once for each of its steps. It simulates by `trials`, on the threads of the search.

use caudal_policy::Picos;
use caudal_sim::experiment::Results;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::objective::{Order, preemptions, slowdown};
use super::trials::{Contender, ROUNDS, Trials};
use crate::{TuneError, parallel};

/// A layout that was tried, with its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The layout.
    pub layout: Layout,
    /// Replications until it was dropped; 0 if it was not simulated.
    pub replications: u32,
    /// The target's statistic, in ns or as a ratio; none in overload.
    pub target: Option<f64>,
    /// The p99.9 of the slowdown.
    pub slowdown: Option<f64>,
    /// Preemptions per request.
    pub preemptions: Option<f64>,
    /// The reason why it was not simulated.
    pub refused: Option<String>,
}

/// The result of a race.
pub(crate) struct Raced {
    pub(crate) tried: Vec<Tried>,
    /// The best of the layouts that raced.
    pub(crate) leader: Option<Contender>,
    /// Whether it is certainly better than the incumbent.
    pub(crate) better: bool,
    /// Whether the budget was too small for all layouts to run, or to run on.
    pub(crate) cut_short: bool,
}

/// Runs `layouts` against one another and against `incumbent`, on `budget` requests at most. If these are not enough for all, only the most
/// promising layouts run.
pub(crate) fn race(
    trials: &Trials<'_>,
    incumbent: &mut Contender,
    layouts: Vec<Layout>,
    budget: u64,
) -> Result<Raced, TuneError> {
    let enter = |layout: Layout| Contender { refused: trials.refusal(&layout), ..Contender::new(layout) };
    let mut runners: Vec<Contender> = layouts.into_iter().map(enter).collect();
    let mut raced = Raced { tried: Vec::new(), leader: None, better: false, cut_short: false };
    let mut leader = None;
    let begun = trials.simulated();
    for round in 0..ROUNDS.len() {
        let left = budget.saturating_sub(trials.simulated() - begun);
        if let Some(fit) = too_many(trials, (&runners, incumbent), round, left) {
            raced.cut_short = true;
            match round.checked_sub(1) {
                None if fit == 0 => return Ok(raced),
                Some(before) if fit == 0 => {
                    leader = lead(trials, &runners, before);
                    break;
                }
                _ => {}
            }
            let kept = best_few(trials, &runners, round, fit);
            let (stay, go) = split(runners, &kept);
            // A layout that has not run at all does not count as tried.
            raced.tried.extend(go.iter().filter(|_| round > 0).map(|runner| summary(trials, runner)));
            runners = stay;
        }
        advance(trials, &mut runners, round)?;
        trials.advance(incumbent, round, trials.threads)?;
        leader = lead(trials, &runners, round);
        let Some(first) = leader else { break };
        let keep = |runner: &Contender| {
            stays(trials, runner, &runners[first], round) && stays(trials, runner, incumbent, round)
        };
        let kept: Vec<bool> = runners.iter().map(keep).collect();
        if round + 1 == ROUNDS.len() || !kept.contains(&true) {
            break;
        }
        let (stay, go) = split(runners, &kept);
        raced.tried.extend(go.iter().map(|runner| summary(trials, runner)));
        runners = stay;
        leader = None;
    }
    raced.tried.extend(runners.iter().map(|runner| summary(trials, runner)));
    raced.leader = leader.map(|first| runners.swap_remove(first));
    raced.better = raced.leader.as_ref().is_some_and(|leader| beats(trials, leader, incumbent));
    Ok(raced)
}

/// The number of `runners` that can run a round on `left` requests, beside the incumbent; none if all can.
fn too_many(
    trials: &Trials<'_>,
    (runners, incumbent): (&[Contender], &Contender),
    round: usize,
    left: u64,
) -> Option<usize> {
    let costs = runners.iter().filter(|it| it.refused.is_none()).map(|it| trials.cost(it, round));
    let left = left.saturating_sub(trials.cost(incumbent, round));
    if costs.clone().sum::<u64>() <= left {
        return None;
    }
    let each = costs.max().unwrap_or(0).max(1);
    // The first round takes at most half of the requests, so that later rounds can make something certain.
    let left = if round == 0 { (left / 2).max(each.min(left)) } else { left };
    Some((left / each) as usize)
}

/// For each of `runners`, whether it is among the best `fit`, by the round before, or by a guess. A contender that was
/// refused stays, because it costs nothing.
fn best_few(trials: &Trials<'_>, runners: &[Contender], round: usize, fit: usize) -> Vec<bool> {
    let best = round
        .checked_sub(1)
        .map_or_else(|| guessed(trials, runners), |before| ranked(trials, runners, before));
    let mut kept: Vec<bool> = runners.iter().map(|runner| runner.refused.is_some()).collect();
    best.into_iter().take(fit).for_each(|index| kept[index] = true);
    kept
}

/// The runners in the order of their promise ([`Trials::promise`]), for the first round.
fn guessed(trials: &Trials<'_>, runners: &[Contender]) -> Vec<usize> {
    let runs = |&index: &usize| runners[index].refused.is_none();
    let mut guesses: Vec<([f64; 2], usize)> = (0..runners.len())
        .filter(runs)
        .map(|index| (trials.promise(&runners[index].layout), index))
        .collect();
    guesses.sort_by(|(a, i), (b, j)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(i.cmp(j)));
    guesses.into_iter().map(|(_, index)| index).collect()
}

/// Splits `runners` into those to keep and the others, in their order.
fn split(runners: Vec<Contender>, kept: &[bool]) -> (Vec<Contender>, Vec<Contender>) {
    let mut kept = kept.iter();
    runners.into_iter().partition(|_| kept.next().copied().unwrap_or(false))
}

fn advance(trials: &Trials<'_>, runners: &mut [Contender], round: usize) -> Result<(), TuneError> {
    let mut work: Vec<(&mut Contender, Result<(), TuneError>)> =
        runners.iter_mut().map(|runner| (runner, Ok(()))).collect();
    parallel::each(trials.threads, &mut work, |(runner, done), threads| {
        *done = trials.advance(runner, round, threads);
    });
    work.into_iter().try_for_each(|(_, done)| done)
}

/// The best of `runners` after `round`: the runner that the fewest others certainly beat; of several, the one
/// with the best estimates. "Certainly better" is not transitive: one runner may be certainly better than a second, while neither of them
/// certainly differs from a third. So all pairs count, because the result of a single pass would depend on where it begins.
fn lead(trials: &Trials<'_>, runners: &[Contender], round: usize) -> Option<usize> {
    ranked(trials, runners, round).first().copied()
}

/// The indices of the runners that keep up: the leader, then the others by their estimates.
fn ranked(trials: &Trials<'_>, runners: &[Contender], round: usize) -> Vec<usize> {
    let at = |index: usize| runners[index].rounds.get(round).filter(|results| !results.overloaded);
    let mut ranked: Vec<_> = (0..runners.len())
        .filter_map(|index| Some((score(trials, at(index)?), name(&runners[index].layout), index)))
        .collect();
    ranked.sort_unstable();
    let mut ranked: Vec<usize> = ranked.into_iter().map(|(.., index)| index).collect();
    let loses = |own: usize, other: usize| {
        at(own).zip(at(other)).is_some_and(|(own, other)| trials.objective.order(own, other) == Order::Worse)
    };
    let leader = fewest_losses(&ranked, loses);
    ranked.sort_by_key(|&index| Some(index) != leader);
    ranked
}

/// The runner of `ranked` that loses against the fewest others; of several, the first.
fn fewest_losses(ranked: &[usize], loses: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let mut best = None;
    let mut fewest = usize::MAX;
    for &own in ranked {
        // Counting stops as soon as another runner has fewer losses. Nearly always the first runner has none.
        let losses = ranked.iter().filter(|&&other| other != own && loses(own, other)).take(fewest).count();
        if losses < fewest {
            (best, fewest) = (Some(own), losses);
        }
    }
    best
}

/// The order of layouts that do not certainly differ: by how much a limit is missed, then by the target, then by the slowdown.
fn score(trials: &Trials<'_>, results: &Results) -> [u64; 3] {
    let value = |quantity| results.estimate(quantity, trials.objective.confidence).estimate;
    // In steps of a percent, so that the slowdown decides between targets that are nearly equal.
    let step = |value: f64| match value.is_nan() {
        true => u64::MAX,
        false => (value.max(1e-9).ln() * 100.0).round() as i64 as u64 ^ (1 << 63),
    };
    let missed = step(trials.objective.missed(results).by);
    [missed, step(value(&trials.objective.target)), value(&slowdown()).to_bits()]
}

/// The last criterion of the order, so that it is total: the layout itself.
fn name(layout: &Layout) -> (&[u32], &[Picos]) {
    (&layout.reservations, &layout.cutoffs)
}

fn stays(trials: &Trials<'_>, runner: &Contender, other: &Contender, round: usize) -> bool {
    match (runner.rounds.get(round), other.rounds.get(round)) {
        (None, _) => false,
        (Some(own), _) if own.overloaded => false,
        (Some(_), None) => true,
        (Some(own), Some(other)) => trials.objective.order(own, other) != Order::Worse,
    }
}

/// Is `leader` certainly better than `incumbent`, in as many replications as both have?
fn beats(trials: &Trials<'_>, leader: &Contender, incumbent: &Contender) -> bool {
    let rounds = leader.rounds.len().min(incumbent.rounds.len());
    match (leader.last(), rounds.checked_sub(1)) {
        (None, _) => false,
        (Some(own), None) => !own.overloaded,
        (Some(_), Some(last)) => {
            trials.objective.order(&leader.rounds[last], &incumbent.rounds[last]) == Order::Better
        }
    }
}

/// The statistics of `contender` so far.
pub(crate) fn summary(trials: &Trials<'_>, contender: &Contender) -> Tried {
    let known = contender.last();
    let steady = known.filter(|results| !results.overloaded);
    let value = |quantity| Some(steady?.estimate(quantity, trials.objective.confidence).estimate);
    Tried {
        layout: contender.layout.clone(),
        replications: known.map_or(0, |results| results.accounts.len() as u32),
        target: value(&trials.objective.target),
        slowdown: value(&slowdown()),
        preemptions: steady.map(preemptions),
        refused: contender.refused.clone(),
    }
}

#[cfg(test)]
mod tests {
    use caudal_stats::{Histogram, Replicated};

    use super::*;
    use crate::lanes::trials::tests::{mould, with_trials};

    fn replicated(values: impl Fn(u32) -> u64) -> Replicated {
        let mut all = Replicated::default();
        for run in 0..16 {
            let mut one = Histogram::default();
            (0..10).for_each(|_| one.record(values(run)));
            all.push(&one);
        }
        all
    }

    fn contender(base: &Results, servers: u32, p99_ns: u64, slowdown: impl Fn(u32) -> u64) -> Contender {
        let mut results = base.clone();
        results.all.latency_ps = replicated(|_| p99_ns * 1_000);
        results.all.slowdown = replicated(|run| slowdown(run) * 1_024);
        Contender { rounds: vec![results], ..Contender::new(Layout::single(servers)) }
    }

    #[test]
    fn who_leads_does_not_depend_on_the_order_of_the_runners() {
        let base = mould();
        // All are alike in the target, the third a little longer. It is certainly better than the first by its slowdown;
        // the second, of which little is known, differs from neither.
        let runners = [
            contender(&base, 1, 100_710, |_| 100),
            contender(&base, 2, 101_000, |run| if run.is_multiple_of(3) { 300 } else { 30 }),
            contender(&base, 3, 101_600, |_| 50),
        ];
        with_trials(|trials| {
            let order =
                |a: usize, b: usize| trials.objective.order(&runners[a].rounds[0], &runners[b].rounds[0]);
            assert_eq!([order(2, 0), order(1, 0), order(1, 2)], [Order::Better, Order::Same, Order::Same]);
            for [a, b, c] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let turned = [a, b, c].map(|index: usize| runners[index].clone());
                let leader = lead(trials, &turned, 0).expect("nobody is overloaded");
                assert_eq!(turned[leader].layout.servers(), 2, "{a} {b} {c}");
            }
        });
    }

    #[test]
    fn where_all_lose_the_fewest_losses_lead() {
        // 0 loses against 1, 1 against 2, 2 against 0, and 0 against 3 as well.
        let losses = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 1), (3, 2)];
        let loses = |own: usize, other: usize| losses.contains(&(own, other));
        assert_eq!(fewest_losses(&[0, 1, 2, 3], loses), Some(1));
        assert_eq!(fewest_losses(&[3, 2, 0, 1], loses), Some(2), "the first of two with one loss");
        assert_eq!(fewest_losses(&[], loses), None);
    }
}
