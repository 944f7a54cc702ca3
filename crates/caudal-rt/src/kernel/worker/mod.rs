//! A worker: one thread on one core, which runs requests as coroutines in the order that its discipline says. The start of a runtime makes
//! one on each worker's thread, which then runs its loop until the runtime stops.
//!
//! ```text
//!  inbox (ring) ──▶ take_in ──▶ discipline ──▶ slice: resume a coroutine until its quantum is over
//!  woken (stack) ─▶    ▲                         │ done ──▶ complete: tell the waiter, measure
//!  timers ────────▶    │                         │ park ──▶ on_blocked: it is woken through the mail
//!                      └───────────────────────── quantum: on_stopped, which lets it go on or puts it into a lane
//! ```
//!
//! Everything in a [`Worker`] belongs to its thread. Others see its [`Board`], and may change its
//! [`Mail`](crate::board::Mail) and its inbox.

mod end;
pub(crate) mod migrate;
mod pool;
mod rest;
mod stacks;
mod take_in;
mod trace;

use std::collections::VecDeque;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use caudal_fiber::stack::StackPool;
use caudal_policy::discipline::{Discipline, Stopped};
use caudal_policy::rebalance::{AnyRebalance, Rebalance};
use caudal_policy::{TaskId, WorkerId};
use caudal_probe as probe;

use self::pool::{LocalPool, Next};
use crate::base::clock::now;
use crate::board::log::Writer;
use crate::board::measured::{Measured, OfWorker};
use crate::board::timeline::OFF;
use crate::board::{Board, SharedWorker, Slice, Spent};
use crate::drive::source::{Due, PolledSource};
use crate::kernel::context::Context;
use crate::kernel::elision;
use crate::kernel::shared::{Notice, Shared, Stage};
use crate::queue::end_owner::light_barrier;
use crate::request::Request;
use crate::request::coroutine::Reason;
use crate::request::ending::hand_over;
use crate::request::exceptions;
use crate::request::{Coroutine, Outcome, Reference};

/// The worker's own counts, of which the board is a copy.
#[derive(Default)]
pub(crate) struct WorkerCounts {
    pub(crate) finished: u64,
    pub(crate) quanta: u64,
    pub(crate) received: u64,
    pub(crate) inside: u32,
}

impl WorkerCounts {
    /// A request has ended that had used up so many `quanta`.
    #[inline(always)]
    pub(crate) fn end(&mut self, quanta: u32, board: &Board) {
        self.finished += 1;
        self.quanta -= u64::from(quanta);
        self.inside -= 1;
        board.quanta.store(self.quanta, Relaxed);
        board.inside.store(self.inside, Relaxed);
        // After the others: a reader that counts the request as gone sees no quanta of it.
        board.finished.store(self.finished, Release);
    }
}

/// See the [module](self).
pub(crate) struct Worker<D> {
    number: usize,
    shared: Arc<Shared>,
    /// Its own part of `shared`, reached without an index: it is needed some ten times a quantum.
    me: OwnPart,
    /// Measurements of classes by this worker; none: nothing is to be measured.
    measured: Option<Arc<OfWorker>>,
    discipline: D,
    rebalance: AnyRebalance,
    /// A request behind which none waits goes on at the end of its quantum without the scheduler; not where a source has to be polled each
    /// time.
    elides: bool,
    raise_flags: bool,
    /// Its policy steals: other workers may take started requests that may move.
    steals: bool,
    pool: LocalPool<Coroutine>,
    context: Box<Context>,
    stacks: StackPool,
    /// Coroutines between two requests, the hottest last.
    idle: Vec<Coroutine>,
    /// Tasks that could start but for the limit of stacks.
    stackless: VecDeque<u32>,
    source: Option<PolledSource>,
    /// Requests that the source has just handed in.
    batch: Vec<Request>,
    next_number: u64,
    /// Times that the source was not polled because requests had not started.
    passed_over: usize,
    /// The source has worked since the worker last had nothing to run.
    source_worked: bool,
    walk: rest::Walk,
    counts: WorkerCounts,
    /// Times in cycles, of which [`Spent`] is a copy.
    busy: u64,
    idle_for: u64,
    /// When the last slice, or the last poll while idle, ended; in cycles.
    accounted: u64,
    /// Since when there has been nothing to do; 0: there has.
    idle_since: u64,
    /// It has taken in since the last slice.
    has_taken_in: bool,
    /// The last notice that it has taken, and the stage in that.
    notice: Notice,
    stage: Stage,
    /// A coroutine that ran here will never go on.
    has_leaked: bool,
    /// While requests wait for stacks: when it tries to get one again, in cycles.
    try_for_stack_at: u64,
    /// Log of what it does by its rebalance policy.
    log: Option<Writer>,
}

