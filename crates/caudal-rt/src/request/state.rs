//! The state word of a request: phase, flags, references and place in one atomic word. Every thread that starts, wakes, cancels, ends or
//! waits for a request changes the word by a method of this file. The [cell](super::cell) holds one, and nobody else knows its bits.
//!
//! ```text
//!  63      32 31        16 15 14 13     11 10       8 7            3 2     0
//! +----------+------------+-----+---------+----------+--------------+-------+
//! | runtime  |   worker   | e l | outcome |  refs    |    flags     | phase |    e, l: bits 15 and 14, `ENDER` and `LEAKED`, are
//! +----------+------------+-----+---------+----------+--------------+-------+    references too
//! ```
//!
//! # Phases
//!
//! ```text
//!  reset ─▶ Waiting ── start ─────▶ Started ── finish ──────────────────▶ Done
//!              │                       │                                    ▲
//!              └ end_waiting_if ─┬─────┘ give_up                            │
//!                                └────────────▶ Ending ── end ──────────────┘
//! ```
//!
//! | phase | meaning | who may move it on |
//! | --- | --- | --- |
//! | `Waiting` | nobody has started it | whoever wins the compare-and-swap: the worker that starts it, or a canceller |
//! | `Started` | it has a coroutine | the worker that runs it, or whoever gives it up |
//! | `Ending` | it has an outcome; its closure is being dropped, or the clean-up of its coroutine run | the thread that moved it there |
//! | `Done` | it has ended | nobody; the result belongs to the handle, or without a handle to whoever ended the request |
//!
//! # Place
//!
//! The worker where the request is, and that worker's runtime, are in the same word. A canceller learns from the compare-and-swap
//! that wins which worker's count of unfinished requests is one too high. A notice may come late, when the cell has become a request of another
//! runtime, whose workers the notifier does not know: it compares the runtime first. And a shutdown finds the requests of a worker that
//! does not answer ([`StateSnapshot::is_at`]). Runtime 0: it is at no worker yet.
//!
//! # References
//!
//! The cell is free when the bits of all references are gone: [`Reference`] names their owners. A request that was given up is leaked
//! (`LEAKED` is never cleared): whoever has notified it a moment before may still be about to put it on its worker's list of woken ones.
//!
//! # Orderings
//!
//! * *A result is never read before it is written, nor freed while it is read.* The worker writes the result, then sets `Done` with
//!   release ordering; a handle reads the result only after it has seen `Done` with acquire ordering ([`State::load`]).
//! * *A cell is used again only when everybody is through with it.* Each reference is dropped with release ordering. Whoever drops the
//!   last one has acquired what all others did ([`State::drop_ref`] is acquire and release).
//! * *A started request belongs to its worker.* Every transition is a compare-and-swap that acquires and releases, so the new owner sees
//!   what the last one wrote into the cell, whichever of two racing transitions wins.
//! * *A transition that refuses* has read the word without ordering; its caller loads the word again before it reads the cell.
//! * [`State::reset`] may be relaxed: the queue that takes the cell releases it. [`State::place_unshared`] releases, for a shutdown that finds
//!   the request by its place takes what is in the cell.
//!
//! # Waking
//!
//! `PARKED` and `NOTIFIED` are a token. A coroutine that parks sets the first, and goes on at once if it finds the second. A waker sets the
//! second, and only the one that set it while `PARKED` was there puts the request on its worker's list of woken ones: so the request is on that
//! list at most once. Cells are never unmapped: a notice that comes late, to the next request of the cell, is a wake-up without a reason, which
//! every waiting loop takes.
//!
//! [`State::give_up`] clears `PARKED`, so later notices put nothing on a list. An earlier one may have: the request may be on the list of woken
//! ones, or be about to go there, for as long as the process lives. A cell has one link for all lists, so a request that was given up must be
//! put on no other list. Whoever gives it up tells its waiters directly, and not through the helper's list.

use crate::base::primitives::{AtomicU64, Ordering};

