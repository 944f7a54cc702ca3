//! The short cuts of the engine, each of which simulates some systems faster than the general loop and changes nothing of what comes out:
//! [`ShortCut`](crate::engine::ShortCut) names them, [`Route`](crate::engine::Route) says who takes which.
//!
//! | file | what |
//! | --- | --- |
//! | `central` | one first-come-first-served queue, by starts |
//! | `stealing`, `thieves` | a queue a core, work stealing, nothing else |
//! | `rings` | for the general loop: processor sharing by leaps |
//! | `lines` | for the general loop: first come first served |
//!
//! Lanes of whole cores take the loop of `contexts` beside this folder. Any of these may be left out: the others, and the general loop, come
//! to the same results (`tests/all/short_cuts.rs`).

pub(in crate::engine) mod central;
pub(in crate::engine) mod lines;
pub(in crate::engine) mod rings;
pub(in crate::engine) mod stealing;
mod thieves;
