//! Tuning: the quantum, or the range, that keeps the tail shortest where a system is at its limit.
//!
//! All values of a grid are tried on the same requests, at the load that the system carried as published; then,
//! for a quantum, values between the best and its neighbours, at the load that the best one carries.

use std::sync::Arc;

use caudal_config::{System, SystemPlan};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_workload::Service;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::cost::looks_regularly;
use crate::judge::{Bench, Stopped};
use crate::lane_tuning::{lanes_of, with_tuned_lanes};
use crate::search::{Effort, Search};

/// Quanta that are tried first, in ns.
const QUANTA_NS: [u64; 6] = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
/// Where each turn is an event of the engine, a request of mean length begins with at most so many: a quantum of 2 us in services of
/// 20 ms takes ten thousand of them to simulate, and is a hundredth as long as what would serve as well.
const TURNS_MAX: f64 = 50.0;
/// Quanta are this part of what the shortest tenth of the requests take, at most: these shall not wait for long ones.
const QUANTUM_PART: f64 = 0.5;
/// Looks at the demand for cores between two requests of a machine that is busy, at most; and an interval as a part of what the
/// shortest tenth of the requests take, at most: so much longer may one of them wait for a core. Published intervals are of 5 to 10 us,
/// for services of microseconds; in services of 20 ms nearly all that would be simulated is looks that find nothing new.
const LOOKS_MAX: f64 = 20.0;
const INTERVAL_PART: f64 = 0.05;
/// The key of that interval, which stands behind those of a setting.
const INTERVAL: &str = "allocation.interval";
/// Bands of the mean queueing delay, in ns.
const DELAYS_NS: [(u64, u64); 5] = [(250, 500), (500, 1_000), (1_000, 2_000), (2_000, 4_000), (4_000, 8_000)];
/// Bands of the utilization.
const UTILIZATIONS: [(f64, f64); 4] = [(0.4, 0.6), (0.5, 0.75), (0.75, 0.95), (0.85, 0.98)];

/// What was tuned about a system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuning {
    /// What: `quantum`, `delay range`, `utilization range` or `lanes`.
    pub parameter: &'static str,
    /// The value as published.
    pub published: String,
    /// The one that was chosen.
    pub chosen: String,
    /// All that were tried, in the order in which they were.
    pub tried: Vec<Tried>,
}

/// A value and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The value.
    pub value: String,
    /// The load, or the cores, at which it was tried.
    pub at: f64,
    /// The worst target's statistic over its limit: smaller is better; none in overload.
    pub score: Option<f64>,
}

/// A setting of the tunable parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    Quantum(Picos),
    Delay(Picos, Picos),
    Utilization(f64, f64),
}

impl Setting {
    /// What `system` has that can be tuned.
    fn of(system: &System) -> Option<Setting> {
        match (system.discipline, system.allocation) {
            (DisciplineConfig::ProcessorSharing(config), _) if config.quantum.0 > 0 => {
                Some(Setting::Quantum(config.quantum))
            }
            (DisciplineConfig::Las(config), _) if config.quantum.0 > 0 => {
                Some(Setting::Quantum(config.quantum))
            }
            (_, AllocationConfig::DelayRange(config)) => Some(Setting::Delay(config.low, config.high)),
            (_, AllocationConfig::UtilizationRange(config)) => {
                Some(Setting::Utilization(config.low, config.high))
            }
            _ => None,
        }
    }

