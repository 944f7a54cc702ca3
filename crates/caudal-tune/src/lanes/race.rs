//! A race: who is certainly behind drops out, the rest run on.

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::objective::{Order, preemptions, slowdown};
use super::trials::{Contender, ROUNDS, Trials};
use crate::{TuneError, crew};

/// A layout that was tried, with what came of it.
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
    /// Why it was not simulated.
    pub refused: Option<String>,
}

/// What a race came to.
pub(crate) struct Raced {
    pub(crate) tried: Vec<Tried>,
    /// The best of them.
    pub(crate) leader: Option<Contender>,
    /// Is it better than the one that they ran against?
    pub(crate) better: bool,
}

/// Runs `layouts` against one another and against `incumbent`.
pub(crate) fn race(
    trials: &Trials<'_>,
    incumbent: &mut Contender,
    layouts: Vec<Layout>,
) -> Result<Raced, TuneError> {
    let mut runners: Vec<Contender> = layouts.into_iter().map(Contender::new).collect();
    let mut tried = Vec::new();
    let mut leader = None;
    for round in 0..ROUNDS.len() {
        advance(trials, &mut runners, round)?;
        trials.advance(incumbent, round, trials.threads)?;
        leader = lead(trials, &runners, round);
        let Some(first) = leader else { break };
        let keep = |runner: &Contender| {
            stays(trials, runner, &runners[first], round) && stays(trials, runner, incumbent, round)
        };
        let kept: Vec<bool> = runners.iter().map(keep).collect();
        let last = round + 1 == ROUNDS.len();
        let alone = kept.iter().filter(|&&kept| kept).count() == 0;
        if last || alone {
            break;
        }
        let mut index = 0;
        let moved = |_: &Contender| {
            index += 1;
            kept[index - 1]
        };
        let (stay, go): (Vec<_>, Vec<_>) = runners.into_iter().partition(moved);
        tried.extend(go.iter().map(|runner| summary(trials, runner)));
        runners = stay;
        leader = None;
    }
    tried.extend(runners.iter().map(|runner| summary(trials, runner)));
    let leader = leader.map(|first| runners.swap_remove(first));
    let better = leader.as_ref().is_some_and(|leader| beats(trials, leader, incumbent));
    Ok(Raced { tried, leader, better })
}

fn advance(trials: &Trials<'_>, runners: &mut [Contender], round: usize) -> Result<(), TuneError> {
    let mut work: Vec<(&mut Contender, Result<(), TuneError>)> =
        runners.iter_mut().map(|runner| (runner, Ok(()))).collect();
    crew::each(trials.threads, &mut work, |(runner, done), threads| {
        *done = trials.advance(runner, round, threads);
    });
    work.into_iter().try_for_each(|(_, done)| done)
}

/// The best of `runners` after `round`: no other is certainly better; of those, the one with the shortest target.
fn lead(trials: &Trials<'_>, runners: &[Contender], round: usize) -> Option<usize> {
    let at = |index: usize| runners[index].rounds.get(round);
    let mut best: Option<usize> = None;
    for index in (0..runners.len()).filter(|&index| at(index).is_some_and(|results| !results.overloaded)) {
        let better = |than: usize| match trials.objective.order(at(index).unwrap(), at(than).unwrap()) {
            Order::Better => true,
            Order::Worse => false,
            Order::Same => score(trials, &runners[index], round) < score(trials, &runners[than], round),
        };
        if best.is_none_or(better) {
            best = Some(index);
        }
    }
    best
}

/// For an order among those that are not certainly different.
fn score(trials: &Trials<'_>, runner: &Contender, round: usize) -> (u64, u64) {
    let Some(results) = runner.rounds.get(round) else { return (u64::MAX, u64::MAX) };
    let value = |quantity| results.estimate(quantity, trials.objective.confidence).estimate;
    // Steps of a percent, so that what can not be told apart is told apart by the slowdown.
    let step = |value: f64| match value.is_nan() {
        true => u64::MAX,
        false => (value.max(1e-9).ln() * 100.0).round() as i64 as u64 ^ (1 << 63),
    };
    (step(value(&trials.objective.target)), value(&slowdown()).to_bits())
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

/// What is known of `contender`.
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
