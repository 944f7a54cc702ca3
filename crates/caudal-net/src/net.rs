//! The sockets of a service: where it listens, within which limits, and how it is given to a runtime.
//! Programs call [`Net::bind`].

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use caudal_rt::Builder;
use caudal_rt::clock::Clock;
use caudal_rt::task::Sinks;
use crossbeam_utils::CachePadded;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::counts::{Counts, WorkerCounts};
use crate::inlet::{Bounds, Desk, Inlet, Sockets};
use crate::outlet::Outlet;
use crate::packet::Pool;
use crate::service::Service;

/// Where a service listens. Port 0 is a free port, which [`Net`] tells.
#[derive(Clone, Debug, Default)]
pub struct Listen {
    /// Address for datagrams.
    pub udp: Option<SocketAddr>,
    /// Address for connections.
    pub tcp: Option<SocketAddr>,
    /// Path of a Unix socket for connections. A socket file that nobody listens at is replaced.
    pub unix: Option<PathBuf>,
    /// The UDP address may be another one than a loopback address. Anybody who can reach it can then have answers sent to forged addresses,
    /// answers that may be far longer than the requests (amplification).
    pub udp_beyond_loopback: bool,
}

/// Limits of a service's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections on all workers together, in equal shares; more are closed when they come. At least 1 a worker.
    pub connections_max: usize,
    /// Datagrams of each worker that are being served at a time; at least 1. More wait in the kernel's queue.
    pub datagrams_max: usize,
    /// Bytes of a datagram, from 1 to 65,535. Longer ones are dropped and counted.
    pub datagram_bytes_max: usize,
    /// Bytes of a connection that were read and not yet consumed; at least 1. A connection that needs more for one request is closed.
    pub input_bytes_max: usize,
    /// Time for which a peer may read nothing of an answer before its connection is closed. Meanwhile nothing is read from it.
    pub slow_after: Duration,
}

impl Default for Limits {
    /// 10,000 connections; 1,024 datagrams of 2,048 bytes a worker; 256 KiB of input; 10 s.
    fn default() -> Limits {
        Limits {
            connections_max: 10_000,
            datagrams_max: 1_024,
            datagram_bytes_max: 2_048,
            input_bytes_max: 256 << 10,
            slow_after: Duration::from_secs(10),
        }
    }
}

/// Error of [`Net::bind`].
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The system refuses an address.
    #[error("cannot listen at {address} ({kind}): {source}. {advice}", advice = advice(source))]
    Refused {
        /// `UDP`, `TCP` or `Unix`.
        kind: &'static str,
        /// The address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A UDP address that others than this machine may reach.
    #[error(
        "cannot listen at {0} (UDP): it is no loopback address, and whoever reaches it can have answers sent to forged addresses. Listen at \
         127.0.0.1 or [::1], or set `udp_beyond_loopback` if only trusted machines reach it"
    )]
    BeyondLoopback(SocketAddr),
    /// A limit is impossible.
    #[error("{name} = {value}: {instead}")]
    Limit {
        /// The limit's name.
        name: &'static str,
        /// The given value.
        value: usize,
        /// The advice.
        instead: &'static str,
    },
    /// The system gives no event queue.
    #[error("no event queue for a worker: {0}. Allow the process more open files (ulimit -n)")]
    Events(io::Error),
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "Another program listens there: end it, or choose another port (0 is a free one) or path"
        }
        io::ErrorKind::AddrNotAvailable => {
            "No interface of this machine has the address: choose one of `ip addr`"
        }
        io::ErrorKind::NotFound => "The folder of the path is not there: make it, or choose another path",
        io::ErrorKind::PermissionDenied => {
            "Ports below 1024 take privilege, and a Unix socket needs a directory that the process may write to: choose another one"
        }
        _ => "Choose another address, or see whether the system allows the process more sockets (ulimit -n)",
    }
}

