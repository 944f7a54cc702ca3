//! The conditions of the rules of coherence: is this system or this value refused? Each is a function that a row of the table `rules` names;
//! [`super::check`] calls it for each system and each host that it judges. Pure.

use caudal_policy::Picos;
use caudal_policy::allocation::{Grow, Shrink};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::parallelism::{
    ClassConfig, LaneConfig, ParallelismConfig, RetuneConfig, TailControlConfig,
};
use caudal_policy::rebalance::RebalanceConfig;

use super::{COST_MAX, TIME_MAX};
use crate::{Costs, Pools, Stalls, System};

/// Most active requests that a table names.
const ACTIVE_MAX: u32 = 100_000;
/// The shortest time after which thresholds are computed anew, because the computation itself takes a millisecond.
pub(super) const EPOCH_MIN: Picos = Picos::from_micros(1_000);
/// Most epochs that are remembered.
const EPOCHS_MAX: u64 = 1_000;

pub(super) fn central(system: &System) -> bool {
    system.is_central()
}

pub(super) fn steals(system: &System) -> bool {
    matches!(system.rebalance, RebalanceConfig::WorkStealing(_) | RebalanceConfig::StealAndShed(_))
}

pub(super) fn fluid(system: &System) -> bool {
    system.discipline.quantum() == Some(Picos::ZERO)
}

/// Is there a pool whose workers are more or fewer than the reservations of all lanes together?
pub(super) fn reserved_wrong(system: &System) -> bool {
    let sizes = system.pool_sizes();
    system.discipline.lanes().zip(sizes).is_some_and(|(config, sizes)| {
        let servers: u64 = config.reservations.iter().map(|&count| u64::from(count)).sum();
        sizes.iter().any(|&size| u64::from(size) != servers)
    })
}

/// Does SITA dispatch have a number of cutoffs that is not one less than the number of pools, or cutoffs that do not rise?
pub(super) fn sizes_wrong(system: &System) -> bool {
    let DispatchConfig::Sita(config) = system.dispatch else { return false };
    let pools = system.pool_count() as usize;
    let rising = config.cutoffs.windows(2).all(|pair| pair[0] < pair[1]);
    config.cutoffs.len() + 1 != pools || !rising || !config.cutoffs.iter().all(|&cutoff| is_time(cutoff))
}

/// Does the system need to know service times in advance?
pub(crate) fn clairvoyant(system: &System) -> bool {
    matches!(system.dispatch, DispatchConfig::LeastWork | DispatchConfig::Sita(_))
        || system.discipline == DisciplineConfig::Srpt
        || matches!(system.parallelism, ParallelismConfig::Clairvoyant(_))
        || knows_more(system).is_some()
}

/// Has tail-control either a target or a table?
pub(super) fn is_one_of_both(config: &TailControlConfig) -> bool {
    (config.target > Picos::ZERO) == config.thresholds.is_empty()
}

/// Do some classes have targets and others thresholds? All must have the same.
pub(super) fn classes_differ(config: &TailControlConfig) -> bool {
    let by_target = config.target > Picos::ZERO;
    let alike = |own: &ClassConfig| {
        let has_target = own.target > Picos::ZERO;
        has_target == own.thresholds.is_empty() && has_target == by_target
    };
    // If the system itself has both or neither, that breaks another rule, and nobody knows which one its classes should have.
    is_one_of_both(config) && !config.classes.values().all(alike)
}

/// Are there thresholds whose numbers of active requests do not rise, or lie outside 1 to [`ACTIVE_MAX`]?
pub(super) fn numbers_wrong(config: &TailControlConfig) -> bool {
    let of_classes = config.classes.values().map(|own| &own.thresholds);
    let sound = |thresholds: &Vec<(u32, Picos)>| {
        let rising = thresholds.windows(2).all(|pair| pair[0].0 < pair[1].0);
        rising && thresholds.iter().all(|pair| (1..=ACTIVE_MAX).contains(&pair.0))
    };
    !std::iter::once(&config.thresholds).chain(of_classes).all(sound)
}

pub(super) fn targets_too_long(config: &TailControlConfig) -> bool {
    config.target > TIME_MAX || config.classes.values().any(|own| own.target > TIME_MAX)
}

/// The target of the thresholds, and how they are computed anew while the system runs; none if they are not.
pub(super) fn retune(system: &System) -> Option<(Picos, RetuneConfig)> {
    let config = tail_control(system)?;
    Some((config.target, config.retune?))
}

/// Is the window no whole number of epochs?
pub(super) fn window_wrong(RetuneConfig { every, window, .. }: RetuneConfig) -> bool {
    let epochs = window.0.checked_div(every.0);
    let whole =
        epochs.is_none_or(|epochs| (1..=EPOCHS_MAX).contains(&epochs) && window.0.is_multiple_of(every.0));
    !whole || window > TIME_MAX
}

