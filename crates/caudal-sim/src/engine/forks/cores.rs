//! The grants and revocations of cores for an application whose requests fork: what its allocation policy sees, and how its answer is
//! carried out. The loop calls it at each tick, and when a worker finds nothing to do.
//!
//! A core that is here and finds nothing to do spins for as long as a walk over the other cores takes, and then asks. A core is given back
//! only while nothing waits in the queue and nothing can be stolen, so a worker without a core has an empty deque.

use std::cell::RefCell;

use caudal_policy::allocation::{Allocation, Application, CoreDemand, Triggered, Triggers};
use caudal_policy::parallelism::Parallelism;
use caudal_policy::random::Draw;
use caudal_policy::{Instant, Picos};

use super::Forks;
use super::site::{ForksSite, Phase};
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::observe::{Event, Sink};
use crate::engine::kernel::tree::NEVER;
use crate::engine::kernel::window::Audit;

/// The cores that the application holds, and the policy that decides about them.
pub(super) struct Grants {
    policy: Triggered,
    /// Held, those on their way included.
    held: BitSet,
    /// Here, and open to work.
    open: BitSet,
    next_tick_ps: Option<u64>,
    /// Busy time and held time, without cores on their way, at the last tick, in ps.
    at_tick_ps: (u128, u128),
}

impl Grants {
    pub(super) fn new(triggers: Triggers, workers: usize) -> Grants {
        let policy = Triggered::new(triggers);
        let next_tick_ps = policy.interval().map(|every| every.0);
        Grants {
            policy,
            held: BitSet::new(workers),
            open: BitSet::new(workers),
            next_tick_ps,
            at_tick_ps: (0, 0),
        }
    }

    /// When the policy checks the demand for cores next, in ps.
    pub(super) fn next_tick_ps(&self) -> Option<u64> {
        self.next_tick_ps
    }

    /// A random worker other than `worker` that has a core; itself if there is none.
    pub(super) fn other(&self, worker: usize, draw: &mut Draw) -> usize {
        let others = self.open.len() - u32::from(self.open.contains(worker));
        if others == 0 {
            return worker;
        }
        let drawn = self.open.nth(draw.below(others));
        if drawn < worker {
            return drawn;
        }
        // Counted without the worker itself.
        self.open.first_from(drawn + 1).unwrap_or(drawn)
    }
}

/// The application as an allocation policy sees it.
struct ForksApplication<'a, O, const MORE: bool> {
    site: RefCell<&'a mut ForksSite<O, MORE>>,
    held: &'a BitSet,
    open: &'a BitSet,
    at_tick_ps: (u128, u128),
}

impl<O: Sink, const MORE: bool> ForksApplication<'_, O, MORE> {
    /// When the request arrived that has waited longest in the queue, in ps.
    fn oldest_ps(&self) -> Option<u64> {
        let site = self.site.borrow();
        site.queue.requests().map(|request| site.requests.get(request).arrival_ps).min()
    }

    fn delay(&self) -> Picos {
        let now_ps = self.site.borrow().now_ps;
        Picos(self.oldest_ps().map_or(0, |oldest_ps| now_ps - oldest_ps))
    }
}

impl<O: Sink, const MORE: bool> Application for ForksApplication<'_, O, MORE> {
    fn cores(&self) -> u32 {
        self.held.len()
    }

    fn spare(&self) -> u32 {
        self.site.borrow().workers.len() as u32 - self.held.len()
    }

    fn idle(&self) -> u32 {
        self.site.borrow().waiting.len() + self.stealing()
    }

    fn stealing(&self) -> u32 {
        let searches = |phase: Phase| matches!(phase, Phase::Trying | Phase::CheckingRequests);
        self.site.borrow().workers.iter().filter(|worker| searches(worker.phase)).count() as u32
    }

    fn queued(&self) -> u32 {
        // What waits for the first core has no queue yet.
        if self.open.len() == 0 { 0 } else { self.site.borrow().queue.len() }
    }

    fn oldest_delay_max(&self) -> Picos {
        self.delay()
    }

    fn oldest_delay_mean(&self) -> Picos {
        // All cores share one queue; before the first is here, there is none.
        if self.open.len() == 0 { Picos::ZERO } else { self.delay() }
    }

    fn utilization(&self) -> f64 {
        let now = self.site.borrow_mut().account();
        let spent_ps = now.held_ps - now.allocating_ps - self.at_tick_ps.1;
        if spent_ps == 0 {
            return 1.0;
        }
        now.busy_ps.saturating_sub(self.at_tick_ps.0) as f64 / spent_ps as f64
    }
}

