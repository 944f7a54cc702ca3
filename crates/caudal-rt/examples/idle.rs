//! Use of the processor by a runtime that has nothing to do, and the time until the first request after that runs.
//!
//! ```text
//! cargo run --release -p caudal-rt --example idle [-- SECONDS]
//! ```
//!
//! Threads spin for a settable time (`Builder::spin`) after the last request; then all sleep, until one comes.

use std::time::{Duration, Instant};

use caudal_rt::{Builder, Pinning, Runtime, Shutdown};

const SPIN: Duration = Duration::from_millis(1);
const WAKE_UPS: usize = 200;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2.0_f64).max(0.1);
    println!(
        "a worker that spins for {SPIN:?}    processor time while idle    first request after that, median"
    );
    for (name, dispatch) in
        [("direct", "{ policy = \"random\" }"), ("with a dispatcher", "{ policy = \"jsq\", ties = \"msq\" }")]
    {
        let runtime = start(dispatch);
        request(&runtime);
        std::thread::sleep(10 * SPIN);
        let (begun, before) = (Instant::now(), processor_time());
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let took = (processor_time() - before).as_secs_f64() / begun.elapsed().as_secs_f64();
        let mut waits: Vec<Duration> = (0..WAKE_UPS)
            .map(|_| {
                std::thread::sleep(4 * SPIN);
                request(&runtime)
            })
            .collect();
        waits.sort_unstable();
        println!(
            "{name:<34} {:>10.3} % of a core {:>28.1} us",
            took * 100.0,
            waits[WAKE_UPS / 2].as_secs_f64() * 1e6
        );
        runtime.shutdown(Shutdown::Drain);
    }
}

/// From the submission of a request until it runs.
fn request(runtime: &Runtime) -> Duration {
    let class = runtime.class("get").expect("the first class");
    let begun = Instant::now();
    let ran = runtime.submit(class, Instant::now).expect("there is room").wait().expect("it returns");
    ran.saturating_duration_since(begun)
}

/// Of all threads of the process.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn start(dispatch: &str) -> Runtime {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {dispatch}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"1us\" }}\n"
    );
    let builder = Builder::parse(&text, "idle.toml").expect("the file is right");
    builder.pinning(Pinning::None).spin(SPIN).start().expect("threads")
}
