//! A service from its start to its end: sockets, runtime, the lines that say where it is, and the drain when it is told to stop. `kv` and `spin`
//! call [`serve`] once; it returns when SIGTERM, SIGINT or SIGHUP has come and everything that was accepted is answered.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_net::{Counts, Net, Service};
use caudal_observe::Observed as _;
use caudal_rt::{Builder, Shutdown};
use miette::{IntoDiagnostic as _, miette};
use serde_json::json;

use super::metrics::{Metrics, Served};
use super::options::Common;
use crate::exit::Failure;
use crate::global::Global;

/// How often it is asked whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A service with the limits of its messages.
pub(super) struct Offer<S> {
    /// `kv` or `spin`.
    pub(super) name: &'static str,
    pub(super) service: S,
    /// Bytes of a datagram.
    pub(super) datagram_bytes_max: usize,
    /// Bytes that a connection may have unserved.
    pub(super) input_bytes_max: usize,
}

/// Serves until it is told to stop; then all that was accepted is answered. `served` gets the sockets.
pub(super) fn serve<S: Service>(
    common: &Common,
    (builder, policy): (Builder, String),
    offer: Offer<S>,
    served: &Served,
    global: &Global,
) -> miette::Result<ExitCode> {
    let Offer { name, service, datagram_bytes_max, input_bytes_max } = offer;
    let (listen, note) = common.listen();
    if let Some(note) = note {
        errln!("note: {note}");
    }
    let workers = builder.worker_count();
    let limits = common.limits(datagram_bytes_max, input_bytes_max);
    let bound = Net::bind(&listen, limits, workers, service).map_err(|error| miette!("{error}"))?;
    let metrics = common.prometheus.map(Metrics::bind).transpose()?;
    let (net, builder) = bound.attach(builder);
    let net = served.get_or_init(|| net);
    let runtime = Arc::new(builder.start().into_diagnostic()?);
    let metrics = metrics.map(|metrics| metrics.serve(Arc::clone(&runtime), Arc::clone(served)));
    say(name, net, workers, &policy, global);
    if let Err(error) = runtime.socket_path() {
        errln!("note: `caudal top` can not see this service: {error}");
    }
    while !global.stop.load(Relaxed) {
        std::thread::sleep(LOOK_EVERY);
    }
    drop(metrics);
    net.remove_socket_file();
    let left = runtime.shutdown(Shutdown::Drain);
    let counts = net.counts();
    if !global.quiet {
        errln!("{}", ended(&counts));
    }
    match (left.abandoned, left.threads) {
        (0, 0) => Ok(ExitCode::SUCCESS),
        (requests, threads) => Err(Failure(format!(
            "{requests} requests were given up, and {threads} threads did not come back"
        ))
        .into()),
    }
}

/// Says where the service is: a line for people, or an object for programs, which may wait for it.
fn say(name: &str, net: &Net, workers: usize, policy: &str, global: &Global) {
    let (tcp, udp) = (net.tcp(), net.udp());
    if global.json {
        let text = |address: Option<std::net::SocketAddr>| address.map(|address| address.to_string());
        outln!(
            "{}",
            json!({ "serving": name, "tcp": text(tcp), "udp": text(udp), "workers": workers, "policy": policy,
                    "pid": std::process::id() })
        );
        return;
    }
    let at = |kind: &str, address: Option<std::net::SocketAddr>| {
        address.map(|address| format!("{address} ({kind})"))
    };
    let places: Vec<String> = [at("TCP", tcp), at("UDP", udp)].into_iter().flatten().collect();
    let plural = if workers == 1 { "" } else { "s" };
    outln!("serving {name} at {}, {workers} worker{plural}, {policy}", places.join(" and "));
    outln!("watch it: caudal top {}", std::process::id());
}

/// A line on what the sockets have brought and lost.
fn ended(counts: &Counts) -> String {
    let all: Vec<String> = counts
        .all()
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
        .collect();
    if all.is_empty() { "nothing came".to_owned() } else { all.join(", ") }
}
