//! A constant: does a panic unwind in this build, and end its request, or abort the process? The start of a runtime reads it. The file
//! contains nothing else, so that a test can compile it as another program would: `tests/all/panic_abort.rs`.

/// Panics unwind. Cargo compiles all crates of a program alike, so what holds here holds for handlers.
pub(crate) const PANICS_UNWIND: bool = cfg!(panic = "unwind");
