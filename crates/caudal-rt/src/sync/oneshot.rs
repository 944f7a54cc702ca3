//! A channel for one value. Handlers and other threads call it.
//!
//! | state | set by | the value belongs to |
//! | --- | --- | --- |
//! | `EMPTY` | | the sender |
//! | `FULL` | the sender, when it has written the value | the receiver |
//! | `TAKEN` | the receiver: it has the value, or is gone | its owner in the state before: see below |
//!
//! Both change the state by a swap, so the second one sees the other: a sender that finds `TAKEN` takes its value back, a
//! receiver that goes and finds `FULL` drops the value. A gate (`gate.rs`) is opened when the value is there, or the sender is
//! gone without one.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use super::mpsc::{NotReceived, NotSent, SendError};
use super::{Gate, Parker, Patience, gave_up};

const EMPTY: u8 = 0;
const FULL: u8 = 1;
const TAKEN: u8 = 2;

struct Slot<T> {
    state: AtomicU8,
    gate: Gate<Parker>,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value has one owner at a time, which the state says; it goes from one thread to the other.
unsafe impl<T: Send> Sync for Slot<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Slot<T> {}

/// The end that sends.
pub struct Sender<T> {
    slot: Arc<Slot<T>>,
}

/// The end that receives.
pub struct Receiver<T> {
    slot: Arc<Slot<T>>,
}

/// A channel for one value.
///
/// ```
/// let (sender, receiver) = caudal_rt::sync::oneshot::channel();
/// sender.send(7).unwrap();
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = Arc::new(Slot {
        state: AtomicU8::new(EMPTY),
        gate: Gate::new(),
        value: UnsafeCell::new(MaybeUninit::uninit()),
    });
    (Sender { slot: Arc::clone(&slot) }, Receiver { slot })
}

impl<T> Sender<T> {
    /// Sends `value`; never waits.
    ///
    /// # Errors
    /// [`SendError`], with the value, if the receiver is gone.
    pub fn send(self, value: T) -> Result<(), SendError<T>> {
        // SAFETY: the state is `EMPTY` or `TAKEN`: nobody else touches the value.
        unsafe { (*self.slot.value.get()).write(value) };
        if self.slot.state.swap(FULL, Ordering::AcqRel) == TAKEN {
            // SAFETY: the receiver was gone, so the value is still this end's.
            let value = unsafe { (*self.slot.value.get()).assume_init_read() };
            self.slot.state.store(TAKEN, Ordering::Relaxed);
            return Err(SendError { value, why: NotSent::Closed });
        }
        // Its drop opens the gate.
        Ok(())
    }

    /// Is the receiver gone?
    pub fn is_closed(&self) -> bool {
        self.slot.state.load(Ordering::Acquire) == TAKEN
    }
}

impl<T> Receiver<T> {
    /// Waits for the value. A request that is cancelled meanwhile drops it.
    ///
    /// # Errors
    /// [`NotReceived::Closed`]: the sender is gone without having sent.
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    pub fn recv(mut self) -> Result<T, NotReceived> {
        self.wait("Receiver::recv", Patience::Cancellable)
    }

    /// As [`Receiver::recv`], for so long at most; the value can still be received later.
    ///
    /// # Errors
    /// [`NotReceived`]; `Closed` also if the value has been received.
    ///
    /// # Panics
    /// As [`Receiver::recv`].
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, NotReceived> {
        self.wait("Receiver::recv_timeout", Patience::For(timeout))
    }

    /// The value, if it is there.
    ///
    /// # Errors
    /// [`NotReceived::Empty`], [`NotReceived::Closed`].
    pub fn try_recv(&mut self) -> Result<T, NotReceived> {
        // Before the state: a sender that goes has sent before, or does not.
        let over = self.slot.gate.is_open();
        match self.slot.state.load(Ordering::Acquire) {
            FULL => {
                self.slot.state.store(TAKEN, Ordering::Relaxed);
                // SAFETY: the state was `FULL`, so the value was there and is this end's, and now it is taken.
                Ok(unsafe { (*self.slot.value.get()).assume_init_read() })
            }
            EMPTY if !over => Err(NotReceived::Empty),
            _ => Err(NotReceived::Closed),
        }
    }

    fn wait(&mut self, what: &'static str, patience: Patience) -> Result<T, NotReceived> {
        crate::kernel::context::check_cancelled();
        if let Err(why) = self.slot.gate.pass(|| Parker::here(what, patience)) {
            gave_up(why);
            return Err(NotReceived::TimedOut);
        }
        self.try_recv()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.slot.gate.open();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.slot.state.swap(TAKEN, Ordering::AcqRel) == FULL {
            // SAFETY: the value was there, and this end's.
            unsafe { (*self.slot.value.get()).assume_init_drop() };
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("closed", &self.is_closed()).finish()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
