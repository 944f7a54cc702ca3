//! Is this build's panic the end of its request, or of the process? Nothing else is here, so that a test can compile this file as
//! another program would: `tests/all/panic_abort.rs`.
//! The start of a runtime asks, and refuses a program whose panics abort.

/// Panics unwind. Cargo compiles all crates of a program alike, so what holds here holds for handlers.
pub(crate) const PANICS_UNWIND: bool = cfg!(panic = "unwind");
