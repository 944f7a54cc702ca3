//! List of waiters, for all locks and channels of this floor: intrusive, first in, first out, under a small spin lock. A waiter puts a node
//! on its own stack into the list before it waits; whoever gives something away claims the first node, and tells its waiter.
//!
//! ```text
//!            ┌───────── on the stack of a waiter each ─────────┐
//!   List     │ Node               Node               Node      │
//!   head ───▶│ next ────────────▶ next ────────────▶ next ─▶ 0 │
//!   tail ─┐  │ prev ◀──────────── prev ◀──────────── prev      │
//!         │  │ waiter             waiter             waiter ◀──┼─ told here
//!         └──┼───────────────────────────────────────▲         │
//!            └─────────────────────────────────────────────────┘
//! ```
//!
//! # States of a node, and who may touch it
//!
//! | state | links and note belong to | moved on by |
//! | --- | --- | --- |
//! | free | the waiter, on whose stack it is | the waiter, which puts it on the list |
//! | queued | the thread that holds the list's lock | the waiter, which takes it off again; or the waker, which claims it |
//! | claimed | the waker, until it has told the waiter | the waker, by [`Waiter::tell`] |
//! | told | the waiter | |
//!
//! *Why a node is never touched after its waiter has gone*: a waiter leaves only if it took its node off the list itself, or
//! was told. Both it and the waker do so under the lock, so just one of them does. Telling is the last access: all that is
//! still wanted of a node is read before. And nothing unwinds out of a wait: it is asked beforehand whether the caller may
//! park at all ([`Current::must_be_free`](crate::kernel::context::Current::must_be_free)).
//!
//! *A waiter that gives up* (its time is over, its request was cancelled) and finds its node claimed has been given something: it
//! waits to be told, which comes without delay, and keeps it or passes it on. So nothing that is handed over gets lost.
//!
//! *A waiter that is given up* (its stack is leaked at the end of its runtime; nobody runs it again, and the lock may outlive it) leaves a
//! clean-up ([`Waiter::on_given_up`]), which is run in its place: it takes the node off the list, or passes on what the waiter was given.
//!
//! Nothing pre-empts a thread from when it claims a waiter until it has told that one and the clean-up is off its chain ([`NoYield`]): a
//! waiter that was claimed and is never told waits for ever, and two would have what is passed on twice.
//!
//! *The lock* is held for some ten instructions, and never while a coroutine could be pre-empted
//! ([`NoYield`]): a second coroutine of the same worker would spin for ever. A thread that the operating
//! system takes away while it holds it delays others for that long; after a while they let the system run something else.

use std::marker::PhantomPinned;
use std::ptr::{self, NonNull};

use crate::base::primitives::{AtomicBool, AtomicU32, Ordering, UnsafeCell, spin_loop};
use crate::base::quiet::NoYield;
use crate::request::{CleanUp, CleanUpGuard};

/// Why a waiter does not wait any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GaveUp {
    /// Its time is over.
    TimedOut,
    /// Its request was cancelled.
    Cancelled,
}

/// A coroutine or thread that waits, or what stands for it in a model.
pub(crate) trait Waiter: Sized {
    /// Has `clean_up` run in the place of the waiter, once, if that is given up before the guard is dropped.
    ///
    /// # Safety
    /// As [`CleanUpGuard::new`].
    unsafe fn on_given_up<'a>(&'a self, clean_up: &'a CleanUp<'a>) -> CleanUpGuard<'a>;
    /// Waits until it is told, or gives up.
    fn wait(&self) -> Result<(), GaveUp>;
    /// Waits until it is told, whatever happens: somebody has claimed its node.
    fn wait_to_be_told(&self);
    /// It has been told and is going to wait once more.
    fn reset(&self);
    /// Tells it. From now on it may be gone.
    ///
    /// # Safety
    /// `this` is in a node that the caller has claimed, and it is the caller's last access to it.
    unsafe fn tell(this: NonNull<Self>);
}

/// A waiter's place in a list. It stays where it is while it is queued.
pub(crate) struct Node<W> {
    prev: std::cell::Cell<*mut Node<W>>,
    next: std::cell::Cell<*mut Node<W>>,
    queued: std::cell::Cell<bool>,
    claimed: std::cell::Cell<bool>,
    /// A word between waiter and waker, for the primitive. Ordered by the lock, and by telling.
    note: AtomicU32,
    pub(crate) waiter: W,
    _pinned: PhantomPinned,
}

