//! The rows about speed on one core.
//! `caudal-bench` runs them one after the other, each in a process of its own, and prints them among the others.

use caudal_policy::Picos;

use crate::case::{Case, LOADS, Work, fork_policies};
use crate::limit;
use crate::measure::{Clock, Contender, Figure, Sample, alternate};
use crate::row::{Row, Target, short};

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds; in each, every contender has several short runs.
    pub(crate) rounds: u32,
    /// Seed of the first round; the next ones count on.
    pub(crate) seed: u64,
    /// A tenth of the requests: for trying out, not for judging.
    pub(crate) quick: bool,
}

/// Turns of the contenders in a round.
pub(crate) const TURNS: u32 = 8;

impl Effort {
    /// `requests` a round and contender, in [`TURNS`] short runs: neighbours on the machine come and go within
    /// seconds, and a ratio within a turn does not notice what lasts longer than that.
    fn alternate(&self, contenders: &[Contender], requests: u64) -> Vec<Vec<Sample>> {
        let requests = if self.quick { requests / 10 } else { requests };
        alternate(contenders, self.rounds * TURNS, requests / u64::from(TURNS), self.seed)
    }
}

/// A figure of every round, by both clocks.
fn figures(rounds: &[Vec<Sample>], of: impl Fn(&[Sample], Clock) -> f64) -> (Figure, Option<Figure>) {
    let by = |clock| Figure::of(rounds.iter().map(|round| of(round, clock)));
    (by(Clock::Cpu), Some(by(Clock::Wall)))
}

/// Million requests a second of the contender at `index`.
fn rate(rounds: &[Vec<Sample>], index: usize) -> (Figure, Option<Figure>) {
    figures(rounds, |round, clock| 1e-6 / round[index].cost_s(clock))
}

/// Cost of a request of `index` over that of `base`, within each round.
fn cost_ratio(rounds: &[Vec<Sample>], index: usize, base: usize) -> (Figure, Option<Figure>) {
    figures(rounds, |round, clock| round[index].cost_s(clock) / round[base].cost_s(clock))
}

/// `12.3 M/s against 4.5 M/s`, of the contenders at two indices.
fn against(rounds: &[Vec<Sample>], index: usize, base: usize) -> String {
    let median = |index| short(rate(rounds, index).0.value);
    format!("{} M/s against {} M/s", median(index), median(base))
}

/// M/M/16 against the limit.
pub(crate) fn single_queue(effort: &Effort) -> Vec<Row> {
    let load = 0.8;
    let contenders =
        [Contender::engine(Case::single_queue(limit::SERVERS as u32, load)), Contender::Limit(load)];
    let rounds = effort.alternate(&contenders, 4_000_000);
    let (measured, wall) = cost_ratio(&rounds, 1, 0);
    vec![Row {
        work: "M/M/16 FCFS, load 0.8, against the limit".to_owned(),
        unit: "x",
        measured,
        wall,
        target: Target::AtLeast(0.8),
        detail: against(&rounds, 0, 1),
    }]
}

/// Stealing on 32 cores at every load, and what a request costs on 1024.
pub(crate) fn stealing(effort: &Effort) -> Vec<Row> {
    let mut rates = Vec::new();
    let mut ratios = Vec::new();
    for load in LOADS {
        let contenders = [32, 1024].map(|cores| Contender::engine(Case::stealing(cores, load)));
        // On 1024 cores that is two thousand for each.
        let rounds = effort.alternate(&contenders, 2_000_000);
        let (measured, wall) = rate(&rounds, 0);
        rates.push(Row {
            work: format!("32 cores, stealing, load {load}"),
            unit: "M/s",
            measured,
            wall,
            target: Target::AtLeast(if load == 0.5 { 6.0 } else { 4.0 }),
            detail: format!("{} ns a request", short(1e3 / measured.value)),
        });
        let (measured, wall) = cost_ratio(&rounds, 1, 0);
        ratios.push(Row {
            work: format!("1024 cores over 32, stealing, load {load}, cost"),
            unit: "x",
            measured,
            wall,
            target: Target::AtMost(1.5),
            detail: against(&rounds, 1, 0),
        });
    }
    rates.extend(ratios);
    rates
}

