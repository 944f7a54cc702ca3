//! `sendmmsg` and `recvmmsg`: many datagrams in one system call.
//! The UDP transport calls [`send`] and [`receive`] in each turn of the generator's loop, on the generator's thread, and [`drops`] at the end of a run.
//! Neither call waits.

use std::io::{self, IoSlice};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Datagrams of one call at most.
pub(crate) const DATAGRAMS_MAX: usize = 32;
/// Bytes of a datagram that is received, at most. memcached sends 1,400.
pub(crate) const DATAGRAM_BYTES_MAX: usize = 2_048;

/// Room for the datagrams of one call; by default there is none.
#[derive(Default)]
pub(crate) struct Received {
    bytes: Vec<[u8; DATAGRAM_BYTES_MAX]>,
    lengths: [usize; DATAGRAMS_MAX],
    count: usize,
}

impl Received {
    pub(crate) fn new() -> Received {
        Received { bytes: vec![[0; DATAGRAM_BYTES_MAX]; DATAGRAMS_MAX], ..Received::default() }
    }

    /// The datagrams of the last call.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.iter().zip(self.lengths).take(self.count).map(|(bytes, length)| &bytes[..length])
    }
}

/// An empty header: no address, no data, no ancillary data.
fn header() -> libc::mmsghdr {
    // SAFETY: all fields are integers and pointers, of which 0 and null are values.
    unsafe { mem::zeroed() }
}

/// Sends the first of `messages`, at most [`DATAGRAMS_MAX`], over a connected socket without waiting; returns how many were sent.
///
/// # Errors
/// The error of the first message that could not be sent, if none before it was.
pub(crate) fn send(socket: BorrowedFd<'_>, messages: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut headers: [libc::mmsghdr; DATAGRAMS_MAX] = [header(); DATAGRAMS_MAX];
    let count = messages.len().min(DATAGRAMS_MAX);
    for (header, message) in headers.iter_mut().zip(messages) {
        // An `IoSlice` has the layout of an `iovec`. The system does not write to what is sent.
        header.msg_hdr.msg_iov = ptr::from_ref(message).cast_mut().cast();
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: `count` headers are valid, each has one `iovec` that borrows its bytes from `messages`, and all of them outlive the call.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives datagrams without waiting; there are none if none has come.
///
/// # Errors
/// If the socket has one, for instance because nobody listens at the other end, or if a datagram is longer than there is room for.
///
/// # Panics
/// If there is room for more datagrams than a call takes.
pub(crate) fn receive(socket: BorrowedFd<'_>, into: &mut Received) -> io::Result<()> {
    assert!(into.bytes.len() <= DATAGRAMS_MAX, "room for {} datagrams", into.bytes.len());
    into.count = 0;
    let mut headers: [libc::mmsghdr; DATAGRAMS_MAX] = [header(); DATAGRAMS_MAX];
    let mut vectors = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; DATAGRAMS_MAX];
    for ((header, vector), bytes) in headers.iter_mut().zip(&mut vectors).zip(into.bytes.iter_mut()) {
        *vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: as many headers as there are buffers have one vector each, of a buffer of its length that nobody else borrows; all outlive
    // the call, and a null time-out is allowed.
    let received = unsafe {
        let (count, flags) = (into.bytes.len() as libc::c_uint, libc::MSG_DONTWAIT);
        libc::recvmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count, flags, ptr::null_mut())
    };
    let Ok(received) = usize::try_from(received) else {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
            _ => Err(error),
        };
    };
    for (length, header) in into.lengths.iter_mut().zip(&headers[..received]) {
        if header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 {
            return Err(io::Error::other(format!(
                "the service sends datagrams of more than {DATAGRAM_BYTES_MAX} bytes, which this generator does not take"
            )));
        }
        *length = (header.msg_len as usize).min(DATAGRAM_BYTES_MAX);
    }
    into.count = received;
    Ok(())
}

/// Datagrams that had arrived at a socket and found no room; 0 where the system does not say.
pub(crate) fn drops(socket: BorrowedFd<'_>) -> u64 {
    /// The option, as `asm/socket.h` has it.
    const SO_MEMINFO: libc::c_int = 55;
    /// The place of the drops in what `SO_MEMINFO` gives.
    const DROPS: usize = 8;
    let mut words = [0_u32; 16];
    let mut bytes = mem::size_of_val(&words) as libc::socklen_t;
    // SAFETY: the system writes at most `bytes` bytes, which `words` has.
    let result = unsafe {
        let value = words.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_MEMINFO, value, &mut bytes)
    };
    if result == 0 { u64::from(words[DROPS]) } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn datagrams_arrive_as_they_were_sent_and_what_found_no_room_is_counted() {
        let (one, other) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        one.connect(other.local_addr().unwrap()).unwrap();
        other.connect(one.local_addr().unwrap()).unwrap();
        let mut received = Received::new();
        receive(other.as_fd(), &mut received).unwrap();
        assert_eq!(received.datagrams().count(), 0);
        let texts: Vec<String> = (0..40).map(|number| "x".repeat(number + 1)).collect();
        let messages: Vec<IoSlice<'_>> = texts.iter().map(|text| IoSlice::new(text.as_bytes())).collect();
        assert_eq!(send(one.as_fd(), &messages).unwrap(), DATAGRAMS_MAX);
        assert_eq!(send(one.as_fd(), &messages[DATAGRAMS_MAX..]).unwrap(), 8);
        for part in [&texts[..DATAGRAMS_MAX], &texts[DATAGRAMS_MAX..]] {
            receive(other.as_fd(), &mut received).unwrap();
            assert!(received.datagrams().eq(part.iter().map(String::as_bytes)));
        }
        assert_eq!(drops(other.as_fd()), 0);

        rustix::net::sockopt::set_socket_recv_buffer_size(&other, 1).unwrap();
        let long = [0; 1_000];
        (0..100).for_each(|_| assert_eq!(send(one.as_fd(), &[IoSlice::new(&long)]).unwrap(), 1));
        assert!(drops(other.as_fd()) > 50, "{}", drops(other.as_fd()));

        let too_long = [0; DATAGRAM_BYTES_MAX + 1];
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(&too_long, free.local_addr().unwrap()).unwrap();
        let error = receive(free.as_fd(), &mut received).unwrap_err().to_string();
        assert!(error.contains("more than 2048 bytes"), "{error}");
    }
}
