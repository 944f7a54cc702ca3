//! Pipelined requests with a yield at every probe, in a process of its own: all of its probes yield.

#[path = "all/common.rs"]
#[allow(dead_code)]
mod common;

use std::io::{Read, Write};

use caudal_net::Limits;

#[test]
fn a_thousand_pipelined_requests_of_each_connection_stay_in_order() {
    caudal_probe::set_every(true);
    let server = common::Server::start(2, Limits::default());
    let streams: Vec<_> = (0..8).map(|_| server.connect()).collect();
    let lines: String = (0..1_000).map(|number| format!("line {number}\n")).collect();
    for _ in 0..3 {
        for mut stream in &streams {
            stream.write_all(lines.as_bytes()).unwrap();
        }
        for mut stream in &streams {
            let mut answers = vec![0; lines.len()];
            stream.read_exact(&mut answers).unwrap();
            assert_eq!(answers, lines.as_bytes());
        }
    }
    server.end();
}
