//! Counts of what sockets have brought and taken, for those who run a service.
//! The inlet and the outlet of each worker add to counts of that worker as they read and send; any thread may read them while the service runs.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use socket2::Socket;

use crate::sys;

macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        /// Counts since the start, of all workers. They only grow, and are not of one instant.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        /// Counts of one worker. Other workers add to them when they carry out what it has read.
        #[derive(Debug, Default)]
        pub(crate) struct WorkerCounts {
            $(pub(crate) $name: AtomicU64,)+
        }

        impl Counts {
            /// All of them, with their names.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),+]
            }

            pub(crate) fn sum<'a>(workers: impl Iterator<Item = &'a WorkerCounts>) -> Counts {
                let mut sum = Counts::default();
                for worker in workers {
                    $(sum.$name += worker.$name.load(Relaxed);)+
                }
                sum
            }
        }
    };
}

counts! {
    /// Datagrams that were read.
    datagrams_in,
    /// Datagrams that were sent.
    datagrams_out,
    /// Datagrams that the kernel dropped because a socket's queue was full: the service reads too slowly.
    datagrams_dropped,
    /// Datagrams that were longer than a receive buffer, and were not served.
    datagrams_too_long,
    /// Datagrams that the kernel refused to send.
    datagrams_unsent,
    /// Connections that were accepted, of which those that were closed are not open any more.
    accepted,
    /// Connections that were closed at once because there were too many.
    refused,
    /// Connections that have ended, whoever ended them.
    closed,
    /// Connections, among those that have ended, that were closed because their peer did not read the answer.
    closed_slow,
    /// Connections, among those that have ended, that were closed because a request of theirs did not fit.
    closed_too_long,
    /// Connections, among those that have ended, that were closed because a request of theirs failed.
    closed_failed,
    /// Requests of connections: bursts of bytes that were read together.
    bursts,
}

impl Counts {
    /// Connections that are open now.
    pub fn open(&self) -> u64 {
        self.accepted.saturating_sub(self.closed)
    }
}

impl WorkerCounts {
    /// Asks the kernel how many datagrams it has dropped.
    pub(crate) fn look_for_drops(&self, udp: &Socket) {
        if let Some(dropped) = sys::dropped(udp.as_fd()) {
            self.datagrams_dropped.fetch_max(u64::from(dropped), Relaxed);
        }
    }
}

/// Adds `by` to a count.
pub(crate) fn add(count: &AtomicU64, by: u64) {
    count.fetch_add(by, Relaxed);
}
