//! The address of a datagram's sender, as the kernel writes and reads it.
//! A system call writes it when a datagram is read, the datagram's buffer keeps it, and a system call reads it when the answer is sent. Plain data.

use std::mem::zeroed;

/// See the [module](self).
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) storage: libc::sockaddr_storage,
    /// Bytes of the address, as the kernel has said.
    pub(crate) len: libc::socklen_t,
}

impl Peer {
    pub(crate) fn none() -> Peer {
        // SAFETY: all bytes 0 are a valid, empty address.
        Peer { storage: unsafe { zeroed() }, len: 0 }
    }
}
