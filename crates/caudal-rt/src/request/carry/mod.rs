//! State that goes with a request at every switch, though its code keeps it in the thread. Programs, and the start of a runtime, register
//! such places; coroutines take out and put back what is there whenever they give their worker back and go on.
//!
//! Requests of one worker share a thread. A library that notes something of its caller in a thread-local (its current span, its
//! locale, the root of a tree of threads) would find what another request has left there. So such a place can be registered, and
//! then each request has a value of its own in it:
//!
//! ```text
//!                a request gives its worker back               the worker goes on with it
//!   the place    leave: its value ──▶ the request's stack      enter: the request's value ──▶ the place
//!                then the beginning's value
//!   a new request begins with the beginning's value
//! ```
//!
//! Calls of this module register a thread-local [`Cell`] ([`cell`]), a word whose address a function knows ([`word`]),
//! and anything that two functions can take and put back ([`hooks`]). By itself, the runtime carries the spans of `tracing` as soon as a
//! subscriber listens, what some libraries wait on ([`parkers`]) in an executable that has them, and the locale of `uselocale` ([`locale()`])
//! as soon as code with probes calls it.
//!
//! *Cost.* While nothing is registered, a switch reads some words that nobody writes. Each registered place costs what its functions
//! cost, at each switch; a quantum that ends without a switch costs nothing.
//!
//! *When.* Places may be registered at any time, and stay for as long as the process. A request that was set aside before has not
//! left anything there: it goes on with the beginning's value.
//!
//! *Protocol.* [`PLACES`] is filled in order, under [`FILLING`]; [`COUNT`] is stored behind that (Release), so whoever reads it
//! (Acquire) finds so many complete. Nothing is taken out. A switch remembers how many places it has emptied, and puts as many back, the
//! last one first; all else is the calling thread's alone. So there is one publication and no wait, which is why `scripts/loom` has no model
//! of it.

mod locale;
pub(crate) mod parkers;
mod tracing;

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};
use std::thread::LocalKey;

use crate::base::quiet::NoYield;

pub use locale::locale;

pub(crate) use locale::with_probes;

/// Places that can be registered, in one process.
pub const PLACES_MAX: usize = 16;
/// Bytes that a request can take along from one place.
pub const BYTES_MAX: usize = 64;

/// Error: [`PLACES_MAX`] places are registered already.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{PLACES_MAX} places go with requests already, and there is no room for another")]
pub struct TooManyPlaces;

/// Functions for a place, called when its thread goes from one request to another. None of the functions may panic or wait; they run in
/// a critical section, on the request's stack.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// The request gives its worker back: moves what it has in the place to `state`, 64 bytes of the request's own
    /// ([`BYTES_MAX`]), aligned to 16, and leaves there what a new request is to find.
    pub leave: unsafe extern "C" fn(context: *mut c_void, state: *mut c_void),
    /// The request goes on, maybe on another thread if it is migratable: puts back what `leave` has moved to `state`.
    pub enter: unsafe extern "C" fn(context: *mut c_void, state: *mut c_void),
    /// A request is about to begin: gives the place the value that it is to find.
    pub begin: unsafe extern "C" fn(context: *mut c_void),
    /// The functions' first argument.
    pub context: *mut c_void,
}

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct CarryState([MaybeUninit<u8>; BYTES_MAX]);

struct Places(UnsafeCell<[MaybeUninit<Hooks>; PLACES_MAX]>);

// SAFETY: written below `COUNT` never again, and above it under `FILLING` only; any thread may use what `Hooks` point to, as the caller
// of `hooks` promises.
unsafe impl Sync for Places {}

static PLACES: Places = Places(UnsafeCell::new([MaybeUninit::uninit(); PLACES_MAX]));
static COUNT: AtomicUsize = AtomicUsize::new(0);
static FILLING: Mutex<()> = Mutex::new(());

/// Has each request do what `hooks` say when it gives its worker back, goes on, and begins.
///
/// # Errors
/// [`TooManyPlaces`].
///
/// # Safety
/// The functions may be called with the context on every worker's thread, from now on for as long as the process lives. They neither
/// unwind nor wait.
pub unsafe fn hooks(hooks: Hooks) -> Result<(), TooManyPlaces> {
    let _filling = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
    let count = COUNT.load(Relaxed);
    if count == PLACES_MAX {
        return Err(TooManyPlaces);
    }
    // SAFETY: nobody reads a place that does not count yet, and this is the only one that fills.
    unsafe { (*PLACES.0.get())[count].write(hooks) };
    COUNT.store(count + 1, Release);
    Ok(())
}

