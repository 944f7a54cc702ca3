//! Processor sharing on one worker, by leaps: the state after many quanta in closed form.
//!
//! Between two arrivals at a worker, round robin is arithmetic: a task that needs `m` whole slices and a
//! rest, at place `p` of `n`, completes `(m·n + p)` slots after the current slot began, plus its rest. So
//! a host need not step through quanta; its cost per request does not depend on the quantum. A [`Ring`]
//! does what [`ProcessorSharing`](super::ProcessorSharing) does, to the bit: a test holds them together.
//!
//! ```text
//!   slot = slice + switch cost        |<- slice ->|y|<- slice ->|y|
//!   jobs: [current, fresh…, served…]   started: the front job is in its slice
//!         [fresh…, served…]            not started: the worker switches, its slot begins at `slot_start`
//! ```
//!
//! An event at the very end of a slot is seen before the slot ends: arrivals come first.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Fresh, Lone};
use crate::TaskId;

/// How a ring divides the time of its worker; lengths in ps.
#[derive(Clone, Copy, Debug)]
pub struct Slicing {
    /// Service in one slice: quantum and mean overrun; not 0.
    pub slice_ps: u64,
    /// Cost of a switch at the end of a slice.
    pub switch_ps: u64,
    /// Where new tasks join.
    pub fresh: Fresh,
    /// The fate of a lone task at the end of its quantum.
    pub lone: Lone,
    /// Most started tasks.
    pub started_max: u32,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    task: TaskId,
    /// Whole slices before the one in which the task completes.
    slices: u64,
    /// Service in that last one, 1 ..= `slice_ps`.
    rest_ps: u64,
    /// Quanta received, and of those the ones at whose end nothing had to be switched.
    quanta: u64,
    elided: u64,
    /// When it first ran; [`UNSERVED`] until then.
    first_ps: u64,
}

const UNSERVED: u64 = u64::MAX;

/// A task that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The task.
    pub task: TaskId,
    /// When it first ran, in ps.
    pub first_ps: u64,
    /// How often it was preempted.
    pub preemptions: u64,
}

/// The tasks of one worker that divides its time into slices. Times are in ps on the host's clock.
#[derive(Clone, Debug)]
// In this order: what most calls need lies together.
#[repr(C)]
pub struct Ring {
    jobs: Vec<Job>,
    slot_start_ps: u64,
    /// Quanta received by the tasks that are here now.
    quanta: u64,
    /// The last answer of [`Ring::next_completion_ps`].
    completion_ps: Option<u64>,
    /// Of `jobs`, those that have not run yet: right behind the current one.
    unserved: usize,
    started: bool,
    /// Slice and switch of a task that is alone, and of one that is not.
    lone_slot_ps: u64,
    shared_slot_ps: u64,
    slicing: Slicing,
    /// Unstarted tasks beyond `started_max`.
    held: VecDeque<Job>,
}

impl Ring {
    /// An empty ring.
    ///
    /// # Panics
    /// If the slice is 0, or no task may be started.
    pub fn new(slicing: Slicing) -> Ring {
        assert!(slicing.slice_ps > 0 && slicing.started_max > 0, "{slicing:?}");
        let shared_slot_ps = slicing.slice_ps.saturating_add(slicing.switch_ps);
        let lone_slot_ps = if slicing.lone == Lone::Elide { slicing.slice_ps } else { shared_slot_ps };
        Ring {
            jobs: Vec::new(),
            slot_start_ps: 0,
            quanta: 0,
            completion_ps: None,
            unserved: 0,
            started: false,
            lone_slot_ps,
            shared_slot_ps,
            slicing,
            held: VecDeque::new(),
        }
    }

    /// Tasks here.
    pub fn len(&self) -> usize {
        self.jobs.len() + self.held.len()
    }

    /// Nothing to run?
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Quanta that the tasks here have received; call [`Ring::advance`] first.
    pub fn serviced_quanta(&self) -> u64 {
        self.quanta
    }

