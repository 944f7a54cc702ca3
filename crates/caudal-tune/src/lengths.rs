//! Quanta and intervals for long services: published ones are for requests of microseconds, and would make a great many events of each
//! request of milliseconds. `candidates` lengthens each system by it before anything is simulated; the run lists what was lengthened.
//! Pure.

use std::sync::Arc;

use caudal_config::SystemPlan;
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_workload::Service;

use crate::candidate::Candidate;
use crate::cost::polls_regularly;
use crate::setting::{INTERVAL, Setting, Tuning};

/// Where each time slice is an event of the engine, a request of mean length begins with at most so many: a quantum of 2 us in services of
/// 20 ms takes ten thousand of them to simulate, and is a hundredth as long as what would serve as well.
const SLICES_MAX: f64 = 50.0;

/// Quanta are this part of what the shortest tenth of the requests take, at most: these shall not wait for long ones.
const QUANTUM_PART: f64 = 0.5;

/// Polls of the demand for cores between two requests of a machine that is busy, at most; and an interval as a part of what the
/// shortest tenth of the requests take, at most: so much longer may one of them wait for a core. Published intervals are of 5 to 10 us,
/// for services of microseconds; in services of 20 ms nearly all that would be simulated is polls that find nothing new.
const POLLS_MAX: f64 = 20.0;

const INTERVAL_PART: f64 = 0.05;

/// `candidate` with lengths for requests of `service`, where the published ones are for far shorter requests and would make a great many
/// events of each: of quanta, and of intervals between polls of the demand for cores.
pub(crate) fn for_long_services(candidate: Candidate, service: &Service) -> Candidate {
    with_longer_quantum(with_longer_interval(candidate, service), service)
}

fn with_longer_interval(candidate: Candidate, service: &Service) -> Candidate {
    let gap_ps = service.mean_ps() / f64::from(candidate.capacity_cores);
    let longest_ps = (gap_ps / POLLS_MAX).min(INTERVAL_PART * service.quantile(0.1) as f64);
    let longer = Picos(round_down(longest_ps));
    let mut plan = SystemPlan::clone(&candidate.plan);
    let polls = plan.system.allocation.triggers().is_some_and(|triggers| polls_regularly(&triggers));
    match interval(&mut plan.system.allocation) {
        Some(published) if polls && *published < longer => *published = longer,
        _ => return candidate,
    }
    let tuned = vec![(INTERVAL.to_owned(), longer.to_string().into())];
    Candidate { plan: Arc::new(plan), tuned, ..candidate }
}

/// The time between two polls of the demand for cores.
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

/// The note of a plan on a candidate that has not been tuned, but has another length than the published one.
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

/// `candidate` with a quantum for requests of `service`, where each time slice is an event of the engine.
fn with_longer_quantum(candidate: Candidate, service: &Service) -> Candidate {
    let setting = Setting::of(&candidate.plan.system).filter(|_| candidate.slices_are_events());
    let Some(Setting::Quantum(published)) = setting else {
        return candidate;
    };
    let by_slices_ps = service.mean_ps() / SLICES_MAX;
    let by_short_ones_ps = QUANTUM_PART * service.quantile(0.1) as f64;
    let longest_ps = by_slices_ps.min(by_short_ones_ps);
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