    fn parameter(self) -> &'static str {
        match self {
            Setting::Quantum(_) => "quantum",
            Setting::Delay(..) => "delay range",
            Setting::Utilization(..) => "utilization range",
        }
    }

    /// The grid of this kind, with the setting itself. Around a quantum beyond it there is another one.
    fn grid(self) -> Vec<Setting> {
        let ns = Picos::from_nanos;
        let mut grid: Vec<Setting> = match self {
            Setting::Quantum(own) => {
                let longest = QUANTA_NS[QUANTA_NS.len() - 1];
                let times = if own > ns(longest) { own.0 / ns(QUANTA_NS[2]).0 } else { 1 };
                QUANTA_NS.iter().map(|&quantum| Setting::Quantum(ns(quantum * times))).collect()
            }
            Setting::Delay(..) => {
                DELAYS_NS.iter().map(|&(low, high)| Setting::Delay(ns(low), ns(high))).collect()
            }
            Setting::Utilization(..) => {
                UTILIZATIONS.iter().map(|&(low, high)| Setting::Utilization(low, high)).collect()
            }
        };
        if !grid.contains(&self) {
            grid.push(self);
        }
        grid
    }

    /// Quanta between this one and those next to it that were tried: geometric means, rounded to 10 ns.
    fn between(self, tried: &[Setting]) -> Vec<Setting> {
        let Setting::Quantum(own) = self else { return Vec::new() };
        let others = tried.iter().filter_map(|setting| match setting {
            Setting::Quantum(quantum) => Some(quantum.0),
            _ => None,
        });
        let below = others.clone().filter(|&other| other < own.0).max();
        let above = others.filter(|&other| other > own.0).min();
        let mean = |other: u64| {
            let mean_ps = (own.0 as f64 * other as f64).sqrt();
            Setting::Quantum(Picos((mean_ps / 1e4).round() as u64 * 10_000))
        };
        [below, above].into_iter().flatten().map(mean).filter(|setting| !tried.contains(setting)).collect()
    }

    fn apply(self, candidate: &Candidate) -> Candidate {
        let mut plan = SystemPlan::clone(&candidate.plan);
        let tuned = match (self, &mut plan.system.discipline, &mut plan.system.allocation) {
            (Setting::Quantum(quantum), DisciplineConfig::ProcessorSharing(config), _) => {
                config.quantum = quantum;
                vec![("discipline.quantum".to_owned(), quantum.to_string().into())]
            }
            (Setting::Quantum(quantum), DisciplineConfig::Las(config), _) => {
                config.quantum = quantum;
                vec![("discipline.quantum".to_owned(), quantum.to_string().into())]
            }
            (Setting::Delay(low, high), _, AllocationConfig::DelayRange(config)) => {
                (config.low, config.high) = (low, high);
                range(low.to_string().into(), high.to_string().into())
            }
            (Setting::Utilization(low, high), _, AllocationConfig::UtilizationRange(config)) => {
                (config.low, config.high) = (low, high);
                range(low.into(), high.into())
            }
            _ => Vec::new(),
        };
        let interval = candidate.tuned.iter().filter(|(key, _)| key == INTERVAL).cloned();
        let tuned = tuned.into_iter().chain(interval).collect();
        Candidate { plan: Arc::new(plan), tuned, ..candidate.clone() }
    }
}

