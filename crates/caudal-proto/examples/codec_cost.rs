//! What parsing and encoding cost on this machine, in nanoseconds a message, beside a search for the ends of lines in the same bytes.
//!
//! ```text
//! cargo build --release -p caudal-proto --example codec_cost && taskset -c 1 target/release/examples/codec_cost
//! ```
//!
//! Each trial goes over a buffer of a thousand messages; trials of all rows alternate, and medians are printed. Pin it to a core on
//! which nothing else runs.

use std::hint::black_box;
use std::time::Instant;

use caudal_proto::text::{Limits, Parsed, ParsedReply, Writer, parse, parse_reply};

const TRIALS: usize = 301;
const MESSAGES: usize = 1_000;

/// The search that no parser can do without: where lines end.
fn ends_of_lines(input: &[u8]) {
    black_box(memchr::memchr_iter(b'\n', input).count());
}

fn requests(input: &[u8]) {
    let limits = Limits::default();
    let mut at = 0;
    while let Parsed::Message { request, consumed } = parse(&input[at..], &limits) {
        black_box(&request);
        at += consumed;
    }
    assert_eq!(at, input.len());
}

fn replies(input: &[u8]) {
    let mut at = 0;
    while let ParsedReply::Message { reply, consumed } = parse_reply(&input[at..], 1 << 20) {
        black_box(&reply);
        at += consumed;
    }
    assert_eq!(at, input.len());
}

struct Row {
    name: &'static str,
    input: Vec<u8>,
    work: fn(&[u8]),
    times_ns: [Vec<f64>; 2],
}

fn row(name: &'static str, work: fn(&[u8]), message: impl Fn(usize) -> String) -> Row {
    Row {
        name,
        work,
        input: (0..MESSAGES).flat_map(|index| message(index).into_bytes()).collect(),
        times_ns: Default::default(),
    }
}

fn timed_ns(work: fn(&[u8]), input: &[u8]) -> f64 {
    let start = Instant::now();
    work(black_box(input));
    start.elapsed().as_nanos() as f64 / MESSAGES as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn encode(input: &[u8]) {
    let mut buffer = [0; 64];
    for key in input.chunks(16) {
        let mut writer = Writer::new(&mut buffer);
        writer.value(key, 0, None, b"0123456789abcdef").expect("it fits");
        black_box(writer.written());
    }
}

fn main() {
    let value = |length: usize| "v".repeat(length);
    let mut rows = [
        row("get, key of 16 bytes", requests, |index| format!("get key-{index:012}\r\n")),
        row("get, key of 60 bytes", requests, |index| format!("get key-{index:056}\r\n")),
        row("gets, four keys of 16 bytes", requests, |index| {
            format!("gets a{index:015} b{index:015} c{index:015} d{index:015}\r\n")
        }),
        row("set, key of 16, value of 32 bytes", requests, |index| {
            format!("set key-{index:012} 0 0 32\r\n{}\r\n", value(32))
        }),
        row("reply: value of 32 bytes and END", replies, |index| {
            format!("VALUE key-{index:012} 0 32\r\n{}\r\nEND\r\n", value(32))
        }),
        row("reply: value of 1,000 bytes and END", replies, |index| {
            format!("VALUE key-{index:012} 0 1000\r\n{}\r\nEND\r\n", value(1_000))
        }),
        row("reply: STORED", replies, |_| "STORED\r\n".to_owned()),
        row("encoded: value of 16 bytes", encode, |index| format!("key-{index:012}")),
    ];
    for _ in 0..TRIALS {
        for row in &mut rows {
            row.times_ns[0].push(timed_ns(row.work, &row.input));
            row.times_ns[1].push(timed_ns(ends_of_lines, &row.input));
        }
    }
    println!("{:<40} {:>10} {:>15}", "ns a message", "codec", "ends of lines");
    for row in &mut rows {
        let [codec, lines] = &mut row.times_ns;
        println!("{:<40} {:>10.1} {:>15.1}", row.name, median(codec), median(lines));
    }
}
