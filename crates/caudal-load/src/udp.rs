//! Requests in datagrams: every socket is a flow of its own, and answers are matched by the number in memcached's frame.
//! A session connects it before a run; the generator's loop calls it in each turn, on one thread, and no call waits.
//!
//! The numbers of the frame have 16 bits. Request `id` goes to flow `id % flows` with the number `id / flows`, so as many requests may
//! wait as there are flows, times 65,536.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use caudal_proto::datagram::{Added, Assembler, HEADER_BYTES, Header};
use rustix::event::epoll;
use rustix::time::Timespec;

use crate::memcached::Parts;
use crate::mmsg::{self, DATAGRAMS_MAX, Received};
use crate::protocol::{Codec, Protocol, Taken};
use crate::traffic::{Command, VALUE_BYTES_MAX};
use crate::transport::{Answer, Broken, Outcome, ROOM_MIN, Transport};

/// Requests that wait on one flow at most.
pub const WAIT_MAX: u32 = 1 << 16;
/// Bytes of a request that a datagram can hold.
pub const REQUEST_BYTES_MAX: usize = 65_000;
/// Answers of several datagrams that are put together at a time.
const ASSEMBLED_MAX: usize = 64;
/// Datagrams of an answer at most.
const ANSWER_DATAGRAMS_MAX: u16 = 1_024;
/// Bytes for datagrams that have come and are not read yet, which the system is asked for.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

struct Flow {
    socket: UdpSocket,
    /// Requests that leave with the next flush, as places in the slab.
    leaving: Vec<usize>,
}

/// Sockets to one service. See the [module](self).
pub struct Udp {
    address: SocketAddr,
    codec: Codec,
    flows: Vec<Flow>,
    epoll: rustix::fd::OwnedFd,
    /// The command of each request that waits, by its `id`.
    commands: Vec<Option<Command>>,
    /// Requests that leave, `request_bytes` each, and their lengths.
    slab: Vec<u8>,
    lengths: Vec<usize>,
    request_bytes: usize,
    received: Received,
    assembler: Assembler,
    stray: u64,
}

impl Udp {
    /// `flows` sockets to `address`, for at most `capacity` requests that wait.
    ///
    /// # Errors
    /// If the system gives no socket.
    ///
    /// # Panics
    /// If there is no flow, or the capacity is more than [`WAIT_MAX`] times the flows.
    pub fn connect(address: SocketAddr, protocol: Protocol, flows: u32, capacity: u32) -> io::Result<Udp> {
        assert!(flows > 0 && capacity.div_ceil(flows) <= WAIT_MAX, "{capacity} requests on {flows} flows");
        let codec = Codec::new(protocol);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut sockets = Vec::new();
        for number in 0..flows {
            let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any)?;
            socket.connect(address)?;
            // The system gives as much of it as it allows.
            rustix::net::sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER_BYTES)?;
            let data = epoll::EventData::new_u64(number.into());
            epoll::add(&epoll, &socket, data, epoll::EventFlags::IN)?;
            sockets.push(Flow { socket, leaving: Vec::with_capacity(DATAGRAMS_MAX) });
        }
        let request_bytes = HEADER_BYTES + codec.request_bytes_max();
        Ok(Udp {
            address,
            codec,
            flows: sockets,
            epoll,
            commands: vec![None; capacity.max(ROOM_MIN) as usize],
            slab: vec![0; request_bytes * DATAGRAMS_MAX],
            lengths: Vec::with_capacity(DATAGRAMS_MAX),
            request_bytes,
            received: Received::new(),
            assembler: Assembler::new(ASSEMBLED_MAX, 2 * VALUE_BYTES_MAX, ANSWER_DATAGRAMS_MAX),
            stray: 0,
        })
    }

    fn broken(&self, error: &io::Error) -> Broken {
        no_service(self.address, "UDP", error)
    }

    fn flush_flow(&mut self, flow: usize) -> Result<(), Broken> {
        let Flow { socket, leaving } = &mut self.flows[flow];
        let mut messages = [IoSlice::new(&[]); DATAGRAMS_MAX];
        for (message, &place) in messages.iter_mut().zip(&*leaving) {
            *message = IoSlice::new(&self.slab[place * self.request_bytes..][..self.lengths[place]]);
        }
        let mut rest = &messages[..leaving.len()];
        while !rest.is_empty() {
            match mmsg::send(socket.as_fd(), rest) {
                Ok(sent) => rest = &rest[sent..],
                // The socket's own queue is full: the device takes no more. What is not sent is lost, as it would be behind it.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => break,
                Err(error) => return Err(no_service(self.address, "UDP", &error)),
            }
        }
        leaving.clear();
        Ok(())
    }

    /// Takes the datagrams that have come to a flow.
    fn receive(&mut self, flow: usize, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        let mut received = std::mem::take(&mut self.received);
        let result = mmsg::receive(self.flows[flow].socket.as_fd(), &mut received)
            .map_err(|error| self.broken(&error))
            .and_then(|()| {
                received.datagrams().try_for_each(|datagram| self.datagram(flow, datagram, answers))
            });
        self.received = received;
        result
    }

    #[inline]
    fn datagram(&mut self, flow: usize, datagram: &[u8], answers: &mut Vec<Answer>) -> Result<(), Broken> {
        if self.codec.has_numbers() {
            let id = match self.codec.take(Command::Get { key: 0 }, &mut Parts::default(), datagram)? {
                Taken::Answer { number: Some(number), outcome, .. } => Some((number, outcome)),
                _ => None,
            };
            let known = id.and_then(|(number, outcome)| Some((u32::try_from(number).ok()?, outcome?)));
            self.answered(known, answers);
            return Ok(());
        }
        let Ok((header, payload)) = Header::decode(datagram) else {
            return Err(self.codec.strange(datagram));
        };
        let id = u32::from(header.request) * self.flows.len() as u32 + flow as u32;
        let Some(command) = self.commands.get(id as usize).copied().flatten() else {
            self.stray += 1;
            return Ok(());
        };
        let whole = match self.assembler.add(flow as u32, header, payload) {
            Added::Whole(whole) => whole,
            Added::Waits => return Ok(()),
            Added::Doubled | Added::TooLong => {
                self.stray += 1;
                return Ok(());
            }
        };
        let outcome = match self.codec.take(command, &mut Parts::default(), whole)? {
            Taken::Answer { outcome, .. } => outcome,
            // A datagram that ends within an answer: it is none.
            Taken::More { .. } => None,
        };
        self.answered(outcome.map(|outcome| (id, outcome)), answers);
        Ok(())
    }

    fn answered(&mut self, answer: Option<(u32, Outcome)>, answers: &mut Vec<Answer>) {
        let waits = |id: u32| self.commands.get(id as usize).is_some_and(Option::is_some);
        match answer.filter(|&(id, _)| waits(id)) {
            Some((id, outcome)) => {
                self.commands[id as usize] = None;
                answers.push(Answer { id, outcome });
            }
            None => self.stray += 1,
        }
    }
}

