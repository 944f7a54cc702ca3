//! A bell: an event descriptor by which a thread that waits in `poll` is woken. A thread that sleeps until a source's descriptor is
//! readable has one, so that other work wakes it as well, and the source of [`crate::drive::channel`] has one for its senders. Any thread
//! may ring it.
//!
//! The descriptor counts: it stays readable from [`Bell::ring`] until [`Bell::silence`], so a bell that rings before anybody waits is heard.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        // SAFETY: the call has no precondition.
        match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the kernel has just made the descriptor, for nobody else.
            descriptor => Ok(Bell(unsafe { OwnedFd::from_raw_fd(descriptor) })),
        }
    }

    /// Makes the descriptor readable; a system call.
    pub(crate) fn ring(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes that live during the call. It fails only where the count is at its end, and readable.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Makes it unreadable, if it is readable; whoever silences it checks for work afterwards.
    pub(crate) fn silence(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes that live during the call, which does not block.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Waits until the bell rings or one of `others` is ready, at most for `longest`; may return for no reason.
    pub(crate) fn wait_with(&self, others: &[Awaited], longest: Option<Duration>) {
        let entry = |(fd, events)| libc::pollfd { fd, events, revents: 0 };
        let other = |other: &Awaited| match *other {
            Awaited::Readable(fd) => (fd, libc::POLLIN),
            Awaited::Writable(fd) => (fd, libc::POLLOUT),
        };
        let own = (self.0.as_raw_fd(), libc::POLLIN);
        let mut polled: Vec<_> = std::iter::once(own).chain(others.iter().map(other)).map(entry).collect();
        let span = longest.map(|span| libc::timespec {
            tv_sec: span.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: span.subsec_nanos().into(),
        });
        let span = span.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: entries and span live during the call.
        unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, span, std::ptr::null()) };
    }
}

/// A descriptor for which a thread waits besides its bell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Readable(RawFd),
    Writable(RawFd),
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_bell_is_heard_by_who_comes_later_until_it_is_silenced() {
        let (bell, other) = (Bell::new().unwrap(), Bell::new().unwrap());
        bell.ring();
        bell.wait_with(&[Awaited::Readable(other.0.as_raw_fd())], None);
        bell.silence();
        other.ring();
        bell.wait_with(&[Awaited::Readable(other.0.as_raw_fd())], None);
        other.silence();
        let begun = Instant::now();
        bell.wait_with(&[Awaited::Readable(other.0.as_raw_fd())], Some(Duration::from_millis(2)));
        assert!(begun.elapsed() >= Duration::from_millis(1), "both are silent");
    }
}
