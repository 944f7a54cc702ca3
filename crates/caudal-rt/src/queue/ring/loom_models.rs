//! Every interleaving, and every outcome that the memory model allows, of a few threads on a ring of two slots.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p caudal-rt --profile loom --target-dir target/loom --lib loom
//! ```

use std::collections::BTreeSet;
use std::ptr::NonNull;

use loom::{sync::Arc, thread};

use super::stack::{Link, Node, TakeAllStack};
use super::*;

/// The stamp of a value in these models: a peeker that sees another has seen a stamp of nobody.
fn stamp_of(value: u64) -> u64 {
    1000 + value
}

fn checked((value, stamp): (u64, u64)) -> u64 {
    assert_eq!(stamp, stamp_of(value), "a value comes with its own stamp");
    value
}

fn drain(ring: &Ring<u64>) -> Vec<u64> {
    std::iter::from_fn(|| ring.pop()).map(checked).collect()
}

fn pusher(ring: &Arc<Ring<u64>>, values: &'static [u64]) -> thread::JoinHandle<Vec<u64>> {
    let ring = ring.clone();
    thread::spawn(move || values.iter().copied().filter(|&v| ring.push(v, stamp_of(v)).is_ok()).collect())
}

fn popper(ring: &Arc<Ring<u64>>, tries: usize) -> thread::JoinHandle<Vec<u64>> {
    let ring = ring.clone();
    thread::spawn(move || (0..tries).filter_map(|_| ring.pop()).map(checked).collect())
}

fn assert_same(mut pushed: Vec<u64>, mut popped: Vec<u64>) {
    pushed.sort_unstable();
    popped.sort_unstable();
    assert_eq!(pushed, popped, "each value that was accepted comes out once");
}

#[test]
fn two_producers_and_a_consumer() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        let producers = [pusher(&ring, &[1]), pusher(&ring, &[2])];
        let mut popped: Vec<u64> = (0..2).filter_map(|_| ring.pop()).map(checked).collect();
        let pushed = producers.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        popped.extend(drain(&ring));
        assert_eq!((ring.len(), ring.is_empty(), ring.oldest()), (0, true, None));
        assert_same(pushed, popped);
    });
}

#[test]
fn two_producers_find_it_full() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        let producers = [pusher(&ring, &[1, 2]), pusher(&ring, &[3])];
        let first = ring.pop().map(checked);
        let pushed: Vec<u64> = producers.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert!(pushed.len() >= 2, "two slots take two values at least: {pushed:?}");
        assert!(first.is_some() || pushed.len() == 2, "and no third unless one was taken");
        let rest = drain(&ring);
        assert_same(pushed, first.into_iter().chain(rest).collect());
    });
}

/// An owner and a thief take while the producer pushes `then`, after `first`.
fn owner_and_thief(first: &'static [u64], then: &'static [u64]) {
    loom::model(move || {
        let ring = Arc::new(Ring::with_one_producer(2));
        let mut producer = ring.producer().expect("the first handle");
        let mut push = |values: &[u64]| -> Vec<u64> {
            values.iter().copied().filter(|&v| producer.push(v, stamp_of(v)).is_ok()).collect()
        };
        let before = push(first);
        let (thief, owner) = (popper(&ring, 1), popper(&ring, 1));
        let pushed = [before, push(then)].concat();
        let (stolen, owned) = (thief.join().unwrap(), owner.join().unwrap());
        let rest = drain(&ring);
        assert!(rest.is_sorted(), "what is left is in the order of the pushes: {rest:?}");
        assert_same(pushed, [stolen, owned, rest].concat());
    });
}

#[test]
fn one_producer_an_owner_and_a_thief() {
    owner_and_thief(&[], &[1, 2]);
}

/// The third value goes into the first one's slot, if that was taken: the slots' second lap.
#[test]
fn one_producer_an_owner_and_a_thief_on_a_full_ring() {
    owner_and_thief(&[1, 2], &[3]);
}

#[test]
fn a_peeker_sees_stamps_of_the_head_only() {
    loom::model(|| {
        let ring = Arc::new(Ring::with_one_producer(2));
        let owner = popper(&ring, 2);
        let filler = {
            let ring = ring.clone();
            thread::spawn(move || {
                let mut producer = ring.producer().expect("the first handle");
                (1..=3).filter(|&v| producer.push(v, stamp_of(v)).is_ok()).count()
            })
        };
        let seen: Vec<u64> = (0..2).filter_map(|_| ring.oldest()).collect();
        assert!(seen.iter().all(|stamp| (1001..=1003).contains(stamp)), "{seen:?}");
        assert!(seen.is_sorted(), "the head only moves on: {seen:?}");
        let popped = owner.join().unwrap().len();
        let pushed = filler.join().unwrap();
        assert_eq!(ring.len(), pushed - popped);
    });
}

