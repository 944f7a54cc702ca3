//! The thread that answers at the socket.
//!
//! It waits in `poll` for whichever of its descriptors has something, and never blocks in a read or write: a client that does not
//! read its answer keeps only its own place. What a client may take up is bounded, and what is beyond is refused with a word:
//!
//! | bound | of |
//! | --- | --- |
//! | [`CLIENTS_MAX`] | clients at a time |
//! | [`LINE_MAX`] | bytes of a request |
//! | [`STUCK_MAX`] | time without taking any of an answer |
//! | [`SILENT_MAX`] | time without asking |
//!
//! ```text
//!   reading ── a whole line ──▶ answering ── all is sent ──▶ reading
//!      │                           ▲
//!      └─ a timeline ─▶ recording ─┘  when the window is over
//! ```

use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use caudal_rt::raw::pause;
use caudal_rt::stats::{Running, View};

use super::place;
use super::request::{self, Reply};

const CLIENTS_MAX: usize = 16;
const LINE_MAX: usize = 4 << 10;
const STUCK_MAX: Duration = Duration::from_secs(5);
const SILENT_MAX: Duration = Duration::from_secs(300);
/// How often bounds of time are checked while there are clients.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// A descriptor by which the thread is told to end.
pub(super) fn bell() -> std::io::Result<OwnedFd> {
    // SAFETY: the call has no precondition.
    match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
        -1 => Err(std::io::Error::last_os_error()),
        // SAFETY: the kernel has just made the descriptor, for nobody else.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
    }
}

struct Client {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    /// When anything came or went last.
    moved: Instant,
    /// It has closed its side.
    asked_all: bool,
    recording: Option<(Running, Instant)>,
}

/// Answers until the bell rings.
pub(super) fn serve(view: &View, listener: &UnixListener, bell: &OwnedFd) {
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let ready = wait(listener, bell, &clients);
        if ready[0] != 0 {
            return;
        }
        for (client, &ready) in clients.iter_mut().zip(&ready[2..]) {
            if ready & (libc::POLLHUP | libc::POLLERR) != 0 {
                // Nobody is there to hear of it.
                client.recording = None;
            }
            if ready != 0 {
                client.read();
            }
        }
        clients.retain_mut(|client| client.go_on(view));
        if ready[1] != 0 {
            accept(listener, &mut clients);
        }
    }
}

/// Waits until something is to be done; the events of each descriptor: the bell, the listener, the clients.
fn wait(listener: &UnixListener, bell: &OwnedFd, clients: &[Client]) -> Vec<libc::c_short> {
    let entry = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
    let mut polled = vec![entry(bell.as_raw_fd(), libc::POLLIN), entry(listener.as_raw_fd(), libc::POLLIN)];
    polled.extend(clients.iter().map(|client| entry(client.stream.as_raw_fd(), client.wants())));
    let timeout = clients.iter().map(Client::next_check).min();
    let timeout_ms = timeout.map_or(-1, |span| span.as_millis() as libc::c_int + 1);
    // SAFETY: the entries live during the call.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) };
    match ready {
        // Interrupted, or nothing but the time is over.
        ..=0 => vec![0; polled.len()],
        _ => polled.iter().map(|entry| entry.revents).collect(),
    }
}

/// Takes in one who wants to ask, if it is this user and there is room.
fn accept(listener: &UnixListener, clients: &mut Vec<Client>) {
    let Ok((stream, _)) = listener.accept() else {
        // Out of descriptors, say: not in a loop without a pause.
        return pause(Duration::from_millis(10));
    };
    if stream.set_nonblocking(true).is_err() || user_of(&stream) != Some(place::user()) {
        return;
    }
    let mut client = Client {
        stream,
        input: Vec::new(),
        output: Vec::new(),
        sent: 0,
        moved: Instant::now(),
        asked_all: false,
        recording: None,
    };
    if clients.len() < CLIENTS_MAX {
        return clients.push(client);
    }
    client.say(&request::error(&format!("{CLIENTS_MAX} clients are here already; come back later")));
    let _ = client.send();
}

/// The user at the other end, as the kernel knows it.
fn user_of(stream: &UnixStream) -> Option<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel fills at most `size` bytes of `peer`.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut size,
        )
    };
    (failed == 0).then_some(peer.uid)
}

impl Client {
    /// Events that it waits for. While it is answered nothing is read: it has to take the answer first.
    fn wants(&self) -> libc::c_short {
        match (self.recording.is_some(), self.output.is_empty()) {
            (true, _) => 0,
            (_, false) => libc::POLLOUT,
            _ => libc::POLLIN,
        }
    }

    fn next_check(&self) -> Duration {
        let recorded = self.recording.as_ref().map(|(_, due)| due.saturating_duration_since(Instant::now()));
        recorded.map_or(CHECK_EVERY, |left| left.min(CHECK_EVERY))
    }

    /// Takes some of what has come.
    fn read(&mut self) {
        if self.wants() != libc::POLLIN {
            return;
        }
        let mut some = [0; LINE_MAX];
        match self.stream.read(&mut some) {
            Ok(0) => self.asked_all = true,
            Ok(bytes) => {
                self.input.extend_from_slice(&some[..bytes]);
                self.moved = Instant::now();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.asked_all = true,
        }
    }

    /// Does all that can be done now; `false`: it is done with.
    fn go_on(&mut self, view: &View) -> bool {
        if let Some((running, due)) = self.recording.take() {
            if Instant::now() < due {
                self.recording = Some((running, due));
                return true;
            }
            self.say(&request::recorded(&running.end()));
        }
        loop {
            if self.send().is_err() {
                return false;
            }
            if !self.output.is_empty() {
                return self.moved.elapsed() < STUCK_MAX;
            }
            let Some(end) = self.input.iter().position(|&byte| byte == b'\n') else { break };
            let line: Vec<u8> = self.input.drain(..=end).collect();
            if line.len() > LINE_MAX {
                return self.refuse();
            }
            match request::answer(view, &line) {
                Reply::Line(line) => self.say(&line),
                Reply::Later(running, window) => {
                    self.recording = Some((running, Instant::now() + window));
                    return true;
                }
            }
        }
        if self.input.len() > LINE_MAX {
            return self.refuse();
        }
        !self.asked_all && self.moved.elapsed() < SILENT_MAX
    }

    /// Too long a line: says so, if that is taken at once, and is done with.
    fn refuse(&mut self) -> bool {
        self.say(&request::error(&format!("a request is a line of at most {LINE_MAX} bytes")));
        let _ = self.send();
        false
    }

    fn say(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.push(b'\n');
        self.moved = Instant::now();
    }

    /// Sends as much as is taken now.
    fn send(&mut self) -> std::io::Result<()> {
        while self.sent < self.output.len() {
            let rest = &self.output[self.sent..];
            // SAFETY: the bytes live during the call. Without a signal: where a closed socket would end the process.
            let sent = unsafe {
                libc::send(self.stream.as_raw_fd(), rest.as_ptr().cast(), rest.len(), libc::MSG_NOSIGNAL)
            };
            if sent < 0 {
                let error = std::io::Error::last_os_error();
                match error.kind() {
                    ErrorKind::WouldBlock => return Ok(()),
                    ErrorKind::Interrupted => continue,
                    _ => return Err(error),
                }
            }
            self.sent += sent as usize;
            self.moved = Instant::now();
        }
        // The memory of a long answer is not kept.
        (self.output, self.sent) = (Vec::new(), 0);
        Ok(())
    }
}
