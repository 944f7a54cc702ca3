//! What a request costs between its bytes and the bytes of its answer on this machine, in nanoseconds: parsing, the store, the answer; beside the
//! store alone, and the kind of the request alone. No sockets.
//!
//! ```text
//! cargo build --release -p caudal-kv --example session_cost && taskset -c 1 target/release/examples/session_cost
//! ```
//!
//! Keys have 16 bytes, values 32; a hundred thousand items, chosen at random. A trial is a thousand requests, so short that most trials are not
//! interrupted; rows alternate, and the lower decile and the median of many trials are printed. Pin it to a core on which nothing else runs.

use std::hint::black_box;
use std::time::Instant;

use caudal_kv::datagram;
use caudal_kv::kind::Kind;
use caudal_kv::service::{Config, Service};
use caudal_kv::session::{Session, Then};
use caudal_kv::store;
use caudal_proto::text::StoreMode;

const ITEMS: usize = 100_000;
/// Requests of a trial.
const REQUESTS: usize = 1_024;
/// Requests of a burst that was pipelined.
const BURST: usize = 16;
const TRIALS: usize = 601;
const NOW: u32 = 1_700_000_000;
const VALUE: &str = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";
const KEY_BYTES: usize = 16;

/// The keys of a trial, one behind the other, in an order that no processor guesses.
fn keys(trial: usize) -> String {
    let mut random = 0x1234_5678_9abc_u64 + trial as u64 * 0x9e37_79b9;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % ITEMS
    };
    for _ in 0..10 {
        next();
    }
    (0..REQUESTS).map(|_| format!("key-{:012}", next())).collect()
}

fn each(keys: &str) -> impl Iterator<Item = &str> {
    (0..REQUESTS).map(|index| &keys[index * KEY_BYTES..(index + 1) * KEY_BYTES])
}

/// Requests of one length, one behind the other.
fn encoded(keys: &str, request: impl Fn(&str) -> String) -> Vec<u8> {
    each(keys).map(request).collect::<String>().into_bytes()
}

/// Serves the input in so many reads of the same length; the output is sent nowhere.
fn serve(service: &Service, output: &mut Vec<u8>, input: &[u8], reads: usize) {
    let mut session = Session::new();
    for read in input.chunks_exact(input.len() / reads) {
        output.clear();
        black_box(session.kind(read));
        let served = session.serve(service, read, NOW, output);
        assert_eq!((served.consumed, served.then), (read.len(), Then::Read { needed: 1 }));
        black_box(&output);
    }
}

/// One thing that is measured, on the inputs of a trial.
type Work<'a> = &'a dyn Fn(&Service, &mut Vec<u8>, &Inputs);

struct Inputs {
    keys: String,
    gets: Vec<u8>,
    multi_gets: Vec<u8>,
    sets: Vec<u8>,
}

impl Inputs {
    fn of(trial: usize) -> Inputs {
        let keys = keys(trial);
        let multi_gets = each(&keys).enumerate().map(|(index, key)| match index % BURST {
            0 => format!("get {key}"),
            last if last == BURST - 1 => format!(" {key}\r\n"),
            _ => format!(" {key}"),
        });
        Inputs {
            gets: encoded(&keys, |key| format!("get {key}\r\n")),
            multi_gets: multi_gets.collect::<String>().into_bytes(),
            sets: encoded(&keys, |key| format!("set {key} 0 0 32\r\n{VALUE}\r\n")),
            keys,
        }
    }
}

fn store_get(service: &Service, _: &mut Vec<u8>, inputs: &Inputs) {
    for key in each(&inputs.keys) {
        let item = service.store().get(key.as_bytes(), NOW).expect("it is stored");
        // Reading the value belongs to a get: it may be on a cache line of its own.
        black_box(item.data().iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    }
}

fn store_set(service: &Service, _: &mut Vec<u8>, inputs: &Inputs) {
    for key in each(&inputs.keys) {
        let stored = service.store().store(StoreMode::Set, key.as_bytes(), 0, 0, VALUE.as_bytes(), NOW);
        black_box(stored.expect("room"));
    }
}

fn datagram_get(service: &Service, output: &mut Vec<u8>, inputs: &Inputs) {
    for request in inputs.gets.chunks_exact(inputs.gets.len() / REQUESTS) {
        output.clear();
        datagram::answer(service, request, NOW, output);
        black_box(&output);
    }
}

fn kind(_: &Service, _: &mut Vec<u8>, inputs: &Inputs) {
    for request in inputs.gets.chunks_exact(inputs.gets.len() / REQUESTS) {
        black_box(Kind::of(black_box(request)));
    }
}

fn main() {
    let items = store::Config { items_expected: ITEMS, ..store::Config::default() };
    let service = Service::new(Config { store: items, ..Config::default() }, NOW);
    for index in 0..ITEMS {
        let key = format!("key-{index:012}");
        service.store().store(StoreMode::Set, key.as_bytes(), 0, 0, VALUE.as_bytes(), NOW).expect("room");
    }
    let rows: [(&str, Work<'_>); 9] = [
        ("get: the store alone", &store_get),
        ("get: a session, one a read", &|service, output, inputs| {
            serve(service, output, &inputs.gets, REQUESTS);
        }),
        ("get: a session, 16 a read", &|service, output, inputs| {
            serve(service, output, &inputs.gets, REQUESTS / BURST);
        }),
        ("get of 16 keys: a session, per key", &|service, output, inputs| {
            serve(service, output, &inputs.multi_gets, REQUESTS / BURST);
        }),
        ("get: a datagram", &datagram_get),
        ("kind of a get", &kind),
        ("set: the store alone", &store_set),
        ("set: a session, one a read", &|service, output, inputs| {
            serve(service, output, &inputs.sets, REQUESTS);
        }),
        ("set: a session, 16 a read", &|service, output, inputs| {
            serve(service, output, &inputs.sets, REQUESTS / BURST);
        }),
    ];
    let mut times = rows.map(|_| Vec::new());
    let mut output = Vec::with_capacity(64 << 10);
    for trial in 0..TRIALS {
        for (row, (_, work)) in rows.iter().enumerate() {
            let inputs = Inputs::of(trial * rows.len() + row);
            let start = Instant::now();
            work(&service, &mut output, &inputs);
            times[row].push(start.elapsed().as_nanos() as f64 / REQUESTS as f64);
        }
    }
    println!("ns a request: lower decile and median of {TRIALS} trials");
    for ((name, _), mut times) in rows.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        println!("{name:<36} {:>7.0} {:>7.0}", times[TRIALS / 10], times[TRIALS / 2]);
    }
}
