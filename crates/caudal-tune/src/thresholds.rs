//! Tail-control's table for a service: from how much work on is a request given up, by the number of active requests?
//!
//! [`thresholds`] makes bins of the service's work ([`bins`]) and asks [`Pileup`] for each number of active requests.
//!
//! Source: Li et al., PPoPP 2016, section 4.1.

use caudal_config::{System, find_preset, write_policy};
use caudal_policy::Picos;
use caudal_policy::parallelism::thresholds::{Bin, Demand, DemandFault, Knowledge, Pileup, Threshold};
use caudal_policy::parallelism::{ParallelismConfig, TailControlConfig};
pub use caudal_sim::thresholds::Binning;
use caudal_sim::thresholds::bins;
use caudal_workload::Service;
use caudal_workload::dag::Recorded;
use serde::Serialize;

use crate::TuneError;
use crate::show::{digits, percent, time};

/// How far the mean of the paper's bins may be from the service's.
const MEAN_OFF: f64 = 0.01;
/// Most bins, and most active requests.
pub const BINS_MAX: u32 = 100_000;
/// See [`BINS_MAX`].
pub const ACTIVE_MAX: u32 = 100_000;

/// A question to [`thresholds`].
#[derive(Clone, Debug)]
pub struct ThresholdQuestion<'a> {
    /// Work of the requests.
    pub service: &'a Service,
    /// Target latency.
    pub target: Picos,
    /// Requests per second.
    pub rate_per_s: f64,
    /// Cores.
    pub cores: u32,
    /// Bins of the work.
    pub binning: Binning,
    /// Rows of the table; with more active requests, the last one counts.
    pub most_active: u32,
    /// Share of each request's work that only one core can do at a time, 0 to 1.
    pub serial: f64,
    /// When a request is known to be large.
    pub knowledge: Knowledge,
}

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct ThresholdAnswer {
    /// A row for each number of active requests, from 1 on.
    pub rows: Vec<Row>,
    /// Cores that the work takes, of those that there are.
    pub busy: f64,
    /// Mean work of a request by the bins, and of the service, in ns.
    pub mean_ns: (f64, f64),
    /// Bins that hold any request.
    pub bins: usize,
    /// Share of requests that miss the target even alone on all cores.
    pub hopeless: f64,
}

/// Thresholds for a number of active requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Active requests.
    pub active: u32,
    /// From how much processing time on a request is large, in ns.
    pub threshold_ns: f64,
    /// Share of requests that have more work.
    pub large: f64,
    /// Requests that are expected to miss the target until the pile-up is over; `null` where it has no end.
    pub misses: Option<f64>,
}

/// Works out the table.
///
/// # Errors
/// What can not be asked, and targets and rates that no table helps with ([`TuneError::Unreachable`]).
pub fn thresholds(question: &ThresholdQuestion<'_>) -> Result<ThresholdAnswer, TuneError> {
    question.check()?;
    let hopeless = question.hopeless()?;
    let bins = question.bins()?;
    let mut pileup = Pileup::new(&bins, question.demand()).map_err(|fault| question.refused(fault))?;
    let row = |threshold: Threshold| Row {
        active: threshold.active,
        threshold_ns: (threshold.limit_s * 1e12).round() / 1e3,
        large: question.service.excess((threshold.limit_s * 1e12) as u64).share,
        misses: Some(threshold.misses).filter(|misses| misses.is_finite()),
    };
    let rows = pileup.table(question.most_active).into_iter().map(row).collect();
    let mean_s: f64 = bins.iter().map(|bin| bin.share * bin.mean_s).sum();
    Ok(ThresholdAnswer {
        rows,
        busy: mean_s * question.rate_per_s,
        mean_ns: (mean_s * 1e9, question.service.mean_ps() / 1e3),
        bins: bins.len(),
        hopeless,
    })
}

impl ThresholdAnswer {
    /// The rows at which the threshold changes, and the last.
    pub fn changes(&self) -> impl Iterator<Item = &Row> {
        let differs = |at: usize| at == 0 || self.rows[at].threshold_ns != self.rows[at - 1].threshold_ns;
        self.rows.iter().enumerate().filter(move |(at, _)| differs(*at)).map(|(_, row)| row)
    }

    /// Does no number of active requests have a higher threshold than a smaller one?
    pub fn is_monotone(&self) -> bool {
        self.rows.windows(2).all(|pair| pair[1].threshold_ns <= pair[0].threshold_ns)
    }

    /// A file of the system that follows the table, for `caudal sim` and the runtime.
    pub fn policy_toml(&self, question: &ThresholdQuestion<'_>) -> String {
        let threshold = |row: &Row| (row.active, Picos((row.threshold_ns * 1e3).round() as u64));
        let config =
            TailControlConfig { thresholds: self.changes().map(threshold).collect(), ..Default::default() };
        let (preset, parallelism) = match question.knowledge {
            Knowledge::Processed => ("tail-control", ParallelismConfig::TailControl(config)),
            Knowledge::Clairvoyant => ("tc-clairvoyant", ParallelismConfig::Clairvoyant(config)),
        };
        let preset = find_preset(preset).expect("a preset of this name");
        let system = System { parallelism, ..preset.system(question.cores) };
        let header = format!(
            "Made by `caudal threshold` for {} requests/s of {} on average and a target of {}.",
            digits(question.rate_per_s),
            time(question.service.mean_ps() / 1e3),
            question.target
        );
        write_policy(&system, &preset.costs(), &header)
    }

