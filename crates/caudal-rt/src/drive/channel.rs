//! A source within the process: threads send, and the runtime takes in what they have sent. It can be waited for, and has a doorbell.
//!
//! ```text
//!  Sender ──▶ values (under a lock) ──▶ Channel, polled by a thread of the runtime
//!                │ word: values that wait, and whether the last sender has gone: the doorbell, read without the lock
//!                └ bell: readable exactly while the word is not 0: the descriptor
//! ```
//!
//! *Why nobody sleeps through a value, or through the end.* Values, word and bell change under one lock, in this order. The bell rings when a value
//! comes to an empty queue, and when the last sender goes. The poll that takes the last value silences it, unless the last sender has gone: then
//! it stays readable, for the poll that hears of the end.
//!
//! *Why no value is kept for ever.* The source closes the queue when it goes: it takes all values under the lock and drops them afterwards. Every
//! send that comes later finds the queue closed and gives the value back. So each value is handed in, dropped and counted, or given back.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, PoisonError};

use super::doorbell::{Doorbell, Rings};
use super::source::{Intake, Polled, Source};
use crate::base::bell::Bell;
use crate::base::clock::now;
use crate::base::primitives::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};
use crate::base::quiet::NoYield;
use crate::request::class::ClassId;

/// Bit of the word: the last sender has gone.
const OVER: u32 = 1 << 31;

/// A value that could not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError<T> {
    /// The source is gone, as it is when its runtime has begun to shut down: nobody takes values any more.
    #[error("nobody takes what is sent: the channel's runtime has begun to shut down, or was never started")]
    Closed(T),
    /// As many values wait as the channel holds.
    #[error(
        "the channel is full: wait until the runtime has taken values in, or make it with a larger bound (channel::bounded)"
    )]
    Full(T),
}

impl<T> SendError<T> {
    /// The value.
    pub fn into_inner(self) -> T {
        match self {
            SendError::Closed(value) | SendError::Full(value) => value,
        }
    }
}

struct Values<T> {
    waiting: VecDeque<(T, u64)>,
    is_closed: bool,
    /// The last sender has gone.
    is_over: bool,
}

struct Queue<T> {
    values: Mutex<Values<T>>,
    /// Values that wait, and [`OVER`]. Written under the lock.
    word: Arc<AtomicU32>,
    senders: AtomicUsize,
    /// Values that were dropped because the source has gone.
    dropped: AtomicU64,
    bound: usize,
    bell: Bell,
}

impl<T> Queue<T> {
    fn new(bound: usize) -> io::Result<Queue<T>> {
        assert!(bound > 0, "a channel that holds no value could pass none on: write a bound of 1 or more");
        Ok(Queue {
            values: Mutex::new(Values { waiting: VecDeque::new(), is_closed: false, is_over: false }),
            word: Arc::new(AtomicU32::new(0)),
            senders: AtomicUsize::new(1),
            dropped: AtomicU64::new(0),
            bound: bound.min(OVER as usize - 1),
            bell: Bell::new()?,
        })
    }

    /// Works on the values, and brings word and bell up to date with them. The word first: whoever the bell wakes finds it changed.
    fn with<R>(&self, work: impl FnOnce(&mut Values<T>) -> R) -> R {
        // A request may send: no other one of its worker comes in between.
        let _quiet = NoYield::enter();
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = work(&mut values);
        let before = self.word.load(Ordering::Relaxed);
        let after = values.waiting.len() as u32 | if values.is_over { OVER } else { 0 };
        self.word.store(after, Ordering::Release);
        match (before, after) {
            (0, 1..) => self.bell.ring(),
            (1.., 0) => self.bell.silence(),
            _ => {}
        }
        answer
    }

    fn send(&self, value: T, arrival: u64) -> Result<(), SendError<T>> {
        self.with(|values| {
            if values.is_closed {
                return Err(SendError::Closed(value));
            }
            if values.waiting.len() >= self.bound {
                return Err(SendError::Full(value));
            }
            values.waiting.push_back((value, arrival));
            Ok(())
        })
    }

    /// A sender goes.
    fn leave(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.with(|values| values.is_over = true);
        }
    }

    /// Takes up to `most` values; is nothing ever going to come again?
    fn take(&self, most: usize, mut take: impl FnMut(T, u64)) -> bool {
        self.with(|values| {
            let count = most.min(values.waiting.len());
            values.waiting.drain(..count).for_each(|(value, arrival)| take(value, arrival));
            values.waiting.is_empty() && values.is_over
        })
    }

    /// The source goes.
    fn close(&self) {
        let left = self.with(|values| {
            values.is_closed = true;
            std::mem::take(&mut values.waiting)
        });
        self.dropped.fetch_add(left.len() as u64, Ordering::Relaxed);
        // Outside of the lock: what a destructor sends is given back.
        drop(left);
    }
}

