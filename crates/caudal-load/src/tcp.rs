//! Requests over connections: as many as are due are on their way on each, and answers come in the order of the requests.
//! A session connects it before a run; the generator's loop calls it in each turn, on one thread, and no call waits.
//!
//! Request `id` goes over connection `id % connections`; a connection that has ended gives its requests to the next one that has not.
//! An answer belongs to the first request of its connection that was not answered, also if the generator has given that one up: so a
//! number that was used again meanwhile is not taken for it. What a connection does not take stays in its outbox, and the service is
//! charged for the time, because latency counts from the intended send time.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::event::epoll::{self, EventFlags};
use rustix::time::Timespec;

use crate::memcached::Parts;
use crate::protocol::{Codec, Protocol, Taken};
use crate::traffic::Command;
use crate::transport::{Answer, Broken, ROOM_MIN, Transport};
use crate::udp::no_service;

/// The time that a connection may take to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Bytes that are read at a time.
const READ_BYTES: usize = 16 << 10;

struct Connection {
    stream: TcpStream,
    /// Requests that were not answered, with how often their number had been used.
    waiting: VecDeque<(u32, u32, Command)>,
    out: Vec<u8>,
    /// Bytes of `out` that the connection has taken.
    taken: usize,
    input: Vec<u8>,
    parts: Parts,
    /// The connection has taken less than it was given, and will say when it takes more.
    is_full: bool,
    is_dirty: bool,
    has_ended: bool,
}

/// Connections to one service. See the [module](self).
pub struct Tcp {
    address: SocketAddr,
    codec: Codec,
    connections: Vec<Connection>,
    epoll: rustix::fd::OwnedFd,
    /// Connections with something that was not written.
    dirty: Vec<u32>,
    /// How often each number was used, and whether its request waits.
    uses: Vec<(u32, bool)>,
    stray: u64,
    buffer: Box<[u8]>,
}

impl Tcp {
    /// `connections` to `address`, for at most `capacity` requests that wait.
    ///
    /// # Errors
    /// [`Broken`] says why there is no connection.
    ///
    /// # Panics
    /// If no connection is asked for.
    pub fn connect(
        address: SocketAddr,
        protocol: Protocol,
        connections: u32,
        capacity: u32,
    ) -> Result<Tcp, Broken> {
        assert!(connections > 0, "a generator without connections");
        let failed = |error: io::Error| no_service(address, "TCP", &error);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let mut made = Vec::new();
        for number in 0..connections {
            let stream = TcpStream::connect_timeout(&address, CONNECT_WITHIN).map_err(failed)?;
            stream.set_nodelay(true).map_err(failed)?;
            stream.set_nonblocking(true).map_err(failed)?;
            let data = epoll::EventData::new_u64(number.into());
            epoll::add(&epoll, &stream, data, EventFlags::IN).map_err(|error| failed(error.into()))?;
            made.push(Connection {
                stream,
                waiting: VecDeque::new(),
                out: Vec::new(),
                taken: 0,
                input: Vec::new(),
                parts: Parts::default(),
                is_full: false,
                is_dirty: false,
                has_ended: false,
            });
        }
        Ok(Tcp {
            address,
            codec: Codec::new(protocol),
            connections: made,
            epoll,
            dirty: Vec::with_capacity(connections as usize),
            uses: vec![(0, false); capacity.max(ROOM_MIN) as usize],
            stray: 0,
            buffer: vec![0; READ_BYTES].into(),
        })
    }

    /// The connection of a request: the one of its number, or the next one that has not ended.
    fn connection_of(&self, id: u32) -> Result<usize, Broken> {
        let count = self.connections.len();
        (0..count)
            .map(|step| (id as usize + step) % count)
            .find(|&index| !self.connections[index].has_ended)
            .ok_or_else(|| {
                Broken(format!("the service at {} has closed all {count} connections", self.address))
            })
    }

