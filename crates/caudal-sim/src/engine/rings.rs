//! Pools of one worker under processor sharing, by leaps: an event for each completion, none for quanta.

use caudal_policy::TaskId;
use caudal_policy::discipline::round_robin::{Ring, Turns};

use super::core::{Core, Phase, work_ps};
use super::observe::Sink;
use super::scheduling::{Expired, Scheduling};

/// One ring a worker; pool and worker have the same number.
pub(super) struct Rings {
    rings: Box<[Ring]>,
    stretch: f64,
    /// May a worker answer flags, place requests or steal? Then its ring is told when it may not run.
    switch_ps: u64,
}

impl Rings {
    pub(super) fn new(workers: usize, turns: Turns, stretch: f64) -> Rings {
        let rings = (0..workers).map(|_| Ring::new(turns)).collect();
        Rings { rings, stretch, switch_ps: turns.switch_ps }
    }

    /// The event of `worker` is its next completion.
    #[inline(always)]
    fn reschedule<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) {
        if let Some(end_ps) = self.rings[worker].next_completion_ps() {
            core.workers[worker].phase = Phase::Running;
            core.schedule(worker, end_ps);
        }
    }

    #[inline(always)]
    fn mark<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) {
        if core.walks {
            core.mark_stealable(worker, self.rings[worker].unstarted() > 0);
        }
    }
}

impl Scheduling for Rings {
    #[inline(always)]
    fn arrive<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
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
                ring.advance(now_ps);
                ring.admit(now_ps, TaskId(task), work_ps);
                self.reschedule(core, pool);
            }
            // It looks for work elsewhere or pays for something: the ring begins when that is over.
            _ => ring.admit_unstarted(TaskId(task), work_ps),
        }
        self.mark(core, pool);
    }

    #[inline(always)]
    fn expire<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> Expired {
        let done = self.rings[worker].complete();
        core.workers[worker].phase = Phase::Between;
        let task = done.task.0;
        let entry = &mut core.tasks[task];
        entry.queued_ps = done.first_ps - entry.arrival_ps;
        entry.preemptions = done.preemptions as u32;
        let work_ps = work_ps(entry.service_ps, self.stretch);
        core.account.busy_ps += u128::from(work_ps);
        core.account.preemptions += done.preemptions;
        core.account.switching_ps += u128::from(done.preemptions * self.switch_ps);
        core.complete(worker, task, self.stretch);
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
        if core.workers[pool].phase == Phase::Running {
            self.rings[pool].advance(core.now_ps);
        }
        self.mark(core, pool);
        self.rings[pool].unstarted() as u32
    }

    fn take<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u32> {
        let running = core.workers[pool].phase == Phase::Running;
        if running {
            self.rings[pool].advance(core.now_ps);
        }
        let task = self.rings[pool].take_unstarted();
        if running {
            self.reschedule(core, pool);
        }
        self.mark(core, pool);
        task.map(|task| task.0)
    }

    fn put<O: Sink>(&mut self, core: &mut Core<O>, pool: usize, task: u32) {
        let work_ps = core.tasks[task].remaining_ps;
        self.rings[pool].admit_front(TaskId(task), work_ps);
        self.mark(core, pool);
    }

    fn delay<O: Sink>(&mut self, core: &mut Core<O>, worker: usize, cost_ps: u64) {
        let ring = &mut self.rings[worker];
        ring.advance(core.now_ps);
        ring.delay(cost_ps);
        self.reschedule(core, worker);
    }

    fn oldest_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> Option<u64> {
        let ring = &mut self.rings[pool];
        if core.workers[pool].phase == Phase::Running {
            ring.advance(core.now_ps);
        }
        ring.waiting().map(|task| core.tasks[task.0].arrival_ps).min()
    }

    #[inline]
    fn serviced_quanta<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let ring = &mut self.rings[pool];
        if core.workers[pool].phase == Phase::Running {
            ring.advance(core.now_ps);
        }
        ring.serviced_quanta()
    }

    fn work_left_ps<O: Sink>(&mut self, core: &mut Core<O>, pool: usize) -> u64 {
        let ring = &mut self.rings[pool];
        if core.workers[pool].phase == Phase::Running {
            ring.advance(core.now_ps);
        }
        ring.left_ps(core.now_ps)
    }

    fn unbooked_ps<O: Sink>(&mut self, core: &mut Core<O>, worker: usize) -> u64 {
        let ring = &mut self.rings[worker];
        ring.advance(core.now_ps);
        ring.done_ps(core.now_ps)
    }

    fn queued<O: Sink>(&self, _core: &Core<O>) -> u32 {
        self.rings.iter().map(|ring| ring.waiting().count() as u32).sum()
    }

    fn has_waiting(&self, pool: usize) -> bool {
        self.rings[pool].waiting().next().is_some()
    }
}
