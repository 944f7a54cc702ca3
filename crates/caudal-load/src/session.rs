//! From what is asked for to a run: connections, keys, pace, and the run as it is kept.
//! Used by the crate's users.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use caudal_workload::{Arrivals, Service};

use crate::clock::Clock;
use crate::generator::{Ended, Live, Measured, Pace, STOP_BELOW, Setup, generate};
use crate::open::ask_all;
use crate::protocol::Protocol;
use crate::run::{FORMAT, Mode, Run};
use crate::schedule::{Endless, Schedule};
use crate::tcp::Tcp;
use crate::traffic::{Command, Traffic};
use crate::transport::{Broken, Transport};
use crate::udp::{self, Udp};

/// Requests that an open loop has room for at least and at most.
const ROOM: (f64, f64) = (4_096.0, 1_048_576.0);

/// The kind of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Datagrams: a connection is a socket, whose port makes it a flow of its own.
    Udp,
    /// Connections.
    Tcp,
}

impl Network {
    /// The name, as messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Network::Udp => "UDP",
            Network::Tcp => "TCP",
        }
    }
}

/// A load on a service, as it was asked for.
#[derive(Clone, Debug)]
pub struct Session {
    /// The address of the service.
    pub address: SocketAddr,
    /// The kind of sockets.
    pub network: Network,
    /// The protocol.
    pub protocol: Protocol,
    /// Connections, at least 1.
    pub connections: u32,
    /// The workload's name, for the record.
    pub workload: String,
    /// Service times: the classes of requests, and the work where the protocol has work.
    pub service: Service,
    /// The process of arrivals.
    pub arrivals: Arrivals,
    /// The name of that process, for the record.
    pub arrivals_name: String,
    /// The share of gets that are sets instead, from 0 to 1.
    pub sets: f64,
    /// Items of a scan.
    pub scan_items: u32,
    /// Time at the beginning that is not counted, in ns.
    pub warm_up_ns: u64,
    /// Time in which counted requests are due, in ns.
    pub measured_ns: u64,
    /// Time after which a request counts as unanswered, in ns.
    pub timeout_ns: u64,
}

impl Session {
    /// Sets every key to its value; without keys, asks for a nanosecond of work.
    ///
    /// # Errors
    /// [`Broken`]: the service is not there, does not answer, answers with errors or in another protocol; or `stop` was set.
    pub fn fill(&self, stop: &AtomicBool, progress: impl FnMut(u64)) -> Result<(), Broken> {
        match self.protocol {
            Protocol::Memcached(keys) => {
                self.ask((0..keys.count).map(|key| Command::Set { key }), stop, progress)
            }
            Protocol::Spin => self.probe(stop),
        }
    }

    /// Asks for one answer.
    ///
    /// # Errors
    /// As [`fill`](Session::fill).
    pub fn probe(&self, stop: &AtomicBool) -> Result<(), Broken> {
        let command = match self.protocol {
            Protocol::Memcached(_) => Command::Get { key: 0 },
            Protocol::Spin => Command::Work { class: 0, work_ns: 1 },
        };
        self.ask(std::iter::once(command), stop, |_| ())
    }

    fn ask(
        &self,
        commands: impl Iterator<Item = Command>,
        stop: &AtomicBool,
        progress: impl FnMut(u64),
    ) -> Result<(), Broken> {
        match self.network {
            Network::Udp => ask_all(&mut self.udp(1)?, commands, stop, progress),
            Network::Tcp => ask_all(&mut self.tcp(1)?, commands, stop, progress),
        }
    }

    fn udp(&self, capacity: u32) -> Result<Udp, Broken> {
        let made = Udp::connect(self.address, self.protocol, self.connections, capacity);
        made.map_err(|error| udp::no_service(self.address, self.network.name(), &error))
    }

    fn tcp(&self, capacity: u32) -> Result<Tcp, Broken> {
        Tcp::connect(self.address, self.protocol, self.connections, capacity)
    }

