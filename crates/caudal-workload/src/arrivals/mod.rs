//! Arrival processes: their specs in policy files, and their compiled form. The configuration compiles a spec once, when it reads
//! `[workload]`; the simulator and measured runs take samplers of it. Only a spec that names a file reads one.

mod profile;
mod read;
mod sampler;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use caudal_policy::time::Picos;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::input::{self, Columns, Taken, Timestamps, Unit};
use crate::spec::{
    MAX_SCV, balanced_phases, check_spread, count, input_path, positive_time, probability, sums_to_one,
};

use profile::Profile;
pub use sampler::ArrivalSampler;

/// `arrivals = …` of a `[workload]`: `{ process = "…", … }`, `{ file = "…", … }`, or just `"poisson"` or
/// `"constant"`.
///
/// The rate is no part of it: it follows from the load. Every process keeps that rate as its long-run mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "process", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ArrivalSpec {
    /// Independent exponential gaps.
    Poisson,
    /// Equal gaps; the first request comes after one gap.
    Constant,
    /// Independent log-normal gaps: one of `scv` and `sigma`.
    LogNormal {
        /// How far they spread.
        #[serde(flatten)]
        spread: GapSpread,
    },
    /// Independent gamma gaps; an `scv` of 1/k is Erlang-k: arrivals more even than Poisson's below 1, burstier above.
    Gamma {
        /// Squared coefficient of variation; 10^-6 to 10^6.
        scv: f64,
    },
    /// Independent gaps that are a choice between exponential ones: clusters of arrivals with longer gaps between. `scv`, or
    /// `phases`.
    HyperExponential {
        /// The phases, or the spread that they shall have.
        #[serde(flatten)]
        phases: GapPhases,
    },
    /// A Markov-modulated Poisson process of two states, each lasting an exponential time.
    OnOff {
        /// Mean time in the busy state.
        on: Picos,
        /// Mean time in the quiet state.
        off: Picos,
        /// Rate in the quiet state as a part of that in the busy one, from 0 to below 1.
        #[cfg_attr(feature = "schema", schemars(default))]
        off_rate: f64,
    },
    /// Poisson with a rate that steps, over and over again.
    Steps {
        /// At least one of them.
        steps: Vec<Step>,
    },
    /// Poisson with a rate that is a polygon through points, over and over again.
    Ramps {
        /// At least two; the first at 0, the last ends the cycle.
        points: Vec<RampPoint>,
    },
    /// The timestamps of a file, two or more, as many as a `warm-up` in `[measure]` leaves some of. Every replication plays
    /// them from the first to the last: results are about this file, its busy parts included.
    #[serde(untagged)]
    File(TimestampFile),
}

/// How far gaps spread around their mean. Exactly one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GapSpread {
    /// Squared coefficient of variation; above 0, at most 10^6.
    Scv(f64),
    /// Standard deviation of the logarithm; above 0, at most 3.7.
    Sigma(f64),
}

/// Hyper-exponential gaps, by their spread or by their phases.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GapPhases {
    /// Squared coefficient of variation, at least 1, at most 10^6: two phases with balanced means, p₁·m₁ = p₂·m₂, as in a service's
    /// `hyper-exponential`.
    Scv(f64),
    /// Explicit ones, 1 to 256; the probabilities sum to 1.
    Phases(Vec<GapPhase>),
}

/// One phase of hyper-exponential gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapPhase {
    /// Probability of this phase.
    pub p: f64,
    /// Its mean gap, in any measure, above 0: only the ratios matter, because gaps are scaled so that their mean is the one that
    /// the load asks for.
    pub mean: f64,
}

/// One step of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// How long it lasts.
    #[serde(rename = "for")]
    pub duration: Picos,
    /// The rate, in any measure, from 0 on: only the ratios matter, because the steps are scaled so that
    /// their mean over time is the rate that the load asks for.
    pub rate: f64,
    /// The factor of service times, above 0: only the ratios matter, because they are scaled so that the mean over all
    /// requests is that of the service.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[cfg_attr(feature = "schema", schemars(default = "one"))]
    pub work: f64,
}

fn one() -> f64 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}

