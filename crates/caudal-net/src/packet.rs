//! Datagrams: the buffer of one, its answer, and the pool to which it returns.
//! A worker's inlet takes buffers out of its pool and reads datagrams into them; the request owns its buffer while it runs; the outlet of the worker
//! that ran it sends the answer and gives the buffer back, from whichever thread.

use std::sync::Arc;

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

/// Packets of a worker. Those that it has not got are on their way, and come back.
pub(crate) struct Pool(ArrayQueue<Box<Packet>>);

impl Pool {
    /// `count` packets for datagrams of up to `bytes`.
    pub(crate) fn new(count: usize, bytes: usize) -> Pool {
        let pool = Pool(ArrayQueue::new(count.max(1)));
        for _ in 0..count {
            pool.give_back(Box::new(Packet {
                buffer: vec![0; bytes].into(),
                len: 0,
                is_cut_off: false,
                peer: Peer::none(),
                answers: Answers::default(),
            }));
        }
        pool
    }

    pub(crate) fn take(&self) -> Option<Box<Packet>> {
        self.0.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn give_back(&self, mut packet: Box<Packet>) {
        packet.answers.clear(KEPT);
        // It has room for all that there are.
        let _ = self.0.push(packet);
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
