//! The SITA family against a brute-force model of its own, and against what the paper proves of it (Mirhosseini et al.,
//! HPCA 2020): on random small traces at no cost, a third of them on a grid of times so that events coincide.
//!
//! `CAUDAL_SITA_TIMES=10` in the environment tries ten times as many traces.

use caudal_config::Costs;
use caudal_policy::Picos;
use caudal_policy::discipline::lanes::Broken;
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use caudal_sim::engine::{Event, Length};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::common::{Case, Gaps, Sizes};
use crate::sita_model::{Kind, Model, Mutant, Ran};

/// Tasks of a trace.
const TASKS: u64 = 300;

/// What is run under every discipline of the family.
#[derive(Clone, Debug)]
struct Trace {
    case: Case,
    lanes: SitaConfig,
}

impl Trace {
    /// Times of arrival, service and completion of all tasks under `discipline`, in ps, by the engine.
    fn run(&self, discipline: DisciplineConfig) -> Vec<Times> {
        let case = Case { discipline, ..self.case.clone() };
        let (_, events) = case.ready().watch(true);
        let mut times = vec![Times::default(); TASKS as usize];
        for (now_ps, event) in events {
            match event {
                Event::Arrived { number, service_ps, .. } => {
                    times[number as usize] = Times { arrival_ps: now_ps, service_ps, completion_ps: 0 };
                }
                Event::Completed { number, .. } => times[number as usize].completion_ps = now_ps,
                _ => {}
            }
        }
        times
    }

    fn preemptive(&self) -> Vec<Times> {
        self.run(DisciplineConfig::PreemptiveSita(self.lanes))
    }

    fn sqd(&self) -> Vec<Times> {
        self.run(DisciplineConfig::SqdSita(self.lanes))
    }

    fn isqd(&self) -> Vec<Times> {
        self.run(DisciplineConfig::IsqdSita(self.lanes))
    }

    /// (arrival, service) of all tasks, in ps.
    fn tasks(&self) -> Vec<(u64, u64)> {
        self.preemptive().iter().map(|times| (times.arrival_ps, times.service_ps)).collect()
    }

    /// The same trace in the model.
    fn model(&self, kind: Kind) -> Ran {
        Model::new(kind, &self.lanes, &self.tasks()).run()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    arrival_ps: u64,
    service_ps: u64,
    completion_ps: u64,
}

fn completions(times: &[Times]) -> Vec<u64> {
    times.iter().map(|times| times.completion_ps).collect()
}

/// Lanes that bad cutoffs may overload, and loads at which they do.
fn traces() -> impl Strategy<Value = Trace> {
    let lanes = select(vec![
        (vec![600], vec![1, 1]),
        (vec![600], vec![3, 1]),
        (vec![300, 1_000], vec![1, 1, 1]),
        (vec![500, 2_000], vec![2, 1, 1]),
        (vec![200, 1_000], vec![4, 2, 2]),
        (vec![100, 300, 1_000], vec![1, 2, 1, 1]),
    ]);
    let on_grid = (select(vec![50, 100]), select(vec![vec![100, 1_000], vec![200, 300, 400, 5_000]]));
    let times = prop_oneof![
        2 => Just((Gaps::GridThatEnds(1), Sizes::Exponential(1_000))),
        1 => on_grid.prop_map(|(step_ns, sizes)| (Gaps::GridThatEnds(step_ns), Sizes::Grid(sizes))),
    ];
    (lanes, times, 0.4..1.1_f64, 0..1_000_000_u64).prop_map(
        |((cutoffs, reservations), (gaps, sizes), load, seed)| {
            let cutoffs: Vec<Picos> = cutoffs.into_iter().map(Picos::from_nanos).collect();
            let lanes = SitaConfig::new(&cutoffs, &reservations).expect("sound lanes");
            let length = Length { warm_up: 0, measured: TASKS };
            let plain = Case::plain(lanes.servers(), load, TASKS);
            Trace { case: Case { costs: Costs::FREE, sizes, gaps, seed, length, ..plain }, lanes }
        },
    )
}

fn check(traces_run: u32, test: impl Fn(&Trace) -> Result<(), String>) {
    let times = std::env::var("CAUDAL_SITA_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let cases = traces_run * times;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(trace in traces())| {
        test(&trace).map_err(TestCaseError::fail)?;
    });
}

