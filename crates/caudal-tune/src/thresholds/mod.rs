//! Tail-control's table for a service: from how much work on is a request given up, by the number of active requests?
//! `caudal threshold` calls it.
//!
//! [`thresholds`] makes bins of the service's work ([`bins`]) and asks [`Pileup`] for each number of active requests.
//!
//! Classes may have targets of their own; then all thresholds are chosen together ([`ClassPileup`]). [`refine()`] simulates what the
//! formulas promise, and looks for a factor that makes their thresholds better.
//!
//! Source: Li et al., PPoPP 2016, section 4.1.

mod refine;

use std::collections::BTreeMap;

use caudal_config::{System, find_preset, write_policy};
use caudal_policy::Picos;
use caudal_policy::parallelism::thresholds::classes::{Class, ClassPileup};
use caudal_policy::parallelism::thresholds::{Bin, Demand, DemandFault, Knowledge, Pileup};
use caudal_policy::parallelism::{ClassConfig, ParallelismConfig, TailControlConfig};
pub use caudal_sim::thresholds::Binning;
use caudal_sim::thresholds::{bins, class_bins};
use caudal_workload::Service;
use caudal_workload::dag::Recorded;
use serde::Serialize;

pub use self::refine::{JudgedPolicy, RefineQuestion, Refined, Scaled, refine};
use crate::TuneError;
use crate::show::{digits, percent, time};

/// How far the mean of the paper's bins may be from the service's.
const MEAN_OFF: f64 = 0.01;
/// A target that so many requests miss even alone is one that can not be reached: distributions without end have some
/// requests of next to no work.
const HOPELESS: f64 = 0.999;
/// Most bins, and most active requests.
pub const BINS_MAX: u32 = 100_000;
/// Most bins where classes have targets of their own: their thresholds are looked for again and again.
pub const CLASS_BINS_MAX: u32 = 5_000;
/// See [`BINS_MAX`].
pub const ACTIVE_MAX: u32 = 100_000;

/// A question to [`thresholds`].
#[derive(Clone, Debug)]
pub struct ThresholdQuestion<'a> {
    /// Work of the requests.
    pub service: &'a Service,
    /// Target latency.
    pub target: Picos,
    /// Classes that have another one, by name.
    pub class_targets: Vec<(String, Picos)>,
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
    /// A row for each number of active requests, from 1 on; where classes have targets of their own, those of the first class.
    pub rows: Vec<Row>,
    /// Where classes have targets of their own: the rows of each class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRows>,
    /// Cores that the work takes, of those that there are.
    pub busy: f64,
    /// Mean work of a request by the bins, and of the service, in ns.
    pub mean_ns: (f64, f64),
    /// Bins that hold any request.
    pub bins: usize,
    /// Share of requests that miss the target even alone on all cores.
    pub hopeless: f64,
}

/// Thresholds of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRows {
    /// Its name.
    pub class: String,
    /// Its target latency, in ns.
    pub target_ns: f64,
    /// A row for each number of active requests, from 1 on. Misses are those of all classes.
    pub rows: Vec<Row>,
}

/// Thresholds for a number of active requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Active requests.
    pub active: u32,
    /// The processing time from which on a request is large, in ns.
    pub threshold_ns: f64,
    /// Share of requests, or of those of the class, that have more work.
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
    let busy = question.service.mean_ps() / 1e12 * question.rate_per_s;
    if busy >= f64::from(question.cores) {
        return Err(question.refused(DemandFault::Overload(busy)));
    }
    let hopeless = question.hopeless()?;
    if hopeless >= 1.0 - 1e-12 {
        return Err(TuneError::Unreachable(
            "every request takes longer than its target, even alone on all cores".to_owned(),
        ));
    }
    let (classes, bins) = match question.class_targets.is_empty() {
        true => {
            let bins = question.bins()?;
            (vec![question.all_rows(&bins)?], bins)
        }
        false => question.class_rows()?,
    };
    let mean_s: f64 = bins.iter().map(|bin| bin.share * bin.mean_s).sum();
    Ok(ThresholdAnswer {
        rows: classes[0].rows.clone(),
        classes: if question.class_targets.is_empty() { Vec::new() } else { classes },
        busy: mean_s * question.rate_per_s,
        mean_ns: (mean_s * 1e9, question.service.mean_ps() / 1e3),
        bins: bins.len(),
        hopeless,
    })
}

impl ThresholdAnswer {
    /// The rows of each class, by its name; of all requests where classes have no targets of their own.
    pub fn tables(&self) -> Vec<(Option<&str>, &[Row])> {
        match self.classes.is_empty() {
            true => vec![(None, &self.rows)],
            false => self.classes.iter().map(|class| (Some(class.class.as_str()), &class.rows[..])).collect(),
        }
    }

