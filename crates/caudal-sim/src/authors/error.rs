//! The error for systems that the published simulator can not run.

use caudal_policy::dispatch::PowerOfKConfig;
use thiserror::Error;

/// Why a run is not possible under `variant = "authors-simulator"`. Every message says what would be.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Unsupported {
    /// A discipline other than first come first served.
    #[error(
        "`system.discipline`: the authors' simulator runs every request to completion; write \
         discipline = \"fcfs\", or remove variant = \"authors-simulator\""
    )]
    Discipline,
    /// A dispatch policy that it lacks.
    #[error(
        "`system.dispatch`: the authors' simulator knows random, power-of-k and JBSQ dispatch; take one of \
         them, or remove variant = \"authors-simulator\""
    )]
    Dispatch,
    /// Power of no choice, or of more than are sampled.
    #[error("`system.dispatch.k`: {k} choices; write 1 to {}", PowerOfKConfig::K_MAX)]
    Choices {
        /// How many.
        k: u32,
    },
    /// Pools of several cores, but not all of them.
    #[error(
        "`system.pools`: the authors' simulator has a queue for each core or one for all; write \
         pools = \"per-core\" or 1, or remove variant = \"authors-simulator\""
    )]
    Pools,
    /// Stealing of a single task.
    #[error(
        "`system.rebalance.amount`: thieves of the authors' simulator take half of a queue; write \
         amount = \"half\", or remove variant = \"authors-simulator\""
    )]
    StealAmount,
    /// Stealing and shedding at once: the published code ends with an error at the first flag.
    #[error(
        "`system.rebalance`: the authors' simulator can steal or shed, not both; take one of the two, or \
         remove variant = \"authors-simulator\""
    )]
    StealAndShed,
    /// A grow or shrink trigger that it lacks.
    #[error(
        "`system.allocation`: the authors' variant knows static, per-task, shenango, caladan, delay-range \
         and utilization-range; take one of them, or remove variant = \"authors-simulator\""
    )]
    Allocation,
    /// Two policies whose rules do not say what they do together.
    #[error(
        "{0} with {1}: nothing says what the authors' simulator would do; take one of the two, or \
             remove variant = \"authors-simulator\""
    )]
    Together(&'static str, &'static str),
    /// Per-task allocation without thieves.
    #[error("`system.allocation`: per-task allocation needs rebalance = \"work-stealing\"")]
    PerTaskWithoutStealing,
    /// Allocation that starts with a part of the cores.
    #[error(
        "`system.allocation.cores`: in the authors' simulator an application starts with all cores of the \
         machine; leave it out, or write {cores}"
    )]
    StartsWithAll {
        /// Cores of the machine.
        cores: u32,
    },
    /// A thief without victims.
    #[error("`system.cores`: a core that steals needs another one to steal from; write at least 2")]
    NobodyToStealFrom,
    /// A time that is not a positive number of whole ns.
    #[error(
        "`{key}`: the authors' simulator counts whole nanoseconds, from 1 on; {ps} ps is not one of them"
    )]
    NotWholeNanos {
        /// Where it is written.
        key: &'static str,
        /// The time.
        ps: u64,
    },
    /// Probes or a dispatcher.
    #[error(
        "`{key}`: the authors' simulator has no such overhead; remove it, or variant = \"authors-simulator\""
    )]
    Overhead {
        /// Where it is written.
        key: &'static str,
    },
    /// Service times of less than 1 ns.
    #[error(
        "`workload.service`: {percent:.0} % of the service times are below 1 ns, which the authors' \
         simulator draws again; take a longer one, or remove variant = \"authors-simulator\""
    )]
    ServiceBelowOneNano {
        /// Share of such service times.
        percent: f64,
    },
    /// A run of no time or of years.
    #[error("a run of {ns} ns of simulated time: write between 1 ns and 13 days")]
    Duration {
        /// Simulated time.
        ns: f64,
    },
}
