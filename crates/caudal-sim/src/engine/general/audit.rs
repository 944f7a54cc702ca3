//! The accounts of the general loop at the marks of a run: the cores' time up to now, booked before it is read. `host` and `allocate`
//! call it at each mark and before a core changes its state.

use super::core::Core;
use super::scheduling::Scheduling;
use crate::engine::kernel::account::Account;
use crate::engine::kernel::observe::Sink;
use crate::engine::kernel::window::{Audit, Counting, Measured};

/// A host's clock and its pools.
pub(in crate::engine) struct Audited<'a, S, O>(
    pub(in crate::engine) &'a mut Core<O>,
    pub(in crate::engine) &'a mut S,
);

impl<S: Scheduling, O: Sink> Audit for Audited<'_, S, O> {
    #[inline]
    fn now_ps(&self) -> u64 {
        self.0.now_ps
    }

    #[inline]
    fn measured_is_done(&self) -> bool {
        self.0.measured.are_done()
    }

    fn account(&mut self) -> Account {
        account_now(self.0, self.1)
    }

    fn behind_long_ps(&mut self) -> Vec<f64> {
        self.1.behind_long_ps(self.0)
    }
}

impl<S: Scheduling, O: Sink> Counting for Audited<'_, S, O> {
    fn measured(&mut self) -> &mut Measured {
        &mut self.0.measured
    }
}

/// The accounts as of now, with what workers have done so far.
pub(in crate::engine) fn account_now<S: Scheduling, O: Sink>(core: &mut Core<O>, sched: &mut S) -> Account {
    core.settle();
    let mut account = core.account;
    for worker in 0..core.workers.len() {
        account.busy_ps += u128::from(sched.unaccounted_ps(core, worker));
    }
    account
}
