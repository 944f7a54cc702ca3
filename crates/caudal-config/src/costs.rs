//! The costs of scheduling on a machine: every overhead that the papers name, and those that the runtime's measured runs need beside
//! them. `costs_file` and `plan` read it from `[costs]`; the simulator charges each action by it. Data only.

use caudal_policy::Picos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Stalls;

/// The `[costs]` table. Defaults are the papers' values, and 0 for costs that the papers do not have; `caudal calibrate` measures
/// the costs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Costs {
    /// A thief checks one other queue (100 ns; McClure et al., NSDI 2022, section 4.1).
    pub steal_check: Picos,
    /// A thief moves the tasks that it found (100 ns; same).
    pub steal: Picos,
    /// A flagged worker moves tasks from the overloaded queue (100 ns; same).
    pub shed: Picos,
    /// The worker where a request lands places it at another one: power of *k* choices (100 ns; same).
    pub enqueue: Picos,
    /// The worker where a request lands hands it to a new core: per-task allocation (100 ns; same).
    pub hand_over: Picos,
    /// From the decision to grow until the core can run; it is held for that time (5 us; same).
    pub core_allocation: Picos,
    /// A worker stops one task and switches to the next (40 ns: a coroutine's yield, the upper end of Luo et
    /// al., ASPLOS 2024, section 4).
    pub preemption: Picos,
    /// The time that a stopped task waits for memory when it runs again, because its caches are cold (0; Mirhosseini et
    /// al., HPCA 2020, section 2.3 take 1 us). For cores with contexts.
    pub cold_miss: Picos,
    /// Mean time that a task runs beyond the end of its quantum before it stops (0; Luo et al., Table 3
    /// measure 902 cycles, 430 ns at 2.1 GHz, which the preset `tiny-quanta` takes).
    pub overrun: Picos,
    /// The factor by which instrumentation stretches service times (1; Luo et al., Table 3: 1.10). At least 1.
    pub probe_factor: f64,
    /// A dedicated dispatcher spends this on each request, one at a time (0: none; Luo et al. 71 ns).
    pub dispatcher: Picos,
    /// A dedicated dispatcher spends this on each further quantum (0; Shinjuku's hands out every one).
    pub dispatcher_quantum: Picos,
    /// A request forks: one task becomes two, and they are joined again (25 ns: libfork; oneTBB takes 95 ns, Rayon 9 ns).
    pub fork: Picos,
    /// A worker that checks what others run reads one of their entries: tail-control (20 ns; ours).
    pub look: Picos,
    /// A worker takes a request from its inbox, gives it a coroutine and begins to run it, before its first quantum (0: part of the
    /// service time).
    pub start: Picos,
    /// A worker does the accounting of a completed request, and tells the thread or request that waits for it, before it begins the next (0: part
    /// of the service time).
    pub finish: Picos,
    /// From the dispatcher, or the thread that submits a request, to the worker's inbox: it delays the request and takes no core's time
    /// (0: at once).
    pub hop: Picos,
    /// The time from the arrival of a request at a sleeping worker until the worker begins with it (0: no worker sleeps).
    pub wake_up: Picos,
    /// The time without work after which a worker sleeps, if `wake_up` is not 0 (0: at once). Checking other workers for tasks
    /// counts as work.
    pub sleep_after: Picos,
    /// Times at which the machine takes a core away: `stalls = { rate = "1200/s", lengths = [[0, "1.5us"], [0.5, "4us"],
    /// [1, "85us"]] }` (none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
}

impl Default for Costs {
    fn default() -> Self {
        let check = Picos::from_nanos(100);
        Costs {
            steal_check: check,
            steal: check,
            shed: check,
            enqueue: check,
            hand_over: check,
            core_allocation: Picos::from_micros(5),
            preemption: Picos::from_nanos(40),
            cold_miss: Picos::ZERO,
            overrun: Picos::ZERO,
            probe_factor: 1.0,
            dispatcher: Picos::ZERO,
            dispatcher_quantum: Picos::ZERO,
            fork: Picos::from_nanos(25),
            look: Picos::from_nanos(20),
            start: Picos::ZERO,
            finish: Picos::ZERO,
            hop: Picos::ZERO,
            wake_up: Picos::ZERO,
            sleep_after: Picos::ZERO,
            stalls: None,
        }
    }
}

impl Costs {
    /// Costs of 0, for ideal reference systems.
    pub const FREE: Costs = Costs {
        steal_check: Picos::ZERO,
        steal: Picos::ZERO,
        shed: Picos::ZERO,
        enqueue: Picos::ZERO,
        hand_over: Picos::ZERO,
        core_allocation: Picos::ZERO,
        preemption: Picos::ZERO,
        cold_miss: Picos::ZERO,
        overrun: Picos::ZERO,
        probe_factor: 1.0,
        dispatcher: Picos::ZERO,
        dispatcher_quantum: Picos::ZERO,
        fork: Picos::ZERO,
        look: Picos::ZERO,
        start: Picos::ZERO,
        finish: Picos::ZERO,
        hop: Picos::ZERO,
        wake_up: Picos::ZERO,
        sleep_after: Picos::ZERO,
        stalls: None,
    };

    /// Are all costs 0 that only measured runs need: of a request's start and end, of the path to a worker, of sleep, and stalls?
    pub fn is_plain(&self) -> bool {
        let Costs { start, finish, hop, wake_up, stalls, .. } = self;
        [start, finish, hop, wake_up].iter().all(|&&cost| cost == Picos::ZERO) && stalls.is_none()
    }
}