/// The workers that are reserved for small requests, if there are any.
pub(super) fn lane(system: &System) -> Option<LaneConfig> {
    tail_control(system)?.lane
}

/// Tail-control that knows a request's size when it admits it, if the system has that.
pub(super) fn clairvoyant_thresholds(system: &System) -> Option<&TailControlConfig> {
    match &system.parallelism {
        ParallelismConfig::Clairvoyant(config) => Some(config),
        _ => None,
    }
}

pub(super) fn tail_control(system: &System) -> Option<&TailControlConfig> {
    match &system.parallelism {
        ParallelismConfig::TailControl(config) | ParallelismConfig::Clairvoyant(config) => Some(config),
        _ => None,
    }
}

/// The knowledge that no real system has: of the rest of a request's serial parts, or of the workload's load; none if the system needs neither.
fn knows_more(system: &System) -> Option<&'static str> {
    let config = tail_control(system)?;
    if config.span {
        return Some("it knows what is left of a request's serial parts");
    }
    config
        .retune
        .is_some_and(|retune| retune.oracle)
        .then_some("it knows what the workload offers at any time")
}

/// The reason why the system can not be built, if there is one.
pub(crate) fn unbuildable(system: &System) -> Option<&'static str> {
    if let Some(more) = knows_more(system) {
        return Some(more);
    }
    if clairvoyant(system) {
        return Some("it knows service times in advance");
    }
    fluid(system).then_some("its tasks share cores in infinitely small slices")
}

pub(super) fn several_sharing(system: &System) -> bool {
    match &system.pools {
        Pools::PerCore => false,
        Pools::Equal(pools) => *pools != 1 && *pools != system.cores,
        Pools::Sizes(sizes) => sizes.len() > 1 && sizes.iter().any(|&size| size != 1),
    }
}

pub(super) fn is_time(time: Picos) -> bool {
    time > Picos::ZERO && time <= TIME_MAX
}

pub(super) fn allocation_times_wrong(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    let grow = match triggers.grow {
        Grow::DelayMax { above } | Grow::DelayMean { above } => is_time(above),
        _ => true,
    };
    let shrink = match triggers.shrink {
        Shrink::DelayMean { below } => is_time(below),
        _ => true,
    };
    !(grow && shrink && is_time(triggers.interval))
}

pub(super) fn allocation_shares_wrong(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    let share = |share: f64| share > 0.0 && share <= 1.0;
    let grow = match triggers.grow {
        Grow::Utilization { above } => share(above),
        Grow::Queued { above } => (0.0..=1e6).contains(&above),
        Grow::Idle { below } => below > 0 && below <= system.cores,
        _ => true,
    };
    let shrink = match triggers.shrink {
        Shrink::Utilization { below } => share(below),
        Shrink::Idle { above } => above <= system.cores,
        _ => true,
    };
    !(grow && shrink)
}

pub(super) fn empty_band(system: &System) -> bool {
    let Some(triggers) = system.allocation.triggers() else { return false };
    match (triggers.grow, triggers.shrink) {
        (Grow::DelayMean { above }, Shrink::DelayMean { below }) => below >= above,
        (Grow::Utilization { above }, Shrink::Utilization { below }) => below >= above,
        (Grow::Idle { below }, Shrink::Idle { above }) => above < below,
        _ => false,
    }
}

pub(super) fn costs_too_long(_: &System, costs: &Costs) -> bool {
    let Costs { steal_check, steal, shed, enqueue, hand_over, core_allocation, .. } = *costs;
    let Costs { preemption, overrun, dispatcher, dispatcher_quantum, cold_miss, fork, look, .. } = *costs;
    let Costs { start, finish, hop, wake_up, sleep_after, .. } = *costs;
    let all = [
        steal_check,
        steal,
        shed,
        enqueue,
        hand_over,
        core_allocation,
        preemption,
        overrun,
        dispatcher,
        dispatcher_quantum,
        cold_miss,
        fork,
        look,
        start,
        finish,
        hop,
        wake_up,
        sleep_after,
    ];
    all.iter().any(|&cost| cost > COST_MAX)
}

/// Are there stalls that are no distribution, or longer than any cost?
pub(super) fn stalls_wrong(costs: &Costs) -> bool {
    let too_long = |stalls: &Stalls| stalls.lengths.iter().any(|pair| pair.1 > COST_MAX);
    costs.stalls.is_some_and(|stalls| !stalls.in_order() || too_long(&stalls))
}

/// Do stalls take more of the cores' time than [`Stalls::SHARE_MAX`]?
pub(super) fn stalls_too_much(costs: &Costs) -> bool {
    costs.stalls.is_some_and(|stalls| stalls.in_order() && stalls.share() > Stalls::SHARE_MAX)
}