/// No task completes later in `better` than in `worse`.
fn never_later(better: &[Times], worse: &[Times]) -> Result<(), String> {
    let later = |(better, worse): &(&Times, &Times)| better.completion_ps > worse.completion_ps;
    match better.iter().zip(worse).enumerate().find(|(_, pair)| later(pair)) {
        Some((number, (better, worse))) => Err(format!("task {number}: {better:?} is later than {worse:?}")),
        None => Ok(()),
    }
}

#[test]
fn the_engine_does_what_the_model_does() {
    check(300, |trace| {
        for (name, kind, engine) in [
            ("preemptive", Kind::Preemptive, trace.preemptive()),
            ("SQD", Kind::Decoupled, trace.sqd()),
            ("ISQD", Kind::Interruptible, trace.isqd()),
        ] {
            let model = trace.model(kind).completions;
            let differs = completions(&engine).iter().zip(&model).position(|(engine, model)| engine != model);
            if let Some(number) = differs {
                return Err(format!("{name}, task {number}: {:?}, model {}", engine[number], model[number]));
            }
        }
        Ok(())
    });
}

/// Corollary 1 of section 3.2, and section 3.3.
#[test]
fn nobody_is_later_than_under_ganged_lanes() {
    check(500, |trace| {
        let (preemptive, sqd, isqd) = (trace.preemptive(), trace.sqd(), trace.isqd());
        never_later(&sqd, &preemptive).map_err(|why| format!("SQD against PG-SITA: {why}"))?;
        never_later(&isqd, &preemptive).map_err(|why| format!("ISQD against PG-SITA: {why}"))?;
        never_later(&isqd, &sqd).map_err(|why| format!("ISQD against SQD: {why}"))
    });
}

/// Equations 1 and 3, after every event.
#[test]
fn bounds_hold_at_every_event() {
    check(300, |trace| {
        for discipline in [DisciplineConfig::SqdSita(trace.lanes), DisciplineConfig::IsqdSita(trace.lanes)] {
            if let Some(broken) = (Case { discipline, ..trace.case.clone() }).ready().inspect(|_| true) {
                return Err(broken);
            }
        }
        Ok(())
    });
}

/// Where a preemption takes time, which the paper leaves out, SQD-SITA still never has too many servers in high lanes.
#[test]
fn the_upper_bound_holds_at_a_cost() {
    check(300, |trace| {
        let costs = Costs { preemption: Picos::from_nanos(100), ..Costs::FREE };
        let discipline = DisciplineConfig::SqdSita(trace.lanes);
        let too_many = |broken| matches!(broken, Broken::Upper(_));
        Case { discipline, costs, ..trace.case.clone() }.ready().inspect(too_many).map_or(Ok(()), Err)
    });
}

/// Corollary 2: a server follows its task to the next lane unless that would break the upper bound.
#[test]
fn servers_follow_their_tasks() {
    check(300, |trace| match trace.model(Kind::Decoupled).strayed {
        None => Ok(()),
        Some(task) => Err(format!("the server of task {task} took another one")),
    });
}

/// As cutoffs go to 0, all tasks are in the last lane: its reservations are what SQD-SITA and preemptive SITA come to,
/// and all servers what ISQD-SITA comes to.
#[test]
fn lanes_without_length_are_one_queue() {
    check(100, |trace| {
        let cutoffs: Vec<Picos> = (1..=trace.lanes.cutoffs.len() as u64).map(Picos).collect();
        let lanes = SitaConfig::new(&cutoffs, &trace.lanes.reservations).expect("rising cutoffs");
        let short = Trace { lanes, ..trace.clone() };
        let last = *trace.lanes.reservations.last().expect("a lane");
        let (servers, load) = (trace.case.cores, trace.case.load);
        let few = Case {
            cores: last,
            allocated: last,
            load: load * f64::from(servers) / f64::from(last),
            ..trace.case.clone()
        };
        let last_lane = Trace { case: few, ..trace.clone() }.run(DisciplineConfig::Fcfs);
        alike(&short.preemptive(), &last_lane)?;
        alike(&short.sqd(), &last_lane)?;
        alike(&short.isqd(), &trace.run(DisciplineConfig::Fcfs))
    });
}

