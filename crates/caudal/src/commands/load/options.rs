//! The arguments of `caudal load`, with their defaults. The command reads them once, and makes the session of a run from them.

use std::path::PathBuf;

use caudal_config::Rate;
use caudal_load::session::Network;
use caudal_load::traffic::{KEY_BYTES_MAX, KEY_BYTES_MIN, Keys, VALUE_BYTES_MAX};
use caudal_policy::Picos;
use caudal_workload::ArrivalSpec;
use clap::{Args, ValueEnum};

use super::super::arrives::Arrives;
use crate::numbers;

/// The most bytes of a value that a set can have in a datagram.
pub(super) const DATAGRAM_VALUE_MAX: usize = 65_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProtocolName {
    /// memcached's text protocol
    Memcached,
    /// Synthetic work, as `caudal serve spin` does it
    Spin,
}

#[derive(Args, Debug)]
pub(crate) struct Asked {
    /// The service, as in 127.0.0.1:11211
    pub(super) address: String,
    #[command(flatten)]
    pub(super) arrives: Arrives,
    /// Requests a second, as in 100k/s
    #[arg(long, value_name = "RATE", value_parser = Rate::parse, allow_hyphen_values = true, conflicts_with = "closed")]
    pub(super) rate: Option<Rate>,
    /// When requests are due: poisson, constant, or what a file's `arrivals` may be, as in
    /// '{ process = "on-off", on = "1ms", off = "9ms" }' [default: what the workload says, or poisson]
    #[arg(long, value_name = "ARRIVALS", conflicts_with_all = ["closed", "recorded"])]
    pub(super) arrivals: Option<String>,
    /// How long counted requests are due
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) duration: Picos,
    /// How long requests are sent before that and not counted [default: a tenth of the duration]
    #[arg(long, value_name = "TIME", value_parser = warm_up)]
    pub(super) warm_up: Option<Picos>,
    /// From when on a request counts as unanswered; in every percentile it counts as this long at least
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = timeout)]
    pub(super) timeout: Picos,
    /// Seed of the requests; the same as a simulation's gives the same requests [default: that of the workload's TOML file, or 1]
    #[arg(long, value_name = "N", value_parser = numbers::seed, allow_hyphen_values = true)]
    pub(super) seed: Option<u64>,
    /// Find the highest rate within this target, as in 'get p99 < 200us', beginning at --rate
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["closed", "out", "hgrm", "hlog"])]
    pub(super) search: Option<String>,
    /// Runs of which the majority judges a rate of --search [default: 3; 1 with --quick]
    #[arg(long, value_name = "N", requires = "search", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(super) repeats: Option<u32>,
    /// Closed loop: so many connections, each of which sends when it was answered. It says nothing about latency under load
    #[arg(long, value_name = "CONNECTIONS", conflicts_with = "connections", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) closed: Option<u32>,
    /// Requests on their way on each connection of a closed loop [default: 1]
    #[arg(long, value_name = "N", requires = "closed", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) depth: Option<u32>,
    /// Datagrams instead of connections
    #[arg(long)]
    pub(super) udp: bool,
    /// Connections, or sockets of UDP [default: 32, or 8 sockets]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) connections: Option<u32>,
    /// The protocol that the service speaks
    #[arg(long, value_enum, default_value = "memcached")]
    pub(super) protocol: ProtocolName,
    /// The processor of the generator, which spins [default: any]
    #[arg(long, value_name = "CPU")]
    pub(super) cpu: Option<usize>,
    #[command(flatten)]
    pub(super) cache: Cache,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "The keys of a cache")]