    /// The quanta that [`Ring::serviced_quanta`] would count after [`Ring::advance`] to `now_ps`, if it is more than
    /// `bound`: a multiplication says that it is not, where counting takes a division.
    #[inline(always)]
    pub fn serviced_quanta_above(&self, now_ps: u64, bound: u64) -> Option<u64> {
        let since_ps = now_ps.saturating_sub(self.slot_start_ps);
        if let Some(missing) = bound.checked_sub(self.quanta) {
            // After so many slots, it takes the end of a slice to exceed the bound.
            let slots_ps = missing.saturating_mul(self.slot_ps());
            if since_ps.saturating_sub(slots_ps) <= self.slicing.slice_ps {
                return None;
            }
        }
        Some(self.quanta_after(since_ps)).filter(|&quanta| quanta > bound)
    }

    /// Quanta received when `since_ps` have passed since the current slot began.
    fn quanta_after(&self, since_ps: u64) -> u64 {
        if self.jobs.is_empty() || since_ps == 0 {
            return self.quanta;
        }
        let slots = (since_ps - 1) / self.slot_ps();
        let slice_over = since_ps - slots * self.slot_ps() > self.slicing.slice_ps;
        self.quanta + slots + u64::from(slice_over)
    }

    /// Does the current task go on at the end of its quantum, free of charge?
    #[inline]
    fn elides(&self) -> bool {
        self.jobs.len() == 1 && self.slicing.lone == Lone::Elide
    }

    #[inline]
    fn slot_ps(&self) -> u64 {
        if self.jobs.len() == 1 { self.lone_slot_ps } else { self.shared_slot_ps }
    }

    /// Work done on the tasks that are here, in ps; call [`Ring::advance`] first.
    pub fn done_ps(&self, now_ps: u64) -> u64 {
        let current_ps = if self.started { now_ps.saturating_sub(self.slot_start_ps) } else { 0 };
        self.quanta * self.slicing.slice_ps + if self.jobs.is_empty() { 0 } else { current_ps }
    }

    /// Work left on the tasks that are here, in ps; call [`Ring::advance`] first.
    pub fn left_ps(&self, now_ps: u64) -> u64 {
        let all = self.jobs.iter().chain(&self.held);
        let left_ps: u64 = all.map(|job| job.slices * self.slicing.slice_ps + job.rest_ps).sum();
        left_ps + self.quanta * self.slicing.slice_ps - self.done_ps(now_ps)
    }

    /// Brings the ring to `now_ps`, not beyond the next completion. Ends of slots at `now_ps` itself have
    /// not happened yet.
    #[inline]
    pub fn advance(&mut self, now_ps: u64) {
        if self.jobs.is_empty() || now_ps <= self.slot_start_ps {
            return;
        }
        if !self.started {
            self.start_front();
        }
        let (slice_ps, slot_ps) = (self.slicing.slice_ps, self.slot_ps());
        let since_ps = now_ps - self.slot_start_ps;
        if since_ps > slot_ps {
            self.pass((since_ps - 1) / slot_ps, slot_ps);
        }
        // Past its slice, the current task is back at the tail and the worker switches.
        if now_ps - self.slot_start_ps > slice_ps {
            self.rotate(1);
            self.slot_start_ps += slot_ps;
            self.started = false;
        }
    }

    /// Ends `slots` slots of `slot_ps` each and starts the one after them.
    fn pass(&mut self, slots: u64, slot_ps: u64) {
        self.serve(slots, slot_ps);
        self.rotate(slots);
        self.slot_start_ps += slots * slot_ps;
    }

    /// Notes when tasks first run in the `slots` slots after the current one.
    #[inline]
    fn serve(&mut self, slots: u64, slot_ps: u64) {
        if self.unserved == 0 && self.slicing.fresh == Fresh::First {
            return;
        }
        let slots = usize::try_from(slots).unwrap_or(usize::MAX);
        for (place, job) in self.jobs.iter_mut().enumerate().take(slots.saturating_add(1)) {
            if job.first_ps == UNSERVED {
                job.first_ps = self.slot_start_ps + place as u64 * slot_ps;
            }
        }
        self.unserved = self.unserved.saturating_sub(slots);
    }

