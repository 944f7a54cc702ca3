//! Stacks of a worker: it takes one when a request starts, and gives idle ones back. Called by the worker's loop.
//!
//! Coroutines between two requests keep their stacks, so that the next request costs no mapping. That is wrong in two cases:
//!
//! * *Nobody does anything.* Before it sleeps, a worker gives the memory of all but [`KEPT`] back, some at a time: it polls for requests
//!   in between.
//! * *Another worker has none*, and the limit is used up. It asks ([`Shared::ask_for_stacks`]): the next time that they check
//!   what has come, the others unmap what is idle of theirs, so that it can map. It asks again for as long as it finds none, since
//!   what is busy now may be idle then. A worker that sleeps does not notice, and has nothing to give: where the limit is used up it
//!   keeps one stack of its own at most, and none of others'.
//!
//! [`Shared::ask_for_stacks`]: crate::kernel::shared::Shared::ask_for_stacks

use std::time::Duration;

use caudal_policy::discipline::Discipline;

use super::{Coroutine, Worker};
use crate::request::coroutine::Fiber;

/// Idle stacks of a worker that sleeps.
const KEPT: usize = 8;
/// Stacks whose memory is given back between two polls for requests; about a microsecond each.
const AT_ONCE: usize = 32;
/// Stacks that a worker unmaps for others between two requests; some microseconds each.
const FOR_OTHERS: usize = 4;
/// How often a worker without a stack tries to get one, and asks.
const TRY_EVERY: Duration = Duration::from_micros(100);
/// Bytes of a stack that are touched before anything runs on it: what most handlers need.
const WARM: usize = 8 << 10;
/// How long it sleeps, if everybody does.
pub(super) const SLEEP_AT_MOST: Duration = Duration::from_millis(5);

impl<D: Discipline> Worker<D> {
    /// A coroutine on a stack that nothing has run on yet, or not for long. Its first pages are there when its request begins: a
    /// fault or two take about as long as a quantum, and a first slice that is spent on them does no work.
    #[cold]
    pub(super) fn new_coroutine(&mut self) -> Option<Coroutine> {
        let mut stack = self.stacks.take()?;
        stack.warm(WARM);
        Some(Box::new(Fiber::new(stack, self.number)))
    }

    /// Requests wait for stacks here: others may have given some back.
    #[cold]
    pub(super) fn try_for_stack(&mut self, time: u64) {
        if time < self.try_for_stack_at {
            return;
        }
        if self.idle.is_empty() {
            let coroutine = self.new_coroutine();
            self.idle.extend(coroutine);
        }
        if self.idle.is_empty() {
            self.try_for_stack_at = time + self.shared.clock.cycles_of(TRY_EVERY);
            self.shared.ask_for_stacks();
        } else {
            self.a_stack_is_free(time);
        }
    }

    /// Another worker has no stack: unmaps idle ones, some at a time. One stays, if nothing runs on any.
    pub(super) fn give_stacks_away(&mut self) {
        if !self.stackless.is_empty() || !self.stacks.budget().is_used_up() {
            return;
        }
        self.send_home();
        let mapped = self.stacks.mapped();
        let keep = usize::from(mapped == self.idle.len() + self.stacks.idle());
        let given = self.idle.len().saturating_sub(keep).min(FOR_OTHERS);
        self.retire(given);
        self.stacks.trim(keep.saturating_sub(self.idle.len()));
        if self.stacks.mapped() < mapped {
            self.shared.wake_sleepers();
        }
    }

    /// Ends idle coroutines on stacks of other workers, which came here with their requests, and gives the stacks back to those.
    fn send_home(&mut self) {
        let home = self.number;
        for coroutine in self.idle.extract_if(.., |coroutine| coroutine.home != home) {
            // SAFETY: the coroutine is idle.
            self.stacks.give_anyhow(unsafe { coroutine.into_stack() });
        }
    }

    /// Nobody has anything to do: gives memory of idle stacks back. `false`: there is more.
    ///
    /// A worker without a stack may have asked while a request still ran here on one of its stacks, and asking wakes nobody. So this worker
    /// gives others' stacks back before it sleeps: their owners would wait for them without end.
    pub(super) fn give_memory_back(&mut self) -> bool {
        self.send_home();
        let keep = if self.stacks.budget().is_used_up() { 1 } else { KEPT };
        let spare = self.idle.len().saturating_sub(keep);
        self.retire(spare.min(AT_ONCE));
        let all = self.stacks.trim_some(keep.saturating_sub(self.idle.len()), AT_ONCE);
        all && spare <= AT_ONCE
    }

    /// Ends the `count` coldest idle coroutines; their stacks go back to the pool.
    fn retire(&mut self, count: usize) {
        for coroutine in self.idle.drain(..count) {
            // SAFETY: the coroutine is idle.
            self.stacks.give_anyhow(unsafe { coroutine.into_stack() });
        }
    }

    /// The pool unmaps what has come back to it when it is dropped; stacks of leaked coroutines stay.
    pub(super) fn give_stacks_back(&mut self) {
        self.retire(self.idle.len());
    }
}
