//! State that all requests of a run share: locks to meet at, and a record of each request, in which whatever happens to it is counted.

use std::panic;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex as StdMutex, Once, PoisonError};

use caudal_policy::random::{Draw, hash};
use caudal_rt::sync::{Condvar, Mutex, RwLock, Semaphore};
use caudal_rt::{ClassId, Failure, Runtime, SubmitError};

/// How a handler's frame was left, or how its handle says that it ended; 0: not, or nobody heard.
pub(crate) const RETURNED: u8 = 1;
pub(crate) const PANICKED: u8 = 2;
pub(crate) const CANCELLED: u8 = 3;
pub(crate) const EXPIRED: u8 = 4;
pub(crate) const STOPPED: u8 = 5;
pub(crate) const ABANDONED: u8 = 6;

/// Plan of a request, and what was done to it.
pub(crate) const HAS_DEADLINE: u8 = 1;
/// `cancel` has answered that it had not started.
pub(crate) const CANCELLED_EARLY: u8 = 2;
/// A scope may cancel it.
pub(crate) const SCOPED: u8 = 4;
pub(crate) const ACCEPTED: u8 = 8;

/// Record of a request: how often each thing has happened to it, or how.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Its handler began.
    pub(crate) ran: AtomicU8,
    /// Drops of what its closure captures.
    pub(crate) dropped: AtomicU8,
    /// It gave a result; and the result was dropped.
    pub(crate) results: AtomicU8,
    pub(crate) results_dropped: AtomicU8,
    /// How its frame was left.
    pub(crate) left: AtomicU8,
    /// Answer of its handle.
    pub(crate) heard: AtomicU8,
    pub(crate) marks: AtomicU8,
}

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) class: ClassId,
    pub(crate) mutexes: [Mutex<u64>; 4],
    /// How often each mutex's value was raised.
    pub(crate) raised: [AtomicU64; 4],
    pub(crate) lock: RwLock<u64>,
    pub(crate) written: AtomicU64,
    pub(crate) semaphore: Semaphore,
    pub(crate) permits: AtomicU32,
    pub(crate) condvar: Condvar,
    records: Box<[Record]>,
    next: AtomicU32,
    gone: AtomicU32,
    /// Refused because a queue was full, and because the runtime had stopped.
    pub(crate) full: AtomicU64,
    pub(crate) stopped: AtomicU64,
    wrong: StdMutex<Vec<String>>,
}

/// Permits of the semaphore.
pub(crate) const PERMITS: u32 = 3;
/// Further findings are not kept.
const WRONG_MAX: usize = 20;

impl World {
    pub(crate) fn new(runtime: &Runtime, seed: u64, requests: u32) -> World {
        World {
            seed: hash(seed, 0),
            class: runtime.class("stressed").unwrap(),
            mutexes: [const { Mutex::new(0) }; 4],
            raised: Default::default(),
            lock: RwLock::new(0),
            written: AtomicU64::new(0),
            semaphore: Semaphore::new(PERMITS),
            permits: AtomicU32::new(0),
            condvar: Condvar::new(),
            records: (0..requests).map(|_| Record::default()).collect(),
            next: AtomicU32::new(0),
            gone: AtomicU32::new(0),
            full: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            wrong: StdMutex::default(),
        }
    }

    /// The number of a further request; none if there have been enough.
    pub(crate) fn number(&self) -> Option<u32> {
        let number = self.next.fetch_add(1, Relaxed);
        if number as usize >= self.records.len() {
            self.next.store(self.records.len() as u32, Relaxed);
            return None;
        }
        Some(number)
    }

    /// Requests that were made so far.
    pub(crate) fn made(&self) -> u32 {
        self.next.load(Relaxed).min(self.records.len() as u32)
    }

    /// Requests whose closures are gone.
    pub(crate) fn gone(&self) -> u32 {
        self.gone.load(Relaxed)
    }

    /// Requests that were made, and whose closures are not gone. Neither is read at one moment with the other.
    pub(crate) fn alive(&self) -> u32 {
        self.made().saturating_sub(self.gone())
    }

