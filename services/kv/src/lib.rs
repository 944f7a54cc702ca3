//! A cache service without its sockets: what a worker does between the bytes that it reads and the bytes that it sends.
//! `caudal serve kv` puts it behind sockets; tests, benchmarks and `examples/blocking.rs` call it directly.
//!
//! ```text
//!  bytes of a connection ──▶ session ──┐                      session   one for each connection
//!  a datagram            ──▶ datagram ─┼──▶ store             service   one for the process, shared by all workers
//!                                      └──▶ bytes of the answer
//! ```
//!
//! | floor | contents |
//! | --- | --- |
//! | [`kind`] | the kind of a request before it runs, as a class of the runtime |
//! | [`session`], [`datagram`] | memcached's text protocol: bytes in, bytes out |
//! | [`service`] | the store with the limits and the counters of one server |
//! | [`store`] | the items |
//!
//! ```
//! use caudal_kv::service::{Config, Service};
//! use caudal_kv::session::{Served, Session, Then};
//!
//! let now = 1_700_000_000;
//! let service = Service::new(Config::default(), now);
//! let (mut session, mut output) = (Session::new(), Vec::new());
//! let input = b"set greeting 0 0 5\r\nhello\r\nget greeting\r\nget gre";
//! let served = session.serve(&service, input, now, &mut output);
//! assert_eq!(output, b"STORED\r\nVALUE greeting 0 5\r\nhello\r\nEND\r\n");
//! // The last request is not whole yet: its bytes stay with the caller.
//! assert_eq!(served, Served { consumed: input.len() - 7, then: Then::Read { needed: 8 } });
//! ```

pub mod datagram;
pub mod kind;
pub mod service;
pub mod session;
pub mod store;