/// The worker's own part of what is shared: its board, its mail, its inbox.
#[derive(Clone, Copy)]
struct OwnPart(NonNull<SharedWorker>);

impl Deref for OwnPart {
    type Target = SharedWorker;

    #[inline(always)]
    fn deref(&self) -> &SharedWorker {
        // SAFETY: a part of `Worker::shared`, which nobody moves, and which the worker holds for longer than this.
        unsafe { self.0.as_ref() }
    }
}

/// Parts of a worker that its runtime has made.
pub(crate) struct Parts<D> {
    pub(crate) number: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) discipline: D,
    pub(crate) rebalance: AnyRebalance,
    pub(crate) stacks: StackPool,
    pub(crate) source: Option<PolledSource>,
    pub(crate) log: Option<Writer>,
}

impl<D: Discipline> Worker<D> {
    /// A worker of these parts; called on the thread that is going to run it.
    pub(crate) fn new(parts: Parts<D>) -> Worker<D> {
        let Parts { number, shared, discipline, rebalance, stacks, mut source, log } = parts;
        let due = source.as_mut().map(|source| source.due(|span| shared.clock.cycles_of(span)));
        let context = Box::new(Context::new(number as u16, &shared, due.unwrap_or_else(Due::without_source)));
        // SAFETY: the worker has it in a box, and uninstalls it when it ends, on this thread.
        unsafe { context.install() };
        let mail = &shared.workers[number].mail;
        mail.probe_flag.publish(probe::flag());
        // SAFETY: the call has no precondition.
        mail.thread.store(unsafe { libc::gettid() } as u32, Relaxed);
        let begun = now();
        let spent = &shared.workers[number].spent;
        spent.accounted.store(begun, Relaxed);
        spent.started.store(begun, Release);
        Worker {
            number,
            measured: shared.settings.measuring.then(|| Arc::clone(shared.classes.of_worker(number))),
            steals: rebalance.steals(),
            me: OwnPart(NonNull::from(&shared.workers[number])),
            pool: LocalPool::new(number as u32, shared.clock, &discipline),
            elides: discipline.elides() && !source.as_ref().is_some_and(PolledSource::is_always_polled),
            raise_flags: shared.settings.raise_flags,
            walk: rest::Walk::new(number, shared.workers.len(), shared.settings.seed),
            discipline,
            rebalance,
            context,
            stacks,
            idle: Vec::new(),
            stackless: VecDeque::new(),
            source,
            batch: Vec::new(),
            next_number: 0,
            passed_over: 0,
            source_worked: false,
            counts: WorkerCounts::default(),
            busy: 0,
            idle_for: 0,
            accounted: begun,
            idle_since: 0,
            has_taken_in: false,
            notice: Notice::FIRST,
            stage: Stage::Running,
            has_leaked: false,
            try_for_stack_at: 0,
            log,
            shared,
        }
    }

