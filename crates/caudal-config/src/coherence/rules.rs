//! The table itself: every rule, in the order in which they are judged. [`super::check`] goes through it for each system; the pages of
//! the docs print it.

use caudal_policy::Picos;
use caudal_policy::allocation::{AllocationConfig, Grow};
use caudal_policy::discipline::{DisciplineConfig, Lone, Runnable, STARTED_MAX};
use caudal_policy::dispatch::{DispatchConfig, PowerOfKConfig, Ties};
use caudal_policy::parallelism::ParallelismConfig;
use caudal_policy::rebalance::RebalanceConfig;

use super::broken::{
    EPOCH_MIN, allocation_shares_wrong, allocation_times_wrong, central, clairvoyant, clairvoyant_thresholds,
    classes_differ, costs_too_long, empty_band, fluid, is_one_of_both, is_time, lane, numbers_wrong,
    reserved_wrong, retune, several_sharing, sizes_wrong, stalls_too_much, stalls_wrong, steals,
    tail_control, targets_too_long, window_wrong,
};
use super::{PROBE_FACTORS, QUANTUM_MIN, RUNTIME_QUANTUM_MAX, RUNTIME_QUANTUM_MIN, Rule, TIME_MAX};
use crate::{CORES_MAX, EngineLoop, LoopLacks, Pools, Variant};