/// Sockets of a service that listens. It can be asked for its counts and addresses while the runtime serves them.
pub struct Net {
    counts: Arc<[CachePadded<WorkerCounts>]>,
    /// Sockets for datagrams, for as long as a runtime has them.
    sockets: Vec<Weak<Socket>>,
    udp: Option<SocketAddr>,
    tcp: Option<SocketAddr>,
    unix: Option<PathBuf>,
}

/// Sockets of a service that listens, before a runtime serves them.
pub struct Bound<S: Service> {
    net: Net,
    inlets: Vec<Inlet<S>>,
    sinks: Sinks<Outlet<S::Session>>,
}

impl Net {
    /// Listens where `listen` says, with sockets for each of so many workers of a runtime without a dispatcher. `service` answers.
    ///
    /// # Errors
    /// The first [`BindError`].
    pub fn bind<S: Service>(
        listen: &Listen,
        limits: Limits,
        workers: usize,
        service: S,
    ) -> Result<Bound<S>, BindError> {
        check(&limits, workers)?;
        if let Some(address) = listen.udp.filter(|at| !at.ip().is_loopback() && !listen.udp_beyond_loopback) {
            return Err(BindError::BeyondLoopback(address));
        }
        let udp = listen.udp.map(|at| each(at, Type::DGRAM, workers)).transpose()?;
        let tcp = listen.tcp.map(|at| each(at, Type::STREAM, workers)).transpose()?;
        let unix = listen.unix.as_deref().map(at_path).transpose()?.map(Arc::new);
        let counts: Arc<[CachePadded<WorkerCounts>]> = (0..workers).map(|_| CachePadded::default()).collect();
        let udp_of = |worker: usize| udp.as_ref().map(|(_, sockets)| Arc::clone(&sockets[worker]));
        let sinks = Sinks::new(workers, |worker| Outlet::new(worker, udp_of(worker), Arc::clone(&counts)));
        let service = Arc::new(service);
        let clock = Clock::of_this_machine();
        let bounds = Bounds {
            connections_max: limits.connections_max.div_ceil(workers),
            input_bytes_max: limits.input_bytes_max,
            slow_after: clock.cycles_of(limits.slow_after),
            look_every: clock
                .cycles_of((limits.slow_after / 4).clamp(Duration::from_micros(100), LOOK_EVERY)),
        };
        let inlet = |worker| {
            let desk =
                Desk { service: Arc::clone(&service), sinks: sinks.clone(), counts: Arc::clone(&counts) };
            let tcp = tcp.as_ref().map(|(_, sockets)| Arc::clone(&sockets[worker]));
            let listeners = tcp.into_iter().chain(unix.clone()).collect();
            let packets = if udp.is_some() { limits.datagrams_max } else { 0 };
            let pool = Pool::new(packets, limits.datagram_bytes_max);
            Inlet::new(worker, Arc::new(desk), Sockets { udp: udp_of(worker), listeners }, pool, bounds)
        };
        let inlets = (0..workers).map(inlet).collect::<io::Result<_>>().map_err(BindError::Events)?;
        let sockets = udp.iter().flat_map(|(_, sockets)| sockets).map(Arc::downgrade).collect();
        let address = |bound: &Option<(SocketAddr, _)>| bound.as_ref().map(|(address, _)| *address);
        let (udp, tcp) = (address(&udp), address(&tcp));
        Ok(Bound { net: Net { counts, sockets, udp, tcp, unix: listen.unix.clone() }, inlets, sinks })
    }

    /// The counts of what the sockets have brought and taken so far.
    pub fn counts(&self) -> Counts {
        for (counts, socket) in self.counts.iter().zip(&self.sockets) {
            if let Some(socket) = socket.upgrade() {
                counts.look_for_drops(&socket);
            }
        }
        Counts::sum(self.counts.iter().map(|worker| &**worker))
    }

    /// Removes the file of a Unix socket, so that nobody connects any more. Dropping the sockets does that as well; a program that is about to end
    /// and shares them with its requests calls it.
    pub fn remove_socket_file(&self) {
        if let Some(path) = &self.unix {
            let _ = std::fs::remove_file(path);
        }
    }

