//! Blocking calls of libraries for `async`, in requests of one worker that wait for one another: the libraries have one parker a thread.
//!
//! In a child process: what goes wrong is a hang, which the child ends itself.

use std::time::Duration;

use caudal_rt::{ClassId, Handle, Runtime};

use crate::common::{all, runtime};

const CHILD: &str = "CAUDAL_TEST_BLOCKING";
/// Pairs of a request that sends and one that receives.
const PAIRS: usize = 3;
const VALUES: u64 = 100;
/// After so long a child takes itself for hanging.
const LONGEST: Duration = Duration::from_secs(30);

fn sum_of(mut receive: impl FnMut() -> Option<u64>) {
    let mut sum = 0;
    while let Some(value) = receive() {
        sum += value;
    }
    assert_eq!(sum, VALUES * (VALUES - 1) / 2);
}

type Pair = [Box<dyn FnOnce() + Send>; 2];

fn tokio_mpsc() -> Pair {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    [
        Box::new(move || sum_of(|| receiver.blocking_recv())),
        Box::new(move || (0..VALUES).for_each(|value| sender.blocking_send(value).unwrap())),
    ]
}

fn tokio_oneshot() -> Pair {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    [Box::new(move || assert_eq!(receiver.blocking_recv(), Ok(7))), Box::new(move || sender.send(7).unwrap())]
}

fn async_channel() -> Pair {
    let (sender, receiver) = async_channel::bounded(1);
    [
        Box::new(move || sum_of(|| receiver.recv_blocking().ok())),
        Box::new(move || (0..VALUES).for_each(|value| sender.send_blocking(value).unwrap())),
    ]
}

fn futures_block_on() -> Pair {
    let (sender, receiver) = async_channel::bounded(1);
    [
        Box::new(move || sum_of(|| futures_executor::block_on(receiver.recv()).ok())),
        Box::new(move || {
            (0..VALUES).for_each(|value| futures_executor::block_on(sender.send(value)).unwrap());
        }),
    ]
}

/// With what it is called.
type Way = (&'static str, fn() -> Pair);

const WAYS: [Way; 4] = [
    ("tokio's mpsc", tokio_mpsc),
    ("tokio's oneshot", tokio_oneshot),
    ("async-channel", async_channel),
    ("futures", futures_block_on),
];

fn submit(runtime: &Runtime, class: ClassId, pair: Pair) -> Vec<Handle<()>> {
    pair.into_iter().map(|body| runtime.submit(class, body).unwrap()).collect()
}

/// Not a test by itself: the child process of the next one.
#[test]
fn child_whose_requests_wait_for_one_another() {
    let asked = std::env::var(CHILD).unwrap_or_default();
    let Some((name, pair)) = WAYS.into_iter().find(|(name, _)| *name == asked) else { return };
    std::thread::spawn(move || {
        std::thread::sleep(LONGEST);
        eprintln!("{name}: it hangs");
        std::process::abort();
    });
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("waits").unwrap();
    // Again, with what the first ones have left.
    for _ in 0..3 {
        all((0..PAIRS).flat_map(|_| submit(&runtime, class, pair())).collect());
    }
}

#[test]
fn requests_of_a_worker_wait_for_one_another() {
    for (name, _) in WAYS {
        crate::passes(
            crate::child(module_path!(), "child_whose_requests_wait_for_one_another").env(CHILD, name),
        );
    }
}
