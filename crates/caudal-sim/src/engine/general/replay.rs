//! The simulator's side of policies, driven by what a runtime has logged instead of by simulated time. `caudal_sim::replay` feeds it a
//! log, one decision after the other, and compares the answers. No clock and no files here.
//!
//! Pools and views are the engine's own: [`Step`] with its lanes, [`PoolsSeen`] over the open pools, the order of walks and the draws
//! of [`super::balance`]. What a simulation works out, a log says: how much service a task has received, whether it has
//! completed, how many requests a pool has. So that goes into the engine's tables before it is asked.
//!
//! ```text
//!  log says            here
//!  attained            remaining = FULL - attained, nothing unaccounted
//!  completed           the slice that ends now is all that remains
//!  unfinished, quanta  counts of the open pools; one task in each lane, with so many quanta
//! ```

use std::cell::RefCell;

use caudal_config::{Costs, System};
use caudal_log::{Answer, Entry, Watched, Why, Witness};
use caudal_policy::discipline::{Discipline, Fcfs, Intake};
use caudal_policy::dispatch::{AnyDispatch, Asks, Dispatch, Placement};
use caudal_policy::random::Draw;
use caudal_policy::rebalance::{AnyRebalance, Rebalance};
use caudal_policy::{Picos, PoolId};

use super::balance::{flag_target, walk_draw};
use super::core::{Core, Phase};
use super::host::PoolsSeen;
use super::scheduling::{Expired, Scheduling};
use super::step::Step;
use crate::engine::kernel::bits::BitSet;
use crate::engine::kernel::observe::Unwatched;
use crate::engine::kernel::record::Recorder;
use crate::engine::kernel::streams::{Purpose, stream};
use crate::engine::kernel::tasks::{NONE, Task};
use crate::engine::kernel::walks::walk_order;
use crate::engine::kernel::window::{Length, Measured};

/// Service that every task needs, in ps: more than any receives.
const FULL_PS: u64 = 1 << 62;
/// No instant of a replay is later, in ps.
const LATEST_PS: u64 = 1 << 61;
/// No name of a task is higher, so that a damaged log takes no memory.
const TASKS_MAX: u32 = 1 << 24;
/// Events may be so much earlier than the first, in ps: a second.
const EARLIER_PS: u64 = 1_000_000_000_000;

