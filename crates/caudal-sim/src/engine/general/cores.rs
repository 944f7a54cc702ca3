//! The set of cores that an application holds, and the view of it that an allocation policy gets. `host` asks for it at ticks; `allocate`
//! changes it. Data in memory.

use std::cell::RefCell;

use caudal_policy::Picos;
use caudal_policy::allocation::Application;

use super::audit::account_now;
use super::core::Core;
use super::scheduling::Scheduling;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::observe::Sink;

/// The cores that the application holds.
pub(in crate::engine) struct Cores {
    /// Held, those on their way included.
    pub(super) held: BitSet,
    /// Here, and open to work.
    pub(super) open: BitSet,
    /// By pool: how many of those it has.
    pub(super) open_in: Box<[u32]>,
    /// Busy time and held time, without cores on their way, at the last tick.
    pub(super) at_tick: (u128, u128),
}

impl Cores {
    /// The core of `worker` is held, at the start of a run.
    pub(in crate::engine) fn hold(&mut self, worker: usize) {
        self.held.insert(worker);
    }

    pub(in crate::engine) fn new(workers: usize, pools: usize) -> Cores {
        let open_in = vec![0; pools].into_boxed_slice();
        Cores { held: BitSet::new(workers), open: BitSet::new(workers), open_in, at_tick: (0, 0) }
    }

    #[inline]
    pub(in crate::engine) fn is_open(&self, worker: usize) -> bool {
        self.open.contains(worker)
    }
}

/// The application as an allocation policy sees it; worked out when it asks.
pub(in crate::engine) struct ApplicationView<'a, S, O> {
    inner: RefCell<(&'a mut Core<O>, &'a mut S)>,
    cores: &'a Cores,
    /// When the oldest request at the dispatcher arrived.
    held_ps: Option<u64>,
}

impl<'a, S, O> ApplicationView<'a, S, O> {
    pub(in crate::engine) fn new(
        core: &'a mut Core<O>,
        sched: &'a mut S,
        cores: &'a Cores,
        held_ps: Option<u64>,
    ) -> ApplicationView<'a, S, O> {
        ApplicationView { inner: RefCell::new((core, sched)), cores, held_ps }
    }
}

impl<S: Scheduling, O: Sink> Application for ApplicationView<'_, S, O> {
    fn cores(&self) -> u32 {
        self.cores.held.len()
    }

    fn spare(&self) -> u32 {
        self.inner.borrow().0.workers.len() as u32 - self.cores.held.len()
    }

    fn idle(&self) -> u32 {
        let (core, _) = &*self.inner.borrow();
        core.idle.len() + core.walkers
    }

    fn stealing(&self) -> u32 {
        self.inner.borrow().0.walkers
    }

    fn queued(&self) -> u32 {
        let (core, sched) = &mut *self.inner.borrow_mut();
        sched.queued(core)
    }

    fn oldest_delay_max(&self) -> Picos {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let pools = 0..core.pool_first.len() - 1;
        let oldest_ps = pools.filter_map(|pool| sched.oldest_ps(core, pool)).chain(self.held_ps).min();
        Picos(oldest_ps.map_or(0, |oldest_ps| core.now_ps - oldest_ps))
    }

    fn oldest_delay_mean(&self) -> Picos {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let mut sum_ps = 0;
        for pool in 0..core.pool_first.len() - 1 {
            let held =
                core.workers_of(pool).filter(|&worker| self.cores.held.contains(worker)).count() as u64;
            if held > 0
                && let Some(oldest_ps) = sched.oldest_ps(core, pool)
            {
                sum_ps += held * (core.now_ps - oldest_ps);
            }
        }
        Picos(sum_ps / u64::from(self.cores.held.len().max(1)))
    }

    fn utilization(&self) -> f64 {
        let (core, sched) = &mut *self.inner.borrow_mut();
        let now = account_now(core, *sched);
        let (busy_ps, here_ps) = (now.busy_ps, now.held_ps - now.allocating_ps);
        let spent_ps = here_ps - self.cores.at_tick.1;
        if spent_ps == 0 {
            return 1.0;
        }
        // A worker that had accounted for work ahead of the last tick can make the difference negative by a hair.
        busy_ps.saturating_sub(self.cores.at_tick.0) as f64 / spent_ps as f64
    }
}
