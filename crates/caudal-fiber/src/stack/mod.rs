//! Stacks for coroutines: mapped with guards, coloured, pooled, and as many as memory allows. Each worker of a scheduler has a pool, from
//! which a coroutine takes its stack when it starts. It maps and unmaps memory.
//!
//! A worker's [`StackPool`] maps stacks in slabs and hands out the one used last (its lines are still in the cache).
//!
//! ```text
//!   a slab: one mapping of several slots             low addresses to the left
//!   ├───────── slot 0 ────────┼───────── slot 1 ────────┼── … ──┤
//!   │ guard │ stack           │ guard │ stack           │
//!
//!   a slot
//!   limit                                              base (top)      end
//!   ├───────────────┬──────────────────────────────────────┬───────────┤
//!   │ guard, 64 KiB │ touched lazily          ◀── grows    │  colour   │
//!   └───────────────┴──────────────────────────────────────┴───────────┘
//!     faults          up to `size` less the colour           0 … 4032 B
//! ```
//!
//! * **Guard.** A frame of C can step over a page without touching it, so a guard is 64 KiB unless configured
//!   otherwise. `MADV_GUARD_INSTALL` (Linux 6.13) makes it without a mapping of its own; elsewhere it is made by
//!   `mprotect`, two mappings a stack, of which a process may have `vm.max_map_count`: see [`StackLimit`].
//! * **Colour.** Slots are a multiple of the page size apart: their tops, the busiest lines of each stack, would all
//!   share the same sets of the first-level cache. The top of stack n is therefore lowered by another multiple of
//!   64 bytes, below a page: larger caches are indexed by physical addresses, which are coloured by chance.
//! * **Memory.** Address space is free, pages are touched lazily and given back by [`StackPool::trim`]. Huge pages
//!   are refused for slabs: the first touch of a stack would take 2 MiB.
//!
//! ## Who may touch what
//!
//! A pool belongs to one thread at a time and has no lock. Pools share a [`StackBudget`], one atomic count of mapped
//! stacks, touched when a slab is mapped or unmapped. A taken [`CoroutineStack`] belongs to whoever holds it. Where
//! slabs lie is published in a table that signal handlers may read at any time ([`contains_guard`]).
//!
//! `scripts/loom` has no model of this: the atomics are process-wide statics, which loom's can not be, and a signal handler reads them.

mod limit;
mod pool;
mod registry;
mod slab;
mod strays;
#[cfg(all(test, not(loom)))]
mod tests;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::ptr::NonNull;

pub use limit::{LimitedBy, StackBudget, StackLimit};
pub use pool::{Refusal, StackPool};
pub use registry::contains_guard;
pub use slab::GuardKind;

/// Size of a page of x86-64.
pub(crate) const PAGE: usize = 4096;
/// Distance of two colours: a cache line.
const LINE: usize = 64;
/// Colours, so that all stay below a page.
const COLOURS: usize = PAGE / LINE;
/// Consecutive stacks are this many colours apart: odd, so that all colours come, and near the golden section of
/// their number, so that the lines of stacks used one after the other overlap late.
const COLOUR_STEP: usize = 25;

/// How much the top of a stack is lowered, in bytes.
pub const fn colour_of(number: usize) -> usize {
    number.wrapping_mul(COLOUR_STEP) % COLOURS * LINE
}

/// Sizes of stacks, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackConfig {
    /// Bytes of a stack, guard apart; rounded up to pages. From 16 KiB to 1 GiB, default 256 KiB. The colour takes up
    /// to 4032 of them.
    pub size: usize,
    /// Bytes of the guard below; rounded up to pages. From 4 KiB to 1 GiB, default 64 KiB.
    pub guard: usize,
    /// Most stacks of all pools that share a budget; `None`: as many as this machine allows.
    pub limit: Option<usize>,
}

impl Default for StackConfig {
    fn default() -> Self {
        Self { size: 256 << 10, guard: 64 << 10, limit: None }
    }
}

