//! Runs over real sockets: what is counted is known, and no time is judged.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use caudal_load::clock::TscClock;
use caudal_load::generator::{Ended, Live, Measured, Pace, Setup, generate};
use caudal_load::open::ask_all;
use caudal_load::protocol::Protocol;
use caudal_load::schedule::{Endless, Schedule};
use caudal_load::tcp::Tcp;
use caudal_load::traffic::{Command, Keys, Traffic};
use caudal_load::transport::Transport;
use caudal_load::udp::Udp;
use caudal_workload::Arrivals;

use crate::servers::{self, Server};
use crate::simulation::facebook;

const KEYS: Keys = Keys { count: 200, key_bytes: 21, value_bytes: 32 };
const PROTOCOL: Protocol = Protocol::Memcached(KEYS);
/// Room for every request of these tests: no number is used twice.
const CAPACITY: u32 = 8_192;

/// A second of 3,000 gets and sets, with a time-out that is long on any machine, unless requests are lost.
pub(crate) fn setup() -> Setup {
    let service = facebook();
    Setup {
        pace: Pace::Open(Schedule::new(&service, &Arrivals::poisson(), 3_000.0, 1, 1_000_000_000)),
        traffic: Traffic::cache(&service, KEYS.count, 0.1, 10, 1),
        timeout_ns: 3_000_000_000,
        warm_up_ns: 0,
        end_ns: 1_000_000_000,
        capacity: CAPACITY,
    }
}

pub(crate) fn fill<T: Transport>(transport: &mut T) {
    let sets = (0..KEYS.count).map(|key| Command::Set { key });
    ask_all(transport, sets, &AtomicBool::new(false), |_| ()).unwrap();
}

/// A run against a service that has all keys.
fn run<T: Transport>(setup: Setup, transport: &mut T) -> Measured {
    fill(transport);
    let clock = TscClock::calibrate().unwrap();
    let measured = generate(setup, &clock, transport, &Live::default(), &AtomicBool::new(false));
    // However slow the machine is, a run that could not keep its schedule still counts right.
    assert!(matches!(measured.ended, Ended::Whole | Ended::Behind), "{:?}", measured.ended);
    measured
}

/// All requests were answered, and rightly.
pub(crate) fn all_are_right(measured: &Measured) {
    for class in &measured.classes {
        assert!(class.due > 0, "{class:?}");
        assert_eq!((class.answered, class.not_done(), class.missing), (class.due, 0, 0), "{class:?}");
        assert_eq!(class.latency.count(), class.due);
    }
    assert_eq!((measured.own.stray, measured.own.lost_datagrams), (0, 0));
}

#[test]
fn gets_and_sets_over_datagrams_are_answered_and_verified() {
    let server = servers::udp();
    for flows in [1, 3] {
        let mut udp = Udp::connect(server.address, PROTOCOL, flows, CAPACITY).unwrap();
        all_are_right(&run(setup(), &mut udp));
    }
}

#[test]
fn gets_and_sets_over_connections_are_answered_and_verified() {
    let server = servers::tcp();
    let mut tcp = Tcp::connect(server.address, PROTOCOL, 5, CAPACITY).unwrap();
    all_are_right(&run(setup(), &mut tcp));
    // A closed loop with pipelines of four on two connections.
    let mut tcp = Tcp::connect(server.address, PROTOCOL, 2, 8).unwrap();
    let pace = Pace::Closed { requests: Endless::new(&facebook(), 1), window: 8 };
    let closed = Setup { pace, end_ns: 200_000_000, capacity: 8, ..setup() };
    all_are_right(&run(closed, &mut tcp));
}

#[test]
fn values_longer_than_a_datagram_are_put_together() {
    let keys = Keys { value_bytes: 3_000, count: 20, ..KEYS };
    let server = servers::udp();
    {
        // A set of such a value fits in no datagram of this server, so its store is filled by hand.
        let mut store = server.store.lock().unwrap();
        for key in 0..keys.count {
            let mut value = vec![0; keys.value_bytes];
            keys.fill_value(key, &mut value);
            store.insert(keys.key(key, &mut [0; 250]).to_vec(), value);
        }
    }
    let mut udp = Udp::connect(server.address, Protocol::Memcached(keys), 1, CAPACITY).unwrap();
    let setup = Setup { traffic: Traffic::cache(&facebook(), keys.count, 0.0, 10, 1), ..setup() };
    let clock = TscClock::calibrate().unwrap();
    all_are_right(&generate(setup, &clock, &mut udp, &Live::default(), &AtomicBool::new(false)));
}

