//! The sink of one worker: it sends the answers of requests that ran there, datagrams many at a time, and returns connections to their homes.
//! Made by `net`; requests put their answers in.

use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use caudal_rt::drive::Sink;
use socket2::Socket;

use crate::counts::{WorkerCounts, add};
use crate::{home, packet, sys};

/// An answer of more datagrams is long: a scan's, or that of a large value.
const SHORT_MAX: usize = 4;
/// Datagrams of a long answer that a flush sends at most, some 40 us: then the worker looks for arrivals, and runs what came meanwhile.
const PIECE: usize = 16;
/// Answers that wait for the socket before the worker takes nothing more in.
const WAITING_MAX: usize = 256;

/// A request that has been carried out.
pub(crate) enum Reply<S> {
    Datagram(packet::Away),
    Stream(home::Away<S>),
}

/// Answers to datagrams, in order.
#[derive(Default)]
struct Queue {
    answers: Vec<packet::Away>,
    /// Datagrams of the first answer that are sent.
    sent: usize,
}

/// See the [module](self).
pub(crate) struct Outlet<S> {
    worker: usize,
    udp: Option<Arc<Socket>>,
    counts: Arc<[crossbeam_utils::CachePadded<WorkerCounts>]>,
    short: Queue,
    /// Long answers, sent in pieces, and only when no short one waits.
    long: Queue,
    streams: Vec<home::Away<S>>,
}

impl<S> Outlet<S> {
    pub(crate) fn new(
        worker: usize,
        udp: Option<Arc<Socket>>,
        counts: Arc<[crossbeam_utils::CachePadded<WorkerCounts>]>,
    ) -> Outlet<S> {
        Outlet { worker, udp, counts, short: Queue::default(), long: Queue::default(), streams: Vec::new() }
    }

    /// Answers to datagrams that are not sent whole.
    fn datagrams_waiting(&self) -> usize {
        self.short.answers.len() + self.long.answers.len()
    }

    /// Sends all short answers, and a piece of the long ones. `true`: all are sent.
    fn flush_datagrams(&mut self) -> bool {
        let Outlet { udp, counts, worker, short, long, .. } = self;
        let Some(udp) = udp else { return true };
        let counts = &counts[*worker];
        while !short.answers.is_empty() {
            if !short.send(udp, sys::BATCH, counts) {
                return false;
            }
        }
        long.answers.is_empty() || long.send(udp, PIECE, counts) && long.answers.is_empty()
    }

    /// Writes the answers of connections and returns them to their homes. `true`: all have left.
    fn flush_streams(&mut self) -> bool {
        let worker = self.worker;
        for mut stream in std::mem::take(&mut self.streams) {
            let is_sent = stream.connection().is_none_or(crate::connection::Connection::write);
            // At home somebody waits until the socket takes more. When nobody is there any more, this does.
            if is_sent || !stream.home.is_gone() {
                stream.go_home(worker);
            } else {
                self.streams.push(stream);
            }
        }
        self.streams.is_empty()
    }
}

impl Queue {
    /// Sends up to `most` datagrams with one call. `false`: the socket takes no more now.
    fn send(&mut self, udp: &Socket, most: usize, counts: &WorkerCounts) -> bool {
        let waiting = self.answers.iter().flat_map(packet::Away::answers).skip(self.sent).take(most);
        self.sent += match sys::send(udp.as_fd(), waiting) {
            Ok(taken) => {
                add(&counts.datagrams_out, taken as u64);
                taken
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            // The first one is refused: its peer has gone, or it is too long.
            Err(_) => {
                add(&counts.datagrams_unsent, 1);
                1
            }
        };
        drop_sent(&mut self.answers, &mut self.sent);
        true
    }
}

/// Returns packets to their pool of which all datagrams are among the first `sent`; `sent` is how many of the next one are, then.
fn drop_sent(packets: &mut Vec<packet::Away>, sent: &mut usize) {
    let mut whole = 0;
    for packet in &*packets {
        let count = packet.answers().count();
        if count > *sent {
            break;
        }
        *sent -= count;
        whole += 1;
    }
    packets.drain(..whole);
}

impl<S: Send> Sink for Outlet<S> {
    type Reply = Reply<S>;

    fn put(&mut self, reply: Reply<S>) {
        match reply {
            Reply::Datagram(packet) => {
                let is_long = packet.answers().nth(SHORT_MAX).is_some();
                let queue = if is_long { &mut self.long } else { &mut self.short };
                queue.answers.push(packet);
            }
            Reply::Stream(stream) => self.streams.push(stream),
        }
    }

    fn flush(&mut self) -> bool {
        let datagrams = self.flush_datagrams();
        self.flush_streams() && datagrams
    }

    fn is_full(&self) -> bool {
        self.datagrams_waiting() >= WAITING_MAX
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.udp.as_ref().filter(|_| self.streams.is_empty()).map(|udp| udp.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::packet::Pool;
    use crate::service::{Answers, Origin, Service};
    use caudal_proto::stream::{Served, Then};

    /// Answers a datagram of n bytes by n datagrams of as many bytes as it has.
    struct Echoes;

    impl Service for Echoes {
        type Session = ();

        fn class(&self, _: Origin<'_, ()>, _: &[u8]) -> caudal_rt::ClassId {
            unreachable!("nobody asks for it here")
        }

        fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
            (0..bytes.len()).for_each(|_| answers.bytes().extend_from_slice(bytes));
            answers.cut_every(bytes.len());
        }

        fn stream(&self, (): &mut (), _: &[u8], _: &mut Vec<u8>) -> Served {
            Served { consumed: 0, then: Then::Close }
        }
    }

    #[test]
    fn a_long_answer_leaves_in_pieces_and_after_a_short_one_that_came_later() {
        let server = Arc::new(Socket::from(UdpSocket::bind("127.0.0.1:0").unwrap()));
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(server.local_addr().unwrap().as_socket().unwrap()).unwrap();
        let pool = Arc::new(Pool::new(2, 64));
        let mut outlet = Outlet::<()>::new(0, Some(Arc::clone(&server)), Arc::from([Default::default()]));
        for bytes in [40, 1] {
            client.send(&vec![b'x'; bytes]).unwrap();
            let mut packets = vec![pool.take().unwrap()];
            assert_eq!(sys::receive(server.as_fd(), &mut packets).unwrap(), 1);
            let mut packet = packet::Away::new(packets.remove(0), Arc::clone(&pool));
            packet.serve(&Echoes);
            outlet.put(Reply::Datagram(packet));
        }
        client.set_nonblocking(true).unwrap();
        let lengths = || {
            let mut buffer = [0; 64];
            std::iter::from_fn(|| client.recv(&mut buffer).ok()).collect::<Vec<_>>()
        };
        assert!(!outlet.flush(), "there is more to send");
        assert_eq!(lengths(), [vec![1], vec![40; PIECE]].concat());
        assert!(!outlet.flush() && outlet.flush());
        assert_eq!(lengths(), vec![40; 40 - PIECE]);
        assert_eq!((outlet.datagrams_waiting(), pool.is_empty()), (0, false));
    }
}
