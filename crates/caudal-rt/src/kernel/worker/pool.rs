//! The pool of one worker as its discipline sees it: lanes of tasks, and what the discipline has decided. The worker calls it where it
//! schedules, and passes it to its discipline; it belongs to the worker's thread.
//!
//! A task is a request that this worker has taken in. Requests that wait in the worker's inbox are none yet: others may
//! still take them away (see [`Discipline::intake`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use caudal_policy::discipline::{Discipline, End, Lane, Order, Pool};
use caudal_policy::{Picos, TaskId, WorkerId};

use crate::base::clock::Clock;
use crate::request::Request;

/// No task.
pub(crate) const NONE: u32 = u32::MAX;

/// A request that the worker has taken in.
pub(crate) struct Task<F> {
    pub(crate) cell: Request,
    /// Its coroutine, once it has started.
    pub(crate) fiber: Option<F>,
    /// Time on the worker, in cycles.
    pub(crate) attained: u64,
    /// Quanta that it has used up.
    pub(crate) quanta: u32,
    pub(crate) preemptions: u32,
    /// The task behind it in its lane, or in the list of free names.
    next: u32,
    pub(crate) started: bool,
    /// Critical sections that it is in, while it does not run.
    pub(crate) depth: u32,
    /// Counts the times that it has parked, so that a timer that comes late is known.
    pub(crate) parks: u32,
}

/// A first-in-first-out list through [`Task::next`].
#[derive(Clone, Copy)]
struct Queue {
    head: u32,
    tail: u32,
    len: u32,
}

/// Tasks of a lane by key, and by entry among equals: both in one number. The first one is outside of the heap, where a task that
/// takes turns with another one finds it.
#[derive(Default)]
struct Sorted {
    first: Option<(u128, u32)>,
    rest: BinaryHeap<Reverse<(u128, u32)>>,
}

impl Sorted {
    #[inline(always)]
    fn push(&mut self, task: (u128, u32)) {
        match self.first {
            None => self.first = Some(task),
            Some(first) if task < first => {
                self.first = Some(task);
                self.rest.push(Reverse(first));
            }
            Some(_) => self.rest.push(Reverse(task)),
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<u32> {
        let (_, task) = self.first?;
        self.first = self.rest.pop().map(|Reverse(task)| task);
        Some(task)
    }

    fn len(&self) -> u32 {
        u32::from(self.first.is_some()) + self.rest.len() as u32
    }
}

/// Decision of the discipline: a task, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) task: u32,
    pub(crate) quantum: Picos,
}

/// Lanes and tasks of one worker, whose coroutines are `F`.
pub(crate) struct LocalPool<F> {
    worker: u32,
    clock: Clock,
    tasks: Vec<Task<F>>,
    free: u32,
    order: Order,
    stealable_lane: Lane,
    queues: Box<[Queue]>,
    /// For lanes ordered by key.
    sorted: Box<[Sorted]>,
    entries: u64,
    waiting_lanes: u64,
    /// Tasks in all lanes.
    pub(crate) waiting: u32,
    /// Tasks in the stealable lane that have not started.
    pub(crate) fresh: u32,
    /// The discipline was asked what to run, and found nothing: only then may it give the worker a task as soon as one comes.
    /// Before that, older tasks could be waiting.
    pub(crate) resting: bool,
    /// A task is on the worker, or about to be asked what becomes of it.
    pub(crate) running: Option<u32>,
    /// The task to run next.
    pub(crate) next: Option<Next>,
    /// The stopped task goes on for so long.
    pub(crate) resumed: Option<Picos>,
}

impl<F> LocalPool<F> {
    pub(crate) fn new(worker: u32, clock: Clock, discipline: &impl Discipline) -> LocalPool<F> {
        let lanes = discipline.lanes();
        LocalPool {
            worker,
            clock,
            tasks: Vec::new(),
            free: NONE,
            order: discipline.order(),
            stealable_lane: discipline.stealable_lane(),
            queues: vec![Queue { head: NONE, tail: NONE, len: 0 }; lanes as usize].into(),
            sorted: (0..lanes).map(|_| Sorted::default()).collect(),
            entries: 0,
            waiting_lanes: 0,
            waiting: 0,
            fresh: 0,
            resting: false,
            running: None,
            next: None,
            resumed: None,
        }
    }

