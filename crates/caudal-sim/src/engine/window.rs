//! The part of a run that is measured: when it begins and ends, and what the books say of it.

use caudal_stats::OverloadCheck;

use super::core::{Account, Core};
use super::host::Length;
use super::observe::Sink;
use super::scheduling::Scheduling;

/// After the last measured request, arrivals go on until all measured ones have completed; but not for
/// more than this part of them: a system that needs longer is not going to catch up.
const PATIENCE: u64 = 1;

/// Snapshots at marked requests: `warm_up`, half, three quarters, the end of what is measured.
pub(super) struct Window {
    length: Length,
    next_mark: u64,
    marks_passed: u32,
    start: (u64, Account),
    pub(super) check: OverloadCheck,
    /// The same in ns of work: requests of a rare long class can pile up unseen among many short ones.
    pub(super) work: OverloadCheck,
    half_completed: u64,
    half: Account,
    behind_start_ps: Vec<f64>,
    pub(super) behind_ps: Vec<f64>,
    /// Books of the measured part.
    pub(super) account: Account,
    pub(super) span_ps: u64,
    closed: bool,
}

impl Window {
    pub(super) fn new(length: Length) -> Window {
        Window {
            length,
            next_mark: length.warm_up,
            marks_passed: 0,
            start: (0, Account::default()),
            check: OverloadCheck::default(),
            work: OverloadCheck::default(),
            half_completed: 0,
            half: Account::default(),
            behind_start_ps: Vec::new(),
            behind_ps: Vec::new(),
            account: Account::default(),
            span_ps: 0,
            closed: false,
        }
    }

    /// Request `number` is about to arrive; `true` if the run is over.
    #[inline]
    pub(super) fn at_request<S: Scheduling, O: Sink>(
        &mut self,
        number: u64,
        core: &mut Core<O>,
        sched: &mut S,
    ) -> bool {
        if number < self.next_mark {
            return self.closed && core.measured_left == 0;
        }
        self.at_mark(number, core, sched)
    }

    #[cold]
    fn at_mark<S: Scheduling, O: Sink>(&mut self, number: u64, core: &mut Core<O>, sched: &mut S) -> bool {
        let Length { warm_up, measured } = self.length;
        let backlog = number - core.account.completed;
        match self.marks_passed {
            0 => {
                self.start = (core.now_ps, books(core, sched));
                self.behind_start_ps = sched.behind_long_ps(core.now_ps);
                self.next_mark = warm_up + measured / 2;
            }
            1 => {
                self.half_completed = core.account.completed;
                self.check.backlog_start = backlog;
                self.half = books(core, sched);
                self.work.backlog_start = backlog_ns(&self.half);
                self.next_mark = warm_up + measured * 3 / 4;
            }
            2 => {
                self.check.backlog_middle = backlog;
                self.work.backlog_middle = backlog_ns(&books(core, sched));
                self.next_mark = warm_up + measured;
            }
            3 => {
                self.close(core, sched);
                self.check.arrivals = measured - measured / 2;
                self.check.completions = core.account.completed - self.half_completed;
                self.check.backlog_end = backlog;
                let end = books(core, sched);
                let half = end.since(&self.half);
                self.work.arrivals = ns(half.offered_ps);
                self.work.completions = ns(half.busy_ps);
                self.work.backlog_end = backlog_ns(&end);
                self.next_mark = warm_up + measured + measured * PATIENCE + 1000;
                self.marks_passed = 4;
                return self.check.is_overloaded() || core.measured_left == 0;
            }
            _ => return true,
        }
        self.marks_passed += 1;
        false
    }

    /// The measured part ends here.
    pub(super) fn close<S: Scheduling, O: Sink>(&mut self, core: &mut Core<O>, sched: &mut S) {
        if self.closed {
            return;
        }
        self.closed = true;
        let (start_ps, start) = self.start;
        self.account = books(core, sched).since(&start);
        self.span_ps = core.now_ps - start_ps;
        self.behind_ps = sched.behind_long_ps(core.now_ps);
        for (end_ps, start_ps) in self.behind_ps.iter_mut().zip(&self.behind_start_ps) {
            *end_ps -= start_ps;
        }
    }
}

/// Whole ns: more than 64 bits of them do not fit into a run.
fn ns(span_ps: u128) -> u64 {
    (span_ps / 1000) as u64
}

fn backlog_ns(books: &Account) -> u64 {
    ns(books.offered_ps.saturating_sub(books.busy_ps))
}

/// The books as of now, with what workers have done so far.
pub(super) fn books<S: Scheduling, O: Sink>(core: &mut Core<O>, sched: &mut S) -> Account {
    core.settle();
    let mut account = core.account;
    for worker in 0..core.workers.len() {
        account.busy_ps += u128::from(sched.unbooked_ps(core, worker));
    }
    account
}
