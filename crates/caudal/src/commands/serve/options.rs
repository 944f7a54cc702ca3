//! The options that all services have: policy, addresses, cores. `running` makes a runtime and sockets of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use caudal_net::{Limits, Listen};
use caudal_observe::Observe as _;
use caudal_policy::Picos;
use caudal_rt::{Builder, Pinning, Runtime};
use clap::Args;
use miette::{IntoDiagnostic as _, miette};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::numbers;

/// The policy without `--policy`: what a plan for one worker mostly comes to.
const POLICY: &str = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = \"random\"\n\
                      discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
/// The same, as it is said.
const POLICY_SAID: &str = "processor sharing with a quantum of 2 us";

#[derive(Args, Debug)]
pub(super) struct Common {
    /// The policy, as `caudal plan --policy` writes it, for a system without a dispatcher (`--no-dispatcher`) [default:
    /// processor sharing with a quantum of 2us]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Workers, a core each [default: the policy's cores, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_hyphen_values = true)]
    workers: Option<u32>,
    /// Processors of the workers, as in 1,3 [default: the last ones that this process may use]
    #[arg(long, value_name = "CPU,...", value_delimiter = ',')]
    cpus: Vec<usize>,
    /// Workers sleep when nothing has come for so long [default: 1ms]
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, allow_hyphen_values = true)]
    spin: Option<Picos>,
    /// The name that `caudal top` shows [default: that of the service]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Serve Prometheus' text format at this address, as in 127.0.0.1:9090
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(super) prometheus: Option<SocketAddr>,
    #[command(flatten)]
    sockets: SocketOptions,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Where it listens")]
struct SocketOptions {
    /// Address for TCP and UDP. Beyond loopback it is for TCP alone, unless --udp-beyond-loopback
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:11211", value_parser = address)]
    listen: SocketAddr,
    /// A Unix socket for connections as well
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// No UDP
    #[arg(long, conflicts_with = "udp_beyond_loopback")]
    no_udp: bool,
    /// UDP at an address that other machines reach, too: anybody can then have answers sent to forged addresses (amplification)
    #[arg(long)]
    udp_beyond_loopback: bool,
    /// Open connections on all workers together; more are closed when they come
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// Time for which a peer may leave its answers unread before it is disconnected
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Picos::parse, allow_hyphen_values = true)]
    slow_after: Picos,
}

impl Common {
    /// The runtime of the service called `service`, before it starts, and its policy in words.
    pub(super) fn builder(&self, service: &str) -> miette::Result<(Builder, String)> {
        let (builder, policy) = match &self.policy {
            Some(path) => (Runtime::builder(path).into_diagnostic()?, path.display().to_string()),
            None => (Builder::parse(POLICY, "the default policy").into_diagnostic()?, POLICY_SAID.to_owned()),
        };
        if builder.has_dispatcher() {
            return Err(miette!(
                help =
                    "plan for a system without one: `caudal plan … --runnable --workers N --no-dispatcher`",
                "{policy}: the policy has a dispatcher, and the workers of a service read their sockets themselves"
            ));
        }
        let builder = match self.workers {
            Some(workers) => builder.workers(workers as usize),
            None => builder,
        };
        let workers = builder.worker_count();
        if !self.cpus.is_empty() && self.cpus.len() != workers {
            return Err(miette!(
                help = "name a processor for each worker",
                "--cpus names {} processors for {workers} workers",
                self.cpus.len()
            ));
        }
        let allowed = allowed_processors();
        if let Some(other) = self.cpus.iter().find(|cpu| !allowed.contains(cpu)) {
            let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
            return Err(miette!(
                help = "choose among these, or let the service choose: leave --cpus out",
                "--cpus {other}: this process may use the processors {}",
                allowed.join(", ")
            ));
        }
        let builder = match self.cpus.is_empty() {
            true => builder,
            false => builder.pinning(Pinning::These(self.cpus.clone())),
        };
        let builder = match self.spin {
            Some(spin) => builder.spin(duration(spin)),
            None => builder,
        };
        Ok((builder.name(self.name.as_deref().unwrap_or(service)).observed(), policy))
    }

    /// Where it listens, with a note if UDP is left out.
    pub(super) fn listen(&self) -> (Listen, Option<String>) {
        let SocketOptions { listen, ref unix, no_udp, udp_beyond_loopback, .. } = self.sockets;
        let is_near = listen.ip().is_loopback();
        let has_udp = !no_udp && (is_near || udp_beyond_loopback);
        let note = (!has_udp && !no_udp).then(|| {
            format!("{listen} is no loopback address: no UDP there, unless you write --udp-beyond-loopback; --no-udp takes this note away")
        });
        let listen = Listen {
            udp: has_udp.then_some(listen),
            tcp: Some(listen),
            unix: unix.clone(),
            udp_beyond_loopback,
        };
        (listen, note)
    }

    /// The limits of the sockets, for datagrams of so many bytes.
    pub(super) fn limits(&self, datagram_bytes_max: usize, input_bytes_max: usize) -> Limits {
        Limits {
            connections_max: self.sockets.connections as usize,
            slow_after: duration(self.sockets.slow_after),
            datagram_bytes_max,
            input_bytes_max,
            ..Limits::default()
        }
    }
}

/// The processors that this process may use; none if the system does not say.
fn allowed_processors() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
}

fn duration(time: Picos) -> Duration {
    Duration::from_nanos(time.0 / 1_000)
}

/// `127.0.0.1:11211`, `[::1]:11211`, `localhost:11211`.
fn address(text: &str) -> Result<SocketAddr, String> {
    use std::net::ToSocketAddrs as _;
    let wrong = |why: String| {
        format!("{why}; write an address and a port, as in 127.0.0.1:11211 (port 0: a free one)")
    };
    let mut found = text.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    found.next().ok_or_else(|| wrong("the name has no address".to_owned()))
}
