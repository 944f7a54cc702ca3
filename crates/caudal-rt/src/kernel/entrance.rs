//! Entrance of submissions to a runtime: the dispatcher's queue, or the workers' inboxes. [`Shared`](crate::kernel::shared::Shared) has
//! one, which is chosen at the start; [`place`](crate::kernel::place) puts requests there from the threads that submit them.

use caudal_policy::dispatch::AnyBlind;

use crate::queue::ring::Ring;
use crate::request::Request;

/// Where submissions enter a runtime.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // A runtime has one, and each submission would follow a pointer more.
pub(crate) enum Entrance {
    /// The queue of the dispatcher, which places them.
    Dispatcher(Ring<Request>),
    /// The workers' inboxes; each submitting thread chooses one by its own copy of this policy, which sees nothing of the workers.
    Inboxes(AnyBlind),
}

impl Entrance {
    /// The queue of the dispatcher, if there is one.
    pub(crate) fn queue(&self) -> Option<&Ring<Request>> {
        match self {
            Entrance::Dispatcher(queue) => Some(queue),
            Entrance::Inboxes(_) => None,
        }
    }
}
