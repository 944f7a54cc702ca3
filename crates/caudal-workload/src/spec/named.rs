//! The workloads that have a name, each with the source of its numbers. Compilation looks up a spec that is a name, and `caudal workload
//! list` prints them. A table of constants.

use std::path::Path;

use caudal_policy::time::Picos;

use super::{ClassSpec, DistributionSpec, FileSpec, LogSpread, ServiceSpec};
use crate::error::WorkloadError;
use crate::input::Columns;
use crate::nearest::nearest;
use crate::service::Service;

/// The files of measured service times that are built in, by their paths; `data/README.md` says how they were made.
#[cfg(feature = "data")]
const FILES: &[(&str, &[u8])] = &[
    (ROCKSDB_PATH, include_bytes!("../../../../data/rocksdb-get-scan.csv")),
    ("data/stemming.csv", include_bytes!("../../../../data/stemming.csv")),
    ("data/routing.csv", include_bytes!("../../../../data/routing.csv")),
    ("data/block-cache.csv", include_bytes!("../../../../data/block-cache.csv")),
    ("data/nearest-12.csv", include_bytes!("../../../../data/nearest-12.csv")),
    ("data/nearest-20.csv", include_bytes!("../../../../data/nearest-20.csv")),
    ("data/black-scholes.csv", include_bytes!("../../../../data/black-scholes.csv")),
];
/// No files: this build leaves the measured service times out.
#[cfg(not(feature = "data"))]
const FILES: &[(&str, &[u8])] = &[];
const ROCKSDB_PATH: &str = "data/rocksdb-get-scan.csv";
/// The factor by which measured scans, of 517 gets, are shortened to scans of 50 gets as in Q-Zilla (HPCA 2020, section 6).
const SHORT_SCANS: f64 = 0.0967;

/// A workload with a name.
#[derive(Debug)]
pub struct NamedWorkload {
    /// The name in files and on the command line.
    pub name: &'static str,
    /// A description in one sentence.
    pub summary: &'static str,
    /// Where its numbers come from, in one sentence.
    pub source: &'static str,
    /// Its definition in a file, as the right-hand side of `service = …`.
    pub definition: &'static str,
    recipe: fn() -> ServiceSpec,
}

impl NamedWorkload {
    /// The spec that a file would have for the same workload. Measured workloads are files that are built in,
    /// so their paths need not exist: compile them by [`NamedWorkload::compile`], or by name.
    pub fn spec(&self) -> ServiceSpec {
        (self.recipe)()
    }

    /// Compiles the workload; no file is read.
    ///
    /// # Errors
    /// If the workload was measured and this build lacks the feature `data`. There are no other errors; a test compiles all workloads.
    pub fn compile(&self) -> Result<Service, WorkloadError> {
        match self.spec() {
            ServiceSpec::File(spec) => {
                let built_in = FILES.iter().find(|(path, _)| Path::new(path) == spec.file);
                let Some((path, bytes)) = built_in else {
                    let hint = "its measured times are not built into this program (feature `data` of caudal-workload)";
                    return Err(WorkloadError::UnknownName {
                        name: self.name.to_owned(),
                        hint: hint.to_owned(),
                    });
                };
                spec.compile_bytes(bytes, Path::new(path))
            }
            other => other.compile(Path::new("")),
        }
    }
}

/// All named workloads, in the order in which they are listed to users.
pub fn named() -> &'static [NamedWorkload] {
    &NAMED
}

/// The workload called `name`.
///
/// # Errors
/// [`WorkloadError::UnknownName`] with the nearest name, or with all of them.
pub fn find_named(name: &str) -> Result<&'static NamedWorkload, WorkloadError> {
    NAMED.iter().find(|workload| workload.name == name).ok_or_else(|| WorkloadError::UnknownName {
        name: name.to_owned(),
        hint: match nearest(name, NAMED.iter().map(|workload| workload.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = NAMED.iter().map(|workload| workload.name).collect();
                format!(
                    "there are {}; a file of your own is named by its path, in TOML as `{{ file = \"…\" }}`",
                    names.join(", ")
                )
            }
        },
    })
}

