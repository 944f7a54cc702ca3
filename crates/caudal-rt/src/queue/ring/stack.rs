//! A stack that is taken whole, for things that come back to one owner: coroutines that were woken, cells that go home, requests whose
//! waiters have to be told. Many threads push, and one takes everything.
//!
//! R. K. Treiber's stack of intrusive nodes, of which only the push and the exchange for an empty stack are used:
//!
//! ```text
//!   head ──▶ node C ──▶ node B ──▶ node A ──▶ null        C was pushed last
//!             │ link     │ link     │ link
//! ```
//!
//! * **Push**: write the head that was read into the node's link, then compare-and-swap the head to the node.
//! * **Take all**: swap the head with null; the whole chain then belongs to the taker.
//!
//! A node belongs to its pusher until the compare-and-swap, to the stack from then on, and to the taker once the
//! iterator yields it; its link is written by the pusher alone, and by the taker that reverses its own chain.
//!
//! **Orderings.** The push's compare-and-swap is a Release: the node's contents and link come before it. The taker's
//! swap is an Acquire: it reads the last push, and through the release sequence of head (every later change was a
//! read-modify-write) every push before it.
//!
//! **No ABA.** A push that reads head A, stalls, and finds A again although it was taken and pushed anew in between,
//! is right to succeed: its link says A and A is what follows. The case that goes wrong elsewhere, a pop that
//! installs a stale *next*, does not exist: nobody reads a link of a node on the stack.
//!
//! A pusher that stalls delays nobody: before its compare-and-swap the node is not there, after it all is done.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::base::primitives::{AtomicPtr, Ordering};

/// The link that a node holds for the stack that it may be on; a node is on one stack at a time per link.
#[derive(Debug)]
pub struct Link<N> {
    /// Atomic only so that nodes can be shared; ordered by the stack's head.
    next: AtomicPtr<N>,
}

impl<N> Link<N> {
    /// A link of a node that is on no stack.
    pub fn new() -> Self {
        Self { next: AtomicPtr::new(ptr::null_mut()) }
    }
}

impl<N> Default for Link<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// A type that carries its own link.
///
/// # Safety
/// `link` gives the same link, inside the node, whenever it is called for the same node.
pub unsafe trait Node: Sized {
    /// The node's link.
    fn link(&self) -> &Link<Self>;
}

/// A stack of intrusive nodes that anyone may push to and whose taker takes all at once.
#[derive(Debug)]
pub struct TakeAllStack<N> {
    head: AtomicPtr<N>,
    /// Nodes go from thread to thread.
    nodes: PhantomData<NonNull<N>>,
}

// SAFETY: the stack hands nodes from pushers to takers, which may be other threads, hence `N: Send`; it reads of a
// node nothing but its link, whose accesses the module's head orders.
unsafe impl<N: Send> Sync for TakeAllStack<N> {}
// SAFETY: as above; the stack has no tie to a thread.
unsafe impl<N: Send> Send for TakeAllStack<N> {}

impl<N: Node> Default for TakeAllStack<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N: Node> TakeAllStack<N> {
    /// An empty stack.
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), nodes: PhantomData }
    }

    /// Pushes a node; true if the stack was empty, that is, if its taker may have to be told.
    ///
    /// # Safety
    /// The node stays valid and in place until an iterator of [`Self::take_all`] has yielded it, is on no other
    /// stack by the same link meanwhile, and nobody holds a `&mut` to it.
    pub unsafe fn push(&self, node: NonNull<N>) -> bool {
        // SAFETY: the node is valid, by contract.
        let link = unsafe { node.as_ref() }.link();
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            link.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(head, node.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return head.is_null(),
                Err(seen) => head = seen,
            }
        }
    }

    /// Takes every node, the last pushed first; [`TakeAll::reversed`] turns them into the order of their pushes.
    ///
    /// An empty stack costs one load.
    pub fn take_all(&self) -> TakeAll<N> {
        if self.is_empty() {
            return TakeAll { next: ptr::null_mut() };
        }
        TakeAll { next: self.head.swap(ptr::null_mut(), Ordering::Acquire) }
    }

    /// True if nothing is on it; of a push that another thread has just made it may not know yet.
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }
}

/// The nodes that one `take_all` took. Those that are not asked for are on no stack any more: their owner must know
/// of them in another way, or they leak.
#[derive(Debug)]
#[must_use = "the nodes that were taken are on no stack any more"]
pub struct TakeAll<N> {
    next: *mut N,
}

impl<N: Node> TakeAll<N> {
    /// The same nodes in the opposite order: first pushed, first yielded. Walks the chain once.
    pub fn reversed(self) -> Self {
        let (mut rest, mut chain) = (self.next, ptr::null_mut());
        // SAFETY: taken nodes are valid until they are yielded (contract of `push`), and theirs is this chain alone.
        while let Some(node) = unsafe { rest.as_ref() } {
            let next = node.link().next.load(Ordering::Relaxed);
            node.link().next.store(chain, Ordering::Relaxed);
            (chain, rest) = (rest, next);
        }
        Self { next: chain }
    }
}

impl<N: Node> Iterator for TakeAll<N> {
    type Item = NonNull<N>;

    fn next(&mut self) -> Option<NonNull<N>> {
        let node = NonNull::new(self.next)?;
        // The link is read before the node is handed out: its new owner may free it or push it anew.
        // SAFETY: taken nodes are valid until they are yielded (contract of `push`).
        self.next = unsafe { node.as_ref() }.link().next.load(Ordering::Relaxed);
        Some(node)
    }
}