    /// Runs the worker until the runtime stops. `true`: every request that was here has ended. `false`: a coroutine was given up, and others
    /// may hold references to what is on it.
    pub(crate) fn run(mut self) -> bool {
        // Nothing yields on the scheduler's own stack.
        probe::critical_enter();
        let mut time = now();
        loop {
            if self.rebalance.may_shed() {
                self.answer_flag();
            }
            if !std::mem::take(&mut self.has_taken_in) {
                self.take_in(time);
            }
            if self.stage == Stage::Stopping {
                break;
            }
            if self.pool.next.is_none() {
                let (instant, me) = (self.shared.clock.instant(time), WorkerId(self.number as u32));
                self.discipline.on_free(instant, me, &mut self.pool);
                self.pool.resting = self.pool.next.is_none();
            }
            match self.pool.next.take() {
                Some(next) => {
                    self.flush_before(next);
                    time = self.execute(next, time);
                }
                None if self.rest(time) => time = now(),
                None => break,
            }
        }
        self.me.mail.probe_flag.withdraw();
        self.me.spent.ended.store(true, Relaxed);
        self.flush_last();
        self.abandon_all();
        self.give_stacks_back();
        Context::uninstall();
        probe::critical_exit();
        !self.has_leaked
    }

    /// Publishes the accounts of the time up to `time`: the part of it that is neither busy nor idle went on scheduling. It takes two stores
    /// to a line that nobody else writes, and shows others where the time of a worker goes that is never idle.
    #[inline(always)]
    fn account(&mut self, time: u64) {
        self.accounted = time;
        let spent = &self.me.spent;
        spent.busy.store(self.busy, Relaxed);
        spent.accounted.store(time, Release);
    }

    /// Measurements of `class` by this worker; none if nothing is to be measured.
    #[inline(always)]
    fn measured(&self, class: u16) -> Option<&Measured> {
        self.measured.as_ref().map(|measured| measured.class(class))
    }

    #[inline(always)]
    fn board(&self) -> &Board {
        &self.me.board
    }

    /// Runs `next` for as long as its discipline lets it. Returns the time afterwards.
    #[inline(always)]
    fn execute(&mut self, next: Next, time: u64) -> u64 {
        let Next { task, mut quantum } = next;
        self.be_busy(time);
        if !self.pool.task(task).started && !self.start(task, time) {
            return time;
        }
        let me = WorkerId(self.number as u32);
        loop {
            let cycles = self.quantum_cycles(task, quantum);
            let (reason, end) = self.slice(task, cycles);
            match reason {
                Reason::Done(outcome) => {
                    self.complete(task, outcome, end);
                    return end;
                }
                Reason::Park => {
                    self.pool.task(task).parks += 1;
                    let instant = self.shared.clock.instant(end);
                    self.discipline.on_blocked(instant, me, TaskId(task), &mut self.pool);
                    return end;
                }
                Reason::Overflow => {
                    std::mem::forget(self.pool.task(task).fiber.take());
                    self.has_leaked = true;
                    self.stacks.budget().replace_leaked();
                    exceptions::reset_thread();
                    self.complete(task, Outcome::Abandoned, end);
                    return end;
                }
                Reason::Quantum | Reason::Yield => {}
            }
            self.count_quantum(task, reason);
            self.flush_sinks();
            self.pool.running = Some(task);
            self.take_in(end);
            self.has_taken_in = true;
            if self.steals && self.is_wanted_elsewhere(task, reason) && self.offer(task, end) {
                return end;
            }
            let instant = self.shared.clock.instant(end);
            self.discipline.on_stopped(instant, me, TaskId(task), Stopped::Quantum, &mut self.pool);
            self.pool.running = None;
            match self.pool.resumed.take() {
                // At the runtime's end even a request that competes with none is given up.
                Some(more) if self.stage < Stage::Stopping => {
                    self.pool.task(task).preemptions -= 1;
                    quantum = more;
                    self.has_taken_in = false;
                }
                _ => return end,
            }
        }
    }

