//! The stacks of one worker: last given back, first taken. That worker's thread alone calls it, when a request starts and when one has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::slab::{Identity, Slab, give_back};
use super::strays::{Left, unmap_whole};
use super::{CoroutineStack, PAGE, StackBudget, StackConfig, StackError, StackLimit};

/// Why the last stack could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The budget is used up.
    #[error("{0}")]
    Limit(StackLimit),
    /// The kernel refused to map more.
    #[error(transparent)]
    Kernel(StackError),
}

/// Stacks of one worker; no lock, one owner.
///
/// ```text
///   free:  [ coldest … | … … hottest ]      take and give at this end
///            ◀─ have no memory ─▶            up to `trimmed`
/// ```
#[derive(Debug)]
pub struct StackPool {
    budget: Arc<StackBudget>,
    /// Number of the pool, by which its stacks are known.
    id: usize,
    /// `None` where a slab was unmapped; the place is used again.
    slabs: Vec<Option<Slab>>,
    free: Vec<CoroutineStack>,
    /// The lowest so many of `free` have no memory but their top page, if that.
    trimmed: usize,
    /// Number of the next stack that is mapped: its colour.
    next_number: usize,
    refusals: u64,
    refusal: Option<Refusal>,
}

impl StackPool {
    /// A pool with a budget of its own; maps nothing yet.
    ///
    /// # Errors
    /// [`StackError`] for sizes out of range, and when there cannot be a single stack.
    pub fn new(config: StackConfig) -> Result<Self, StackError> {
        Ok(Self::sharing(&StackBudget::new(config)?))
    }

