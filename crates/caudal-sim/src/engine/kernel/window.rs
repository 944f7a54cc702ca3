//! The part of a run that is measured: when it begins and ends, and what the accounts say of it. Every loop asks at marks and at each
//! arrival; an experiment gives its length. Data in memory.

use std::ops::Range;

use caudal_stats::OverloadCheck;

use super::account::Account;

/// How long a run is, in requests.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Requests before the first that is measured.
    pub warm_up: u64,
    /// Requests that are measured.
    pub measured: u64,
}

/// The measured requests of a run: which they are, and how many of them are still to complete.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Measured {
    numbers: Range<u64>,
    left: u64,
}

impl Measured {
    /// The measured requests of a run of this length.
    pub(in crate::engine) fn new(Length { warm_up, measured }: Length) -> Measured {
        Measured { numbers: warm_up..warm_up + measured, left: measured }
    }

    /// Is request `number` measured?
    #[inline(always)]
    pub(in crate::engine) fn contains(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }

    /// Request `number` has completed. Is it a measured one?
    #[inline(always)]
    pub(in crate::engine) fn complete(&mut self, number: u64) -> bool {
        let counts = self.contains(number);
        self.complete_if(counts);
        counts
    }

    /// A request has completed, which is measured if it `counts`.
    #[inline(always)]
    pub(in crate::engine) fn complete_if(&mut self, counts: bool) {
        self.left -= u64::from(counts);
    }

    /// No more requests arrive than the `taken` ones that have: the others are not waited for.
    pub(in crate::engine) fn end_arrivals(&mut self, taken: u64) {
        self.left -= self.numbers.end.saturating_sub(taken.max(self.numbers.start));
    }

    /// How many of them have not completed.
    #[inline(always)]
    pub(in crate::engine) fn left(&self) -> u64 {
        self.left
    }

    /// Have all of them completed?
    #[inline(always)]
    pub(in crate::engine) fn are_done(&self) -> bool {
        self.left == 0
    }
}

/// A loop that keeps count of its measured requests while they complete.
pub(in crate::engine) trait Counting: Audit {
    /// The count of measured requests.
    fn measured(&mut self) -> &mut Measured;
}

/// A loop as the marks of a run see it: its clock and its accounting.
pub(in crate::engine) trait Audit {
    fn now_ps(&self) -> u64;
    /// Have all measured requests completed?
    fn measured_is_done(&self) -> bool;
    /// The accounts as of now, with what workers have done so far.
    fn account(&mut self) -> Account;
    /// Time that requests have waited behind long ones, by class; empty where nobody accounts for it.
    fn behind_long_ps(&mut self) -> Vec<f64>;
}

/// After the last measured request, arrivals go on until all measured ones have completed; but not, unless that is
/// too short a time for a long request, for more than this part of them: a system that needs longer is not going to
/// catch up.
const PATIENCE: u64 = 1;
/// Arrivals after which a run that has gone on for longer than that reads its clock again.
const PATIENCE_STEP: u64 = 1000;

/// Samples of the backlog, from the first measured request to past the last one, at equal distances.
pub const BACKLOG_SAMPLES: u64 = 32;
/// Marks at which the account is read, too.
const START: u64 = 0;
const HALF: u64 = BACKLOG_SAMPLES / 2;
const THREE_QUARTERS: u64 = BACKLOG_SAMPLES * 3 / 4;
const END: u64 = BACKLOG_SAMPLES;

/// The work that has arrived and is not done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Requests.
    pub requests: u64,
    /// Their work, in ns.
    pub work_ns: u64,
}

/// Snapshots at marked requests: at each of [`BACKLOG_SAMPLES`] the backlog; at the start, half, three quarters and the end of what
/// is measured, the account.
pub(in crate::engine) struct Window {
    length: Length,
    /// The samples of the backlog so far.
    pub(in crate::engine) backlog: Vec<Backlog>,
    /// See [`super::run::Run::patience_ps`], and when that is over.
    patience_ps: u64,
    give_up_ps: u64,
    next_mark: u64,
    /// The number of the sample at the next mark; none is left from `END + 1` on.
    sample: u64,
    start: (u64, Account),
    pub(in crate::engine) check: OverloadCheck,
    /// The same in ns of work: requests of a rare long class can pile up unseen among many short ones.
    pub(in crate::engine) work: OverloadCheck,
    half_completed: u64,
    half: Account,
    behind_start_ps: Vec<f64>,
    pub(in crate::engine) behind_ps: Vec<f64>,
    /// Accounts of the measured part.
    pub(in crate::engine) account: Account,
    pub(in crate::engine) span_ps: u64,
    closed: bool,
}