fn range(low: serde_json::Value, high: serde_json::Value) -> Vec<(String, serde_json::Value)> {
    vec![("allocation.low".to_owned(), low), ("allocation.high".to_owned(), high)]
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Quantum(quantum) => write!(f, "{quantum}"),
            Setting::Delay(low, high) => write!(f, "{low} to {high}"),
            Setting::Utilization(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

/// `candidate` with lengths for requests of `service`, where the published ones are for far shorter requests and would make a great many
/// events of each: of quanta, and of intervals between looks at the demand for cores.
pub(crate) fn for_long_services(candidate: Candidate, service: &Service) -> Candidate {
    with_longer_quantum(with_longer_interval(candidate, service), service)
}

fn with_longer_interval(candidate: Candidate, service: &Service) -> Candidate {
    let gap_ps = service.mean_ps() / f64::from(candidate.capacity_cores);
    let longest_ps = (gap_ps / LOOKS_MAX).min(INTERVAL_PART * service.quantile(0.1) as f64);
    let longer = Picos(round_down(longest_ps));
    let mut plan = SystemPlan::clone(&candidate.plan);
    let looks = plan.system.allocation.triggers().is_some_and(|triggers| looks_regularly(&triggers));
    match interval(&mut plan.system.allocation) {
        Some(published) if looks && *published < longer => *published = longer,
        _ => return candidate,
    }
    let tuned = vec![(INTERVAL.to_owned(), longer.to_string().into())];
    Candidate { plan: Arc::new(plan), tuned, ..candidate }
}

/// Time between two looks.
fn interval(allocation: &mut AllocationConfig) -> Option<&mut Picos> {
    match allocation {
        AllocationConfig::Static | AllocationConfig::PerTask(_) => None,
        AllocationConfig::Shenango(config) => Some(&mut config.interval),
        AllocationConfig::Caladan(config) => Some(&mut config.interval),
        AllocationConfig::DelayRange(config) => Some(&mut config.interval),
        AllocationConfig::UtilizationRange(config) => Some(&mut config.interval),
        AllocationConfig::IdleBuffer(config) => Some(&mut config.interval),
        AllocationConfig::Triggers(triggers) => Some(&mut triggers.interval),
    }
}

/// What a plan says of a candidate that has not been tuned, but has another length than the published one.
pub(crate) fn lengthened(candidate: &Candidate) -> Option<Tuning> {
    let published = candidate.plan.preset?.system(candidate.plan.system.cores);
    let (parameter, chosen) = match &candidate.tuned[..] {
        [(key, value)] if key == INTERVAL => ("interval", value),
        [(_, value)] if matches!(Setting::of(&published), Some(Setting::Quantum(_))) => ("quantum", value),
        _ => return None,
    };
    let own = match (Setting::of(&published), interval(&mut published.allocation.clone())) {
        (Some(Setting::Quantum(quantum)), _) => quantum,
        // It has something to tune, of which is told instead.
        (Some(_), _) => return None,
        (None, interval) => *interval?,
    };
    let (published, chosen) = (own.to_string(), chosen.as_str()?.to_owned());
    Some(Tuning { parameter, published, chosen, tried: Vec::new() })
}

/// The same of a quantum, where each turn is an event of the engine.
fn with_longer_quantum(candidate: Candidate, service: &Service) -> Candidate {
    let setting = Setting::of(&candidate.plan.system).filter(|_| candidate.turns_are_events());
    let Some(Setting::Quantum(published)) = setting else {
        return candidate;
    };
    let by_turns_ps = service.mean_ps() / TURNS_MAX;
    let by_short_ones_ps = QUANTUM_PART * service.quantile(0.1) as f64;
    let longest_ps = by_turns_ps.min(by_short_ones_ps);
    if longest_ps <= published.0 as f64 {
        return candidate;
    }
    let longer = Picos(round_down(longest_ps)).max(published);
    if longer == published { candidate } else { Setting::Quantum(longer).apply(&candidate) }
}

/// The next number of 1, 2 or 5 and zeros, at most `ps`.
fn round_down(ps: f64) -> u64 {
    let power = 10_f64.powf(ps.max(1.0).log10().floor());
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= ps).unwrap_or(1.0);
    (digit * power) as u64
}

/// Does the system have a parameter that can be tuned?
pub(crate) fn tunable(candidate: &Candidate) -> bool {
    Setting::of(&candidate.plan.system).is_some()
}

/// What is tuned about the system: the name of its parameter.
pub(crate) fn parameter(candidate: &Candidate) -> Option<&'static str> {
    let lanes = lanes_of(candidate).map(|_| "lanes");
    let own = lanes.or_else(|| Setting::of(&candidate.plan.system).map(Setting::parameter));
    own.or_else(|| candidate.tuned.iter().any(|(key, _)| key == INTERVAL).then_some("interval"))
}

