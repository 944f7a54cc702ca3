//! Short cuts of the engine: whichever of them are left out, random systems come to the same results.

use caudal_config::{Costs, Pools};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::{DisciplineConfig, ProcessorSharingConfig, SitaConfig};
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::{RebalanceConfig, WorkStealingConfig};
use caudal_sim::engine::{ClassStats, Outcome, Queues, Route, Run, ShortCut, ShortCuts, Unwatched, simulate};
use caudal_stats::Histogram;
use proptest::prelude::*;

use crate::common::strategies::{Among, cases, keyed, lanes, sharing};
use crate::common::{Case, Ready};

/// The route of a run, as a short cut; none where it takes none that shows in its route.
fn short_cut_of(route: Route) -> Option<ShortCut> {
    match route {
        Route::Central => Some(ShortCut::Central),
        Route::Stealing => Some(ShortCut::Stealing),
        Route::Lanes => Some(ShortCut::Lanes),
        Route::General(Queues::Leaps) => Some(ShortCut::Leaps),
        Route::General(Queues::Lines) => Some(ShortCut::Lines),
        Route::General(Queues::Fluid | Queues::Steps) | Route::Authors | Route::Forks | Route::Contexts => {
            None
        }
    }
}

fn run_with(ready: &Ready, short_cuts: ShortCuts) -> Outcome {
    simulate(&Run { short_cuts, ..ready.run(false) }, Unwatched)
}

fn histogram(found: &Histogram) -> String {
    format!("{} {} {:?}", found.count(), found.sum(), found.iter().collect::<Vec<_>>())
}

/// All that is known of a class. Leaps count preemptions, and what these cost, when a request completes, so where they may be
/// taken the two parts of that time are shown as one.
fn class_facts(class: &ClassStats, leaps: bool) -> String {
    let stopped_ps = class.preempted_ps + class.overhead_ps;
    format!(
        "{} | {} | queued {} behind {:?} stopped {stopped_ps} overhead {:?} probes {} preemptions {}",
        histogram(&class.latency_ps),
        histogram(&class.slowdown),
        class.queued_ps,
        class.behind_long_ps.map(f64::to_bits),
        (!leaps).then_some(class.overhead_ps),
        class.probe_ps,
        class.preemptions,
    )
}

/// All that comes out of a run but the number of events that it took.
fn facts(outcome: &Outcome, leaps: bool) -> Vec<String> {
    let mut account = outcome.account;
    if leaps {
        (account.preemptions, account.switching_ps) = (0, 0);
    }
    let mut all: Vec<_> = outcome.classes.iter().map(|class| class_facts(class, leaps)).collect();
    all.push(format!("{account:?}"));
    all.push(format!(
        "{:?} {:?} {:?} span {} end {} unfinished {} arrived {}",
        outcome.overload,
        outcome.overload_work,
        outcome.backlog,
        outcome.span_ps,
        outcome.end_ps,
        outcome.unfinished,
        outcome.arrived
    ));
    all
}

/// Does `case` come to the same whichever short cut is left out, and without all of them?
fn agrees(case: &Case) -> Result<(), TestCaseError> {
    let ready = case.ready();
    let leaps = matches!(case.discipline, DisciplineConfig::ProcessorSharing(_));
    let general = facts(&run_with(&ready, ShortCuts::NONE), leaps);
    let sets = ShortCut::ALL.map(|left_out| ShortCuts::ALL.without(left_out));
    for set in sets.into_iter().chain([ShortCuts::ALL, ShortCuts::STEPWISE]) {
        prop_assert_eq!(facts(&run_with(&ready, set), leaps), general.clone(), "{:?}", set);
    }
    Ok(())
}

/// `case` without what keeps short cuts away: cores that come and go, dispatchers that take time, costs of measured runs.
fn plain(case: Case) -> Case {
    let Costs { start, finish, hop, wake_up, stalls, dispatcher, dispatcher_quantum, .. } = Costs::FREE;
    let costs = Costs { start, finish, hop, wake_up, stalls, dispatcher, dispatcher_quantum, ..case.costs };
    Case { allocated: case.cores, allocation: AllocationConfig::Static, costs, ..case }
}

fn systems(disciplines: Vec<DisciplineConfig>, per_core: bool) -> impl Strategy<Value = Case> {
    let among = Among { disciplines, moves: true, allocations: true, per_core };
    (cases(among, 250), any::<bool>()).prop_map(|(case, is_plain)| if is_plain { plain(case) } else { case })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn first_come_first_served_is_the_same_without_short_cuts(
        case in prop_oneof![systems(vec![DisciplineConfig::Fcfs], false), systems(vec![DisciplineConfig::Fcfs], true)],
    ) {
        agrees(&case)?;
    }

    #[test]
    fn processor_sharing_is_the_same_without_short_cuts(
        case in prop_oneof![systems(sharing(), false), systems(sharing(), true)],
    ) {
        agrees(&case)?;
    }

    #[test]
    fn other_disciplines_are_the_same_without_short_cuts(case in systems([keyed(), lanes()].concat(), false)) {
        agrees(&case)?;
    }
}

/// A system for each short cut that shows in the route.
fn examples() -> Vec<(ShortCut, Case)> {
    let per_core = |cores| Case { pools: Pools::PerCore, ..Case::plain(cores, 0.7, 500) };
    let costs = Costs { steal_check: Picos::from_nanos(100), steal: Picos::from_nanos(100), ..Costs::FREE };
    let stealing = RebalanceConfig::WorkStealing(WorkStealingConfig::default());
    let lanes = SitaConfig::new(&[Picos::from_nanos(700)], &[3, 1]).expect("sound lanes");
    vec![
        (ShortCut::Central, Case::plain(4, 0.7, 500)),
        (ShortCut::Stealing, Case { rebalance: stealing, costs, ..per_core(4) }),
        (ShortCut::Lanes, Case { discipline: DisciplineConfig::IsqdSita(lanes), ..Case::plain(4, 0.7, 500) }),
        (
            ShortCut::Leaps,
            Case {
                discipline: DisciplineConfig::ProcessorSharing(ProcessorSharingConfig::default()),
                ..per_core(4)
            },
        ),
        (ShortCut::Lines, Case { dispatch: DispatchConfig::LeastWork, ..per_core(4) }),
    ]
}

#[test]
fn a_short_cut_that_is_left_out_is_not_taken() {
    for (short_cut, case) in examples() {
        let ready = case.ready();
        let route = |short_cuts| Route::of_run(&Run { short_cuts, ..ready.run(false) });
        assert_eq!(short_cut_of(route(ShortCuts::ALL)), Some(short_cut));
        assert_eq!(Route::of(&ready.system, &ready.costs), Ok(route(ShortCuts::ALL)));
        assert_ne!(short_cut_of(route(ShortCuts::ALL.without(short_cut))), Some(short_cut));
        assert_eq!(short_cut_of(route(ShortCuts::NONE)), None);
    }
}

#[test]
fn loops_of_their_own_take_other_events_than_the_general_one() {
    for (short_cut, case) in examples() {
        let ready = case.ready();
        let events = |short_cuts| run_with(&ready, short_cuts).events.0;
        let (with, without) = (events(ShortCuts::ALL), events(ShortCuts::NONE));
        let fewer = matches!(short_cut, ShortCut::Central | ShortCut::Stealing | ShortCut::Leaps);
        assert!(if fewer { with < without } else { with <= without }, "{short_cut:?}");
    }
}
