//! The board: what workers publish, with plain stores to lines of their own, and anybody reads.

pub mod histogram;
pub(crate) mod measured;
pub(crate) mod timeline;