    /// Requests that a run has room for.
    fn capacity(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Closed { depth } => self.connections.saturating_mul(depth),
            Mode::Open { rate_per_s } => {
                let wait = 2.0 * rate_per_s * self.timeout_ns as f64 / 1e9;
                let room = wait.clamp(ROOM.0, ROOM.1) as u32;
                match self.network {
                    Network::Udp => room.min(self.connections.saturating_mul(udp::WAIT_MAX)),
                    Network::Tcp => room,
                }
            }
        }
    }

    /// Runs once over connections of its own.
    ///
    /// # Errors
    /// [`Broken`], if there are no connections. A way that breaks later ends the run, which says so.
    pub fn run<C: Clock>(
        &self,
        mode: Mode,
        seed: u64,
        clock: &C,
        live: &Live,
        stop: &AtomicBool,
    ) -> Result<(Run, Ended), Broken> {
        let capacity = self.capacity(mode);
        match self.network {
            Network::Udp => {
                Ok(self.run_over(&mut self.udp(capacity)?, mode, seed, capacity, clock, live, stop))
            }
            Network::Tcp => {
                Ok(self.run_over(&mut self.tcp(capacity)?, mode, seed, capacity, clock, live, stop))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the arguments of `run`, and what it has made of them")]
    fn run_over<C: Clock, T: Transport>(
        &self,
        transport: &mut T,
        mode: Mode,
        seed: u64,
        capacity: u32,
        clock: &C,
        live: &Live,
        stop: &AtomicBool,
    ) -> (Run, Ended) {
        let end_ns = self.warm_up_ns + self.measured_ns;
        let pace = match mode {
            Mode::Open { rate_per_s } => {
                Pace::Open(Schedule::new(&self.service, &self.arrivals, rate_per_s, seed, end_ns))
            }
            Mode::Closed { .. } => {
                Pace::Closed { requests: Endless::new(&self.service, seed), window: capacity }
            }
        };
        let setup = Setup {
            pace,
            traffic: self.traffic(seed),
            timeout_ns: self.timeout_ns,
            warm_up_ns: self.warm_up_ns,
            end_ns,
            capacity,
        };
        let Measured { classes, own, ended } = generate(setup, clock, transport, live, stop);
        let cut_short = match &ended {
            Ended::Whole => None,
            Ended::Behind => Some(format!(
                "the generator kept {:.1} % of its schedule, less than {} %: what it measured is its own slowness",
                own.kept * 100.0,
                STOP_BELOW * 100.0
            )),
            Ended::Interrupted => Some("it was interrupted".to_owned()),
            Ended::Broken(broken) => Some(broken.to_string()),
        };
        let run = Run {
            load_format: FORMAT,
            target: format!("{} at {} over {}", self.protocol.name(), self.address, self.network.name()),
            workload: self.workload_in_words(),
            arrivals: self.arrivals_name.clone(),
            mode,
            seeds: vec![seed],
            connections: self.connections,
            warm_up_ns: self.warm_up_ns,
            measured_ns: self.measured_ns,
            timeout_ns: self.timeout_ns,
            cut_short,
            first_failure: transport.first_failure().map(str::to_owned),
            classes,
            own,
        };
        (run, ended)
    }

    fn traffic(&self, seed: u64) -> Traffic {
        match self.protocol {
            Protocol::Memcached(keys) => {
                Traffic::cache(&self.service, keys.count, self.sets, self.scan_items, seed)
            }
            Protocol::Spin => Traffic::work(&self.service),
        }
    }

    /// The classes of the results.
    pub fn classes(&self) -> Vec<String> {
        self.traffic(0).classes().to_vec()
    }

    /// The workload, and what its requests are made.
    pub fn workload_in_words(&self) -> String {
        match self.protocol {
            Protocol::Memcached(keys) => format!(
                "{}: {} keys of {} bytes with values of {} bytes, {} % sets",
                self.workload,
                keys.count,
                keys.key_bytes,
                keys.value_bytes,
                (self.sets * 1e4).round() / 100.0
            ),
            Protocol::Spin => format!("{}, as synthetic work", self.workload),
        }
    }
}