    /// Writes what a connection takes of its outbox.
    fn write(&mut self, index: usize) -> Result<(), Broken> {
        let connection = &mut self.connections[index];
        while connection.taken < connection.out.len() && !connection.has_ended {
            match connection.stream.write(&connection.out[connection.taken..]) {
                Ok(written) => connection.taken += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.end(index),
            }
        }
        let connection = &mut self.connections[index];
        let is_full = connection.taken < connection.out.len();
        if !is_full {
            connection.out.clear();
            connection.taken = 0;
        }
        if is_full != connection.is_full {
            connection.is_full = is_full;
            let flags = if is_full { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            let data = epoll::EventData::new_u64(index as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)
                .map_err(|error| no_service(self.address, "TCP", &error.into()))?;
        }
        Ok(())
    }

    /// A connection that is of no more use: what waits on it is never answered.
    fn end(&mut self, index: usize) -> Result<(), Broken> {
        let connection = &mut self.connections[index];
        if !connection.has_ended {
            connection.has_ended = true;
            connection.out.clear();
            connection.taken = 0;
            // It may be gone already.
            let _ = epoll::delete(&self.epoll, &connection.stream);
        }
        self.connection_of(0).map(drop)
    }

    /// Reads once what has come on a connection.
    fn read(&mut self, index: usize, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.connections[index].stream.read(&mut buffer);
        let result = match read {
            Ok(0) => self.end(index),
            Ok(count) => self.take(index, &buffer[..count], answers),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(())
            }
            Err(_) => self.end(index),
        };
        self.buffer = buffer;
        result
    }

    /// Takes answers off what has come, together with what is left from before.
    fn take(&mut self, index: usize, fresh: &[u8], answers: &mut Vec<Answer>) -> Result<(), Broken> {
        let mut kept = std::mem::take(&mut self.connections[index].input);
        if kept.is_empty() {
            let used = self.take_answers(index, fresh, answers)?;
            kept.extend_from_slice(&fresh[used..]);
        } else {
            kept.extend_from_slice(fresh);
            let used = self.take_answers(index, &kept, answers)?;
            kept.drain(..used);
        }
        self.connections[index].input = kept;
        Ok(())
    }

    fn take_answers(
        &mut self,
        index: usize,
        input: &[u8],
        answers: &mut Vec<Answer>,
    ) -> Result<usize, Broken> {
        let mut at = 0;
        while at < input.len() {
            let connection = &mut self.connections[index];
            let Some(&(first, uses, command)) = connection.waiting.front() else {
                return Err(self.codec.strange(&input[at..]));
            };
            match self.codec.take(command, &mut connection.parts, &input[at..])? {
                Taken::More { consumed } => return Ok(at + consumed),
                Taken::Answer { number, outcome, consumed } => {
                    at += consumed;
                    let (id, uses) = match number {
                        None => {
                            connection.waiting.pop_front();
                            (first, uses)
                        }
                        Some(number) => {
                            connection.waiting.pop_front();
                            let id = number as u32;
                            (id, (number >> 32) as u32)
                        }
                    };
                    let Some(outcome) = outcome else { return Err(self.codec.strange(&input[..at])) };
                    match self.uses.get_mut(id as usize) {
                        Some(slot) if *slot == (uses, true) => {
                            slot.1 = false;
                            answers.push(Answer { id, outcome });
                        }
                        _ => self.stray += 1,
                    }
                }
            }
        }
        Ok(at)
    }
}

impl Transport for Tcp {
    #[inline]
    fn send(&mut self, id: u32, command: Command) -> Result<(), Broken> {
        let index = self.connection_of(id)?;
        let slot = &mut self.uses[id as usize];
        *slot = (slot.0.wrapping_add(1), true);
        let uses = slot.0;
        let connection = &mut self.connections[index];
        let start = connection.out.len();
        connection.out.resize(start + self.codec.request_bytes_max(), 0);
        let number = u64::from(uses) << 32 | u64::from(id);
        let length = self.codec.encode(number, command, &mut connection.out[start..]);
        connection.out.truncate(start + length);
        connection.waiting.push_back((id, uses, command));
        if !connection.is_dirty && !connection.is_full {
            connection.is_dirty = true;
            self.dirty.push(index as u32);
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Broken> {
        while let Some(index) = self.dirty.pop() {
            self.connections[index as usize].is_dirty = false;
            self.write(index as usize)?;
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        let mut events =
            [epoll::Event { flags: EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 32];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = match epoll::wait(&self.epoll, &mut events, Some(&at_once)) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(no_service(self.address, "TCP", &error.into())),
        };
        for event in &events[..count] {
            let (data, flags) = (event.data, event.flags);
            let index = data.u64() as usize;
            if flags.contains(EventFlags::OUT) {
                self.write(index)?;
            }
            if flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP) {
                self.read(index, answers)?;
            }
        }
        Ok(())
    }

    fn forget(&mut self, id: u32) {
        self.uses[id as usize].1 = false;
    }

    fn stray(&self) -> u64 {
        self.stray
    }

    fn first_failure(&self) -> Option<&str> {
        self.codec.failure.as_deref()
    }
}