pub(crate) struct Cache {
    /// Keys that are asked for, each equally often [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) keys: Option<u32>,
    /// Bytes of a key [default: 21]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(KEY_BYTES_MIN as i64..=KEY_BYTES_MAX as i64))]
    pub(super) key_bytes: Option<u32>,
    /// Bytes of a value [default: 100; 2 for facebook-usr]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(0..=VALUE_BYTES_MAX as i64))]
    pub(super) value_bytes: Option<u32>,
    /// Share of the gets that are sets instead [default: 0; 0.2 % for facebook-usr]
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, allow_hyphen_values = true)]
    pub(super) sets: Option<f64>,
    /// Items that a request of a class `scan` asks for
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) scan_items: u32,
    /// Do not set all keys first: the service has them already, with the values of an earlier run
    #[arg(long)]
    pub(super) no_fill: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
pub(crate) struct Outputs {
    /// Write the whole run, histograms included, for `caudal load merge`
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Write the percentiles of all requests as HdrHistogram's tools list them, in µs
    #[arg(long, value_name = "FILE")]
    pub(super) hgrm: Option<PathBuf>,
    /// Write the latencies as an HdrHistogram log, a tag a class; it holds no service times, and no plan takes it
    #[arg(long, value_name = "FILE")]
    pub(super) hlog: Option<PathBuf>,
}

impl Outputs {
    /// Whether all of them can be written, before anything is measured.
    pub(super) fn check(&self) -> miette::Result<()> {
        for path in [&self.out, &self.hgrm, &self.hlog].into_iter().flatten() {
            caudal_results::files::writable(path)?;
        }
        Ok(())
    }
}

fn time(text: &str, least: u64, most: u64, instead: &str) -> Result<Picos, String> {
    let range = Picos::from_nanos(least)..=Picos::from_nanos(most);
    Picos::parse(text).ok().filter(|time| range.contains(time)).ok_or_else(|| instead.to_owned())
}

const SECOND_NS: u64 = 1_000_000_000;

fn duration(text: &str) -> Result<Picos, String> {
    time(text, SECOND_NS / 10, 3_600 * SECOND_NS, "write a time from 100ms to 3600s, such as 10s")
}

fn warm_up(text: &str) -> Result<Picos, String> {
    time(text, 0, 3_600 * SECOND_NS, "write a time from 0s to 3600s, such as 1s")
}

fn timeout(text: &str) -> Result<Picos, String> {
    time(text, 1_000_000, 60 * SECOND_NS, "write a time from 1ms to 60s, such as 1s")
}

/// Keys and sets of a workload whose requests go to a cache.
pub(super) struct Defaults {
    pub(super) keys: Keys,
    pub(super) sets: f64,
}

/// The keys of Facebook's USR pool have 16 or 21 bytes and values of 2, and 99.8 % of its requests are gets (Atikoglu et al.,
/// Workload Analysis of a Large-Scale Key-Value Store, SIGMETRICS 2012, sections 2 and 4). Of other workloads nothing is known.
pub(super) fn defaults(workload: &str) -> Defaults {
    let keys = Keys { count: 10_000, key_bytes: 21, value_bytes: 100 };
    match workload {
        "facebook-usr" => Defaults { keys: Keys { value_bytes: 2, ..keys }, sets: 0.002 },
        _ => Defaults { keys, sets: 0.0 },
    }
}

/// Connections where none are asked for. Sockets of UDP are fewer, because each is asked for datagrams.
pub(super) fn connections(network: Network) -> u32 {
    match network {
        Network::Tcp => 32,
        Network::Udp => 8,
    }
}

/// The value of `arrivals` in a file: a word is a text there.
pub(super) fn arrivals_value(said: &str) -> String {
    let is_word = said.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_word { format!("\"{said}\"") } else { said.to_owned() }
}

/// The process of arrivals as runs call it.
pub(super) fn arrivals_name(spec: &ArrivalSpec) -> String {
    let json = serde_json::to_value(spec).unwrap_or_default();
    match json.get("process").and_then(serde_json::Value::as_str) {
        Some(process) if json.as_object().is_some_and(|keys| keys.len() == 1) => process.to_owned(),
        Some(_) => json.to_string(),
        None => "recorded".to_owned(),
    }
}
