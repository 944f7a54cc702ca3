//! `caudal serve kv`: the cache of `services/kv` on sockets. Workers call [`Cache`] for each datagram and each burst of a connection, as requests
//! of the runtime; all of them share its store.

use std::process::ExitCode;
use std::sync::Arc;

use bytesize::ByteSize;
use caudal_kv::datagram::{self, DATAGRAM_BYTES};
use caudal_kv::kind::{Classes, Kind};
use caudal_kv::service::{Config, Host, Service};
use caudal_kv::session::Session;
use caudal_kv::store;
use caudal_net::{Answers, Origin, Served as Done};
use caudal_policy::random::hash;
use caudal_rt::ClassId;
use clap::Args;
use miette::{IntoDiagnostic as _, miette};
use nix::time::{ClockId, clock_gettime};

use super::metrics::Served;
use super::options::Common;
use super::running::{Offer, serve};
use crate::global::Global;

#[derive(Args, Debug)]
pub(super) struct KvArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    store: StoreOptions,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "The store")]
struct StoreOptions {
    /// The most memory that items take, as in 1GiB; items that nobody asks for go when it is full
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    memory: ByteSize,
    /// The longest value
    #[arg(long, value_name = "BYTES", default_value = "1MiB")]
    value_bytes_max: ByteSize,
    /// Items for which tables are made at the start, which spares their growth
    #[arg(long, value_name = "N", default_value = "0")]
    items_expected: usize,
    /// The most items that a scan may ask for
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    scan_items_max: u32,
}

/// Bytes of the longest datagram that is read: a `set` of a value that fits into one.
const DATAGRAM_BYTES_MAX: usize = 65_507;
/// Least memory of the store, and the largest value that a store can have.
const MEMORY_MIN: u64 = 1 << 20;
/// As [`MEMORY_MIN`].
const VALUE_MAX: u64 = 1 << 30;

pub(super) fn run(args: &KvArgs, global: &Global) -> miette::Result<ExitCode> {
    let (builder, policy) = args.common.builder("kv")?;
    let config = args.store.config()?;
    let served = Served::default();
    let host = Sockets { served: Arc::clone(&served), workers: builder.worker_count() };
    let service = Service::new(config, now()).with_host(host);
    let classes = Classes::new(|name| builder.class(name)).into_diagnostic()?;
    let offer = Offer {
        name: "kv",
        service: Cache { service, classes },
        datagram_bytes_max: DATAGRAM_BYTES_MAX,
        // A line of `get` must fit, and what was read together with it.
        input_bytes_max: 4 * config.get_line_bytes_max,
    };
    serve(&args.common, (builder, policy), offer, &served, global)
}

impl StoreOptions {
    fn config(&self) -> miette::Result<Config> {
        let (memory, value) = (self.memory.as_u64(), self.value_bytes_max.as_u64());
        if memory < MEMORY_MIN {
            return Err(miette!(help = "give it 1MiB or more", "--memory {} is too little", self.memory));
        }
        if value == 0 || value > VALUE_MAX || value > memory {
            return Err(miette!(
                help = "write a size from 1B to 1GiB that --memory has room for",
                "--value-bytes-max {} can not be had with --memory {}",
                self.value_bytes_max,
                self.memory
            ));
        }
        let too_much = |_| miette!("this machine can not address so much memory");
        let store = store::Config {
            memory_bytes: memory.try_into().map_err(too_much)?,
            value_bytes_max: value.try_into().map_err(too_much)?,
            items_expected: self.items_expected,
            hash_seed: unforeseen(),
            ..store::Config::default()
        };
        Ok(Config { store, scan_items_max: self.scan_items_max, ..Config::default() })
    }
}

/// A number that no client can know.
fn unforeseen() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    hash(RandomState::new().hash_one("store"), u64::from(std::process::id()))
}

/// The second since 1970, of the clock that the kernel advances with its ticks: it costs a few nanoseconds to read.
fn now() -> u32 {
    let time = clock_gettime(ClockId::CLOCK_REALTIME_COARSE).map_or(0, |time| time.tv_sec());
    u32::try_from(time).unwrap_or(u32::MAX)
}

/// The cache as the sockets call it.
struct Cache {
    service: Service,
    classes: Classes<ClassId>,
}

impl caudal_net::Service for Cache {
    type Session = Session;

    fn class(&self, origin: Origin<'_, Session>, bytes: &[u8]) -> ClassId {
        let kind: Kind = match origin {
            Origin::Datagram => datagram::kind(bytes),
            Origin::Stream(session) => session.kind(bytes),
        };
        self.classes.of(kind)
    }

    fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
        datagram::serve(&self.service, bytes, now(), DATAGRAM_BYTES, answers.bytes());
        answers.cut_every(DATAGRAM_BYTES);
    }

    fn stream(&self, session: &mut Session, bytes: &[u8], answer: &mut Vec<u8>) -> Done {
        session.serve(&self.service, bytes, now(), answer)
    }
}

/// The sockets as `stats` tells of them.
struct Sockets {
    served: Served,
    workers: usize,
}

impl Host for Sockets {
    fn statistics(&self, see: &mut dyn FnMut(&str, u64)) {
        see("threads", self.workers as u64);
        let Some(net) = self.served.get() else { return };
        let counts = net.counts();
        see("curr_connections", counts.open());
        see("total_connections", counts.accepted);
        see("rejected_connections", counts.refused);
        see("datagrams_in", counts.datagrams_in);
        see("datagrams_out", counts.datagrams_out);
        see("datagrams_dropped", counts.datagrams_dropped);
    }

    fn settings(&self, see: &mut dyn FnMut(&str, &str)) {
        see("num_threads", &self.workers.to_string());
        let Some(net) = self.served.get() else { return };
        let port =
            |address: Option<std::net::SocketAddr>| address.map_or(0, |address| address.port()).to_string();
        see("tcpport", &port(net.tcp()));
        see("udpport", &port(net.udp()));
    }
}