const PHASE: u64 = 0b111;
const WAITING: u64 = RequestPhase::Waiting as u64;
const STARTED: u64 = RequestPhase::Started as u64;
const DONE: u64 = RequestPhase::Done as u64;
const ENDING: u64 = RequestPhase::Ending as u64;
/// Somebody wants the request to end.
const CANCEL: u64 = 1 << 3;
/// Its coroutine waits to be woken.
const PARKED: u64 = 1 << 4;
/// It has been woken.
const NOTIFIED: u64 = 1 << 5;
/// A sleeping thread or a future waits for its end, and the helper has to tell it.
const TELL: u64 = 1 << 6;
/// A coroutine waits for its end; the cell says which one.
const JOINED: u64 = 1 << 7;
const HANDLE: u64 = Reference::Handle as u64;
const RUNTIME: u64 = Reference::Runtime as u64;
const TELLER: u64 = Reference::Teller as u64;
const ENDER: u64 = Reference::Ender as u64;
const LEAKED: u64 = 1 << 14;
const OUTCOME_SHIFT: u32 = 11;
const OUTCOME: u64 = 0b111 << OUTCOME_SHIFT;
const REFS: u64 = HANDLE | RUNTIME | TELLER | LEAKED | ENDER;
const WORKER_SHIFT: u32 = 16;
const RUNTIME_SHIFT: u32 = 32;
/// Mask of runtime and worker.
const PLACE: u64 = !0 << WORKER_SHIFT;

/// Number that stands for no worker: the request is at the dispatcher.
pub(crate) const NOWHERE: u16 = u16::MAX;

/// Phase of a request. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum RequestPhase {
    /// The cell is free.
    Free = 0,
    Waiting = 1,
    Started = 2,
    Done = 3,
    Ending = 4,
}

/// Owner of a reference to a cell, which stays until all of them are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Reference {
    /// The handle.
    Handle = 1 << 8,
    /// Whoever has to run the request: a queue or a worker.
    Runtime = 1 << 9,
    /// The helper, while it has somebody to tell.
    Teller = 1 << 10,
    /// Whoever ends it before it has started: a destructor that this calls may drop the others.
    Ender = 1 << 15,
}

/// References with which a request begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It has a handle: somebody wants its result.
    ByHandle,
    /// Nobody wants its result.
    ByNobody,
}

/// Place of a request: a worker, and the mark of its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestPlace(u64);

impl RequestPlace {
    #[inline(always)]
    pub(crate) fn new(worker: u16, runtime: u32) -> RequestPlace {
        RequestPlace(u64::from(worker) << WORKER_SHIFT | u64::from(runtime) << RUNTIME_SHIFT)
    }
}

/// End of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Outcome {
    /// It returned.
    Returned,
    /// It panicked; the payload is in the storage.
    Panicked,
    /// It was cancelled.
    Cancelled,
    /// It had not started by its deadline.
    Expired,
    /// Its stack overflowed, or it did not end within the bound of a shutdown: its coroutine was given up.
    Abandoned,
    /// The runtime stopped before it started.
    Stopped,
}

/// Work that is left for the worker whose request has ended.
#[derive(Debug)]
#[must_use = "somebody may wait for the end"]
pub(crate) enum Finished {
    /// The handle is gone: the caller drops the result, then [`Reference::Runtime`].
    Forgotten,
    /// None: the cell is the handle's.
    Done,
    /// The helper has to tell somebody; the cell goes to it with [`Reference::Teller`].
    Tell,
    /// The coroutine in the cell's `waiter` waits for it: the caller wakes that, then drops [`Reference::Runtime`].
    Joined {
        /// The helper has to tell somebody as well.
        tell: bool,
    },
}

/// The word at some moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateSnapshot(u64);

impl std::fmt::Debug for StateSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, {:#018x}", self.phase(), self.0)
    }
}

impl StateSnapshot {
    #[inline]
    pub(crate) fn phase(self) -> RequestPhase {
        match self.0 & PHASE {
            WAITING => RequestPhase::Waiting,
            STARTED => RequestPhase::Started,
            DONE => RequestPhase::Done,
            ENDING => RequestPhase::Ending,
            _ => RequestPhase::Free,
        }
    }

    /// Does anybody but a queue refer to the cell?
    fn is_shared(self) -> bool {
        self.0 & (REFS & !RUNTIME) != 0
    }

    #[inline(always)]
    pub(crate) fn is_started(self) -> bool {
        self.0 & PHASE == STARTED
    }