    pub(crate) fn record(&self, number: u32) -> &Record {
        &self.records[number as usize]
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records[..self.made() as usize]
    }

    /// Draws by which the behaviour of request `number` is decided, and what is done with it.
    pub(crate) fn draw(&self, number: u32) -> Draw {
        Draw::new(self.seed, u64::from(number))
    }

    /// Notes what is wrong unless `holds`. Not by a panic, which would be one more of many.
    pub(crate) fn expect(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.len() < WRONG_MAX {
                wrong.push(what());
            }
        }
    }

    pub(crate) fn wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a refused submission.
    pub(crate) fn refused(&self, why: SubmitError) {
        let count = if why == SubmitError::Full { &self.full } else { &self.stopped };
        count.fetch_add(1, Relaxed);
    }
}

impl Record {
    pub(crate) fn mark(&self, marks: u8) {
        self.marks.fetch_or(marks, Relaxed);
    }

    pub(crate) fn has(&self, mark: u8) -> bool {
        self.marks.load(Relaxed) & mark != 0
    }
}

/// Value that every closure captures.
pub(crate) struct Captured {
    pub(crate) world: Arc<World>,
    pub(crate) number: u32,
    /// On the heap, where sanitizers see a second drop, and a use after the first.
    canary: Box<u32>,
}

impl Captured {
    pub(crate) fn new(world: &Arc<World>, number: u32) -> Captured {
        Captured { world: Arc::clone(world), number, canary: Box::new(!number) }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let (world, number) = (&self.world, self.number);
        world.expect(*self.canary == !number, || format!("request {number} has captures of another one"));
        world.record(number).dropped.fetch_add(1, Relaxed);
        world.gone.fetch_add(1, Relaxed);
    }
}

/// Value that every handler returns.
pub(crate) struct Product(Counted);

/// As [`Captured`], counted as a result.
struct Counted {
    world: Arc<World>,
    number: u32,
    canary: Box<u32>,
}

impl Product {
    pub(crate) fn new(world: &Arc<World>, number: u32) -> Product {
        world.record(number).results.fetch_add(1, Relaxed);
        Product(Counted { world: Arc::clone(world), number, canary: Box::new(number) })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let number = self.number;
        self.world.expect(*self.canary == number, || format!("request {number} has a result of another one"));
        self.world.record(number).results_dropped.fetch_add(1, Relaxed);
    }
}

/// Notes what the handle of request `number` has said.
pub(crate) fn hear(world: &World, number: u32, said: Result<Product, Failure>) {
    let heard = match said {
        Ok(product) => {
            world.expect(product.0.number == number, || format!("request {number} has another one's result"));
            RETURNED
        }
        Err(Failure::Panicked(payload)) => {
            let known = payload.is::<Planned>() || is_of_a_scope(&*payload);
            world.expect(known, || format!("request {number} has panicked with something unknown"));
            PANICKED
        }
        Err(Failure::Cancelled) => CANCELLED,
        Err(Failure::Expired) => EXPIRED,
        Err(Failure::Stopped) => STOPPED,
        Err(Failure::Abandoned) => ABANDONED,
        Err(Failure::Forked) => unreachable!("nobody forks here"),
    };
    let before = world.record(number).heard.swap(heard, Relaxed);
    world.expect(before == 0, || format!("request {number} was heard of twice: {before}, {heard}"));
}

/// The payload of panics that are meant.
pub(crate) struct Planned;

/// Is it the panic of a scope one of whose requests has failed unseen?
pub(crate) fn is_of_a_scope(payload: &(dyn std::any::Any + Send)) -> bool {
    payload.downcast_ref::<&str>().is_some_and(|text| text.starts_with("a request of the scope panicked"))
}

/// Panics that are meant are not reported; all others are.
pub(crate) fn planned_panics_are_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Planned>() && !is_of_a_scope_in(info) {
                earlier(info);
            }
        }));
    });
}

fn is_of_a_scope_in(info: &panic::PanicHookInfo<'_>) -> bool {
    info.payload_as_str().is_some_and(|text| text.starts_with("a request of the scope panicked"))
}
