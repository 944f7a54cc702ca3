//! The short cuts of the engine. Each simulates some systems faster than the general loop, with the same results.
//! [`ShortCut`](crate::engine::ShortCut) names them, [`Route`](crate::engine::Route) chooses one for a run, and the engine calls it once.
//!
//! | file | what |
//! | --- | --- |
//! | `central` | one first-come-first-served queue, by starts |
//! | `stealing`, `thieves` | a queue a core, work stealing, nothing else |
//! | `rings` | for the general loop: processor sharing by leaps |
//! | `lines` | for the general loop: first come first served |
//!
//! Lanes of whole cores take the loop of `contexts` beside this folder. Any short cut may be left out: the others and the general loop give
//! the same results (`tests/all/short_cuts.rs`).

pub(in crate::engine) mod central;
pub(in crate::engine) mod lines;
pub(in crate::engine) mod rings;
pub(in crate::engine) mod stealing;
mod thieves;