/// An event that can not have happened in the simulator's pool, given all that came before.
pub(crate) struct Impossible(pub(crate) &'static str);

/// A task with nothing known about it.
fn new_task() -> Task {
    Task {
        // No queueing is worked out here, and the clock may have been read for two events in another order.
        arrival_ps: 0,
        service_ps: FULL_PS,
        remaining_ps: FULL_PS,
        queued_ps: 0,
        overhead_ps: 0,
        number: 0,
        next: NONE,
        preemptions: 0,
        quanta: 0,
        class: 0,
        started: false,
        long: false,
    }
}

fn core(pools: usize, asks: Asks) -> Core<Unwatched> {
    Core::new(
        &vec![1; pools],
        Costs::default(),
        asks,
        (Recorder::new(1, false, false), Measured::new(Length { warm_up: 0, measured: 0 })),
        Unwatched,
    )
}

/// Keeps what a discipline decides.
#[derive(Default)]
struct Heard {
    decisions: RefCell<Vec<Entry>>,
}

impl Witness for Heard {
    fn event(&self, _event: Entry) {}
    fn decision(&self, decision: Entry) {
        self.decisions.borrow_mut().push(decision);
    }
    fn end(&self) {}
    fn intake(&self, _answer: Intake) {}
}

/// The pool of one worker in the simulator.
pub(crate) struct Pool<D> {
    core: Core<Unwatched>,
    step: Step<Watched<D, Heard>>,
    /// By the log's name of a task: the slab's, or `NONE`.
    names: Vec<u32>,
    /// By the slab's name of a task: the log's, and whether it is blocked.
    logged: Vec<(u32, bool)>,
    /// The instant at which time begins here.
    epoch_ps: Option<u64>,
}

impl<D: Discipline> Pool<D> {
    pub(crate) fn new(make: impl Fn() -> D) -> Pool<D> {
        let core = core(1, Asks::Nothing);
        let step = Step::new(&[1], || Watched::new(make(), Heard::default()), &Costs::FREE);
        let mut pool = Pool { core, step, names: Vec::new(), logged: Vec::new(), epoch_ps: None };
        pool.core.workers[0].phase = Phase::Between;
        pool
    }

    /// The discipline's answers to `event`, in the log's names.
    pub(crate) fn decisions(&mut self, event: Entry) -> Result<Vec<Entry>, Impossible> {
        self.feed(event)?;
        let mut heard = self.step.discipline(0).witness().decisions.take();
        heard.iter_mut().for_each(|decision| self.rename(decision));
        Ok(heard)
    }

    fn rename(&self, decision: &mut Entry) {
        if let Entry::Run { task, .. }
        | Entry::Enqueue { task, .. }
        | Entry::EnqueueBy { task, .. }
        | Entry::Take { task, .. } = decision
        {
            *task = self.logged[*task as usize].0;
        }
    }

    fn feed(&mut self, event: Entry) -> Result<(), Impossible> {
        match event {
            Entry::Arrival { now_ps, task } => {
                self.set_time(now_ps);
                let task = self.admit(task)?;
                self.step.arrive(&mut self.core, 0, task);
            }
            Entry::Moved { now_ps, task, more, attained_ps } => {
                self.set_time(now_ps);
                let task = self.admit(task)?;
                self.core.tasks[task].remaining_ps = FULL_PS.saturating_sub(attained_ps).max(1);
                self.step.put(&mut self.core, 0, task, more);
            }
            Entry::Free { now_ps } => {
                self.set_time(now_ps);
                self.free()?;
            }
            Entry::Stopped { now_ps, task, attained_ps, why } => {
                self.set_time(now_ps);
                self.core.workers[0].stopping = why == Why::Preempted;
                self.runs(task, attained_ps)?;
                self.expire(0);
            }
            Entry::Completed { now_ps, task, attained_ps } => {
                self.set_time(now_ps);
                let ended = self.runs(task, attained_ps)?;
                self.expire(self.core.tasks[ended].remaining_ps);
                self.names[task as usize] = NONE;
            }
            Entry::Blocked { now_ps, task, attained_ps } => {
                self.set_time(now_ps);
                let blocked = self.runs(task, attained_ps)?;
                self.logged[blocked as usize].1 = true;
                self.step.block(&mut self.core, 0);
            }
            Entry::Ready { now_ps, task } => {
                self.set_time(now_ps);
                let ready = self.name(task)?;
                if !std::mem::take(&mut self.logged[ready as usize].1) {
                    return Err(Impossible("a task that is not blocked becomes ready"));
                }
                self.step.wake(&mut self.core, 0, ready);
            }
            _ => return Err(Impossible("no event of a pool")),
        }
        Ok(())
    }

    fn set_time(&mut self, now_ps: u64) {
        let epoch_ps = *self.epoch_ps.get_or_insert(now_ps.wrapping_sub(EARLIER_PS));
        self.core.now_ps = now_ps.wrapping_sub(epoch_ps).min(LATEST_PS);
    }

    /// A task comes in under the name that the log gives it.
    fn admit(&mut self, logged: u32) -> Result<u32, Impossible> {
        if logged > TASKS_MAX {
            return Err(Impossible("no runtime has so many tasks"));
        }
        let id = self.core.tasks.insert(new_task());
        let (at, place) = (logged as usize, id as usize);
        self.names.resize(self.names.len().max(at + 1), NONE);
        self.logged.resize(self.logged.len().max(place + 1), (NONE, false));
        self.names[at] = id;
        self.logged[place] = (logged, false);
        Ok(id)
    }

    fn name(&self, logged: u32) -> Result<u32, Impossible> {
        let id = self.names.get(logged as usize).copied().filter(|&id| id != NONE);
        id.ok_or(Impossible("there is no task of that name"))
    }

    /// `logged` runs, and has received so much service by now.
    fn runs(&mut self, logged: u32, attained_ps: u64) -> Result<u32, Impossible> {
        let id = self.name(logged)?;
        let worker = &self.core.workers[0];
        if worker.phase != Phase::Running || worker.task != id {
            return Err(Impossible("that task does not run"));
        }
        self.core.tasks[id].remaining_ps = FULL_PS.saturating_sub(attained_ps).max(1);
        Ok(id)
    }

    /// The slice of the task that runs ends, with so much that is not accounted for.
    fn expire(&mut self, slice_ps: u64) {
        self.core.workers[0].slice_ps = slice_ps;
        let expired = self.step.expire(&mut self.core, 0);
        debug_assert_eq!(matches!(expired, Expired::Completed(_)), slice_ps > 0);
    }

    fn free(&mut self) -> Result<(), Impossible> {
        if self.core.workers[0].phase == Phase::Running {
            return Err(Impossible("a worker that runs a task is free"));
        }
        self.core.leave_idle(0);
        if !self.step.free(&mut self.core, 0) {
            self.core.workers[0].phase = Phase::Idle;
            self.core.idle.insert(0);
        }
        Ok(())
    }

    /// How many unstarted tasks does the discipline want?
    pub(crate) fn intake(&mut self) -> Answer {
        self.step.intake(&mut self.core, 0).into()
    }
}

/// The dispatcher in the simulator.
pub(crate) struct Dispatcher {
    core: Core<Unwatched>,
    /// A lane for each pool, with one task in it that has the quanta of all.
    step: Step<Fcfs>,
    tasks: Vec<u32>,
    policy: AnyDispatch,
    seed: u64,
    held: Option<u64>,
}

/// No pool has more requests, so that a damaged log takes no memory.
const UNFINISHED_MAX: u32 = 1 << 22;

impl Dispatcher {
    pub(crate) fn new(system: &System, workers: u32, seed: u64) -> Dispatcher {
        let policy = AnyDispatch::from(system.dispatch);
        let pools = workers as usize;
        let mut core = core(pools, policy.asks());
        let mut step = Step::new(&vec![1; pools], || Fcfs, &Costs::FREE);
        let tasks = (0..pools).map(|_| core.tasks.insert(new_task())).collect::<Vec<u32>>();
        for (pool, &task) in tasks.iter().enumerate() {
            core.open.open(pool);
            // No worker is there: it waits.
            step.arrive(&mut core, pool, task);
        }
        Dispatcher { core, step, tasks, policy, seed: stream(seed, Purpose::Dispatch), held: None }
    }

    /// Pool `worker` has so many requests, which have received so many quanta.
    pub(crate) fn see(&mut self, worker: u32, unfinished: u32, quanta: u64) -> Result<(), Impossible> {
        let pool = worker as usize;
        if pool >= self.tasks.len() || unfinished > UNFINISHED_MAX {
            return Err(Impossible("no such worker, or too many requests"));
        }
        if self.policy.asks() != Asks::Nothing {
            let known = self.core.open.unfinished(pool);
            (known..unfinished).for_each(|_| self.core.open.add(pool));
            (unfinished..known).for_each(|_| self.core.open.sub(pool));
        }
        let quanta = u32::try_from(quanta).unwrap_or(u32::MAX);
        self.core.tasks[self.tasks[pool]].quanta = quanta;
        Ok(())
    }

    /// Where request `number` goes; `None`: it is held.
    pub(crate) fn place(&mut self, number: u64) -> Option<PoolId> {
        let draw = Draw::new(self.seed, number);
        let mut seen = PoolsSeen { core: &mut self.core, sched: &mut self.step, task: NONE };
        let pool = if self.held == Some(number) {
            self.policy.on_room(draw, &mut seen)
        } else {
            match self.policy.on_arrival(draw, &mut seen) {
                Placement::Pool(pool) | Placement::Moved { pool, .. } => Some(pool),
                Placement::Hold => None,
            }
        };
        self.held = (pool.is_none() && self.policy.holds()).then_some(number);
        pool
    }
}

/// Walks and flags of one worker in the simulator.
pub(crate) struct Balance {
    policy: AnyRebalance,
    worker: usize,
    order: Box<[u16]>,
    walk_seed: u64,
    flag_seed: u64,
    unflagged: BitSet,
    /// Places of the present walk that are still to be checked: from, up to.
    ahead: (usize, usize),
}

impl Balance {
    pub(crate) fn new(system: &System, worker: u32, workers: u32, seed: u64) -> Balance {
        Balance {
            policy: AnyRebalance::from(system.rebalance),
            worker: worker as usize,
            order: walk_order(seed, workers as usize).0,
            walk_seed: stream(seed, Purpose::Walk),
            flag_seed: stream(seed, Purpose::Flag),
            unflagged: BitSet::new(workers as usize),
            ahead: (0, 0),
        }
    }

    /// The worker's answer to `event`, as an entry like it.
    pub(crate) fn decision(&mut self, event: Entry) -> Result<Entry, Impossible> {
        Ok(match event {
            Entry::Walk { number, .. } => {
                let pools = self.order.len();
                let draw = walk_draw(self.walk_seed, self.worker, number);
                let start = self.policy.walk_start(draw, pools as u32);
                self.ahead = (start as usize, start as usize + pools);
                Entry::Walk { number, start }
            }
            Entry::Looked { len, .. } => {
                let victim = self.next_victim().ok_or(Impossible("the walk was over"))?;
                Entry::Looked { victim, len, amount: self.policy.steal_amount(len) }
            }
            Entry::Overload { waited_ps, .. } => {
                Entry::Overload { waited_ps, sheds: self.policy.sheds(Picos(waited_ps)) }
            }
            Entry::Flag { number, .. } => {
                let mut draw = walk_draw(self.flag_seed, self.worker, number);
                let target = flag_target(&self.unflagged, self.worker, false, &mut draw);
                let target = target.ok_or(Impossible("all have a flag"))? as u32;
                Entry::Flag { number, target }
            }
            Entry::Shed { asker, own, len, .. } => {
                Entry::Shed { asker, own, len, amount: self.policy.shed_amount(own, len) }
            }
            _ => return Err(Impossible("no event of a worker that searches elsewhere")),
        })
    }

    fn next_victim(&mut self) -> Option<u32> {
        let (mut at, end) = self.ahead;
        let pools = self.order.len();
        at += usize::from(at < end && usize::from(self.order[at % pools]) == self.worker);
        self.ahead = (at + 1, end);
        (at < end).then(|| u32::from(self.order[at % pools]))
    }

    /// Of the 64 workers from `first` on, those have no flag.
    pub(crate) fn see_unflagged(&mut self, first: u32, bits: u64) {
        for worker in (first as usize..self.order.len()).take(64) {
            let has_none = bits >> (worker - first as usize) & 1 == 1;
            match (self.unflagged.contains(worker), has_none) {
                (false, true) => self.unflagged.insert(worker),
                (true, false) => self.unflagged.remove(worker),
                _ => {}
            }
        }
    }
}
