//! System calls that the libraries in use do not have: many datagrams at a time, and event queues.
//! Inlets call it to read and to poll, outlets to send, homes to wake a worker, and the counts for drops. It owns the descriptors that it
//! makes, and closes them when they are dropped.

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use crate::packet::Packet;
use crate::peer::Peer;

/// Most datagrams of one call.
pub(crate) const BATCH: usize = 32;

/// Receives as many datagrams as there are, into as many of `packets`, without waiting. A datagram that is longer than its packet is marked.
/// How many came?
pub(crate) fn receive(socket: BorrowedFd<'_>, packets: &mut [Box<Packet>]) -> io::Result<usize> {
    let count = packets.len().min(BATCH);
    let mut vectors = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; BATCH];
    // SAFETY: all bytes 0 are valid, empty headers.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
    for (at, packet) in packets.iter_mut().take(count).enumerate() {
        let Packet { buffer, peer, .. } = &mut **packet;
        vectors[at] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let header = &mut headers[at].msg_hdr;
        header.msg_name = (&raw mut peer.storage).cast();
        header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        header.msg_iov = &raw mut vectors[at];
        header.msg_iovlen = 1;
    }
    // SAFETY: `count` headers, each of which points to an address and a vector of one buffer, all of which live during the call, which does
    // not block.
    let received = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count as libc::c_uint,
            libc::MSG_DONTWAIT,
            ptr::null_mut(),
        )
    };
    let Ok(datagrams) = usize::try_from(received) else { return Err(io::Error::last_os_error()) };
    for (packet, header) in packets.iter_mut().zip(&headers).take(datagrams) {
        packet.len = (header.msg_len as usize).min(packet.buffer.len());
        packet.is_cut_off = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        packet.peer.len = header.msg_hdr.msg_namelen;
    }
    Ok(datagrams)
}

/// Sends up to [`BATCH`] of `datagrams`, without waiting. How many has the kernel taken?
pub(crate) fn send<'a>(
    socket: BorrowedFd<'_>,
    datagrams: impl Iterator<Item = (&'a Peer, &'a [u8])>,
) -> io::Result<usize> {
    let mut vectors = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; BATCH];
    // SAFETY: all bytes 0 are valid, empty headers.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
    let mut count = 0;
    for (peer, bytes) in datagrams.take(BATCH) {
        vectors[count] = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let header = &mut headers[count].msg_hdr;
        header.msg_name = (&raw const peer.storage).cast_mut().cast();
        header.msg_namelen = peer.len;
        header.msg_iov = &raw mut vectors[count];
        header.msg_iovlen = 1;
        count += 1;
    }
    if count == 0 {
        return Ok(0);
    }
    // SAFETY: `count` headers, each of which points to an address and a vector of one buffer, which the kernel only reads, and which live
    // during the call; it does not block.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            count as libc::c_uint,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Datagrams that the kernel has dropped because the socket's queue was full; modulo 2^32. None: the kernel does not say.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> Option<u32> {
    /// Numbers that the kernel gives, and the place of the drops among them (`linux/sock_diag.h`).
    const NUMBERS: usize = 9;
    const DROPS: usize = 8;
    let mut numbers = [0_u32; NUMBERS];
    let mut len = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: numbers and length live during the call, which writes at most so many bytes.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    (got == 0 && len as usize > DROPS * size_of::<u32>()).then_some(numbers[DROPS])
}

/// News of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) token: u64,
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    /// The peer sends nothing more, or the descriptor has failed.
    pub(crate) is_ending: bool,
}

/// A queue of events: an epoll instance. All descriptors are edge-triggered.
#[derive(Debug)]
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        // SAFETY: the call has no precondition.
        match unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the kernel has just made the descriptor, for nobody else.
            descriptor => Ok(Epoll(unsafe { OwnedFd::from_raw_fd(descriptor) })),
        }
    }

    /// Tells of `descriptor` by `token` from now on. A closed descriptor leaves by itself.
    pub(crate) fn add(&self, descriptor: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: the event lives during the call.
        let added = unsafe {
            libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, descriptor.as_raw_fd(), &raw mut event)
        };
        if added == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Gives the events that have happened to `see`, without waiting.
    pub(crate) fn poll(&self, mut see: impl FnMut(Event)) {
        let mut events = [MaybeUninit::<libc::epoll_event>::uninit(); 64];
        // SAFETY: room for as many events, which lives during the call.
        let count = unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr().cast(), events.len() as libc::c_int, 0)
        };
        for event in &events[..usize::try_from(count).unwrap_or(0)] {
            // SAFETY: the kernel has written so many.
            let event = unsafe { event.assume_init() };
            let has = |bits: libc::c_int| event.events & bits as u32 != 0;
            see(Event {
                token: event.u64,
                is_readable: has(libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
                is_writable: has(libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR),
                is_ending: has(libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
            });
        }
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// An event descriptor, by which another thread makes an epoll instance readable.
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

    /// Makes an event: each ring is an edge.
    pub(crate) fn ring(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes that live during the call. It fails only where the count is at its end, and readable.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
