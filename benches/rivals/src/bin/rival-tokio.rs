//! tokio: a task a request on a multi-threaded runtime of one worker.
//!
//! Tasks are spawned from the generator's thread, or, with `--polled`, by a task of the runtime that polls a ring and
//! yields. With `--edited` long requests are edited by hand to yield every quantum, and the ring is polled, because that is
//! the better of the two for them: nobody has to be woken.

use std::error::Error;
use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;

use caudal_measure::contestant::{Options, Setup};
use clap::Parser;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

#[derive(Parser)]
#[command(about)]
struct Arguments {
    #[command(flatten)]
    common: Options,
    /// Let a task of the runtime poll a ring, instead of spawning from outside
    #[arg(long)]
    polled: bool,
    /// Yield in the middle of requests, every quantum; polls as well
    #[arg(long)]
    edited: bool,
    /// With `--edited`: yield by waking oneself, not by tokio's `yield_now`
    #[arg(long)]
    waking: bool,
}

/// How tasks yield.
#[derive(Clone, Copy)]
enum Yield {
    /// By `tokio::task::yield_now`: into a list that the worker wakes, from its end, once nothing else can run.
    Tokio,
    /// By waking oneself: straight to the end of the run queue.
    Waking,
}

impl Yield {
    async fn now(self) {
        match self {
            Yield::Tokio => yield_now().await,
            Yield::Waking => {
                let mut pending = true;
                poll_fn(|context| {
                    if !std::mem::take(&mut pending) {
                        return Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let options = &arguments.common;
    let setup = rivals::prepare(options)?;
    let core = options.worker_core;
    // Without I/O and timers the worker parks on a condition variable, which is cheaper than on epoll.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .on_thread_start(move || rivals::begin_worker(setup, core))
        .build()?;
    take_log(&runtime).ok_or("the worker does not begin")?;
    let chunks: &'static [u32] = setup.quantum_chunks(options.quantum).leak();
    let how = if arguments.waking { Yield::Waking } else { Yield::Tokio };
    match (arguments.edited, arguments.polled) {
        (true, _) => {
            let submit = poll(&runtime, options.requests, how, move |request| {
                drop(tokio::spawn(serve_in_turns(setup, chunks, how, request)));
            });
            let way = if arguments.waking { "waking" } else { "edited" };
            let name = format!("tokio, {way}, {} ns", options.quantum);
            rivals::run(options, setup, &name, submit, || take_log(&runtime))
        }
        (false, true) => {
            let submit = poll(&runtime, options.requests, how, move |request| {
                drop(tokio::spawn(async move { rivals::serve(setup, request) }));
            });
            rivals::run(options, setup, "tokio, polled", submit, || take_log(&runtime))
        }
        (false, false) => {
            let submit = |request| drop(runtime.spawn(async move { rivals::serve(setup, request) }));
            rivals::run(options, setup, "tokio", submit, || take_log(&runtime))
        }
    }
}

/// A request as somebody would write it who knows that others wait.
async fn serve_in_turns(setup: &'static Setup, chunks: &'static [u32], how: Yield, request: usize) {
    let class = setup.schedule.arrivals[request].class as usize;
    let (job, quantum) = (setup.jobs[class], chunks[class]);
    setup.recorder.start(request);
    let mut left = job.chunks;
    loop {
        let turn = left.min(quantum);
        rivals::with_gaps(|gaps| (0..turn).for_each(|_| job.chunk(gaps)));
        left -= turn;
        if left == 0 {
            break;
        }
        how.now().await;
    }
    setup.recorder.complete(request);
}

/// Starts the task that polls; returns the other end of its ring.
fn poll(
    runtime: &Runtime,
    requests: usize,
    how: Yield,
    mut spawn: impl FnMut(usize) + Send + 'static,
) -> impl FnMut(usize) {
    let (mut to_worker, mut from_generator) = rtrb::RingBuffer::<usize>::new(rivals::RING);
    runtime.spawn(async move {
        let mut left = requests;
        while left > 0 {
            while let Ok(request) = from_generator.pop() {
                spawn(request);
                left -= 1;
            }
            how.now().await;
        }
    });
    move |request| while to_worker.push(request).is_err() {}
}

/// The worker's log, asked for by a task; `None` if the worker is busy for another 5 s.
fn take_log(runtime: &Runtime) -> Option<caudal_measure::gaps::GapLog> {
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move {
        // Nobody waits any more if this comes too late.
        let _ = sender.send(rivals::end_worker());
    });
    receiver.recv_timeout(std::time::Duration::from_secs(5)).ok()
}
