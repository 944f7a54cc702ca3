//! Replies: a request leaves one with the sink of the worker that runs it. Called by handlers.

use std::sync::Arc;

use crate::base::quiet::NoYield;
use crate::drive::sink::{Flush, Outboxes, Sink};
use crate::kernel::context::of_worker;

/// Sinks of a runtime, one for each worker. Clones are the same sinks: requests take one along.
///
/// ```
/// use std::sync::mpsc::{Sender, channel};
/// use caudal_rt::drive::Sink;
/// use caudal_rt::task::Sinks;
/// use caudal_rt::{Builder, Pinning};
///
/// struct Post(Vec<u64>, Sender<Vec<u64>>);
///
/// impl Sink for Post {
///     type Reply = u64;
///
///     fn put(&mut self, reply: u64) {
///         self.0.push(reply);
///     }
///
///     fn flush(&mut self) -> bool {
///         self.1.send(std::mem::take(&mut self.0)).is_ok()
///     }
/// }
///
/// let (post, letters) = channel();
/// let sinks = Sinks::new(1, |_worker| Post(Vec::new(), post.clone()));
/// let policy = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
///               discipline = { policy = \"fcfs\" }\n";
/// let runtime = Builder::parse(policy, "policy.toml")?.pinning(Pinning::None).sinks(&sinks).start()?;
/// let class = runtime.class("get")?;
/// runtime.submit(class, move || sinks.put(42))?;
/// assert_eq!(letters.recv()?, [42]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sinks<S>(Arc<Outboxes<S>>);

impl<S> Clone for Sinks<S> {
    fn clone(&self) -> Self {
        Sinks(Arc::clone(&self.0))
    }
}

impl<S: Sink + 'static> Sinks<S> {
    /// A sink for each of so many workers, by `make`, which is told the worker's number; to be given to
    /// [`Builder::sinks`](crate::Builder::sinks).
    pub fn new(workers: usize, make: impl FnMut(usize) -> S) -> Sinks<S> {
        Sinks(Arc::new(Outboxes::new(workers, make)))
    }

    /// Leaves `reply` with the sink of the worker that runs the calling request, which sends it soon. Never waits.
    ///
    /// # Panics
    /// Outside of requests of the runtime to whose builder the sinks were given, and from within a sink.
    pub fn put(&self, reply: S::Reply) {
        let _quiet = NoYield::enter();
        let Some((_, worker)) = of_worker().filter(|(shared, _)| self.0.are_of(shared.id)) else {
            panic!(
                "a reply outside of a request of the runtime that has these sinks: give them to its builder (Builder::sinks)"
            )
        };
        // SAFETY: this is that worker's thread, in a section, and the worker's runtime is the only one that has these sinks.
        unsafe { self.0.put(usize::from(worker), reply) };
    }

    pub(crate) fn erased(&self) -> Arc<dyn Flush> {
        Arc::clone(&self.0) as Arc<dyn Flush>
    }
}
