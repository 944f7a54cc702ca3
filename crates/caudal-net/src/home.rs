//! The home of a worker's connections: where a connection comes back to when its request has ended, on whichever worker that was.
//! The inlet of each worker makes one and takes connections back from it when it is polled; the outlet of any worker returns them there when it
//! has written the answer.
//!
//! ```text
//!  inlet of worker w ── Away ──▶ request on worker v ──▶ outlet of worker v: writes ──▶ returned (a queue) ──▶ inlet of worker w
//!                         └ a panic, a cancellation: dropped, returned as failed ─────────▲          └ bell, if v is not w
//! ```
//!
//! *Why nobody sleeps through a return.* The bell is in the epoll instance for which worker w sleeps, and rings after the push. Where v is w no
//! bell is needed: the worker polls its source between the flush that returned the connection and any sleep.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_queue::ArrayQueue;

use crate::connection::Connection;
use crate::sys::Bell;

/// See the [module](self).
pub(crate) struct Home<S> {
    pub(crate) worker: usize,
    returned: ArrayQueue<Box<Connection<S>>>,
    pub(crate) bell: Bell,
    /// The inlet has gone: the runtime has begun to shut down.
    is_gone: AtomicBool,
}

impl<S> Home<S> {
    /// The home of at most so many connections.
    pub(crate) fn new(worker: usize, connections: usize) -> io::Result<Home<S>> {
        let returned = ArrayQueue::new(connections.max(1));
        Ok(Home { worker, returned, bell: Bell::new()?, is_gone: AtomicBool::new(false) })
    }

    /// The next connection that has come back.
    pub(crate) fn next(&self) -> Option<Box<Connection<S>>> {
        self.returned.pop()
    }

    pub(crate) fn leave(&self) {
        self.is_gone.store(true, Ordering::Release);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }
}

/// A connection that is away from its home, to which it returns however its request ends.
pub(crate) struct Away<S> {
    connection: Option<Box<Connection<S>>>,
    pub(crate) home: Arc<Home<S>>,
}

impl<S> Away<S> {
    pub(crate) fn new(connection: Box<Connection<S>>, home: Arc<Home<S>>) -> Away<S> {
        Away { connection: Some(connection), home }
    }

    pub(crate) fn connection(&mut self) -> Option<&mut Connection<S>> {
        self.connection.as_deref_mut()
    }

    /// Returns it; `on` is the worker that does.
    pub(crate) fn go_home(mut self, on: usize) {
        let connection = self.connection.take();
        self.give_back(connection, on == self.home.worker);
    }

    fn give_back(&self, connection: Option<Box<Connection<S>>>, is_at_home: bool) {
        let Some(connection) = connection else { return };
        // There is room for all: each is there once at most.
        let _ = self.home.returned.push(connection);
        if !is_at_home {
            self.home.bell.ring();
        }
    }
}

impl<S> Drop for Away<S> {
    /// The request has not come to its end.
    fn drop(&mut self) {
        let mut connection = self.connection.take();
        if let Some(connection) = &mut connection {
            connection.has_failed = true;
        }
        self.give_back(connection, false);
    }
}
