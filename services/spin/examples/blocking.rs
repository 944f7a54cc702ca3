//! A server of synthetic work on one thread, by UDP, for trying: requests are done one after the other, and nothing is pre-empted.
//! `caudal serve spin` is the server to measure.
//!
//! ```text
//! cargo run --release -p caudal-spin --example blocking -- 127.0.0.1:11212 rocksdb-0.5
//! ```
//!
//! The second argument is a named workload, whose classes requests may have.

use std::net::UdpSocket;
use std::process::ExitCode;

use caudal_spin::messages;
use caudal_spin::service::{Config, Service};
use caudal_workload::find_named;

fn run(address: &str, workload: &str) -> Result<(), Box<dyn std::error::Error>> {
    let classes = find_named(workload)?.compile()?.classes().to_vec();
    let service = Service::calibrate(Config { classes, ..Config::default() })?;
    let socket = UdpSocket::bind(address)?;
    println!("{address}: classes {}; calibrated to {}", service.config().classes.join(", "), service.work());
    let (mut datagram, mut reply) = ([0; 1 << 16], Vec::new());
    loop {
        let (length, peer) = socket.recv_from(&mut datagram)?;
        let arrival = service.now();
        reply.clear();
        messages::datagram(&service, &datagram[..length], arrival, &mut reply);
        if !reply.is_empty() {
            socket.send_to(&reply, peer)?;
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, workload] = &arguments[..] else {
        eprintln!("give an address and a named workload, such as 127.0.0.1:11212 rocksdb-0.5");
        return ExitCode::FAILURE;
    };
    match run(address, workload) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