    #[inline(always)]
    pub(crate) fn is_done(self) -> bool {
        self.0 & PHASE == DONE
    }

    /// Does it wait, without a handle by which it could be cancelled?
    #[inline(always)]
    pub(crate) fn waits_without_handle(self) -> bool {
        self.0 & (HANDLE | PHASE) == WAITING
    }

    /// Has somebody asked for its end?
    #[inline(always)]
    pub(crate) fn is_cancelled(self) -> bool {
        self.0 & CANCEL != 0
    }

    /// Does anybody hold the handle?
    #[inline(always)]
    pub(crate) fn has_handle(self) -> bool {
        self.0 & HANDLE != 0
    }

    /// Has the helper to tell somebody of the end?
    #[inline(always)]
    pub(crate) fn is_to_be_told(self) -> bool {
        self.0 & TELL != 0
    }

    /// Does a coroutine wait for the end?
    #[inline(always)]
    pub(crate) fn is_joined(self) -> bool {
        self.0 & JOINED != 0
    }

    /// Was it given up, so that its cell is never used again?
    #[cfg(all(test, loom))]
    pub(crate) fn is_leaked(self) -> bool {
        self.0 & LEAKED != 0
    }

    /// The worker where it waits or runs.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn worker(self) -> u16 {
        (self.0 >> WORKER_SHIFT) as u16
    }

    /// Is the request at `place`?
    #[inline]
    pub(crate) fn is_at(self, place: RequestPlace) -> bool {
        self.0 & PLACE == place.0
    }

    /// The outcome; none before the request has one.
    #[inline]
    pub(crate) fn outcome(self) -> Option<Outcome> {
        const ALL: [Outcome; 6] = [
            Outcome::Returned,
            Outcome::Panicked,
            Outcome::Cancelled,
            Outcome::Expired,
            Outcome::Abandoned,
            Outcome::Stopped,
        ];
        let has_one = matches!(self.0 & PHASE, DONE | ENDING);
        has_one.then(|| ALL[((self.0 & OUTCOME) >> OUTCOME_SHIFT) as usize % ALL.len()])
    }

    /// Work that is left for a request that had this word when it ended.
    #[inline]
    fn left_to_do(self) -> Finished {
        match (self.has_handle(), self.is_to_be_told(), self.is_joined()) {
            (false, ..) => Finished::Forgotten,
            (true, tell, true) => Finished::Joined { tell },
            (true, true, false) => Finished::Tell,
            (true, false, false) => Finished::Done,
        }
    }

    /// The word of a started request with this one that ends with `outcome`.
    #[inline]
    fn ended(self, outcome: Outcome) -> u64 {
        let done = self.0 + (DONE - STARTED) + ((outcome as u64) << OUTCOME_SHIFT);
        let told = if self.is_to_be_told() { done + TELLER } else { done };
        match (self.has_handle(), self.is_joined()) {
            (false, _) => done,
            (true, false) => told - RUNTIME,
            // The cell is needed until its waiter is known.
            (true, true) => told,
        }
    }
}

/// The state word. See the [module](self).
#[derive(Debug)]
pub(crate) struct State(AtomicU64);

impl State {
    /// The word of a free cell.
    pub(super) fn free() -> State {
        State(AtomicU64::new(0))
    }

    /// The word, with acquire ordering.
    #[inline]
    pub(crate) fn load(&self) -> StateSnapshot {
        StateSnapshot(self.0.load(Ordering::Acquire))
    }

    /// Makes it the word of a request that waits, at no worker yet.
    ///
    /// # Safety
    /// The cell is the caller's alone, and free: references that others have would be lost.
    #[inline]
    pub(super) unsafe fn reset(&self, wanted: Wanted) {
        let refs = match wanted {
            Wanted::ByHandle => RUNTIME | HANDLE,
            Wanted::ByNobody => RUNTIME,
        };
        debug_assert!(!self.load().is_shared(), "a cell that others refer to became another request");
        // Not a plain store: a late notice to the cell's last request may set a flag at any time. It may get lost, or stay.
        self.0.store(WAITING | refs | (u64::from(NOWHERE) << WORKER_SHIFT), Ordering::Relaxed);
    }

