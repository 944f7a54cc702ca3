//! Tests of the service of synthetic work, in one binary. None judges how long work takes: `caudal-measure` has the tests of calibration.

use std::sync::Arc;

use caudal_measure::clock::Tsc;
use caudal_measure::work::Work;
use caudal_proto::spin::{REPLY_BYTES, REQUEST_BYTES, Reply, Request, Status, only};
use caudal_rt::{Builder, Pinning};
use caudal_spin::messages::{Served, Then, datagram, peek, serve};
use caudal_spin::service::{Classes, Config, Replies, Service, WORK_NS_MAX};
use proptest::prelude::*;

/// A service of two classes with work of a known speed.
fn service(replies: Replies) -> Service {
    let classes = vec!["get".to_owned(), "scan".to_owned()];
    let config = Config { classes, work_ns_max: 100_000, replies };
    Service::new(config, Work::new(1_000.0, 20.0), Tsc::with_hz(2.5e9))
}

fn request(number: u64, class: u16, work_ns: u64) -> Request {
    Request { number, class, work_ns }
}

/// The reply to a datagram; none if it gets none.
fn ask(service: &Service, payload: &[u8]) -> Option<Reply> {
    let mut output = Vec::new();
    datagram(service, payload, service.now(), &mut output);
    (!output.is_empty()).then(|| only(Reply::parse(&output), &output).expect("one reply"))
}

#[test]
fn work_is_done_and_timed() {
    let service = service(Replies::WithTimes);
    for (class, work_ns) in [(0, 0), (0, 1), (0, 500), (1, 50_000), (1, 100_000)] {
        let reply = ask(&service, &request(9, class, work_ns).encode()).expect("a reply");
        assert_eq!((reply.number, reply.class, reply.status), (9, class, Status::Done));
        let times = reply.times.expect("times");
        assert!(times.service_ns <= times.sojourn_ns, "{times:?}");
        assert_eq!(times.service_ns > 0, work_ns > 0, "{times:?}");
    }
    // A request that has waited for long before it began was long on the server.
    let (long_ago, mut output) = (service.now() - 2_500_000_000, Vec::new());
    datagram(&service, &request(1, 0, 500).encode(), long_ago, &mut output);
    let times = only(Reply::parse(&output), &output).and_then(|reply| reply.times).expect("times");
    assert!(times.sojourn_ns >= 1_000_000_000 && times.service_ns < times.sojourn_ns, "{times:?}");
}

#[test]
fn requests_that_cannot_be_done_are_refused() {
    let service = service(Replies::WithTimes);
    for (class, work_ns) in [(2, 1), (u16::MAX, 1), (0, 100_001), (0, u64::MAX)] {
        let reply = ask(&service, &request(5, class, work_ns).encode()).expect("a reply");
        assert_eq!((reply.status, reply.times), (Status::Invalid, None));
    }
    let refused = service.refuse(&request(6, 1, 10));
    assert_eq!((refused.number, refused.class, refused.status), (6, 1, Status::Overloaded));
}

#[test]
fn times_are_told_only_when_they_are_wanted() {
    let reply = ask(&service(Replies::Bare), &request(5, 0, 300).encode()).expect("a reply");
    assert_eq!((reply.status, reply.times), (Status::Done, None));
}

#[test]
fn datagrams_that_are_no_request_get_no_reply() {
    let service = service(Replies::Bare);
    let whole = request(1, 0, 10).encode();
    assert_eq!(ask(&service, &whole[..REQUEST_BYTES - 1]), None);
    assert_eq!(ask(&service, &[&whole[..], b"x"].concat()), None);
    assert_eq!(ask(&service, b"get a\r\n"), None);
    assert_eq!(ask(&service, b""), None);
    assert_eq!(ask(&service, &service.refuse(&request(1, 0, 10)).encode()), None);
}

