//! Services that run beside a runtime, such as the socket of `caudal-observe`. A runtime starts them when all of its threads run, and drops
//! them when it has stopped; until then they read its statistics through a view, from threads of their own.

use std::any::Any;
use std::thread::JoinHandle;

use crate::api::stats::View;
use crate::base::cores::{Prepared, keep_off, spawn_prepared};
use crate::kernel::error::StartError;

/// A function that starts such a service; what it answers ends the service when it is dropped.
pub(crate) type StartBeside = Box<dyn FnOnce(&Beside<'_>) -> Result<Box<dyn Any + Send>, StartError> + Send>;

/// A runtime that has just started, for a service beside it.
#[derive(Debug)]
pub struct Beside<'a> {
    pub(crate) view: View,
    /// Processors of the runtime's threads; empty where they are not pinned.
    pub(crate) cores: &'a [usize],
}

impl Beside<'_> {
    /// The runtime.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Starts a thread that keeps off the processors of the runtime's threads, where others are left.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn spawn(&self, name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
        let cores = self.cores.to_vec();
        spawn_prepared(name, move |prepared: Prepared| {
            keep_off(&cores);
            prepared.tell();
            body();
        })
    }
}