static NAMED: [NamedWorkload; 23] = [
    NamedWorkload {
        name: "exp-1us",
        summary: "Exponential with mean 1 µs.",
        source: "Tiny Quanta (ASPLOS 2024), section 5.1, Exp(1); also the default of the policies paper (NSDI 2022), section 4.1.",
        definition: r#"{ distribution = "exponential", mean = "1us" }"#,
        recipe: || exponential(1_000),
    },
    NamedWorkload {
        name: "extreme-bimodal",
        summary: "99.5 % of the requests take 0.5 µs, 0.5 % take 500 µs.",
        source: "Tiny Quanta (ASPLOS 2024), section 2, after earlier work that it cites.",
        definition: r#"{ distribution = "bimodal", short = "0.5us", long = "500us", p_long = 0.005 }"#,
        recipe: || bimodal(500, 500_000, 0.005),
    },
    NamedWorkload {
        name: "high-bimodal",
        summary: "Half of the requests take 1 µs, half 100 µs.",
        source: "Used by Tiny Quanta (ASPLOS 2024), section 5.1; the numbers are those of Perséphone's (SOSP 2021) published configuration.",
        definition: r#"{ distribution = "bimodal", short = "1us", long = "100us", p_long = 0.5 }"#,
        recipe: || bimodal(1_000, 100_000, 0.5),
    },
    NamedWorkload {
        name: "policies-bimodal",
        summary: "90 % of the requests take 0.5 µs, 10 % take 5.5 µs; the mean is 1 µs.",
        source: "Policies paper (NSDI 2022), appendix A.2.2 and Figure 10.",
        definition: r#"{ distribution = "bimodal", short = "0.5us", long = "5.5us", p_long = 0.1 }"#,
        recipe: || bimodal(500, 5_500, 0.1),
    },
    NamedWorkload {
        name: "tpcc",
        summary: "The five TPC-C transactions as constants from 5.7 µs to 100 µs.",
        source: "Used by Tiny Quanta (ASPLOS 2024), section 5.1; the numbers are those of Perséphone's (SOSP 2021) published configuration.",
        definition: r#"{ distribution = "mixture", classes = [
  { name = "payment", weight = 0.44, service = { distribution = "constant", value = "5.7us" } },
  { name = "order-status", weight = 0.04, service = { distribution = "constant", value = "6us" } },
  { name = "new-order", weight = 0.44, service = { distribution = "constant", value = "20us" } },
  { name = "delivery", weight = 0.04, service = { distribution = "constant", value = "88us" } },
  { name = "stock-level", weight = 0.04, service = { distribution = "constant", value = "100us" } },
] }"#,
        recipe: tpcc,
    },
    NamedWorkload {
        name: "rocksdb-0.5",
        summary: "Measured RocksDB requests, 99.5 % gets (median 1.59 µs) and 0.5 % scans (median 824 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; the share of scans is that of Tiny Quanta (ASPLOS 2024), section 5.1.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.995, scan = 0.005 } }"#,
        recipe: || rocksdb(0.995, 0.005, None),
    },
    NamedWorkload {
        name: "rocksdb-50",
        summary: "Measured RocksDB requests, half gets (median 1.59 µs) and half scans (median 824 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; the share of scans is that of Tiny Quanta (ASPLOS 2024), section 5.1.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.5, scan = 0.5 } }"#,
        recipe: || rocksdb(0.5, 0.5, None),
    },
    NamedWorkload {
        name: "rocksdb-1",
        summary: "Measured RocksDB requests, 99 % gets (median 1.59 µs) and 1 % scans (median 824 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; the share of scans is that of Q-Zilla (HPCA 2020), section 6.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.99, scan = 0.01 } }"#,
        recipe: || rocksdb(0.99, 0.01, None),
    },
    NamedWorkload {
        name: "rocksdb-1-short",
        summary: "The same with scans of 50 gets (median 80 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; that scans are about 50 gets is from Q-Zilla (HPCA 2020), section 6.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.99, scan = 0.01 }, scale = { scan = 0.0967 } }"#,
        recipe: || rocksdb(0.99, 0.01, Some(SHORT_SCANS)),
    },
    NamedWorkload {
        name: "rocksdb-10",
        summary: "Measured RocksDB requests, 90 % gets (median 1.59 µs) and 10 % scans (median 824 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; the share of scans is that of Q-Zilla (HPCA 2020), section 6.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.9, scan = 0.1 } }"#,
        recipe: || rocksdb(0.9, 0.1, None),
    },
    NamedWorkload {
        name: "rocksdb-10-short",
        summary: "The same with scans of 50 gets (median 80 µs).",
        source: "Measured: data/rocksdb-get-scan.csv; that scans are about 50 gets is from Q-Zilla (HPCA 2020), section 6.",
        definition: r#"{ file = "data/rocksdb-get-scan.csv", weights = { get = 0.9, scan = 0.1 }, scale = { scan = 0.0967 } }"#,
        recipe: || rocksdb(0.9, 0.1, Some(SHORT_SCANS)),
    },
    NamedWorkload {
        name: "stemming",
        summary: "Texts of which each word is reduced to its stem, measured (median 16 µs); the lengths of the texts are log-normal.",
        source: "Measured: data/stemming.csv, after a service of Q-Zilla (HPCA 2020), section 6; data/README.md says how.",
        definition: r#"{ file = "data/stemming.csv", where = ["stall_ns=0"] }"#,
        recipe: || unstalled("data/stemming.csv"),
    },
    NamedWorkload {
        name: "routing",
        summary: "memcached gets of 200 keys routed to 100 leaves by consistent hashing, measured (median 22 µs).",
        source: "Measured: data/routing.csv, after a service of Q-Zilla (HPCA 2020), section 6; data/README.md says how.",
        definition: r#"{ file = "data/routing.csv", where = ["stall_ns=0"] }"#,
        recipe: || unstalled("data/routing.csv"),
    },
    NamedWorkload {
        name: "block-cache",
        summary: "Blocks through a cache, measured: memory 0.9 µs, device 99 µs; the remote read of a miss (492 µs) is a model.",
        source: "Measured: data/block-cache.csv, after a service of Q-Zilla (HPCA 2020), section 6; data/README.md says how.",
        definition: r#"{ file = "data/block-cache.csv" }"#,
        recipe: || measured("data/block-cache.csv"),
    },
    NamedWorkload {
        name: "nearest-12",
        summary: "Nearest neighbours by locality-sensitive hashing with keys of 12 bits, measured (median 64 µs).",
        source: "Measured: data/nearest-12.csv, after a service of Q-Zilla (HPCA 2020), section 6; data/README.md says how.",
        definition: r#"{ file = "data/nearest-12.csv" }"#,
        recipe: || measured("data/nearest-12.csv"),
    },
    NamedWorkload {
        name: "nearest-20",
        summary: "The same with keys of 20 bits (median 13 µs).",
        source: "Measured: data/nearest-20.csv, after a service of Q-Zilla (HPCA 2020), section 6; data/README.md says how.",
        definition: r#"{ file = "data/nearest-20.csv" }"#,
        recipe: || measured("data/nearest-20.csv"),
    },
    NamedWorkload {
        name: "facebook-usr",
        summary: "memcached under Facebook's USR mix: constant 1 µs.",
        source: "Policies paper (NSDI 2022), section 6: \"about 1 µs\"; that the time is constant is ours.",
        definition: r#"{ distribution = "constant", value = "1us" }"#,
        recipe: || constant(1_000),
    },
    NamedWorkload {
        name: "log-normal-10ms",
        summary: "Requests of 10 ms of work on average that run in parallel: log-normal with a standard deviation of 13 ms.",
        source: "Tail-control (PPoPP 2016), section 5.1 and Figures 8, 9, 11 and 14.",
        definition: r#"{ distribution = "log-normal", mean = "10ms", sd = "13ms" }"#,
        recipe: || log_normal(10_000_000, 13_000_000),
    },
    NamedWorkload {
        name: "black-scholes",
        summary: "Portfolios of options priced by a differential equation, of log-normal sizes, measured (median 6.1 ms).",
        source: "Measured: data/black-scholes.csv, after the requests of tail-control (PPoPP 2016), section 5.1; data/README.md says how.",
        definition: r#"{ file = "data/black-scholes.csv" }"#,
        recipe: || measured("data/black-scholes.csv"),
    },
    NamedWorkload {
        name: "short-tail",
        summary: "98 % of the requests have 10 ms of work, 2 % five times as much.",
        source: "Tail-control (PPoPP 2016), section 3 and Figure 2; the 10 ms are ours, the paper has ratios only.",
        definition: r#"{ distribution = "bimodal", short = "10ms", long = "50ms", p_long = 0.02 }"#,
        recipe: || bimodal(10_000_000, 50_000_000, 0.02),
    },
    NamedWorkload {
        name: "long-tail",
        summary: "98 % of the requests have 10 ms of work, 2 % a hundred times as much.",
        source: "Tail-control (PPoPP 2016), section 3 and Figure 2; the 10 ms are ours, the paper has ratios only.",
        definition: r#"{ distribution = "bimodal", short = "10ms", long = "1s", p_long = 0.02 }"#,
        recipe: || bimodal(10_000_000, 1_000_000_000, 0.02),
    },
    NamedWorkload {
        name: "bing-like",
        summary: "Web search: 10 ms of work on average, 96.5 % of the requests with 5 to 55 ms, 3.5 % with 55 to 200 ms.",
        source: "Tail-control (PPoPP 2016), Figure 1a: mean, range and the share beyond 55 ms are the paper's; it publishes no histogram, the two power laws are ours.",
        definition: r#"{ distribution = "mixture", classes = [
  { name = "common", weight = 0.965, service = { distribution = "bounded-pareto", alpha = 3.62, min = "5ms", max = "55ms" } },
  { name = "large", weight = 0.035, service = { distribution = "bounded-pareto", alpha = 1.2, min = "55ms", max = "200ms" } },
] }"#,
        recipe: bing_like,
    },
    NamedWorkload {
        name: "finance-like",
        summary: "Option pricing: the largest request has 13 times the work of the smallest, 8.9 ms on average.",
        source: "Tail-control (PPoPP 2016), Figure 1b: the ratio is the paper's; it publishes no histogram, the power law is ours.",
        definition: r#"{ distribution = "bounded-pareto", alpha = 1.5, min = "4ms", max = "52ms" }"#,
        recipe: || bounded_pareto(1.5, 4_000_000, 52_000_000),
    },
];