    /// Notes that the request, which the caller has taken out of a queue, is at `place` now; `false` if it has ended there.
    ///
    /// A started one in an inbox is on its way to whoever takes it. It is not parked, so nobody who wakes it reads the place.
    #[inline]
    #[must_use = "a request that has ended goes nowhere"]
    pub(crate) fn move_to(&self, place: RequestPlace) -> bool {
        let may_run = |state| matches!(state & PHASE, WAITING | STARTED);
        self.change(|state| may_run(state).then_some((state & !PLACE) | place.0)).is_ok()
    }

    /// As [`State::move_to`], at the price of a store.
    ///
    /// # Safety
    /// The caller shares the request with nobody: what others change of the word meanwhile would be lost.
    #[inline]
    pub(crate) unsafe fn place_unshared(&self, place: RequestPlace) {
        let state = self.0.load(Ordering::Relaxed);
        debug_assert!(state & PHASE == WAITING, "{:?} was placed", StateSnapshot(state));
        self.0.store((state & !PLACE) | place.0, Ordering::Release);
    }

    /// Moves the phase from waiting to started, at `place`. `false`: it was cancelled, or has ended otherwise.
    ///
    /// # Safety
    /// The caller has [`Reference::Runtime`], which it has taken out of a queue.
    #[inline]
    #[must_use = "a request that has ended does not run"]
    pub(super) unsafe fn start(&self, place: RequestPlace) -> bool {
        let started = STARTED | place.0;
        self.change(|state| {
            (state & PHASE == WAITING).then_some((state & !(PHASE | PLACE | PARKED | NOTIFIED)) | started)
        })
        .is_ok()
    }

    /// Leaves a notice for a request of the runtime with this mark. The caller puts the request on the list of woken ones of the worker
    /// in the answer; none: it is another runtime's, or somebody else does, or nobody need.
    #[inline]
    #[must_use = "the coroutine has to be put on its worker's list"]
    pub(crate) fn notify(&self, runtime: u32) -> Option<u16> {
        let is_its_own = |state: u64| state >> RUNTIME_SHIFT == u64::from(runtime);
        let before = self.change(|state| is_its_own(state).then_some(state | NOTIFIED)).ok()?;
        (before.0 & (PARKED | NOTIFIED) == PARKED).then(|| before.worker())
    }

    /// The running coroutine of this request is about to wait to be woken. `false`: it has been, and goes on at once.
    ///
    /// # Safety
    /// The caller is that coroutine. Another one would have the cell put on a list of woken requests while it is free, or on that list twice.
    #[inline]
    #[must_use = "a coroutine that has been woken goes on"]
    pub(crate) unsafe fn park(&self) -> bool {
        let before = StateSnapshot(self.0.fetch_or(PARKED, Ordering::AcqRel));
        debug_assert!(before.is_started() && before.0 & PARKED == 0, "{before:?} parks");
        if before.0 & NOTIFIED == 0 {
            return true;
        }
        // SAFETY: nobody has put the request on a list: its notice came before it was parked.
        unsafe { self.unpark() };
        false
    }

    /// The coroutine goes on: its notice has been taken.
    ///
    /// # Safety
    /// The caller has taken the request off the list of woken ones, or is its coroutine and has not been put there.
    #[inline]
    pub(crate) unsafe fn unpark(&self) {
        let before = StateSnapshot(self.0.fetch_and(!(PARKED | NOTIFIED), Ordering::AcqRel));
        debug_assert!(before.0 & (NOTIFIED | LEAKED) != 0, "{before:?} goes on without a notice");
    }

    /// Notes that the coroutine in the cell's `waiter` waits for the end. `false`: there is nothing to wait for.
    ///
    /// After `true` that coroutine is going to be woken, also if the request has ended by now: whoever ends it changes the same word later than
    /// this did, so it finds `JOINED` there, and acquires the waiter.
    #[must_use = "a request that has ended wakes nobody"]
    pub(super) fn join(&self) -> bool {
        self.change(|state| (state & PHASE != DONE).then_some(state | JOINED)).is_ok()
    }

    /// From now on whoever ends the request lets the helper tell of it. `false`: it has ended, or somebody has asked before.
    #[must_use = "the helper expects who is to be told"]
    pub(crate) fn ask_to_be_told(&self) -> bool {
        self.change(|state| (state & PHASE != DONE && state & TELL == 0).then_some(state | TELL)).is_ok()
    }

