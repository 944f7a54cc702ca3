//! What the generator costs by itself: a load on a ring in its own memory, at a rate and for a time that the arguments say.
//!
//! `cargo run --release -p caudal-load --example generator_cost -- 3000000 3`: 3 M requests a second for 3 s.

use std::sync::atomic::AtomicBool;

use caudal_load::clock::TscClock;
use caudal_load::generator::{Live, Pace, Setup, generate};
use caudal_load::ring::Ring;
use caudal_load::schedule::Schedule;
use caudal_load::traffic::Traffic;
use caudal_workload::{Arrivals, ServiceSpec};

const CAPACITY: u32 = 1 << 16;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<f64>().expect("a number"));
    let (rate_per_s, seconds) = (arguments.next().unwrap_or(3e6), arguments.next().unwrap_or(3.0));
    let service = ServiceSpec::named("facebook-usr").compile(".".as_ref()).expect("it has a name");
    let warm_up_ns = 100_000_000;
    let end_ns = warm_up_ns + (seconds * 1e9) as u64;
    let setup = Setup {
        pace: Pace::Open(Schedule::new(&service, &Arrivals::poisson(), rate_per_s, 1, end_ns)),
        traffic: Traffic::cache(&service, 10_000, 0.002, 1, 1),
        timeout_ns: 1_000_000_000,
        warm_up_ns,
        end_ns,
        capacity: CAPACITY,
    };
    let clock = TscClock::calibrate().expect("the time stamp counter is a clock");
    let measured =
        generate(setup, &clock, &mut Ring::new(CAPACITY), &Live::default(), &AtomicBool::new(false));
    let (own, error) = (&measured.own, |percentile| measured.own.send_error.percentile(percentile));
    println!(
        "{:?}: {:.3} M/s, {:.3} % of the schedule kept; send error p50 {} ns, p90 {} ns, p99 {} ns; idle {:.1} %, stalled {:.2} %",
        measured.ended,
        own.send_error.count() as f64 / seconds / 1e6,
        own.kept * 100.0,
        error(50.0),
        error(90.0),
        error(99.0),
        own.idle_share() * 100.0,
        own.stalled_share() * 100.0
    );
}
