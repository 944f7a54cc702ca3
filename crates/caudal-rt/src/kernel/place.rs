//! Placing of submissions: to the dispatcher, or straight into the inbox of a worker. Called when a request is submitted.
//!
//! Without a dispatcher each submitting thread places its own requests, as receive-side scaling does for each flow: submitters share
//! nothing, each has a policy of its own.

use std::cell::{Cell, RefCell};

use caudal_policy::PoolId;
use caudal_policy::dispatch::{AnyBlind, Blind, Places};
use caudal_policy::random::{Draw, hash};

use crate::kernel::entrance::Entrance;
use crate::kernel::shared::Shared;
use crate::request::Request;

/// Knowledge of a thread about a runtime to which it has submitted.
struct Submitter {
    runtime: u64,
    policy: AnyBlind,
    /// Requests that it has placed there.
    placed: u64,
}

/// Number of runtimes that a thread remembers; with one that it has forgotten it begins anew.
const REMEMBERED: usize = 8;

thread_local! {
    /// Requests that this thread has handed in to inboxes, of all runtimes.
    static PLACED: Cell<u64> = const { Cell::new(0) };
    /// Number of this thread, which no other thread has; 0: none yet.
    static THREAD: Cell<u64> = const { Cell::new(0) };
    /// The runtimes to which this thread has submitted, the last one first.
    static SUBMITTERS: RefCell<Vec<Submitter>> = const { RefCell::new(Vec::new()) };
}

fn thread_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static THREADS: AtomicU64 = AtomicU64::new(1);
    THREAD.with(|number| {
        if number.get() == 0 {
            number.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// All workers, of which a policy without a dispatcher sees nothing. Each thread counts them from another one on: else round robin would
/// send all threads to the same worker at a time.
struct Everyone {
    workers: u32,
    first: u32,
}

impl Places for Everyone {
    #[inline]
    fn open(&self) -> u32 {
        self.workers
    }

    #[inline]
    fn nth(&self, i: u32) -> PoolId {
        PoolId((self.first + i) % self.workers)
    }
}

impl Shared {
    /// Hands in a new request; `false` if there is no room where it would go.
    ///
    /// # Safety
    /// Nobody else has seen the request, whose reference [`Reference::Runtime`](crate::request::Reference::Runtime) goes to the queue.
    #[inline]
    pub(crate) unsafe fn push_new(&self, cell: Request, arrival: u64) -> bool {
        let policy = match &self.entrance {
            Entrance::Dispatcher(queue) => return queue.push(cell, arrival).is_ok(),
            Entrance::Inboxes(policy) => policy,
        };
        let worker = self.choose(policy);
        // For timelines: a number that no other request of this process has.
        cell.number.set(thread_number() << 40 | PLACED.replace(PLACED.get() + 1) & ((1 << 40) - 1));
        // SAFETY: nobody else has seen the cell.
        unsafe { cell.state.place_unshared(self.place(worker as u16)) };
        self.workers[worker].inbox.push(cell, arrival).is_ok()
    }

    /// Not inlined: a request may submit again and again, and change its thread in between.
    #[inline(never)]
    fn choose(&self, policy: &AnyBlind) -> usize {
        let thread = thread_number();
        SUBMITTERS.with_borrow_mut(|submitters| {
            if submitters.first().is_none_or(|submitter| submitter.runtime != self.id) {
                self.remember(submitters, policy);
            }
            let submitter = &mut submitters[0];
            let number = thread << 48 | submitter.placed;
            submitter.placed += 1;
            let draw = Draw::new(hash(self.settings.seed, 1), number);
            let count = self.workers.len() as u32;
            let workers = Everyone { workers: count, first: (thread % u64::from(count)) as u32 };
            let pool = submitter.policy.place(draw, &workers);
            if let Some(submitted) = self.logs.as_ref().and_then(|logs| logs.submitted.as_ref()) {
                submitted.placed(number, pool.index());
            }
            pool.index()
        })
    }

    /// Puts what this thread knows of this runtime first. A thread that is new here begins with a copy of `policy`.
    #[cold]
    fn remember(&self, submitters: &mut Vec<Submitter>, policy: &AnyBlind) {
        let known = submitters.iter().position(|submitter| submitter.runtime == self.id);
        let submitter = known.map_or_else(
            || Submitter { runtime: self.id, policy: policy.clone(), placed: 0 },
            |at| submitters.remove(at),
        );
        submitters.truncate(REMEMBERED - 1);
        submitters.insert(0, submitter);
    }
}