fn log_normal(mean_ns: u64, sd_ns: u64) -> ServiceSpec {
    let (mean, spread) = (Picos::from_nanos(mean_ns), LogSpread::Sd(Picos::from_nanos(sd_ns)));
    ServiceSpec::Distribution(DistributionSpec::LogNormal { mean, spread })
}

fn bounded_pareto(alpha: f64, min_ns: u64, max_ns: u64) -> ServiceSpec {
    let (min, max) = (Picos::from_nanos(min_ns), Picos::from_nanos(max_ns));
    ServiceSpec::Distribution(DistributionSpec::BoundedPareto { alpha, min, max })
}

fn bing_like() -> ServiceSpec {
    let class = |name: &str, weight, service| ClassSpec { name: name.into(), weight, service };
    let classes = vec![
        class("common", 0.965, bounded_pareto(3.62, 5_000_000, 55_000_000)),
        class("large", 0.035, bounded_pareto(1.2, 55_000_000, 200_000_000)),
    ];
    ServiceSpec::Distribution(DistributionSpec::Mixture { classes })
}

fn exponential(mean_ns: u64) -> ServiceSpec {
    let mean = Picos::from_nanos(mean_ns);
    ServiceSpec::Distribution(DistributionSpec::Exponential { mean })
}

fn constant(ns: u64) -> ServiceSpec {
    ServiceSpec::Distribution(DistributionSpec::Constant { value: Picos::from_nanos(ns) })
}

