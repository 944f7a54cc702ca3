//! The crate as its users see it: a runtime from its builder to its shutdown, its statistics, and layers for other languages.

#[doc(hidden)]
pub mod bench;
pub(crate) mod beside;
pub mod raw;
pub(crate) mod runtime;
pub mod stats;
pub mod time;
