//! The source of one worker: it reads datagrams and connections, and hands in a request for each datagram, and for all that a connection has.
//! Made by `net`; its worker polls it.
//!
//! ```text
//!                 event: readable              request ends, answer written
//!   accept ─▶ Here ───────────────▶ Away ─────────────────────────────────▶ Here ─▶ … ─▶ closed
//!                     read, submit   │ events are remembered                  │ the answer is not written: an event, or slow_after
//! ```
//!
//! All descriptors are edge-triggered: each event is kept as a flag until the read or the write that finds nothing more to do. So a connection
//! that nobody may read now (it is away, its answer is not read, there is no room for requests) costs no events. Connections that can do something
//! are listed in `ready`; while that is not empty, the source asks to be polled again.

use std::collections::VecDeque;
use std::io;
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use caudal_rt::clock::now;
use caudal_rt::drive::{Intake, Polled, Source};
use caudal_rt::task::Sinks;
use crossbeam_utils::CachePadded;
use socket2::Socket;

use crate::connection::Connection;
use crate::counts::{WorkerCounts, add};
use crate::home::{self, Home};
use crate::outlet::{Outlet, Reply};
use crate::packet::{self, Packet, Pool};
use crate::service::{Origin, Service};
use crate::sys::{self, Epoll, Event};
use caudal_proto::stream::Then;

/// Tokens above those of connections.
const BELL: u64 = u64::MAX;
const UDP: u64 = u64::MAX - 1;
/// The first listener's; the next one's is below it.
const LISTENER: u64 = u64::MAX - 2;
const LISTENERS_MAX: u64 = 8;

/// The things that requests of a worker's sockets need.
pub(crate) struct Desk<S: Service> {
    pub(crate) service: Arc<S>,
    pub(crate) sinks: Sinks<Outlet<S::Session>>,
    pub(crate) counts: Arc<[CachePadded<WorkerCounts>]>,
}

/// Limits as a worker needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Of this worker.
    pub(crate) connections_max: usize,
    pub(crate) input_bytes_max: usize,
    /// In cycles.
    pub(crate) slow_after: u64,
    /// Span between two looks at slow connections, and after an accept that has failed; in cycles.
    pub(crate) look_every: u64,
}

/// A listening socket.
struct Listener {
    socket: Arc<Socket>,
    is_ready: bool,
}

/// A place for a connection.
struct Seat<S> {
    /// Counts the connections that have sat here, so that an event of an earlier one is known.
    generation: u32,
    is_readable: bool,
    is_writable: bool,
    /// The event of the stream's end has come.
    is_ending: bool,
    is_listed: bool,
    taken: Taken<S>,
}

enum Taken<S> {
    Free,
    Here(Box<Connection<S>>),
    Away,
}

/// See the [module](self).
pub(crate) struct Inlet<S: Service> {
    worker: usize,
    desk: Arc<Desk<S>>,
    home: Arc<Home<S::Session>>,
    epoll: Epoll,
    bounds: Bounds,
    udp: Option<Arc<Socket>>,
    udp_is_ready: bool,
    datagrams_first: bool,
    pool: Arc<Pool>,
    /// Packets for the next read.
    #[allow(clippy::vec_box)] // They are handed on as they are.
    packets: Vec<Box<Packet>>,
    listeners: Vec<Listener>,
    /// When it is tried again to accept, after the system had no more descriptors.
    accept_at: Option<u64>,
    seats: Vec<Seat<S::Session>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    /// Connections here whose answers their peers have not read.
    blocked: Vec<u32>,
    /// When slow connections are looked for, in cycles.
    look_at: u64,
    scratch: Box<[u8]>,
}

/// Sockets of one worker.
pub(crate) struct Sockets {
    pub(crate) udp: Option<Arc<Socket>>,
    pub(crate) listeners: Vec<Arc<Socket>>,
}