/// Sending half; its clones send to the same source, which is over when all of them are gone.
pub struct Sender<T>(Arc<Queue<T>>);

/// The source: one request for each value that was sent, by a function of the program's. When it goes, as it does when its runtime begins to
/// shut down, the values that it has not handed in are dropped and counted ([`Sender::dropped`]).
pub struct Channel<T, F> {
    queue: Arc<Queue<T>>,
    class: ClassId,
    handle: F,
}

/// A source of requests of `class`, each of which runs `handle` with a value that was sent. There is no bound: a sender may ask
/// [`Sender::waiting`].
///
/// # Errors
/// The system gives no event descriptor.
pub fn channel<T, F>(class: ClassId, handle: F) -> io::Result<(Sender<T>, Channel<T, F>)>
where
    T: Send + 'static,
    F: Fn(T) + Clone + Send + 'static,
{
    bounded(usize::MAX, class, handle)
}

/// As [`channel`], for at most `bound` values that wait: more are refused.
///
/// # Errors
/// The system gives no event descriptor.
///
/// # Panics
/// If the bound is 0.
pub fn bounded<T, F>(bound: usize, class: ClassId, handle: F) -> io::Result<(Sender<T>, Channel<T, F>)>
where
    T: Send + 'static,
    F: Fn(T) + Clone + Send + 'static,
{
    let queue = Arc::new(Queue::new(bound)?);
    Ok((Sender(Arc::clone(&queue)), Channel { queue, class, handle }))
}

impl<T> Sender<T> {
    /// Sends a value; its request arrives now.
    ///
    /// # Errors
    /// The source is gone, or the channel is full. The value comes back in either case.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value, now())
    }

    /// Values that the runtime has not taken in.
    pub fn waiting(&self) -> usize {
        (self.0.word.load(Ordering::Acquire) & !OVER) as usize
    }

    /// Values that were sent and then dropped, because the source had gone before it handed them in.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T, F> Drop for Channel<T, F> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<T, F> Source for Channel<T, F>
where
    T: Send + 'static,
    F: Fn(T) + Clone + Send + 'static,
{
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        // A poll that finds nothing takes no lock.
        if self.queue.word.load(Ordering::Acquire) == 0 {
            return Polled::Nothing;
        }
        let mut batch: [Option<(T, u64)>; super::BATCH] = std::array::from_fn(|_| None);
        let mut count = 0;
        let is_over = self.queue.take(intake.room(), |value, arrival| {
            batch[count] = Some((value, arrival));
            count += 1;
        });
        // Outside of the lock: a function's `clone` is the program's, and may do anything.
        for (value, arrival) in batch.into_iter().flatten() {
            let handle = self.handle.clone();
            intake.submit(self.class, arrival, move || handle(value));
        }
        match (count, is_over) {
            (_, true) => Polled::Over,
            (0, false) => Polled::Nothing,
            (_, false) => Polled::Worked,
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.queue.bell.as_fd())
    }

    fn doorbell(&self) -> Option<Doorbell> {
        Some(Doorbell::new(Arc::clone(&self.queue.word), Rings::WhileSet(u32::MAX)))
    }
}

/// Senders, a source that sleeps, and the source's end, in every order.
#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::base::primitives::thread;
    use crate::loom_models::model;

    /// Takes what is there; is nothing ever going to come again?
    fn take_all(queue: &Queue<u32>, taken: &mut Vec<u32>) -> bool {
        let doorbell = Doorbell::new(Arc::clone(&queue.word), Rings::WhileSet(u32::MAX));
        // As a worker does that runs requests: without a ring there is no poll.
        doorbell.has_rung(doorbell.look()) && queue.take(4, |value, _| taken.push(value))
    }

    #[test]
    fn a_source_that_sleeps_hears_of_every_value_and_of_the_last_senders_end() {
        model(3, || {
            let queue = Arc::new(Queue::new(4).unwrap());
            let first = Sender(Arc::clone(&queue));
            let second = first.clone();
            let sender = thread::spawn(move || {
                first.0.send(1, 0).unwrap();
                drop(first);
            });
            let mut taken = Vec::new();
            drop(second);
            while !take_all(&queue, &mut taken) {
                queue.bell.wait_with(&[], None);
            }
            sender.join().unwrap();
            assert_eq!(taken, [1]);
        });
    }

    #[test]
    fn each_value_is_taken_or_dropped_or_given_back() {
        model(3, || {
            let queue = Arc::new(Queue::new(4).unwrap());
            let sender = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || (0..2).filter(|&value| queue.send(value, 0).is_err()).count())
            };
            let mut taken = Vec::new();
            take_all(&queue, &mut taken);
            queue.close();
            let given_back = sender.join().unwrap();
            let dropped = queue.dropped.load(Ordering::Relaxed) as usize;
            assert_eq!(taken.len() + dropped + given_back, 2);
            assert!(queue.send(2, 0).is_err());
        });
    }
}
