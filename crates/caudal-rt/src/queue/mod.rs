//! Queues of requests and of news: rings, stacks that are taken whole, and the protocols by which two threads share memory.

pub(crate) mod end_owner;
pub(crate) mod flag;
pub mod ring;
