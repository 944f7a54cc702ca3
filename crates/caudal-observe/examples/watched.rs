//! A runtime that has something to show, for the guide to `caudal top`: short and long requests until so many seconds are over.
//!
//! ```text
//! cargo run --release -p caudal-observe --example watched -- 60
//! ```

use std::time::{Duration, Instant};

use caudal_observe::{Observe as _, Observed as _};
use caudal_rt::{Builder, Pinning, Shutdown, SubmitError};

/// Work of so many iterations: a number, and no time, so that a request that is taken off its core has as much left as before.
fn work(iterations: u64) {
    for iteration in 0..iterations {
        std::hint::black_box(iteration);
        caudal_rt::probe();
    }
}

/// Iterations a microsecond.
fn iterations_per_us() -> u64 {
    let begun = Instant::now();
    work(1_000_000);
    (1e9 / begun.elapsed().as_nanos() as f64) as u64 + 1
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(60), |text| text.parse())?;
    let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"jsq\", ties = \"msq\" }\n\
                discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
    let runtime =
        Builder::parse(text, "watched.toml")?.pinning(Pinning::None).name("watched").observed().start()?;
    match runtime.socket_path() {
        Ok(path) => println!("caudal top {}      (at {})", std::process::id(), path.display()),
        Err(why) => println!("{why}"),
    }
    let (get, scan) = (runtime.class("get")?, runtime.class("scan")?);
    let iterations_per_us = iterations_per_us();
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut requests = 0_u64;
    while Instant::now() < end {
        requests += 1;
        let (class, us) = if requests.is_multiple_of(100) { (scan, 200) } else { (get, 2) };
        match runtime.submit(class, move || work(us * iterations_per_us)) {
            Ok(handle) => drop(handle),
            Err(SubmitError::Full) => {}
            Err(error) => return Err(error.into()),
        }
        if requests.is_multiple_of(20) {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    runtime.shutdown(Shutdown::Drain);
    println!("{requests} requests");
    Ok(())
}