/// Lets each request have its own value in the thread-local `key`; it begins with `beginning`.
///
/// For values of at most 64 bytes, which are aligned to 16 at most: others do not compile.
///
/// # Errors
/// [`TooManyPlaces`].
///
/// ```
/// use std::cell::Cell;
///
/// thread_local! {
///     static TENANT: Cell<u32> = const { Cell::new(0) };
/// }
///
/// caudal_rt::carry::cell(&TENANT, 0).unwrap();
/// ```
pub fn cell<T: Copy + Send + Sync + 'static>(
    key: &'static LocalKey<Cell<T>>,
    beginning: T,
) -> Result<(), TooManyPlaces> {
    struct CellPlace<T: 'static>(&'static LocalKey<Cell<T>>, T);

    unsafe extern "C" fn leave<T: Copy + 'static>(context: *mut c_void, state: *mut c_void) {
        // SAFETY: both are as `cell` and `Hooks` say; the size and alignment are checked where this compiles.
        unsafe {
            let CellPlace(key, beginning) = &*context.cast::<CellPlace<T>>();
            let _ = key.try_with(|place| state.cast::<T>().write(place.replace(*beginning)));
        }
    }
    unsafe extern "C" fn enter<T: Copy + 'static>(context: *mut c_void, state: *mut c_void) {
        // SAFETY: as above; `leave` has written the state.
        unsafe {
            let CellPlace(key, _) = &*context.cast::<CellPlace<T>>();
            let _ = key.try_with(|place| place.set(state.cast::<T>().read()));
        }
    }
    unsafe extern "C" fn begin<T: Copy + 'static>(context: *mut c_void) {
        // SAFETY: as above.
        let CellPlace(key, beginning) = unsafe { &*context.cast::<CellPlace<T>>() };
        let _ = key.try_with(|place| place.set(*beginning));
    }

    const {
        assert!(
            size_of::<T>() <= BYTES_MAX && align_of::<T>() <= align_of::<CarryState>(),
            "the value is too large"
        );
    }
    let context = ptr::from_mut(Box::leak(Box::new(CellPlace(key, beginning)))).cast();
    // SAFETY: the place is never freed, and is only read; neither a `Cell` of a `Copy` type nor `try_with` unwinds, but where the
    // thread-local's own initialiser does, which aborts.
    unsafe { hooks(Hooks { leave: leave::<T>, enter: enter::<T>, begin: begin::<T>, context }) }
}

/// Lets each request have its own value in a word of the thread: `address` says where the calling thread has it. A request
/// begins with `beginning`.
///
/// # Errors
/// [`TooManyPlaces`].
///
/// # Safety
/// `address` answers, on every worker's thread, with the address of 8 bytes that are aligned, that only this thread uses, and that live
/// for as long as the thread. It neither unwinds nor waits.
pub unsafe fn word(address: unsafe extern "C" fn() -> *mut u64, beginning: u64) -> Result<(), TooManyPlaces> {
    struct WordPlace(unsafe extern "C" fn() -> *mut u64, u64);

    unsafe extern "C" fn leave(context: *mut c_void, state: *mut c_void) {
        // SAFETY: as `word` and `Hooks` say.
        unsafe {
            let WordPlace(address, beginning) = &*context.cast::<WordPlace>();
            state.cast::<u64>().write(address().replace(*beginning));
        }
    }
    unsafe extern "C" fn enter(context: *mut c_void, state: *mut c_void) {
        // SAFETY: as above; `leave` has written the state.
        unsafe { (*context.cast::<WordPlace>()).0().write(state.cast::<u64>().read()) }
    }
    unsafe extern "C" fn begin(context: *mut c_void) {
        // SAFETY: as above.
        unsafe {
            let WordPlace(address, beginning) = &*context.cast::<WordPlace>();
            address().write(*beginning);
        }
    }

    let context = ptr::from_mut(Box::leak(Box::new(WordPlace(address, beginning)))).cast();
    // SAFETY: the place is never freed, and is only read; the rest the caller promises.
    unsafe { hooks(Hooks { leave, enter, begin, context }) }
}

/// Is there anything that goes with requests?
#[inline(always)]
pub(crate) fn is_any() -> bool {
    is_registered() || tracing::listens()
}

/// Is anything but the spans registered? A thread on which no request runs has no spans.
#[inline(always)]
pub(crate) fn is_registered() -> bool {
    COUNT.load(Relaxed) != 0
}

fn places() -> impl DoubleEndedIterator<Item = &'static Hooks> + ExactSizeIterator {
    let count = COUNT.load(Acquire);
    // SAFETY: so many are complete, and never change.
    (0..count)
        .map(|place| unsafe { (*PLACES.0.get().cast::<MaybeUninit<Hooks>>().add(place)).assume_init_ref() })
}

/// Takes everything from the thread, lets `away` run, and puts it back, maybe on another thread.
#[cold]
#[inline(never)]
pub(crate) fn around(away: impl FnOnce()) {
    let mut states = [CarryState([MaybeUninit::uninit(); BYTES_MAX]); PLACES_MAX];
    // The spans first, and last again behind the switch: a subscriber may read what else goes with the request.
    let spans = tracing::leave();
    let mut left = 0;
    for (hooks, state) in places().zip(&mut states) {
        // SAFETY: as the caller who registered them promises.
        unsafe { (hooks.leave)(hooks.context, ptr::from_mut(state).cast()) };
        left += 1;
    }
    away();
    for hooks in places().skip(left) {
        // SAFETY: as above.
        unsafe { (hooks.begin)(hooks.context) };
    }
    // The last one first: a place that was registered twice then has the value from before the first `leave`.
    for (hooks, state) in places().take(left).zip(&mut states).rev() {
        // SAFETY: as above; the state is what `leave` has made of it.
        unsafe { (hooks.enter)(hooks.context, ptr::from_mut(state).cast()) };
    }
    tracing::enter(spans);
}

/// Resets the places: the request that this thread has run was abandoned where it was, with all that is on its stack.
#[cold]
pub(crate) fn abandon() {
    parkers::abandon();
}

/// Prepares the places for a request that is about to begin on this thread: it must not find what the last one has left.
#[cold]
#[inline(never)]
pub(crate) fn begin() {
    let _quiet = NoYield::enter();
    drop(tracing::leave());
    for hooks in places() {
        // SAFETY: as the caller who registered them promises.
        unsafe { (hooks.begin)(hooks.context) };
    }
}
