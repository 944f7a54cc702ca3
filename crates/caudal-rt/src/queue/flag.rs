//! A thread's probe flag, which one other thread may raise. The flag is thread-local memory and goes with its thread, so the two need a
//! protocol: a worker publishes its flag when it begins and withdraws it before it ends, and the dispatcher raises it in between to make
//! the running request yield.
//!
//! # Protocol
//!
//! | the one thread that raises | the owner of the flag, before it ends |
//! | --- | --- |
//! | notes that it is `raising` | takes the address away |
//! | — full fence — | — full fence — |
//! | reads the address; if there is one, stores to it | waits until nobody is `raising` |
//! | notes that it has done | ends, with the flag |
//!
//! *Why nobody stores to a flag that is gone*: of the two fences one comes first. If the owner's does, the raising thread finds no address.
//! If the other's does, the owner sees that somebody is raising, and waits; the note that it is done releases the store to the
//! flag, and the owner's check acquires it. `loom_models` tries every order.

use crate::base::primitives::{AtomicBool, AtomicPtr, AtomicU64, Ordering, fence, spin_loop};

/// A flag: an `AtomicU8` in the runtime; in models, memory that fails the model when it is touched after its end.
pub(crate) trait Raise {
    fn raise(&self);
}

impl Raise for std::sync::atomic::AtomicU8 {
    #[inline]
    fn raise(&self) {
        self.store(1, Ordering::Relaxed);
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct RemoteFlag<T> {
    flag: AtomicPtr<T>,
    raising: AtomicBool,
    /// When it was raised last, in cycles.
    raised_at: AtomicU64,
}

impl<T: Raise> RemoteFlag<T> {
    /// Without a flag.
    pub(crate) fn new() -> RemoteFlag<T> {
        RemoteFlag {
            flag: AtomicPtr::new(std::ptr::null_mut()),
            raising: AtomicBool::new(false),
            raised_at: AtomicU64::new(0),
        }
    }

    /// The calling thread's flag may be raised from now on, until it is withdrawn.
    pub(crate) fn publish(&self, flag: *mut T) {
        self.flag.store(flag, Ordering::Release);
    }

    /// From now on nobody touches the flag any more.
    pub(crate) fn withdraw(&self) {
        self.flag.store(std::ptr::null_mut(), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.raising.load(Ordering::Acquire) {
            spin_loop();
        }
    }

    /// Raises the flag, if one is published; called by one thread only.
    ///
    /// # Safety
    /// A flag that was published is valid until it was withdrawn.
    pub(crate) unsafe fn raise(&self, time: u64) {
        self.raising.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let flag = self.flag.load(Ordering::Acquire);
        if !flag.is_null() {
            self.raised_at.store(time, Ordering::Relaxed);
            // SAFETY: it has not been withdrawn, or its owner waits: see the protocol.
            unsafe { (*flag).raise() };
        }
        self.raising.store(false, Ordering::Release);
    }

    /// When it was raised last, in cycles; 0: never.
    #[inline]
    pub(crate) fn raised_at(&self) -> u64 {
        self.raised_at.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// Memory of a thread: loom fails when one thread writes to it while the other does.
    struct Local(UnsafeCell<u32>);

    impl Raise for Local {
        fn raise(&self) {
            // SAFETY: what the models are about.
            self.0.with_mut(|value| unsafe { *value += 1 });
        }
    }

    #[test]
    fn a_flag_that_was_withdrawn_is_not_touched() {
        loom::model(|| {
            let remote = Arc::new(RemoteFlag::<Local>::new());
            let local = Box::new(Local(UnsafeCell::new(0)));
            remote.publish((&raw const *local).cast_mut());
            let other = {
                let remote = remote.clone();
                thread::spawn(move || {
                    for time in 1..=2 {
                        // SAFETY: the model's owner keeps to the protocol.
                        unsafe { remote.raise(time) };
                    }
                })
            };
            remote.withdraw();
            // The thread ends: its memory may be used by others.
            local.0.with_mut(|value| {
                // SAFETY: what the models are about.
                assert!(unsafe { *value } <= 2);
            });
            drop(local);
            other.join().unwrap();
        });
    }
}
