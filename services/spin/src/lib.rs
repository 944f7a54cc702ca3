//! A service of synthetic work, without its sockets: a request says how long the server is to be busy with it, and the server is.
//! `caudal serve spin` puts it behind sockets, to measure schedulers on the service times of any workload without the program that they are
//! from; `examples/blocking.rs` is a server for trying.
//!
//! The client draws the times, so that a run can send exactly the requests that were simulated. The server knows the workload for the names of
//! its classes, which are the runtime's classes of these requests.
//!
//! | module | contents |
//! | --- | --- |
//! | [`service`] | what a server does with one request: work that is calibrated once, with a probe every 200 ns or so |
//! | [`messages`] | bytes of a connection or a datagram in, bytes of replies out, by the protocol of [`caudal_proto::spin`] |
//!
//! ```
//! use caudal_measure::clock::Tsc;
//! use caudal_measure::work::Work;
//! use caudal_proto::spin::{Reply, Request, Status, only};
//! use caudal_spin::messages;
//! use caudal_spin::service::{Config, Service};
//!
//! let config = Config { classes: vec!["get".to_owned(), "scan".to_owned()], ..Config::default() };
//! // A server measures the speed of its machine by `Service::calibrate`; this one is of a known speed.
//! let service = Service::new(config, Work::new(1000.0, 20.0), Tsc::with_hz(2.5e9));
//! let request = Request { number: 7, class: 1, work_ns: 500 };
//! let mut output = Vec::new();
//! messages::datagram(&service, &request.encode(), service.now(), &mut output);
//! let reply = only(Reply::parse(&output), &output).expect("a reply");
//! assert_eq!((reply.number, reply.class, reply.status), (7, 1, Status::Done));
//! ```

pub mod messages;
pub mod service;
