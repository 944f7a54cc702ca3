//! A bell in models: a futex word that counts, as the kernel's event descriptor does, each change of which comes behind the one before.
//! A source that makes its descriptor readable rings the bell of the thread that waits for both.

use std::time::Duration;

use super::futex;
use super::primitives::{AtomicU32, Ordering};

/// A descriptor for which a thread waits besides its bell; there are none in models.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)]
pub(crate) enum Awaited {
    Readable(std::os::fd::RawFd),
    Writable(std::os::fd::RawFd),
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Bell(AtomicU32);

impl Bell {
    pub(crate) fn new() -> std::io::Result<Bell> {
        Ok(Bell(AtomicU32::new(0)))
    }

    pub(crate) fn ring(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
        futex::wake(&self.0, 1);
    }

    pub(crate) fn silence(&self) {
        self.0.swap(0, Ordering::AcqRel);
    }

    /// No model polls.
    pub(crate) fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("a bell of a model has no descriptor")
    }

    pub(crate) fn wait_with(&self, _others: &[Awaited], longest: Option<Duration>) {
        futex::wait(&self.0, 0, longest);
        // Who rings and who waits take the lock of the kernel's event descriptor one after the other.
        self.0.load(Ordering::Acquire);
    }
}