impl Window {
    pub(in crate::engine) fn new(length: Length, patience_ps: u64) -> Window {
        Window {
            length,
            patience_ps,
            give_up_ps: 0,
            next_mark: length.warm_up,
            sample: START,
            backlog: Vec::with_capacity(BACKLOG_SAMPLES as usize + 1),
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

    /// The next request that is a mark.
    pub(in crate::engine) fn next_mark(&self) -> u64 {
        self.next_mark
    }

    /// Is the measured part over?
    pub(in crate::engine) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Request `number` is about to arrive; `true` if the run is over.
    #[inline]
    pub(in crate::engine) fn at_request(&mut self, number: u64, audit: &mut impl Audit) -> bool {
        if self.is_before_mark(number) {
            return self.closed && audit.measured_is_done();
        }
        self.at_mark(number, audit)
    }

    /// Is request `number` before the next mark?
    #[inline(always)]
    pub(in crate::engine) fn is_before_mark(&self, number: u64) -> bool {
        number < self.next_mark
    }

    /// As [`Window::at_request`], for a request that is not before the mark.
    #[cold]
    pub(in crate::engine) fn at_mark(&mut self, number: u64, audit: &mut impl Audit) -> bool {
        let measured = self.length.measured;
        let account = audit.account();
        let (completed, backlog) = (account.completed, number - account.completed);
        let work_ns = backlog_ns(&account);
        if self.sample <= END {
            self.backlog.push(Backlog { requests: backlog, work_ns });
        }
        match self.sample {
            START => {
                self.start = (audit.now_ps(), account);
                self.behind_start_ps = audit.behind_long_ps();
            }
            HALF => {
                self.half_completed = completed;
                self.check.backlog_start = backlog;
                self.work.backlog_start = work_ns;
                self.half = account;
            }
            THREE_QUARTERS => {
                self.check.backlog_middle = backlog;
                self.work.backlog_middle = work_ns;
            }
            END => {
                self.close(audit);
                self.check.arrivals = measured - measured / 2;
                self.check.completions = completed - self.half_completed;
                self.check.backlog_end = backlog;
                let half = account.since(&self.half);
                self.work.arrivals = ns(half.offered_ps);
                self.work.completions = ns(half.busy_ps);
                self.work.backlog_end = work_ns;
                self.next_mark = self.length.warm_up + measured + measured * PATIENCE + PATIENCE_STEP;
                self.give_up_ps = audit.now_ps().saturating_add(self.patience_ps);
                self.sample = END + 1;
                return self.check.is_overloaded() || audit.measured_is_done();
            }
            sample if sample > END => {
                self.next_mark = number + PATIENCE_STEP;
                return audit.now_ps() >= self.give_up_ps || audit.measured_is_done();
            }
            _ => {}
        }
        self.pass_mark();
        false
    }

    /// The next mark is that of the next sample. A short run has only the samples that it needs: two at one request
    /// would push each other aside.
    fn pass_mark(&mut self) {
        let Length { warm_up, measured } = self.length;
        self.sample += 1;
        if measured < 2 * BACKLOG_SAMPLES {
            self.sample =
                [HALF, THREE_QUARTERS, END].into_iter().find(|&mark| self.sample <= mark).unwrap_or(END);
        }
        self.next_mark =
            warm_up + (u128::from(measured) * u128::from(self.sample) / u128::from(BACKLOG_SAMPLES)) as u64;
    }

    /// The measured part ends here.
    pub(in crate::engine) fn close(&mut self, audit: &mut impl Audit) {
        if self.closed {
            return;
        }
        self.closed = true;
        let (start_ps, start) = self.start;
        self.account = audit.account().since(&start);
        self.span_ps = audit.now_ps() - start_ps;
        self.behind_ps = audit.behind_long_ps();
        for (end_ps, start_ps) in self.behind_ps.iter_mut().zip(&self.behind_start_ps) {
            *end_ps -= start_ps;
        }
    }
}

/// Whole ns: more than 64 bits of them do not fit into a run.
fn ns(span_ps: u128) -> u64 {
    (span_ps / 1000) as u64
}

fn backlog_ns(account: &Account) -> u64 {
    ns(account.offered_ps.saturating_sub(account.busy_ps))
}
