//! Contexts: how many hardware contexts of a core are active? The simulator of cores with contexts asks at each arrival and completion; no
//! real processor lets a program decide that yet.
//!
//! Fewer contexts run faster each, more of them do more work together, and keep short requests from standing behind
//! long ones. [`LoadAdaptation`] is what CoreZilla does about it.

mod load_adaptation;

pub use load_adaptation::{AdaptationFault, LoadAdaptation, LoadAdaptationConfig};