    /// Nobody is to be told any more; the word before.
    #[must_use = "the helper may be telling already"]
    pub(crate) fn stop_telling(&self) -> StateSnapshot {
        StateSnapshot(self.0.fetch_and(!TELL, Ordering::AcqRel))
    }

    /// Asks for the request's end. `false`: it has ended.
    #[must_use = "a request that has ended can not be cancelled"]
    pub(crate) fn cancel(&self) -> bool {
        self.change(|state| (state & PHASE != DONE).then_some(state | CANCEL)).is_ok()
    }

    /// As [`State::cancel`], by the worker that has started it.
    pub(crate) fn cancel_own(&self) {
        let before = StateSnapshot(self.0.fetch_or(CANCEL, Ordering::AcqRel));
        debug_assert!(
            matches!(before.phase(), RequestPhase::Started | RequestPhase::Ending | RequestPhase::Done),
            "{before:?}"
        );
    }

    /// Moves the phase from waiting to ending with `outcome`, if the word is as `wanted`: a caller without a reference may find another request
    /// in the cell. The answer is the word before. Its receiver has [`Reference::Ender`]; the queue that holds the cell keeps its own reference.
    ///
    /// # Safety
    /// The caller has a reference, or `wanted` takes only requests that are at a worker: the submitter of any other may take its closure back.
    #[inline]
    #[must_use = "the request has to be ended"]
    pub(super) unsafe fn end_waiting_if(
        &self,
        outcome: Outcome,
        wanted: impl Fn(StateSnapshot) -> bool,
    ) -> Option<StateSnapshot> {
        let ending = ENDING | ENDER | (outcome as u64) << OUTCOME_SHIFT;
        let may = |state: u64| state & PHASE == WAITING && wanted(StateSnapshot(state));
        self.change(|state| may(state).then_some((state & !PHASE) | ending)).ok()
    }

    /// Moves the phase from started to ending, if the word is as `wanted`. `false`: it is another request, or has ended. The cell is never used
    /// again, and must not be put on any list: see [Waking](self#waking).
    ///
    /// # Safety
    /// The coroutine of a request that is `wanted` does not run, and nobody resumes it from now on.
    #[cold]
    #[must_use = "the request has to be ended"]
    pub(super) unsafe fn give_up(&self, wanted: impl Fn(StateSnapshot) -> bool) -> bool {
        let ending = ENDING | LEAKED | (Outcome::Abandoned as u64) << OUTCOME_SHIFT;
        let may = |state: u64| state & PHASE == STARTED && wanted(StateSnapshot(state));
        self.change(|state| may(state).then_some((state & !(PHASE | PARKED)) | ending)).is_ok()
    }

    /// Moves the phase from ending to done; the word before, by which the caller tells whoever waits. If somebody is to be told, the cell
    /// gets [`Reference::Teller`], which is the caller's to pass on.
    ///
    /// # Safety
    /// The caller has moved the phase to ending, and calls this once.
    #[must_use = "somebody may wait for the end"]
    pub(super) unsafe fn end(&self) -> StateSnapshot {
        let changed = self.change(|state| {
            let done = (state & !PHASE) | DONE;
            Some(if state & TELL == 0 { done } else { done | TELLER })
        });
        let (Ok(before) | Err(before)) = changed;
        debug_assert!(before.phase() == RequestPhase::Ending, "{before:?}");
        before
    }

    /// The started request has ended with `outcome`.
    ///
    /// # Safety
    /// The caller runs the request, and its result is in the storage. It does not touch the cell afterwards, but as the answer says.
    #[inline]
    pub(super) unsafe fn finish(&self, outcome: Outcome) -> Finished {
        let (Ok(before) | Err(before)) = self.change(|state| Some(StateSnapshot(state).ended(outcome)));
        debug_assert!(before.is_started(), "{before:?}");
        before.left_to_do()
    }