/// One corner of a polygon of rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RampPoint {
    /// Time since the cycle began; two points may share one, which makes a step.
    pub at: Picos,
    /// The rate, in any measure, from 0 on; scaled as that of steps is.
    pub rate: f64,
}

/// Timestamps that were recorded; they must not decrease. The first one becomes time 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimestampFile {
    /// The file, as for service times; relative to the file that names it.
    #[serde(serialize_with = "crate::input::lossy_path")]
    pub file: PathBuf,
    /// The column that holds the timestamps, and how they are written.
    #[serde(flatten)]
    pub columns: TimestampColumns,
    /// Whether all times are stretched so that the mean gap is the one that the load asks for. Default:
    /// no, they are kept as they are, and the load follows from them.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub scale: bool,
}

/// The column of a file that holds timestamps, and how they are written. All of it is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimestampColumns {
    /// The column's name, or its number, from 1. Default: the only one, or `timestamp`, `timestamp_ns`, `start_us`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Unit of the times. Default: what the column's name or the format says; epochs are known by their size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Only rows of which this holds, as of service times.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub filter: Vec<String>,
    /// The mark before the decimals, `.` or `,`. Default: what the file shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
}

impl TimestampColumns {
    pub(crate) fn of_file(&self) -> Columns {
        let TimestampColumns { column, unit, filter, decimal } = self.clone();
        Columns { column, class_column: None, count_column: None, unit, filter, decimal }
    }
}

/// The rate and the work of a request at a time, as multiples of their means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedAt {
    /// The factor of the mean rate.
    pub rate: f64,
    /// The factor of a request's mean service time.
    pub work: f64,
}

/// Compiled arrivals: immutable, shared between threads, cheap to clone.
#[derive(Clone, Debug)]
pub struct Arrivals {
    kind: Kind,
    taken: Option<Arc<Taken>>,
    notes: Arc<[String]>,
}

#[derive(Clone, Debug)]
enum Kind {
    Poisson,
    Constant,
    LogNormal {
        sigma: f64,
    },
    Gamma {
        scv: f64,
    },
    /// Probabilities, and mean gaps as multiples of the mean of all.
    HyperExponential {
        phases: Arc<[(f64, f64)]>,
    },
    OnOff {
        on_ps: f64,
        off_ps: f64,
        off_rate: f64,
    },
    /// A cycle, and how far into it time 0 is.
    Profile(Arc<Profile>, u64),
    Times {
        times_ps: Arc<[u64]>,
        scale: bool,
    },
}

impl ArrivalSpec {
    /// The file that it reads, as it names it, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            ArrivalSpec::File(spec) => Some(&spec.file),
            _ => None,
        }
    }

    /// Checks it and reads its file if it has one. `base_dir` is where relative files are looked for.
    ///
    /// # Errors
    /// [`WorkloadError`] names the key, or the file's line and column, and says what would be right.
    pub fn compile(&self, base_dir: &Path) -> Result<Arrivals, WorkloadError> {
        let kind = match self {
            ArrivalSpec::Poisson => Kind::Poisson,
            ArrivalSpec::Constant => Kind::Constant,
            ArrivalSpec::LogNormal { spread: GapSpread::Scv(scv) } => {
                Kind::LogNormal { sigma: check_spread("scv", *scv, 1e6)?.ln_1p().sqrt() }
            }
            ArrivalSpec::LogNormal { spread: GapSpread::Sigma(sigma) } => {
                Kind::LogNormal { sigma: check_spread("sigma", *sigma, 3.7)? }
            }
            ArrivalSpec::Gamma { scv } => Kind::Gamma { scv: gamma_scv(*scv)? },
            ArrivalSpec::HyperExponential { phases } => {
                Kind::HyperExponential { phases: gap_phases(phases)?.into() }
            }
            ArrivalSpec::OnOff { on, off, off_rate } => {
                let (on_ps, off_ps) = (state_time("on", *on)?, state_time("off", *off)?);
                if !(0.0..1.0).contains(off_rate) {
                    let expected = "the quiet rate is a part of the busy one: from 0 to below 1";
                    return Err(WorkloadError::value("off_rate", off_rate, expected));
                }
                Kind::OnOff { on_ps, off_ps, off_rate: *off_rate }
            }
            ArrivalSpec::Steps { steps } => Kind::Profile(Arc::new(Profile::steps(steps)?), 0),
            ArrivalSpec::Ramps { points } => Kind::Profile(Arc::new(Profile::ramps(points)?), 0),
            ArrivalSpec::File(file) => return file.compile(base_dir),
        };
        Ok(Arrivals::of(kind))
    }
}

