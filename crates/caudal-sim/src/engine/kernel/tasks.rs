//! The slab that holds the tasks of a run, and queues of tasks as linked lists through it. The loops put a task in at arrival and take it
//! out at completion. A data structure without other state.
//!
//! A slab grows to the most tasks that were ever in the system at once and is then reused: memory follows
//! the backlog, not the number of requests.

/// No task.
pub(in crate::engine) const NONE: u32 = u32::MAX;

/// One request in the system; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(in crate::engine) struct Task {
    /// When it arrived.
    pub(in crate::engine) arrival_ps: u64,
    /// Its service time alone on an uninstrumented core.
    pub(in crate::engine) service_ps: u64,
    /// Work left, probes included.
    pub(in crate::engine) remaining_ps: u64,
    /// Time from arrival to its first service.
    pub(in crate::engine) queued_ps: u64,
    /// Time it stood still on a core, for work of the scheduler.
    pub(in crate::engine) overhead_ps: u64,
    /// Its number among all requests of the run.
    pub(in crate::engine) number: u64,
    /// The next in its queue; of a task that runs, the worker.
    pub(in crate::engine) next: u32,
    /// Preemptions so far.
    pub(in crate::engine) preemptions: u32,
    /// Quanta received so far, those included after which it went on at once.
    pub(in crate::engine) quanta: u32,
    pub(in crate::engine) class: u8,
    pub(in crate::engine) started: bool,
    /// Longer than the mean: what others wait behind.
    pub(in crate::engine) long: bool,
}

/// A task that can stand in a queue.
pub(in crate::engine) trait Linked: Copy {
    /// The next in its queue.
    fn next(&self) -> u32;
    /// See [`Linked::next`].
    fn set_next(&mut self, next: u32);
}

impl Linked for Task {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// All tasks that are in the system.
pub(in crate::engine) struct Tasks<T = Task> {
    slab: Vec<T>,
    free: u32,
}

impl<T: Linked> Tasks<T> {
    pub(in crate::engine) fn new() -> Tasks<T> {
        Tasks { slab: Vec::with_capacity(1024), free: NONE }
    }

    #[inline(always)]
    pub(in crate::engine) fn insert(&mut self, task: T) -> u32 {
        if self.free == NONE {
            let id = u32::try_from(self.slab.len()).expect("fewer than 2^32 tasks at once");
            self.slab.push(task);
            return id;
        }
        let id = self.free;
        let place = &mut self.slab[id as usize];
        self.free = place.next();
        *place = task;
        id
    }

    #[inline(always)]
    pub(in crate::engine) fn remove(&mut self, id: u32) -> T {
        let place = &mut self.slab[id as usize];
        let task = *place;
        place.set_next(self.free);
        self.free = id;
        task
    }
}

impl<T> std::ops::Index<u32> for Tasks<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: u32) -> &T {
        &self.slab[id as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Tasks<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.slab[id as usize]
    }
}

/// A queue of tasks.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Queue {
    head: u32,
    tail: u32,
    len: u32,
}

impl Queue {
    pub(in crate::engine) const EMPTY: Queue = Queue { head: NONE, tail: NONE, len: 0 };

    #[inline]
    pub(in crate::engine) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(in crate::engine) fn head(&self) -> Option<u32> {
        (self.len > 0).then_some(self.head)
    }

    /// From head to tail.
    pub(in crate::engine) fn iter<'a, T: Linked>(
        &self,
        tasks: &'a Tasks<T>,
    ) -> impl Iterator<Item = u32> + use<'a, T> {
        let (mut next, mut left) = (self.head, self.len);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let id = next;
            next = tasks[id].next();
            Some(id)
        })
    }

    #[inline(always)]
    pub(in crate::engine) fn push_back<T: Linked>(&mut self, tasks: &mut Tasks<T>, id: u32) {
        tasks[id].set_next(NONE);
        if self.len == 0 {
            self.head = id;
        } else {
            tasks[self.tail].set_next(id);
        }
        self.tail = id;
        self.len += 1;
    }

    #[inline]
    pub(in crate::engine) fn push_front<T: Linked>(&mut self, tasks: &mut Tasks<T>, id: u32) {
        tasks[id].set_next(self.head);
        if self.len == 0 {
            self.tail = id;
        }
        self.head = id;
        self.len += 1;
    }

    /// Joins before the first one that it is to `precede`; nearly always that is at one of the ends.
    #[inline(always)]
    pub(in crate::engine) fn insert<T: Linked>(
        &mut self,
        tasks: &mut Tasks<T>,
        id: u32,
        precedes: impl Fn(&Tasks<T>, u32) -> bool,
    ) {
        if self.len == 0 || !precedes(tasks, self.tail) {
            return self.push_back(tasks, id);
        }
        if precedes(tasks, self.head) {
            return self.push_front(tasks, id);
        }
        let mut before = self.head;
        while !precedes(tasks, tasks[before].next()) {
            before = tasks[before].next();
        }
        let next = tasks[before].next();
        tasks[id].set_next(next);
        tasks[before].set_next(id);
        self.len += 1;
    }

    #[inline(always)]
    pub(in crate::engine) fn pop_front<T: Linked>(&mut self, tasks: &Tasks<T>) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let id = self.head;
        self.head = tasks[id].next();
        self.len -= 1;
        Some(id)
    }
}
