//! The machine of the authors' simulator: its cores and queues, and the loop that orders what happens. [`super::simulate`] makes one for
//! each run; the files beside this one carry out its steps. It owns all state of the run and touches nothing else.
//!
//! Time is a whole number of ns. What happens at one of them, `t`, happens in this order, and means the ns
//! that ends at `t`:
//!
//! ```text
//!   1. arrivals with a time <= t, in order
//!   2. the allocation policy, if it is due
//!   3. a turn for each core, by id
//! ```
//!
//! A core sees what lower ids did in their turns at `t`; what higher ids did it sees at `t + 1`. Only turns
//! in which something can happen are taken, from a [`WinnerTree`].

use std::collections::VecDeque;

use caudal_policy::random::{Draw, hash};

use super::accounting::{Ledger, Pace, Records};
use super::setup::{Balance, Growth, Setup};
use super::source::{Ahead, HERE, Request, Source};
use crate::engine::bits::BitSet;
use crate::engine::tree::{NEVER, WinnerTree};

/// No core.
pub(super) const NOBODY: u32 = u32::MAX;

/// The use of a core's ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing is begun: its next turn begins something.
    Nothing,
    /// A request.
    Request,
    /// Idling without stealing: it sees its queue and a flag in every ns.
    Spinning,
    /// Checks of other queues.
    Walking,
    /// Taking what a check has found.
    Stealing,
    /// Placing a request that was sent elsewhere.
    Paying,
    /// Handing a request to a new core; not `paid`: only finding out whether to, which takes no time.
    HandingOver { paid: bool },
    /// Answering a flag.
    Responding,
    /// Being allocated.
    Arriving,
    /// The core is not the application's.
    Parked,
}

/// The beginning of the next turn of a core that does [`Doing::Nothing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Flags, then its queue.
    Check,
    /// Its queue only: it has just answered a flag.
    CheckQueue,
    /// Its queue, and if that is empty, the search has failed.
    LastCheck,
    /// The search has failed.
    GiveUp,
    /// The allocation of the core.
    Arrive,
}

/// A request that has been taken from a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) request: Request,
    pub(super) started_ns: u64,
    /// Time that is left while it is suspended.
    pub(super) left_ns: u64,
}

/// A walk past the other queues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    /// Place in the order of walks that is being checked, and the one at which the walk ends.
    pub(super) at: usize,
    pub(super) origin: usize,
    pub(super) last: bool,
    /// When the check ends.
    pub(super) check_ns: u64,
    /// When the own queue's turn has come.
    pub(super) own_ns: u64,
    /// The own queue is checked next.
    pub(super) own_next: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) doing: Doing,
    pub(super) next: Next,
    /// First ns of what it does that is not in the accounts.
    pub(super) since_ns: u64,
    /// Last ns of what it does.
    pub(super) until_ns: u64,
    /// Its next turn, or [`NEVER`].
    due_ns: u64,
    /// Running or suspended.
    pub(super) task: Option<Task>,
    pub(super) walk: Walk,
    /// Since when it has found nothing.
    pub(super) search_since_ns: Option<u64>,
    /// Requests to place that it has not begun to pay for.
    pub(super) owed: u32,
    /// Requests on their way to it.
    pub(super) inbound: u32,
    /// A request has arrived while it was busy (per-task allocation).
    pub(super) preempt: bool,
    /// The core that flagged it, or [`NOBODY`].
    pub(super) flagged_by: u32,
    pub(super) flag_out: bool,
    /// There was something to move when it began to answer.
    pub(super) may_respond: bool,
    /// Its place in `AuthorsMachine::running`.
    running_at: u32,
}

impl Core {
    const NEW: Core = Core {
        doing: Doing::Nothing,
        next: Next::Check,
        since_ns: 0,
        until_ns: 0,
        due_ns: NEVER,
        task: None,
        walk: Walk { at: 0, origin: 0, last: false, check_ns: 0, own_ns: 0, own_next: false },
        search_since_ns: None,
        owed: 0,
        inbound: 0,
        preempt: false,
        flagged_by: NOBODY,
        flag_out: false,
        may_respond: false,
        running_at: 0,
    };
}

/// The simulated machine.
pub(super) struct AuthorsMachine {
    pub(super) setup: Setup,
    pub(super) now_ns: u64,
    pub(super) cores: Box<[Core]>,
    /// One a core, or one for all.
    pub(super) queues: Box<[VecDeque<Request>]>,
    /// JBSQ: requests that no core has pulled.
    pub(super) centre: VecDeque<Request>,
    /// Requests in queues.
    pub(super) queued: usize,
    /// Queues that get arrivals.
    pub(super) available: Vec<u32>,
    pub(super) parked: BitSet,
    /// Cores that run a request, in no order.
    pub(super) running: Vec<u32>,
    spinning: BitSet,
    tree: WinnerTree,
    bits: u32,
    /// Cores below this one have had their turn at `now_ns`.
    passed: usize,
    /// When the allocation policy is due.
    pub(super) growth_ns: u64,
    source: Source,
    /// The ns of the first step.
    first_ns: u64,
    requests: u64,
    arrived: u64,
    /// The order of walks.
    pub(super) order: Box<[u32]>,
    pub(super) dispatch_draw: Draw,
    pub(super) walk_draw: Draw,
    pub(super) flag_draw: Draw,
    pub(super) ledger: Ledger,
    /// Time on requests, and on those and on searching for them, since utilization was last computed.
    pub(super) window_task_ns: u64,
    pub(super) window_busy_ns: u64,
    pub(super) records: Records,
    pub(super) pace: Pace,
}

