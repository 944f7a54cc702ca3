//! Runs by a simulated clock: what they say is known, and does not depend on the machine.

use caudal_load::generator::{Ended, Pace};
use caudal_load::record::Time;
use caudal_load::run::{MergeError, Mode, merge};
use caudal_load::schedule::Endless;
use caudal_load::search::{Search, Target, search};
use caudal_load::transport::Outcome;
use caudal_load::trust::Warning;
use caudal_stats::theory::md1::MD1;

use crate::simulation::{SimulatedClock, SimulatedService, facebook, fixed, kept, only, open, run};

#[test]
fn a_service_that_stands_still_a_tenth_of_the_time_shows_it() {
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 5_000);
    service.frozen_ns = 100_000_000;
    let setup = open(50_000.0, 3_000, 1);
    let measured = run(setup, &clock, &mut service);
    assert_eq!(measured.ended, Ended::Whole);
    let gets = only(&measured.classes);
    // Of the tenth of all requests that are due while it stands still, a tenth waits for 90 ms at least.
    let p99 = gets.percentile(99.0, 1_000_000_000);
    assert!(p99.ns >= 90_000_000 && !p99.at_least, "{p99:?}");
    assert!(gets.percentile(50.0, 1_000_000_000).ns < 10_000, "half of them meet an idle service");
    assert_eq!((gets.not_done(), gets.answered), (0, gets.due));

    // A closed loop of one does not notice: one request a second waits.
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 5_000);
    service.frozen_ns = 100_000_000;
    let mut setup = open(1.0, 3_000, 1);
    setup.pace = Pace::Closed { requests: Endless::new(&facebook(), 1), window: 1 };
    let measured = run(setup.clone(), &clock, &mut service);
    let gets = only(&measured.classes);
    assert!(gets.percentile(99.0, 1_000_000_000).ns < 10_000);
    let mut closed = kept(&setup, 0.0, 1, measured);
    closed.mode = Mode::Closed { depth: 1 };
    assert_eq!(closed.warnings(), [Warning::Closed]);
}

/// A closed loop sends when it can, so no request leaves late, however long a send takes.
#[test]
fn a_closed_loop_has_no_send_error() {
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 100);
    service.send_ns = 5_000;
    let mut setup = open(1.0, 100, 1);
    setup.pace = Pace::Closed { requests: Endless::new(&facebook(), 1), window: 4 };
    let measured = run(setup.clone(), &clock, &mut service);
    assert!(only(&measured.classes).answered > 1_000);
    assert_eq!(measured.own.send_error.count(), 0);
    let mut closed = kept(&setup, 0.0, 1, measured);
    closed.mode = Mode::Closed { depth: 4 };
    assert!(closed.told(&closed.total()).iter().all(|told| told.is_trusted));
}

#[test]
fn an_unanswered_request_is_among_the_slowest_in_every_percentile() {
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 1_000);
    service.lost_every = Some(50);
    let measured = run(open(20_000.0, 1_000, 2), &clock, &mut service);
    let gets = only(&measured.classes);
    let share = gets.unanswered as f64 / gets.due as f64;
    assert!((0.019..0.021).contains(&share) && gets.answered + gets.unanswered == gets.due, "{gets:?}");
    assert!(gets.percentile(97.0, 1_000_000_000).ns < 100_000);
    assert_eq!(gets.percentile(99.0, 1_000_000_000), Time { ns: 1_000_000_000, at_least: true });
}

#[test]
fn a_refusal_is_no_fast_answer() {
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 1_000);
    service.outcome = Outcome::Refused;
    let gets = only(&run(open(20_000.0, 500, 2), &clock, &mut service).classes).clone();
    assert_eq!((gets.refused, gets.answered), (gets.due, 0));
    assert!(gets.percentile(1.0, 7).at_least);
}

/// A generator for which a send takes as long as three requests are apart keeps a third of its schedule.
#[test]
fn a_generator_that_is_too_slow_stops() {
    let clock = SimulatedClock::new(100);
    let mut service = SimulatedService::new(&clock, 100);
    service.send_ns = 30_000;
    let setup = open(100_000.0, 10_000, 3);
    let measured = run(setup.clone(), &clock, &mut service);
    assert_eq!(measured.ended, Ended::Behind);
    assert!((0.32..0.35).contains(&measured.own.kept), "{}", measured.own.kept);
    let run = kept(&setup, 100_000.0, 3, measured);
    assert!(run.own.watched_ns < 1_200_000_000, "it is stopped after a second: {}", run.own.watched_ns);
    assert!(
        matches!(run.warnings()[..2], [Warning::Behind { .. }, Warning::Busy { .. }]),
        "{:?}",
        run.warnings()
    );
    assert!(run.told(&run.total()).iter().all(|told| !told.is_trusted));
}

