//! Growing and shrinking the set of cores in the authors' simulator, one core at a time: it adds the core of highest id, and revokes the
//! idle core of lowest id. `machine` calls it at each tick of the allocation policy. It changes the machine's state only.

use super::machine::{AuthorsMachine, Doing, NOBODY, Next};
use super::setup::Growth;
use crate::engine::tree::NEVER;

impl AuthorsMachine {
    fn every_ns(&self) -> Option<u64> {
        match self.setup.growth {
            Growth::Static | Growth::PerTask => None,
            Growth::Oldest { every_ns, .. }
            | Growth::Delay { every_ns, .. }
            | Growth::Utilization { every_ns, .. } => Some(every_ns),
        }
    }

    /// Decisions are made at multiples of the interval, not counted from the first arrival.
    pub(super) fn first_growth_ns(&self) -> u64 {
        self.every_ns().map_or(NEVER, |every_ns| (self.now_ns / every_ns + 1) * every_ns)
    }

    /// The allocation policy is due.
    pub(super) fn at_growth(&mut self) {
        self.growth_ns = self.every_ns().map_or(NEVER, |every_ns| self.growth_ns + every_ns);
        match self.setup.growth {
            Growth::Static => {}
            Growth::PerTask => {
                self.allocate();
            }
            Growth::Oldest { threshold_ns, .. } => {
                if self.head_ages().any(|age_ns| age_ns > threshold_ns) {
                    self.allocate();
                }
            }
            Growth::Delay { low_ns, high_ns, .. } => {
                let (sum_ns, count) = self.delay();
                if sum_ns > high_ns * count {
                    self.allocate();
                } else if sum_ns < low_ns * count {
                    self.revoke();
                }
            }
            Growth::Utilization { low, high, .. } => {
                let utilization = self.utilization();
                if utilization > high {
                    self.allocate();
                } else if utilization < low {
                    self.revoke();
                }
            }
        }
    }

    /// How long the heads of all queues have waited; of parked cores' queues too.
    fn head_ages(&self) -> impl Iterator<Item = u64> {
        self.queues.iter().filter_map(|queue| Some(self.now_ns - queue.front()?.arrival_ns))
    }

    /// The delay of the delay range: this sum over this many queues.
    fn delay(&self) -> (u64, u64) {
        (self.head_ages().sum(), self.available.len() as u64)
    }

    /// Share of the time of cores that are here that went to requests since the last call, up to the ns
    /// before this one; 1 if there was none.
    fn utilization(&mut self) -> f64 {
        for core in 0..self.cores.len() {
            self.charge(core, self.now_ns - 1);
        }
        let task_ns = std::mem::take(&mut self.window_task_ns);
        match std::mem::take(&mut self.window_busy_ns) {
            0 => 1.0,
            busy_ns => task_ns as f64 / busy_ns as f64,
        }
    }

    /// One core more, if the machine has one.
    fn allocate(&mut self) -> Option<usize> {
        let all = self.parked.len() as usize == self.cores.len();
        let core = if all { self.available[0] as usize } else { self.parked.last()? };
        self.parked.remove(core);
        self.begin(core, Doing::Nothing, self.now_ns);
        self.cores[core].next = Next::Arrive;
        let at_ns = self.notice_ns(core);
        self.turn_at(core, at_ns);
        self.ledger.grants += 1;
        Some(core)
    }

    /// The core of `core` is here.
    pub(super) fn after_allocation(&mut self, core: usize) {
        self.begin(core, Doing::Nothing, self.now_ns + 1);
        let entry = &mut self.cores[core];
        entry.next = Next::Check;
        entry.search_since_ns = None;
        if !self.available.contains(&(core as u32)) {
            self.available.push(core as u32);
        }
        self.turn_at(core, self.now_ns + 1);
    }

    /// One core less, at once and for nothing: the first one that has nothing to do, be it here or not yet.
    fn revoke(&mut self) {
        let spare = (0..self.cores.len()).find(|&core| {
            let entry = &self.cores[core];
            let at_work = matches!(
                entry.doing,
                Doing::Parked
                    | Doing::Request
                    | Doing::Paying
                    | Doing::HandingOver { .. }
                    | Doing::Responding
            );
            let expected = entry.inbound > 0 || entry.flagged_by != NOBODY;
            !at_work && !expected && self.queues[core].is_empty()
        });
        if let Some(core) = spare {
            self.park(core);
        }
    }

    /// Does `core` park by itself after a search that failed?
    pub(super) fn may_park(&self, core: usize) -> bool {
        let short = match self.setup.growth {
            Growth::Delay { high_ns, .. } => {
                let (sum_ns, count) = self.delay();
                sum_ns < high_ns * count
            }
            _ => true,
        };
        self.setup.self_park && short && self.cores[core].inbound == 0
    }

    /// `core` leaves, whatever it does. The last available queue goes on receiving.
    pub(super) fn park(&mut self, core: usize) {
        self.begin(core, Doing::Parked, self.now_ns);
        self.turn_at(core, NEVER);
        self.parked.insert(core);
        if self.available.len() > 1 {
            self.available.retain(|&queue| queue != core as u32);
        }
        if self.setup.growth == Growth::PerTask && self.parked.len() as usize == self.cores.len() {
            // Per-task allocation never leaves a machine without any core for longer than this.
            self.growth_ns = self.now_ns + 1;
        }
    }

    // Per-task allocation.

    /// More requests wait than cores idle; those on their way count as idle.
    fn has_surplus(&self) -> bool {
        let idle = self.cores.len() - self.parked.len() as usize - self.running.len();
        self.queued > idle
    }

    /// A core without a request yields if others have enough idle ones.
    pub(super) fn may_yield(&self) -> bool {
        !self.has_surplus()
    }

    /// A request has arrived at `core`, which is to see whether a new core could have it.
    pub(super) fn mark_for_preemption(&mut self, core: usize) {
        self.ledger.grants_refused += u64::from(self.parked.len() == 0);
        match self.cores[core].doing {
            Doing::Nothing | Doing::Parked => {}
            doing => {
                self.cores[core].preempt = true;
                if doing == Doing::Request {
                    self.turn_at(core, self.now_ns);
                }
            }
        }
    }

    fn can_hand_over(&self, core: usize) -> bool {
        self.has_surplus() && self.parked.len() > 0 && !self.queues[core].is_empty()
    }

    /// The request of `core` stops while that one finds out whether to hand a request to a new core. It counts
    /// itself as busy now and as idle in the end: it may pay, and then keep a lone waiting request.
    pub(super) fn consider_hand_over(&mut self, core: usize) {
        self.cores[core].preempt = false;
        let paid = self.can_hand_over(core);
        self.suspend(core);
        let length_ns = if paid { self.setup.hand_over_ns } else { 1 };
        self.begin_for(core, Doing::HandingOver { paid }, self.now_ns + 1, length_ns);
    }

    /// One request goes to a new core, or not; the suspended one goes on.
    pub(super) fn after_hand_over(&mut self, core: usize, paid: bool) {
        if self.can_hand_over(core)
            && let Some(to) = self.allocate()
            && let Some(request) = self.queues[core].pop_front()
        {
            self.queues[to].push_back(request);
        }
        // What was not paid for took no time: this ns is the request's.
        let from_ns = if paid { self.now_ns + 1 } else { self.now_ns };
        self.resume(core, from_ns);
    }
}
