//! Specs of service times, as policy files have them: a name, a distribution, a file or percentiles. The configuration parses one from
//! `[workload]`, and compiles it when the file is read. Data only.

mod compile;
mod graphs;
pub(crate) mod keys;
mod named;
mod read;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use caudal_policy::time::Picos;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::input::{Columns, Statistic};
use crate::service::Replay;

pub(crate) use compile::{
    MAX_SCV, balanced_phases, check_spread, count, input_path, positive_time, probability, sums_to_one,
};
pub(crate) use keys::{keys, need};
pub use named::{NamedWorkload, find_named, named};

/// `service = …` of a `[workload]`: a name, a distribution, or a file.
///
/// ```toml
/// service = "extreme-bimodal"
/// service = { distribution = "log-normal", mean = "10us", scv = 1.69 }
/// service = { file = "rocksdb.csv", weights = { get = 0.995, scan = 0.005 } }
/// ```
///
/// Times are written with their unit and must lie above 0 and at most at one hour.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ServiceSpec {
    /// One of [`crate::named()`].
    Named(String),
    /// `{ distribution = "…", … }`
    Distribution(DistributionSpec),
    /// `{ file = "…", … }`
    File(FileSpec),
    /// `{ percentiles = { … } }`
    Percentiles(PercentileSpec),
}

impl ServiceSpec {
    /// The workload of that name; whether there is one shows when it is compiled.
    pub fn named(name: impl Into<String>) -> ServiceSpec {
        ServiceSpec::Named(name.into())
    }

    /// The files that it reads, as it names them, those of its classes included.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            ServiceSpec::Named(_) => Vec::new(),
            ServiceSpec::File(spec) => vec![&spec.file],
            ServiceSpec::Distribution(DistributionSpec::Mixture { classes }) => {
                classes.iter().flat_map(|class| class.service.files()).collect()
            }
            ServiceSpec::Distribution(_) | ServiceSpec::Percentiles(_) => Vec::new(),
        }
    }
}

/// A distribution with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DistributionSpec {
    /// Every request takes `value`. One class, `all`.
    Constant {
        /// The service time.
        value: Picos,
    },
    /// Memoryless. One class, `all`.
    Exponential {
        /// Mean service time.
        mean: Picos,
    },
    /// Two constants; two classes, `short` and `long`.
    Bimodal {
        /// The more common time, usually; nothing depends on which is longer.
        short: Picos,
        /// The other time.
        long: Picos,
        /// Probability of `long`, 0 to 1.
        p_long: f64,
    },
    /// Classes of requests with a service time each. What a class's own service calls its classes is
    /// dropped: all of it is this class.
    Mixture {
        /// 1 to 256 of them; their weights sum to 1.
        classes: Vec<ClassSpec>,
    },
    /// exp of a normal variable: `mean`, and one of `scv`, `sd` and `sigma`. One class, `all`.
    LogNormal {
        /// Mean service time (of the log-normal variable itself).
        mean: Picos,
        /// How far it spreads.
        #[serde(flatten)]
        spread: LogSpread,
    },
    /// A power law between two bounds: P(X > x) = (min^α·x^−α − min^α·max^−α) / (1 − (min/max)^α)
    /// for min ≤ x ≤ max. One class, `all`.
    BoundedPareto {
        /// α, above 0; the smaller, the heavier the tail. At most 100.
        alpha: f64,
        /// The shortest time.
        min: Picos,
        /// The longest time, above `min`.
        max: Picos,
    },
    /// A choice between exponential distributions: `phases`, or `mean` and `scv`. One class, `all`: a phase cannot be seen from
    /// outside.
    HyperExponential {
        /// The phases, or the moments that they shall have.
        #[serde(flatten)]
        phases: HyperPhases,
    },
    /// Gamma: `mean`, and one of `scv` and `sd`. An `scv` of 1/k is Erlang-k. One class, `all`.
    Gamma {
        /// Mean service time.
        mean: Picos,
        /// How far it spreads.
        #[serde(flatten)]
        spread: Spread,
    },
}

/// How far a distribution spreads around its mean. Exactly one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Spread {
    /// Squared coefficient of variation, (standard deviation / mean)²; above 0, at most 10^6.
    Scv(f64),
    /// Standard deviation.
    Sd(Picos),
}