impl AuthorsMachine {
    pub(super) fn new(
        setup: Setup,
        source: Source,
        ahead: Ahead,
        records: Records,
        seed: u64,
    ) -> AuthorsMachine {
        let n = setup.cores;
        let queues = if setup.balance == Balance::Single { 1 } else { n };
        // What is begun in the first step counts from its ns on; the clock starts with the first arrival.
        let core = Core { since_ns: ahead.first_ns + 1, ..Core::NEW };
        let draw = |purpose| Draw::new(hash(seed, purpose), 0);
        let mut machine = AuthorsMachine {
            setup,
            now_ns: ahead.first_ns,
            cores: vec![core; n].into_boxed_slice(),
            queues: vec![VecDeque::new(); queues].into_boxed_slice(),
            centre: VecDeque::new(),
            queued: 0,
            available: (0..queues as u32).collect(),
            parked: BitSet::new(n),
            running: Vec::with_capacity(n),
            spinning: BitSet::new(n),
            tree: WinnerTree::new(n),
            bits: n.next_power_of_two().trailing_zeros(),
            passed: 0,
            growth_ns: NEVER,
            source,
            first_ns: ahead.first_ns + 1,
            requests: ahead.requests,
            arrived: 0,
            order: shuffled(n, draw(4)),
            dispatch_draw: draw(1),
            walk_draw: draw(2),
            flag_draw: draw(3),
            ledger: Ledger::default(),
            window_task_ns: 0,
            window_busy_ns: 0,
            records,
            pace: Pace::new(setup.duration_ns),
        };
        machine.growth_ns = machine.first_growth_ns();
        for core in 0..n {
            machine.turn_at(core, ahead.first_ns + 1);
        }
        machine
    }

    /// Runs until all requests have completed or the time is over; returns when that was.
    pub(super) fn run(&mut self) -> u64 {
        while self.advance() {}
        for core in 0..self.cores.len() {
            self.charge(core, self.now_ns);
        }
        self.now_ns
    }

    /// Goes on to the next ns in which something happens; `false` if the run is over instead.
    pub(super) fn advance(&mut self) -> bool {
        if self.ledger.completed == self.requests {
            return false;
        }
        // The first request is taken note of 1 ns late: the clock moves before anything happens.
        let arrival_ns = self.source.peek_ns().map_or(NEVER, |at_ns| at_ns.max(self.first_ns));
        let turn_ns = if self.tree.min() == NEVER { NEVER } else { self.tree.min() >> self.bits };
        let at_ns = arrival_ns.min(turn_ns).min(self.growth_ns);
        while at_ns >= self.pace.next_ns() {
            self.pace.pass(self.arrived, self.ledger.completed);
        }
        if at_ns > self.setup.duration_ns {
            self.now_ns = self.setup.duration_ns;
            return false;
        }
        self.now_ns = at_ns;
        self.step();
        true
    }

    fn step(&mut self) {
        self.passed = 0;
        while self.source.peek_ns().is_some_and(|at_ns| at_ns <= self.now_ns) {
            if let Some(request) = self.source.take() {
                self.arrived += 1;
                self.queued += 1;
                self.records.arrived(request.arrival_ns);
                self.arrive(request);
            }
        }
        if self.growth_ns <= self.now_ns {
            self.at_growth();
        }
        let end_key = (self.now_ns + 1) << self.bits;
        while self.tree.min() < end_key {
            let core = (self.tree.min() & ((1 << self.bits) - 1)) as usize;
            self.passed = core + 1;
            self.turn_at(core, NEVER);
            self.turn(core);
        }
    }

    /// Requests that have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// The next turn of `core` is at `at_ns`.
    #[inline]
    pub(super) fn turn_at(&mut self, core: usize, at_ns: u64) {
        if self.cores[core].due_ns == at_ns {
            return;
        }
        self.cores[core].due_ns = at_ns;
        let key = if at_ns == NEVER { NEVER } else { at_ns << self.bits | core as u64 };
        self.tree.set(core, key);
    }

    /// The next ns at which `core` can take note of what happens now.
    #[inline]
    pub(super) fn notice_ns(&self, core: usize) -> u64 {
        if core >= self.passed { self.now_ns } else { self.now_ns + 1 }
    }

