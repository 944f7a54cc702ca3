//! The SITA family against a brute-force model of its own, and against what the paper proves of it (Mirhosseini et al.,
//! HPCA 2020): on random small traces at no cost, a third of them on a grid of times so that events coincide.
//!
//! `CAUDAL_SITA_TIMES=10` in the environment tries ten times as many traces.

mod common;
mod sita_model;

use caudal_config::Costs;
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use caudal_sim::engine::{Event, Length};
use proptest::prelude::*;
use proptest::sample::select;

use common::{Case, Gaps, Sizes};
use sita_model::{Kind, Model};

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

    /// The same trace in the model.
    fn model(&self, kind: Kind) -> Vec<u64> {
        let tasks: Vec<(u64, u64)> =
            self.preemptive().iter().map(|times| (times.arrival_ps, times.service_ps)).collect();
        Model::new(kind, &self.lanes, &tasks).run()
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
            let model = trace.model(kind);
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
