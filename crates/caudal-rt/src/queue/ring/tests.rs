//! The ring against a plain queue on one thread, and exactly-once delivery between real threads.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use proptest::prelude::*;

use super::stack::{Link, Node, TakeAllStack};
use super::*;

#[derive(Clone, Debug)]
enum Step {
    Push(u64),
    Batch(Vec<u64>),
    Pop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => any::<u64>().prop_map(Step::Push),
        1 => prop::collection::vec(any::<u64>(), 0..12).prop_map(Step::Batch),
        4 => Just(Step::Pop),
    ];
    prop::collection::vec(step, 0..200)
}

/// One pusher's view of either kind of ring.
fn check(ring: &Ring<u64>, steps: &[Step], mut push: impl FnMut(&[(u64, u64)]) -> usize) {
    let mut model = VecDeque::new();
    for step in steps {
        match step {
            Step::Push(value) => {
                let taken = push(&[(*value, !value)]);
                assert_eq!(taken == 1, model.len() < ring.capacity());
                model.extend(std::iter::repeat_n((*value, !value), taken));
            }
            Step::Batch(values) => {
                let batch: Vec<_> = values.iter().map(|&v| (v, !v)).collect();
                let taken = push(&batch);
                assert_eq!(taken, batch.len().min(ring.capacity() - model.len()));
                model.extend(&batch[..taken]);
            }
            Step::Pop => assert_eq!(ring.pop(), model.pop_front()),
        }
        assert_eq!((ring.len(), ring.is_empty()), (model.len(), model.is_empty()));
        assert_eq!(ring.oldest(), model.front().map(|front| front.1));
    }
}

proptest! {
    #[test]
    fn is_a_queue(bits in 1..6u32, steps in steps()) {
        let ring = Ring::new(1 << bits);
        check(&ring, &steps, |batch| batch.iter().take_while(|&&(v, s)| ring.push(v, s).is_ok()).count());
    }

    #[test]
    fn is_a_queue_with_one_producer(bits in 1..6u32, steps in steps()) {
        let ring = Ring::with_one_producer(1 << bits);
        let mut producer = ring.producer().expect("the first handle");
        check(&ring, &steps, |batch| match batch {
            [(value, stamp)] => usize::from(producer.push(*value, *stamp).is_ok()),
            _ => producer.push_batch(batch),
        });
    }
}

#[test]
fn a_ring_has_one_kind_of_producer() {
    assert!(Ring::<u64>::new(2).producer().is_none());
    let ring = Ring::<u64>::with_one_producer(2);
    let mut first = ring.producer().expect("the first handle");
    first.push(1, 10).unwrap();
    assert!(ring.producer().is_none(), "one at a time");
    drop(first);
    let mut second = ring.producer().expect("the first one is gone");
    second.push(2, 20).unwrap();
    assert_eq!(second.push(3, 30), Err(Full));
    assert_eq!((ring.pop(), ring.pop(), ring.pop()), (Some((1, 10)), Some((2, 20)), None));
}

#[test]
#[should_panic(expected = "one producer's handle")]
fn a_push_past_the_handle_is_refused() {
    let _ = Ring::<u64>::with_one_producer(2).push(1, 1);
}

#[test]
#[should_panic(expected = "not a power of two")]
fn a_capacity_of_three_is_refused() {
    Ring::<u64>::new(3);
}

const VALUES: usize = 40_000;