impl TimestampFile {
    fn compile(&self, base_dir: &Path) -> Result<Arrivals, WorkloadError> {
        let path = input_path(base_dir, &self.file);
        let Timestamps { times_ps, taken, notes } = input::read_timestamps(&path, &self.columns.of_file())?;
        if times_ps.last().is_none_or(|&last| last == 0) {
            let problem = "needs at least two different timestamps".to_owned();
            return Err(WorkloadError::File { path, problem });
        }
        let kind = Kind::Times { times_ps: times_ps.into(), scale: self.scale };
        Ok(Arrivals { kind, taken: Some(Arc::new(taken)), notes: notes.into() })
    }
}

impl Arrivals {
    /// Independent exponential gaps.
    pub fn poisson() -> Arrivals {
        Arrivals::of(Kind::Poisson)
    }

    fn of(kind: Kind) -> Arrivals {
        Arrivals { kind, taken: None, notes: Arc::default() }
    }

    /// The format that the file was taken for, if the arrivals are of a file.
    pub fn taken(&self) -> Option<&Taken> {
        self.taken.as_deref()
    }

    /// Notes on recorded arrivals that look suspicious, with what to do. Nothing was changed because of it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The rate in requests per second that recorded timestamps have of their own: (n − 1) / (last − first).
    /// `None` for a process, and for timestamps that are scaled to the load.
    pub fn natural_rate(&self) -> Option<f64> {
        match &self.kind {
            Kind::Times { times_ps, scale: false } => Some(1e12 / mean_gap_ps(times_ps)),
            _ => None,
        }
    }

    /// How many requests there are, if they end: recorded timestamps do.
    pub fn count(&self) -> Option<u64> {
        match &self.kind {
            Kind::Times { times_ps, .. } => Some(times_ps.len() as u64),
            _ => None,
        }
    }

    /// The most work that is offered at any time as a multiple of the mean (1 for independent gaps and for
    /// timestamps). Load × peak at or above 1 means passing overload.
    pub fn peak_factor(&self) -> f64 {
        match &self.kind {
            Kind::OnOff { on_ps, off_ps, off_rate } => (on_ps + off_ps) / (on_ps + off_ps * off_rate),
            Kind::Profile(profile, _) => profile.peak_factor(),
            _ => 1.0,
        }
    }

    /// Does the service time of a request depend on when it arrives?
    pub fn stretches(&self) -> bool {
        matches!(&self.kind, Kind::Profile(profile, _) if profile.stretches())
    }

    /// The rate and the work that are offered `at_ps` picoseconds after the start; the means where they follow no cycle.
    pub fn offered_at(&self, at_ps: u64) -> OfferedAt {
        match &self.kind {
            Kind::Profile(profile, since_ps) => profile.at(at_ps.wrapping_add(*since_ps)),
            _ => OfferedAt { rate: 1.0, work: 1.0 },
        }
    }

    /// How arrivals spread: variance over mean of their number in a long time (index of dispersion), in multiples
    /// of a Poisson process's; `mean_gap_ps` is the mean time between two. Timestamps and rates that change in a
    /// fixed cycle count as Poisson: what they add is not by chance.
    pub fn dispersion(&self, mean_gap_ps: f64) -> f64 {
        match &self.kind {
            Kind::Poisson | Kind::Profile(..) | Kind::Times { .. } => 1.0,
            Kind::Constant => 0.0,
            // Independent gaps: their squared coefficient of variation.
            Kind::LogNormal { sigma } => (sigma * sigma).exp_m1(),
            Kind::Gamma { scv } => *scv,
            Kind::HyperExponential { phases } => {
                2.0 * phases.iter().map(|(p, mean)| p * mean * mean).sum::<f64>() - 1.0
            }
            Kind::OnOff { on_ps, off_ps, off_rate } => {
                // Two states: Fischer and Meier-Hellstern, The Markov-modulated Poisson process cookbook (1993).
                let (cycle_ps, on_rate) = (on_ps + off_ps, self.peak_factor() / mean_gap_ps);
                let apart = on_rate * (1.0 - off_rate);
                1.0 + 2.0 * (apart * on_ps * off_ps).powi(2) * mean_gap_ps / cycle_ps.powi(3)
            }
        }
    }