fn bimodal(short_ns: u64, long_ns: u64, p_long: f64) -> ServiceSpec {
    let (short, long) = (Picos::from_nanos(short_ns), Picos::from_nanos(long_ns));
    ServiceSpec::Distribution(DistributionSpec::Bimodal { short, long, p_long })
}

fn tpcc() -> ServiceSpec {
    let class =
        |(name, weight, ns): (&str, f64, u64)| ClassSpec { name: name.into(), weight, service: constant(ns) };
    let classes = [
        ("payment", 0.44, 5_700),
        ("order-status", 0.04, 6_000),
        ("new-order", 0.44, 20_000),
        ("delivery", 0.04, 88_000),
        ("stock-level", 0.04, 100_000),
    ];
    ServiceSpec::Distribution(DistributionSpec::Mixture { classes: classes.map(class).into() })
}

fn measured(path: &str) -> ServiceSpec {
    ServiceSpec::File(FileSpec::new(path))
}

/// The spec of a file of measured times, without the rows in which the machine stalled.
fn unstalled(path: &str) -> ServiceSpec {
    let columns = Columns { filter: vec!["stall_ns=0".to_owned()], ..Columns::default() };
    ServiceSpec::File(FileSpec { columns, ..FileSpec::new(path) })
}

fn rocksdb(get: f64, scan: f64, scan_scale: Option<f64>) -> ServiceSpec {
    let ServiceSpec::File(file) = measured(ROCKSDB_PATH) else { unreachable!("it is a file") };
    ServiceSpec::File(FileSpec {
        weights: Some([("get".to_owned(), get), ("scan".to_owned(), scan)].into()),
        scale: scan_scale.map(|factor| [("scan".to_owned(), factor)].into()),
        ..file
    })
}
