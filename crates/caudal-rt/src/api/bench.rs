//! Parts of the runtime that can be measured alone. Not for users: no promise about anything here.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::SystemPlan;
use caudal_fiber::stack::colour_of;
use caudal_fiber::switch::{Point, switch};
use caudal_policy::dispatch::AnyDispatch;

use crate::api::runtime::Builder;
use crate::base::clock::{Clock, now};
use crate::base::cores::pin;
use crate::drive::source::{Intake, Polled, Source};
use crate::kernel::dispatcher::Dispatcher;
use crate::kernel::helper::Helper;
use crate::kernel::shared::{Shared, Stage};
use crate::request::class::ClassId;
use crate::request::new::{new_request, prepare};
use crate::request::{Reference, Wanted};

/// A stack to switch to and back from.
pub struct SwitchPair(Box<Pair>);

struct Pair {
    own: Point,
    caller: Point,
    /// How many calls deep it gives the caller its thread back.
    calls: u32,
    _stack: Vec<u128>,
}

impl SwitchPair {
    /// One that switches back from `calls` calls deep, as a request does out of its probe, on a stack that is coloured as the
    /// runtime's `number`th: where all begin at the same place in a page, their lines are taken for each other, and a pair takes
    /// 1 to 2 ns longer.
    ///
    /// # Panics
    /// From more than 100 calls: the stack is small.
    pub fn new(calls: u32, number: usize) -> SwitchPair {
        assert!(calls <= 100, "{calls} calls deep");
        let mut stack = vec![0; 4 << 10];
        let Some(base) = NonZeroUsize::new(stack.as_mut_ptr_range().end as usize - colour_of(number)) else {
            unreachable!("a stack at address 0")
        };
        let (own, caller) = (Point::none(), Point::none());
        let pair = Box::new(Pair { own, caller, calls, _stack: stack });
        // SAFETY: the stack lives as long as the pair, and its top is aligned to 16, as its words and the colours are.
        unsafe { pair.own.set_new(base, switch_back, std::ptr::from_ref(&*pair).cast()) };
        SwitchPair(pair)
    }

    /// There and back.
    #[inline(always)]
    pub fn switch(&mut self) {
        // SAFETY: the stack is new or was left, by `switch_back_from`, and this is the only one to go there.
        unsafe { switch(&self.0.caller, &self.0.own) }
    }
}

unsafe extern "C" fn switch_back(pair: *const ()) -> ! {
    // SAFETY: from `SwitchPair::new`; the pair lives while anybody switches to this stack.
    let pair = unsafe { &*pair.cast::<Pair>() };
    loop {
        switch_back_from(pair, pair.calls);
    }
}

/// Every call is made.
#[inline(never)]
fn switch_back_from(pair: &Pair, calls: u32) {
    if calls > 0 {
        switch_back_from(pair, calls - 1);
        std::hint::black_box(());
    } else {
        // SAFETY: the thread that has come here has left its own stack.
        unsafe { switch(&pair.own, &pair.caller) }
    }
}

/// Fate of a request after it has been placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// It is taken out of its inbox and counted, no more: placing alone is measured. Its cell is used again when it has come
    /// round.
    Count,
    /// Its cell is given back, as by a worker: making requests is measured too.
    Release,
}

/// Requests that the dispatcher has brought through, and the time for that.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched {
    /// Requests.
    pub requests: u64,
    /// From the first to the last one, in nanoseconds.
    pub nanos: f64,
}

/// Requests as fast as they are asked for.
struct Flood {
    class: ClassId,
    left: u64,
    shared: Arc<Shared>,
    /// Cells that are used in turn; more than all inboxes hold, so the next one is never in any.
    ready: Vec<crate::request::Request>,
    next: usize,
}

impl Flood {
    fn hand_in(&mut self, intake: &mut Intake<'_>) {
        if self.ready.is_empty() {
            return intake.submit(self.class, 1, || ());
        }
        let cell = self.ready[self.next];
        self.next = (self.next + 1) % self.ready.len();
        // SAFETY: it has come out of its inbox long ago, and nobody else has it.
        unsafe { prepare(&cell, self.class, 1, Wanted::ByNobody) };
        intake.put(cell);
    }
}

impl Source for Flood {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        while intake.has_room() && self.left > 0 {
            self.hand_in(intake);
            self.left -= 1;
        }
        if self.left == 0 {
            self.shared.enter(Stage::Draining);
        }
        if self.left > 0 { Polled::Worked } else { Polled::Over }
    }
}

/// Requests in an inbox.
const INBOX: usize = 128;

/// The dispatcher of `plan` places `requests` at its workers, for whom a thread on `drain_core` stands: it takes every request
/// from every inbox, runs nothing, and counts.
///
/// # Panics
/// If there is no second core.
pub fn dispatcher(
    plan: SystemPlan,
    requests: u64,
    cores: [usize; 2],
    then: Drain,
    pause_ns: u64,
) -> Dispatched {
    let [dispatch_core, drain_core] = cores;
    let settings = Builder::of(plan).queues(INBOX, INBOX).settings;
    let policy = AnyDispatch::from(settings.system.dispatch);
    let class = settings.classes.class("flood").unwrap_or_else(|error| panic!("{error}"));
    let shared = Arc::new(Shared::new(settings, Clock::of_this_machine(), Arc::new(Helper::default())));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = pin(Some(drain_core));
            drain(&shared, &over, then, pause_ns);
        });
        let dispatched = scope.spawn(|| {
            let _ = pin(Some(dispatch_core));
            let ready = match then {
                Drain::Count => (0..shared.workers.len() * INBOX * 2)
                    .map(|_| new_request(class, 1, || (), Wanted::ByNobody))
                    .collect(),
                Drain::Release => Vec::new(),
            };
            let flood = Flood { class, left: requests, shared: Arc::clone(&shared), ready, next: 0 };
            let dispatcher = Dispatcher::new(&shared, policy, vec![Box::new(flood)]);
            let begin = now();
            dispatcher.run();
            now() - begin
        });
        let cycles = dispatched.join().unwrap_or(0);
        over.store(true, Ordering::Relaxed);
        Dispatched { requests, nanos: shared.clock.nanos(cycles) }
    })
}

/// Each worker that it stands for takes what has come and is busy then, as it would be at the rate that is measured: its inbox
/// is polled every `pause_ns`. (A thread that polls all inboxes without a pause would be sixteen idle workers, which take
/// every line back while the dispatcher fills it.)
fn drain(shared: &Shared, over: &AtomicBool, then: Drain, pause_ns: u64) {
    let pause = shared.clock.cycles(caudal_policy::Picos::from_nanos(pause_ns));
    let mut finished = vec![0; shared.workers.len()];
    let mut next = now();
    while !over.load(Ordering::Relaxed) {
        while now() < next {
            std::hint::spin_loop();
        }
        next += pause;
        for (worker, finished) in shared.workers.iter().zip(&mut finished) {
            let before = *finished;
            while let Some((cell, _)) = worker.inbox.pop() {
                if then == Drain::Release {
                    // SAFETY: that of the inbox.
                    unsafe { cell.drop_ref(Reference::Runtime) };
                }
                *finished += 1;
            }
            if *finished != before {
                worker.board.quanta.store(*finished % 7, Ordering::Relaxed);
                worker.board.finished.store(*finished, Ordering::Release);
            }
        }
    }
}
