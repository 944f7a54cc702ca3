//! The short cut for pools of one worker under processor sharing: an event for each completion, none for quanta. The engine puts such
//! pools under the host of the general loop, when `route` says so.

use caudal_policy::TaskId;
use caudal_policy::discipline::ProcessorSharingConfig;
use caudal_policy::discipline::round_robin::{Ring, Slicing};

use crate::engine::general::core::{Core, Phase};
use crate::engine::general::scheduling::{Expired, Scheduling};
use crate::engine::kernel::observe::Sink;
use crate::engine::kernel::run::Run;

/// One ring a worker; pool and worker have the same number.
pub(in crate::engine) struct Rings {
    rings: Box<[Ring]>,
    stretch: f64,
    switch_ps: u64,
    /// By worker: it pays for something until then, and its ring has been put off by that.
    paused_until_ps: Box<[u64]>,
}

impl Rings {
    /// The pools of `run`, whose cores slice their time as `config` says.
    pub(in crate::engine) fn of(run: &Run<'_>, config: &ProcessorSharingConfig) -> Rings {
        let slicing = Slicing {
            slice_ps: config.quantum.0.saturating_add(run.costs.overrun.0),
            switch_ps: run.costs.preemption.0,
            fresh: config.fresh,
            lone: config.lone,
            started_max: config.started_max,
        };
        Rings::new(run.system.cores as usize, slicing, run.costs.probe_factor)
    }

    fn new(workers: usize, slicing: Slicing, stretch: f64) -> Rings {
        let rings = (0..workers).map(|_| Ring::new(slicing)).collect();
        let paused_until_ps = vec![0; workers].into_boxed_slice();
        Rings { rings, stretch, switch_ps: slicing.switch_ps, paused_until_ps }
    }

    /// The time to which what a ring has done counts: a ring that was put off has done what it had done
    /// before.
    #[inline(always)]
    fn worked_until_ps<O: Sink>(&self, core: &Core<O>, worker: usize) -> u64 {
        core.now_ps.max(self.paused_until_ps[worker])
    }

    /// The event of `worker` is its next completion.
    #[inline(always)]
    fn reschedule<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) {
        if let Some(end_ps) = self.rings[worker].next_completion_ps() {
            core.workers[worker].phase = Phase::Running;
            core.schedule(worker, end_ps);
        }
    }

    /// Brings the ring of `worker`, if it rotates, to where it stands in the order of events.
    #[inline(always)]
    fn advance<O: Sink>(&mut self, core: &Core<O>, worker: usize) {
        if core.workers[worker].phase == Phase::Running {
            self.rings[worker].advance(Self::seen_ps(core, worker));
        }
    }

    /// Now, for the ring of `worker`: a slice that ends now has ended for workers with a higher id, and for
    /// ticks.
    #[inline(always)]
    fn seen_ps<O: Sink>(core: &Core<O>, worker: usize) -> u64 {
        core.now_ps + u64::from((worker as u32) < core.acting)
    }

    #[inline(always)]
    fn mark<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) {
        if core.walks {
            core.mark_stealable(worker, self.rings[worker].unstarted() > 0);
            core.mark_waiting(worker, !self.rings[worker].is_empty());
        }
    }
}

impl Scheduling for Rings {
    const ASKS_IDLE: bool = false;

    #[inline(always)]
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        self.advance(core, pool);
        let now_ps = core.now_ps;
        let ring = &mut self.rings[pool];
        let work_ps = core.tasks[task].remaining_ps;
        match core.workers[pool].phase {
            Phase::Idle => {
                core.leave_idle(pool);
                ring.admit(now_ps, TaskId(task), work_ps);
                self.reschedule(core, pool);
            }
            Phase::Running => {
                ring.admit(now_ps, TaskId(task), work_ps);
                self.reschedule(core, pool);
            }
            // It searches for work elsewhere or pays for something: the ring begins when that is over.
            _ => ring.admit_unstarted(TaskId(task), work_ps),
        }
        self.mark(core, pool);
    }

    #[inline(always)]
    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired {
        let done = self.rings[worker].complete();
        core.workers[worker].phase = Phase::Between;
        let task = done.task.0;
        let mut entry = core.tasks.remove(task);
        entry.queued_ps = done.first_ps - entry.arrival_ps;
        entry.preemptions = done.preemptions as u32;
        core.account.busy_ps += u128::from(entry.remaining_ps);
        core.account.preemptions += done.preemptions;
        core.account.switching_ps += u128::from(done.preemptions * self.switch_ps);
        core.account_for(worker, &entry, self.stretch);
        self.mark(core, worker);
        Expired::Completed(task)
    }

    #[inline(always)]
    fn free<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> bool {
        let ring = &mut self.rings[worker];
        if ring.is_empty() {
            return false;
        }
        core.leave_idle(worker);
        ring.start(core.now_ps);
        self.reschedule(core, worker);
        self.mark(core, worker);
        true
    }

    fn stealable<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u32 {
        self.advance(core, pool);
        self.mark(core, pool);
        self.rings[pool].unstarted() as u32
    }

    fn take<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32> {
        let running = core.workers[pool].phase == Phase::Running;
        self.advance(core, pool);
        let task = self.rings[pool].take_unstarted();
        if running {
            self.reschedule(core, pool);
        }
        self.mark(core, pool);
        task.map(|task| task.0)
    }

    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32, _more: u32) {
        let work_ps = core.tasks[task].remaining_ps;
        self.rings[pool].admit_front(TaskId(task), work_ps);
        self.mark(core, pool);
    }

    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64) {
        self.advance(core, worker);
        self.paused_until_ps[worker] = self.worked_until_ps(core, worker) + cost_ps;
        self.rings[worker].delay(cost_ps);
        self.reschedule(core, worker);
    }

    fn oldest_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u64> {
        self.advance(core, pool);
        let ring = &mut self.rings[pool];
        ring.waiting().map(|task| core.tasks[task.0].arrival_ps).min()
    }

    #[inline]
    fn serviced_quanta<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        self.advance(core, pool);
        self.rings[pool].serviced_quanta()
    }

    #[inline(always)]
    fn serviced_quanta_above<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, bound: u64) -> Option<u64> {
        let ring = &self.rings[pool];
        if core.workers[pool].phase == Phase::Running {
            return ring.serviced_quanta_above(Self::seen_ps(core, pool), bound);
        }
        Some(ring.serviced_quanta()).filter(|&quanta| quanta > bound)
    }

    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        self.advance(core, pool);
        self.rings[pool].left_ps(self.worked_until_ps(core, pool))
    }

    fn unaccounted_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64 {
        self.advance(core, worker);
        self.rings[worker].done_ps(self.worked_until_ps(core, worker))
    }

    fn queued<O: Sink>(&mut self, core: &mut Core<O>) -> u32 {
        (0..self.rings.len()).for_each(|worker| self.advance(core, worker));
        self.rings.iter().map(|ring| ring.waiting().count() as u32).sum()
    }

    fn has_waiting(&self, pool: usize) -> bool {
        self.rings[pool].waiting().next().is_some()
    }
}