/// `candidate`, which has not been tuned, with the keys that a tuned one had; none if these are not its own.
pub(crate) fn retuned(candidate: &Candidate, tuned: &[(String, serde_json::Value)]) -> Option<Candidate> {
    if lanes_of(candidate).is_some() {
        let found =
            if tuned.is_empty() { Some(candidate.clone()) } else { with_tuned_lanes(candidate, tuned) };
        return found.filter(|again| again.tuned == tuned);
    }
    if candidate.tuned == tuned {
        return Some(candidate.clone());
    }
    let setting: Vec<&(String, serde_json::Value)> =
        tuned.iter().filter(|(key, _)| key != INTERVAL).collect();
    let time = |value: &serde_json::Value| Picos::parse(value.as_str()?).ok();
    let setting = match (Setting::of(&candidate.plan.system)?, &setting[..]) {
        (_, []) => return Some(candidate.clone()),
        (Setting::Quantum(_), [(_, quantum)]) => Setting::Quantum(time(quantum)?),
        (Setting::Delay(..), [(_, low), (_, high)]) => Setting::Delay(time(low)?, time(high)?),
        (Setting::Utilization(..), [(_, low), (_, high)]) => {
            Setting::Utilization(low.as_f64()?, high.as_f64()?)
        }
        _ => return None,
    };
    Some(setting.apply(candidate)).filter(|again| again.tuned == tuned)
}

/// A setting under trial.
struct Trial {
    setting: Setting,
    search: Search,
    hardness: u32,
    score: Option<f64>,
    failed: Option<Stopped>,
}

/// Tunes the system of `search` within the quota of `effort`; afterwards it is a search for the chosen setting.
pub(crate) fn tune(
    search: &mut Search,
    bench: &Bench<'_>,
    effort: Effort,
) -> Result<Option<Tuning>, Stopped> {
    let Some(begun) = Setting::of(&search.candidate.plan.system) else { return Ok(None) };
    let preset = search.candidate.plan.preset.map(|it| it.system(search.candidate.plan.system.cores));
    let published = preset.as_ref().and_then(Setting::of).unwrap_or(begun);
    let base = search.candidate.clone();
    let mut tried: Vec<(Setting, f64, Option<f64>)> = Vec::new();
    let mut left = effort.quota;
    let mut chosen = begun;
    // First the grid where the published setting is at its limit, then in between where the best one is.
    for round in 0..3 {
        let settings = match round {
            0 if begun.grid().contains(&published) => begun.grid(),
            0 => [begun.grid(), vec![published]].concat(),
            _ => {
                let known: Vec<Setting> = tried.iter().map(|(setting, ..)| *setting).collect();
                let between = chosen.between(&known);
                if between.is_empty() { break } else { [vec![chosen], between].concat() }
            }
        };
        let Some(hardness) = search.bracket.pass.or(search.bracket.fail) else { break };
        let cost = |setting: &Setting| {
            search.restarted(setting.apply(&base)).stage_cost(bench, hardness, effort.precision)
        };
        let Some(settings) = within(left, settings, chosen, cost) else { break };
        let spent = search.charged;
        let trials = try_all(search, &base, bench, effort, &settings, hardness)?;
        left = left.saturating_sub(search.charged - spent);
        let best = trials.iter().filter_map(|trial| Some((trial.score?, trial.setting)));
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(chosen, |(_, setting)| setting);
        tried.extend(trials.iter().map(|trial| (trial.setting, search.value(hardness), trial.score)));
        if best != chosen {
            let before = search.clone();
            *search = search.restarted(best.apply(&base));
            search.narrow(bench, Effort { quota: left, ..effort }, Some(hardness))?;
            if search.exhausted && search.bracket.pass.is_none() && before.bracket.pass.is_some() {
                // Nobody knows how far that one gets.
                search.go_back_to(before);
                break;
            }
            left = left.saturating_sub(search.charged - before.charged);
            chosen = best;
        } else if round > 0 {
            break;
        }
    }
    let tried = tried.into_iter().map(|(setting, at, score)| Tried { value: setting.to_string(), at, score });
    Ok(Some(Tuning {
        parameter: published.parameter(),
        published: published.to_string(),
        chosen: chosen.to_string(),
        tried: tried.collect(),
    }))
}

