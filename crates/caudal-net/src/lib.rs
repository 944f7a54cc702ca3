//! Services on UDP, TCP and Unix sockets, whose requests are run, and pre-empted, by [`caudal_rt`].
//! A server gives its [`Service`] (bytes in, bytes out) and the addresses that it listens at; services such as the cache call this crate.
//!
//! ```text
//!  worker 0: epoll ─▶ Inlet (Source) ── request: Service::datagram / stream ──▶ Outlet (Sink) ─▶ sendmmsg, write
//!            │ UDP socket, listener, connections          │ may run on any worker that steals it        of the worker that ran it
//!  worker 1: epoll ─▶ …                                   └ a connection goes home when its answer is written
//! ```
//!
//! *Direct.* There is no dispatcher: each worker has a UDP socket and a listener of its own (`SO_REUSEPORT`), so the kernel spreads datagrams and
//! connections over the workers. A request that has not started may be stolen by another worker, if the policy steals.
//!
//! *Datagrams.* Each is a request. It lies in a buffer that belongs to the worker's pool. No free buffer, no read: then the kernel's queue fills,
//! and what it drops is counted ([`Counts`]).
//!
//! *Connections.* All bytes that can be read from a connection are one request, so a thousand pipelined commands are one. While it runs, the
//! connection is away: nobody reads from it, so its commands are carried out in order. An answer that the peer does not read stays with the
//! connection, which is not read until the answer is gone, and closed after [`Limits::slow_after`].
//!
//! `docs/background/network.md` says why it is made so.
//!
//! *Arrivals while requests run* are looked for every 10 µs or so, by the worker's epoll instance.
//!
//! ```no_run
//! use caudal_net::{Answers, Listen, Limits, Net, Origin, Served, Service, Then};
//! use caudal_rt::{Builder, ClassId};
//!
//! struct Echo(ClassId);
//!
//! impl Service for Echo {
//!     type Session = ();
//!
//!     fn class(&self, _: Origin<'_, ()>, _: &[u8]) -> ClassId {
//!         self.0
//!     }
//!
//!     fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
//!         answers.bytes().extend_from_slice(bytes);
//!     }
//!
//!     fn stream(&self, (): &mut (), bytes: &[u8], answer: &mut Vec<u8>) -> Served {
//!         answer.extend_from_slice(bytes);
//!         Served { consumed: bytes.len(), then: Then::Read { needed: 1 } }
//!     }
//! }
//!
//! let builder = Builder::parse(&std::fs::read_to_string("policy.toml")?, "policy.toml")?.workers(1);
//! let service = Echo(builder.class("echo")?);
//! let address = "127.0.0.1:7007".parse()?;
//! let listen = Listen { udp: Some(address), tcp: Some(address), ..Listen::default() };
//! let bound = Net::bind(&listen, Limits::default(), 1, service)?;
//! let (net, builder) = bound.attach(builder);
//! let runtime = builder.start()?;
//! println!("{:?}", net.counts());
//! # drop(runtime);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod counts;
mod home;
mod inlet;
mod net;
mod outlet;
mod packet;
mod peer;
mod service;
mod sys;

pub use caudal_proto::stream::{Served, Then};
pub use counts::Counts;
pub use net::{BindError, Bound, Limits, Listen, Net};
pub use service::{Answers, Origin, Service};