impl<S: Service> Inlet<S> {
    pub(crate) fn new(
        worker: usize,
        desk: Arc<Desk<S>>,
        sockets: Sockets,
        pool: Pool,
        bounds: Bounds,
    ) -> io::Result<Inlet<S>> {
        let epoll = Epoll::new()?;
        let home = Home::new(worker, bounds.connections_max)?;
        epoll.add(home.bell.as_fd(), BELL)?;
        if let Some(udp) = &sockets.udp {
            epoll.add(udp.as_fd(), UDP)?;
        }
        for (token, listener) in (0..LISTENERS_MAX).zip(&sockets.listeners) {
            epoll.add(listener.as_fd(), LISTENER - token)?;
        }
        let listener = |socket| Listener { socket, is_ready: true };
        Ok(Inlet {
            worker,
            desk,
            home: Arc::new(home),
            epoll,
            bounds,
            udp_is_ready: sockets.udp.is_some(),
            udp: sockets.udp,
            datagrams_first: false,
            pool: Arc::new(pool),
            packets: Vec::new(),
            listeners: sockets.listeners.into_iter().map(listener).collect(),
            accept_at: None,
            seats: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            blocked: Vec::new(),
            look_at: 0,
            scratch: vec![0; 64 << 10].into(),
        })
    }

    fn counts(&self) -> &WorkerCounts {
        &self.desk.counts[self.worker]
    }

    /// Notes what has happened since the last look.
    fn take_events(&mut self) {
        let Inlet { epoll, seats, ready, listeners, udp_is_ready, .. } = self;
        epoll.poll(|Event { token, is_readable, is_writable, is_ending }| match token {
            BELL => {}
            UDP => *udp_is_ready |= is_readable,
            _ if token > LISTENER - LISTENERS_MAX => {
                if let Some(listener) = listeners.get_mut((LISTENER - token) as usize) {
                    listener.is_ready |= is_readable;
                }
            }
            _ => {
                let (number, generation) = (token as u32, (token >> 32) as u32);
                if let Some(seat) =
                    seats.get_mut(number as usize).filter(|seat| seat.generation == generation)
                {
                    seat.is_readable |= is_readable;
                    seat.is_writable |= is_writable;
                    seat.is_ending |= is_ending;
                    list(seat, number, ready);
                }
            }
        });
    }

    /// Reads datagrams and hands them in. Were there any?
    fn read_datagrams(&mut self, intake: &mut Intake<'_>) -> bool {
        let Some(udp) = self.udp.as_ref().filter(|_| self.udp_is_ready) else { return false };
        let wanted = intake.room().min(sys::BATCH);
        while self.packets.len() < wanted
            && let Some(packet) = self.pool.take()
        {
            self.packets.push(packet);
        }
        let count = self.packets.len().min(wanted);
        if count == 0 {
            return false;
        }
        let received = match sys::receive(udp.as_fd(), &mut self.packets[..count]) {
            Ok(received) => received,
            // An error is one of an earlier datagram that was sent: the next call reads on.
            Err(error) => {
                self.udp_is_ready = error.kind() != io::ErrorKind::WouldBlock;
                return false;
            }
        };
        self.udp_is_ready = received == count;
        let counts = &self.desk.counts[self.worker];
        add(&counts.datagrams_in, received as u64);
        let arrival = now();
        for packet in self.packets.drain(..received) {
            if packet.is_cut_off {
                add(&counts.datagrams_too_long, 1);
                self.pool.give_back(packet);
                continue;
            }
            let class = self.desk.service.class(Origin::Datagram, &packet.buffer[..packet.len]);
            let mut packet = packet::Away::new(packet, Arc::clone(&self.pool));
            let desk = Arc::clone(&self.desk);
            intake.submit(class, arrival, move || {
                packet.serve(&*desk.service);
                desk.sinks.put(Reply::Datagram(packet));
            });
        }
        received > 0
    }