#[test]
fn a_stream_is_served_message_by_message() {
    let service = service(Replies::Bare);
    let stream: Vec<_> = (0..3).flat_map(|number| request(number, 0, 100).encode()).collect();
    let (mut input, mut output) = (&stream[..2 * REQUEST_BYTES + 5], Vec::new());
    for number in 0..2 {
        assert_eq!(peek(input).map(|request| request.number), Some(number));
        let served = serve(&service, input, service.now(), &mut output);
        assert_eq!(served, Served { consumed: REQUEST_BYTES, then: Then::Again });
        input = &input[served.consumed..];
    }
    assert_eq!(peek(input), None);
    let served = serve(&service, input, service.now(), &mut output);
    assert_eq!(served, Served { consumed: 0, then: Then::Read { needed: REQUEST_BYTES } });
    let served = serve(&service, &stream[2 * REQUEST_BYTES..], service.now(), &mut output);
    assert_eq!(served, Served { consumed: REQUEST_BYTES, then: Then::Read { needed: 1 } });
    assert_eq!(output.len(), 3 * REPLY_BYTES);
    let served = serve(&service, b"get a\r\n\0", service.now(), &mut output);
    assert_eq!(served, Served { consumed: 0, then: Then::Close });
}

/// Long work is set aside at its probes: a short request that comes later on the only worker is done earlier.
#[test]
fn long_work_lets_short_work_pass() {
    caudal_probe::set_every(true);
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let runtime = Builder::parse(text, "test.toml").unwrap().pinning(Pinning::None).start().unwrap();
    let service = Service::new(
        Config { classes: vec!["get".to_owned(), "scan".to_owned()], ..Config::default() },
        Work::new(1_000.0, 20.0),
        Tsc::with_hz(2.5e9),
    );
    let service = Arc::new(service);
    let classes = Classes::new(&service, |name| runtime.class(name)).unwrap();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let begun = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let submit = |request: Request| {
        let (service, order, begun) = (service.clone(), order.clone(), begun.clone());
        let submitted = runtime.submit(classes.of(&request), move || {
            begun.store(true, std::sync::atomic::Ordering::Relaxed);
            let mut output = Vec::new();
            datagram(&service, &request.encode(), service.now(), &mut output);
            caudal_rt::no_preempt(|| order.lock().unwrap().push(request.number));
        });
        submitted.unwrap()
    };
    // Half a second, a million times longer than the short one.
    let long = submit(request(1, 1, 500_000_000));
    while !begun.load(std::sync::atomic::Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let short = submit(request(2, 0, 500));
    short.wait().expect("it ends by returning");
    long.wait().expect("it ends by returning");
    assert_eq!(*order.lock().unwrap(), [2, 1]);
}

#[test]
fn classes_are_those_of_any_named_workload() {
    for named in caudal_workload::named() {
        let workload = named.compile().unwrap();
        let classes = workload.classes().to_vec();
        let service =
            Service::new(Config { classes, ..Config::default() }, Work::new(1e3, 20.0), Tsc::with_hz(1e9));
        let longest = u16::try_from(workload.classes().len() - 1).unwrap();
        let reply = ask(&service, &request(1, longest, 100).encode()).expect("a reply");
        assert_eq!(reply.status, Status::Done, "{}", named.name);
    }
}

#[test]
#[should_panic(expected = "0 classes")]
fn a_service_has_a_class() {
    let config = Config { classes: Vec::new(), ..Config::default() };
    Service::new(config, Work::new(1e3, 20.0), Tsc::with_hz(1e9));
}

#[test]
#[should_panic(expected = "allow 600000000000 ns at most")]
fn work_has_a_most() {
    let config = Config { work_ns_max: WORK_NS_MAX + 1, ..Config::default() };
    Service::new(config, Work::new(1e3, 20.0), Tsc::with_hz(1e9));
}

proptest! {
    #[test]
    fn any_bytes_are_served(input in proptest::collection::vec(any::<u8>(), 0..60)) {
        let service = service(Replies::Bare);
        let mut output = Vec::new();
        let served = serve(&service, &input, service.now(), &mut output);
        match served.then {
            Then::Read { needed } => prop_assert!(needed > input.len() - served.consumed),
            Then::Again => prop_assert!(served.consumed > 0 && served.consumed < input.len()),
            Then::Send => prop_assert!(false, "no answer is long"),
            Then::Close => prop_assert_eq!((served.consumed, output.len()), (0, 0)),
        }
    }
}