    /// Does no number of active requests have a higher threshold than a smaller one?
    pub fn is_monotone(&self) -> bool {
        let falls = |rows: &[Row]| rows.windows(2).all(|pair| pair[1].threshold_ns <= pair[0].threshold_ns);
        self.tables().into_iter().all(|(_, rows)| falls(rows))
    }

    /// The thresholds times `scale`, as a policy file has them.
    fn config(&self, scale: f64) -> TailControlConfig {
        let threshold = |row: &Row| (row.active, readable(row.threshold_ns));
        let of_rows = |rows: &[Row]| changes(rows).map(threshold).collect();
        let class = |class: &ClassRows| {
            (class.class.clone(), ClassConfig { thresholds: of_rows(&class.rows), ..ClassConfig::default() })
        };
        let classes: BTreeMap<String, ClassConfig> = self.classes.iter().map(class).collect();
        TailControlConfig { thresholds: of_rows(&self.rows), classes, scale, ..TailControlConfig::default() }
    }

    /// A file of the system that follows the table times `scale`, for `caudal sim` and the runtime.
    pub fn policy_toml(&self, question: &ThresholdQuestion<'_>, scale: f64) -> String {
        let config = self.config(scale);
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

    /// The table times `scale` as CSV: `active,threshold_ns`, with a column `class` in front where they have tables of their
    /// own.
    pub fn csv(&self, scale: f64) -> String {
        let by_class = !self.classes.is_empty();
        let mut text =
            if by_class { "class,active,threshold_ns\n" } else { "active,threshold_ns\n" }.to_owned();
        for (class, rows) in self.tables() {
            let quoted = class.map_or_else(String::new, |name| format!("\"{}\",", name.replace('"', "\"\"")));
            for row in rows {
                text += &format!("{quoted}{},{}\n", row.active, (row.threshold_ns * scale).round() as u64);
            }
        }
        text
    }
}

/// A threshold in six significant digits: bins are a percent apart, and people read it. Not below what it was, so that the
/// longest request of its bin is still a small one.
fn readable(threshold_ns: f64) -> Picos {
    let ps = (threshold_ns * 1e3).round() as u64;
    let step = 10u64.pow(ps.checked_ilog10().unwrap_or(0).saturating_sub(5));
    Picos(ps.div_ceil(step) * step)
}

/// The rows at which the threshold changes.
pub fn changes(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let differs = |at: usize| at == 0 || rows[at].threshold_ns != rows[at - 1].threshold_ns;
    rows.iter().enumerate().filter(move |(at, _)| differs(*at)).map(|(_, row)| row)
}

impl ThresholdQuestion<'_> {
    fn check(&self) -> Result<(), TuneError> {
        let wrong = |what: String| Err(TuneError::Thresholds(what));
        let bins = match self.binning {
            Binning::Log(bins) | Binning::Paper(bins) => bins,
        };
        let (most, of) = match self.class_targets.is_empty() {
            true => (BINS_MAX, ""),
            false => (CLASS_BINS_MAX, " where classes have targets of their own"),
        };
        if !(1..=most).contains(&bins) {
            return wrong(format!("{bins} bins are not made{of}; write a number from 1 to {most}"));
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
        let known = self.service.classes();
        for (at, (class, _)) in self.class_targets.iter().enumerate() {
            if !known.contains(class) {
                let known = known.join(", ");
                return wrong(format!("the workload has no class `{class}`; it has {known}"));
            }
            if self.class_targets[..at].iter().any(|(other, _)| other == class) {
                return wrong(format!("`{class}` has two targets; keep one"));
            }
        }
        if !self.class_targets.is_empty() && matches!(self.binning, Binning::Paper(_)) {
            return wrong(
                "the paper has one target for all requests; leave out the bins of the paper".to_owned(),
            );
        }
        Ok(())
    }

    /// A row of a table, of all requests or of a class.
    fn row(&self, class: Option<usize>, active: u32, (limit_s, misses): (f64, f64)) -> Row {
        let limit_ps = (limit_s * 1e12) as u64;
        let large = match class {
            None => self.service.excess(limit_ps).share,
            Some(class) if self.service.class_weight(class) > 0.0 => {
                self.service.class_excess(class, limit_ps).share
            }
            Some(_) => 0.0,
        };
        Row {
            active,
            threshold_ns: (limit_s * 1e12).round() / 1e3,
            large,
            misses: Some(misses).filter(|misses| misses.is_finite()),
        }
    }

    /// The table of all requests.
    fn all_rows(&self, bins: &[Bin]) -> Result<ClassRows, TuneError> {
        let mut pileup = Pileup::new(bins, self.demand()).map_err(|fault| self.refused(fault))?;
        let rows = pileup.table(self.most_active);
        let rows = rows.iter().map(|row| self.row(None, row.active, (row.limit_s, row.misses))).collect();
        Ok(ClassRows { class: String::new(), target_ns: self.target.as_nanos_f64(), rows })
    }

    fn target_of(&self, class: &str) -> Picos {
        let own = self.class_targets.iter().find(|(name, _)| name == class);
        own.map_or(self.target, |(_, target)| *target)
    }

    /// The tables of all classes, and all bins.
    fn class_rows(&self) -> Result<(Vec<ClassRows>, Vec<Bin>), TuneError> {
        let all = class_bins(self.service, self.binning, self.serial);
        let names = self.service.classes();
        let targets: Vec<Picos> = names.iter().map(|class| self.target_of(class)).collect();
        let class = |(bins, target): (&Vec<Bin>, &Picos)| Class {
            bins: bins.clone(),
            target_s: target.0 as f64 / 1e12,
        };
        let classes: Vec<Class> = all.iter().zip(&targets).map(class).collect();
        let found = ClassPileup::new(&classes, self.demand())
            .map_err(|fault| self.refused(fault))?
            .table(self.most_active);
        let rows = |class: usize| {
            found.iter().map(move |row| self.row(Some(class), row.active, (row.limits_s[class], row.misses)))
        };
        let of_class = |(at, class): (usize, &String)| ClassRows {
            class: class.clone(),
            target_ns: targets[at].as_nanos_f64(),
            rows: rows(at).collect(),
        };
        Ok((names.iter().enumerate().map(of_class).collect(), all.into_iter().flatten().collect()))
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
        let most_ps = |target: Picos| (target.0 as f64 / slowest) as u64;
        if !self.class_targets.is_empty() {
            let of = |(class, name): (usize, &String)| match self.service.class_weight(class) {
                weight if weight > 0.0 => {
                    let late = self.service.class_excess(class, most_ps(self.target_of(name))).share;
                    self.reachable(name, late).map(|()| weight * late)
                }
                _ => Ok(0.0),
            };
            return self.service.classes().iter().enumerate().map(of).sum();
        }
        let most_ps = most_ps(self.target);
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
        self.all_reachable(share)
    }

    /// The same, of recorded graphs.
    fn hopeless_of(&self, recorded: &Recorded) -> Result<f64, TuneError> {
        let shortest_ps = recorded.shortest_ps(None, f64::from(self.cores.max(1)));
        let least_ps = shortest_ps.map(|(ps, _)| ps).fold(f64::INFINITY, f64::min);
        if self.class_targets.is_empty() && least_ps > self.target.0 as f64 {
            return Err(TuneError::Unreachable(format!(
                "the shortest request takes {} alone on {} cores, more than the target of {}",
                time(least_ps / 1e3),
                self.cores,
                time(self.target.0 as f64 / 1e3),
            )));
        }
        let late = |class: Option<usize>, target: Picos| -> f64 {
            let shortest_ps = recorded.shortest_ps(class, f64::from(self.cores.max(1)));
            shortest_ps.filter(|(ps, _)| *ps > target.0 as f64).map(|(_, weight)| weight).sum()
        };
        if self.class_targets.is_empty() {
            return self.all_reachable(late(None, self.target));
        }
        let of = |(class, name): (usize, &String)| {
            let late = late(Some(class), self.target_of(name));
            self.reachable(name, late / self.service.class_weight(class)).map(|()| late)
        };
        self.service.classes().iter().enumerate().map(of).sum()
    }

    /// Are there requests of `class` that can meet its target, where `late` of them can not?
    fn reachable(&self, class: &str, late: f64) -> Result<(), TuneError> {
        let who = match late {
            late if late < HOPELESS => return Ok(()),
            late if late < 1.0 - 1e-9 => format!("{:.2} % of the `{class}` requests take", 100.0 * late),
            _ => format!("every `{class}` request takes"),
        };
        let target = self.target_of(class);
        Err(TuneError::Unreachable(format!("{who} longer than {target}, even alone on {} cores", self.cores)))
    }

    /// The same of all requests.
    fn all_reachable(&self, late: f64) -> Result<f64, TuneError> {
        if late < HOPELESS {
            return Ok(late);
        }
        Err(TuneError::Unreachable(format!(
            "{:.2} % of the requests take longer than {}, even alone on {} cores",
            100.0 * late,
            self.target,
            self.cores
        )))
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
            "by the longest of each of equal bins that hold any, {} here, a request has {} of work on average instead of {}: a table \
             for that is one for another load; leave out --paper-bins, or take more",
            bins.len(),
            time(mean_ps / 1e3),
            time(real_ps / 1e3),
        )))
    }
}