    /// Something has happened that `core` would see if it idles.
    #[inline]
    pub(super) fn wake(&mut self, core: usize) {
        if self.cores[core].doing == Doing::Spinning {
            let at_ns = self.notice_ns(core);
            self.turn_at(core, at_ns);
        }
    }

    /// There is one more request for any core: the idle one of least id sees it first.
    fn wake_lowest(&mut self) {
        let mut from = 0;
        while let Some(core) = self.spinning.first_from(from) {
            if self.cores[core].due_ns != self.now_ns {
                return self.wake(core);
            }
            from = core + 1;
        }
    }

    fn arrive(&mut self, request: Request) {
        match self.setup.balance {
            Balance::Single => {
                self.queues[0].push_back(request);
                self.wake_lowest();
            }
            Balance::Jbsq { .. } => {
                self.centre.push_back(request);
                self.wake_lowest();
            }
            Balance::Choose { k } => self.choose(request, k),
            Balance::Random | Balance::Steal | Balance::Shed { .. } => {
                let choice = self.dispatch_draw.below(self.available.len() as u32);
                let core = self.available[choice as usize] as usize;
                self.queues[core].push_back(request);
                if self.setup.growth == Growth::PerTask {
                    self.mark_for_preemption(core);
                }
                self.wake(core);
            }
        }
    }

    /// The queue of `core`.
    #[inline]
    pub(super) fn queue(&mut self, core: usize) -> &mut VecDeque<Request> {
        let queue = if self.queues.len() == 1 { 0 } else { core };
        &mut self.queues[queue]
    }

    /// Is there a request that `core` could take?
    #[inline]
    pub(super) fn has_work(&mut self, core: usize) -> bool {
        !self.queue(core).is_empty() || !self.centre.is_empty()
    }

    /// `core` turns to something else, whose first ns is `from_ns`; what it did goes into the accounts.
    pub(super) fn begin(&mut self, core: usize, doing: Doing, from_ns: u64) {
        self.charge(core, from_ns - 1);
        match self.cores[core].doing {
            Doing::Request => {
                let at = self.cores[core].running_at as usize;
                self.running.swap_remove(at);
                if let Some(&moved) = self.running.get(at) {
                    self.cores[moved as usize].running_at = at as u32;
                }
            }
            Doing::Spinning => self.spinning.remove(core),
            _ => {}
        }
        match doing {
            Doing::Request => {
                self.cores[core].running_at = self.running.len() as u32;
                self.running.push(core as u32);
            }
            Doing::Spinning => self.spinning.insert(core),
            _ => {}
        }
        let entry = &mut self.cores[core];
        entry.doing = doing;
        entry.since_ns = from_ns;
    }

    /// As [`AuthorsMachine::begin`], for something that ends at a known time: `length_ns` from `from_ns` on.
    pub(super) fn begin_for(&mut self, core: usize, doing: Doing, from_ns: u64, length_ns: u64) {
        self.begin(core, doing, from_ns);
        let until_ns = from_ns + length_ns - 1;
        self.cores[core].until_ns = until_ns;
        self.turn_at(core, until_ns);
    }

    /// The ns of `core` up to `through_ns` go into the accounts.
    pub(super) fn charge(&mut self, core: usize, through_ns: u64) {
        let entry = &mut self.cores[core];
        let ns = (through_ns + 1).saturating_sub(entry.since_ns);
        entry.since_ns = entry.since_ns.max(through_ns + 1);
        let ledger = &mut self.ledger;
        match entry.doing {
            Doing::Nothing | Doing::Parked => return,
            Doing::Request => {
                ledger.task_ns += ns;
                self.window_task_ns += ns;
            }
            Doing::Spinning => ledger.spinning_ns += ns,
            Doing::Walking => ledger.looking_ns += ns,
            Doing::Stealing => ledger.stealing_ns += ns,
            Doing::Paying | Doing::HandingOver { .. } => ledger.paying_ns += ns,
            Doing::Responding => ledger.responding_ns += ns,
            Doing::Arriving => ledger.allocating_ns += ns,
        }
        if matches!(entry.doing, Doing::Request | Doing::Spinning | Doing::Walking | Doing::Stealing) {
            self.window_busy_ns += ns;
        }
    }

    /// A place for a request that arrived: it waits at `core`, and belongs there.
    pub(super) fn deliver(&mut self, core: usize, request: Request) {
        self.queues[core].push_back(Request { bound_for: HERE, ..request });
        self.wake(core);
    }
}

/// 0 to `n` − 1 in random order (Fisher and Yates).
fn shuffled(n: usize, mut draw: Draw) -> Box<[u32]> {
    let mut order: Box<[u32]> = (0..n as u32).collect();
    for place in (1..n).rev() {
        order.swap(place, draw.below(place as u32 + 1) as usize);
    }
    order
}