/// How far a log-normal distribution spreads. Exactly one of the three.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LogSpread {
    /// Squared coefficient of variation, (standard deviation / mean)²; above 0, at most 10^6.
    Scv(f64),
    /// Standard deviation.
    Sd(Picos),
    /// Standard deviation of the logarithm; above 0, at most 3.7169 (an SCV of 10^6).
    Sigma(f64),
}

/// A hyper-exponential distribution by its phases or by two moments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HyperPhases {
    /// Two phases with balanced means, p₁·m₁ = p₂·m₂ (Whitt, Bell System Technical Journal 63(1), 1984).
    Balanced {
        /// Mean service time.
        mean: Picos,
        /// Squared coefficient of variation, at least 1, at most 10^6.
        scv: f64,
    },
    /// Explicit ones; the probabilities sum to 1.
    Phases {
        /// 1 to 256 of them.
        phases: Vec<Phase>,
    },
}

/// One phase of a hyper-exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its probability, 0 to 1.
    pub p: f64,
    /// Mean of its exponential service time.
    pub mean: Picos,
}

/// One class of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassSpec {
    /// The name in results; 1 to 64 printable characters, once per mixture.
    pub name: String,
    /// Its share of the requests, 0 to 1.
    pub weight: f64,
    /// Its service times.
    pub service: ServiceSpec,
}

/// Percentiles alone, of which a distribution is made: see [`fitted`](crate::Service::is_fitted). One class, `all`.
///
/// ```toml
/// service = { percentiles = { p50 = "1.2ms", p99 = "9ms" } }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileSpec {
    /// Two or more: `p50`, `p99.9`, `max`, and the times up to which so many requests take. `mean` and `sd` (the standard
    /// deviation) may stand beside them, and the distribution then has these too, if one with these percentiles can.
    pub percentiles: BTreeMap<String, Picos>,
}

/// Service times that were measured.
///
/// What the file is follows from its content: CSV and its relatives, logs and percentile listings of HdrHistogram, what k6,
/// vegeta, oha, hey, JMeter, fio, YCSB, hyperfine and others write, histograms of bpftrace, bcc and Prometheus, JSON; plain or
/// packed by gzip or zstd; `-` is standard input. With the columns `request,task,work_ns,after` it holds recorded fork/join
/// graphs, a task a line; a request's work is its service time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSpec {
    /// The file; relative to the file that names it.
    #[serde(serialize_with = "crate::input::lossy_path")]
    pub file: PathBuf,
    /// The parts of it that are read, and how.
    #[serde(flatten)]
    pub columns: Columns,
    /// Whether the order of the rows is kept; default: independent draws.
    #[serde(skip_serializing_if = "Replay::is_off")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub replay: Replay,
    /// Share of each class instead of the file's own: every class exactly once, sum 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<BTreeMap<String, f64>>,
    /// The factor of the times of a class, above 0; 1 for classes that are not named. For CSV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<BTreeMap<String, f64>>,
}

impl PercentileSpec {
    /// The percentiles that a user writes on a command line: `p50 = 1.2 ms, p99 = 9 ms, mean = 1.9 ms`; `None` if this is nothing of the kind.
    ///
    /// # Errors
    /// [`WorkloadError`], if a time in it is none.
    pub fn parse(text: &str) -> Option<Result<PercentileSpec, WorkloadError>> {
        let points = crate::input::parse_percentiles(text)?;
        let name = |statistic: Statistic| match statistic {
            Statistic::Percentile(percentile) => format!("p{percentile}"),
            Statistic::Mean => "mean".to_owned(),
            Statistic::Deviation => "sd".to_owned(),
        };
        let spec = |points: Vec<(Statistic, u64)>| PercentileSpec {
            percentiles: points.into_iter().map(|(statistic, ps)| (name(statistic), Picos(ps))).collect(),
        };
        let wrong = |problem| WorkloadError::value("percentiles", format!("{text:?}"), problem);
        Some(points.map(spec).map_err(wrong))
    }
}

impl FileSpec {
    /// All of a file, as it is.
    pub fn new(file: impl Into<PathBuf>) -> FileSpec {
        FileSpec {
            file: file.into(),
            columns: Columns::default(),
            replay: Replay::Off,
            weights: None,
            scale: None,
        }
    }
}
