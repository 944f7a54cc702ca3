//! The locale that `uselocale` has set for the thread, which goes with the request. A program registers it, and so does the start of a
//! runtime where code has probes; `carry` swaps it at each switch between requests, on the worker's thread.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, Once};

use caudal_probe as probe;

use super::{Hooks, TooManyPlaces, hooks};
use crate::base::quiet::NoYield;
use crate::base::say::say;

/// The process's locale, of `setlocale`: `((locale_t) -1)`.
const LC_GLOBAL_LOCALE: libc::locale_t = ptr::without_provenance_mut(usize::MAX);

/// Lets each request have its own locale, as `uselocale` sets it; it begins with the process's. Code with probes needs no call of
/// this: its first `uselocale` makes it.
///
/// # Errors
/// [`TooManyPlaces`].
pub fn locale() -> Result<(), TooManyPlaces> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !*done {
        // SAFETY: the functions read and set this thread's locale, and what they move is a locale's address.
        unsafe { hooks(Hooks { leave, enter, begin, context: ptr::null_mut() }) }?;
        *done = true;
    }
    Ok(())
}

/// From the first time on that code with probes sets one.
pub(crate) fn with_probes() {
    extern "C" fn is_set() {
        static ONCE: Once = Once::new();
        let _quiet = NoYield::enter();
        ONCE.call_once(|| {
            if let Err(error) = locale() {
                say!("requests of one worker share their locale (uselocale): {error}");
            }
        });
    }
    probe::set_locale_hook(is_set);
}

unsafe extern "C" fn leave(_: *mut c_void, state: *mut c_void) {
    // SAFETY: the state is as `Hooks` say; the process's locale is one that there always is.
    unsafe { state.cast::<libc::locale_t>().write(libc::uselocale(LC_GLOBAL_LOCALE)) }
}

unsafe extern "C" fn enter(_: *mut c_void, state: *mut c_void) {
    // SAFETY: `leave` has written the state; the code that has set a locale frees it when nobody uses it any more.
    unsafe { libc::uselocale(state.cast::<libc::locale_t>().read()) };
}

unsafe extern "C" fn begin(_: *mut c_void) {
    // SAFETY: as in `leave`.
    unsafe { libc::uselocale(LC_GLOBAL_LOCALE) };
}
