//! A source within the process: threads send, and the runtime takes in what they have sent. It can be waited for.
//!
//! *Why nobody sleeps through a value.* The bell is readable exactly while the queue has something: both change under one lock, the bell
//! after a push to an empty queue and after the pop that empties it. `len` is for polls that find nothing, which take no lock.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, PoisonError};

use super::source::{Intake, Source};
use crate::base::bell::Bell;
use crate::base::clock::now;
use crate::base::quiet::NoYield;
use crate::request::class::ClassId;

struct Queue<T> {
    values: Mutex<VecDeque<(T, u64)>>,
    len: AtomicUsize,
    senders: AtomicUsize,
    bell: Bell,
}

/// Sending half; its clones send to the same source, which is over when all of them are gone.
pub struct Sender<T>(Arc<Queue<T>>);

/// The source: one request for each value that was sent, by a function of the program's.
pub struct Channel<T, F> {
    queue: Arc<Queue<T>>,
    class: ClassId,
    handle: F,
}

/// A source of requests of `class`, each of which runs `handle` with a value that was sent.
///
/// # Errors
/// The system gives no event descriptor.
pub fn channel<T, F>(class: ClassId, handle: F) -> io::Result<(Sender<T>, Channel<T, F>)>
where
    T: Send + 'static,
    F: Fn(T) + Clone + Send + 'static,
{
    let (values, len, senders) = (Mutex::default(), AtomicUsize::new(0), AtomicUsize::new(1));
    let queue = Arc::new(Queue { values, len, senders, bell: Bell::new()? });
    Ok((Sender(Arc::clone(&queue)), Channel { queue, class, handle }))
}

impl<T> Sender<T> {
    /// Sends a value; its request arrives now. There is no bound: the sender may ask [`Sender::waiting`].
    pub fn send(&self, value: T) {
        // A request may send: no other one of its worker comes in between.
        let _quiet = NoYield::enter();
        let mut values = self.0.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.push_back((value, now()));
        self.0.len.store(values.len(), Release);
        if values.len() == 1 {
            self.0.bell.ring();
        }
    }

    /// Values that the runtime has not taken in.
    pub fn waiting(&self) -> usize {
        self.0.len.load(Acquire)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Release);
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, std::sync::atomic::Ordering::AcqRel) == 1 {
            // The source hears that it is over.
            self.0.bell.ring();
        }
    }
}

impl<T, F> Source for Channel<T, F>
where
    T: Send + 'static,
    F: Fn(T) + Clone + Send + 'static,
{
    fn poll(&mut self, intake: &mut Intake<'_>) -> bool {
        // Before the poll of the values: a sender that has gone has sent all of them.
        let is_over = self.queue.senders.load(Acquire) == 0;
        if self.queue.len.load(Acquire) == 0 {
            return !is_over;
        }
        let mut values = self.queue.values.lock().unwrap_or_else(PoisonError::into_inner);
        while intake.has_room()
            && let Some((value, arrival)) = values.pop_front()
        {
            let handle = self.handle.clone();
            intake.submit(self.class, arrival, move || handle(value));
        }
        self.queue.len.store(values.len(), Release);
        if values.is_empty() && !is_over {
            self.queue.bell.silence();
            if self.queue.senders.load(Acquire) == 0 {
                // The last one has gone meanwhile, and has rung for that.
                self.queue.bell.ring();
            }
        }
        true
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.queue.bell.as_fd())
    }
}
