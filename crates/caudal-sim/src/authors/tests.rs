//! Small cases, reckoned by hand to the ns. All requests come late enough to count.

use caudal_config::{Costs, Pools, System};
use caudal_policy::dispatch::{DispatchConfig, JbsqConfig};
use caudal_workload::{Arrivals, find_named};

use super::Rules;
use super::accounting::Records;
use super::machine::{AuthorsMachine, Doing};
use super::setup::{Balance, Growth, Setup};
use super::source::Source;
use crate::engine::{Length, Run, ShortCuts};

const SETUP: Setup = Setup {
    cores: 2,
    balance: Balance::Random,
    growth: Growth::Static,
    check_ns: 100,
    steal_ns: 100,
    shed_ns: 100,
    enqueue_ns: 100,
    hand_over_ns: 100,
    allocation_ns: 5_000,
    search_min_ns: 100,
    self_park: false,
    duration_ns: 90_000,
};

/// Everything arrives from 10 us on.
fn machine(setup: Setup, seed: u64, requests: &[(u64, u64)]) -> AuthorsMachine {
    let (source, ahead) = Source::listed(requests);
    let records = Records::new(1, &ahead, setup.duration_ns, true, (false, false));
    AuthorsMachine::new(setup, source, ahead, records, seed)
}

/// Latencies in order of completion, after the run.
fn latencies_ns(machine: &mut AuthorsMachine) -> Vec<u64> {
    machine.run();
    machine.records.latencies_ns().to_vec()
}

#[test]
fn an_undisturbed_request_takes_its_service_time_and_the_next_follows_without_a_gap() {
    let setup = Setup { cores: 1, ..SETUP };
    let mut machine = machine(setup, 1, &[(10_000, 5), (20_000, 7), (20_003, 4), (30_000, 1), (30_000, 1)]);
    // The first is seen late; the third waits until the ns after the second's last one.
    assert_eq!(latencies_ns(&mut machine), [6, 7, 8, 1, 2]);
    assert_eq!(machine.ledger.task_ns, 18);
    // The ns in which idling ends is charged twice.
    let wakeups = 2;
    assert_eq!(machine.ledger.spinning_ns + machine.ledger.task_ns, (30_001 - 10_000) + wakeups);
}

#[test]
fn the_idle_core_of_least_id_serves_a_shared_queue() {
    let setup = Setup { balance: Balance::Single, ..SETUP };
    let mut machine = machine(setup, 1, &[(10_000, 100), (10_050, 500), (10_060, 100), (10_061, 100)]);
    assert_eq!(latencies_ns(&mut machine), [101, 10_200 - 10_060 + 1, 10_300 - 10_061 + 1, 500]);
}

#[test]
fn a_core_pulls_as_many_as_may_wait_while_others_idle() {
    let setup = Setup { balance: Balance::Jbsq { waiting: 2 }, ..SETUP };
    let mut machine = machine(setup, 1, &[(10_000, 1_000), (10_000, 1_000), (10_000, 1_000), (10_000, 900)]);
    assert_eq!(latencies_ns(&mut machine), [901, 1_001, 2_001, 3_001]);
}

#[test]
fn a_thief_pays_for_the_check_and_for_the_steal() {
    let setup = Setup { balance: Balance::Steal, ..SETUP };
    for seed in 0..4 {
        let mut machine = machine(setup, seed, &[(10_000, 5_000), (10_000, 1_000)]);
        machine.available = vec![0];
        assert_eq!(latencies_ns(&mut machine), [1_201, 5_001]);
        assert_eq!((machine.ledger.steals, machine.ledger.steals_empty), (1, 0));
    }
}

