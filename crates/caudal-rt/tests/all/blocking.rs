//! Blocking calls of libraries for `async`, in requests of one worker that wait for one another: the libraries have one parker a thread.
//!
//! In a child process: what goes wrong is a hang, which the child ends itself.

use std::time::Duration;

use caudal_rt::{ClassId, Handle, OnOverflow, Runtime};

use crate::common::{all, probes, runtime};

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

/// A request is set aside within `block_on`, before any has waited; then another one waits in another way.
fn futures_set_aside() -> Pair {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let mut iterations = 0;
    let computes = std::future::poll_fn(move |context| {
        iterations += 1;
        probes(3_000);
        context.waker().wake_by_ref();
        if iterations < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    });
    [
        Box::new(move || {
            futures_executor::block_on(computes);
            let _ = sender.send(7);
        }),
        Box::new(move || assert_eq!(receiver.blocking_recv(), Ok(7))),
    ]
}

/// A request that has no room is given up within `block_on`, and another one has it to itself.
fn futures_given_up() -> Pair {
    fn deep(left: u64) -> u64 {
        let frame = std::hint::black_box([left; 512]);
        if left == 0 { frame[3] } else { deep(left - 1) + frame[5] }
    }
    fn computes(depth: u64) {
        let deep = std::future::poll_fn(move |_| std::task::Poll::Ready(deep(depth)));
        std::hint::black_box(futures_executor::block_on(deep));
    }
    [Box::new(|| computes(1 << 30)), Box::new(|| computes(3))]
}

/// With what it is called.
type Case = (&'static str, fn() -> Pair);

const CASES: [Case; 6] = [
    ("tokio's mpsc", tokio_mpsc),
    ("tokio's oneshot", tokio_oneshot),
    ("async-channel", async_channel),
    ("futures", futures_block_on),
    ("futures, set aside", futures_set_aside),
    (GIVEN_UP, futures_given_up),
];
const GIVEN_UP: &str = "futures, given up";

fn submit(runtime: &Runtime, class: ClassId, pair: Pair) -> Vec<Handle<()>> {
    pair.into_iter().map(|body| runtime.submit(class, body).unwrap()).collect()
}

/// Not a test by itself: the child process of the next one.
#[test]
fn child_whose_requests_wait_for_one_another() {
    let asked = std::env::var(CHILD).unwrap_or_default();
    let Some((name, pair)) = CASES.into_iter().find(|(name, _)| *name == asked) else { return };
    std::thread::spawn(move || {
        std::thread::sleep(LONGEST);
        eprintln!("{name}: it hangs");
        std::process::abort();
    });
    let runtime = runtime(1, true, |b| b.on_overflow(OnOverflow::Abandon));
    let class = runtime.class("waits").unwrap();
    // Again, with what the first ones have left.
    for _ in 0..3 {
        let handles: Vec<_> = (0..PAIRS).flat_map(|_| submit(&runtime, class, pair())).collect();
        if name != GIVEN_UP {
            all(handles);
            continue;
        }
        for (number, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.wait().is_ok(), number % 2 == 1, "request {number}");
        }
    }
}

#[test]
fn requests_of_a_worker_wait_for_one_another() {
    for (name, _) in CASES {
        crate::passes(
            crate::child(module_path!(), "child_whose_requests_wait_for_one_another").env(CHILD, name),
        );
    }
}