    /// Accepts connections. Were there any?
    fn accept(&mut self, intake: &mut Intake<'_>) -> bool {
        let mut accepted = false;
        if self.accept_at.is_some_and(|at| at <= now()) {
            self.accept_at = None;
            self.listeners.iter_mut().for_each(|listener| listener.is_ready = true);
        }
        for number in 0..self.listeners.len() {
            // So many at a time: other connections have their turn in between.
            for _ in 0..sys::BATCH {
                if !self.listeners[number].is_ready {
                    break;
                }
                match self.listeners[number].socket.accept() {
                    Ok((socket, _)) => {
                        accepted = true;
                        self.admit(socket);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.listeners[number].is_ready = false;
                    }
                    // The peer has gone already.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    // No descriptors are left, for example: no event tells when there are.
                    Err(_) => {
                        self.listeners[number].is_ready = false;
                        self.accept_at = Some(now() + self.bounds.look_every);
                    }
                }
            }
        }
        if let Some(at) = self.accept_at {
            intake.poll_again_at(at);
        }
        accepted
    }

    /// Takes a new connection, or closes it because there are too many.
    fn admit(&mut self, socket: Socket) {
        let open = self.seats.len() - self.free.len();
        if open >= self.bounds.connections_max || socket.set_nonblocking(true).is_err() {
            return add(&self.counts().refused, 1);
        }
        // Answers leave in one piece each. Unix sockets have no such option.
        let _ = socket.set_tcp_nodelay(true);
        let number = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seat {
                generation: 0,
                is_readable: false,
                is_writable: false,
                is_ending: false,
                is_listed: false,
                taken: Taken::Free,
            });
            self.seats.len() as u32 - 1
        });
        let seat = &mut self.seats[number as usize];
        let token = u64::from(seat.generation) << 32 | u64::from(number);
        if self.epoll.add(socket.as_fd(), token).is_err() {
            self.free.push(number);
            return add(&self.counts().refused, 1);
        }
        (seat.is_readable, seat.is_writable, seat.is_ending) = (false, false, false);
        seat.taken = Taken::Here(Box::new(Connection::new(token, socket)));
        add(&self.counts().accepted, 1);
    }

    /// Takes connections whose requests have ended.
    fn take_returned(&mut self) -> bool {
        let mut any = false;
        while let Some(connection) = self.home.next() {
            any = true;
            let number = connection.token as u32;
            let seat = &mut self.seats[number as usize];
            seat.taken = Taken::Here(connection);
            list(seat, number, &mut self.ready);
        }
        any
    }

    /// Goes on with connections that are listed. Did any do something?
    fn go_on(&mut self, intake: &mut Intake<'_>) -> bool {
        let mut worked = false;
        for _ in 0..self.ready.len() {
            if !intake.has_room() {
                break;
            }
            let Some(number) = self.ready.pop_front() else { break };
            self.seats[number as usize].is_listed = false;
            worked |= self.go_on_with(number, intake);
        }
        worked
    }

    /// Writes what is left of the answer, reads, and hands in a request, as far as each can be done now.
    fn go_on_with(&mut self, number: u32, intake: &mut Intake<'_>) -> bool {
        let seat = &mut self.seats[number as usize];
        let mut connection = match std::mem::replace(&mut seat.taken, Taken::Away) {
            Taken::Here(connection) => connection,
            // While it is away, what happens is remembered until it comes back.
            other => {
                seat.taken = other;
                return false;
            }
        };
        if connection.is_blocked() && take(&mut seat.is_writable) {
            connection.write();
        }
        if connection.has_failed || connection.then == Then::Close && !connection.is_blocked() {
            self.close(number, connection);
            return true;
        }
        if connection.is_blocked() {
            seat.taken = Taken::Here(connection);
            if !self.blocked.contains(&number) {
                self.blocked.push(number);
            }
            return false;
        }
        let wanted = match connection.then {
            Then::Read { needed } => Some(needed),
            Then::Send | Then::Again | Then::Close => None,
        };
        if let Some(needed) = wanted {
            if needed > self.bounds.input_bytes_max {
                add(&self.counts().closed_too_long, 1);
                self.close(number, connection);
                return true;
            }
            if seat.is_readable && !connection.is_at_end {
                seat.is_readable =
                    connection.read(&mut self.scratch, self.bounds.input_bytes_max, seat.is_ending);
            }
            if connection.has_failed {
                self.close(number, connection);
                return true;
            }
            if connection.input.len() < needed.max(1) {
                if connection.is_at_end {
                    self.close(number, connection);
                    return true;
                }
                seat.taken = Taken::Here(connection);
                return false;
            }
        }
        self.hand_in(connection, intake);
        true
    }

    fn hand_in(&mut self, connection: Box<Connection<S::Session>>, intake: &mut Intake<'_>) {
        add(&self.counts().bursts, 1);
        let class = self.desk.service.class(Origin::Stream(&connection.session), &connection.input);
        let mut away = home::Away::new(connection, Arc::clone(&self.home));
        let desk = Arc::clone(&self.desk);
        intake.submit(class, now(), move || {
            if let Some(connection) = away.connection() {
                connection.serve(&*desk.service);
            }
            desk.sinks.put(Reply::Stream(away));
        });
    }

    fn close(&mut self, number: u32, connection: Box<Connection<S::Session>>) {
        if connection.has_failed {
            add(&self.counts().closed_failed, 1);
        }
        drop(connection);
        let seat = &mut self.seats[number as usize];
        seat.taken = Taken::Free;
        seat.generation = seat.generation.wrapping_add(1) & 0x7fff_ffff;
        self.free.push(number);
        self.blocked.retain(|&other| other != number);
        add(&self.counts().closed, 1);
    }

    /// Closes connections whose peers have not read for too long.
    fn close_slow(&mut self, intake: &mut Intake<'_>) {
        if self.blocked.is_empty() {
            return;
        }
        let time = now();
        if time >= self.look_at {
            self.look_at = time + self.bounds.look_every;
            for number in take(&mut self.blocked) {
                let seat = &mut self.seats[number as usize];
                let Taken::Here(connection) = &seat.taken else { continue };
                if !connection.is_blocked() {
                    continue;
                }
                if time.saturating_sub(connection.moved_at) <= self.bounds.slow_after {
                    self.blocked.push(number);
                    continue;
                }
                if let Taken::Here(connection) = std::mem::replace(&mut seat.taken, Taken::Free) {
                    add(&self.counts().closed_slow, 1);
                    self.close(number, connection);
                }
            }
        }
        if !self.blocked.is_empty() {
            intake.poll_again_at(self.look_at);
        }
    }
}