    /// A pool that shares a budget with others; maps nothing yet.
    pub fn sharing(budget: &Arc<StackBudget>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self {
            budget: budget.clone(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            slabs: Vec::new(),
            free: Vec::new(),
            trimmed: 0,
            next_number: 0,
            refusals: 0,
            refusal: None,
        }
    }

    /// The budget.
    pub fn budget(&self) -> &Arc<StackBudget> {
        &self.budget
    }

    /// Takes the stack that was given back last, or maps new ones; `None` beyond the limit, and when the kernel
    /// refuses: [`Self::refusal`] says which.
    #[inline]
    pub fn take(&mut self) -> Option<CoroutineStack> {
        if self.free.is_empty() && !self.grow() {
            return None;
        }
        let stack = self.free.pop()?;
        self.trimmed = self.trimmed.min(self.free.len());
        Some(stack)
    }

    /// Gives a stack back. What was on it is lost.
    ///
    /// # Panics
    /// If the stack is another pool's.
    #[inline]
    pub fn give(&mut self, stack: CoroutineStack) {
        assert!(self.owns(&stack), "a stack goes back to the pool that it was taken from");
        self.free.push(stack);
    }

    /// True for stacks of this pool.
    #[inline]
    pub fn owns(&self, stack: &CoroutineStack) -> bool {
        stack.place().pool == self.id
    }

    /// Stacks that can be taken without mapping more.
    pub fn idle(&self) -> usize {
        self.free.len()
    }

    /// Stacks mapped, taken or not.
    pub fn mapped(&self) -> usize {
        self.slabs.iter().flatten().map(Slab::stacks).sum()
    }

    /// How often [`Self::take`] found none.
    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Why it found none the last time.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// Takes in the stacks that ended with other workers.
    fn take_home(&mut self) {
        self.budget.strays.take_home(self.id, &mut self.free);
    }

    /// Finds stacks, or maps a slab; false when none can be had.
    #[cold]
    fn grow(&mut self) -> bool {
        self.take_home();
        if !self.free.is_empty() {
            return true;
        }
        let mapped = self.map_slab(usize::MAX);
        let ok = mapped.is_ok();
        if let Err(refusal) = mapped {
            self.refusals += 1;
            self.refusal = Some(refusal);
        }
        ok
    }

    /// Maps one stack, unless it has any: what it has others do not take.
    ///
    /// # Errors
    /// Why there is none.
    pub fn prepare(&mut self) -> Result<(), Refusal> {
        if self.mapped() == 0 { self.map_slab(1) } else { Ok(()) }
    }

    fn map_slab(&mut self, most: usize) -> Result<(), Refusal> {
        let budget = &self.budget;
        let stacks = budget.reserve(most).ok_or_else(|| Refusal::Limit(budget.limit()))?;
        let place = self.slabs.iter().position(Option::is_none).unwrap_or(self.slabs.len());
        let identity = Identity { pool: self.id, slab: place, first: self.next_number };
        let slab = Slab::map(&budget.config, budget.guards, stacks, identity).map_err(|error| {
            budget.release(stacks);
            Refusal::Kernel(error)
        })?;
        // The lowest is taken first.
        self.free.extend(slab.handles());
        // None of them was touched yet.
        self.trimmed = self.free.len();
        self.next_number += stacks;
        if place == self.slabs.len() {
            self.slabs.push(None);
        }
        self.slabs[place] = Some(slab);
        Ok(())
    }

    /// Gives back the memory of all idle stacks but the `keep` used last; returns for how many it did.
    ///
    /// Of each stack the page of its top stays, so that the next use of it does not fault at once. Slabs of which
    /// every stack is among them are unmapped, and others may map as many. A call to the kernel per stack: for idle
    /// moments.
    pub fn trim(&mut self, keep: usize) -> usize {
        self.take_home();
        let cold = self.free.len().saturating_sub(keep);
        let given = self.give_back_below(cold);
        self.unmap_idle(cold);
        given
    }

    /// As [`Self::trim`], of `most` stacks at most. `true`: of all of them; only then slabs are unmapped.
    pub fn trim_some(&mut self, keep: usize, most: usize) -> bool {
        self.take_home();
        let cold = self.free.len().saturating_sub(keep);
        if self.trimmed >= cold {
            return true;
        }
        let until = cold.min(self.trimmed.saturating_add(most));
        self.give_back_below(until);
        if until == cold {
            self.unmap_idle(cold);
        }
        until == cold
    }

    /// Gives back the memory of the coldest `until` idle stacks; of how many it has not been yet.
    fn give_back_below(&mut self, until: usize) -> usize {
        let fresh = self.trimmed.min(until)..until;
        let given = fresh.len();
        for stack in &self.free[fresh] {
            let usable = stack.usable();
            // The top's page is the slot's last one, whatever the colour.
            // SAFETY: whole pages of a mapped slot of this pool, which is idle: nobody needs its contents.
            unsafe { give_back(usable.start, usable.end.next_multiple_of(PAGE) - PAGE) };
        }
        self.trimmed = self.trimmed.max(until);
        given
    }

    /// Unmaps the slabs that lie in the coldest `cold` of the idle stacks.
    fn unmap_idle(&mut self, cold: usize) {
        let keep = self.free.len() - cold;
        let gone = unmap_whole(&mut self.slabs, &mut self.free, keep);
        // All of them were among the coldest.
        self.trimmed -= gone;
        self.budget.release(gone);
    }

    /// Gives back a stack that may be another pool's: that finds it among the strays.
    pub fn give_anyhow(&mut self, stack: CoroutineStack) {
        match self.owns(&stack) {
            true => self.free.push(stack),
            false => self.budget.strays.give(stack),
        }
    }
}

impl Drop for StackPool {
    /// Unmaps the slabs of which every stack is back. The others stay mapped until their last stack comes back to a pool of the
    /// same budget, if it ever does: somebody may still run on it.
    fn drop(&mut self) {
        let (slabs, free) = (std::mem::take(&mut self.slabs), std::mem::take(&mut self.free));
        let unmapped = self.budget.strays.leave(Left { pool: self.id, slabs, free });
        self.budget.release(unmapped);
    }
}
