//! A [`Run`] in the terms of the published simulator: whole ns, and only what that simulator can do. [`super::simulate`] converts each
//! run once, before it begins; what cannot be run is refused here. Pure.

use caudal_config::{Costs, System};
use caudal_policy::Picos;
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::dispatch::{DispatchConfig, PowerOfKConfig};
use caudal_policy::rebalance::{Amount, RebalanceConfig};

use super::Rules;
use super::error::Unsupported;
use crate::engine::Run;

/// Longest run: 2^50 ns, so that a time and the number of a core fit into one word.
const DURATION_MAX_NS: u64 = 1 << 50;
/// If more of the service times than this are below 1 ns, drawing them again would be another workload.
const BELOW_ONE_NS_MAX: f64 = 0.5;

/// How requests come to cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Balance {
    /// A random queue, and there they stay.
    Random,
    /// A random queue; idle cores check others.
    Steal,
    /// A random queue; cores with an old second request flag others.
    Shed { threshold_ns: u64 },
    /// The shortest of `k` queues; another core pays.
    Choose { k: u32 },
    /// A central queue from which cores pull until `waiting` requests wait at them.
    Jbsq { waiting: usize },
    /// One queue for all.
    Single,
}

/// When cores come and go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Growth {
    Static,
    PerTask,
    /// Shenango, Caladan.
    Oldest {
        every_ns: u64,
        threshold_ns: u64,
    },
    Delay {
        every_ns: u64,
        low_ns: u64,
        high_ns: u64,
    },
    /// Shares, 0 to 1.
    Utilization {
        every_ns: u64,
        low: f64,
        high: f64,
    },
}

/// Everything that a machine is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) cores: usize,
    pub(super) balance: Balance,
    pub(super) growth: Growth,
    pub(super) check_ns: u64,
    pub(super) steal_ns: u64,
    pub(super) shed_ns: u64,
    pub(super) enqueue_ns: u64,
    pub(super) hand_over_ns: u64,
    pub(super) allocation_ns: u64,
    /// A search that failed earlier than this begins anew.
    pub(super) search_min_ns: u64,
    /// Does a core park whose search has failed?
    pub(super) self_park: bool,
    pub(super) duration_ns: u64,
}

impl Setup {
    pub(super) fn new(run: &Run<'_>, rules: &Rules) -> Result<Setup, Unsupported> {
        let Run { system, costs, .. } = run;
        if system.discipline != DisciplineConfig::Fcfs {
            return Err(Unsupported::Discipline);
        }
        check_overheads(costs)?;
        let below = run.service.cdf(999);
        if below > BELOW_ONE_NS_MAX {
            return Err(Unsupported::ServiceBelowOneNano { percent: below * 100.0 });
        }
        let balance = balance(system)?;
        let growth = growth(system)?;
        check_pair(system, balance, growth)?;
        let stealing = balance == Balance::Steal;
        let used_ns = |used: bool, key, time| if used { whole_ns(key, time) } else { Ok(1) };
        let check_ns = used_ns(stealing, "costs.steal_check", costs.steal_check)?;
        // The cores of a static system that are not allocated do not exist.
        let cores = if growth == Growth::Static { system.cores_allocated } else { system.cores };
        Ok(Setup {
            cores: cores as usize,
            balance,
            growth,
            check_ns,
            steal_ns: used_ns(stealing, "costs.steal", costs.steal)?,
            shed_ns: used_ns(matches!(balance, Balance::Shed { .. }), "costs.shed", costs.shed)?,
            enqueue_ns: used_ns(matches!(balance, Balance::Choose { .. }), "costs.enqueue", costs.enqueue)?,
            hand_over_ns: used_ns(growth == Growth::PerTask, "costs.hand_over", costs.hand_over)?,
            allocation_ns: used_ns(growth != Growth::Static, "costs.core_allocation", costs.core_allocation)?,
            search_min_ns: rules.search_min_ns.unwrap_or(u64::from(cores.saturating_sub(1)) * check_ns),
            self_park: match growth {
                Growth::Static => false,
                Growth::PerTask | Growth::Oldest { .. } => true,
                Growth::Delay { .. } | Growth::Utilization { .. } => rules.ranges_self_park,
            },
            duration_ns: duration_ns(run, rules)?,
        })
    }
}

fn duration_ns(run: &Run<'_>, rules: &Rules) -> Result<u64, Unsupported> {
    let requests = run.length.warm_up.saturating_add(run.length.measured);
    let ns = rules.duration_ns.map_or(requests as f64 * run.mean_gap_ps / 1e3, |ns| ns as f64).round();
    if (1.0..=DURATION_MAX_NS as f64).contains(&ns) {
        Ok(ns as u64)
    } else {
        Err(Unsupported::Duration { ns })
    }
}

