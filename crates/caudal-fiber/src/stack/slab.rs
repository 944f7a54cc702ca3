//! A slab: one mapping of several stacks with their guards. A pool maps one when it has no free stack left.

use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use super::registry::Registered;
use super::{CoroutineStack, PAGE, Place, StackConfig, StackError, colour_of};

/// `MADV_GUARD_INSTALL` of Linux 6.13; libc does not have it yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// How guards are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardKind {
    /// By `MADV_GUARD_INSTALL`: no mapping of its own.
    Install,
    /// By `mprotect(PROT_NONE)`: two mappings a stack.
    Protect,
}

impl GuardKind {
    /// The kind that this kernel has, found by trying it on a page.
    pub fn detect() -> Result<Self, StackError> {
        let page = map(PAGE)?;
        // SAFETY: the page is this function's own mapping.
        let installed = unsafe { libc::madvise(page, PAGE, MADV_GUARD_INSTALL) } == 0;
        // SAFETY: as above; nothing points into it.
        unsafe { libc::munmap(page, PAGE) };
        Ok(if installed { Self::Install } else { Self::Protect })
    }

    /// Makes these bytes fault.
    ///
    /// # Safety
    /// They are whole pages of a mapping of the caller's that nothing uses.
    unsafe fn guard(self, start: *mut libc::c_void, bytes: usize) -> Result<(), StackError> {
        // SAFETY: nothing uses the pages, by contract.
        let (what, status) = unsafe {
            match self {
                Self::Install => {
                    ("madvise(MADV_GUARD_INSTALL)", libc::madvise(start, bytes, MADV_GUARD_INSTALL))
                }
                Self::Protect => ("mprotect(PROT_NONE)", libc::mprotect(start, bytes, libc::PROT_NONE)),
            }
        };
        if status == 0 { Ok(()) } else { Err(StackError::system(what)) }
    }
}

/// Maps bytes that take no memory until they are touched, also where the program has locked all memory that it is going to map
/// (`mlockall(MCL_FUTURE)`): the kernel would touch all of every stack then, and refuse guards of the cheaper kind.
fn map(bytes: usize) -> Result<*mut libc::c_void, StackError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a fresh mapping, at an address of the kernel's choice, touches nothing that exists. What can not be accessed is not touched.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(StackError::system("mmap"));
    }
    // SAFETY: this function's own mapping. Where it is not locked, unlocking changes nothing.
    let status = unsafe {
        libc::munlock(start, bytes);
        libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE)
    };
    if status != 0 {
        let error = StackError::system("mprotect");
        // SAFETY: as above; nothing points into it.
        unsafe { libc::munmap(start, bytes) };
        return Err(error);
    }
    Ok(start)
}

/// A mapping of stacks, and what handles of them point to; dropped without [`Self::unmap`], both stay for ever.
#[derive(Debug)]
pub(super) struct Slab {
    /// Leaked, since handles point into it.
    places: NonNull<[Place]>,
    start: usize,
    bytes: usize,
    registered: Registered,
}

// SAFETY: the records are never changed, and freed by `unmap` alone, which takes the slab.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

/// Slab and pool of stacks, and the number of its first stack, from which colours follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) pool: usize,
    pub(super) slab: usize,
    pub(super) first: usize,
}

impl Slab {
    /// Maps `stacks` slots with their guards.
    pub(super) fn map(
        config: &StackConfig,
        guards: GuardKind,
        stacks: usize,
        identity: Identity,
    ) -> Result<Self, StackError> {
        let (stride, bytes) = (config.stride(), config.stride() * stacks);
        let start = map(bytes)?;
        // Kernels without huge pages refuse, which is as well.
        // SAFETY: advice on this function's own mapping, as are the guards.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        for slot in 0..stacks {
            // SAFETY: slot `slot` lies in the mapping, in whole pages, and nothing uses it yet.
            if let Err(error) = unsafe { guards.guard(start.byte_add(slot * stride), config.guard) } {
                // SAFETY: as above.
                unsafe { libc::munmap(start, bytes) };
                return Err(error);
            }
        }
        let start = start as usize;
        let registered = Registered::new(start, stacks, config, identity.first);
        let places: Box<[Place]> =
            (0..stacks).map(|slot| place(start + slot * stride, slot, config, identity)).collect();
        Ok(Self { places: NonNull::from(Box::leak(places)), start, bytes, registered })
    }

    pub(super) fn stacks(&self) -> usize {
        self.places.len()
    }

    /// A handle of each stack, the lowest last. To be called once: a stack has one handle.
    pub(super) fn handles(&self) -> impl Iterator<Item = CoroutineStack> + '_ {
        // SAFETY: the index is within the leaked slice.
        (0..self.stacks()).rev().map(|slot| CoroutineStack(unsafe { self.places.cast::<Place>().add(slot) }))
    }

    /// Unmaps it.
    ///
    /// # Safety
    /// No stack of the slab is in use, and no handle of one is left.
    pub(super) unsafe fn unmap(self) {
        self.registered.remove();
        // SAFETY: mapping and records are this slab's own, and nothing uses them, by contract.
        unsafe {
            libc::munmap(self.start as *mut libc::c_void, self.bytes);
            drop(Box::from_raw(self.places.as_ptr()));
        }
    }
}

/// The stack of the slot that starts at `limit`.
fn place(limit: usize, slot: usize, config: &StackConfig, identity: Identity) -> Place {
    let base = limit + config.stride() - colour_of(identity.first + slot);
    Place {
        base: NonZeroUsize::new(base).expect("the kernel maps nothing at 0"),
        limit: NonZeroUsize::new(limit).expect("the kernel maps nothing at 0"),
        guard: config.guard,
        slab: identity.slab,
        pool: identity.pool,
    }
}

/// Gives the memory of these pages back; they read as zero when they are touched again.
///
/// # Safety
/// They are whole pages of a private anonymous mapping whose contents nobody needs.
pub(super) unsafe fn give_back(start: usize, end: usize) {
    if start < end {
        // SAFETY: by contract. An error would leave the memory as it is, which is harmless.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
    }
}
