//! A run can be told to stop, whichever loop runs it, and a flag that nobody sets changes nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::{ContextsConfig, Costs, Pools, System};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::{RebalanceConfig, WorkStealingConfig};
use caudal_sim::engine::{Event, Length, Observer, Queues, Route, Run, Unwatched, simulate};

use crate::common::{Case, Ready};

/// Requests after which a run that was told to stop before it began has stopped for certain, and events: some for each of them.
const SOON: u64 = 600;

/// A system for each loop, each with many more requests than it takes to stop.
fn examples() -> Vec<(Route, Ready)> {
    let plain = |cores| Case::plain(cores, 0.7, 100_000);
    let per_core = |cores| Case { pools: Pools::PerCore, ..plain(cores) };
    let costs = Costs { steal_check: Picos::from_nanos(100), ..Costs::FREE };
    let rebalance = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    let lanes = SitaConfig::new(&[Picos::from_nanos(700)], &[3, 1]).expect("sound lanes");
    let sharing = DisciplineConfig::ProcessorSharing(ProcessorSharingConfig::default());
    let of = |case: Case| case.ready();
    let forks = System { parallelism: ParallelismConfig::StealFirst, ..System::single_queue(4) };
    let contexts =
        System { contexts: Some(ContextsConfig::of(2)), pools: Pools::PerCore, ..System::single_queue(4) };
    vec![
        (Route::Central, of(plain(4))),
        (Route::Stealing, of(Case { rebalance, costs, ..per_core(4) })),
        (Route::Lanes, of(Case { discipline: DisciplineConfig::IsqdSita(lanes), ..plain(4) })),
        (Route::General(Queues::Leaps), of(Case { discipline: sharing, ..per_core(4) })),
        (Route::General(Queues::Steps), of(Case { discipline: sharing, ..plain(4) })),
        (Route::General(Queues::Lines), of(per_core(4))),
        (Route::Forks, Ready { system: forks, ..of(plain(4)) }),
        (Route::Contexts, Ready { system: contexts, ..of(plain(4)) }),
    ]
}

#[test]
fn a_run_that_is_told_to_stop_does_so_soon() {
    let stop = AtomicBool::new(true);
    for (route, ready) in examples() {
        let run = Run { stop: Some(&stop), ..ready.run(false) };
        assert_eq!(Route::of_run(&run), route);
        let outcome = simulate(&run, Unwatched);
        assert!(outcome.events.0 < 8 * SOON, "{route:?}: {} events", outcome.events.0);
    }
}

#[test]
fn a_flag_that_nobody_sets_changes_nothing() {
    let stop = AtomicBool::new(false);
    for (route, ready) in examples() {
        let ready = Ready { length: Length { warm_up: 100, measured: 1_000 }, ..ready };
        let [with, without] = [Some(&stop), None]
            .map(|stop| format!("{:?}", simulate(&Run { stop, ..ready.run(false) }, Unwatched)));
        assert_eq!(with, without, "{route:?}");
    }
}

/// Sets a flag when it has seen enough.
struct Enough<'a> {
    stop: &'a AtomicBool,
    arrived: u64,
}

impl Observer for &mut Enough<'_> {
    fn observe(&mut self, _now_ps: u64, event: Event) {
        self.arrived += u64::from(matches!(event, Event::Arrived { .. }));
        if self.arrived == 1_000 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_observer_can_end_the_run_that_it_watches() {
    for (route, ready) in examples() {
        let stop = AtomicBool::new(false);
        let mut enough = Enough { stop: &stop, arrived: 0 };
        simulate(&Run { stop: Some(&stop), ..ready.run(true) }, &mut enough);
        assert!((1_000..1_000 + SOON).contains(&enough.arrived), "{route:?}: {} arrivals", enough.arrived);
    }
}