/// Those of `settings` that are tried within `left`: where some are far dearer than the `chosen` one, the dearest are left out. None
/// if that does not do.
fn within(
    left: u64,
    mut settings: Vec<Setting>,
    chosen: Setting,
    cost: impl Fn(&Setting) -> u64,
) -> Option<Vec<Setting>> {
    settings.sort_by_key(|setting| cost(setting));
    let usual = cost(&chosen).saturating_mul(2);
    loop {
        let all: u64 = settings.iter().map(&cost).fold(0, u64::saturating_add);
        match settings.last() {
            _ if all <= left => return Some(settings),
            Some(dearest) if cost(dearest) > usual => settings.truncate(settings.len() - 1),
            _ => return None,
        }
    }
}

/// Every setting at `hardness`, one stage each, on the same requests.
fn try_all(
    search: &mut Search,
    base: &Candidate,
    bench: &Bench<'_>,
    effort: Effort,
    settings: &[Setting],
    hardness: u32,
) -> Result<Vec<Trial>, Stopped> {
    let trial = |&setting: &Setting| Trial {
        setting,
        search: search.restarted(setting.apply(base)),
        hardness,
        score: None,
        failed: None,
    };
    let mut trials: Vec<Trial> = settings.iter().map(trial).collect();
    let one_stage = Effort {
        precision: crate::judge::Precision { most: effort.precision.first, ..effort.precision },
        quota: u64::MAX,
        threads: 1,
        ..effort
    };
    let before = (search.simulated, search.charged);
    crate::crew::each(effort.threads, &mut trials, |trial, _| {
        match trial.search.simulate(bench, one_stage, trial.hardness) {
            Ok(probe) => trial.score = probe.map(|probe| probe.score).filter(|score| score.is_finite()),
            Err(stopped) => trial.failed = Some(stopped),
        }
    });
    search.simulated += trials.iter().map(|trial| trial.search.simulated - before.0).sum::<u64>();
    search.charged += trials.iter().map(|trial| trial.search.charged - before.1).sum::<u64>();
    match trials.iter_mut().find_map(|trial| trial.failed.take()) {
        Some(stopped) => Err(stopped),
        None => Ok(trials),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantum(ns: u64) -> Setting {
        Setting::Quantum(Picos::from_nanos(ns))
    }

    #[test]
    fn the_published_quantum_is_always_tried() {
        assert_eq!(quantum(2_000).grid().len(), 6);
        assert!(quantum(15_000).grid().contains(&quantum(15_000)));
    }

    #[test]
    fn a_tuned_candidate_is_found_again_by_its_keys() {
        for name in ["tiny-quanta", "las", "caladan-delay-range", "caladan-utilization-range"] {
            let Some(preset) = caudal_config::find_preset(name) else { continue };
            let plan = Arc::new(SystemPlan::of_preset(preset, 4));
            let base = Candidate { plan, capacity_cores: 4, dedicated: 0, tuned: Vec::new() };
            let Some(own) = Setting::of(&base.plan.system) else { continue };
            for setting in own.grid().into_iter().chain(own.between(&own.grid())) {
                let tuned = setting.apply(&base);
                let again = retuned(&base, &tuned.tuned).unwrap();
                assert_eq!(again.plan.system, tuned.plan.system);
            }
            assert!(retuned(&base, &[("x".to_owned(), "y".into())]).is_none());
        }
    }

    #[test]
    fn neighbours_lie_between_on_a_logarithmic_scale() {
        let grid = quantum(2_000).grid();
        assert_eq!(quantum(2_000).between(&grid), [quantum(1_410), quantum(3_160)]);
        assert_eq!(quantum(500).between(&grid), [quantum(710)], "nothing is tried beyond the grid");
        let band = Setting::Utilization(0.5, 0.75);
        assert_eq!(band.between(&band.grid()), []);
    }
}
