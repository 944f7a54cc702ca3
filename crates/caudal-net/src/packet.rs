//! Datagrams: the buffer of one, its answer, and the pool to which it returns.
//! A worker's inlet takes buffers out of its pool and reads datagrams into them; the request owns its buffer while it runs; the outlet of the worker
//! that ran it sends the answer and gives the buffer back, from whichever thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crossbeam_queue::ArrayQueue;

use crate::peer::Peer;
use crate::service::{Answers, Service};

/// Bytes of an answer's buffer that stay with a packet between two uses.
const KEPT: usize = 16 << 10;

/// A datagram and its answer.
pub(crate) struct Packet {
    pub(crate) buffer: Box<[u8]>,
    pub(crate) len: usize,
    /// It was longer than the buffer.
    pub(crate) is_cut_off: bool,
    pub(crate) peer: Peer,
    pub(crate) answers: Answers,
}

/// Packets of a worker. Those that it has not got are on their way, and come back. A packet is made when all others are away, so that there are only as
/// many as were ever away at a time: few stay in the cache where many, used in turn, would not.
pub(crate) struct Pool {
    idle: ArrayQueue<Box<Packet>>,
    /// Packets that were made; only the inlet makes some.
    made: AtomicUsize,
    most: usize,
    bytes: usize,
}

impl Pool {
    /// At most `most` packets, for datagrams of up to `bytes`.
    pub(crate) fn new(most: usize, bytes: usize) -> Pool {
        Pool { idle: ArrayQueue::new(most.max(1)), made: AtomicUsize::new(0), most, bytes }
    }

    /// A packet for the inlet; none: all of them are away.
    pub(crate) fn take(&self) -> Option<Box<Packet>> {
        self.idle.pop().or_else(|| self.make())
    }

    #[cold]
    fn make(&self) -> Option<Box<Packet>> {
        let made = self.made.load(Relaxed);
        (made < self.most).then(|| {
            self.made.store(made + 1, Relaxed);
            Box::new(Packet {
                buffer: vec![0; self.bytes].into(),
                len: 0,
                is_cut_off: false,
                peer: Peer::none(),
                answers: Answers::default(),
            })
        })
    }

    /// Are all packets away?
    pub(crate) fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.made.load(Relaxed) >= self.most
    }

    pub(crate) fn give_back(&self, mut packet: Box<Packet>) {
        packet.answers.clear(KEPT);
        // It has room for all that there are.
        let _ = self.idle.push(packet);
    }
}

/// A packet that is away from its pool, to which it returns however its request ends.
pub(crate) struct Away {
    packet: Option<Box<Packet>>,
    pool: Arc<Pool>,
}

impl Away {
    pub(crate) fn new(packet: Box<Packet>, pool: Arc<Pool>) -> Away {
        Away { packet: Some(packet), pool }
    }

    /// Has `service` answer it.
    pub(crate) fn serve(&mut self, service: &impl Service) {
        if let Some(packet) = &mut self.packet {
            service.datagram(&packet.buffer[..packet.len], &mut packet.answers);
        }
    }

    /// The datagrams of the answer, with whom they are for.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&Peer, &[u8])> {
        self.packet
            .iter()
            .flat_map(|packet| packet.answers.datagrams().map(|datagram| (&packet.peer, datagram)))
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if let Some(packet) = self.packet.take() {
            self.pool.give_back(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_made_when_all_others_are_away_and_never_more_than_allowed() {
        let pool = Pool::new(2, 64);
        let one = pool.take().expect("the first");
        pool.give_back(one);
        assert_eq!(pool.made.load(Relaxed), 1);
        let all = [pool.take(), pool.take()].map(|packet| packet.expect("two are allowed"));
        assert!(pool.take().is_none() && pool.is_empty());
        assert_eq!(pool.made.load(Relaxed), 2);
        all.into_iter().for_each(|packet| pool.give_back(packet));
        assert!(!pool.is_empty() && pool.take().is_some());
    }
}
