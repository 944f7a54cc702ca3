//! How a lock of the store is held: within a critical section, so that its holder is never pre-empted.
//! Every operation of the store goes through [`within`].
//!
//! Requests of one worker share its thread. If one were set aside while it holds a lock, the next one that wants this lock would wait on the
//! same thread, and neither would ever go on. In a section no probe yields, so a holder runs until it has unlocked: whoever waits for it
//! waits on another thread, for as long as a section takes. See `docs/background/preemption-safety.md`.

use std::sync::{Mutex, PoisonError};

/// Runs `work` on what `mutex` guards. It must be short, take no other lock and not wait. A yield that comes due meanwhile happens at
/// the end, when the lock is free again.
///
/// A panic within leaves what is guarded as it is: the lock is not poisoned, because the next request is none of the panic's.
#[inline]
pub(super) fn within<T, R>(mutex: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    // Declared before the guard, so dropped after it.
    let _section = Section::enter();
    let mut guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    work(&mut guard)
}

struct Section;

impl Section {
    #[inline]
    fn enter() -> Section {
        caudal_probe::critical_enter();
        Section
    }
}

impl Drop for Section {
    #[inline]
    fn drop(&mut self) {
        caudal_probe::critical_exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_in_a_section_and_no_longer() {
        let mutex = Mutex::new(0);
        let depth = within(&mutex, |_| caudal_probe::critical_depth());
        assert_eq!((depth, caudal_probe::critical_depth()), (1, 0));
        assert!(mutex.try_lock().is_ok());
    }

    #[test]
    fn a_panic_leaves_the_section_and_the_lock() {
        let mutex = Mutex::new(1);
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| within(&mutex, |_| panic!("within"))));
        assert!(panicked.is_err());
        assert_eq!(caudal_probe::critical_depth(), 0);
        assert_eq!(within(&mutex, |value| *value), 1);
    }
}