/// Lists the connection of `seat` among those that can do something.
fn list<S>(seat: &mut Seat<S>, number: u32, ready: &mut VecDeque<u32>) {
    if !std::mem::replace(&mut seat.is_listed, true) {
        ready.push_back(number);
    }
}

impl<S: Service> Source for Inlet<S> {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        let mut worked = self.take_returned();
        self.take_events();
        worked |= self.accept(intake);
        // In turn: neither leaves the other no room for ever.
        self.datagrams_first = !self.datagrams_first;
        if self.datagrams_first {
            worked |= self.read_datagrams(intake);
        }
        worked |= self.go_on(intake);
        if !self.datagrams_first {
            worked |= self.read_datagrams(intake);
        }
        self.close_slow(intake);
        // Their events have been taken: nothing else tells of them.
        let has_packets = !self.packets.is_empty() || !self.pool.is_empty();
        if !self.ready.is_empty()
            || self.udp_is_ready && has_packets
            || self.listeners.iter().any(|one| one.is_ready)
        {
            intake.poll_again_at(0);
        } else if self.udp_is_ready {
            intake.poll_again_at(now() + self.bounds.look_every);
        }
        if worked { Polled::Worked } else { Polled::Nothing }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.epoll.as_fd())
    }
}

impl<S: Service> Drop for Inlet<S> {
    fn drop(&mut self) {
        if let Some(udp) = &self.udp {
            self.counts().look_for_drops(udp);
        }
        self.home.leave();
    }
}