#[test]
fn a_generator_that_is_a_little_too_slow_warns() {
    let clock = SimulatedClock::new(100);
    let mut service = SimulatedService::new(&clock, 100);
    service.send_ns = 10_000;
    let setup = open(100_500.0, 5_000, 3);
    let measured = run(setup.clone(), &clock, &mut service);
    assert_eq!(measured.ended, Ended::Whole);
    let run = kept(&setup, 100_500.0, 3, measured);
    assert!((0.95..0.999).contains(&run.own.kept), "{}", run.own.kept);
    assert!(run.warnings().iter().any(|warning| matches!(warning, Warning::Behind { .. })));
}

/// A send of 2 µs is much of a latency of 3 µs where requests leave one after the other, and nothing of the median.
#[test]
fn a_percentile_that_is_the_generators_own_is_not_trusted() {
    let clock = SimulatedClock::new(20);
    let mut service = SimulatedService::new(&clock, 500);
    service.send_ns = 2_000;
    let setup = open(50_000.0, 1_000, 4);
    let measured = run(setup.clone(), &clock, &mut service);
    let run = kept(&setup, 50_000.0, 4, measured);
    let told = run.told(&run.total());
    let trusted: Vec<(f64, bool)> = told.iter().map(|told| (told.percentile, told.is_trusted)).collect();
    assert_eq!(trusted[0], (50.0, true), "{told:?}");
    assert_eq!(trusted[2], (99.0, false), "{told:?}");
    assert!(run.warnings().is_empty(), "{:?}", run.warnings());
}

#[test]
fn a_search_finds_the_knee_of_a_fixed_service_time() {
    let target = Target { class: Some("get".to_owned()), percentile: Some(99.0), limit_ns: 100_000 };
    let how = Search { start_per_s: 10_000.0, repeats: 3, precision: 0.05 };
    let found = search(how, |rate_per_s, repeat| {
        Ok::<_, ()>(target.judge(&fixed(rate_per_s, 500, 100 + u64::from(repeat), 10_000)))
    })
    .unwrap();
    // The knee of an M/D/1 queue, in requests a second.
    let p99_ns = |rate_per_s: f64| MD1::new(rate_per_s / 1e9, 10_000.0).unwrap().sojourn_percentile(99.0);
    let knee = (10..99_u32).map(|k| f64::from(k) * 1e3).find(|&rate| p99_ns(rate) > 100_000.0).unwrap();
    let met = found.met_per_s.unwrap();
    assert!((0.92 * knee..1.04 * knee).contains(&met) && !found.is_generators, "{knee}: {found:?}");
}

#[test]
fn two_generators_are_one_with_both_of_their_requests() {
    let (one, other) = (fixed(30_000.0, 500, 1, 2_000), fixed(20_000.0, 500, 2, 2_000));
    let both = merge(&[one.clone(), other.clone()]).unwrap();
    assert_eq!(both.mode, Mode::Open { rate_per_s: 50_000.0 });
    assert_eq!((both.seeds.as_slice(), both.connections), (&[1, 2][..], 2));
    let (a, b, sum) = (only(&one.classes), only(&other.classes), only(&both.classes));
    assert_eq!(sum.due, a.due + b.due);
    // As if all times had been recorded in one histogram.
    let mut histogram = a.latency.histogram().clone();
    b.latency.histogram().iter_recorded().for_each(|value| {
        histogram.record_n(value.value_iterated_to(), value.count_at_value()).unwrap();
    });
    assert_eq!(sum.latency.histogram(), &histogram);
    assert_eq!(both.own.send_error.count(), sum.due);
    // What was written is read back, and merges the same.
    let through = |run| serde_json::from_str(&serde_json::to_string(run).unwrap()).unwrap();
    assert_eq!(merge(&[through(&one), through(&other)]).unwrap(), both);

    assert_eq!(merge(&[one.clone(), one.clone()]), Err(MergeError::Seed { seed: 1 }));
    assert_eq!(merge(&[]), Err(MergeError::Nothing));
    let mut longer = other;
    longer.measured_ns += 1;
    let error = merge(&[one, longer]).unwrap_err().to_string();
    assert!(error.contains("run 1 and run 2 differ in their duration"), "{error}");
}

#[test]
fn a_run_without_room_counts_what_it_could_not_send() {
    let clock = SimulatedClock::new(200);
    let mut service = SimulatedService::new(&clock, 1_000);
    service.lost_every = Some(1);
    let mut setup = open(10_000.0, 500, 2);
    setup.capacity = 1_000;
    let measured = run(setup.clone(), &clock, &mut service);
    let run = kept(&setup, 10_000.0, 2, measured);
    let gets = only(&run.classes);
    assert!(gets.unsent > 3_000 && gets.unsent + gets.unanswered == gets.due, "{gets:?}");
    assert!(run.warnings().contains(&Warning::Unsent(gets.unsent)));
}