#[test]
fn a_value_that_is_not_the_keys_is_counted_as_wrong_and_one_that_is_gone_as_missing() {
    let server = servers::tcp();
    let mut tcp = Tcp::connect(server.address, PROTOCOL, 1, CAPACITY).unwrap();
    fill(&mut tcp);
    let (mut one, mut other) = ([0; 250], [0; 250]);
    let (wrong, gone) = (KEYS.key(7, &mut one), KEYS.key(8, &mut other));
    server.store.lock().unwrap().insert(wrong.to_vec(), b"x".repeat(32));
    server.store.lock().unwrap().remove(gone);
    let traffic = Traffic::cache(&facebook(), KEYS.count, 0.0, 10, 1);
    let clock = TscClock::calibrate().unwrap();
    let setup = Setup { traffic, ..setup() };
    let measured = generate(setup.clone(), &clock, &mut tcp, &Live::default(), &AtomicBool::new(false));
    // Which requests were for these keys is known from the seed.
    let Pace::Open(mut schedule) = setup.pace else { unreachable!("it is open") };
    let (mut wrong, mut missing) = (0, 0);
    while let Some(due) = schedule.peek() {
        match setup.traffic.command(due).1 {
            Command::Get { key: 7 } => wrong += 1,
            Command::Get { key: 8 } => missing += 1,
            _ => {}
        }
        schedule.advance();
    }
    let gets = &measured.classes[0];
    assert!(wrong > 0 && missing > 0);
    assert_eq!((gets.wrong, gets.missing, gets.answered), (wrong, missing, gets.due - wrong));
}

/// Every datagram is accounted for: a request or answer that was lost leaves a request unanswered, one that was doubled is one too many.
#[test]
fn lost_doubled_and_reordered_datagrams_are_counted_rightly() {
    let server = servers::udp();
    let (relay, done) = servers::relay(server.address, u64::from(KEYS.count), 5);
    let mut udp = Udp::connect(relay.address, PROTOCOL, 1, CAPACITY).unwrap();
    let measured = run(setup(), &mut udp);
    let sum = |of: fn(&caudal_load::record::ClassRecord) -> u64| measured.classes.iter().map(of).sum::<u64>();
    let (due, answered, unanswered) =
        (sum(|class| class.due), sum(|class| class.answered), sum(|class| class.unanswered));
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Relaxed);
    let (lost, doubled) = (count(&done.lost), count(&done.doubled));
    assert!(lost > 200 && doubled > 200 && count(&done.swapped) > 100, "{lost} {doubled}");
    assert_eq!(answered + unanswered, due);
    assert_eq!(sum(|class| class.wrong + class.failed + class.missing), 0);
    // Datagrams into the relay's front are those that were due; out of it came all but the lost ones, and the doubled ones twice.
    assert_eq!(answered + measured.own.stray, due + doubled - lost);
    // A request that was doubled may lose one of its two answers, so fewer are unanswered than datagrams were lost.
    assert!(unanswered <= lost && unanswered + 40 > lost, "{unanswered} of {lost}");
}

fn refused(address: SocketAddr, over_udp: bool) -> String {
    if over_udp {
        let mut udp = Udp::connect(address, PROTOCOL, 1, 64).unwrap();
        let get = std::iter::once(Command::Get { key: 0 });
        return ask_all(&mut udp, get, &AtomicBool::new(false), |_| ()).unwrap_err().to_string();
    }
    match Tcp::connect(address, PROTOCOL, 1, 64) {
        Err(error) => error.to_string(),
        Ok(mut tcp) => {
            let get = std::iter::once(Command::Get { key: 0 });
            ask_all(&mut tcp, get, &AtomicBool::new(false), |_| ()).unwrap_err().to_string()
        }
    }
}

#[test]
fn what_is_wrong_with_a_service_is_said() {
    let gone = |server: Server| server.address;
    let error = refused(gone(servers::tcp()), false);
    assert!(error.contains("nothing listens on TCP port"), "{error}");
    let error = refused(gone(servers::udp()), true);
    assert!(error.contains("nothing listens on UDP port") && error.contains("-U PORT"), "{error}");
    let http = servers::says(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let error = refused(http.address, false);
    assert!(error.contains("another protocol") && error.contains("HTTP/1.1 400"), "{error}");
    let broken = servers::says(b"SERVER_ERROR no\r\n");
    let error = refused(broken.address, false);
    assert!(error.contains("SERVER_ERROR no"), "{error}");
    let closes = servers::says(b"");
    let error = refused(closes.address, false);
    assert!(error.contains("has closed all 1 connections"), "{error}");
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let error = refused(silent.local_addr().unwrap(), true);
    assert!(error.contains("does not answer"), "{error}");
}

#[test]
fn a_service_that_ends_ends_the_run() {
    let server = servers::says(b"END\r\n");
    let mut tcp = Tcp::connect(server.address, PROTOCOL, 2, CAPACITY).unwrap();
    let clock = TscClock::calibrate().unwrap();
    let measured = generate(setup(), &clock, &mut tcp, &Live::default(), &AtomicBool::new(false));
    let Ended::Broken(why) = &measured.ended else { panic!("{:?}", measured.ended) };
    assert!(why.to_string().contains("closed all 2 connections"), "{why}");
    let [gets, sets] = &measured.classes[..] else { panic!("{:?}", measured.classes) };
    assert_eq!(gets.answered + gets.not_done() + sets.not_done(), gets.due + sets.due);
}
