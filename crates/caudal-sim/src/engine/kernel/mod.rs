//! The parts that all loops of the engine share, whichever systems they run: time, randomness, requests in, statistics out.
//!
//! | file | what |
//! | --- | --- |
//! | `run`, `short_cuts` | the question (a run, and the short cuts that it allows) and the answer (its outcome) |
//! | `keys`, `tree`, `events` | events as numbers in a total order, the first of them, and what moves when time is counted from elsewhere |
//! | `streams` | the streams of randomness |
//! | `source`, `intake` | the requests as they arrive, and when there are no more |
//! | `window`, `account`, `record` | the measured part of a run, the accounting of the cores' time, the statistics of requests |
//! | `tasks`, `bits`, `walks`, `long` | data structures: queues of tasks, sets of workers, the ring of thieves, cores with long requests |
//! | `places` | pools for dispatch policies that read no counts |
//! | `observe` | what an observer hears of a run |

pub(in crate::engine) mod account;
pub(crate) mod bits;
pub(in crate::engine) mod events;
pub(in crate::engine) mod intake;
pub(in crate::engine) mod keys;
pub(in crate::engine) mod long;
pub(in crate::engine) mod observe;
pub(in crate::engine) mod places;
pub(in crate::engine) mod record;
pub(in crate::engine) mod run;
pub(in crate::engine) mod short_cuts;
pub(in crate::engine) mod source;
pub(in crate::engine) mod streams;
pub(in crate::engine) mod tasks;
pub(crate) mod tree;
pub(in crate::engine) mod walks;
pub(in crate::engine) mod window;
