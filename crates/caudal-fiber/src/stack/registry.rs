//! Registry of the stacks of this process, for signal handlers: a list that only grows, read without a lock.
//! A slab enters itself when it is mapped; the handler of overflows asks whose stack an address is in.
//!
//! ```text
//!   HEAD ──▶ entry ──▶ entry ──▶ … ──▶ null        entries are never freed, but used again
//! ```
//!
//! An entry's version is odd while its slab is being entered or removed. A reader skips an entry whose version is
//! odd or has changed meanwhile: such a slab has no stack in use, so the stack that the reader asks about is not in
//! it. Fields are written between two changes of the version (Acquire when it becomes odd, so that they stay after
//! it; Release when it becomes even), and read between two reads of it (Acquire, and an Acquire fence before the
//! second). Nothing here allocates, locks or calls the system on the reader's side.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use super::{StackConfig, StackInfo, colour_of};

static HEAD: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

#[derive(Debug)]
struct Entry {
    /// Odd while the fields change.
    version: AtomicU64,
    /// 0 when the entry is unused.
    start: AtomicUsize,
    stacks: AtomicUsize,
    stride: AtomicUsize,
    guard: AtomicUsize,
    /// Number of the first stack.
    first: AtomicUsize,
    next: *mut Entry,
}

/// A slab's place in the list.
#[derive(Debug)]
pub(super) struct Registered(&'static Entry);

// SAFETY: all of an entry is atomic but `next`, which is written before the entry is published.
unsafe impl Sync for Entry {}
// SAFETY: as above.
unsafe impl Send for Entry {}

fn entries() -> impl Iterator<Item = &'static Entry> {
    let mut next = HEAD.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: entries are leaked, and published (Release) once they are complete.
        let entry = unsafe { next.as_ref::<'static>() }?;
        next = entry.next;
        Some(entry)
    })
}

impl Entry {
    /// Makes the version odd; false if somebody else has.
    fn lock(&self) -> bool {
        let version = self.version.load(Ordering::Relaxed);
        let locked = version.is_multiple_of(2)
            && self
                .version
                .compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        // What follows must not be seen by a reader that still reads the even version.
        fence(Ordering::Release);
        locked
    }

    fn unlock(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    fn set(&self, start: usize, stacks: usize, config: &StackConfig, first: usize) {
        self.stacks.store(stacks, Ordering::Relaxed);
        self.stride.store(config.stride(), Ordering::Relaxed);
        self.guard.store(config.guard, Ordering::Relaxed);
        self.first.store(first, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
    }

    /// The stack whose guard holds the address, if the slab is this one.
    fn guard_at(&self, address: usize) -> Option<StackInfo> {
        let version = self.version.load(Ordering::Acquire);
        let [start, stacks, stride, guard, first] =
            [&self.start, &self.stacks, &self.stride, &self.guard, &self.first]
                .map(|field| field.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if !version.is_multiple_of(2) || self.version.load(Ordering::Relaxed) != version || start == 0 {
            return None;
        }
        let offset = address.checked_sub(start)?;
        if offset >= stacks * stride || offset % stride >= guard {
            return None;
        }
        let slot = offset / stride;
        let limit = start + slot * stride;
        let top = limit + stride - colour_of(first + slot);
        Some(StackInfo { guard: limit..limit + guard, usable: limit + guard..top })
    }
}

impl Registered {
    /// Enters a slab, in an unused entry if there is one.
    pub(super) fn new(start: usize, stacks: usize, config: &StackConfig, first: usize) -> Self {
        let unused = entries().find(|entry| {
            if entry.start.load(Ordering::Relaxed) != 0 || !entry.lock() {
                return false;
            }
            // Somebody may have used it before it was locked.
            let free = entry.start.load(Ordering::Relaxed) == 0;
            if !free {
                entry.unlock();
            }
            free
        });
        if let Some(entry) = unused {
            entry.set(start, stacks, config, first);
            entry.unlock();
            return Self(entry);
        }
        let fresh = Box::leak(Box::new(Entry {
            version: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            stacks: AtomicUsize::new(0),
            stride: AtomicUsize::new(0),
            guard: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            next: ptr::null_mut(),
        }));
        fresh.set(start, stacks, config, first);
        Self(publish(fresh))
    }

    /// Removes the slab; its entry can be used for another.
    pub(super) fn remove(self) {
        while !self.0.lock() {
            // A thread that looks for an unused entry holds it for a moment.
            std::hint::spin_loop();
        }
        self.0.start.store(0, Ordering::Relaxed);
        self.0.unlock();
    }
}

/// Puts a complete entry at the head of the list.
fn publish(fresh: &'static mut Entry) -> &'static Entry {
    let entry = ptr::from_mut(fresh);
    let mut head = HEAD.load(Ordering::Relaxed);
    loop {
        // SAFETY: leaked, and this thread's alone until the exchange below succeeds.
        unsafe { (*entry).next = head };
        match HEAD.compare_exchange(head, entry, Ordering::Release, Ordering::Relaxed) {
            // SAFETY: leaked, and changed through atomics only from here on.
            Ok(_) => return unsafe { &*entry },
            Err(seen) => head = seen,
        }
    }
}

/// The stack whose guard holds this address; for signal handlers, too: it takes no lock, allocates nothing, and looks
/// at every slab of the process.
pub fn contains_guard(address: usize) -> Option<StackInfo> {
    entries().find_map(|entry| entry.guard_at(address))
}