    /// Gives the next `slots` tasks a slice each and moves them to the tail.
    fn rotate(&mut self, slots: u64) {
        if self.elides() {
            self.jobs[0].elided += slots;
        }
        let next = self.give(slots);
        to_tail(&mut self.jobs, next);
    }

    /// Gives the next `slots` tasks a slice each; returns the place of the one after them.
    #[inline]
    fn give(&mut self, slots: u64) -> usize {
        let n = self.jobs.len() as u64;
        let (rounds, more) = match n {
            1 => (slots, 0),
            _ if slots < n => (0, slots),
            _ => (slots / n, slots % n),
        };
        if rounds > 0 {
            for job in &mut self.jobs {
                job.slices -= rounds;
                job.quanta += rounds;
            }
        }
        let more = more as usize;
        for job in &mut self.jobs[..more] {
            job.slices -= 1;
            job.quanta += 1;
        }
        self.quanta += slots;
        more
    }

    #[inline]
    fn start_front(&mut self) {
        self.started = true;
        self.unserved = self.unserved.saturating_sub(1);
        if let Some(job) = self.jobs.first_mut()
            && job.first_ps == UNSERVED
        {
            job.first_ps = self.slot_start_ps;
        }
    }

    /// A task that needs `work_ps` (not 0) joins at `now_ps`; call [`Ring::advance`] first.
    #[inline(always)]
    pub fn admit(&mut self, now_ps: u64, task: TaskId, work_ps: u64) {
        if !self.jobs.is_empty() {
            return self.admit_behind(task, work_ps);
        }
        // A ring that has been put off begins later.
        self.slot_start_ps = self.slot_start_ps.max(now_ps);
        self.started = self.slot_start_ps == now_ps;
        self.unserved = usize::from(!self.started);
        let first_ps = if self.started { now_ps } else { UNSERVED };
        let (slices, rest_ps) = self.cut(work_ps);
        self.jobs.push(Job { task, slices, rest_ps, quanta: 0, elided: 0, first_ps });
    }

    fn admit_behind(&mut self, task: TaskId, work_ps: u64) {
        let job = self.job(task, work_ps);
        if self.jobs.len() >= self.slicing.started_max as usize {
            self.held.push_back(job);
        } else {
            self.join(job);
        }
    }

    fn join(&mut self, job: Job) {
        match self.slicing.fresh {
            Fresh::First => {
                self.jobs.insert(usize::from(self.started) + self.unserved, job);
                self.unserved += 1;
            }
            Fresh::Tail => self.jobs.push(job),
        }
    }

    /// When the next task completes; `None` if there is none.
    #[inline(always)]
    pub fn next_completion_ps(&mut self) -> Option<u64> {
        if let [job] = &self.jobs[..] {
            let end_ps = self.slot_start_ps + job.slices * self.lone_slot_ps + job.rest_ps;
            self.completion_ps = Some(end_ps);
        } else {
            self.completion_ps = self.first_completion_ps();
        }
        self.completion_ps
    }

    fn first_completion_ps(&self) -> Option<u64> {
        let (n, slot_ps) = (self.jobs.len() as u64, self.slot_ps());
        let mut first: Option<u64> = None;
        for (place, job) in self.jobs.iter().enumerate() {
            let slots = job.slices * n + place as u64;
            let end_ps = self.slot_start_ps + slots * slot_ps + job.rest_ps;
            // Different slots end at different times, so there are no ties.
            if first.is_none_or(|earliest_ps| end_ps < earliest_ps) {
                first = Some(end_ps);
            }
        }
        first
    }

    /// The task of [`Ring::next_completion_ps`] completes, at that time, and leaves.
    ///
    /// # Panics
    /// If [`Ring::next_completion_ps`] has not been asked since the ring last changed.
    #[inline]
    pub fn complete(&mut self) -> Done {
        let end_ps = self.completion_ps.take().expect("ask for the next completion first");
        if !self.started {
            self.start_front();
        }
        let done = match self.jobs.len() {
            1 => self.finish_lone(),
            _ => self.finish_among(end_ps),
        };
        self.slot_start_ps = end_ps;
        self.started = false;
        if !self.held.is_empty() {
            self.admit_held();
        }
        done
    }