impl<P: Parallelism, O: Sink, const MORE: bool> Forks<'_, P, O, MORE> {
    /// The first `count` cores are held and here, at the start of a run.
    pub(super) fn hold_first(&mut self, count: usize) {
        let site = &mut self.site;
        (site.held, site.here) = (count as u32, count as u32);
        for worker in count..site.workers.len() {
            site.waiting.remove(worker);
            site.workers[worker].phase = Phase::Parked;
        }
        if let Some(grants) = &mut self.grants {
            for worker in 0..count {
                grants.held.insert(worker);
                grants.open.insert(worker);
            }
        }
        (0..count).for_each(|worker| self.spin(worker));
    }

    /// Asks the allocation policy, with a view of the application.
    fn ask(
        &mut self,
        question: impl FnOnce(&mut Triggered, Instant, &ForksApplication<'_, O, MORE>) -> CoreDemand,
    ) -> CoreDemand {
        let Some(Grants { policy, held, open, at_tick_ps, .. }) = &mut self.grants else {
            return CoreDemand::Keep;
        };
        let now = Instant(self.site.now_ps);
        let view =
            ForksApplication { site: RefCell::new(&mut self.site), held, open, at_tick_ps: *at_tick_ps };
        question(policy, now, &view)
    }

    /// A worker that waits asks after a while whether its core is to go.
    pub(super) fn spin(&mut self, worker: usize) {
        let Some(grants) = self.grants.as_ref().filter(|grants| grants.policy.watches_walks()) else {
            return;
        };
        let others = u64::from(grants.held.len().saturating_sub(1)).max(1);
        let takes_ps = (others * self.site.costs.steal_check.0).max(1_000);
        self.site.schedule(worker, Phase::Waiting, takes_ps);
    }

    /// `worker` has spun for as long as a walk takes.
    pub(super) fn after_spin(&mut self, worker: usize) {
        let shrink = self.is_spare(worker)
            && self.ask(|policy, now, seen| policy.on_failed_walk(now, seen)) == CoreDemand::Shrink;
        if shrink {
            self.park(worker);
        } else {
            self.spin(worker);
        }
    }

    /// `worker` has completed a request: is its core given back?
    pub(super) fn yields_after_completion(&mut self, worker: usize) -> bool {
        let watches = self.grants.as_ref().is_some_and(|grants| grants.policy.watches_completions());
        let shrink = watches
            && self.is_spare(worker)
            && self.ask(|policy, now, seen| policy.on_completion(now, seen)) == CoreDemand::Shrink;
        if shrink {
            self.park(worker);
        }
        shrink
    }

    /// May the core of `worker` go, as far as there is anything to do?
    fn is_spare(&self, worker: usize) -> bool {
        let nothing_to_steal = self.site.deques.stealable(false).len() == 0;
        self.site.queue.is_empty() && nothing_to_steal && self.site.deques.is_empty(worker)
    }

    /// The core of `worker`, which does nothing, goes back.
    fn park(&mut self, worker: usize) {
        let Some(grants) = &mut self.grants else { return };
        let site = &mut self.site;
        site.settle();
        grants.held.remove(worker);
        grants.open.remove(worker);
        site.held -= 1;
        site.here -= 1;
        site.leave(worker);
        if site.waiting.contains(worker) {
            site.waiting.remove(worker);
        }
        site.workers[worker].phase = Phase::Parked;
        site.tree.set(worker, NEVER);
        if O::ON {
            site.observer.observe(site.now_ps, Event::Parked { worker: worker as u32 });
        }
    }

    /// The spare core with the lowest id is asked for, if there is one.
    fn grow(&mut self) {
        let Some(grants) = &mut self.grants else { return };
        let site = &mut self.site;
        let Some(worker) = (0..site.workers.len()).find(|&worker| !grants.held.contains(worker)) else {
            return;
        };
        site.account.grants += 1;
        site.settle();
        grants.held.insert(worker);
        site.held += 1;
        if O::ON {
            site.observer.observe(site.now_ps, Event::Granted { worker: worker as u32 });
        }
        site.schedule(worker, Phase::Allocating, site.costs.core_allocation.0);
    }

    /// A request has arrived and there is no core: unless one is on its way, it is asked for at once.
    pub(super) fn grow_from_zero(&mut self) {
        if self.grants.as_ref().is_some_and(|grants| grants.held.len() == 0) {
            self.grow();
        }
    }

    /// The core of `worker` is here, and searches for something to do.
    pub(super) fn open(&mut self, worker: usize) {
        let site = &mut self.site;
        site.settle();
        site.here += 1;
        if let Some(grants) = &mut self.grants {
            grants.open.insert(worker);
        }
        if O::ON {
            site.observer.observe(site.now_ps, Event::Unparked { worker: worker as u32 });
        }
        self.search(worker);
    }

    /// The policy checks the demand for cores.
    #[cold]
    pub(super) fn at_tick(&mut self) {
        let Some(tick_ps) = self.grants.as_ref().and_then(Grants::next_tick_ps) else { return };
        self.site.events += 1;
        self.site.now_ps = tick_ps;
        match self.ask(|policy, now, seen| policy.on_tick(now, seen)) {
            CoreDemand::Grow | CoreDemand::GrowForTask => self.grow(),
            CoreDemand::Shrink => self.revoke_idle(),
            CoreDemand::Keep => {}
        }
        let now = self.site.account();
        if let Some(grants) = &mut self.grants {
            grants.at_tick_ps = (now.busy_ps, now.held_ps - now.allocating_ps);
            let interval = grants.policy.interval();
            grants.next_tick_ps = interval.map(|every| tick_ps + every.0);
        }
        self.refresh_keys();
    }

    /// The core with the highest id that waits goes back. The last core stays: a policy that reads delays would wake it at the next
    /// arrival.
    fn revoke_idle(&mut self) {
        let is_last = self.grants.as_ref().is_some_and(|grants| grants.open.len() <= 1);
        if is_last {
            return;
        }
        let waiting: Vec<usize> = self.site.waiting.iter().collect();
        if let Some(worker) = waiting.into_iter().rev().find(|&worker| self.is_spare(worker)) {
            self.park(worker);
        }
    }
}
