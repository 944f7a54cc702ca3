//! Targets in the terms of a workload, and targets that no system can meet: no request is done before its span, nor before all cores
//! together have done its work. Questions are checked by it, and probes are judged by it. `check` and `candidates` refuse a question by
//! it before anything is simulated; `judge` holds each simulated result against its aims. Pure.

use caudal_config::{LatencyTarget, Limit, Metric, Statistic};
use caudal_policy::Picos;
use caudal_sim::experiment::Quantity;
use caudal_stats::Estimate;
use caudal_workload::{Dag, Service};

use crate::show::{digits, percent, spelled, time, within};
use crate::{Question, TuneError};

/// The relative error that rounding may give a share.
const ROUNDING: f64 = 1e-9;

/// A target, resolved for a workload.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) target: LatencyTarget,
    pub(crate) quantity: Quantity,
    /// The limit in ns, or as a ratio.
    pub(crate) limit: f64,
}

/// The targets of the question, resolved for its workload.
pub(crate) fn aims(question: &Question) -> Result<Vec<Aim>, TuneError> {
    let (service, cores) = (&question.workload.service, question.machine.capacity_cores());
    question.targets.iter().map(|target| aim(service, target, cores)).collect()
}

/// The index of the class that `target` is about.
pub(crate) fn class_of(
    service: &Service,
    class: Option<&String>,
    target: &impl std::fmt::Display,
    without: &impl std::fmt::Display,
) -> Result<Option<usize>, TuneError> {
    let Some(name) = class else { return Ok(None) };
    let found = service.classes().iter().position(|class| class == name);
    found.map(Some).ok_or_else(|| TuneError::UnknownClass {
        target: target.to_string(),
        class: name.clone(),
        instead: match service.classes() {
            [_] => format!("its requests are of one class: write `{without}`"),
            several => format!("its classes are {}", several.join(", ")),
        },
    })
}

/// `target` for requests of `service` on at most `cores`.
pub(crate) fn aim(service: &Service, target: &LatencyTarget, cores: u32) -> Result<Aim, TuneError> {
    let without = LatencyTarget { class: None, ..target.clone() };
    let class = class_of(service, target.class.as_ref(), target, &without)?;
    let metric = target.limit.metric();
    let (percentile, above_ps) = match target.statistic {
        Statistic::Mean => (None, None),
        Statistic::Percentile(percentile) => (Some(percentile), None),
        Statistic::Miss(late) => (None, Some(late.0)),
    };
    let mut classes = class.map_or(0..service.classes().len(), |class| class..class + 1);
    let of_mean = metric == Metric::Slowdown && target.statistic == Statistic::Mean;
    if of_mean && !classes.all(|class| service.class_has_inverse_mean(class)) {
        let instead = LatencyTarget { statistic: Statistic::Percentile(99.0), ..target.clone() };
        return Err(TuneError::NoMean { target: target.to_string(), instead: instead.to_string() });
    }
    let floor = Floor { service, class, cores };
    if let Some(least) = floor.above(target) {
        let alone = floor.alone(target, least);
        return Err(TuneError::Unreachable(format!("`{target}` can not be met on any system: {alone}")));
    }
    let quantity = Quantity { class, metric, percentile, above_ps };
    Ok(Aim { target: target.clone(), quantity, limit: target.limit.value() })
}

/// Why systems that do each request on one core can not meet a target, if so: requests that fork are not faster there.
pub(crate) fn too_long_for_one_core(question: &Question) -> Option<String> {
    let Question { workload, targets, .. } = question;
    let service = workload.service.clone().with_dag(Dag::default());
    let of = |target: &LatencyTarget| {
        let class = target.class.as_ref();
        let class = class.and_then(|name| service.classes().iter().position(|class| class == name));
        let floor = Floor { service: &service, class, cores: 1 };
        let alone = floor.alone(target, floor.above(target)?);
        Some(format!("a request has one core, which can not meet `{target}`: {alone}"))
    };
    targets.iter().find_map(of)
}

/// How long requests of a class, or of all, take at least.
struct Floor<'a> {
    service: &'a Service,
    class: Option<usize>,
    cores: u32,
}