/// The rule that [`ContextsConfig::fault`](crate::ContextsConfig::fault) has more to say about.
pub(super) const CONTEXTS: &str = "contexts";

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "cores",
        refused: "a machine without cores, or with more than 4096",
        why: "that is the largest machine that is simulated",
        instead: "set `cores` to a number from 1 to 4096",
        runtime_only: false,
        keys: &["system.cores"],
        broken: |system, _| !(1..=CORES_MAX).contains(&system.cores),
    },
    Rule {
        name: "cores-allocated",
        refused: "no allocated core, or more than the machine has",
        why: "an application holds cores of its machine",
        instead: "let `allocation.cores` lie between 1 and `cores`",
        runtime_only: false,
        keys: &["system.allocation.cores", "system.allocation.start", "system.cores"],
        broken: |system, _| !(1..=system.cores).contains(&system.cores_allocated),
    },
    Rule {
        name: "pools",
        refused: "pools that the cores can not be shared out to",
        why: "every core belongs to exactly one pool",
        instead: "write \"per-core\", a divisor of `cores`, or sizes above 0 that sum to `cores`",
        runtime_only: false,
        keys: &["system.pools", "system.cores"],
        broken: |system, _| system.cores <= CORES_MAX && system.pool_sizes().is_none(),
    },
    Rule {
        name: CONTEXTS,
        refused: "hardware contexts that no core has: none or more than 16, more than 4096 of all cores, speeds that fall or are \
                  more than theirs, fewer virtual contexts than contexts, or an adaptation without a table",
        why: "a core with more active contexts does more in all, and each of them less",
        instead: "write fewer: all cores together have at most 4096 contexts",
        runtime_only: false,
        keys: &["system.contexts"],
        broken: |system, _| {
            let too_many = system.workers() > CORES_MAX;
            too_many || system.contexts.as_ref().is_some_and(|contexts| contexts.fault().is_some())
        },
    },
    Rule {
        name: "contexts-alone",
        refused: "hardware contexts with shedding, an allocation policy, a dispatcher that chooses, or the fluid limit of a discipline; \
                  stealing with load adaptation, or with steal checks that take no time",
        why: "a core chooses among its contexts in hardware and without software in between, so nobody counts a core's requests for a dispatcher, \
              or answers another's flag; which contexts are active is what load adaptation says, by the requests that come to the core, and \
              stolen ones do not; the fluid limit has no slices that a context could pay for; a thief whose checks take no time would check \
              for ever",
        instead: "take dispatch \"random\", \"round-robin\" or \"sita\", rebalance \"none\" or \"work-stealing\", allocation \"static\", and a \
                  discipline with a quantum, if it can have one",
        runtime_only: false,
        keys: &[
            "system.contexts",
            "system.discipline",
            "system.dispatch",
            "system.rebalance",
            "system.allocation",
        ],
        broken: |system, costs| {
            let lacks = EngineLoop::Contexts.lacks(system, costs);
            system.contexts.is_some() && lacks == Some(LoopLacks::PolicyOfContexts)
        },
    },
    Rule {
        name: "adaptation",
        refused: "load adaptation with pools that are no cores, or with anything but SQD-SITA, ISQD-SITA or FCFS",
        why: "contexts of a core are switched off together with its queue's arrivals, and lanes with contexts of their own would lose them",
        instead: "set pools = \"per-core\", and discipline \"isqd-sita\"",
        runtime_only: false,
        keys: &["system.contexts.adaptation", "system.pools", "system.discipline"],
        broken: |system, _| {
            let adapts = system.contexts.as_ref().is_some_and(|contexts| contexts.adaptation.is_some());
            let shrinks = matches!(
                system.discipline,
                DisciplineConfig::Fcfs | DisciplineConfig::SqdSita(_) | DisciplineConfig::IsqdSita(_)
            );
            adapts && !(system.pools == Pools::PerCore && shrinks)
        },
    },
    Rule {
        name: "cold-misses",
        refused: "cold misses on cores without contexts",
        why: "only the host of contexts accounts for them",
        instead: "set contexts = { count = 1 }, or cold_miss = \"0\"",
        runtime_only: false,
        keys: &["costs.cold_miss", "system.contexts"],
        broken: |system, costs| system.contexts.is_none() && costs.cold_miss > Picos::ZERO,
    },
    Rule {
        name: "runtime-contexts",
        refused: "hardware contexts in the runtime",
        why: "the operating system shows each of them as a core, and no software sets their speed",
        instead: "write them as cores",
        runtime_only: true,
        keys: &["system.contexts"],
        broken: |system, _| system.contexts.is_some(),
    },
    Rule {
        name: "forks-alone",
        refused: "requests that fork, with pools, a dispatcher, stealing or shedding of requests, hardware contexts, a discipline other \
                  than FCFS or processor sharing in quanta, or with some of the cores left unused; \"default-tbb\" with processor sharing \
                  or an allocation policy; a `lane` with processor sharing",
        why: "tasks of a request go where the parallelism policy says, through a deque for each worker and one queue that workers take from by \
              themselves, so there is no other pool to send a request to and nobody to send it; other disciplines order tasks by what \
              each was served or still needs, which says nothing of a request that is on several cores at a time; no paper says whether \
              contexts of a core share a deque; \"default-tbb\" has no queue for a task whose slice is over, and its random worker may have \
              no core; slices do for small requests what a lane is for",
        instead: "set pools = 1, discipline = \"fcfs\" or \"processor-sharing\" with a quantum, rebalance = \"none\", dispatch = \"random\", \
                  and `cores` to those that are used, or parallelism = \"serial\"",
        runtime_only: false,
        keys: &[
            "system.parallelism",
            "system.pools",
            "system.discipline",
            "system.rebalance",
            "system.dispatch",
            "system.allocation",
            "system.contexts",
            "costs.dispatcher",
        ],
        broken: |system, costs| {
            let lacks = EngineLoop::Forks.lacks(system, costs);
            system.parallelism.forks() && lacks == Some(LoopLacks::PolicyOfForks)
        },
    },
    Rule {
        name: "thresholds",
        refused: "tail-control with neither a `target` nor `thresholds`, or with both",
        why: "a request is large by the threshold of the number of active requests, and that is either given or worked out for a target",
        instead: "write target = \"25ms\", or thresholds = [[1, \"200ms\"], [12, \"60ms\"]], as `caudal threshold` does, with target = \"0\" \
                  beside them where a preset has a target",
        runtime_only: false,
        keys: &["system.parallelism.target", "system.parallelism.thresholds", "system.parallelism"],
        broken: |system, _| tail_control(system).is_some_and(|config| !is_one_of_both(config)),
    },
    Rule {
        name: "thresholds-of-classes",
        refused: "classes of tail-control with neither a `target` nor `thresholds`, with both, or with the one where other requests have the other",
        why: "the thresholds of all classes are chosen together",
        instead: "give each class what the others have, as in target = \"25ms\", classes = { scan = { target = \"400ms\" } }",
        runtime_only: false,
        keys: &["system.parallelism.classes"],
        broken: |system, _| tail_control(system).is_some_and(classes_differ),
    },
    Rule {
        name: "thresholds-rise",
        refused: "`thresholds` whose numbers of active requests do not rise from 1 to 100000",
        why: "each threshold holds from its number of active requests up to the next one's",
        instead: "write as in thresholds = [[1, \"200ms\"], [12, \"60ms\"]]",
        runtime_only: false,
        keys: &["system.parallelism.thresholds", "system.parallelism.classes"],
        broken: |system, _| tail_control(system).is_some_and(numbers_wrong),
    },
    Rule {
        name: "target-range",
        refused: "a `target` of tail-control above an hour",
        why: "no service that is simulated takes so long",
        instead: "is the unit right? write as in target = \"25ms\"",
        runtime_only: false,
        keys: &["system.parallelism.target", "system.parallelism.classes"],
        broken: |system, _| tail_control(system).is_some_and(targets_too_long),
    },
    Rule {
        name: "threshold-scale",
        refused: "a `scale` of thresholds of 0 or below",
        why: "all requests would be large",
        instead: "write a factor such as 0.7, or remove it: then it is 1",
        runtime_only: false,
        keys: &["system.parallelism.scale"],
        broken: |system, _| {
            tail_control(system).is_some_and(|config| !(config.scale > 0.0 && config.scale.is_finite()))
        },
    },
    Rule {
        name: "threshold-age",
        refused: "an `age` of processing times above an hour",
        why: "a worker would never see that a request is large",
        instead: "is the unit right? write as in age = \"50us\", or remove it: then workers see the times of the moment",
        runtime_only: false,
        keys: &["system.parallelism.age"],
        broken: |system, _| tail_control(system).is_some_and(|config| config.age > TIME_MAX),
    },
    Rule {
        name: "retune-target",
        refused: "`retune` without a `target`",
        why: "a table that is worked out anew is one for a target",
        instead: "write target = \"25ms\" instead of `thresholds`, or remove `retune`",
        runtime_only: false,
        keys: &["system.parallelism.retune", "system.parallelism.target"],
        broken: |system, _| retune(system).is_some_and(|(target, _)| target == Picos::ZERO),
    },
    Rule {
        name: "retune-every",
        refused: "`retune.every` below a millisecond, or above an hour",
        why: "working a table out takes a millisecond or two itself",
        instead: "write as in retune = { every = \"1s\", window = \"10s\" }",
        runtime_only: false,
        keys: &["system.parallelism.retune.every", "system.parallelism.retune"],
        broken: |system, _| {
            retune(system).is_some_and(|(_, retune)| !(EPOCH_MIN..=TIME_MAX).contains(&retune.every))
        },
    },
    Rule {
        name: "retune-window",
        refused: "a `retune.window` that is no multiple of `every`, more than 1000 times that, or above an hour",
        why: "completed requests are counted by epochs, which are remembered and forgotten whole",
        instead: "write as in retune = { every = \"1s\", window = \"10s\" }",
        runtime_only: false,
        keys: &[
            "system.parallelism.retune.window",
            "system.parallelism.retune.every",
            "system.parallelism.retune",
        ],
        broken: |system, _| retune(system).is_some_and(|(_, retune)| window_wrong(retune)),
    },
    Rule {
        name: "small-lane",
        refused: "`lane.workers` of 0, or of all workers",
        why: "some workers are kept for small requests, the others do the long ones",
        instead: "write a number from 1 to one less than `cores`, or remove `lane`",
        runtime_only: false,
        keys: &["system.parallelism.lane.workers", "system.cores"],
        broken: |system, _| lane(system).is_some_and(|lane| !(1..system.cores).contains(&lane.workers)),
    },
    Rule {
        name: "small-lane-cutoff",
        refused: "a `lane.cutoff` of 0, or above an hour",
        why: "every request, or none, would be long",
        instead: "write a time such as \"5ms\"",
        runtime_only: false,
        keys: &["system.parallelism.lane.cutoff"],
        broken: |system, _| lane(system).is_some_and(|lane| !is_time(lane.cutoff)),
    },
    Rule {
        name: "clairvoyant-age",
        refused: "`age` where requests are known to be large when they are admitted",
        why: "it never checks the requests that run",
        instead: "remove it, or set policy = \"tail-control\"",
        runtime_only: false,
        keys: &["system.parallelism.age"],
        broken: |system, _| clairvoyant_thresholds(system).is_some_and(|config| config.age > Picos::ZERO),
    },
    Rule {
        name: "clairvoyant-retune",
        refused: "`retune` where requests are known to be large when they are admitted",
        why: "it knows each request's work, its table is one for the workload as it is written",
        instead: "remove it, or set policy = \"tail-control\"",
        runtime_only: false,
        keys: &["system.parallelism.retune"],
        broken: |system, _| clairvoyant_thresholds(system).is_some_and(|config| config.retune.is_some()),
    },
    Rule {
        name: "clairvoyant-lane",
        refused: "`lane` where requests are known to be large when they are admitted",
        why: "it never checks the requests that run",
        instead: "remove it, or set policy = \"tail-control\"",
        runtime_only: false,
        keys: &["system.parallelism.lane"],
        broken: |system, _| clairvoyant_thresholds(system).is_some_and(|config| config.lane.is_some()),
    },
    Rule {
        name: "clairvoyant-span",
        refused: "`span` where requests are known to be large when they are admitted",
        why: "it never checks the requests that run",
        instead: "remove it, or set policy = \"tail-control\"",
        runtime_only: false,
        keys: &["system.parallelism.span"],
        broken: |system, _| clairvoyant_thresholds(system).is_some_and(|config| config.span),
    },
    Rule {
        name: "moving-without-pools",
        refused: "stealing or shedding on a central queue",
        why: "all cores share one queue, there is no other to take from",
        instead: "set pools = \"per-core\", or rebalance = \"none\"",
        runtime_only: false,
        keys: &["system.rebalance", "system.pools"],
        broken: |system, _| central(system) && system.rebalance != RebalanceConfig::None,
    },
    Rule {
        name: "choice-without-pools",
        refused: "a dispatch policy that chooses, on a central queue",
        why: "there is only one queue to choose from",
        instead: "set pools = \"per-core\", or dispatch = \"random\"",
        runtime_only: false,
        keys: &["system.dispatch", "system.pools"],
        broken: |system, _| {
            central(system) && !matches!(system.dispatch, DispatchConfig::Random | DispatchConfig::RoundRobin)
        },
    },
    Rule {
        name: "power-of-k",
        refused: "power of k choices with k = 0, k > 16, or k above the number of pools",
        why: "k different pools are drawn for each request",
        instead: "let k lie between 1 and the number of pools, at most 16; \"jsq\" compares all of them",
        runtime_only: false,
        keys: &["system.dispatch.k", "system.dispatch", "system.pools"],
        broken: |system, _| match system.dispatch {
            DispatchConfig::PowerOfK(PowerOfKConfig { k }) => {
                k == 0 || k > PowerOfKConfig::K_MAX || k > system.pool_count()
            }
            _ => false,
        },
    },
    Rule {
        name: "jbsq-bound",
        refused: "JBSQ with a bound of 0",
        why: "every request would be held for ever",
        instead: "set `bound` to 1 (a single queue) or more; the usual one is 3",
        runtime_only: false,
        keys: &["system.dispatch.bound", "system.dispatch"],
        broken: |system, _| matches!(system.dispatch, DispatchConfig::Jbsq(config) if config.bound == 0),
    },
    Rule {
        name: "msq-without-quanta",
        refused: "MSQ ties with anything but processor sharing in quanta",
        why: "maximum serviced quanta counts the quanta that tasks have received",
        instead: "set ties = \"random\", or discipline = \"processor-sharing\" with a quantum above 0",
        runtime_only: false,
        keys: &["system.dispatch.ties", "system.dispatch", "system.discipline"],
        broken: |system, _| {
            matches!(system.dispatch, DispatchConfig::Jsq(config) if config.ties == Ties::Msq)
                && (fluid(system) || !matches!(system.discipline, DisciplineConfig::ProcessorSharing(_)))
        },
    },
    Rule {
        name: "quantum-range",
        refused: "a quantum below 100 ns, or above an hour",
        why: "a slice that is shorter than the switch at its end does no work",
        instead: "write at least \"100ns\"; 0 is the fluid limit, for the simulator only",
        runtime_only: false,
        keys: &["system.discipline.quantum", "system.discipline"],
        broken: |system, _| {
            system
                .discipline
                .quantum()
                .is_some_and(|q| q > Picos::ZERO && !(QUANTUM_MIN..=TIME_MAX).contains(&q))
        },
    },
    Rule {
        name: "fluid-options",
        refused: "`started_max` or lone = \"yield\" in the fluid limit",
        why: "quantum = 0 has no slices that a task could yield or be held back from",
        instead: "write a quantum of at least \"100ns\", or remove the key",
        runtime_only: false,
        keys: &["system.discipline.started_max", "system.discipline.lone", "system.discipline"],
        broken: |system, _| {
            let lone = match system.discipline {
                DisciplineConfig::ProcessorSharing(config) => config.lone,
                _ => Lone::Elide,
            };
            let holds_back = system.discipline.started_max().is_some_and(|max| max != STARTED_MAX);
            fluid(system) && (holds_back || lone == Lone::Yield)
        },
    },
    Rule {
        name: "started-max",
        refused: "`started_max` of 0",
        why: "nothing could start",
        instead: "set it to 1 or more, or remove it: then it is 32",
        runtime_only: false,
        keys: &["system.discipline.started_max", "system.discipline"],
        broken: |system, _| system.discipline.started_max() == Some(0),
    },
    Rule {
        name: "lanes",
        refused: "lanes without a reservation, or cutoffs that are not one less than the lanes and rising from above 0",
        why: "a lane ends where the next begins, and one without a server would starve",
        instead: "write as in cutoffs = [\"2us\", \"40us\"], reservations = [13, 2, 1]",
        runtime_only: false,
        keys: &["system.discipline.cutoffs", "system.discipline.reservations"],
        broken: |system, _| {
            system.discipline.lanes().is_some_and(|config| {
                config.fault().is_some() || config.cutoffs.iter().any(|&cutoff| !is_time(cutoff))
            })
        },
    },
    Rule {
        name: "reservations",
        refused: "reservations that do not sum to the workers of each pool",
        why: "every worker of a pool is reserved for one lane",
        instead: "let `reservations` sum to the cores of a pool: all of them with pools = 1",
        runtime_only: false,
        keys: &["system.discipline.reservations", "system.pools", "system.cores"],
        broken: |system, _| reserved_wrong(system),
    },
    Rule {
        name: "lanes-of-their-own",
        refused: "preemptive SITA with an allocation policy, or with fewer cores than the machine has",
        why: "a core that is given back would leave its lane, and the tasks there, without a server",
        instead: "set allocation = \"static\", or take \"sqd-sita\" or \"isqd-sita\"",
        runtime_only: false,
        keys: &["system.allocation", "system.discipline"],
        broken: |system, _| {
            matches!(system.discipline, DisciplineConfig::PreemptiveSita(_))
                && (system.allocation != AllocationConfig::Static || system.cores_allocated < system.cores)
        },
    },
    Rule {
        name: "sita-dispatch",
        refused: "SITA dispatch with cutoffs that are not one less than the pools, or not rising",
        why: "each pool is for the service times up to its cutoff, the last one for all longer ones",
        instead: "write as in dispatch = { policy = \"sita\", cutoffs = [\"2us\"] } with pools = [15, 1]",
        runtime_only: false,
        keys: &["system.dispatch.cutoffs", "system.pools"],
        broken: |system, _| sizes_wrong(system),
    },
    Rule {
        name: "sita-dispatch-moves",
        refused: "SITA dispatch with stealing, shedding or an allocation policy",
        why: "requests would not stay in the pool for their size, or find it closed",
        instead: "set rebalance = \"none\" and allocation = \"static\"",
        runtime_only: false,
        keys: &["system.rebalance", "system.allocation", "system.dispatch"],
        broken: |system, _| {
            matches!(system.dispatch, DispatchConfig::Sita(_))
                && (system.rebalance != RebalanceConfig::None
                    || system.allocation != AllocationConfig::Static
                    || system.cores_allocated < system.cores)
        },
    },
    Rule {
        name: "shedding-threshold",
        refused: "a shedding threshold of 0, or above an hour",
        why: "every queue, or none, would count as overloaded",
        instead: "write a time such as \"2us\"",
        runtime_only: false,
        keys: &["system.rebalance.threshold", "system.rebalance"],
        broken: |system, _| match system.rebalance {
            RebalanceConfig::WorkShedding(config) => !is_time(config.threshold),
            RebalanceConfig::StealAndShed(config) => !is_time(config.threshold),
            _ => false,
        },
    },
    Rule {
        name: "empty-band",
        refused: "an allocation band with `low` at or above `high`",
        why: "cores would be granted and revoked in alternation",
        instead: "let `low` lie below `high` (with triggers: shrink below grow)",
        runtime_only: false,
        keys: &[
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.shrink",
            "system.allocation",
        ],
        broken: |system, _| empty_band(system),
    },
    Rule {
        name: "allocation-times",
        refused: "an interval, threshold or delay of 0 or above an hour in an allocation policy",
        why: "decisions need time between them and a delay to be held against",
        instead: "write times such as \"5us\"",
        runtime_only: false,
        keys: &[
            "system.allocation.interval",
            "system.allocation.threshold",
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.grow",
            "system.allocation",
        ],
        broken: |system, _| allocation_times_wrong(system),
    },
    Rule {
        name: "allocation-shares",
        refused: "a share outside 0 to 1, or more idle cores than there are, in an allocation policy",
        why: "utilization is a share of the core time held; idle cores are some of the machine's",
        instead: "write utilization as in low = 0.75, high = 0.95, and 1 to `cores` idle cores",
        runtime_only: false,
        keys: &[
            "system.allocation.low",
            "system.allocation.high",
            "system.allocation.cores",
            "system.allocation.grow",
            "system.allocation",
        ],
        broken: |system, _| allocation_shares_wrong(system),
    },
    Rule {
        name: "per-task-without-stealing",
        refused: "growing by arrivals (\"per-task\", \"no-thief\") without work stealing",
        why: "tasks that queue once all cores are held would have to be found by the others",
        instead: "set rebalance = \"work-stealing\"",
        runtime_only: false,
        keys: &["system.allocation", "system.rebalance"],
        broken: |system, _| {
            let by_arrival = |grow| matches!(grow, Grow::Arrival | Grow::NoThief);
            !steals(system) && system.allocation.triggers().is_some_and(|triggers| by_arrival(triggers.grow))
        },
    },
    Rule {
        name: "part-of-a-pool",
        refused: "changing or holding back cores where pools have several cores each",
        why: "it is open which pool would lose a core",
        instead: "set pools = \"per-core\" or 1, or hold all cores: allocation = \"static\"",
        runtime_only: false,
        keys: &["system.allocation", "system.pools"],
        broken: |system, _| {
            several_sharing(system)
                && (system.allocation != AllocationConfig::Static || system.cores_allocated < system.cores)
        },
    },
    Rule {
        name: "fluid-allocation",
        refused: "an allocation policy with a fluid discipline",
        why: "fluid sharing is defined for a fixed number of cores",
        instead: "write a quantum of at least \"100ns\", or allocation = \"static\"",
        runtime_only: false,
        keys: &["system.allocation", "system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system) && system.allocation != AllocationConfig::Static,
    },
    Rule {
        name: "fluid-rebalance",
        refused: "stealing or shedding with a fluid discipline",
        why: "in the fluid limit every task has started, and only fresh ones are moved",
        instead: "write a quantum of at least \"100ns\", or rebalance = \"none\"",
        runtime_only: false,
        keys: &["system.rebalance", "system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system) && system.rebalance != RebalanceConfig::None,
    },
    Rule {
        name: "authors-simulator",
        refused: "the authors' variant with a discipline or a dispatch policy that their simulator lacks",
        why: "it knows first come first served with random, power-of-k and JBSQ dispatch",
        instead: "remove variant = \"authors-simulator\"",
        runtime_only: false,
        keys: &["system.variant"],
        broken: |system, _| {
            let known = matches!(
                system.dispatch,
                DispatchConfig::Random | DispatchConfig::PowerOfK(_) | DispatchConfig::Jbsq(_)
            );
            system.variant == Variant::AuthorsSimulator
                && !(known && system.discipline == DisciplineConfig::Fcfs)
        },
    },
    Rule {
        name: "cost-range",
        refused: "a cost above one second",
        why: "overheads are nanoseconds to milliseconds",
        instead: "is the unit right? write as in preemption = \"40ns\"",
        runtime_only: false,
        keys: &[
            "costs.steal_check",
            "costs.steal",
            "costs.shed",
            "costs.enqueue",
            "costs.hand_over",
            "costs.core_allocation",
            "costs.preemption",
            "costs.overrun",
            "costs.dispatcher",
            "costs.dispatcher_quantum",
            "costs.cold_miss",
            "costs.fork",
            "costs.look",
            "costs.start",
            "costs.finish",
            "costs.hop",
            "costs.wake_up",
            "costs.sleep_after",
        ],
        broken: costs_too_long,
    },
    Rule {
        name: "stall-lengths",
        refused: "`stalls.lengths` whose shares do not rise from 0 to 1, whose lengths fall, are all 0, or exceed a second",
        why: "each pair is a share of all stalls and the length that so many do not exceed",
        instead: "write as in stalls = { rate = \"1200/s\", lengths = [[0, \"1.5us\"], [0.5, \"4us\"], [1, \"85us\"]] }, as `caudal \
                  calibrate` does",
        runtime_only: false,
        keys: &["costs.stalls.lengths", "costs.stalls"],
        broken: |_, costs| stalls_wrong(costs),
    },
    Rule {
        name: "stall-share",
        refused: "stalls that take more than 95 % of a core's time",
        why: "what is left of such a core is too little to say anything of",
        instead: "write a lower `rate`; is the unit of the lengths right?",
        runtime_only: false,
        keys: &["costs.stalls.rate", "costs.stalls.lengths", "costs.stalls"],
        broken: |_, costs| stalls_too_much(costs),
    },
    Rule {
        name: "measured-costs",
        refused: "`start`, `finish`, `hop`, `wake_up` or `stalls` with hardware contexts, requests that fork, the fluid limit of \
                  a discipline, or the authors' variant",
        why: "their hosts do not account for them",
        instead: "set these costs to 0 for this system, and remove `stalls`",
        runtime_only: false,
        keys: &[
            "costs.start",
            "costs.finish",
            "costs.hop",
            "costs.wake_up",
            "costs.stalls",
            "system.contexts",
            "system.parallelism",
            "system.discipline.quantum",
            "system.discipline",
            "system.variant",
        ],
        broken: |system, costs| !EngineLoop::of(system).accounts_for(system, costs),
    },
    Rule {
        name: "probe-factor",
        refused: "a `probe_factor` below 1, or above 100",
        why: "instrumentation stretches service times by this factor",
        instead: "write 1 for none, 1.1 for 10 % more",
        runtime_only: false,
        keys: &["costs.probe_factor"],
        broken: |_, costs| !PROBE_FACTORS.contains(&costs.probe_factor),
    },
    Rule {
        name: "runtime-clairvoyant",
        refused: "SRPT, least-work or SITA dispatch, or clairvoyant tail-control, in the runtime",
        why: "they know service times in advance, which no real service does",
        instead: "take \"las\" or \"processor-sharing\", and \"jsq\" dispatch",
        runtime_only: true,
        keys: &["system.discipline", "system.dispatch", "system.parallelism"],
        broken: |system, _| clairvoyant(system),
    },
    Rule {
        name: "runtime-fluid",
        refused: "quantum = 0 in the runtime",
        why: "a real core runs one task at a time",
        instead: "write a quantum such as \"2us\"",
        runtime_only: true,
        keys: &["system.discipline.quantum", "system.discipline"],
        broken: |system, _| fluid(system),
    },
    Rule {
        name: "runtime-quantum",
        refused: "a quantum below 0.5 us or above 0.1 s in the runtime",
        why: "a slice would be little longer than what ends it, or longer than any request that somebody waits for",
        instead: "write a quantum from \"0.5us\" to \"100ms\"; to interrupt never, set discipline = \"fcfs\"",
        runtime_only: true,
        keys: &["system.discipline.quantum", "system.discipline"],
        broken: |system, _| {
            let range = RUNTIME_QUANTUM_MIN..=RUNTIME_QUANTUM_MAX;
            !fluid(system) && system.discipline.quantum().is_some_and(|quantum| !range.contains(&quantum))
        },
    },
    Rule {
        name: "runtime-pools",
        refused: "pools of several cores in the runtime",
        why: "workers share no queue, so that none waits for another's lock",
        instead: "set pools = \"per-core\", with dispatch = { policy = \"jbsq\", bound = 1 } where one queue for all is meant; with \
                  \"jsq\" if handlers wait for further requests, which a bound may keep from ever starting",
        runtime_only: true,
        keys: &["system.pools"],
        broken: |system, _| system.pool_count() != system.cores,
    },
    Rule {
        name: "runtime-lanes",
        refused: "lanes by time served in the runtime",
        why: "it does not move started requests from lane to lane yet",
        instead: "take \"processor-sharing\" or \"las\"",
        runtime_only: true,
        keys: &["system.discipline"],
        broken: |system, _| !clairvoyant(system) && Runnable::of(system.discipline).is_none(),
    },
    Rule {
        name: "runtime-forks",
        refused: "requests that fork in the runtime",
        why: "it does not share out the tasks of a request yet",
        instead: "set parallelism = \"serial\"",
        runtime_only: true,
        keys: &["system.parallelism"],
        broken: |system, _| system.parallelism != ParallelismConfig::Serial,
    },
    Rule {
        name: "runtime-allocation",
        refused: "an allocation policy in the runtime",
        why: "the runtime holds its cores all the time, for now",
        instead: "set allocation = \"static\"",
        runtime_only: true,
        keys: &["system.allocation"],
        broken: |system, _| system.allocation != AllocationConfig::Static,
    },
    Rule {
        name: "runtime-variant",
        refused: "the authors' variant in the runtime",
        why: "it selects a simulator, not a scheduling policy",
        instead: "remove variant = \"authors-simulator\"",
        runtime_only: true,
        keys: &["system.variant"],
        broken: |system, _| system.variant == Variant::AuthorsSimulator,
    },
];
