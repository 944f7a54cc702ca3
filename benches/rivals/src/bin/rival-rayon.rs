//! rayon: `ThreadPool::spawn` on a pool of one thread, from a thread outside.

use std::error::Error;

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
    let core = options.worker_core;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(move |_| rivals::begin_worker(setup, core))
        .build()?;
    pool.install(|| {});
    let submit = |request| pool.spawn(move || rivals::serve(setup, request));
    rivals::run(&options, setup, "rayon", submit, || Some(pool.install(rivals::end_worker)))
}