impl Floor<'_> {
    /// The least that the target's statistic can be, if the target does not allow that.
    fn above(&self, target: &LatencyTarget) -> Option<f64> {
        let least = match (target.statistic, target.limit) {
            // On one core a request that nobody disturbs has a slowdown of 1, on several less.
            (_, Limit::Slowdown(_)) => return None,
            // Nor does it wait.
            (_, Limit::Wait(_)) => return None,
            (Statistic::Miss(late), _) => self.share_above(late) * (1.0 + ROUNDING),
            (Statistic::Mean, _) => self.mean_ns(),
            (Statistic::Percentile(percentile), _) => self.percentile_ns(percentile),
        };
        (least >= target.limit.value()).then_some(least)
    }

    /// `7.2 % of the requests take longer than 25ms even alone on 16 cores`.
    fn alone(&self, target: &LatencyTarget, least: f64) -> String {
        let requests = match self.class {
            Some(class) => format!("`{}` requests", self.service.classes()[class]),
            None => "requests".to_owned(),
        };
        let on = match (self.service.dag().is_serial(), self.cores) {
            (true, _) | (_, 1) => String::new(),
            (false, cores) => format!(" on {cores} cores"),
        };
        let statistic = match target.statistic {
            Statistic::Miss(late) => {
                return format!(
                    "{} of the {requests} take longer than {late} even alone{on}",
                    percent(least)
                );
            }
            Statistic::Mean => "the mean".to_owned(),
            Statistic::Percentile(percentile) => caudal_stats::percentile_label(percentile),
        };
        match on.is_empty() {
            true => {
                format!("{statistic} of the service time alone is {}; ask for more than that", time(least))
            }
            false => format!(
                "{statistic} of what {requests} take alone{on} is {}; ask for more than that",
                time(least)
            ),
        }
    }

    /// The part of its work that a request takes at least.
    fn part(&self) -> f64 {
        match self.service.dag().is_serial() {
            true => 1.0,
            false => self.service.dag().span().max(1.0 / f64::from(self.cores.max(1))),
        }
    }

    /// Recorded graphs: how long each request takes at least, in ps, and which share they are of those in question.
    fn recorded_ps(&self) -> Option<Vec<(f64, f64)>> {
        let recorded = self.service.dag().recorded()?;
        let mut all: Vec<(f64, f64)> =
            recorded.shortest_ps(self.class, f64::from(self.cores.max(1))).collect();
        let weight: f64 = all.iter().map(|one| one.1).sum();
        all.iter_mut().for_each(|one| one.1 /= weight);
        Some(all)
    }

    fn mean_ns(&self) -> f64 {
        if let Some(all) = self.recorded_ps() {
            return all.iter().map(|(ps, share)| ps * share).sum::<f64>() / 1e3;
        }
        let mean_ps = match self.class {
            None => self.service.mean_ps(),
            Some(class) => self.service.class_mean_ps(class),
        };
        mean_ps * self.part() / 1e3
    }

    fn percentile_ns(&self, percentile: f64) -> f64 {
        let p = percentile / 100.0;
        if let Some(mut all) = self.recorded_ps() {
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut so_far = 0.0;
            let reaches = |one: &&(f64, f64)| {
                so_far += one.1;
                so_far >= p - 1e-12
            };
            return all.iter().find(reaches).or(all.last()).map_or(0.0, |one| one.0 / 1e3);
        }
        let quantile_ps = match self.class {
            None => self.service.quantile(p),
            Some(class) => self.service.class_quantile(class, p),
        };
        quantile_ps as f64 * self.part() / 1e3
    }

    fn share_above(&self, late: Picos) -> f64 {
        if let Some(all) = self.recorded_ps() {
            return all.iter().filter(|one| one.0 > late.0 as f64).map(|one| one.1).sum();
        }
        let most_ps = (late.0 as f64 / self.part()) as u64;
        match self.class {
            None => self.service.excess(most_ps).share,
            Some(class) if self.service.class_weight(class) > 0.0 => {
                1.0 - self.service.class_cdf(class, most_ps)
            }
            Some(_) => 0.0,
        }
    }
}

/// The statistic of an aim: `get p99.9`.
pub(crate) fn statistic(aim: &Aim) -> String {
    spelled(aim.target.to_string().split(" <").next().unwrap_or_default())
}

/// A statistic of an aim: `43.1 µs`, a slowdown, or a share of the requests.
pub(crate) fn value(aim: &Aim, value: f64) -> String {
    match aim.target.limit {
        Limit::Latency(_) | Limit::Wait(_) => time(value),
        Limit::Slowdown(_) => digits(value),
        Limit::Share(_) => percent(value),
    }
}

/// `43.1 µs (41.0 µs to 46.2 µs)`.
pub(crate) fn estimate(aim: &Aim, estimate: &Estimate) -> String {
    within(estimate, |of| value(aim, of))
}
