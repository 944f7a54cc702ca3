//! A connection: its socket, what was read and not yet served, and what was answered and not yet sent.
//! The inlet of a worker makes one when it accepts a connection and reads into it; the request that serves it owns it while it runs, on whichever
//! worker that is; the outlet of that worker writes the answer. So one thread at a time has it.

use std::io::{ErrorKind, Read, Write};

use caudal_rt::clock::now;
use socket2::Socket;

use crate::service::Service;
use caudal_proto::stream::{Served, Then};

/// Bytes of an empty buffer that stay with a connection.
const KEPT: usize = 4 << 10;

/// See the [module](self).
pub(crate) struct Connection<S> {
    pub(crate) token: u64,
    socket: Socket,
    pub(crate) session: S,
    pub(crate) input: Vec<u8>,
    answer: Vec<u8>,
    /// Bytes of the answer that the socket has taken.
    sent: usize,
    /// The answer of the last request to what is next.
    pub(crate) then: Then,
    /// The peer sends nothing more.
    pub(crate) is_at_end: bool,
    /// The socket, or a request, has failed.
    pub(crate) has_failed: bool,
    /// When the socket last took something of the answer, or the answer was made, in cycles.
    pub(crate) moved_at: u64,
}

impl<S: Default> Connection<S> {
    pub(crate) fn new(token: u64, socket: Socket) -> Connection<S> {
        Connection {
            token,
            socket,
            session: S::default(),
            input: Vec::new(),
            answer: Vec::new(),
            sent: 0,
            then: Then::Read { needed: 1 },
            is_at_end: false,
            has_failed: false,
            moved_at: 0,
        }
    }
}

impl<S> Connection<S> {
    /// Reads until there is nothing more, or the input has `most` bytes. `true`: there may be more. `is_ending`: the event of the stream's end
    /// has come already, so that it has to be read, too.
    pub(crate) fn read(&mut self, scratch: &mut [u8], most: usize, is_ending: bool) -> bool {
        while self.input.len() < most {
            let room = scratch.len().min(most - self.input.len());
            match (&self.socket).read(&mut scratch[..room]) {
                Ok(0) => {
                    self.is_at_end = true;
                    return false;
                }
                Ok(count) => {
                    self.input.extend_from_slice(&scratch[..count]);
                    // A socket that had less than there was room for is empty. The end of the stream is going to be an event of its own.
                    if count < room && !is_ending {
                        return false;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => {
                    self.has_failed = true;
                    return false;
                }
            }
        }
        true
    }

    /// Has `service` serve what was read.
    pub(crate) fn serve(&mut self, service: &impl Service<Session = S>) {
        let Served { consumed, then } = service.stream(&mut self.session, &self.input, &mut self.answer);
        assert!(
            consumed <= self.input.len(),
            "Service::stream has consumed {consumed} bytes of {}: answer at most as many as it was given",
            self.input.len()
        );
        self.input.drain(..consumed);
        self.then = then;
        self.moved_at = now();
    }

    /// Sends as much of the answer as the socket takes. `true`: all.
    pub(crate) fn write(&mut self) -> bool {
        while self.is_blocked() && !self.has_failed {
            match (&self.socket).write(&self.answer[self.sent..]) {
                Ok(count) => {
                    self.sent += count;
                    self.moved_at = now();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => self.has_failed = true,
            }
        }
        self.answer.clear();
        self.answer.shrink_to(KEPT);
        self.sent = 0;
        true
    }

    /// Is some of the answer not sent?
    pub(crate) fn is_blocked(&self) -> bool {
        self.sent < self.answer.len()
    }
}
