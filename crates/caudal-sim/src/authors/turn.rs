//! The turn of one core at one nanosecond in the authors' simulator: its work goes on, ends or is interrupted, and other work begins.
//! `machine` calls it for each core that has something to do, in the order of ids.

use super::machine::{AuthorsMachine, Doing, NOBODY, Next, Task};
use super::setup::{Balance, Growth};
use crate::engine::tree::NEVER;

impl AuthorsMachine {
    /// The turn of `core` at this ns.
    pub(super) fn turn(&mut self, core: usize) {
        match self.cores[core].doing {
            Doing::Nothing => self.begin_next(core),
            Doing::Request => self.after_request_ns(core),
            Doing::Spinning => self.after_spin_ns(core),
            Doing::Walking => self.after_walk_ns(core),
            Doing::Stealing => self.after_steal(core),
            Doing::Paying => self.after_payment(core),
            Doing::HandingOver { paid } => self.after_hand_over(core, paid),
            Doing::Responding => self.after_response(core),
            Doing::Arriving => self.after_allocation(core),
            Doing::Parked => {}
        }
    }

    /// A core that does nothing begins something, with this ns as its first one.
    pub(super) fn begin_next(&mut self, core: usize) {
        if self.cores[core].owed > 0 {
            return self.pay(core, self.now_ns);
        }
        match self.cores[core].next {
            Next::Check => {
                if !self.answer_flags(core) {
                    self.check_queue(core);
                }
            }
            Next::CheckQueue => {
                self.cores[core].next = Next::Check;
                self.check_queue(core);
            }
            Next::LastCheck => {
                if !self.take(core) {
                    self.give_up(core);
                }
            }
            Next::GiveUp => self.give_up(core),
            Next::Arrive => {
                self.begin_for(core, Doing::Arriving, self.now_ns, self.setup.allocation_ns);
            }
        }
    }

    /// `core` checks its own queue; if that is empty, it searches elsewhere or idles.
    fn check_queue(&mut self, core: usize) {
        let now_ns = self.now_ns;
        if self.take(core) {
            return;
        }
        self.cores[core].search_since_ns.get_or_insert(now_ns);
        match (self.setup.balance, self.setup.growth) {
            (Balance::Steal, Growth::PerTask) if self.may_yield() => self.park(core),
            (Balance::Steal, _) => self.start_walk(core),
            _ => self.spin(core),
        }
    }

    /// `core` runs the head of its queue, if there is one.
    pub(super) fn take(&mut self, core: usize) -> bool {
        if let Balance::Jbsq { waiting } = self.setup.balance {
            self.pull(core, waiting);
        }
        let Some(request) = self.queue(core).pop_front() else { return false };
        self.queued -= 1;
        let now_ns = self.now_ns;
        self.begin_for(core, Doing::Request, now_ns, request.service_ns);
        let entry = &mut self.cores[core];
        entry.task = Some(Task { request, started_ns: now_ns, left_ns: 0 });
        entry.next = Next::Check;
        entry.search_since_ns = None;
        if entry.preempt && entry.until_ns > now_ns {
            // A mark that was set before is seen in the request's second ns.
            self.turn_at(core, now_ns + 1);
        }
        true
    }

    /// JBSQ: a core that takes a request fills its queue up first, so that `waiting` remain.
    fn pull(&mut self, core: usize, waiting: usize) {
        let queue = &mut self.queues[core];
        while queue.len() <= waiting {
            let Some(request) = self.centre.pop_front() else { return };
            queue.push_back(request);
        }
    }

    fn after_request_ns(&mut self, core: usize) {
        if self.cores[core].until_ns == self.now_ns {
            self.complete(core);
        } else {
            self.interrupt(core);
        }
    }

    pub(super) fn complete(&mut self, core: usize) {
        self.begin(core, Doing::Nothing, self.now_ns + 1);
        self.turn_at(core, self.now_ns + 1);
        self.ledger.completed += 1;
        if let Some(task) = self.cores[core].task.take() {
            self.records.completed(task.request, task.started_ns, self.now_ns);
        }
    }

    /// The request of `core` has had this ns; is it interrupted?
    pub(super) fn interrupt(&mut self, core: usize) {
        if self.cores[core].owed > 0 {
            self.suspend(core);
            self.pay(core, self.now_ns + 1);
        } else if self.cores[core].preempt {
            self.consider_hand_over(core);
        } else {
            self.turn_at(core, self.cores[core].until_ns);
        }
    }

    /// The request of `core` stops after this ns. The caller says what begins.
    pub(super) fn suspend(&mut self, core: usize) {
        let entry = &mut self.cores[core];
        let left_ns = entry.until_ns - self.now_ns;
        if let Some(task) = &mut entry.task {
            task.left_ns = left_ns;
        }
    }

    /// The suspended request of `core` goes on with `from_ns`, which is this ns or the next one.
    pub(super) fn resume(&mut self, core: usize, from_ns: u64) {
        let left_ns = self.cores[core].task.map_or(1, |task| task.left_ns);
        self.begin_for(core, Doing::Request, from_ns, left_ns);
        self.after_request_ns(core);
    }

    /// `core` idles, beginning with this ns.
    fn spin(&mut self, core: usize) {
        if self.cores[core].flagged_by != NOBODY {
            self.answer_flags(core);
            return;
        }
        self.begin(core, Doing::Spinning, self.now_ns);
        let until_ns =
            if self.setup.self_park { self.now_ns + self.setup.search_min_ns.max(1) - 1 } else { NEVER };
        self.cores[core].until_ns = until_ns;
        self.turn_at(core, until_ns);
    }

    /// An idle core checks before each ns. The ns in which it finds something is charged to both.
    fn after_spin_ns(&mut self, core: usize) {
        let now_ns = self.now_ns;
        if self.cores[core].flagged_by != NOBODY || self.has_work(core) {
            self.begin(core, Doing::Nothing, now_ns + 1);
            self.window_busy_ns -= 1;
            self.cores[core].next = Next::Check;
            self.begin_next(core);
        } else if self.cores[core].until_ns == now_ns {
            self.begin(core, Doing::Nothing, now_ns + 1);
            self.cores[core].next = Next::GiveUp;
            self.turn_at(core, now_ns + 1);
        } else {
            self.turn_at(core, self.cores[core].until_ns);
        }
    }

    /// The search of `core` has failed: it parks, or begins a new one.
    fn give_up(&mut self, core: usize) {
        if self.may_park(core) {
            return self.park(core);
        }
        let entry = &mut self.cores[core];
        entry.search_since_ns = None;
        entry.next = Next::Check;
        self.begin_next(core);
    }
}
