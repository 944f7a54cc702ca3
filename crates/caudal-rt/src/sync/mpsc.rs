//! A bounded channel: many send, one receives. Requests and threads call it; a sender waits while there is no room, the receiver while
//! there is no value.
//!
//! Room is a number of permits (`permits.rs`): a sender takes one, which it may have to wait for, then puts its value into the
//! queue; the receiver takes a value out and gives the permit back. So there are never more values than permits, and the queue's
//! memory, which is made at the start, suffices. Senders get room in the order in which they came.
//!
//! *Why nothing is lost*: a value is the sender's until it is in the queue, and in the queue until the receiver has it; a wake-up
//! never carries one. The receiver queues itself under the lock of the queue, after it has seen that this is empty; so a sender that
//! puts in the next value sees it. When one side goes, it says so under that lock: a sender that comes later gets its value
//! back, and a receiver that waits is woken.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::list::{Claimed, GaveUp, List, Node, Spin, Waiter as _};
use super::permits::{NoPermits, PERMITS_MAX, Permits};
use super::{Parker, Patience, gave_up};
use crate::base::quiet::NoYield;
use crate::request::CleanUp;

/// Why a value was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// The channel is full.
    #[error("the channel is full")]
    Full,
    /// The receiver is gone.
    #[error("the receiver of the channel is gone")]
    Closed,
    /// There was no room within the time given.
    #[error("the channel was full all the time")]
    TimedOut,
}

/// A value that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T> {
    /// The value, unharmed.
    pub value: T,
    /// Why.
    pub why: NotSent,
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").field("why", &self.why).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<T> std::error::Error for SendError<T> {}

/// Why no value was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReceived {
    /// The channel is empty.
    #[error("the channel is empty")]
    Empty,
    /// The channel is empty, and all senders are gone.
    #[error("the channel is empty, and its senders are gone")]
    Closed,
    /// Nothing came within the time given.
    #[error("the channel was empty all the time")]
    TimedOut,
}

struct Queue<T> {
    values: VecDeque<T>,
    receiver: List<Parker>,
    receiver_gone: bool,
    senders_gone: bool,
}

struct Channel<T> {
    room: Permits<Parker>,
    queue: Spin<Queue<T>>,
    senders: AtomicUsize,
}

/// The end that sends; there may be many.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// The end that receives.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

/// A channel that holds up to `capacity` values, the memory for which is made now.
///
/// ```
/// let (sender, mut receiver) = caudal_rt::sync::mpsc::channel(2);
/// sender.send("one").unwrap();
/// sender.send("two").unwrap();
/// assert!(sender.try_send("three").is_err());
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok("one"));
/// assert_eq!(receiver.recv(), Ok("two"));
/// assert!(receiver.recv().is_err());
/// ```
///
/// # Panics
/// If `capacity` is 0 or above 2^31 - 1.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        (1..=PERMITS_MAX as usize).contains(&capacity),
        "a channel for {capacity} values: write from 1 to 2^31 - 1"
    );
    let queue = Queue {
        values: VecDeque::with_capacity(capacity),
        receiver: List::new(),
        receiver_gone: false,
        senders_gone: false,
    };
    let channel = Arc::new(Channel {
        room: Permits::new(capacity as u64),
        queue: Spin::new(queue),
        senders: AtomicUsize::new(1),
    });
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

impl<T> Sender<T> {
    /// Sends `value`; waits while the channel is full. If the request is cancelled meanwhile, the value was not sent and is dropped.
    ///
    /// # Errors
    /// [`SendError`], with the value, if the receiver is gone.
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let parker = || Parker::here("Sender::send", Patience::Cancellable);
        self.put(value, self.channel.room.take(1, parker))
    }

    /// Sends `value` if there is room, and nobody waits for it.
    ///
    /// # Errors
    /// [`SendError`], with the value.
    pub fn try_send(&self, value: T) -> Result<(), SendError<T>> {
        self.put(value, self.channel.room.try_take(1))
    }

    /// As [`Sender::send`], for so long at most.
    ///
    /// # Errors
    /// [`SendError`], with the value.
    ///
    /// # Panics
    /// As [`Sender::send`].
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendError<T>> {
        let parker = || Parker::here("Sender::send_timeout", Patience::For(timeout));
        self.put(value, self.channel.room.take(1, parker))
    }

    /// Is the receiver gone?
    pub fn is_closed(&self) -> bool {
        self.channel.room.is_closed()
    }

    /// Puts `value` into the queue, if there is room.
    fn put(&self, value: T, room: Result<(), NoPermits>) -> Result<(), SendError<T>> {
        let why = match room {
            Ok(()) => return self.push(value),
            Err(NoPermits::TooFew) => NotSent::Full,
            Err(NoPermits::Closed) => NotSent::Closed,
            Err(NoPermits::GaveUp(why)) => {
                gave_up(why);
                NotSent::TimedOut
            }
        };
        Err(SendError { value, why })
    }

    fn push(&self, value: T) -> Result<(), SendError<T>> {
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        let refused = self.channel.queue.with(|queue| {
            if queue.receiver_gone {
                return Some(value);
            }
            queue.values.push_back(value);
            queue.receiver.claim_first(None, &mut claimed);
            None
        });
        claimed.tell();
        match refused {
            Some(value) => Err(SendError { value, why: NotSent::Closed }),
            None => Ok(()),
        }
    }
}