fn whole_ns(key: &'static str, time: Picos) -> Result<u64, Unsupported> {
    let whole = time.0 > 0 && time.0.is_multiple_of(1_000);
    if whole { Ok(time.0 / 1_000) } else { Err(Unsupported::NotWholeNanos { key, ps: time.0 }) }
}

fn check_overheads(costs: &Costs) -> Result<(), Unsupported> {
    let foreign = [
        ("costs.probe_factor", costs.probe_factor != 1.0),
        ("costs.dispatcher", costs.dispatcher != Picos::ZERO),
    ];
    match foreign.iter().find(|(_, set)| *set) {
        Some(&(key, _)) => Err(Unsupported::Overhead { key }),
        None => Ok(()),
    }
}

fn balance(system: &System) -> Result<Balance, Unsupported> {
    if system.is_central() {
        return match (system.dispatch, system.rebalance) {
            (DispatchConfig::Random, RebalanceConfig::None) => Ok(Balance::Single),
            (DispatchConfig::Random, _) => Err(Unsupported::Together("one queue", "stealing or shedding")),
            _ => Err(Unsupported::Together("one queue", "a dispatch policy other than random")),
        };
    }
    if system.pool_count() != system.cores {
        return Err(Unsupported::Pools);
    }
    match (system.dispatch, system.rebalance) {
        (DispatchConfig::Random, RebalanceConfig::None) => Ok(Balance::Random),
        (DispatchConfig::Random, RebalanceConfig::WorkStealing(config)) => match config.amount {
            Amount::Half => Ok(Balance::Steal),
            Amount::One => Err(Unsupported::StealAmount),
        },
        (DispatchConfig::Random, RebalanceConfig::WorkShedding(config)) => {
            Ok(Balance::Shed { threshold_ns: whole_ns("system.rebalance.threshold", config.threshold)? })
        }
        (_, RebalanceConfig::StealAndShed(_)) => Err(Unsupported::StealAndShed),
        (DispatchConfig::PowerOfK(config), RebalanceConfig::None) => match config.k {
            k @ 1..=PowerOfKConfig::K_MAX => Ok(Balance::Choose { k }),
            k => Err(Unsupported::Choices { k }),
        },
        // The one in service counts for the bound, but does not wait.
        (DispatchConfig::Jbsq(config), RebalanceConfig::None) => {
            Ok(Balance::Jbsq { waiting: config.bound.saturating_sub(1) as usize })
        }
        (DispatchConfig::PowerOfK(_) | DispatchConfig::Jbsq(_), _) => {
            Err(Unsupported::Together("power-of-k or JBSQ dispatch", "stealing or shedding"))
        }
        _ => Err(Unsupported::Dispatch),
    }
}

fn growth(system: &System) -> Result<Growth, Unsupported> {
    let every_ns = |interval| whole_ns("system.allocation.interval", interval);
    Ok(match system.allocation {
        AllocationConfig::Static => Growth::Static,
        AllocationConfig::PerTask(_) => Growth::PerTask,
        AllocationConfig::Shenango(config) => Growth::Oldest {
            every_ns: every_ns(config.interval)?,
            threshold_ns: whole_ns("system.allocation.threshold", config.threshold)?,
        },
        AllocationConfig::Caladan(config) => Growth::Oldest {
            every_ns: every_ns(config.interval)?,
            threshold_ns: whole_ns("system.allocation.threshold", config.threshold)?,
        },
        AllocationConfig::DelayRange(config) => Growth::Delay {
            every_ns: every_ns(config.interval)?,
            low_ns: whole_ns("system.allocation.low", config.low)?,
            high_ns: whole_ns("system.allocation.high", config.high)?,
        },
        AllocationConfig::UtilizationRange(config) => {
            Growth::Utilization { every_ns: every_ns(config.interval)?, low: config.low, high: config.high }
        }
        AllocationConfig::IdleBuffer(_) | AllocationConfig::Triggers(_) => {
            return Err(Unsupported::Allocation);
        }
    })
}

fn check_pair(system: &System, balance: Balance, growth: Growth) -> Result<(), Unsupported> {
    if balance == Balance::Steal && system.cores_allocated < 2 {
        return Err(Unsupported::NobodyToStealFrom);
    }
    if growth == Growth::Static {
        return Ok(());
    }
    if system.cores_allocated != system.cores {
        return Err(Unsupported::StartsWithAll { cores: system.cores });
    }
    match balance {
        Balance::Single => Err(Unsupported::Together("one queue", "an allocation policy")),
        Balance::Jbsq { .. } => Err(Unsupported::Together("JBSQ dispatch", "an allocation policy")),
        Balance::Steal => Ok(()),
        _ if growth == Growth::PerTask => Err(Unsupported::PerTaskWithoutStealing),
        Balance::Random | Balance::Shed { .. } | Balance::Choose { .. } => Ok(()),
    }
}