    /// The only task leaves: most tasks under most loads.
    #[inline]
    fn finish_lone(&mut self) -> Done {
        let more = if self.elides() { 0 } else { self.jobs[0].slices };
        let Job { task, first_ps, quanta, elided, .. } = self.jobs[0];
        self.jobs.clear();
        self.quanta = 0;
        Done { task, first_ps, preemptions: quanta - elided + more }
    }

    /// One of several tasks leaves.
    fn finish_among(&mut self, end_ps: u64) -> Done {
        let slot_ps = self.slot_ps();
        // The ring may have been advanced since the question; count slots from where it stands.
        let slots = (end_ps - self.slot_start_ps - 1) / slot_ps;
        if slots > 0 {
            self.serve(slots, slot_ps);
        }
        let place = self.give(slots);
        let job = self.jobs.remove(place);
        to_tail(&mut self.jobs, place);
        self.quanta -= job.quanta;
        Done { task: job.task, first_ps: job.first_ps, preemptions: job.quanta - job.elided }
    }

    /// There is room for one more started task.
    #[cold]
    fn admit_held(&mut self) {
        if let Some(held) = self.held.pop_front() {
            self.join(held);
        }
    }

    /// Tasks that have not run yet; call [`Ring::advance`] first.
    pub fn unstarted(&self) -> usize {
        self.unserved + self.held.len()
    }

    /// Takes the oldest task that has not run yet; call [`Ring::advance`] first.
    pub fn take_unstarted(&mut self) -> Option<TaskId> {
        if self.unserved == 0 {
            return self.held.pop_front().map(|job| job.task);
        }
        self.unserved -= 1;
        let job = self.jobs.remove(usize::from(self.started));
        self.admit_held();
        Some(job.task)
    }

    /// A task joins while the worker does not run the ring; [`Ring::start`] follows.
    pub fn admit_unstarted(&mut self, task: TaskId, work_ps: u64) {
        self.admit_behind(task, work_ps);
    }

    /// As [`Ring::admit_unstarted`], but before all other tasks.
    pub fn admit_front(&mut self, task: TaskId, work_ps: u64) {
        let job = self.job(task, work_ps);
        if self.jobs.len() >= self.slicing.started_max as usize {
            if self.unserved == 0 {
                return self.held.push_front(job);
            }
            self.unserved -= 1;
            self.held.push_front(self.jobs.remove(self.unserved));
        }
        self.jobs.insert(0, job);
        self.unserved += 1;
    }

    /// The worker begins to run the ring at `now_ps`, when it has not run it.
    pub fn start(&mut self, now_ps: u64) {
        self.slot_start_ps = now_ps;
        if !self.jobs.is_empty() {
            self.start_front();
        }
    }

    /// The worker does something else for `cost_ps`: what runs, or would run next, waits.
    pub fn delay(&mut self, cost_ps: u64) {
        self.slot_start_ps += cost_ps;
    }

    /// The tasks that do not run now; call [`Ring::advance`] first.
    pub fn waiting(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs.iter().skip(usize::from(self.started)).chain(&self.held).map(|job| job.task)
    }

    fn job(&self, task: TaskId, work_ps: u64) -> Job {
        let (slices, rest_ps) = self.cut(work_ps);
        Job { task, slices, rest_ps, quanta: 0, elided: 0, first_ps: UNSERVED }
    }

    /// Whole slices of `work_ps` before its last one, and the length of that.
    #[inline]
    fn cut(&self, work_ps: u64) -> (u64, u64) {
        let slice_ps = self.slicing.slice_ps;
        // Most tasks are short, and a division is slow.
        if work_ps <= slice_ps {
            return (0, work_ps);
        }
        let slices = (work_ps - 1) / slice_ps;
        (slices, work_ps - slices * slice_ps)
    }
}

/// Moves the first `count` to the tail.
#[inline]
fn to_tail(jobs: &mut [Job], count: usize) {
    match (jobs.len(), count) {
        (_, 0) | (0 | 1, _) => {}
        (2, 1) => jobs.swap(0, 1),
        _ => jobs.rotate_left(count),
    }
}