impl<T> Receiver<T> {
    /// The next value; waits while there is none. A cancelled request gets none, also if there is one: that stays.
    ///
    /// # Errors
    /// [`NotReceived::Closed`].
    ///
    /// # Panics
    /// If it has to wait where a request must not: in a critical section, and while a panic unwinds.
    pub fn recv(&mut self) -> Result<T, NotReceived> {
        self.take("Receiver::recv", Patience::Cancellable)
    }

    /// The next value, if there is one.
    ///
    /// # Errors
    /// [`NotReceived::Empty`], [`NotReceived::Closed`].
    pub fn try_recv(&mut self) -> Result<T, NotReceived> {
        let (value, closed) = self.channel.queue.with(|queue| (queue.values.pop_front(), queue.senders_gone));
        match value {
            Some(value) => Ok(self.taken(value)),
            None if closed => Err(NotReceived::Closed),
            None => Err(NotReceived::Empty),
        }
    }

    /// As [`Receiver::recv`], for so long at most.
    ///
    /// # Errors
    /// [`NotReceived::TimedOut`], [`NotReceived::Closed`].
    ///
    /// # Panics
    /// As [`Receiver::recv`].
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, NotReceived> {
        self.take("Receiver::recv_timeout", Patience::For(timeout))
    }

    fn take(&mut self, what: &'static str, patience: Patience) -> Result<T, NotReceived> {
        crate::kernel::context::check_cancelled();
        match self.try_recv() {
            Err(NotReceived::Empty) => self.wait(&Node::new(Parker::here(what, patience), 0)),
            other => other,
        }
    }

    #[cold]
    fn wait(&mut self, node: &Node<Parker>) -> Result<T, NotReceived> {
        let channel = Arc::clone(&self.channel);
        let leave = || _ = channel.queue.with(|queue| queue.receiver.remove(node));
        let clean_up = CleanUp::by(&leave);
        // SAFETY: the guard is dropped before this function returns, also when it unwinds; waits nest.
        let _registered = unsafe { node.waiter.on_given_up(&clean_up) };
        let queued = channel.queue.with(|queue| {
            let wait = queue.values.is_empty() && !queue.senders_gone;
            if wait {
                // SAFETY: nothing below unwinds before the node was taken off the list, or told.
                unsafe { queue.receiver.push_back(node) };
            }
            wait
        });
        if queued {
            let waited = node.waiter.wait();
            let removed = waited.is_err() && channel.queue.with(|queue| queue.receiver.remove(node));
            if !removed {
                node.waiter.wait_to_be_told();
            }
            match waited {
                Err(why @ GaveUp::Cancelled) => {
                    gave_up(why);
                }
                Err(GaveUp::TimedOut) if removed => return Err(NotReceived::TimedOut),
                Err(GaveUp::TimedOut) | Ok(()) => {}
            }
        }
        // It is the only receiver: what it was woken for is there.
        self.try_recv()
    }

    /// A value has left the queue: there is room for one more.
    fn taken(&self, value: T) -> T {
        self.channel.room.give(1);
        value
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.channel.senders.fetch_add(1, Ordering::Relaxed);
        Sender { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // AcqRel: what other senders have put in is in the queue before it is said that they are gone.
        if self.channel.senders.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let _quiet = NoYield::enter();
        let mut claimed = Claimed::none();
        self.channel.queue.with(|queue| {
            queue.senders_gone = true;
            queue.receiver.claim_all(None, &mut claimed);
        });
        claimed.tell();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let values = self.channel.queue.with(|queue| {
            queue.receiver_gone = true;
            std::mem::take(&mut queue.values)
        });
        self.channel.room.close();
        drop(values);
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