impl<W> Node<W> {
    pub(crate) fn new(waiter: W, note: u32) -> Node<W> {
        Node {
            prev: std::cell::Cell::new(ptr::null_mut()),
            next: std::cell::Cell::new(ptr::null_mut()),
            queued: std::cell::Cell::new(false),
            claimed: std::cell::Cell::new(false),
            note: AtomicU32::new(note),
            waiter,
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn note(&self) -> u32 {
        self.note.load(Ordering::Relaxed)
    }

    pub(crate) fn set_note(&self, note: u32) {
        self.note.store(note, Ordering::Relaxed);
    }
}

/// The list. Every method wants its lock, which is why they take it by `&mut`.
pub(crate) struct List<W> {
    head: *mut Node<W>,
    tail: *mut Node<W>,
}

// SAFETY: the list reaches nodes of other threads, whose states say who may touch them (module's head); waiters are told from
// any thread, which is what they are made for.
unsafe impl<W> Send for List<W> {}

impl<W> List<W> {
    pub(crate) const fn new() -> List<W> {
        List { head: ptr::null_mut(), tail: ptr::null_mut() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    /// The first node.
    pub(crate) fn first(&self) -> Option<&Node<W>> {
        // SAFETY: queued nodes are valid, and belong to the thread that holds the lock.
        unsafe { self.head.as_ref() }
    }

    /// Puts a free node behind all others.
    ///
    /// # Safety
    /// The node stays in place until it is taken off the list or told.
    pub(crate) unsafe fn push_back(&mut self, node: &Node<W>) {
        let at = ptr::from_ref(node).cast_mut();
        node.prev.set(self.tail);
        node.next.set(ptr::null_mut());
        node.queued.set(true);
        node.claimed.set(false);
        // SAFETY: queued nodes are valid.
        match unsafe { self.tail.as_ref() } {
            Some(last) => last.next.set(at),
            None => self.head = at,
        }
        self.tail = at;
    }

    /// Puts a free node before all others.
    ///
    /// # Safety
    /// As [`List::push_back`].
    pub(crate) unsafe fn push_front(&mut self, node: &Node<W>) {
        let at = ptr::from_ref(node).cast_mut();
        node.prev.set(ptr::null_mut());
        node.next.set(self.head);
        node.queued.set(true);
        node.claimed.set(false);
        // SAFETY: queued nodes are valid.
        match unsafe { self.head.as_ref() } {
            Some(first) => first.prev.set(at),
            None => self.tail = at,
        }
        self.head = at;
    }

    /// Has somebody claimed the node since it was put on the list?
    pub(crate) fn has_claimed(&self, node: &Node<W>) -> bool {
        node.claimed.get()
    }

    /// Takes the node off the list, if it is on it: it is free then. Else somebody has claimed it.
    pub(crate) fn remove(&mut self, node: &Node<W>) -> bool {
        if !node.queued.replace(false) {
            return false;
        }
        let (prev, next) = (node.prev.get(), node.next.get());
        // SAFETY: queued nodes are valid.
        match unsafe { prev.as_ref() } {
            Some(prev) => prev.next.set(next),
            None => self.head = next,
        }
        // SAFETY: as above.
        match unsafe { next.as_ref() } {
            Some(next) => next.prev.set(prev),
            None => self.tail = prev,
        }
        true
    }

    /// Claims the first node with this note for its waiter, and adds it to those that are to be told.
    pub(crate) fn claim_first(&mut self, note: Option<u32>, claimed: &mut Claimed<W>) -> bool {
        // SAFETY: queued nodes are valid.
        let Some(first) = (unsafe { self.head.as_ref() }) else { return false };
        let _ = self.remove(first);
        first.claimed.set(true);
        if let Some(note) = note {
            first.set_note(note);
        }
        first.next.set(ptr::null_mut());
        let at = ptr::from_ref(first).cast_mut();
        // SAFETY: claimed nodes are valid until they are told.
        match unsafe { claimed.tail.as_ref() } {
            Some(last) => last.next.set(at),
            None => claimed.head = at,
        }
        claimed.tail = at;
        true
    }

    /// Claims all.
    pub(crate) fn claim_all(&mut self, note: Option<u32>, claimed: &mut Claimed<W>) {
        while self.claim_first(note, claimed) {}
    }
}

/// Nodes that were claimed, in order, and whose waiters have to be told, after the lock was left.
#[must_use = "who is claimed waits to be told"]
pub(crate) struct Claimed<W> {
    head: *mut Node<W>,
    tail: *mut Node<W>,
}

impl<W> Claimed<W> {
    pub(crate) fn none() -> Claimed<W> {
        Claimed { head: ptr::null_mut(), tail: ptr::null_mut() }
    }
}

impl<W: Waiter> Claimed<W> {
    /// Tells them all.
    pub(crate) fn tell(self) {
        let mut at = self.head;
        // SAFETY: claimed nodes are valid until they are told.
        while let Some(node) = unsafe { at.as_ref() } {
            at = node.next.get();
            // SAFETY: the node was claimed, and `at` is beyond it.
            unsafe { W::tell(NonNull::from(&node.waiter)) };
        }
    }
}

/// How often to poll a lock before the system may run something else: a few µs.
const POLLS: u32 = 200;

/// Something small under a spin lock. See the [module](self).
pub(crate) struct Spin<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that holds the lock touches the value.
unsafe impl<T: Send> Sync for Spin<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Spin<T> {}

impl<T> Spin<T> {
    super::const_fn! {
        pub(crate) fn new(value: T) -> Spin<T> {
            Spin { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }
    }

    /// Runs `then` with the lock held. It must be short, call nothing of others, and not panic.
    pub(crate) fn with<R>(&self, then: impl FnOnce(&mut T) -> R) -> R {
        let _quiet = NoYield::enter();
        let mut polls = 0;
        // Not a swap: one that fails writes, which takes the line from the thread that is about to free it.
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.locked.load(Ordering::Relaxed) {
                polls += 1;
                wait_a_moment(polls);
            }
        }
        let result = self.access(then);
        self.locked.store(false, Ordering::Release);
        result
    }

    #[cfg(not(loom))]
    #[inline]
    fn access<R>(&self, then: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the lock is held.
        then(unsafe { &mut *self.value.get() })
    }

    /// loom's cell fails the model when two threads are in here unordered.
    #[cfg(loom)]
    fn access<R>(&self, then: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the lock is held.
        self.value.with_mut(|value| then(unsafe { &mut *value }))
    }
}

#[cfg(not(loom))]
fn wait_a_moment(polls: u32) {
    if polls.is_multiple_of(POLLS) { std::thread::yield_now() } else { spin_loop() }
}

/// In a model every poll lets the others run.
#[cfg(loom)]
fn wait_a_moment(_polls: u32) {
    let _ = (POLLS, spin_loop as fn());
    loom::thread::yield_now();
}