    /// The address for datagrams.
    pub fn udp(&self) -> Option<SocketAddr> {
        self.udp
    }

    /// The address for connections.
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.tcp
    }
}

/// Longest span between two looks at slow connections.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl<S: Service> Bound<S> {
    /// Gives the sockets to the runtime that `builder` is going to start. Its policy must need no dispatcher (`random` or `round-robin`), and it must
    /// have as many workers as the sockets were made for.
    #[must_use = "the runtime of the builder that comes back serves the sockets"]
    pub fn attach(self, builder: Builder) -> (Net, Builder) {
        let builder = self.inlets.into_iter().fold(builder.sinks(&self.sinks), Builder::source);
        (self.net, builder)
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        self.remove_socket_file();
    }
}

fn check(limits: &Limits, workers: usize) -> Result<(), BindError> {
    let wrong = |name, value, instead| Err(BindError::Limit { name, value, instead });
    let Limits { connections_max, datagrams_max, datagram_bytes_max, input_bytes_max, .. } = *limits;
    if workers == 0 {
        return wrong("workers", workers, "write 1 or more, as many as the runtime has");
    }
    if connections_max < workers || connections_max > 1 << 20 {
        return wrong(
            "connections_max",
            connections_max,
            "write a number from the number of workers to 1,048,576",
        );
    }
    if datagrams_max == 0 || datagrams_max > 1 << 20 {
        return wrong("datagrams_max", datagrams_max, "write a number from 1 to 1,048,576");
    }
    if !(1..=65_535).contains(&datagram_bytes_max) {
        return wrong("datagram_bytes_max", datagram_bytes_max, "write a number from 1 to 65,535");
    }
    if input_bytes_max == 0 {
        return wrong("input_bytes_max", input_bytes_max, "write 1 or more");
    }
    Ok(())
}

/// Connections that may wait to be accepted, a listener.
const BACKLOG: i32 = 1_024;

/// A socket for each worker at one address, and the address with its port.
fn each(
    address: SocketAddr,
    kind: Type,
    workers: usize,
) -> Result<(SocketAddr, Vec<Arc<Socket>>), BindError> {
    let name = if kind == Type::DGRAM { "UDP" } else { "TCP" };
    let sockets = || {
        // Alone at first: sockets that share a port would share it with another program's, too.
        let alone = socket(address, kind, false)?;
        let address = alone.local_addr()?.as_socket().unwrap_or(address);
        drop(alone);
        let sockets = (0..workers).map(|_| {
            let socket = socket(address, kind, true)?;
            if kind == Type::STREAM {
                socket.listen(BACKLOG)?;
            }
            Ok(Arc::new(socket))
        });
        Ok((address, sockets.collect::<io::Result<_>>()?))
    };
    sockets().map_err(refused(name, address))
}

fn refused(kind: &'static str, address: impl Display) -> impl FnOnce(io::Error) -> BindError {
    move |source| BindError::Refused { kind, address: address.to_string(), source }
}

fn socket(address: SocketAddr, kind: Type, shares: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind.nonblocking(), None::<Protocol>)?;
    if kind == Type::STREAM {
        // Connections of a server that has just ended hold the port for a minute.
        socket.set_reuse_address(true)?;
    }
    socket.set_reuse_port(shares)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// The listener at a path; all workers accept from it.
fn at_path(path: &Path) -> Result<Socket, BindError> {
    let listener = || {
        let address = SockAddr::unix(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
        if let Err(error) = socket.bind(&address) {
            let visitor = Socket::new(Domain::UNIX, Type::STREAM, None)?;
            let is_left =
                visitor.connect(&address).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
            if error.kind() != io::ErrorKind::AddrInUse || !is_left {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            socket.bind(&address)?;
        }
        socket.listen(BACKLOG)?;
        Ok(socket)
    };
    listener().map_err(refused("Unix", path.display()))
}