/// Pops into `seen` until every value has been; each consumer checks the order of each producer's values.
fn consume(ring: &Ring<u64>, seen: &[AtomicUsize], left: &AtomicUsize) {
    let mut last = [None; 4];
    while left.load(Ordering::Relaxed) > 0 {
        let Some((value, stamp)) = ring.pop() else {
            thread::yield_now();
            continue;
        };
        assert_eq!(stamp, value ^ 0xABCD);
        let last = &mut last[value as usize / VALUES];
        assert!(*last < Some(value), "a producer's values come in order");
        *last = Some(value);
        assert_eq!(seen[value as usize].fetch_add(1, Ordering::Relaxed), 0, "value {value} comes once");
        left.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pushes its values with retries when full.
fn produce(producer: usize, mut push: impl FnMut(u64, u64) -> Result<(), Full>) {
    for value in producer * VALUES..(producer + 1) * VALUES {
        while push(value as u64, value as u64 ^ 0xABCD).is_err() {
            thread::yield_now();
        }
    }
}

fn all_seen_once(producers: usize, ring: &Ring<u64>, run: impl Fn(usize) + Sync) {
    let seen: Vec<AtomicUsize> = (0..producers * VALUES).map(|_| AtomicUsize::new(0)).collect();
    let left = AtomicUsize::new(seen.len());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for producer in 0..producers {
            let run = &run;
            scope.spawn(move || run(producer));
        }
        let consumers: Vec<_> = (0..2).map(|_| scope.spawn(|| consume(ring, &seen, &left))).collect();
        // A peeker: stamps are of values that exist, and lengths within the ring.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert!(ring.len() <= ring.capacity());
                if let Some(stamp) = ring.oldest() {
                    assert!(((stamp ^ 0xABCD) as usize) < seen.len(), "stamp {stamp}");
                }
                thread::yield_now();
            }
        });
        // The peeker must end even if a consumer failed.
        let ends: Vec<_> = consumers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.expect("a consumer"));
    });
    assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    assert_eq!((ring.is_empty(), ring.len()), (true, 0));
}

#[test]
fn every_value_once_with_many_producers() {
    let ring = Ring::new(64);
    all_seen_once(4, &ring, |producer| produce(producer, |value, stamp| ring.push(value, stamp)));
}

#[test]
fn every_value_once_with_one_producer() {
    let ring = Ring::with_one_producer(64);
    all_seen_once(1, &ring, |_| {
        let mut handle = ring.producer().expect("the first handle");
        produce(0, |value, stamp| handle.push(value, stamp));
    });
}

#[derive(Debug)]
struct Cell {
    name: usize,
    link: Link<Cell>,
}

// SAFETY: `link` is a field.
unsafe impl Node for Cell {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(|name| Cell { name, link: Link::new() }).collect()
}

#[test]
fn a_stack_in_both_orders() {
    let nodes = cells(5);
    let stack = TakeAllStack::new();
    let push_all = || {
        // SAFETY: the nodes outlive the stack's use of them and are on one stack at a time.
        nodes.iter().map(|node| unsafe { stack.push(NonNull::from(node)) }).collect::<Vec<_>>()
    };
    // SAFETY: `nodes` holds them.
    let name = |node: NonNull<Cell>| unsafe { node.as_ref() }.name;
    assert_eq!(push_all(), [true, false, false, false, false]);
    assert!(!stack.is_empty());
    assert_eq!(stack.take_all().map(name).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
    assert!(stack.is_empty() && stack.take_all().next().is_none());
    push_all();
    assert_eq!(stack.take_all().reversed().map(name).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn every_node_once_from_many_pushers() {
    let nodes = cells(4 * VALUES);
    let stack = TakeAllStack::new();
    let mut seen = vec![false; nodes.len()];
    thread::scope(|scope| {
        for chunk in nodes.chunks(VALUES) {
            let stack = &stack;
            // SAFETY: the nodes outlive the scope, and each is pushed once.
            scope.spawn(move || chunk.iter().for_each(|node| _ = unsafe { stack.push(NonNull::from(node)) }));
        }
        let mut left = nodes.len();
        while left > 0 {
            for node in stack.take_all() {
                // SAFETY: `nodes` holds it.
                let name = unsafe { node.as_ref() }.name;
                assert!(!std::mem::replace(&mut seen[name], true), "node {name} comes once");
                left -= 1;
            }
            thread::yield_now();
        }
    });
    assert!(seen.iter().all(|&seen| seen));
}
