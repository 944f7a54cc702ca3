//! Parts of the runtime that can be measured alone. Not for users: no promise about anything here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use caudal_config::SystemPlan;
use caudal_policy::dispatch::AnyDispatch;

use crate::cell::{Header, RUNTIME};
use crate::classes::ClassId;
use crate::clock::{Clock, now};
use crate::dispatcher::Dispatcher;
use crate::helper::Helper;
use crate::runtime::Builder;
use crate::shared::{Shared, Stage};
use crate::source::{Intake, Source, new_request, prepare};
use crate::start;

/// What happens to a request after it has been placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// It is taken out of its inbox and counted, no more: placing alone is measured. Its cell is used again when it has come
    /// round.
    Count,
    /// Its cell is given back, as by a worker: making requests is measured too.
    Release,
}

/// What the dispatcher brought through.
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
    ready: Vec<crate::cell::Request>,
    next: usize,
}

impl Flood {
    fn hand_in(&mut self, intake: &mut Intake<'_>) {
        if self.ready.is_empty() {
            return intake.submit(self.class, 1, || ());
        }
        let cell = self.ready[self.next];
        self.next = (self.next + 1) % self.ready.len();
        prepare(&cell, self.class, 1, RUNTIME);
        intake.put(cell);
    }
}

impl Source for Flood {
    fn poll(&mut self, intake: &mut Intake<'_>) -> bool {
        while intake.has_room() && self.left > 0 {
            self.hand_in(intake);
            self.left -= 1;
        }
        if self.left == 0 {
            self.shared.enter(Stage::Draining);
        }
        self.left > 0
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
            let _ = start::pin(Some(drain_core));
            drain(&shared, &over, then, pause_ns);
        });
        let dispatched = scope.spawn(|| {
            let _ = start::pin(Some(dispatch_core));
            let ready = match then {
                Drain::Count => (0..shared.workers.len() * INBOX * 2)
                    .map(|_| new_request(class, 1, || (), RUNTIME))
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
/// is looked at every `pause_ns`. (A thread that looks at all inboxes without a pause would be sixteen idle workers, who take
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
                    Header::drop_ref(cell, RUNTIME);
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