#[test]
fn walks_last_as_long_as_in_the_original() {
    for (cores, plain_ns, wrapped_ns) in [(8, 700, 800), (16, 1_501, 1_601), (32, 3_101, 3_201)] {
        let setup = Setup { cores, balance: Balance::Steal, duration_ns: 400_000, ..SETUP };
        let mut machine = machine(setup, 5, &[(10_000, 1_000_000)]);
        let mut began_ns = vec![None; cores];
        let (mut plain, mut wrapped) = (0, 0);
        while machine.advance() {
            for (core, began_ns) in machine.cores.iter().zip(&mut began_ns) {
                if core.doing != Doing::Walking || *began_ns == Some(core.since_ns) {
                    continue;
                }
                match began_ns.replace(core.since_ns).map(|before_ns: u64| core.since_ns - before_ns) {
                    None => {}
                    Some(ns) if ns == plain_ns => plain += 1,
                    Some(ns) if ns == wrapped_ns => wrapped += 1,
                    Some(ns) => panic!("a walk of {ns} ns past {cores} cores"),
                }
            }
        }
        // One of so many starts from the walker's own place.
        let share = f64::from(wrapped) / f64::from(plain + wrapped);
        assert!((share * cores as f64 - 1.0).abs() < 0.35, "{wrapped} of {}", plain + wrapped);
    }
}

#[test]
fn a_walker_sees_its_own_queue_every_microsecond() {
    let setup = Setup { cores: 16, balance: Balance::Steal, ..SETUP };
    // Core 0 is busy; the others began to walk with ns 10,001 and check their own queues at 11,001.
    let mut machine = machine(setup, 3, &[(10_000, 30_000), (10_950, 50)]);
    machine.available = vec![0];
    while machine.now_ns < 10_900 && machine.advance() {}
    machine.available = vec![15];
    while machine.advance() && machine.ledger.completed == 0 {}
    // A thief that finds the request in the same ns comes 100 ns too late.
    assert_eq!(machine.records.latencies_ns(), [11_050 - 10_950 + 1]);
}

#[test]
fn the_second_request_in_line_raises_the_flag() {
    let setup = Setup { balance: Balance::Shed { threshold_ns: 2_000 }, ..SETUP };
    let four = [(10_000, 3_000), (10_000, 1_000), (10_000, 1_000), (10_000, 1_000)];
    let mut all = machine(setup, 1, &four);
    all.available = vec![0];
    assert_eq!(latencies_ns(&mut all), [3_001, 4_001, 4_101, 5_001]);
    assert_eq!(all.ledger.sheds, 1);
    // Only one waits, be it as old as it may.
    let mut two = machine(setup, 1, &four[..2]);
    two.available = vec![0];
    assert_eq!(latencies_ns(&mut two), [3_001, 4_001]);
    assert_eq!(two.ledger.sheds, 0);
}

#[test]
fn a_core_that_runs_a_request_pays_for_the_choice() {
    let setup = Setup { balance: Balance::Choose { k: 2 }, ..SETUP };
    let mut payers = [0; 2];
    for seed in 0..20 {
        let mut machine = machine(setup, seed, &[(10_000, 5_000), (12_000, 1_000)]);
        machine.advance();
        let payer = machine.running[0];
        payers[payer as usize] += 1;
        // The payer's turn comes before that of core 1 and after that of core 0.
        let there_ns = if payer == 0 { 100 } else { 101 };
        assert_eq!(latencies_ns(&mut machine), [1_000 + there_ns, 5_101]);
        assert_eq!(machine.ledger.paying_ns, 100);
    }
    assert!(payers[0] > 0 && payers[1] > 0, "{payers:?}");
}

#[test]
fn a_machine_whose_cores_have_all_parked_waits_for_a_tick() {
    let growth = Growth::Oldest { every_ns: 5_000, threshold_ns: 5_000 };
    let setup = Setup { balance: Balance::Steal, growth, self_park: true, ..SETUP };
    let mut machine = machine(setup, 1, &[(10_000, 100), (50_001, 300)]);
    // At 55,000 it is 4,999 ns old. The core of 60,000 is there at 65,000, but checks after that tick, which
    // grants another one; that is on its way for the 300 ns that the run still lasts.
    assert_eq!(latencies_ns(&mut machine), [101, 65_000 + 300 - 50_001]);
    assert_eq!((machine.ledger.grants, machine.ledger.allocating_ns), (2, 5_300));
}