/// A peek while the slot's value is replaced by the next lap's: the stamp is that of a value that was the head.
///
/// The peeker is the spawned thread, which loom runs last at first: it tries other orders only where a thread's
/// access meets another thread's latest one, and a load of one's own hides an earlier load by another.
#[test]
fn a_peek_across_a_lap() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        ring.push(1, stamp_of(1)).unwrap();
        ring.push(2, stamp_of(2)).unwrap();
        let peeker = {
            let ring = ring.clone();
            thread::spawn(move || ring.oldest().expect("two values, of which one is taken"))
        };
        assert_eq!(ring.pop().map(checked), Some(1));
        ring.push(3, stamp_of(3)).unwrap();
        let oldest = peeker.join().unwrap();
        assert!(oldest == 1001 || oldest == 1002, "{oldest}: value 3 is never the head");
        assert_eq!(drain(&ring), [2, 3]);
    });
}

#[test]
fn one_handle_at_a_time() {
    loom::model(|| {
        let ring = Arc::new(Ring::with_one_producer(2));
        let claim = |value: u64| {
            let ring = ring.clone();
            thread::spawn(move || match ring.producer() {
                Some(mut producer) => usize::from(producer.push(value, stamp_of(value)).is_ok()),
                None => 0,
            })
        };
        let pushed: usize = [claim(1), claim(2)].into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(pushed >= 1);
        assert_eq!(drain(&ring).len(), pushed, "no handle overwrites what another pushed");
    });
}

struct Woken {
    name: u64,
    link: Link<Woken>,
}

// SAFETY: `link` is a field.
unsafe impl Node for Woken {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

fn woken(name: u64) -> NonNull<Woken> {
    NonNull::from(Box::leak(Box::new(Woken { name, link: Link::new() })))
}

fn freed(node: NonNull<Woken>) -> u64 {
    // SAFETY: made by `woken`, yielded once.
    unsafe { Box::from_raw(node.as_ptr()) }.name
}

#[test]
fn two_push_and_one_takes_all() {
    loom::model(|| {
        let stack = Arc::new(TakeAllStack::<Woken>::new());
        let push = |names: &'static [u64]| {
            let stack = stack.clone();
            thread::spawn(move || {
                // SAFETY: each node is new, and freed by the taker only.
                names.iter().filter(|&&name| unsafe { stack.push(woken(name)) }).count()
            })
        };
        let threads = [push(&[1, 2]), push(&[3])];
        let first: Vec<u64> = stack.take_all().reversed().map(freed).collect();
        let empties: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        let rest: Vec<u64> = stack.take_all().reversed().map(freed).collect();
        assert_eq!(
            empties,
            usize::from(!first.is_empty()) + usize::from(!rest.is_empty()),
            "told once a batch"
        );
        let all = [first, rest].concat();
        assert_eq!(all.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3]));
        assert_eq!(all.len(), 3, "each node once");
        let place = |name| all.iter().position(|&n| n == name);
        assert!(place(1) < place(2), "reversed: in the order of one thread's pushes");
    });
}

/// The node that a pusher saw as head is taken and pushed again meanwhile.
#[test]
fn a_node_that_comes_back() {
    loom::model(|| {
        let stack = Arc::new(TakeAllStack::<Woken>::new());
        // SAFETY: on no other stack; freed at the end, when it was yielded for good.
        unsafe { stack.push(woken(1)) };
        let other = {
            let stack = stack.clone();
            thread::spawn(move || {
                // SAFETY: a new node.
                unsafe { stack.push(woken(2)) };
            })
        };
        let taken: Vec<_> = stack.take_all().collect();
        let count = taken.len();
        for node in taken {
            // SAFETY: it was yielded, so that it is on no stack.
            unsafe { stack.push(node) };
        }
        other.join().unwrap();
        let names: BTreeSet<u64> = stack.take_all().map(freed).collect();
        assert!(count >= 1);
        assert_eq!(names, BTreeSet::from([1, 2]));
    });
}
