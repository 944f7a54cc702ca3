//! How a client puts the datagrams of a reply together, in whatever order they come.
//! A load generator calls [`Assembler::add`] for every datagram of a reply that has several.
//!
//! ```text
//!  slots     [flow, request, total, come, bytes]  [free]  [flow, request, …]
//!               pieces  0:(0, 1392)  1: –  2:(1392, 800)      where each datagram's bytes are
//!               bytes   |1392 of 0   |800 of 2 |               as they came
//! ```
//!
//! All memory is taken at the beginning. If no slot is free, the message that began first gives way: its missing datagrams are
//! most likely lost, and the client's time-out counts it.

use super::Header;

/// Replies of several datagrams that are not whole. See the [module](self).
#[derive(Debug)]
pub struct Assembler {
    slots: Vec<Slot>,
    message_bytes_max: usize,
    /// Numbers messages in the order in which they began.
    begun: u64,
    /// The message that was completed last.
    whole: Vec<u8>,
    /// Messages that gave way before they were whole.
    given_up: u64,
}

#[derive(Debug)]
struct Slot {
    /// The number of the message among all that began; 0 if the slot is free.
    begun: u64,
    flow: u32,
    header: Header,
    come: u16,
    /// Where the bytes of each datagram are; a length of 0 for one that has not come.
    pieces: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

/// The fate of a datagram that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added<'a> {
    /// It was the last of its reply, which is whole now.
    Whole(&'a [u8]),
    /// Others of its reply are missing.
    Waits,
    /// It had come before.
    Doubled,
    /// It makes its reply longer than the limit, or has too high a number: the reply is forgotten.
    TooLong,
}

impl Assembler {
    /// Room for `messages` replies at a time, each of at most `message_bytes_max` bytes and `datagrams_max` datagrams.
    ///
    /// # Panics
    /// If one of the three is 0.
    pub fn new(messages: usize, message_bytes_max: usize, datagrams_max: u16) -> Assembler {
        assert!(messages > 0 && message_bytes_max > 0 && datagrams_max > 0, "an assembler without room");
        let slot = || Slot {
            begun: 0,
            flow: 0,
            header: Header::single(0),
            come: 0,
            pieces: vec![(0, 0); usize::from(datagrams_max)],
            bytes: Vec::with_capacity(message_bytes_max),
        };
        Assembler {
            slots: (0..messages).map(|_| slot()).collect(),
            message_bytes_max,
            begun: 0,
            whole: Vec::with_capacity(message_bytes_max),
            given_up: 0,
        }
    }

    /// Replies that gave way to later ones before they were whole.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Adds a datagram of `flow`, which is the socket or peer within which numbers of requests are unique. A reply of one datagram is whole
    /// at once and takes no slot.
    ///
    /// # Panics
    /// If the header's number is not below its total, or the payload is empty: [`Header::decode`] gives no such header and payload.
    pub fn add<'a>(&'a mut self, flow: u32, header: Header, payload: &'a [u8]) -> Added<'a> {
        assert!(header.sequence < header.total && !payload.is_empty(), "no datagram of its message");
        if header.total == 1 {
            return Added::Whole(payload);
        }
        let slot = self.slot(flow, header);
        let limit = self.message_bytes_max;
        let slot = &mut self.slots[slot];
        if usize::from(header.total) > slot.pieces.len() || slot.bytes.len() + payload.len() > limit {
            slot.begun = 0;
            return Added::TooLong;
        }
        let piece = &mut slot.pieces[usize::from(header.sequence)];
        if piece.1 > 0 {
            return Added::Doubled;
        }
        *piece = (slot.bytes.len() as u32, payload.len() as u32);
        slot.bytes.extend_from_slice(payload);
        slot.come += 1;
        if slot.come < header.total {
            return Added::Waits;
        }
        slot.begun = 0;
        self.whole.clear();
        for &(start, length) in &slot.pieces[..usize::from(header.total)] {
            self.whole.extend_from_slice(&slot.bytes[start as usize..][..length as usize]);
        }
        Added::Whole(&self.whole)
    }

    /// Forgets the reply to a request, which the client waits for no longer.
    pub fn forget(&mut self, flow: u32, request: u16) {
        let same = |slot: &&mut Slot| slot.begun > 0 && slot.flow == flow && slot.header.request == request;
        if let Some(slot) = self.slots.iter_mut().find(same) {
            slot.begun = 0;
        }
    }

    /// The slot of the message, a new one if it has none. A message with another total is another message: the number has come round.
    fn slot(&mut self, flow: u32, header: Header) -> usize {
        let same = |slot: &Slot| slot.begun > 0 && slot.flow == flow && slot.header.request == header.request;
        if let Some(index) = self.slots.iter().position(same) {
            if self.slots[index].header.total != header.total {
                self.given_up += 1;
                self.begin(index, flow, header);
            }
            return index;
        }
        // Free slots have 0, so they come first.
        let index =
            (0..self.slots.len()).min_by_key(|&index| self.slots[index].begun).expect("there is a slot");
        self.given_up += u64::from(self.slots[index].begun > 0);
        self.begin(index, flow, header);
        index
    }

    fn begin(&mut self, index: usize, flow: u32, header: Header) {
        self.begun += 1;
        let slot = &mut self.slots[index];
        (slot.begun, slot.flow, slot.header, slot.come) = (self.begun, flow, header, 0);
        slot.bytes.clear();
        let total = usize::from(header.total).min(slot.pieces.len());
        slot.pieces[..total].fill((0, 0));
    }
}