    /// Mean time in which the rate goes up and down once, in ps; 0 where it is always the same.
    pub fn cycle_ps(&self) -> f64 {
        match &self.kind {
            Kind::OnOff { on_ps, off_ps, .. } => on_ps + off_ps,
            Kind::Profile(profile, _) => profile.cycle_ps as f64,
            _ => 0.0,
        }
    }

    /// Do all stretches of a run look alike, but for chance? Not timestamps, nor rates that change in a fixed cycle.
    pub fn is_stationary(&self) -> bool {
        !matches!(self.kind, Kind::Profile(..) | Kind::Times { .. })
    }

    /// The same, from this part of its cycle on, 0 to 1, where the rate follows one.
    #[must_use]
    pub fn from_part_of_cycle(&self, part: f64) -> Arrivals {
        match &self.kind {
            Kind::Profile(profile, _) => {
                let since_ps = (profile.cycle_ps as f64 * part.fract()) as u64;
                Arrivals { kind: Kind::Profile(Arc::clone(profile), since_ps), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// A stream of arrival times; the same seed gives the same times. `mean_gap_ps` is the mean time between
    /// two arrivals in ps; timestamps of a file ignore it unless they are scaled.
    ///
    /// # Panics
    /// If `mean_gap_ps` is not positive and finite.
    pub fn sampler(&self, seed: u64, mean_gap_ps: f64) -> ArrivalSampler {
        assert!(mean_gap_ps > 0.0 && mean_gap_ps.is_finite(), "a mean gap is positive, not {mean_gap_ps}");
        ArrivalSampler::new(&self.kind, seed, mean_gap_ps)
    }
}

/// A spread that gamma gaps can have.
fn gamma_scv(scv: f64) -> Result<f64, WorkloadError> {
    if (1e-6..=MAX_SCV).contains(&scv) {
        return Ok(scv);
    }
    let expected = "lies between 1e-6 and 1e6; for equal gaps take \"constant\"";
    Err(WorkloadError::value("scv", scv, expected))
}

/// Probabilities, and mean gaps as multiples of the mean of all.
fn gap_phases(phases: &GapPhases) -> Result<Vec<(f64, f64)>, WorkloadError> {
    let phases = match phases {
        GapPhases::Scv(scv) => return Ok(balanced_phases(*scv)?.map(|p| (p, 1.0 / (2.0 * p))).to_vec()),
        GapPhases::Phases(phases) => phases,
    };
    count("phases", phases.len())?;
    for (index, phase) in phases.iter().enumerate() {
        let place = format!("phases[{index}]");
        probability("p", phase.p).map_err(|error| error.under(&place))?;
        if !(phase.mean > 0.0 && phase.mean.is_finite()) {
            let expected = "a mean gap is a number above 0, in any measure: only the ratios matter";
            return Err(WorkloadError::value(format!("{place}.mean"), phase.mean, expected));
        }
    }
    sums_to_one("phases", phases.iter().map(|phase| phase.p))?;
    let mean: f64 = phases.iter().map(|phase| phase.p * phase.mean).sum();
    Ok(phases.iter().map(|phase| (phase.p, phase.mean / mean)).collect())
}

/// Mean time in a state. Much shorter ones are no bursts, and would be stepped through one by one.
fn state_time(key: &str, time: Picos) -> Result<f64, WorkloadError> {
    if positive_time(key, time)? < Picos::from_nanos(10).0 {
        return Err(WorkloadError::value(key, time, "a state lasts at least 10ns on average"));
    }
    Ok(time.0 as f64)
}

fn mean_gap_ps(times_ps: &[u64]) -> f64 {
    let span = times_ps.last().zip(times_ps.first()).map_or(0, |(last, first)| last - first);
    span as f64 / (times_ps.len() - 1).max(1) as f64
}