    /// Names the request `cell`, which the worker has taken in.
    #[inline]
    pub(crate) fn admit(&mut self, cell: Request) -> u32 {
        let task = Task {
            cell,
            fiber: None,
            attained: 0,
            quanta: 0,
            preemptions: 0,
            next: NONE,
            started: false,
            depth: 0,
            parks: 0,
        };
        if self.free == NONE {
            self.tasks.push(task);
            return self.tasks.len() as u32 - 1;
        }
        let name = self.free;
        self.free = self.tasks[name as usize].next;
        self.tasks[name as usize] = task;
        name
    }

    /// The request has left the worker for good.
    #[inline]
    pub(crate) fn forget(&mut self, task: u32) {
        self.tasks[task as usize].next = self.free;
        self.free = task;
    }

    #[inline(always)]
    pub(crate) fn task(&mut self, task: u32) -> &mut Task<F> {
        &mut self.tasks[task as usize]
    }

    /// Every task that has not ended; for shutdown.
    pub(crate) fn all(&self) -> Vec<u32> {
        let mut free = vec![false; self.tasks.len()];
        let mut name = self.free;
        while name != NONE {
            free[name as usize] = true;
            name = self.tasks[name as usize].next;
        }
        (0..self.tasks.len() as u32).filter(|&task| !free[task as usize]).collect()
    }

    /// Every task that has started and has not ended; for shutdown.
    pub(crate) fn started(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.tasks.len() as u32).filter(|&task| self.tasks[task as usize].fiber.is_some())
    }

    fn joined(&mut self, task: u32, lane: Lane) {
        self.waiting += 1;
        self.waiting_lanes |= 1_u64.checked_shl(lane).unwrap_or(0);
        self.fresh += u32::from(lane == self.stealable_lane && !self.tasks[task as usize].started);
    }
}

impl<F> Pool for LocalPool<F> {
    #[inline(always)]
    fn idle(&self) -> Option<WorkerId> {
        self.resting.then_some(WorkerId(self.worker))
    }

    #[inline(always)]
    fn len(&self, lane: Lane) -> u32 {
        match self.order {
            Order::Key => self.sorted[lane as usize].len(),
            Order::Queue | Order::Entry => self.queues[lane as usize].len,
        }
    }

    fn idle_among(&self, seats: Range<u32>) -> Option<WorkerId> {
        self.idle().filter(|_| seats.contains(&0))
    }

    fn waiting_lanes(&self) -> u64 {
        self.waiting_lanes
    }

    #[inline(always)]
    fn head(&self, lane: Lane) -> Option<TaskId> {
        let head = match self.order {
            Order::Key => self.sorted[lane as usize].first.map(|(_, task)| task),
            Order::Queue | Order::Entry => Some(self.queues[lane as usize].head).filter(|&task| task != NONE),
        };
        head.map(TaskId)
    }

    fn key(&self, _task: TaskId) -> u64 {
        unreachable!("lanes in the order of entry are not run here")
    }