/// Do all tasks complete at the same time, to the nanosecond? But for those that end before the last lane.
fn alike(one: &[Times], other: &[Times]) -> Result<(), String> {
    let differ = |(one, other): &(&Times, &Times)| {
        let together = one.completion_ps.abs_diff(other.completion_ps) <= 1_000;
        one.arrival_ps != other.arrival_ps || !together && one.service_ps > 10
    };
    one.iter().zip(other).find(differ).map_or(Ok(()), |pair| Err(format!("{pair:?}")))
}

/// How many of 200 traces show that `mutant` is not the algorithm: somebody is later than under preemptive SITA, or
/// under SQD-SITA.
fn traces_that_notice(mutant: Mutant) -> usize {
    let mut runner = TestRunner::deterministic();
    let traces = (0..200).map(|_| traces().new_tree(&mut runner).expect("a trace").current());
    let notices = |trace: &Trace| {
        let run = |kind| Model::new(kind, &trace.lanes, &trace.tasks()).mutate(mutant).run().completions;
        let (preemptive, sqd, isqd) = (run(Kind::Preemptive), run(Kind::Decoupled), run(Kind::Interruptible));
        let later = |better: &[u64], worse: &[u64]| better.iter().zip(worse).any(|(a, b)| a > b);
        later(&sqd, &preemptive) || later(&isqd, &preemptive) || later(&isqd, &sqd)
    };
    traces.filter(notices).count()
}

#[test]
fn corollaries_tell_the_algorithm_from_what_is_like_it() {
    assert_eq!(traces_that_notice(Mutant::None), 0);
    // The traces are always the same. Ties are there only where times are on a grid.
    for (mutant, least) in
        [(Mutant::RequeueAtTail, 60), (Mutant::PreemptOldest, 150), (Mutant::TiesByServer, 5)]
    {
        let noticed = traces_that_notice(mutant);
        assert!(noticed >= least, "{mutant:?}: {noticed} of 200 traces, and not {least}");
    }
}

/// One lane is a queue that all servers share.
#[test]
fn one_lane_is_first_come_first_served() {
    check(60, |trace| {
        let lanes = SitaConfig::new(&[], &[trace.lanes.servers()]).expect("one lane");
        let one = Trace { lanes, ..trace.clone() };
        let plain = trace.run(DisciplineConfig::Fcfs);
        for other in [one.preemptive(), one.sqd(), one.isqd()] {
            if other != plain {
                return Err("not first come first served".to_owned());
            }
        }
        Ok(())
    });
}

/// The fifth task arrives when others reach a cutoff. If it comes first, it stops one of them there, which so enters the
/// next lane before an older one, and the second task is later than it would be if nobody were interrupted: a trace that
/// breaks corollary 1, and why timers come first.
#[test]
fn arrivals_before_timers_break_the_first_corollary() {
    let cutoffs = [300, 1_000].map(Picos::from_nanos);
    let lanes = SitaConfig::new(&cutoffs, &[1, 1, 1]).expect("sound lanes");
    let us = |tenths: u64| tenths * 100_000;
    let tasks = [(0, 50), (37, 50), (37, 50), (47, 50), (54, 4)].map(|(at, size)| (us(at), us(size)));
    let run = |kind, mutant| Model::new(kind, &lanes, &tasks).mutate(mutant).run().completions;
    let later = |mutant| {
        let (sqd, isqd) = (run(Kind::Decoupled, mutant), run(Kind::Interruptible, mutant));
        (0..tasks.len()).filter(|&task| isqd[task] > sqd[task]).collect::<Vec<_>>()
    };
    assert!(later(Mutant::None).is_empty());
    assert_eq!(later(Mutant::ArrivalsFirst), [1]);
}
