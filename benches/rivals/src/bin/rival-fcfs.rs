//! Run to completion: a worker that spins on a single-producer ring and serves what comes out, first come, first served.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use caudal_measure::contestant::Options;
use clap::Parser;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    #[command(flatten)]
    common: Options,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Arguments::parse().common;
    let setup = rivals::prepare(&options)?;
    let (mut to_worker, mut from_generator) = rtrb::RingBuffer::<usize>::new(rivals::RING);
    static STOP: AtomicBool = AtomicBool::new(false);
    let (ready, begun) = mpsc::channel();
    let core = options.worker_core;
    let worker = std::thread::spawn(move || {
        rivals::begin_worker(setup, core);
        ready.send(())?;
        while !STOP.load(Ordering::Relaxed) {
            match from_generator.pop() {
                Ok(request) => rivals::serve(setup, request),
                Err(_) => std::hint::spin_loop(),
            }
        }
        Ok::<_, mpsc::SendError<()>>(rivals::end_worker())
    });
    begun.recv()?;
    let submit = |request| while to_worker.push(request).is_err() {};
    rivals::run(&options, setup, "fcfs", submit, || {
        STOP.store(true, Ordering::Relaxed);
        worker.join().ok()?.ok()
    })
}
