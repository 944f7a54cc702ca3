//! Queues of requests and of news: rings, stacks that are taken whole, and the protocols of who may touch what when two threads meet.

pub(crate) mod custody;
pub(crate) mod flag;
pub mod ring;