    #[inline(always)]
    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let task = match self.order {
            Order::Key => self.sorted[lane as usize].take()?,
            Order::Queue | Order::Entry => {
                let queue = &mut self.queues[lane as usize];
                let task = Some(queue.head).filter(|&task| task != NONE)?;
                queue.head = self.tasks[task as usize].next;
                queue.len -= 1;
                if queue.head == NONE {
                    queue.tail = NONE;
                }
                task
            }
        };
        self.waiting -= 1;
        if self.len(lane) == 0 {
            self.waiting_lanes &= !1_u64.checked_shl(lane).unwrap_or(0);
        }
        self.fresh -= u32::from(lane == self.stealable_lane && !self.tasks[task as usize].started);
        Some(TaskId(task))
    }

    #[inline(always)]
    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        let (name, queue) = (task.0, &mut self.queues[lane as usize]);
        match end {
            End::Head => {
                self.tasks[name as usize].next = queue.head;
                if queue.head == NONE {
                    queue.tail = name;
                }
                queue.head = name;
            }
            End::Tail => {
                self.tasks[name as usize].next = NONE;
                if queue.tail == NONE {
                    queue.head = name;
                } else {
                    self.tasks[queue.tail as usize].next = name;
                }
                queue.tail = name;
            }
        }
        queue.len += 1;
        self.joined(name, lane);
    }

    #[inline(always)]
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        self.entries += 1;
        let key = u128::from(key) << 64 | u128::from(self.entries);
        self.sorted[lane as usize].push((key, task.0));
        self.joined(task.0, lane);
    }

    #[inline(always)]
    fn run(&mut self, _worker: WorkerId, task: TaskId, quantum: Picos) {
        debug_assert!(self.next.is_none(), "one worker, one task");
        self.resting = false;
        self.next = Some(Next { task: task.0, quantum });
    }

    #[inline(always)]
    fn resume(&mut self, _worker: WorkerId, quantum: Picos) {
        self.resumed = Some(quantum);
    }

    fn preempt(&mut self, _worker: WorkerId) -> bool {
        // A discipline is asked between two tasks or when one has stopped: nothing runs at that time.
        false
    }

    fn seat(&self, _worker: WorkerId) -> u32 {
        0
    }

    fn worker(&self, _seat: u32) -> WorkerId {
        WorkerId(self.worker)
    }

    fn workers(&self) -> u32 {
        1
    }

    fn running(&self, _i: u32) -> Option<(WorkerId, TaskId)> {
        self.running.map(|task| (WorkerId(self.worker), TaskId(task)))
    }

    #[inline(always)]
    fn attained(&self, task: TaskId) -> Picos {
        self.clock.picos(self.tasks[task.index()].attained)
    }

    fn remaining(&self, _task: TaskId) -> Picos {
        unreachable!("clairvoyant policies are refused when the file is read")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::allocate;
    use caudal_policy::discipline::{Fcfs, Las, LasConfig};

    fn pool(discipline: &impl Discipline) -> LocalPool<()> {
        LocalPool::new(0, Clock::new(1e9), discipline)
    }

    #[test]
    fn a_lane_is_a_queue_with_two_ends() {
        let mut pool = pool(&Fcfs);
        let names: Vec<u32> = (0..4).map(|_| pool.admit(allocate())).collect();
        pool.enqueue(TaskId(names[0]), 0, End::Tail);
        pool.enqueue(TaskId(names[1]), 0, End::Tail);
        pool.enqueue(TaskId(names[2]), 0, End::Head);
        pool.task(names[3]).started = true;
        pool.enqueue(TaskId(names[3]), 0, End::Tail);
        assert_eq!((pool.len(0), pool.waiting, pool.fresh, pool.waiting_lanes()), (4, 4, 3, 1));
        let order: Vec<u32> = std::iter::from_fn(|| pool.take(0)).map(|task| task.0).collect();
        assert_eq!(order, [names[2], names[0], names[1], names[3]]);
        assert_eq!((pool.waiting, pool.fresh, pool.waiting_lanes(), pool.head(0)), (0, 0, 0, None));
        pool.forget(names[1]);
        assert_eq!(pool.admit(allocate()), names[1], "names are used again");
    }

    #[test]
    fn lanes_by_key_are_first_come_first_served_among_equals() {
        let mut pool = pool(&Las::new(LasConfig::default()));
        for key in [5, 1, 5, 1] {
            let task = pool.admit(allocate());
            pool.enqueue_by(TaskId(task), 0, key);
        }
        let order: Vec<u32> = std::iter::from_fn(|| pool.take(0)).map(|task| task.0).collect();
        assert_eq!(order, [1, 3, 0, 2]);
    }
}