#[test]
fn the_last_available_queue_stays() {
    let growth = Growth::Oldest { every_ns: 5_000, threshold_ns: 5_000 };
    let setup = Setup { balance: Balance::Steal, growth, self_park: true, ..SETUP };
    let mut machine = machine(setup, 1, &[(10_000, 100), (50_001, 300)]);
    while machine.now_ns < 40_000 && machine.advance() {}
    assert_eq!((machine.parked.len(), machine.available.len()), (2, 1));
}

#[test]
fn per_task_allocation_pays_for_a_lone_request_and_keeps_it() {
    // Core 0 runs; core 1 yields at once. A second request is one more than there are idle cores, until the
    // one that pays counts itself as idle. With a third, one goes to core 1, which takes 5 us to come.
    let setup = Setup { balance: Balance::Steal, growth: Growth::PerTask, self_park: true, ..SETUP };
    let mut two = machine(setup, 1, &[(10_000, 20_000), (15_000, 100)]);
    two.available = vec![0];
    while two.advance() && two.ledger.paying_ns == 0 {}
    assert_eq!((two.ledger.paying_ns, two.ledger.grants), (100, 0));
    let mut three = machine(setup, 1, &[(10_000, 20_000), (15_000, 100), (15_000, 200)]);
    three.available = vec![0];
    while three.advance() && three.ledger.paying_ns == 0 {}
    assert_eq!((three.ledger.paying_ns, three.ledger.grants), (100, 1));
    // Handed over with ns 15,100; core 1 has had no turn in it yet and comes with it.
    assert_eq!(latencies_ns(&mut three)[0], 20_100 + 100 - 15_000);
}

#[test]
fn the_highest_core_comes_and_the_lowest_idle_one_goes() {
    let growth = Growth::Delay { every_ns: 5_000, low_ns: 500, high_ns: 1_000 };
    let setup = Setup { cores: 4, growth, ..SETUP };
    // Core 0 is busy for 30 us. Nothing waits at first, so that a core goes at 15,000 and one at 20,000.
    let late: Vec<(u64, u64)> = (0..4).map(|_| (21_000, 30_000)).collect();
    let mut machine = machine(setup, 1, &[&[(10_000, 30_000)], &late[..]].concat());
    machine.available = vec![0];
    while machine.now_ns < 15_000 && machine.advance() {}
    machine.available = vec![0, 2, 3];
    assert!(machine.parked.iter().eq([1]));
    while machine.now_ns < 20_000 && machine.advance() {}
    assert!(machine.parked.iter().eq([1, 2]));
    // Four requests have waited for 4 us at core 0 by 25,000: as the mean of two queues, more than 1 us.
    machine.available = vec![0];
    while machine.parked.len() == 2 && machine.advance() {}
    assert!(machine.now_ns == 25_000 && machine.parked.iter().eq([1]));
}

#[test]
fn a_system_is_put_in_whole_ns_and_in_the_original_s_terms() {
    let service = find_named("exp-1us").expect("a named workload").compile().expect("it compiles");
    let dispatch = DispatchConfig::Jbsq(JbsqConfig { bound: 3 });
    let system = System { pools: Pools::PerCore, dispatch, cores_allocated: 6, ..System::single_queue(8) };
    let run = Run {
        system: &system,
        costs: &Costs::default(),
        service: &service,
        arrivals: &Arrivals::poisson(),
        mean_gap_ps: 250_000.0,
        seed: 1,
        length: Length { warm_up: 100, measured: 900 },
        pilot: false,
        waits: false,
        short_cuts: ShortCuts::ALL,
        stop: None,
    };
    let setup = Setup::new(&run, &Rules::default()).expect("it is supported");
    // Two wait beside the one in service. Cores that are not allocated do not exist.
    assert_eq!((setup.balance, setup.cores, setup.duration_ns), (Balance::Jbsq { waiting: 2 }, 6, 250_000));
}