/// Fault of a [`StackConfig`], or of this system.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// `size` is out of range.
    #[error("a stack of {0} bytes: from 16 KiB to 1 GiB will do")]
    Size(usize),
    /// `guard` is out of range.
    #[error("a stack's guard of {0} bytes: from 4 KiB to 1 GiB will do")]
    Guard(usize),
    /// Not one stack is within the limit.
    #[error("no stack can be had: {0}")]
    None(StackLimit),
    /// The kernel refused.
    #[error("{what} failed")]
    System {
        /// The call.
        what: &'static str,
        /// Its reason.
        source: std::io::Error,
    },
}

/// The text with its cause: a program whose `main` returns a `Result` prints errors that way.
impl std::fmt::Debug for StackError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StackError::System { source, .. } => write!(f, "{self}: {source}"),
            _ => write!(f, "{self}"),
        }
    }
}

impl StackError {
    pub(crate) fn system(what: &'static str) -> Self {
        Self::System { what, source: std::io::Error::last_os_error() }
    }
}

impl StackConfig {
    /// The same in whole pages.
    fn checked(self) -> Result<Self, StackError> {
        if !(16 << 10..=1 << 30).contains(&self.size) {
            return Err(StackError::Size(self.size));
        }
        if !(PAGE..=1 << 30).contains(&self.guard) {
            return Err(StackError::Guard(self.guard));
        }
        let whole = |bytes: usize| bytes.next_multiple_of(PAGE);
        Ok(Self { size: whole(self.size), guard: whole(self.guard), limit: self.limit })
    }

    /// Bytes from slot to slot; of a checked configuration.
    const fn stride(&self) -> usize {
        self.size + self.guard
    }
}

/// Place and owner of a stack; its slab owns the record.
#[derive(Debug)]
struct Place {
    base: NonZeroUsize,
    limit: NonZeroUsize,
    guard: usize,
    /// The slab in its pool.
    slab: usize,
    pool: usize,
}

/// A stack taken from a pool, to be given back to the same pool ([`StackPool::give`]); one that is dropped stays
/// mapped and taken, as that of a coroutine that was abandoned must.
///
/// One word: it is moved in and out of pools and coroutines once a request.
#[derive(Debug)]
#[must_use = "a stack that is not given back stays taken"]
pub struct CoroutineStack(NonNull<Place>);

// SAFETY: a unique handle of a record that nobody changes, and of memory that belongs to whoever holds the handle.
unsafe impl Send for CoroutineStack {}
// SAFETY: shared, it gives addresses only.
unsafe impl Sync for CoroutineStack {}

impl CoroutineStack {
    #[inline]
    fn place(&self) -> &Place {
        // SAFETY: slabs free their records when every stack of theirs is back in the pool, and never otherwise.
        unsafe { self.0.as_ref() }
    }

    /// The top: one past the highest usable byte, a multiple of 64. The stack is mapped for as long as this value exists, and for
    /// ever when it is dropped: a pool unmaps only slabs of which it has every stack back.
    #[inline]
    pub fn top(&self) -> usize {
        self.place().base.get()
    }

    /// Touches the highest `bytes`, whole pages of them, so that the code that runs on the stack does not pay for their first use.
    pub fn warm(&mut self, bytes: usize) {
        let usable = self.usable();
        let lowest = usable.end.saturating_sub(bytes).max(usable.start);
        for page in (lowest..usable.end).step_by(PAGE) {
            let word = (page & !(size_of::<usize>() - 1)).max(usable.start) as *mut usize;
            // SAFETY: an aligned word of mapped memory of this stack, on which nothing runs: the handle is unique.
            unsafe { word.write_volatile(0) };
        }
    }

    /// The addresses of the guard.
    pub fn guard(&self) -> Range<usize> {
        let limit = self.place().limit.get();
        limit..limit + self.place().guard
    }

    /// The usable addresses: from the end of the guard to the top.
    pub fn usable(&self) -> Range<usize> {
        self.guard().end..self.top()
    }
}

/// Addresses of a stack, told from one in its guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackInfo {
    /// The guard.
    pub guard: Range<usize>,
    /// The usable addresses: from the end of the guard to the top.
    pub usable: Range<usize>,
}