/// The error of a service that is not there.
pub(crate) fn no_service(address: SocketAddr, transport: &str, error: &io::Error) -> Broken {
    Broken(match error.kind() {
        io::ErrorKind::ConnectionRefused => format!(
            "nothing listens on {transport} port {} of {}; start the service first, or give the address that it says it \
             listens on{}",
            address.port(),
            address.ip(),
            if transport == "UDP" { "; memcached listens on UDP with `-U PORT` only" } else { "" }
        ),
        _ => format!("{transport} to {address}: {error}"),
    })
}

impl Transport for Udp {
    #[inline]
    fn send(&mut self, id: u32, command: Command) -> Result<(), Broken> {
        if self.lengths.len() == DATAGRAMS_MAX {
            self.flush()?;
        }
        let (flow, place) = (id as usize % self.flows.len(), self.lengths.len());
        let bytes = &mut self.slab[place * self.request_bytes..][..self.request_bytes];
        let framed = if self.codec.has_numbers() { 0 } else { HEADER_BYTES };
        if framed > 0 {
            let number = (id as usize / self.flows.len()) as u16;
            bytes[..HEADER_BYTES].copy_from_slice(&Header::single(number).encode());
        }
        self.lengths.push(framed + self.codec.encode(id.into(), command, &mut bytes[framed..]));
        self.flows[flow].leaving.push(place);
        self.commands[id as usize] = Some(command);
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Broken> {
        for flow in 0..self.flows.len() {
            if !self.flows[flow].leaving.is_empty() {
                self.flush_flow(flow)?;
            }
        }
        self.lengths.clear();
        Ok(())
    }

    #[inline]
    fn poll(&mut self, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        if self.flows.len() == 1 {
            return self.receive(0, answers);
        }
        let mut events =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 16];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = match epoll::wait(&self.epoll, &mut events, Some(&at_once)) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(self.broken(&error.into())),
        };
        for event in &events[..count] {
            let data = event.data;
            self.receive(data.u64() as usize, answers)?;
        }
        Ok(())
    }

    fn forget(&mut self, id: u32) {
        self.commands[id as usize] = None;
        let flows = self.flows.len() as u32;
        self.assembler.forget(id % flows, (id / flows) as u16);
    }

    fn lost_datagrams(&self) -> u64 {
        self.flows.iter().map(|flow| mmsg::drops(flow.socket.as_fd())).sum()
    }

    fn stray(&self) -> u64 {
        self.stray
    }

    fn first_failure(&self) -> Option<&str> {
        self.codec.failure.as_deref()
    }
}