    /// The length of a quantum of `task`, in cycles: its own, else the runtime's, else the policy's.
    #[inline(always)]
    fn quantum_cycles(&mut self, task: u32, quantum: caudal_policy::Picos) -> u64 {
        if quantum == caudal_policy::Picos::MAX {
            return u64::MAX;
        }
        let own = self.pool.task(task).cell.quantum.get();
        if own != 0 {
            return u64::from(own);
        }
        match self.shared.quantum.load(Relaxed) {
            0 => self.shared.clock.cycles(quantum),
            override_cycles => override_cycles,
        }
    }

    /// Gives `task` a coroutine; `false` if it is not going to run now: it has been cancelled, or there is no stack.
    #[inline(always)]
    fn start(&mut self, task: u32, time: u64) -> bool {
        let Some(coroutine) = self.idle.pop().or_else(|| self.new_coroutine()) else {
            let instant = self.shared.clock.instant(time);
            self.stackless.push_back(task);
            // It counts as waiting, so that quanta end and the worker tries to get a stack now and then.
            self.pool.waiting += 1;
            self.discipline.on_blocked(instant, WorkerId(self.number as u32), TaskId(task), &mut self.pool);
            self.try_for_stack(time);
            self.shared.wake_sleepers();
            return false;
        };
        let cell = self.pool.task(task).cell;
        let header = cell;
        // SAFETY: the worker has the reference of the inbox from which the request came, until it has run.
        let started = unsafe {
            self.shared.end_if_due(cell, self.stage, time);
            cell.start(self.shared.place(self.number as u16))
        };
        let Some(started) = started else {
            self.idle.push(coroutine);
            self.drop_ended(task, time);
            return false;
        };
        coroutine.give(started);
        if let Some(measured) = self.measured(header.class.get()) {
            measured.started(time.saturating_sub(header.arrival.load(Relaxed)));
        }
        let entry = self.pool.task(task);
        entry.fiber = Some(coroutine);
        entry.started = true;
        true
    }

    /// Drops `task`, which ended before it started, though its discipline chose it to run.
    #[cold]
    fn drop_ended(&mut self, task: u32, time: u64) {
        let (instant, me) = (self.shared.clock.instant(time), WorkerId(self.number as u32));
        self.discipline.on_completed(instant, me, TaskId(task), &mut self.pool);
        // SAFETY: that of the inbox, from which the request came.
        unsafe { self.pool.task(task).cell.drop_ref(Reference::Runtime) };
        self.pool.forget(task);
        self.counts.inside -= 1;
        self.board().inside.store(self.counts.inside, Relaxed);
        self.a_stack_is_free(time);
    }

    /// A task that waits for a stack can start.
    #[inline(always)]
    fn a_stack_is_free(&mut self, time: u64) {
        if let Some(waiting) = self.stackless.pop_front() {
            self.pool.waiting -= 1;
            let instant = self.shared.clock.instant(time);
            self.discipline.on_ready(instant, TaskId(waiting), &mut self.pool);
        }
    }