    /// The table as CSV: `active,threshold_ns`.
    pub fn csv(&self) -> String {
        let line = |row: &Row| format!("{},{}\n", row.active, row.threshold_ns.round() as u64);
        "active,threshold_ns\n".to_owned() + &self.rows.iter().map(line).collect::<String>()
    }
}

impl ThresholdQuestion<'_> {
    fn check(&self) -> Result<(), TuneError> {
        let wrong = |what: String| Err(TuneError::Thresholds(what));
        let bins = match self.binning {
            Binning::Log(bins) | Binning::Paper(bins) => bins,
        };
        if !(1..=BINS_MAX).contains(&bins) {
            return wrong(format!("{bins} bins are not made; write a number from 1 to {BINS_MAX}"));
        }
        if !(1..=ACTIVE_MAX).contains(&self.most_active) {
            let most = self.most_active;
            return wrong(format!("a table has 1 to {ACTIVE_MAX} rows, not {most}"));
        }
        if !(0.0..=1.0).contains(&self.serial) {
            return wrong(format!("{} is no share of a request's work; write one from 0 to 1", self.serial));
        }
        if self.serial > 0.0 && self.service.dag().recorded().is_some() {
            let told = "the recorded graphs say what of each request is done one after the other; leave out --serial";
            return wrong(told.to_owned());
        }
        Ok(())
    }

    fn demand(&self) -> Demand {
        Demand {
            target_s: self.target.0 as f64 / 1e12,
            rps: self.rate_per_s,
            cores: f64::from(self.cores),
            knowledge: self.knowledge,
        }
    }

    fn refused(&self, fault: DemandFault) -> TuneError {
        match fault {
            DemandFault::Overload(busy) => TuneError::Unreachable(format!(
                "{} requests/s of {} take {} of {} cores all the time: the queue grows without end, whatever is given up",
                digits(self.rate_per_s),
                time(self.service.mean_ps() / 1e3),
                digits(busy),
                self.cores
            )),
            DemandFault::NotPositive => {
                TuneError::Thresholds("a target, a rate and a number of cores are above 0".to_owned())
            }
            DemandFault::Bins => TuneError::Thresholds("no bins can be made of this work".to_owned()),
        }
    }

    /// Share of requests that miss the target alone on all cores.
    fn hopeless(&self) -> Result<f64, TuneError> {
        if let Some(recorded) = self.service.dag().recorded() {
            return self.hopeless_of(recorded);
        }
        // Neither faster than all cores together, nor than its serial part.
        let slowest = (1.0 / f64::from(self.cores.max(1))).max(self.serial);
        let most_ps = (self.target.0 as f64 / slowest) as u64;
        let share = self.service.excess(most_ps).share;
        if share >= 1.0 - 1e-12 && most_ps < self.service.min_ps() {
            return Err(TuneError::Unreachable(format!(
                "the shortest request takes {} alone on {} cores{}, more than the target of {}",
                time(self.service.min_ps() as f64 * slowest / 1e3),
                self.cores,
                if self.serial > 0.0 {
                    format!(", {} of its work one after the other", percent(self.serial))
                } else {
                    String::new()
                },
                time(self.target.0 as f64 / 1e3),
            )));
        }
        Ok(share)
    }

    /// The same, of recorded graphs.
    fn hopeless_of(&self, recorded: &Recorded) -> Result<f64, TuneError> {
        let shortest_ps = || recorded.shortest_ps(None, f64::from(self.cores.max(1)));
        let least_ps = shortest_ps().map(|(ps, _)| ps).fold(f64::INFINITY, f64::min);
        if least_ps > self.target.0 as f64 {
            return Err(TuneError::Unreachable(format!(
                "the shortest request takes {} alone on {} cores, more than the target of {}",
                time(least_ps / 1e3),
                self.cores,
                time(self.target.0 as f64 / 1e3),
            )));
        }
        Ok(shortest_ps().filter(|(ps, _)| *ps > self.target.0 as f64).map(|(_, weight)| weight).sum())
    }

    /// The work in bins that hold any request.
    fn bins(&self) -> Result<Vec<Bin>, TuneError> {
        let bins = bins(self.service, self.binning, self.serial);
        self.check_mean(&bins, matches!(self.binning, Binning::Paper(_)))?;
        Ok(bins)
    }

    fn check_mean(&self, bins: &[Bin], paper: bool) -> Result<(), TuneError> {
        let mean_ps: f64 = 1e12 * bins.iter().map(|bin| bin.share * bin.mean_s).sum::<f64>();
        let real_ps = self.service.mean_ps();
        if !paper || (mean_ps / real_ps - 1.0).abs() <= MEAN_OFF {
            return Ok(());
        }
        Err(TuneError::Thresholds(format!(
            "by the maximum of {} equal bins, a request has {} of work on average instead of {}: a table for that is one for \
             another load; take more bins, or leave out --paper-bins",
            bins.len(),
            time(mean_ps / 1e3),
            time(real_ps / 1e3),
        )))
    }
}