/// ISQD-SITA on 8 servers, and what a request costs on 1024.
pub(crate) fn lanes(effort: &Effort) -> Vec<Row> {
    let mut rates = Vec::new();
    let mut ratios = Vec::new();
    for work in Work::ALL {
        for load in [0.7, 0.95] {
            let contenders = [8, 1024].map(|servers| Contender::engine(Case::lanes(servers, work, load)));
            let rounds = effort.alternate(&contenders, 2_000_000);
            let (measured, wall) = rate(&rounds, 0);
            if load == 0.7 {
                rates.push(Row {
                    work: format!("8 servers, ISQD-SITA 4/2/2, load {load}, {}", work.name()),
                    unit: "M/s",
                    measured,
                    wall,
                    target: Target::AtLeast(8.0),
                    detail: format!("{} ns a request", short(1e3 / measured.value)),
                });
            }
            let (measured, wall) = cost_ratio(&rounds, 1, 0);
            ratios.push(Row {
                work: format!("1024 servers over 8, ISQD-SITA, load {load}, {}, cost", work.name()),
                unit: "x",
                measured,
                wall,
                target: Target::AtMost(2.0),
                detail: against(&rounds, 1, 0),
            });
        }
    }
    rates.extend(ratios);
    rates
}

/// Requests that fork on 16 cores, by the leaf.
pub(crate) fn forks(effort: &Effort) -> Vec<Row> {
    let policies = fork_policies();
    let contenders: Vec<Contender> = policies
        .iter()
        .map(|(name, parallelism)| Contender::engine(Case::forks(name, parallelism.clone())))
        .collect();
    let rounds = effort.alternate(&contenders, 200_000);
    let row = |index: usize, (name, _): &(&str, _)| {
        let (measured, wall) = figures(&rounds, |round, clock| round[index].quanta_per_s(clock) * 1e-6);
        Row {
            work: format!("16 cores, log-normal, 64 leaves, load 0.75, {name}"),
            unit: "M tasks/s",
            measured,
            wall,
            target: Target::AtLeast(if *name == "steal-first" { 6.0 } else { 4.0 }),
            detail: format!("{} ns a task", short(1e3 / measured.value)),
        }
    };
    policies.iter().enumerate().map(|(index, policy)| row(index, policy)).collect()
}

/// Processor sharing with two quanta, on 16 and on 1024 cores.
pub(crate) fn sharing(effort: &Effort) -> Vec<Row> {
    let quanta = [Picos::from_nanos(2_000), Picos::from_nanos(100)];
    let contenders: Vec<Contender> = [16, 1024]
        .into_iter()
        .flat_map(|cores| quanta.map(|quantum| Contender::engine(Case::sharing(cores, quantum))))
        .collect();
    let rounds = effort.alternate(&contenders, 2_000_000);
    let (measured, wall) = figures(&rounds, |round, clock| round[0].quanta_per_s(clock) * 1e-6);
    let mut rows = vec![Row {
        work: "16 workers, extreme bimodal, load 0.7, PS 2us, JSQ-MSQ".to_owned(),
        unit: "M quanta/s",
        measured,
        wall,
        target: Target::AtLeast(20.0),
        detail: format!("{} M requests/s", short(rate(&rounds, 0).0.value)),
    }];
    let ratio = |work: String, index: usize, base: usize| {
        let (measured, wall) = cost_ratio(&rounds, index, base);
        let detail = against(&rounds, index, base);
        Row { work, unit: "x", measured, wall, target: Target::AtMost(1.5), detail }
    };
    rows.push(ratio("the same, quantum 100ns over 2us, cost".to_owned(), 1, 0));
    for (index, quantum) in quanta.iter().enumerate() {
        rows.push(ratio(format!("1024 cores over 16, PS {quantum}, JSQ-MSQ, cost"), 2 + index, index));
    }
    rows
}