    /// Runs the coroutine of `task` until it gives the worker back. Returns the reason and the time.
    #[inline(always)]
    fn slice(&mut self, task: u32, quantum: u64) -> (Reason, u64) {
        let may_elide = self.elides && self.pool.waiting == 0 && quantum != u64::MAX;
        let entry = self.pool.task(task);
        let Some(coroutine) = entry.fiber.as_mut() else { unreachable!("a started task has a coroutine") };
        let context = &*self.context;
        // SAFETY: the worker has the coroutine, and leaves the context after the slice.
        unsafe { context.enter(coroutine.seat(), entry.cell, task, entry.parks) };
        // SAFETY: the block is this thread's, and the seat the coroutine's.
        unsafe {
            let (block, seat) = (&mut *probe::block(), coroutine.seat().as_ref());
            (block.stack_low, block.stack_high) = (seat.low, seat.high);
            block.depth = entry.depth;
        }
        let me = self.me;
        me.board.slice.store(Slice::new(entry.cell.class.get(), quantum).0, Relaxed);
        me.spent.running.store(entry.cell.address().as_ptr(), Relaxed);
        let begin = now();
        light_barrier();
        me.board.slice_start.store(begin, Release);
        if may_elide {
            let start = elision::SliceStart {
                begun: begin,
                busy: self.busy,
                quanta: self.counts.quanta,
                notice: self.notice,
            };
            context.elision.allow(&self.shared, quantum, &start);
        } else {
            context.elision.forbid();
        }
        if self.raise_flags {
            await_flag(&me.spent, begin, quantum);
        }
        probe::arm(begin, quantum);
        let reason = coroutine.resume();
        // SAFETY: the block is this thread's.
        if unsafe { (*probe::block()).runtime } == 0 {
            crate::base::fork::end_child();
        }
        // The probe has just read the clock; time from there on is the scheduler's.
        let end = if reason == Reason::Quantum { context.noticed.get() } else { now() };
        context.leave();
        // SAFETY: the block is this thread's.
        unsafe {
            let block = &mut *probe::block();
            entry.depth = std::mem::replace(&mut block.depth, 1);
            (block.stack_low, block.stack_high) = (0, 0);
        }
        let elided = context.elision.take_elided();
        entry.attained += end - begin;
        entry.quanta += elided;
        self.counts.quanta += u64::from(elided);
        let session = self.shared.timeline.session();
        if session != OFF {
            self.trace_slice(task, reason, begin, end, session);
        }
        if self.raise_flags {
            self.me.spent.due.store(u64::MAX, Relaxed);
        }
        self.busy += end - begin;
        self.account(end);
        // After the account: a reader that sees no slice sees its time there.
        self.board().slice_start.store(0, Release);
        light_barrier();
        (reason, end)
    }

    /// `task` has used up a quantum.
    #[inline(always)]
    fn count_quantum(&mut self, task: u32, reason: Reason) {
        let entry = self.pool.task(task);
        entry.quanta += 1;
        // Taken back if it is resumed at once.
        entry.preemptions += 1;
        self.counts.quanta += 1;
        let class = entry.cell.class.get();
        self.board().quanta.store(self.counts.quanta, Relaxed);
        if reason == Reason::Quantum {
            let late = self.context.noticed.get().saturating_sub(self.context.due.get());
            if let Some(measured) = self.measured(class) {
                measured.preempted(late);
            }
        }
    }

    /// `task` has ended: its waiter is told first, then it is measured.
    #[inline(always)]
    fn complete(&mut self, task: u32, outcome: Outcome, end: u64) {
        let entry = self.pool.task(task);
        let (cell, attained, quanta, preemptions) =
            (entry.cell, entry.attained, entry.quanta, entry.preemptions);
        let coroutine = entry.fiber.take();
        if entry.depth != 0 {
            self.shared.left_something(cell, coroutine.as_ref());
        }
        let (class, arrival) = (cell.class.get(), cell.arrival.load(Relaxed));
        // SAFETY: this worker has run the request, whose coroutine has just said how it ended.
        unsafe { hand_over(cell, outcome, &*self.shared) };
        self.idle.extend(coroutine);
        self.pool.forget(task);

        let me = self.me;
        self.counts.end(quanta, &me.board);

        let (instant, me) = (self.shared.clock.instant(end), WorkerId(self.number as u32));
        self.discipline.on_completed(instant, me, TaskId(task), &mut self.pool);
        if let Some(measured) = self.measured(class) {
            measured.ended(attained, end.saturating_sub(arrival), quanta, preemptions);
        }
        if outcome != Outcome::Returned {
            self.shared.count_outcome(outcome);
        }
        self.a_stack_is_free(end);
        if self.rebalance.may_shed() {
            self.maybe_flag(end);
        }
    }
}

/// Lets the dispatcher raise this thread's flag when the quantum is over; clears a flag that it has raised for an earlier slice.
#[inline]
fn await_flag(spent: &Spent, begin: u64, quantum: u64) {
    // SAFETY: the flag is this thread's.
    unsafe { &*probe::flag() }.store(0, Relaxed);
    spent.due.store(begin.saturating_add(quantum), Release);
}