    /// Drops the handle's reference, unless the request has ended. `false`: it has, and its result is the caller's to drop.
    ///
    /// # Safety
    /// The caller has the handle's reference. It does not touch the cell afterwards if the answer is `true`.
    #[must_use = "the result has to be dropped"]
    pub(crate) unsafe fn drop_handle_unless_done(&self) -> bool {
        let may = |state: u64| {
            debug_assert!(state & (HANDLE | LEAKED) != 0, "{:?} has no handle", StateSnapshot(state));
            state & PHASE != DONE
        };
        self.change(|state| may(state).then_some(state & !HANDLE)).is_ok()
    }

    /// Drops `reference`. `true`: it was the last one, and the cell is free.
    ///
    /// # Safety
    /// The caller has that reference, and does not touch the cell afterwards unless the answer is `true`.
    #[inline]
    #[must_use = "a free cell goes home"]
    pub(super) unsafe fn drop_ref(&self, reference: Reference) -> bool {
        let reference = reference as u64;
        let before = self.0.fetch_and(!reference, Ordering::AcqRel);
        // Those of a request that was given up do not count any more: it may have happened while a thief had it.
        debug_assert!(before & (reference | LEAKED) != 0, "a reference was dropped twice");
        before & REFS == reference
    }

    /// Changes the word by `with` until it says no; the word before. One that said no was read without any ordering.
    #[inline]
    fn change(&self, mut with: impl FnMut(u64) -> Option<u64>) -> Result<StateSnapshot, StateSnapshot> {
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            let Some(wanted) = with(state) else { return Err(StateSnapshot(state)) };
            match self.0.compare_exchange_weak(state, wanted, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(before) => return Ok(StateSnapshot(before)),
                Err(other) => state = other,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn waiting(wanted: Wanted) -> State {
        let state = State::free();
        // SAFETY: nobody else has it.
        unsafe { state.reset(wanted) };
        state
    }

    #[test]
    fn the_parts_of_the_word_do_not_touch_each_other() {
        let parts = [PHASE, CANCEL, PARKED, NOTIFIED, TELL, JOINED, REFS, OUTCOME, PLACE];
        assert_eq!(parts.iter().fold(0, |all, part| all | part), u64::MAX);
        assert_eq!(parts.iter().map(|part| part.count_ones()).sum::<u32>(), u64::BITS);
    }

    #[test]
    fn a_request_that_is_cancelled_does_not_start() {
        let (state, place) = (waiting(Wanted::ByHandle), RequestPlace::new(3, 7));
        assert!(state.move_to(place) && state.load().is_at(place));
        // SAFETY: nobody else has the word.
        unsafe {
            let before = state.end_waiting_if(Outcome::Cancelled, |seen| seen.is_at(place)).unwrap();
            assert_eq!((before.worker(), state.load().phase()), (3, RequestPhase::Ending));
            assert!(!state.start(place) && !state.move_to(place), "it ends");
            assert!(!state.end().is_joined());
        }
        assert_eq!(state.load().outcome(), Some(Outcome::Cancelled));
        assert!(!state.cancel() && !state.ask_to_be_told(), "it has ended");
    }

    #[test]
    fn a_notice_is_given_once_and_only_to_its_runtime() {
        let state = waiting(Wanted::ByNobody);
        // SAFETY: nobody else has the word, and there is no list.
        unsafe {
            assert!(state.start(RequestPlace::new(2, 9)));
            assert_eq!(state.notify(8), None, "another runtime's");
            assert!(state.park());
            assert_eq!((state.notify(9), state.notify(9)), (Some(2), None));
            state.unpark();
            assert_eq!(state.notify(9), None, "it does not wait");
            assert!(!state.park(), "the notice was there");
            assert!(state.park());
        }
    }

    #[test]
    fn the_last_reference_frees_the_cell() {
        let state = waiting(Wanted::ByHandle);
        // SAFETY: this is the only one that has the word.
        unsafe {
            assert!(state.start(RequestPlace::new(0, 1)));
            assert!(state.ask_to_be_told());
            assert!(matches!(state.finish(Outcome::Panicked), Finished::Tell));
            assert_eq!(state.load().outcome(), Some(Outcome::Panicked));
            assert!(!state.drop_handle_unless_done(), "it has ended");
            assert!(!state.drop_ref(Reference::Handle), "the helper has it");
            assert!(state.drop_ref(Reference::Teller));
        }
    }
}
